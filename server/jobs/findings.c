/*
 * DESIGN
 *
 * A look: a page of reports that are due is read in one snapshot, answered, and the answers are
 * committed; the op puts reports of stacks that were resolved meanwhile into the queue, and says
 * whether anything is due still. Looks follow each other until nothing is. Since the next page is
 * read after the commit, no answer is ever made from what an earlier one has changed.
 *
 * A report one of whose stacks is pending is dropped from the queue: the resolution of that stack
 * makes it due again.
 *
 * Locks. One, around the bell; not held while anything is called.
 */
#include "server/jobs/findings.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/thread.h"
#include "server/jobs/report_finding.h"
#include "storage/read_findings.h"

#define PAGE          128 /* reports of one op */
#define REFILL        1024
#define PAGE_ARENA    ((size_t)256 * 1024 * 1024)
#define OP_ARENA      ((size_t)16 * 1024 * 1024)
#define RETRY_MS      1000 /* after a failed read or commit */
#define BUSY_MS       20   /* the writer's queue is full: try again */
#define DEADLOCK_TEXT 65536

struct findings {
    struct writer *writer;
    const struct rules *_Atomic rules;
    struct metrics *metrics;
    struct storage_reader *reader;
    struct arena *arena; /* of a page */
    struct thread thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool rung;
    bool stopping;
};

static void log_failure(const char *what, uint64_t report_id, const struct error *err)
{
    char quoted[sizeof(err->text) + 64];
    log_warn(what, "report=%" PRIu64 " error=%s", report_id,
             log_quote(err->text, quoted, sizeof(quoted)));
}

/* The cycle as compact JSON. */
static enum err print_cycle(const struct deadlock *d, struct arena *arena, const char **ret,
                            struct error *err)
{
    struct buf out;
    buf_init(&out, DEADLOCK_TEXT);
    for (size_t i = 0; i < d->member_count; i++)
        buf_printf(&out, "%c%zu", i ? ',' : '[', d->members[i].thread);
    buf_putc(&out, ']');
    *ret = out.failed ? NULL : arena_strndup(arena, out.data, out.len);
    buf_done(&out);
    return *ret ? ERR_OK : error_set(err, ERR_NO_MEMORY, "no memory for a deadlock");
}

static enum err answer(struct findings *f, const struct finding_due *due, struct write_op *op,
                       struct op_finding *item, struct error *ret_starved)
{
    struct report_finding found;
    struct error err;
    *item = (struct op_finding){.report_id = due->report_id, .generation = due->generation};
    enum err rc = due->damaged
                      ? error_set(&err, ERR_FORMAT, "it cannot be read")
                      : report_finding_of(f->rules, &due->report, false, f->arena, &found, &err);
    if (rc == ERR_OK && found.deadlock.found)
        rc = print_cycle(&found.deadlock, op->arena, &item->deadlock, &err);
    /* What the machine did not have is no property of the report: it stays due. */
    if (rc == ERR_NO_MEMORY && !f->arena->capped && !op->arena->capped) {
        error_set(ret_starved, rc, "%s", err.text);
        return rc;
    }
    if (rc != ERR_OK) {
        log_failure("report's culprit cannot be found", due->report_id, &err);
        item->unknown = true;
        return rc;
    }
    item->unknown = found.unknown;
    item->has_culprit = found.has_culprit && due->report.sample_count > 1;
    if (!item->has_culprit)
        return ERR_OK;
    const struct culprit *c = &found.culprit;
    item->sample = (uint32_t)c->sample;
    item->stage_ms = c->stages[c->stage].length_ms;
    item->total_ms = c->total_ms;
    item->confidence = c->confidence;
    return ERR_OK;
}

static bool is_stopping(struct findings *f)
{
    pthread_mutex_lock(&f->lock);
    bool stopping = f->stopping;
    pthread_mutex_unlock(&f->lock);
    return stopping;
}

/* Waits for `ms` or the stop. */
static void rest(struct findings *f, int64_t ms)
{
    int64_t until = clock_mono_ms() + ms;
    pthread_mutex_lock(&f->lock);
    while (!f->stopping && thread_cond_wait_until(&f->changed, &f->lock, until))
        continue;
    pthread_mutex_unlock(&f->lock);
}

/* Commits the op, waiting for room in the writer's queue. */
static enum err commit(struct findings *f, struct write_op *op, struct error *err)
{
    enum err rc = writer_call(f->writer, op, err);
    while (rc == ERR_BUSY && !is_stopping(f)) {
        rest(f, BUSY_MS);
        rc = writer_call(f->writer, op, err);
    }
    return rc;
}

