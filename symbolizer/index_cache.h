/*
 * index_cache - a counted, bounded set of open indexes by UUID.
 *
 * Purpose: resolver workers and readers share mapped index files. Misses are remembered, too, until
 * index_cache_changed() tells otherwise.
 *
 * Invariants: at most `max_open` handles nobody holds are kept (least recently used closed first);
 * held ones are never closed. After index_cache_changed(uuid) an acquire sees the file of now;
 * holders of the old one keep it. Misses remembered are capped at `max_misses`.
 *
 * Threads: any; one lock inside, never held over I/O longer than an open. Memory: acquire/release.
 */
#ifndef STALLSYM_SYMBOLIZER_INDEX_CACHE_H
#define STALLSYM_SYMBOLIZER_INDEX_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/uuid.h"
#include "symbolizer/gsym_read.h"

struct index_cache;
struct index_ref; /* a hold on an open index */

/* Where a UUID's file is: writes the path, false when there is none (no I/O needed). */
struct index_locator {
    bool (*locate)(void *ctx, const struct uuid *uuid, char *path, size_t size);
    void *ctx;
};

struct index_cache *index_cache_new(struct index_locator locator, size_t max_open,
                                    size_t max_misses);
void index_cache_free(struct index_cache *c);

/* ERR_NOT_FOUND: no index (remembered). ERR_FORMAT/ERR_IO: there is one, but it cannot be used (so
 * is that). ERR_BUSY, ERR_NO_MEMORY: nobody could look; try again. */
enum err index_cache_acquire(struct index_cache *c, const struct uuid *uuid, struct index_ref **ret,
                             struct error *err);
void index_cache_release(struct index_cache *c, struct index_ref *ref);
const struct gsym *index_ref_gsym(const struct index_ref *ref);
/* Changes whenever another file is opened for the UUID: a key for frame caches. */
uint64_t index_ref_generation(const struct index_ref *ref);

/* The file of this UUID came, was replaced or went. */
void index_cache_changed(struct index_cache *c, const struct uuid *uuid);
/* Takes a file that failed under a reader (SIGBUS) out of use until changed. */
void index_cache_poison(struct index_cache *c, struct index_ref *ref);

/* UUIDs whose index was acquired since the last call, at most `max`; the rest comes next time. */
size_t index_cache_take_used(struct index_cache *c, struct uuid *ret, size_t max);

struct index_known {
    struct uuid uuid;
    bool failed; /* remembered as one that cannot be used; else it is open */
};
/* Indexes that are open or remembered as failed, at most `max`; *at: 0 first, then where the last call
 * ended, 0 again after the last one. */
size_t index_cache_list(struct index_cache *c, size_t *at, struct index_known *ret, size_t max);

struct index_cache_stats {
    uint64_t hits, misses, opens, failures, open_now;
};
void index_cache_stats(struct index_cache *c, struct index_cache_stats *ret);

#endif
