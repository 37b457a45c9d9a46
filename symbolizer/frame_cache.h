/*
 * frame_cache - the frames of addresses asked before.
 *
 * Purpose: stacks of one app repeat the same few thousand addresses. LRU from (index generation,
 * address) to frames; a new file for an image has a new generation, so nothing is ever stale.
 *
 * Invariants: at most `entries` entries, and FRAME_CACHE_ENTRY_BYTES times that in bytes of frames
 * and texts. "No function there" is cached, too (count 0).
 *
 * Threads: one owner, no lock. Memory: a block lives until the next frame_cache_put; take a copy.
 */
#ifndef STALLSYM_SYMBOLIZER_FRAME_CACHE_H
#define STALLSYM_SYMBOLIZER_FRAME_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/stack.h"

#define FRAME_CACHE_ENTRY_BYTES 512 /* average of an entry; when passed, fewer are kept */

struct frame_cache;

/* The frames of one address, with their texts, in one piece. */
struct frame_block {
    size_t size;         /* of the whole block */
    size_t count;        /* of frames */
    uint64_t id;         /* of no other block that ever was, in any cache */
    uint64_t from_start; /* of the first frame, which then lies in memory that is not asked for */
    /* The last copy that was made to be shared, and for whom. */
    const struct frame *shared;
    uint64_t shared_by;
    struct frame frames[];
};

struct frame_cache *frame_cache_new(size_t entries);
void frame_cache_free(struct frame_cache *c);

/* NULL when the address is not known. */
struct frame_block *frame_cache_get(struct frame_cache *c, uint64_t generation, uint64_t address);
/* Keeps a copy of the frames under an address that frame_cache_get did not know. NULL when there is no
 * memory for it, or it is too large. */
const struct frame_block *frame_cache_put(struct frame_cache *c, uint64_t generation,
                                          uint64_t address, const struct frame *frames,
                                          size_t count);

/* The frames with all texts in the arena; NULL without memory. */
const struct frame *frame_block_copy(const struct frame_block *b, struct arena *arena);
/* The same, made once for all who call with this number (above 0), and one arena for it. */
const struct frame *frame_block_share(struct frame_block *b, uint64_t number, struct arena *arena);
/* A copy of frames that are in no block. */
const struct frame *frames_copy(const struct frame *frames, size_t count, struct arena *arena);

/* Entries and bytes now. */
void frame_cache_usage(const struct frame_cache *c, size_t *ret_entries, size_t *ret_bytes);

#endif
