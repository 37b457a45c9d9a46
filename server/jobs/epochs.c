/*
 * DESIGN
 *
 * What. A thread that looks for work: rows of cluster_work that are not finished, oldest first. A
 * look is due when somebody rings, and every LOOK_MS; then it also asks for the epochs of apps that
 * are due. An app's epoch is due when the hour of the configuration has passed since its last one
 * (since the start, if there was none) and it has enough stacks.
 *
 * A piece of work has two phases, kept in its row. LEARN: an epoch and a re-clustering run the second
 * stage over all stacks; an alignment only takes over the depths that people set. ALIGN: all stacks
 * of the app (or of one cluster) go where they belong (epoch_align.h). A restart goes on where it was;
 * with other rules it begins anew.
 *
 * Asked for again while it runs a row gets another attempt number: what this thread still writes
 * about the one before is ignored, and the row stays open.
 *
 * New stacks meanwhile: the resolver keys them by the overlay that the writer knows, else its answer
 * is refused and made again; and the writer follows the merges. So they are aligned from the start.
 *
 * Locks. One, around the bell, the wish to stop and the rules.
 */
#include "server/jobs/epochs.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/thread.h"
#include "server/jobs/epoch_align.h"
#include "server/jobs/epoch_carry.h"

#define OP_ARENA     ((size_t)1 << 20)
#define WORK_ARENA   ((size_t)256 << 20)
#define LOOK_MS      30000
#define RETRY_MS     5000
#define HOUR_MS      INT64_C(3600000)
#define QUOTED_BYTES 300 /* of a bundle id, for the log */

_Static_assert(PART_KEY_SIZE == CLUSTER_KEY_SIZE, "a part's key is a cluster's");
_Static_assert(CLUSTER_APP < CLUSTER_KINDS_OF_CAUSES &&
                   CLUSTER_SYSTEM_ONLY < CLUSTER_KINDS_OF_CAUSES &&
                   CLUSTER_IDLE >= CLUSTER_KINDS_OF_CAUSES,
               "causes come first");

struct epochs {
    struct storage_reader *reader;
    struct keyer *keyer;
    struct epochs_options options;
    struct epoch_tools tools;
    const struct rules *rules; /* of the work at hand */
    int64_t started_ms;
    struct thread thread;

    pthread_mutex_t lock;
    pthread_cond_t changed;
    const struct rules *next_rules;
    bool rung;
    bool stopping;
    bool outdated;
    bool look_at_rules; /* they are others, or this is the start */
};

static const char *const KINDS[] = {
    [CLUSTER_WORK_ALIGN] = "align",
    [CLUSTER_WORK_EPOCH] = "epoch",
    [CLUSTER_WORK_RECLUSTER] = "recluster",
};

/* False: stop. */
static bool wait_ms(void *ctx, int64_t ms)
{
    struct epochs *e = ctx;
    int64_t until = clock_mono_ms() + ms;
    pthread_mutex_lock(&e->lock);
    while (ms > 0 && !e->stopping && thread_cond_wait_until(&e->changed, &e->lock, until))
        continue;
    bool go_on = !e->stopping;
    pthread_mutex_unlock(&e->lock);
    return go_on;
}

static void log_trouble(const char *what, const struct error *err)
{
    char quoted[sizeof(err->text) + 64];
    log_warn("clusters are not kept up to date", "what=%s error=%s", what,
             log_quote(err->text, quoted, sizeof(quoted)));
}

static enum err ask(struct epochs *e, enum cluster_work_kind kind, const char *bundle_id,
                    struct error *err)
{
    struct write_op *op = write_op_new(WRITE_CLUSTER_WORK, OP_ARENA);
    if (!op)
        return error_set(err, ERR_NO_MEMORY, "no memory for work on clusters");
    op->u.cluster_work =
        (struct op_cluster_work){.kind = kind, .bundle_id = bundle_id, .now_ms = clock_wall_ms()};
    enum err rc = epoch_send(&e->tools, op, err);
    write_op_free(op);
    return rc;
}

