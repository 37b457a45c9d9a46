/*
 * readers - threads that run queries, so that the door never waits for one.
 *
 * Purpose: a handler describes a read as a job; a reader thread runs it on its own storage reader
 * (and its own symbolizer), under a deadline; then `done` is called, which resumes the connection.
 *
 * Invariants: done() exactly once for every job accepted. Jobs are run in order of arrival.
 *
 * Threads: readers_submit from any; run() and done() on a reader's thread. Memory: the job is the
 * caller's; accepted, it is the reader's until done().
 */
#ifndef STALLSYM_JOBS_READERS_H
#define STALLSYM_JOBS_READERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "server/jobs/metrics.h"
#include "storage/storage.h"
#include "symbolizer/index_cache.h"
#include "symbolizer/symbolize.h"

struct readers;

/* What a job runs with: the thread's own. */
struct read_tools {
    struct storage_reader *storage;
    struct symbolizer *symbolizer;
    struct arena *arena; /* reset before each job */
    int64_t deadline_mono_ms;
};

struct read_job {
    enum err (*run)(struct read_job *job, const struct read_tools *tools, struct error *err);
    /* rc and err are run()'s; ERR_BUSY when the readers stopped before it ran. */
    void (*done)(struct read_job *job, enum err rc, const struct error *err);
    void *user;
    bool late; /* for done(): ERR_LIMIT is of the deadline */
};

struct readers_options {
    size_t threads;
    size_t queue_capacity;
    int64_t deadline_ms;
    size_t frame_cache_entries;
    size_t arena_limit; /* bytes a job may allocate */
};

enum err readers_start(struct storage *storage, struct index_cache *cache,
                       const struct readers_options *options, struct metrics *metrics,
                       struct readers **ret, struct error *err);
void readers_stop(struct readers *r);
/* ERR_BUSY when the queue is full; the job is still the caller's then. */
enum err readers_submit(struct readers *r, struct read_job *job, struct error *err);

#endif
