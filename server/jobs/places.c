#include "server/jobs/places.h"

#include <stdlib.h>

#include "base/hash.h"

#define NONE UINT32_MAX

struct entry {
    uint64_t app;
    struct uuid uuid;
    uint64_t vmaddr;
    uint32_t next;  /* in its bucket */
    uint32_t newer; /* of the same app */
};

/* An app with entries. */
struct holder {
    uint64_t app;
    uint32_t oldest, newest; /* its entries */
    uint32_t count;
    uint32_t next; /* in its bucket */
    uint32_t rank; /* where the heap has it */
};

struct places {
    uint64_t seed;
    uint32_t capacity, count;
    uint32_t mask; /* of the buckets */
    uint32_t holder_count;
    uint32_t *entry_buckets, *holder_buckets;
    struct entry *entries;
    struct holder *holders;
    uint32_t *heap; /* holders, the one with most entries first; behind them those that are free */
};

struct places *places_new(size_t max_entries, uint64_t seed)
{
    if (max_entries == 0 || max_entries > UINT32_MAX / 4)
        return NULL;
    struct places *p = calloc(1, sizeof(*p));
    if (!p)
        return NULL;
    uint32_t buckets = 16;
    while (buckets < max_entries)
        buckets *= 2;
    p->seed = seed;
    p->capacity = (uint32_t)max_entries;
    p->mask = buckets - 1;
    p->entry_buckets = malloc(buckets * sizeof(p->entry_buckets[0]));
    p->holder_buckets = malloc(buckets * sizeof(p->holder_buckets[0]));
    p->entries = calloc(max_entries, sizeof(p->entries[0]));
    p->holders = calloc(max_entries, sizeof(p->holders[0]));
    p->heap = malloc(max_entries * sizeof(p->heap[0]));
    if (!p->entry_buckets || !p->holder_buckets || !p->entries || !p->holders || !p->heap) {
        places_free(p);
        return NULL;
    }
    for (uint32_t i = 0; i < buckets; i++)
        p->entry_buckets[i] = p->holder_buckets[i] = NONE;
    for (uint32_t i = 0; i < p->capacity; i++)
        p->heap[i] = i;
    return p;
}

void places_free(struct places *p)
{
    if (!p)
        return;
    free(p->entry_buckets);
    free(p->holder_buckets);
    free(p->entries);
    free(p->holders);
    free(p->heap);
    free(p);
}

/* --- who holds how many ----------------------------------------------------------------------- */

static void rank(struct places *p, uint32_t at, uint32_t holder)
{
    p->heap[at] = holder;
    p->holders[holder].rank = at;
}

/* It holds one more. */
static void rise(struct places *p, uint32_t holder)
{
    uint32_t at = p->holders[holder].rank;
    for (; at > 0; at = (at - 1) / 2) {
        const uint32_t above = p->heap[(at - 1) / 2];
        if (p->holders[above].count >= p->holders[holder].count)
            break;
        rank(p, at, above);
    }
    rank(p, at, holder);
}

/* It holds one less. */
static void sink(struct places *p, uint32_t holder)
{
    uint32_t at = p->holders[holder].rank;
    for (uint32_t child = 2 * at + 1; child < p->holder_count; child = 2 * at + 1) {
        if (child + 1 < p->holder_count &&
            p->holders[p->heap[child + 1]].count > p->holders[p->heap[child]].count)
            child++;
        if (p->holders[p->heap[child]].count <= p->holders[holder].count)
            break;
        rank(p, at, p->heap[child]);
        at = child;
    }
    rank(p, at, holder);
}

static uint32_t *holder_link(struct places *p, uint64_t app)
{
    uint32_t *link = &p->holder_buckets[app & p->mask];
    while (*link != NONE && p->holders[*link].app != app)
        link = &p->holders[*link].next;
    return link;
}

static uint32_t holder_of(struct places *p, uint64_t app)
{
    uint32_t *link = holder_link(p, app);
    if (*link != NONE)
        return *link;
    const uint32_t fresh = p->heap[p->holder_count];
    p->holders[fresh] = (struct holder){app, NONE, NONE, 0, NONE, p->holder_count++};
    *link = fresh;
    return fresh;
}

/* It held most, which was one, and none is left: so all others hold one, in any order. */
static void drop_holder(struct places *p, uint32_t holder)
{
    const uint32_t last = p->heap[--p->holder_count];
    const uint32_t at = p->holders[holder].rank;
    uint32_t *link = holder_link(p, p->holders[holder].app);
    *link = p->holders[holder].next;
    rank(p, at, last);
    p->heap[p->holder_count] = holder;
}

/* --- entries ---------------------------------------------------------------------------------- */

static uint32_t *entry_link(struct places *p, uint64_t app, const struct uuid *uuid)
{
    uint32_t *link =
        &p->entry_buckets[hash64(uuid->bytes, sizeof(uuid->bytes), p->seed ^ app) & p->mask];
    while (*link != NONE &&
           (p->entries[*link].app != app || !uuid_equal(&p->entries[*link].uuid, uuid)))
        link = &p->entries[*link].next;
    return link;
}

uint64_t *places_find(struct places *p, uint64_t app, const struct uuid *uuid)
{
    const uint32_t slot = *entry_link(p, app, uuid);
    return slot == NONE ? NULL : &p->entries[slot].vmaddr;
}

/* The oldest entry of whom holds most; its slot. */
static uint32_t give_way(struct places *p)
{
    const uint32_t holder = p->heap[0];
    struct holder *h = &p->holders[holder];
    const uint32_t slot = h->oldest;
    uint32_t *link = entry_link(p, h->app, &p->entries[slot].uuid);
    *link = p->entries[slot].next;
    h->oldest = p->entries[slot].newer;
    h->count--;
    if (h->count)
        sink(p, holder);
    else
        drop_holder(p, holder);
    return slot;
}

void places_add(struct places *p, uint64_t app, const struct uuid *uuid, uint64_t vmaddr)
{
    const uint32_t slot = p->count < p->capacity ? p->count++ : give_way(p);
    const uint32_t holder = holder_of(p, app);
    struct holder *h = &p->holders[holder];
    uint32_t *link = entry_link(p, app, uuid);
    p->entries[slot] = (struct entry){app, *uuid, vmaddr, NONE, NONE};
    *link = slot;
    if (h->count++)
        p->entries[h->newest].newer = slot;
    else
        h->oldest = slot;
    h->newest = slot;
    rise(p, holder);
}
