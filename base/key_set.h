/*
 * key_set - a number for each key of a few fixed bytes: digests, UUIDs.
 *
 * Purpose: what was seen already, and how often, where there may be many thousands.
 *
 * Invariants: keys have `key_size` bytes each, at most KEY_SET_KEY_MAX; a key's number is 0 until
 * its owner changes it. A set that strangers fill takes a seed that they do not know.
 *
 * Threads: one owner. Memory: key_set_done; a pointer to a number is good until the next call.
 */
#ifndef STALLSYM_BASE_KEY_SET_H
#define STALLSYM_BASE_KEY_SET_H

#include <stddef.h>
#include <stdint.h>

#define KEY_SET_KEY_MAX 32

struct key_slot;

struct key_set {
    struct key_slot *slots;
    size_t slot_count;
    size_t count;
    size_t key_size;
    uint64_t seed;
};

void key_set_init(struct key_set *s, size_t key_size, uint64_t seed);
void key_set_done(struct key_set *s);
/* The key's number, added as 0 when it is new. NULL: no memory. */
uint64_t *key_set_at(struct key_set *s, const void *key);
/* The same, without adding. NULL: it is not there. */
uint64_t *key_set_find(const struct key_set *s, const void *key);

#endif
