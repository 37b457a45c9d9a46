/*
 * index_restore_own - apps' own indexes for which a symbol map came that serves all.
 *
 * Purpose: a map of an unbound token is for every app's indexes: the child reads it whenever one is made.
 * So that the order makes no difference, apps' own indexes (storage/shelf.h) that hide names it has are
 * made anew when it comes: they are listed here, to be queued for a refit, which does it.
 *
 * Invariants: what a bound token sends lists nothing here: it is for its own app's indexes alone, and no
 * app changes another's, nor what serves all. Whoever holds an unbound one is trusted with all indexes
 * anyhow. An app's own map of the same UUID comes before it (blob_store_own_maps).
 *
 * Threads: the indexer's. Memory: the caller's arena.
 */
#ifndef STALLSYM_JOBS_INDEX_RESTORE_OWN_H
#define STALLSYM_JOBS_INDEX_RESTORE_OWN_H

#include "base/arena.h"
#include "base/error.h"
#include "storage/blob_store.h"
#include "storage/storage_read.h"

/* `named`: the UUIDs of the maps and links that came, which are in the store. `ret`: shelves. */
enum err index_restore_own(struct storage_reader *reader, const struct blob_store *blobs,
                           const struct uuid *named, size_t count, struct arena *arena,
                           struct uuid **ret, size_t *ret_count, struct error *err);

#endif