/* One page. *ret_more: look again at once. */
static enum err look(struct findings *f, bool *ret_more, struct error *err)
{
    struct finding_due *due = NULL;
    size_t count = 0;
    *ret_more = false;
    arena_reset(f->arena);
    enum err rc = read_findings_due(f->reader, PAGE, f->arena, &due, &count, err);
    if (rc != ERR_OK)
        return rc;
    struct write_op *op = write_op_new(WRITE_FINDINGS, OP_ARENA);
    struct op_finding *items = op ? arena_array(op->arena, count + 1, sizeof(*items)) : NULL;
    if (!items) {
        write_op_free(op);
        return error_set(err, ERR_NO_MEMORY, "no memory for findings");
    }
    struct error starved = {.code = ERR_OK};
    for (size_t i = 0; i < count && starved.code == ERR_OK; i++)
        (void)answer(f, &due[i], op, &items[i], &starved);
    if (starved.code != ERR_OK) {
        write_op_free(op);
        return error_set(err, starved.code, "%s", starved.text);
    }
    op->u.findings = (struct op_findings){
        .items = items, .count = count, .refill = REFILL, .now_ms = clock_wall_ms()};
    rc = commit(f, op, err);
    int64_t applied = 0, moved = 0;
    for (size_t i = 0; rc == ERR_OK && i < count; i++) {
        applied += items[i].applied;
        moved += items[i].moved;
    }
    *ret_more = rc == ERR_OK && op->u.findings.more;
    metrics_add(f->metrics, METRIC_FINDINGS, applied);
    metrics_add(f->metrics, METRIC_FINDINGS_MOVED, moved);
    write_op_free(op);
    return rc;
}

/* Sleeps until rung, stopped or `until` has come. False: stop. */
static bool wait_for_work(struct findings *f, int64_t until_mono_ms)
{
    pthread_mutex_lock(&f->lock);
    bool due = until_mono_ms == 0;
    while (!f->stopping && !f->rung && !due) {
        if (until_mono_ms == INT64_MAX)
            pthread_cond_wait(&f->changed, &f->lock);
        else
            due = !thread_cond_wait_until(&f->changed, &f->lock, until_mono_ms);
    }
    f->rung = false;
    bool go_on = !f->stopping;
    pthread_mutex_unlock(&f->lock);
    return go_on;
}

static void *run(void *arg)
{
    struct findings *f = arg;
    int64_t until = 0; /* what the last run left is there at start */
    while (wait_for_work(f, until)) {
        struct error err;
        bool more = false;
        enum err rc = look(f, &more, &err);
        if (rc != ERR_OK && !is_stopping(f))
            log_failure("findings cannot be made", 0, &err);
        until = rc != ERR_OK ? clock_mono_ms() + RETRY_MS : more ? 0 : INT64_MAX;
    }
    return NULL;
}

void findings_set_rules(struct findings *f, const struct rules *rules)
{
    f->rules = rules;
}

enum err findings_start(struct storage *storage, struct writer *writer, const struct rules *rules,
                        struct metrics *metrics, struct findings **ret, struct error *err)
{
    struct findings *f = calloc(1, sizeof(*f));
    if (!f)
        return error_set(err, ERR_NO_MEMORY, "no memory for findings");
    pthread_mutex_init(&f->lock, NULL);
    thread_cond_init(&f->changed);
    f->writer = writer;
    f->rules = rules;
    f->metrics = metrics;
    f->arena = arena_new(PAGE_ARENA);
    enum err rc = f->arena ? storage_reader_open(storage, &f->reader, err)
                           : error_set(err, ERR_NO_MEMORY, "no memory for findings");
    if (rc == ERR_OK)
        rc = thread_start(&f->thread, "findings", run, f, err);
    if (rc != ERR_OK) {
        findings_stop(f);
        return rc;
    }
    *ret = f;
    return ERR_OK;
}

void findings_stop(struct findings *f)
{
    if (!f)
        return;
    pthread_mutex_lock(&f->lock);
    f->stopping = true;
    pthread_cond_broadcast(&f->changed);
    pthread_mutex_unlock(&f->lock);
    thread_join(&f->thread);
    storage_reader_close(f->reader);
    arena_free(f->arena);
    pthread_cond_destroy(&f->changed);
    pthread_mutex_destroy(&f->lock);
    free(f);
}

void findings_ring(struct findings *f)
{
    pthread_mutex_lock(&f->lock);
    f->rung = true;
    pthread_cond_broadcast(&f->changed);
    pthread_mutex_unlock(&f->lock);
}
