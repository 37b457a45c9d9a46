#include "symbolizer/frame_cache.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define NIL UINT32_MAX

static _Atomic uint64_t last_id;

/* Nodes are numbered, not pointed to: half the memory, and one allocation. Their order of age
 * stands apart, because a hit touches three places of it and only one node. */
struct node {
    uint64_t generation;
    uint64_t address;
    struct frame_block *block;
    uint32_t chain; /* next of the same bucket; of the free list */
};

struct age {
    uint32_t newer;
    uint32_t older;
};

struct frame_cache {
    struct node *nodes;
    struct age *ages;
    uint32_t *buckets;
    uint32_t capacity;
    uint32_t used; /* nodes that were ever used */
    uint32_t free; /* list of nodes given back */
    uint32_t newest;
    uint32_t oldest;
    uint32_t count;
    unsigned shift; /* 64 - log2 of the buckets */
    uint64_t seed;
    size_t bytes;
    size_t bytes_max;
};

struct frame_cache *frame_cache_new(size_t entries)
{
    unsigned bits = 4;
    if (entries == 0 || entries > (size_t)1 << 24)
        return NULL;
    while (((size_t)1 << bits) < entries)
        bits++;
    struct frame_cache *c = calloc(1, sizeof(*c));
    if (!c)
        return NULL;
    c->nodes = calloc(entries, sizeof(*c->nodes));
    c->ages = calloc(entries, sizeof(*c->ages));
    c->buckets = malloc(sizeof(*c->buckets) << bits);
    if (!c->nodes || !c->ages || !c->buckets) {
        frame_cache_free(c);
        return NULL;
    }
    memset(c->buckets, 0xff, sizeof(*c->buckets) << bits);
    c->capacity = (uint32_t)entries;
    c->free = c->newest = c->oldest = NIL;
    c->shift = 64 - bits;
    /* Addresses come from strangers: where the heap lies makes the order of the buckets ours. */
    c->seed = (uint64_t)(uintptr_t)c->nodes;
    c->bytes_max = entries * FRAME_CACHE_ENTRY_BYTES;
    return c;
}

void frame_cache_free(struct frame_cache *c)
{
    if (!c)
        return;
    for (uint32_t i = 0; i < c->used; i++)
        free(c->nodes[i].block);
    free(c->nodes);
    free(c->ages);
    free(c->buckets);
    free(c);
}

static uint32_t *bucket_of(const struct frame_cache *c, uint64_t generation, uint64_t address)
{
    uint64_t h = (address ^ c->seed) * 0x9e3779b97f4a7c15u;
    h = (h ^ h >> 29 ^ generation) * 0xbf58476d1ce4e5b9u;
    return &c->buckets[h >> c->shift];
}

static void unlink_age(struct frame_cache *c, uint32_t i)
{
    struct age *a = &c->ages[i];
    if (a->newer != NIL)
        c->ages[a->newer].older = a->older;
    else
        c->newest = a->older;
    if (a->older != NIL)
        c->ages[a->older].newer = a->newer;
    else
        c->oldest = a->newer;
}

static void link_newest(struct frame_cache *c, uint32_t i)
{
    c->ages[i] = (struct age){.newer = NIL, .older = c->newest};
    if (c->newest != NIL)
        c->ages[c->newest].newer = i;
    else
        c->oldest = i;
    c->newest = i;
}

struct frame_block *frame_cache_get(struct frame_cache *c, uint64_t generation, uint64_t address)
{
    for (uint32_t i = *bucket_of(c, generation, address); i != NIL; i = c->nodes[i].chain) {
        struct node *n = &c->nodes[i];
        if (n->address != address || n->generation != generation)
            continue;
        if (c->newest != i) {
            unlink_age(c, i);
            link_newest(c, i);
        }
        return n->block;
    }
    return NULL;
}

static void drop_oldest(struct frame_cache *c)
{
    uint32_t i = c->oldest;
    struct node *n = &c->nodes[i];
    uint32_t *at = bucket_of(c, n->generation, n->address);
    while (*at != i)
        at = &c->nodes[*at].chain;
    *at = n->chain;
    unlink_age(c, i);
    c->bytes -= n->block->size;
    c->count--;
    free(n->block);
    n->block = NULL;
    n->chain = c->free;
    c->free = i;
}

