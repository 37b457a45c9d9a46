#include "base/arena.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK_MIN ((size_t)8 * 1024)
#define BLOCK_MAX ((size_t)1024 * 1024)
#define ALIGNMENT ((size_t)16)
#define ROOM_MIN  ((size_t)16)

struct arena_block {
    struct arena_block *older;
    size_t size; /* bytes of data[] */
    size_t used;
    size_t pad;
    unsigned char data[];
};

void arena_init(struct arena *a, size_t limit)
{
    a->block = NULL;
    a->used = 0;
    a->limit = limit;
    a->capped = false;
}

static void free_blocks(struct arena_block *b)
{
    while (b) {
        struct arena_block *older = b->older;
        free(b);
        b = older;
    }
}

void arena_done(struct arena *a)
{
    if (!a)
        return;
    free_blocks(a->block);
    a->block = NULL;
    a->used = 0;
}

void arena_reset(struct arena *a)
{
    struct arena_block *b = a->block;
    a->used = 0;
    a->capped = false;
    if (!b)
        return;
    while (b->older) {
        struct arena_block *older = b->older;
        free(b);
        b = older;
    }
    if (b->size > BLOCK_MAX) {
        free(b);
        a->block = NULL;
        return;
    }
    b->used = 0;
    a->block = b;
}

struct arena *arena_new(size_t limit)
{
    struct arena *a = malloc(sizeof(*a));
    if (a)
        arena_init(a, limit);
    return a;
}

void arena_free(struct arena *a)
{
    arena_done(a);
    free(a);
}

static struct arena_block *block_new(struct arena *a, size_t size)
{
    size_t want = a->block ? a->block->size * 2 : BLOCK_MIN;
    if (want > BLOCK_MAX)
        want = BLOCK_MAX;
    if (want < size)
        want = size;
    struct arena_block *b = malloc(sizeof(*b) + want);
    if (!b)
        return NULL;
    b->older = a->block;
    b->size = want;
    b->used = 0;
    a->block = b;
    return b;
}

void *arena_alloc(struct arena *a, size_t size)
{
    if (size > SIZE_MAX - ALIGNMENT) {
        a->capped = true;
        return NULL;
    }
    size_t rounded = (size + ALIGNMENT - 1) & ~(ALIGNMENT - 1);
    if (rounded == 0)
        rounded = ALIGNMENT;
    if (rounded > a->limit - (a->used < a->limit ? a->used : a->limit)) {
        a->capped = true;
        return NULL;
    }
    struct arena_block *b = a->block;
    if (!b || b->size - b->used < rounded) {
        b = block_new(a, rounded);
        if (!b)
            return NULL;
    }
    void *p = b->data + b->used;
    b->used += rounded;
    a->used += rounded;
    memset(p, 0, rounded);
    return p;
}

void *arena_array(struct arena *a, size_t count, size_t size)
{
    size_t total;
    if (__builtin_mul_overflow(count, size, &total))
        total = SIZE_MAX; /* refused by any limit */
    return arena_alloc(a, total);
}

bool arena_room(struct arena *a, void **array, size_t count, size_t *room, size_t size)
{
    if (count < *room)
        return true;
    size_t wanted = *room ? *room * 2 : ROOM_MIN;
    void *grown = arena_array(a, wanted, size);
    if (!grown)
        return false;
    if (count)
        memcpy(grown, *array, count * size);
    *array = grown;
    *room = wanted;
    return true;
}

void *arena_memdup(struct arena *a, const void *src, size_t size)
{
    void *p = arena_alloc(a, size);
    if (p && size)
        memcpy(p, src, size);
    return p;
}

char *arena_strndup(struct arena *a, const char *s, size_t n)
{
    if (n == SIZE_MAX)
        return NULL;
    char *p = arena_alloc(a, n + 1);
    if (p && n)
        memcpy(p, s, n);
    return p;
}

char *arena_strdup(struct arena *a, const char *s)
{
    return arena_strndup(a, s, strlen(s));
}

char *arena_printf(struct arena *a, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(NULL, 0, fmt, ap);
    va_end(ap);
    if (n < 0)
        return NULL;
    char *p = arena_alloc(a, (size_t)n + 1);
    if (!p)
        return NULL;
    va_start(ap, fmt);
    vsnprintf(p, (size_t)n + 1, fmt, ap);
    va_end(ap);
    return p;
}
