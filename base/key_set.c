#include "base/key_set.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

#define FIRST_SLOTS ((size_t)64)
#define KEYS_MAX    ((size_t)1 << 26)

struct key_slot {
    uint64_t number;
    uint64_t used;
    uint8_t key[KEY_SET_KEY_MAX];
};

void key_set_init(struct key_set *s, size_t key_size, uint64_t seed)
{
    memset(s, 0, sizeof(*s));
    s->key_size = key_size < KEY_SET_KEY_MAX ? key_size : KEY_SET_KEY_MAX;
    s->seed = seed;
}

void key_set_done(struct key_set *s)
{
    free(s->slots);
    s->slots = NULL;
    s->slot_count = s->count = 0;
}

/* Where the key is, or the free place where it would be. */
static struct key_slot *slot_of(const struct key_set *s, const void *key)
{
    size_t i = (size_t)hash64(key, s->key_size, s->seed) & (s->slot_count - 1);
    while (s->slots[i].used && memcmp(s->slots[i].key, key, s->key_size) != 0)
        i = (i + 1) & (s->slot_count - 1);
    return &s->slots[i];
}

static bool grow(struct key_set *s)
{
    struct key_set larger = *s;
    larger.slot_count = s->slot_count ? s->slot_count * 2 : FIRST_SLOTS;
    larger.slots = calloc(larger.slot_count, sizeof(struct key_slot));
    if (!larger.slots)
        return false;
    for (size_t i = 0; i < s->slot_count; i++) {
        if (s->slots[i].used)
            *slot_of(&larger, s->slots[i].key) = s->slots[i];
    }
    free(s->slots);
    *s = larger;
    return true;
}

uint64_t *key_set_at(struct key_set *s, const void *key)
{
    if (s->count * 2 >= s->slot_count && (s->count >= KEYS_MAX || !grow(s)))
        return NULL;
    struct key_slot *slot = slot_of(s, key);
    if (!slot->used) {
        slot->used = 1;
        memcpy(slot->key, key, s->key_size);
        s->count++;
    }
    return &slot->number;
}

uint64_t *key_set_find(const struct key_set *s, const void *key)
{
    if (s->count == 0)
        return NULL;
    struct key_slot *slot = slot_of(s, key);
    return slot->used ? &slot->number : NULL;
}
