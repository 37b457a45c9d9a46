/*
 * writer - the one thread that changes the database.
 *
 * Purpose: takes ops from everybody, applies them in groups, one transaction a group, and tells
 * each op's owner after the commit (group commit; design/architecture.md section 5).
 *
 * Invariants: done() of an op is called exactly once, after its group is on disk or has failed. One
 * bad op fails alone (savepoint). A failed commit fails every op of the group. Order of submission
 * is order of application.
 *
 * Threads: writer_submit from any thread; done() runs on the writer's thread and must be quick.
 * Memory: writer_submit takes ownership of the op on ERR_OK; done() gives it back.
 */
#ifndef STALLSYM_JOBS_WRITER_H
#define STALLSYM_JOBS_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "server/jobs/metrics.h"
#include "storage/storage.h"
#include "storage/write_op.h"

struct writer;

struct writer_options {
    size_t queue_capacity;   /* ops */
    size_t high_mark;        /* above it writer_is_busy() */
    size_t group_ops;        /* 512 */
    int64_t group_ms;        /* 5 */
    uint64_t wal_high_bytes; /* a write-ahead log above it makes writer_is_busy() */
    /* Called on the writer's thread after a group that turned stacks pending or added new ones was
     * committed: rings the resolver. May be NULL. */
    void (*pending_bell)(void *ctx);
    /* The same after one that made reports due for findings. May be NULL. */
    void (*findings_bell)(void *ctx);
    /* A committed batch said a vmaddr: tells the door's table. May be NULL. */
    void (*layout_claimed)(void *ctx, const char *bundle_id, const struct uuid *uuid,
                           uint64_t vmaddr);
    void *bell_ctx;
};

enum err writer_start(struct storage *storage, const struct writer_options *options,
                      struct metrics *metrics, struct writer **ret, struct error *err);
/* Refuses new ops, commits and answers all that are queued, ends the thread, frees. */
void writer_stop(struct writer *w);

/* ERR_BUSY when the queue is full or the writer is stopping; the op is still the caller's then. */
enum err writer_submit(struct writer *w, struct write_op *op, struct error *err);
/* Admission: the queue or the write-ahead log is above its high mark. */
bool writer_is_busy(const struct writer *w);
/* The last commit failed (disk full, read-only): for /readyz. "" when all is well. */
void writer_problem(struct writer *w, char *text, size_t size);

/* Submits and waits; the op is the caller's again whatever happened. Not on the writer's thread. */
enum err writer_call(struct writer *w, struct write_op *op, struct error *err);

#endif
