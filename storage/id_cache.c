#include "storage/id_cache.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

#define KEY_BYTES_MEAN 96

struct id_cache_entry {
    uint64_t hash;
    const void *key; /* NULL: free */
    uint32_t len;
    int64_t id;
};

bool id_cache_init(struct id_cache *c, size_t max_entries, uint64_t seed)
{
    memset(c, 0, sizeof(*c));
    c->slots = 16;
    while (c->slots < max_entries * 2)
        c->slots *= 2;
    c->max_entries = max_entries;
    c->seed = seed;
    arena_init(&c->keys, max_entries * KEY_BYTES_MEAN + 4 * ID_CACHE_KEY_MAX);
    c->entries = calloc(c->slots, sizeof(*c->entries));
    return c->entries != NULL;
}

void id_cache_done(struct id_cache *c)
{
    if (!c)
        return;
    free(c->entries);
    c->entries = NULL;
    arena_done(&c->keys);
}

void id_cache_clear(struct id_cache *c)
{
    if (c->count == 0)
        return;
    memset(c->entries, 0, c->slots * sizeof(*c->entries));
    c->count = 0;
    arena_reset(&c->keys);
}

/* The entry of the key, or the free one where it would go. */
static struct id_cache_entry *slot_of(const struct id_cache *c, const void *key, size_t len,
                                      uint64_t hash)
{
    size_t i = (size_t)hash & (c->slots - 1);
    while (c->entries[i].key) {
        struct id_cache_entry *e = &c->entries[i];
        if (e->hash == hash && e->len == len && memcmp(e->key, key, len) == 0)
            return e;
        i = (i + 1) & (c->slots - 1);
    }
    return &c->entries[i];
}

bool id_cache_get(const struct id_cache *c, const void *key, size_t len, int64_t *ret)
{
    const struct id_cache_entry *e = slot_of(c, key, len, hash64(key, len, c->seed));
    if (!e->key)
        return false;
    *ret = e->id;
    return true;
}

void id_cache_put(struct id_cache *c, const void *key, size_t len, int64_t id)
{
    if (len > ID_CACHE_KEY_MAX)
        return;
    if (c->count == c->max_entries)
        id_cache_clear(c);
    uint64_t hash = hash64(key, len, c->seed);
    struct id_cache_entry *e = slot_of(c, key, len, hash);
    if (e->key) {
        e->id = id;
        return;
    }
    void *copy = arena_memdup(&c->keys, key, len ? len : 1);
    if (!copy) { /* many long keys: start over */
        id_cache_clear(c);
        e = slot_of(c, key, len, hash);
        copy = arena_memdup(&c->keys, key, len ? len : 1);
        if (!copy)
            return;
    }
    *e = (struct id_cache_entry){hash, copy, (uint32_t)len, id};
    c->count++;
}
