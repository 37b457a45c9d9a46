/*
 * arena - memory that is given back all at once.
 *
 * Purpose: a batch, a request or a parsed file allocates many small things with one life; an
 * arena makes each of them a pointer bump and frees them together.
 *
 * Invariants: allocations are zeroed and aligned to 16 bytes. The sum of all allocations never
 * passes `limit`; past it (or when malloc fails) the answer is NULL; `capped` tells the first from
 * the second. arena_reset() keeps the first block for the next use.
 *
 * Threads: one owner at a time. Memory: everything handed out dies with reset or done.
 */
#ifndef STALLSYM_BASE_ARENA_H
#define STALLSYM_BASE_ARENA_H

#include <stdbool.h>
#include <stddef.h>

struct arena_block;

struct arena {
    struct arena_block *block; /* the block in use; older ones hang behind it */
    size_t used;               /* bytes handed out since init or reset */
    size_t limit;
    bool capped; /* something was refused by the limit since init or reset */
};

/* No allocation yet. `limit` in bytes, 0 is not allowed. */
void arena_init(struct arena *a, size_t limit);
void arena_done(struct arena *a);
void arena_reset(struct arena *a);

/* A heap arena, for things that own their arena (write ops, jobs). NULL without memory. */
struct arena *arena_new(size_t limit);
void arena_free(struct arena *a);

void *arena_alloc(struct arena *a, size_t size) __attribute__((warn_unused_result));
/* `count * size` with the product checked. */
void *arena_array(struct arena *a, size_t count, size_t size) __attribute__((warn_unused_result));
void *arena_memdup(struct arena *a, const void *src, size_t size)
    __attribute__((warn_unused_result));
/* Room for one more element: when all `*room` places of `*array` are taken (`count` of them) it becomes
 * a copy twice as large; the old one stays behind until the reset. False without memory. */
bool arena_room(struct arena *a, void **array, size_t count, size_t *room, size_t size)
    __attribute__((warn_unused_result));
char *arena_strdup(struct arena *a, const char *s) __attribute__((warn_unused_result));
char *arena_strndup(struct arena *a, const char *s, size_t n) __attribute__((warn_unused_result));
char *arena_printf(struct arena *a, const char *fmt, ...)
    __attribute__((format(printf, 2, 3), warn_unused_result));

#endif
