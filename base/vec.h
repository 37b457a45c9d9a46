/*
 * vec - room for one more element in a growing array.
 *
 * Purpose: arrays on the heap, of which pointer, count and capacity stay plain members of whoever
 * owns them. (In an arena: arena_room().)
 *
 * Invariants: capacity grows by half, never past VEC_BYTES_MAX bytes. On failure the answer is NULL
 * and the old array is as it was.
 *
 * Threads: one owner. Memory: malloc; the owner frees.
 */
#ifndef STALLSYM_BASE_VEC_H
#define STALLSYM_BASE_VEC_H

#include <stddef.h>

#define VEC_BYTES_MAX ((size_t)1 << 36)

/* `data` with room for `want` elements of `size` bytes, moved if need be. */
void *vec_grown(void *data, size_t *cap, size_t want, size_t size)
    __attribute__((warn_unused_result));

#endif
