/*
 * DESIGN
 *
 * What. A few threads, each with its own storage reader, symbolizer and arena, take jobs from one
 * bounded queue. The door describes a read as a job, submits it, suspends its connection and is
 * called back when the answer is there.
 *
 * Who calls. Handlers of the door: readers_submit(). run() and done() are called on a reader's
 * thread with no lock held.
 *
 * Bounds. The queue; a job's memory (the arena's limit) and its time: queries end by themselves at
 * the deadline, which also bounds how long readers_stop() takes. Jobs that still wait when the
 * readers stop are not run: they are told ERR_BUSY.
 */
#include "server/jobs/readers.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/queue.h"
#include "base/thread.h"

struct reader_thread {
    struct readers *owner;
    struct thread thread;
    struct storage_reader *storage;
    struct symbolizer *symbolizer;
    struct arena *arena;
};

struct readers {
    struct readers_options options;
    struct metrics *metrics;
    struct queue *queue;
    atomic_bool stopping;
    struct reader_thread *threads;
};

static void run_job(struct reader_thread *t, struct read_job *job)
{
    struct readers *r = t->owner;
    struct error err = {.code = ERR_OK};
    struct read_tools tools = {.storage = t->storage,
                               .symbolizer = t->symbolizer,
                               .arena = t->arena,
                               .deadline_mono_ms = clock_mono_ms() + r->options.deadline_ms};
    arena_reset(t->arena);
    storage_reader_deadline(t->storage, tools.deadline_mono_ms);
    enum err rc = job->run(job, &tools, &err);
    metrics_add(r->metrics, METRIC_READS, 1);
    job->late = rc == ERR_LIMIT && clock_mono_ms() >= tools.deadline_mono_ms;
    if (job->late)
        metrics_add(r->metrics, METRIC_READS_TIMED_OUT, 1);
    job->done(job, rc, &err);
}

static void *run(void *arg)
{
    struct reader_thread *t = arg;
    void *item = NULL;
    while (queue_pop(t->owner->queue, &item, INT64_MAX) == ERR_OK) {
        struct read_job *job = item;
        if (atomic_load(&t->owner->stopping)) {
            struct error err;
            job->done(job, error_set(&err, ERR_BUSY, "the daemon is stopping"), &err);
        } else {
            run_job(t, job);
        }
    }
    return NULL;
}

static enum err reader_thread_start(struct readers *r, struct reader_thread *t,
                                    struct storage *storage, struct index_cache *cache,
                                    struct error *err)
{
    t->owner = r;
    enum err rc = storage_reader_open(storage, &t->storage, err);
    if (rc != ERR_OK)
        return rc;
    t->symbolizer = symbolizer_new(cache, r->options.frame_cache_entries);
    t->arena = arena_new(r->options.arena_limit);
    if (!t->symbolizer || !t->arena)
        return error_set(err, ERR_NO_MEMORY, "no memory for a reader");
    return thread_start(&t->thread, "reader", run, t, err);
}

enum err readers_start(struct storage *storage, struct index_cache *cache,
                       const struct readers_options *options, struct metrics *metrics,
                       struct readers **ret, struct error *err)
{
    enum err rc = ERR_OK;
    struct readers *r = calloc(1, sizeof(*r));
    if (!r)
        return error_set(err, ERR_NO_MEMORY, "no memory for the readers");
    r->options = *options;
    r->metrics = metrics;
    r->queue = queue_new(options->queue_capacity);
    r->threads = calloc(options->threads, sizeof(r->threads[0]));
    if (!r->queue || !r->threads) {
        rc = error_set(err, ERR_NO_MEMORY, "no memory for the readers");
        goto out;
    }
    for (size_t i = 0; i < options->threads; i++) {
        rc = reader_thread_start(r, &r->threads[i], storage, cache, err);
        if (rc != ERR_OK)
            goto out;
    }
    *ret = r;
    r = NULL;
out:
    readers_stop(r);
    return rc;
}

void readers_stop(struct readers *r)
{
    if (!r)
        return;
    atomic_store(&r->stopping, true);
    if (r->queue)
        queue_close(r->queue);
    for (size_t i = 0; r->threads && i < r->options.threads; i++) {
        struct reader_thread *t = &r->threads[i];
        thread_join(&t->thread);
        symbolizer_free(t->symbolizer);
        storage_reader_close(t->storage);
        arena_free(t->arena);
    }
    free(r->threads);
    queue_free(r->queue);
    free(r);
}

enum err readers_submit(struct readers *r, struct read_job *job, struct error *err)
{
    return queue_push(r->queue, job, err);
}
