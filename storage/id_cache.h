/*
 * id_cache - a bounded table in memory from byte strings to row ids.
 *
 * Purpose: dictionary values come again and again; asking the database each time is what costs.
 *
 * Invariants: at most `max_entries` entries of at most ID_CACHE_KEY_MAX bytes; when full it is
 * emptied (what is hot is back at once). Whoever rolls a transaction back empties it, so it never
 * names a row that is not there.
 *
 * Threads: one owner. Memory: id_cache_init/id_cache_done.
 */
#ifndef STALLSYM_STORAGE_ID_CACHE_H
#define STALLSYM_STORAGE_ID_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"

#define ID_CACHE_KEY_MAX 1024

struct id_cache_entry;

struct id_cache {
    struct id_cache_entry *entries;
    size_t slots; /* power of two */
    size_t count;
    size_t max_entries;
    uint64_t seed;
    struct arena keys;
};

/* False without memory. `seed`: random, strangers choose the keys. */
bool id_cache_init(struct id_cache *c, size_t max_entries, uint64_t seed);
void id_cache_done(struct id_cache *c);
void id_cache_clear(struct id_cache *c);
bool id_cache_get(const struct id_cache *c, const void *key, size_t len, int64_t *ret);
/* Replaces. Silently does nothing for keys that are too long. */
void id_cache_put(struct id_cache *c, const void *key, size_t len, int64_t id);

#endif
