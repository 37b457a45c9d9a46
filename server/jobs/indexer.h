/*
 * indexer - turns queued uploads into index files, by a child process.
 *
 * Purpose: design/architecture.md section 7: spawns `stallsymd index` with limits and an empty
 * environment, reads its JSON lines, checks what it wrote, installs it, tells the cache and the
 * database, rings the resolver.
 *
 * Invariants: one child at a time. The uploads table is its queue: what was queued or under way
 * when the daemon went down is done again. Whatever the child does (crash, hang, limit, lies on
 * stdout), the upload ends INDEXED or FAILED with a reason, its work folder is removed.
 *
 * Threads: indexer_ring, indexer_wait from any; waiters are called on the indexer's thread.
 * Memory: indexer_start/indexer_stop.
 */
#ifndef STALLSYM_JOBS_INDEXER_H
#define STALLSYM_JOBS_INDEXER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "server/jobs/index_room.h"
#include "server/jobs/layouts.h"
#include "server/jobs/metrics.h"
#include "server/jobs/piece_locks.h"
#include "server/jobs/symbol_keeper.h"
#include "server/jobs/writer.h"
#include "storage/blob_store.h"
#include "storage/storage.h"
#include "symbolizer/index_cache.h"

struct indexer;

struct indexer_options {
    const char *program; /* "/proc/self/exe" */
    size_t jobs;         /* threads of the child */
    uint64_t child_data_bytes;
    uint64_t child_file_bytes;
    uint32_t child_cpu_s;
    uint32_t child_wall_s;
    struct piece_locks *piece_locks;            /* with `keeper` */
    const struct symbol_keeper_options *keeper; /* copied; NULL: nothing is looked after */
    struct index_caps caps;
    bool keep_objects; /* object files are kept in the blob store (GET /v1/symbols/{uuid}/file) */
};

enum err indexer_start(struct storage *storage, struct writer *writer, struct blob_store *blobs,
                       struct index_cache *cache, struct layouts *layouts,
                       const struct indexer_options *options, struct metrics *metrics,
                       struct indexer **ret, struct error *err);
/* First half of a stop, for the time in which requests still run: ends a running child (its upload
 * stays queued) and the thread, calls waiters with ERR_BUSY. indexer_wait() answers ERR_BUSY then. */
void indexer_quiesce(struct indexer *x);
/* The rest. */
void indexer_stop(struct indexer *x);
/* The object file of this UUID was fetched: it is of use. */
void indexer_note_use(struct indexer *x, const struct uuid *uuid);
/* There is a new queued upload. */
void indexer_ring(struct indexer *x);
/* `done` is called once the upload is indexed or failed (at once, on this thread, if it is), with
 * ERR_BUSY when it stays queued: the storage is in trouble, or the indexer stops. */
enum err indexer_wait(struct indexer *x, uint64_t upload_id, void (*done)(void *ctx, enum err rc),
                      void *ctx, struct error *err);
/* The same, once no UUID is queued for a choice of its index (WRITE_REFIT, deletions). */
enum err indexer_wait_refits(struct indexer *x, void (*done)(void *ctx, enum err rc), void *ctx,
                             struct error *err);

#endif