/* --- work ------------------------------------------------------------------------------------- */

static enum err learn(struct epochs *e, struct cluster_work_row *w, struct error *err)
{
    struct epoch_figures f = {.stacks = 0};
    struct stack_floor floor;
    char quoted[QUOTED_BYTES];
    int64_t begun = clock_mono_ms();
    enum err rc = keyer_begin(e->keyer, e->rules, err);
    if (!rc && w->kind == CLUSTER_WORK_ALIGN)
        return epoch_learn_depths(&e->tools, w->bundle_id, clock_wall_ms(), err);
    if (!rc)
        rc = read_stack_floor(e->reader, w->bundle_id, 0, &floor, &w->total, err);
    if (!rc)
        rc = epoch_learn(&e->tools, w->bundle_id, clock_wall_ms(), &f, err);
    if (!rc)
        log_info("second stage",
                 "app=%s stacks=%zu parts=%zu plumbing=%zu merges=%zu undone=%zu "
                 "related=%zu ms=%" PRId64,
                 log_quote(w->bundle_id, quoted, sizeof(quoted)), f.stacks, f.parts, f.plumbing,
                 f.merges, f.undone, f.related, clock_mono_ms() - begun);
    return rc;
}

/* Before keys become others. */
static enum err carry_over(struct epochs *e, struct cluster_work_row *w, struct error *err)
{
    struct cluster_app_row *apps = NULL;
    size_t count = 0;
    size_t carried = 0;
    bool outdated = false;
    struct arena arena;
    char quoted[QUOTED_BYTES];
    arena_init(&arena, WORK_ARENA);
    enum err rc = read_cluster_apps(e->reader, rules_version(e->rules), &arena, &apps, &count, err);
    for (size_t i = 0; i < count && !rc; i++)
        outdated = outdated || (apps[i].outdated && strcmp(apps[i].bundle_id, w->bundle_id) == 0);
    if (!rc && outdated)
        rc = keyer_begin(e->keyer, e->rules, err);
    if (!rc && outdated)
        rc = epoch_carry(&e->tools, w->bundle_id, clock_wall_ms(), &carried, err);
    if (!rc && carried > 0)
        log_info("decisions about clusters carried over", "app=%s rules=%zu",
                 log_quote(w->bundle_id, quoted, sizeof(quoted)), carried);
    arena_done(&arena);
    return rc;
}

static enum err align(struct epochs *e, struct cluster_work_row *w, struct error *err)
{
    uint64_t damaged = 0;
    char quoted[QUOTED_BYTES];
    enum err rc = epoch_align(&e->tools, e->rules, w, &damaged, err);
    if (damaged > 0)
        log_warn("stacks stay in their clusters: what is stored of them is damaged",
                 "app=%s stacks=%" PRIu64, log_quote(w->bundle_id, quoted, sizeof(quoted)),
                 damaged);
    return rc;
}

static enum err do_work(struct epochs *e, struct cluster_work_row *w, struct error *err)
{
    enum err rc = ERR_OK;
    bool whole = w->cluster_id == 0;
    char quoted[QUOTED_BYTES];
    if (w->phase == CLUSTER_PHASE_ALIGN && *w->rules_version &&
        strcmp(w->rules_version, rules_version(e->rules)) != 0) {
        w->phase = whole ? CLUSTER_PHASE_LEARN : CLUSTER_PHASE_ALIGN;
        w->after_id = w->seen = w->changed = 0;
    }
    w->rules_version = rules_version(e->rules);
    rc = epoch_save(&e->tools, w, false, err);
    if (!rc && w->after_id == 0)
        rc = carry_over(e, w, err);
    if (!rc && w->phase == CLUSTER_PHASE_LEARN) {
        rc = learn(e, w, err);
        w->phase = CLUSTER_PHASE_ALIGN;
        w->after_id = w->seen = w->changed = 0;
        if (!rc)
            rc = epoch_save(&e->tools, w, false, err);
    }
    if (!rc)
        rc = align(e, w, err);
    if (!rc)
        rc = epoch_save(&e->tools, w, true, err);
    if (!rc && whole)
        log_info("clusters are up to date", "app=%s work=%s stacks=%" PRIu64 " changed=%" PRIu64,
                 log_quote(w->bundle_id, quoted, sizeof(quoted)), KINDS[w->kind], w->seen,
                 w->changed);
    return rc;
}

