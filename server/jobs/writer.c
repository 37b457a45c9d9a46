/*
 * DESIGN
 *
 * What. One thread applies every change of the database. Ops wait in a bounded queue, in the order
 * of submission. The thread takes one op (blocking), opens a transaction, and applies ops as they
 * come out of the queue until the group holds `group_ops`, its time has passed or the queue is
 * empty; then it commits, and only then is anybody told. While one group is being synced the next
 * one gathers in the queue, and a group may take as long as the last commit took (`group_ms` at
 * least, GROUP_MS_MAX at most), so its size adapts to the speed of the disk by itself.
 *
 * Who calls. The door (batches, uploads, tokens), the resolver, the indexer, housekeeping:
 * writer_submit() from any thread; writer_call() from any thread but this one.
 *
 * Failure. Each op is applied in a savepoint: one that fails gets its own error after the commit of
 * the others. When begin or commit fails all ops of the group get that error and nothing of them is
 * kept; the storage reopens its connection before the next group. The reason stays readable by
 * writer_problem() until a commit succeeds.
 *
 * Overload. writer_is_busy() is what the door asks before it reads a body: the queue above its high
 * mark, or the write-ahead log above its own. The log cannot be reset while commits follow each
 * other closely, however often another thread checkpoints: what a checkpoint has not copied yet is
 * never nothing. Once the log is RESET_SHARE of its high mark long, the checkpointer copies it; then
 * this thread copies the rest itself between two groups, so that the next commit begins it anew; a
 * long log makes every page that is not cached slower to find. Above half of the mark it also waits
 * for readers, and truncates it.
 *
 * Locks. The queue's own; `lock` around the problem's text, never held while anything else is
 * taken. done() and the bells are called with no lock held. There is no lock order to get wrong.
 */
#include "server/jobs/writer.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/queue.h"
#include "base/thread.h"
#include "server/jobs/checkpointer.h"

/* After a truncation that did not help (a reader holds the log) wait so long before the next. */
#define TRUNCATE_PAUSE_MS 1000
#define RESET_SHARE       8
#define RESET_PAUSE_MS    500
#define GROUP_MS_MAX      50
/* A commit that takes so long is told, until one takes less than the second. */
#define SLOW_MS      1000
#define SLOW_OVER_MS 500

struct writer {
    struct storage *storage;
    struct writer_options options;
    struct metrics *metrics;
    struct queue *queue;
    struct checkpointer *checkpointer;
    struct thread thread;
    /* The first failure of the disk under a single op of the group, "" without; the thread's own. */
    char op_problem[sizeof(((struct error *)NULL)->text)];
    struct write_op **group; /* `options.group_ops` places; the thread's own */
    size_t group_count;
    int64_t commit_ms; /* of the last one; these three are the thread's own */
    int64_t reset_after_ms;
    int64_t truncate_after_ms;
    _Atomic uint64_t wal_bytes;
    pthread_mutex_t lock;
    char problem[sizeof(((struct error *)NULL)->text)];
};

static void set_problem(struct writer *w, const char *text)
{
    pthread_mutex_lock(&w->lock);
    bool changed = strcmp(w->problem, text) != 0;
    snprintf(w->problem, sizeof(w->problem), "%s", text);
    pthread_mutex_unlock(&w->lock);
    char quoted[1024];
    if (changed && *text)
        log_error("commit failed", "error=%s", log_quote(text, quoted, sizeof(quoted)));
    else if (changed)
        log_info("commits succeed again", "waiting=%zu", queue_length(w->queue));
}

/* --- what a committed op means to others ------------------------------------------------------ */

static bool added_pending(const struct write_op *op)
{
    for (size_t i = 0; i < op->u.batches.count; i++) {
        const struct op_batch *batch = &op->u.batches.items[i];
        for (size_t j = 0; j < batch->stack_count; j++) {
            if (batch->stacks[j].added_id != 0)
                return true;
        }
    }
    return false;
}

