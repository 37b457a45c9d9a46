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
 * of the app (or of one cluster) are keyed anew page by page; those that belong elsewhere, or whose
 * cluster was named by other rules, go to the writer, which moves pointer and sums. The position is
 * written with them, so a restart goes on there; with other rules it begins anew.
 *
 * Asked for again while it runs a row gets another attempt number: what this thread still writes
 * about the one before is ignored, and the row stays open.
 *
 * New stacks meanwhile: the resolver keys them by the overlay that the writer knows, else its answer
 * is refused and made again; and the writer follows the merges. So they are aligned from the start.
 *
 * A stack whose frames or counters are damaged holds nothing up: it stays where it is, and is told.
 *
 * Load. One op of PAGE stacks under way at a time, none while the writer is busy.
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
#include "server/jobs/epoch_carry.h"

#define PAGE         128
#define PAGE_ARENA   ((size_t)128 << 20)
#define OP_ARENA     ((size_t)1 << 20)
#define WORK_ARENA   ((size_t)256 << 20)
#define LOOK_MS      30000
#define RETRY_MS     5000
#define BUSY_MS      50
#define HOUR_MS      INT64_C(3600000)
#define QUOTED_BYTES 300  /* of a bundle id, for the log */
#define SAVE_STACKS  8192 /* without a change, after which the position is written */

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
    uint64_t damaged;          /* stacks of the work at hand that stay where they are */
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

static enum err stopping(struct error *err)
{
    return error_set(err, ERR_BUSY, "stopping");
}

static void log_trouble(const char *what, const struct error *err)
{
    char quoted[sizeof(err->text) + 64];
    log_warn("clusters are not kept up to date", "what=%s error=%s", what,
             log_quote(err->text, quoted, sizeof(quoted)));
}

/* --- progress --------------------------------------------------------------------------------- */