/* The first piece of work that is open. *ret_done: there was none. */
static enum err do_next(struct epochs *e, bool *ret_done, struct error *err)
{
    struct cluster_work_row *rows = NULL;
    size_t count = 0;
    struct arena arena;
    arena_init(&arena, WORK_ARENA);
    pthread_mutex_lock(&e->lock);
    e->rules = e->next_rules;
    pthread_mutex_unlock(&e->lock);
    enum err rc = read_cluster_work(e->reader, &arena, &rows, &count, err);
    *ret_done = !rc && count == 0;
    if (!rc && count > 0)
        rc = do_work(e, &rows[0], err);
    arena_done(&arena);
    return rc;
}

/* --- what is due ------------------------------------------------------------------------------ */

/* The last time that the hour struck. */
static int64_t last_hour(const struct epochs *e, int64_t wall_ms)
{
    int64_t today = clock_day(wall_ms) * CLOCK_DAY_MS + (int64_t)e->options.hour * HOUR_MS;
    return today <= wall_ms ? today : today - CLOCK_DAY_MS;
}

static enum err ask_if_due(struct epochs *e, const struct cluster_app_row *app, int64_t wall_ms,
                           struct error *err)
{
    struct stack_floor floor;
    uint64_t total = 0;
    int64_t last = app->epoch_ms > INT64_MIN ? app->epoch_ms : e->started_ms;
    if (!e->options.nightly || last >= last_hour(e, wall_ms))
        return ERR_OK;
    enum err rc = read_stack_floor(e->reader, app->bundle_id, 0, &floor, &total, err);
    if (!rc && total >= e->options.stacks_min)
        rc = ask(e, CLUSTER_WORK_EPOCH, app->bundle_id, err);
    return rc;
}

/* Other rules than those that the clusters were made by. */
static enum err look_at_rules(struct epochs *e, const struct cluster_app_row *apps, size_t count,
                              struct error *err)
{
    bool outdated = false;
    char quoted[QUOTED_BYTES];
    enum err rc = ERR_OK;
    pthread_mutex_lock(&e->lock);
    bool look = e->look_at_rules;
    e->look_at_rules = false;
    pthread_mutex_unlock(&e->lock);
    for (size_t i = 0; i < count && !rc; i++) {
        outdated = outdated || apps[i].outdated;
        if (!look || !apps[i].outdated)
            continue;
        if (e->options.on_change)
            rc = ask(e, CLUSTER_WORK_RECLUSTER, apps[i].bundle_id, err);
        else
            log_warn("clusters were made by other rules", "app=%s do=\"POST /v1/admin/recluster\"",
                     log_quote(apps[i].bundle_id, quoted, sizeof(quoted)));
    }
    pthread_mutex_lock(&e->lock);
    e->outdated = outdated && !e->options.on_change;
    pthread_mutex_unlock(&e->lock);
    return rc;
}

static enum err look_around(struct epochs *e, int64_t wall_ms, struct error *err)
{
    struct cluster_app_row *apps = NULL;
    size_t count = 0;
    struct arena arena;
    arena_init(&arena, WORK_ARENA);
    pthread_mutex_lock(&e->lock);
    e->rules = e->next_rules;
    pthread_mutex_unlock(&e->lock);
    enum err rc = read_cluster_apps(e->reader, rules_version(e->rules), &arena, &apps, &count, err);
    if (!rc)
        rc = look_at_rules(e, apps, count, err);
    for (size_t i = 0; i < count && !rc; i++)
        rc = ask_if_due(e, &apps[i], wall_ms, err);
    arena_done(&arena);
    return rc;
}

