/*
 * symbol_keeper - looks after the symbol store when there is nothing to index.
 *
 * Purpose, each in bounded steps:
 *   - notes which objects are of use: their index was asked, their file fetched;
 *   - drops object files (never indexes) that were of no use for so many days, apart for apps and
 *     systems; above a cap of bytes the longest unused ones of who holds most (object_shares.h);
 *     those of deleted uploads. Protected builds are left alone;
 *   - tells when the index files have reached their cap;
 *   - gives up uploads in pieces that nobody goes on with;
 *   - looks at every index in use: soon after a start whether it is there and of this version, and
 *     once in a while whether it is whole; those that are used sooner (index_watch.h); what is not
 *     is queued for a refit (index_refit.h).
 *
 * Invariants: the only one to remove objects, and on the thread that installs them. What is removed is
 * removed before the database says so, so that a crash in between is caught up with.
 *
 * Threads: the indexer's; both clocks are parameters. Memory: symbol_keeper_new/symbol_keeper_free.
 */
#ifndef STALLSYM_JOBS_SYMBOL_KEEPER_H
#define STALLSYM_JOBS_SYMBOL_KEEPER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "server/jobs/metrics.h"
#include "server/jobs/piece_locks.h"
#include "server/jobs/writer.h"
#include "storage/blob_store.h"
#include "storage/storage_read.h"
#include "symbolizer/index_cache.h"

struct symbol_keeper;

struct symbol_keeper_options {
    int64_t object_ms;         /* an app's objects are kept so long unused; 0: for ever */
    int64_t system_object_ms;  /* so those of systems */
    uint64_t object_bytes;     /* of all objects; 0: no cap; so the next one */
    uint64_t app_object_bytes; /* of those that one app holds (read_object_holders) */
    uint64_t index_bytes;      /* at so many of index files uploads are refused; 0: no cap */
    int64_t open_upload_ms;    /* an upload in pieces lives so long without one */
    int64_t check_ms;          /* every index is read whole so often; 0: never */
};

struct symbol_keeper_parts {
    struct storage_reader *reader;
    struct writer *writer;
    struct blob_store *blobs;
    struct index_cache *cache;
    struct piece_locks *piece_locks;
    struct metrics *metrics;
};

/* NULL without memory. */
struct symbol_keeper *symbol_keeper_new(const struct symbol_keeper_parts *parts,
                                        const struct symbol_keeper_options *options);
void symbol_keeper_free(struct symbol_keeper *k);
/* Does what is due. *ret_more: there is more to be done at once. `used`: whose object files were
 * fetched since. */
enum err symbol_keeper_step(struct symbol_keeper *k, int64_t wall_ms, int64_t mono_ms,
                            const struct uuid *used, size_t used_count, struct arena *arena,
                            bool *ret_more, struct error *err);

#endif