/* May there be pending stacks now that were not there before? */
static bool makes_pending(const struct write_op *op)
{
    switch (op->kind) {
    case WRITE_BATCHES:
        return added_pending(op);
    case WRITE_UPLOAD_STATE:
        return op->u.upload_state.slice_count > 0;
    case WRITE_REPEND:
        return op->u.repend.count > 0;
    case WRITE_SYMBOL_DELETE:
        return op->u.symbol_delete.existed;
    case WRITE_GIVE_UP:
        return op->u.give_up.count > 0;
    case WRITE_STAND_IN:
        return op->u.stand_in.changed;
    case WRITE_RESOLUTIONS:
    case WRITE_UPLOAD:
    case WRITE_TOKEN:
    case WRITE_TOKEN_REVOKE:
    case WRITE_EXPIRE:
    case WRITE_HOURS_EXPIRE:
    case WRITE_REKEY:
    case WRITE_CLUSTER_RULE:
    case WRITE_CLUSTER_RULE_UNDO:
    case WRITE_EPOCH:
    case WRITE_CLUSTER_CARRY:
    case WRITE_CLUSTER_WORK:
    case WRITE_CONFIG:
    case WRITE_QUOTA:
    case WRITE_UPLOAD_DELETE:
    case WRITE_REFIT:
    case WRITE_REFITTED:
    case WRITE_OBJECTS:
    case WRITE_PROTECT:
    case WRITE_OPEN_UPLOAD:
    case WRITE_PIECE:
    case WRITE_OPEN_DROP:
    case WRITE_USAGE:
    case WRITE_FINDINGS:
    case WRITE_CLUSTER_STATE:
    case WRITE_ALERT_RULES:
    case WRITE_ALERTS:
    case WRITE_DELIVERY:
        return false;
    }
    return false;
}

/* May there be reports now whose culprit or deadlock is to be found anew? */
static bool makes_findings_due(const struct write_op *op)
{
    bool due = (op->kind == WRITE_RESOLUTIONS && op->u.resolutions.findings_due) ||
               (op->kind == WRITE_REKEY && op->u.rekey.findings_due);
    for (size_t i = 0; op->kind == WRITE_BATCHES && i < op->u.batches.count && !due; i++)
        due = op->u.batches.items[i].findings_due;
    return due;
}

static void tell_layouts(struct writer *w, const struct write_op *op)
{
    if (!w->options.layout_claimed || op->kind != WRITE_BATCHES)
        return;
    for (size_t i = 0; i < op->u.batches.count; i++) {
        const struct op_batch *batch = &op->u.batches.items[i];
        for (size_t j = 0; j < batch->image_count; j++) {
            const struct op_image *image = &batch->images[j];
            if (image->has_vmaddr && image->kind == IMAGE_UUID)
                w->options.layout_claimed(w->options.bell_ctx, batch->bundle_id, &image->id,
                                          image->vmaddr);
        }
    }
}

/* --- groups ----------------------------------------------------------------------------------- */

static bool group_is_open(const struct writer *w, int64_t started_ms)
{
    int64_t ms = w->commit_ms < GROUP_MS_MAX ? w->commit_ms : GROUP_MS_MAX;
    if (ms < w->options.group_ms || w->options.group_ms == 0)
        ms = w->options.group_ms;
    return w->group_count < w->options.group_ops && clock_mono_ms() - started_ms < ms;
}

/* Takes the next op that waits, without waiting for one. */
static bool take_next(struct writer *w)
{
    void *item = NULL;
    if (queue_pop(w->queue, &item, 0) != ERR_OK)
        return false;
    w->group[w->group_count++] = item;
    return true;
}

static void apply(struct writer *w, struct write_op *op)
{
    op->error = (struct error){.code = ERR_OK};
    op->rc = storage_apply(w->storage, op, &op->error);
    if (op->rc != ERR_OK && op->error.code == ERR_OK)
        error_set(&op->error, op->rc, "the change was refused");
    bool damaged = op->rc == ERR_FORMAT && storage_trouble(w->storage, NULL, 0) == STORAGE_DAMAGED;
    if ((op->rc == ERR_IO || damaged) && !w->op_problem[0])
        snprintf(w->op_problem, sizeof(w->op_problem), "%s", op->error.text);
}