/* --- the thread ------------------------------------------------------------------------------- */

static bool wait_for_bell(struct epochs *e, int64_t ms)
{
    int64_t until = clock_mono_ms() + ms;
    pthread_mutex_lock(&e->lock);
    while (!e->stopping && !e->rung && thread_cond_wait_until(&e->changed, &e->lock, until))
        continue;
    e->rung = false;
    bool go_on = !e->stopping;
    pthread_mutex_unlock(&e->lock);
    return go_on;
}

static void *run(void *arg)
{
    struct epochs *e = arg;
    struct error err;
    int64_t pause = 0;
    while (wait_for_bell(e, pause)) {
        bool done = false;
        enum err rc = look_around(e, clock_wall_ms(), &err);
        bool idle = true;
        while (!rc && !done) {
            rc = do_next(e, &done, &err);
            idle = idle && done;
        }
        if (rc && wait_ms(e, 0))
            log_trouble("second stage", &err);
        pause = rc ? RETRY_MS : idle ? LOOK_MS : 0;
    }
    return NULL;
}

enum err epochs_start(struct storage *storage, struct writer *writer, const struct rules *rules,
                      const struct epochs_options *options, struct epochs **ret, struct error *err)
{
    struct epochs *e = calloc(1, sizeof(*e));
    if (!e)
        return error_set(err, ERR_NO_MEMORY, "no memory for epochs");
    pthread_mutex_init(&e->lock, NULL);
    thread_cond_init(&e->changed);
    e->options = *options;
    e->rules = e->next_rules = rules;
    e->look_at_rules = true;
    e->started_ms = clock_wall_ms();
    enum err rc = storage_reader_open(storage, &e->reader, err);
    if (!rc) {
        e->keyer = keyer_new(e->reader, rules);
        if (!e->keyer)
            rc = error_set(err, ERR_NO_MEMORY, "no memory for epochs");
    }
    e->tools = (struct epoch_tools){.reader = e->reader,
                                    .writer = writer,
                                    .keyer = e->keyer,
                                    .stacks_max = options->stacks_max,
                                    .pause = wait_ms,
                                    .ctx = e};
    if (!rc)
        rc = thread_start(&e->thread, "epochs", run, e, err);
    if (rc) {
        epochs_stop(e);
        return rc;
    }
    *ret = e;
    return ERR_OK;
}

void epochs_stop(struct epochs *e)
{
    if (!e)
        return;
    pthread_mutex_lock(&e->lock);
    e->stopping = true;
    pthread_cond_broadcast(&e->changed);
    pthread_mutex_unlock(&e->lock);
    thread_join(&e->thread);
    keyer_free(e->keyer);
    storage_reader_close(e->reader);
    pthread_cond_destroy(&e->changed);
    pthread_mutex_destroy(&e->lock);
    free(e);
}

void epochs_ring(struct epochs *e)
{
    pthread_mutex_lock(&e->lock);
    e->rung = true;
    pthread_cond_broadcast(&e->changed);
    pthread_mutex_unlock(&e->lock);
}

void epochs_set_rules(struct epochs *e, const struct rules *rules)
{
    pthread_mutex_lock(&e->lock);
    e->next_rules = rules;
    e->look_at_rules = true;
    e->rung = true;
    pthread_cond_broadcast(&e->changed);
    pthread_mutex_unlock(&e->lock);
}

bool epochs_outdated(struct epochs *e)
{
    pthread_mutex_lock(&e->lock);
    bool outdated = e->outdated;
    pthread_mutex_unlock(&e->lock);
    return outdated;
}