static enum err save(struct epochs *e, struct cluster_work_row *w, bool finished, struct error *err)
{
    struct write_op *op = write_op_new(WRITE_CLUSTER_WORK, OP_ARENA);
    if (!op)
        return error_set(err, ERR_NO_MEMORY, "no memory for work on clusters");
    op->u.cluster_work = (struct op_cluster_work){.id = w->id,
                                                  .attempt = w->attempt,
                                                  .kind = w->kind,
                                                  .phase = w->phase,
                                                  .after_id = w->after_id,
                                                  .seen = w->seen,
                                                  .changed = w->changed,
                                                  .total = w->total,
                                                  .rules_version = w->rules_version,
                                                  .finished = finished,
                                                  .now_ms = clock_wall_ms()};
    enum err rc = epoch_send(&e->tools, op, err);
    write_op_free(op);
    return rc;
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

/* --- align ------------------------------------------------------------------------------------ */

static void fill(const struct keyed_stack *stack, const struct keyed *keyed,
                 struct op_resolution *out)
{
    const struct cluster_verdict *v = &keyed->verdict;
    *out = (struct op_resolution){.stack_id = stack->stack_id,
                                  .generation = stack->generation,
                                  .stack = keyed->changed ? keyed->stack : NULL,
                                  .cluster_kind = (uint8_t)v->kind,
                                  .provisional = v->kind == CLUSTER_PROVISIONAL,
                                  .hidden = v->kind == CLUSTER_IDLE,
                                  .key_text = v->key_text,
                                  .title = v->title,
                                  .function = v->function,
                                  .file = v->file,
                                  .image = v->image,
                                  .category = v->category,
                                  .owner = v->owner,
                                  .overlay = keyed->overlay};
    memcpy(out->key, v->key, sizeof(out->key));
    memcpy(out->variant, v->variant, sizeof(out->variant));
    for (size_t i = 0; i < keyed->stack->count; i++)
        out->approximate = out->approximate || keyed->stack->frames[i].approximate;
}

static bool is_in_place(const struct epochs *e, const struct merge_map *map,
                        const struct keyed_stack *stack, const struct keyed *keyed)
{
    const uint8_t *key = keyed->verdict.key;
    return !keyed->changed && memcmp(key, stack->part, CLUSTER_KEY_SIZE) == 0 &&
           memcmp(merge_map_root(map, key), stack->cluster, CLUSTER_KEY_SIZE) == 0 &&
           strcmp(stack->rules_version, rules_version(e->rules)) == 0;
}

/* Each item as an op of its own, without the position; those that are refused stay where they are. */
static enum err send_each(struct epochs *e, struct write_op *op, struct error *err)
{
    struct op_rekey *o = &op->u.rekey;
    const struct op_rekey all = *o;
    uint64_t changed = 0;
    enum err rc = ERR_OK;
    o->work_id = 0;
    o->count = 1;
    for (size_t i = 0; i < all.count && !rc; i++) {
        o->items = &all.items[i];
        rc = epoch_send(&e->tools, op, err);
        changed += rc ? 0 : o->changed;
        if (rc == ERR_INTERNAL) {
            e->damaged++;
            rc = ERR_OK;
        }
    }
    o->changed = changed;
    return rc;
}

/* The items of a page, and the position behind them. */
static enum err send_keys(struct epochs *e, struct cluster_work_row *w, struct write_op *op,
                          uint64_t *saved, struct error *err)
{
    struct op_rekey *o = &op->u.rekey;
    o->rules_version = rules_version(e->rules);
    o->work_id = w->id;
    o->work_attempt = w->attempt;
    o->after_id = w->after_id;
    o->seen = w->seen - *saved;
    o->now_ms = clock_wall_ms();
    enum err rc = epoch_send(&e->tools, op, err);
    if (!rc)
        *saved = w->seen;
    else if (rc == ERR_INTERNAL) /* what it has of one of the stacks is damaged */
        rc = send_each(e, op, err);
    w->changed += rc ? 0 : o->changed;
    return rc;
}

/* One page; *ret_count: stacks in it. */
static enum err align_page(struct epochs *e, struct cluster_work_row *w,
                           const struct merge_map *map, struct arena *page, size_t *ret_count,
                           uint64_t *saved, struct error *err)
{
    struct keyed_stack *rows = NULL;
    size_t count = 0;
    struct write_op *op = write_op_new(WRITE_REKEY, OP_ARENA);
    struct op_resolution *items = op ? arena_array(op->arena, PAGE, sizeof(*items)) : NULL;
    enum err rc = items ? read_keyed_stacks(e->reader, w->bundle_id, w->cluster_id, w->after_id,
                                            PAGE, page, &rows, &count, err)
                        : error_set(err, ERR_NO_MEMORY, "no memory for keys");
    size_t moved = 0;
    for (size_t i = 0; i < count && !rc; i++) {
        struct keyed keyed;
        if (rows[i].damaged) {
            e->damaged++;
            continue;
        }
        rc = keyer_stack(e->keyer, w->bundle_id, &rows[i], false, page, &keyed, err);
        if (!rc && !is_in_place(e, map, &rows[i], &keyed))
            fill(&rows[i], &keyed, &items[moved++]);
    }
    if (!rc && count > 0)
        w->after_id = rows[count - 1].stack_id;
    w->seen += rc ? 0 : count;
    if (!rc && moved > 0) {
        op->u.rekey.items = items;
        op->u.rekey.count = moved;
        rc = send_keys(e, w, op, saved, err);
    }
    *ret_count = count;
    write_op_free(op);
    return rc;
}

static enum err align(struct epochs *e, struct cluster_work_row *w, struct error *err)
{
    struct arena page, arena;
    struct epoch_rules rules = {0};
    struct merge_map map = {0};
    char quoted[QUOTED_BYTES];
    size_t count = PAGE;
    uint64_t saved = w->seen;
    e->damaged = 0;
    arena_init(&page, PAGE_ARENA);
    arena_init(&arena, WORK_ARENA);
    enum err rc = keyer_begin(e->keyer, e->rules, err);
    if (!rc)
        rc = epoch_rules_read(e->reader, w->bundle_id, &arena, &rules, err);
    if (!rc)
        rc = merge_map_of(rules.rules, rules.count, &arena, &map, err);
    while (!rc && count == PAGE) {
        bool go_on = wait_ms(e, 0);
        while (go_on && writer_is_busy(e->tools.writer))
            go_on = wait_ms(e, BUSY_MS);
        arena_reset(&page);
        rc = go_on ? align_page(e, w, &map, &page, &count, &saved, err) : stopping(err);
        if (!rc && w->seen - saved >= SAVE_STACKS) {
            rc = save(e, w, false, err);
            saved = w->seen;
        }
    }
    if (e->damaged > 0)
        log_warn("stacks stay in their clusters: what is stored of them is damaged",
                 "app=%s stacks=%" PRIu64, log_quote(w->bundle_id, quoted, sizeof(quoted)),
                 e->damaged);
    arena_done(&page);
    arena_done(&arena);
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
    rc = save(e, w, false, err);
    if (!rc && w->after_id == 0)
        rc = carry_over(e, w, err);
    if (!rc && w->phase == CLUSTER_PHASE_LEARN) {
        rc = learn(e, w, err);
        w->phase = CLUSTER_PHASE_ALIGN;
        w->after_id = w->seen = w->changed = 0;
        if (!rc)
            rc = save(e, w, false, err);
    }
    if (!rc)
        rc = align(e, w, err);
    if (!rc)
        rc = save(e, w, true, err);
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