/* Nothing fails, and everybody waits: without a word nobody would look at the disk. */
static void tell_slow(struct writer *w)
{
    bool slow = metrics_get(w->metrics, METRIC_COMMITS_SLOW) != 0;
    if (!slow && w->commit_ms >= SLOW_MS)
        log_warn("commits are slow", "ms=%" PRId64, w->commit_ms);
    else if (slow && w->commit_ms < SLOW_OVER_MS)
        log_info("commits are fast again", "ms=%" PRId64, w->commit_ms);
    else
        return;
    metrics_set(w->metrics, METRIC_COMMITS_SLOW, !slow);
}

/* Applies the group and what joins it meanwhile. ERR_OK: on disk. */
static enum err write_group(struct writer *w, struct error *err)
{
    int64_t started_ms = clock_mono_ms();
    enum err rc = storage_begin(w->storage, err);
    if (rc != ERR_OK) {
        /* What waits behind would run into the same: one failure for all of it. */
        while (w->group_count < w->options.group_ops && take_next(w))
            continue;
        return rc;
    }
    apply(w, w->group[0]);
    while (group_is_open(w, started_ms) && take_next(w))
        apply(w, w->group[w->group_count - 1]);
    const int64_t applied_ms = clock_mono_ms();
    rc = storage_commit(w->storage, err);
    if (rc != ERR_OK)
        storage_rollback(w->storage);
    w->commit_ms = clock_mono_ms() - applied_ms;
    tell_slow(w);
    metrics_commit_ms(w->metrics, clock_mono_ms() - started_ms);
    return rc;
}

static void keep_log_short(struct writer *w)
{
    uint64_t bytes = storage_wal_bytes(w->storage);
    int64_t now_ms = clock_mono_ms();
    struct error ignored; /* the storage knows it, and housekeeping tells it */
    uint64_t left = bytes;
    const bool is_long = bytes > w->options.wal_high_bytes / RESET_SHARE;
    if (!is_long) { /* housekeeping may have come first */
        checkpointer_forget(w->checkpointer);
    } else if (now_ms >= w->reset_after_ms && checkpointer_ask(w->checkpointer)) {
        const enum err rc = storage_checkpoint(w->storage, false, &left, &ignored);
        if (rc == ERR_OK)
            bytes = left;
        if (rc != ERR_BUSY) /* housekeeping's goes on */
            w->reset_after_ms = now_ms + RESET_PAUSE_MS;
    }
    if (bytes > w->options.wal_high_bytes / 2 && now_ms >= w->truncate_after_ms) {
        if (storage_checkpoint(w->storage, true, &left, &ignored) == ERR_OK)
            bytes = left;
        if (bytes > w->options.wal_high_bytes / 2)
            w->truncate_after_ms = now_ms + TRUNCATE_PAUSE_MS;
    }
    atomic_store(&w->wal_bytes, bytes);
    metrics_set(w->metrics, METRIC_WAL_BYTES, (int64_t)bytes);
}

/* Settles how each op went, and counts before anybody is told. */
static void settle_group(struct writer *w, enum err group_rc, const struct error *group_err)
{
    int64_t failed = 0;
    for (size_t i = 0; i < w->group_count; i++) {
        struct write_op *op = w->group[i];
        if (group_rc != ERR_OK) {
            op->rc = group_rc;
            op->error = *group_err;
        }
        /* What is stored is damaged, which is no fault of the op's: its sender may try again. */
        if (op->rc == ERR_FORMAT)
            op->rc = op->error.code = ERR_INTERNAL;
        failed += op->rc != ERR_OK;
    }
    metrics_add(w->metrics, METRIC_OPS, (int64_t)w->group_count - failed);
    metrics_add(w->metrics, METRIC_OPS_FAILED, failed);
}

static void answer_group(struct writer *w)
{
    bool ring = false, ring_findings = false;
    for (size_t i = 0; i < w->group_count; i++) {
        struct write_op *op = w->group[i];
        if (op->rc == ERR_OK) {
            ring = makes_pending(op) || ring;
            ring_findings = makes_findings_due(op) || ring_findings;
            tell_layouts(w, op);
        }
        /* From here on the op is its owner's again, and may be gone. */
        if (op->done)
            op->done(op, op->rc, &op->error);
        else
            write_op_free(op);
    }
    w->group_count = 0;
    if (ring && w->options.pending_bell)
        w->options.pending_bell(w->options.bell_ctx);
    if (ring_findings && w->options.findings_bell)
        w->options.findings_bell(w->options.bell_ctx);
}

