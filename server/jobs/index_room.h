/*
 * index_room - may there be more index files?
 *
 * Purpose: indexes are kept until somebody deletes them, so who may upload could fill the disk with
 * them. Two caps in the configuration say when uploads are refused: of all index files, and of those
 * that one app's uploads made, so that one app leaves room for the others.
 *
 * Invariants: asked at the door, for an answer that says why, and by the indexer again, before an upload
 * is read: what waits together above the cap fails. So it is passed by no more than one upload's. What
 * was indexed before may be sent again: that is how a damaged index is mended. The sums take a while
 * where there are hundreds of thousands of symbol files: they are asked for once, however many files.
 *
 * Threads: the reader's. Memory: the caller's arena.
 */
#ifndef STALLSYM_JOBS_INDEX_ROOM_H
#define STALLSYM_JOBS_INDEX_ROOM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "storage/storage_read.h"

/* Bytes; 0: no cap. */
struct index_caps {
    uint64_t all, app;
};

static inline bool index_room_is_full(uint64_t kept_bytes, uint64_t cap)
{
    return cap && kept_bytes >= cap;
}

/* An upload, as far as it matters here. */
struct index_wish {
    const uint8_t *const *sha256; /* of each of its files */
    size_t count;
    const char *bundle_id; /* "" */
    bool system, bound;
};

/* *ret_refusal: why there is no room for the indexes of one of the files; NULL: there is, for the first
 * of them. */
enum err index_room_check(struct storage_reader *reader, const struct index_caps *caps,
                          const struct index_wish *wish, struct arena *arena,
                          const char **ret_refusal, struct error *err);

#endif