static uint32_t take_node(struct frame_cache *c)
{
    if (c->free == NIL)
        return c->used++;
    uint32_t i = c->free;
    c->free = c->nodes[i].chain;
    return i;
}

/* --- blocks -------------------------------------------------------------------------------- */

static size_t text_size(const char *s)
{
    return s ? strlen(s) + 1 : 0;
}

static size_t block_size(const struct frame *frames, size_t count)
{
    size_t size = sizeof(struct frame_block) + count * sizeof(*frames);
    for (size_t i = 0; i < count; i++) {
        const struct frame *f = &frames[i];
        size += text_size(f->function) + text_size(f->file);
        if (f->mangled != f->function)
            size += text_size(f->mangled);
    }
    return size;
}

static const char *put_text(char **at, const char *s)
{
    if (!s)
        return NULL;
    size_t n = strlen(s) + 1;
    char *here = *at;
    memcpy(here, s, n);
    *at += n;
    return here;
}

/* Frames and texts into memory of block_size() bytes. */
static void fill_block(struct frame_block *b, size_t size, const struct frame *frames, size_t count)
{
    char *at = (char *)(b->frames + count);
    b->size = size;
    b->count = count;
    b->from_start = count > 0 ? frames[0].from_start : 0;
    b->shared = NULL;
    b->shared_by = 0;
    for (size_t i = 0; i < count; i++) {
        const struct frame *from = &frames[i];
        struct frame *to = &b->frames[i];
        *to = *from;
        to->function = put_text(&at, from->function);
        to->mangled = from->mangled == from->function ? to->function : put_text(&at, from->mangled);
        to->file = put_text(&at, from->file);
    }
}

const struct frame_block *frame_cache_put(struct frame_cache *c, uint64_t generation,
                                          uint64_t address, const struct frame *frames,
                                          size_t count)
{
    size_t size = block_size(frames, count);
    if (size > c->bytes_max)
        return NULL;
    struct frame_block *b = malloc(size);
    if (!b)
        return NULL;
    fill_block(b, size, frames, count);
    b->id = 1 + atomic_fetch_add_explicit(&last_id, 1, memory_order_relaxed);
    while (c->count == c->capacity || (c->count > 0 && size > c->bytes_max - c->bytes))
        drop_oldest(c);
    uint32_t i = take_node(c);
    uint32_t *bucket = bucket_of(c, generation, address);
    c->nodes[i] =
        (struct node){.generation = generation, .address = address, .block = b, .chain = *bucket};
    *bucket = i;
    link_newest(c, i);
    c->bytes += size;
    c->count++;
    return b;
}

static const char *moved(const char *s, const struct frame_block *from,
                         const struct frame_block *to)
{
    return s ? (const char *)to + (s - (const char *)from) : NULL;
}

const struct frame *frame_block_copy(const struct frame_block *b, struct arena *arena)
{
    struct frame_block *copy = arena_memdup(arena, b, b->size);
    if (!copy)
        return NULL;
    for (size_t i = 0; i < copy->count; i++) {
        struct frame *f = &copy->frames[i];
        f->function = moved(f->function, b, copy);
        f->mangled = moved(f->mangled, b, copy);
        f->file = moved(f->file, b, copy);
    }
    return copy->frames;
}

const struct frame *frame_block_share(struct frame_block *b, uint64_t number, struct arena *arena)
{
    if (b->shared_by == number)
        return b->shared;
    const struct frame *copy = frame_block_copy(b, arena);
    if (copy) {
        b->shared = copy;
        b->shared_by = number;
    }
    return copy;
}

const struct frame *frames_copy(const struct frame *frames, size_t count, struct arena *arena)
{
    size_t size = block_size(frames, count);
    struct frame_block *b = arena_alloc(arena, size);
    if (!b)
        return NULL;
    fill_block(b, size, frames, count);
    return b->frames;
}

void frame_cache_usage(const struct frame_cache *c, size_t *ret_entries, size_t *ret_bytes)
{
    *ret_entries = c->count;
    *ret_bytes = c->bytes;
}