static void *run(void *arg)
{
    struct writer *w = arg;
    void *item = NULL;
    while (queue_pop(w->queue, &item, INT64_MAX) == ERR_OK) {
        struct error err = {.code = ERR_OK};
        w->group[w->group_count++] = item;
        w->op_problem[0] = 0;
        enum err rc = write_group(w, &err);
        metrics_add(w->metrics, rc == ERR_OK ? METRIC_COMMITS : METRIC_COMMIT_FAILURES, 1);
        metrics_set(w->metrics, METRIC_WRITER_QUEUE, (int64_t)queue_length(w->queue));
        set_problem(w, rc == ERR_OK ? w->op_problem : err.text);
        settle_group(w, rc, &err);
        answer_group(w);
        keep_log_short(w);
    }
    return NULL;
}

/* --- the face --------------------------------------------------------------------------------- */

static void writer_free(struct writer *w)
{
    if (!w)
        return;
    checkpointer_stop(w->checkpointer);
    queue_free(w->queue);
    free(w->group);
    pthread_mutex_destroy(&w->lock);
    free(w);
}

enum err writer_start(struct storage *storage, const struct writer_options *options,
                      struct metrics *metrics, struct writer **ret, struct error *err)
{
    enum err rc = ERR_OK;
    struct writer *w = calloc(1, sizeof(*w));
    if (!w)
        return error_set(err, ERR_NO_MEMORY, "no memory for the writer");
    pthread_mutex_init(&w->lock, NULL);
    w->storage = storage;
    w->options = *options;
    w->metrics = metrics;
    w->queue = queue_new(options->queue_capacity);
    w->group = calloc(options->group_ops, sizeof(struct write_op *));
    if (!w->queue || !w->group) {
        rc = error_set(err, ERR_NO_MEMORY, "no memory for a queue of %zu changes",
                       options->queue_capacity);
        goto out;
    }
    rc = checkpointer_start(storage, &w->checkpointer, err);
    if (rc == ERR_OK)
        rc = thread_start(&w->thread, "writer", run, w, err);
    if (rc != ERR_OK)
        goto out;
    *ret = w;
    w = NULL;
out:
    writer_free(w);
    return rc;
}

void writer_stop(struct writer *w)
{
    if (!w)
        return;
    queue_close(w->queue);
    thread_join(&w->thread);
    writer_free(w);
}

enum err writer_submit(struct writer *w, struct write_op *op, struct error *err)
{
    return queue_push(w->queue, op, err);
}

bool writer_is_busy(const struct writer *w)
{
    return queue_length(w->queue) >= w->options.high_mark ||
           atomic_load(&w->wal_bytes) > w->options.wal_high_bytes;
}

void writer_problem(struct writer *w, char *text, size_t size)
{
    pthread_mutex_lock(&w->lock);
    snprintf(text, size, "%s", w->problem);
    pthread_mutex_unlock(&w->lock);
}

/* --- waiting for one op ----------------------------------------------------------------------- */

struct call {
    pthread_mutex_t lock;
    pthread_cond_t finished;
    bool done;
    enum err rc;
    struct error error;
};

static void call_done(struct write_op *op, enum err rc, const struct error *err)
{
    struct call *call = op->user;
    pthread_mutex_lock(&call->lock);
    call->done = true;
    call->rc = rc;
    call->error = *err;
    pthread_cond_signal(&call->finished);
    pthread_mutex_unlock(&call->lock);
}

enum err writer_call(struct writer *w, struct write_op *op, struct error *err)
{
    struct call call = {.done = false};
    pthread_mutex_init(&call.lock, NULL);
    thread_cond_init(&call.finished);
    op->done = call_done;
    op->user = &call;
    enum err rc = writer_submit(w, op, err);
    if (rc == ERR_OK) {
        pthread_mutex_lock(&call.lock);
        while (!call.done)
            pthread_cond_wait(&call.finished, &call.lock);
        pthread_mutex_unlock(&call.lock);
        rc = call.rc;
        if (rc != ERR_OK && err)
            *err = call.error;
    }
    pthread_cond_destroy(&call.finished);
    pthread_mutex_destroy(&call.lock);
    return rc;
}
