/*
 * Sorted by two functions at a time: those that have the same two are sorted by the next two. Stacks
 * are compared only from where they part.
 */
#include "server/analysis/call_batch.h"

#include <stdlib.h>
#include <string.h>

#include "base/vec.h"

#define FEW 8 /* are sorted by insertion */

void call_batch_done(struct call_batch *b)
{
    free(b->functions);
    free(b->stacks);
    free(b->turns);
    memset(b, 0, sizeof(*b));
}

bool call_batch_full(const struct call_batch *b)
{
    return b->count >= CALL_BATCH_STACKS || b->function_count >= CALL_BATCH_WORDS;
}

static bool room_for_one(struct call_batch *b, size_t functions)
{
    uint32_t *f =
        vec_grown(b->functions, &b->function_room, b->function_count + functions + 1, sizeof(*f));
    b->functions = f ? f : b->functions;
    struct call_waiting *s = vec_grown(b->stacks, &b->room, b->count + 1, sizeof(*s));
    b->stacks = s ? s : b->stacks;
    struct call_turn *t = vec_grown(b->turns, &b->turn_room, b->count + 1, sizeof(*t));
    b->turns = t ? t : b->turns;
    return f && s && t && functions < UINT32_MAX - b->function_count;
}

bool call_batch_put(struct call_batch *b, const uint32_t *functions, size_t count,
                    const int64_t weights[CALL_TREE_WEIGHTS])
{
    if (!room_for_one(b, count))
        return false;
    struct call_waiting *s = &b->stacks[b->count];
    uint32_t *to = b->functions + b->function_count;
    *s = (struct call_waiting){.first = (uint32_t)b->function_count, .count = (uint32_t)count};
    memcpy(s->weights, weights, sizeof(s->weights));
    for (size_t i = 0; i < count; i++)
        to[i] = functions[count - 1 - i];
    b->turns[b->count] = (struct call_turn){0, (uint32_t)b->count};
    b->function_count += count;
    b->count++;
    b->longest = count > b->longest ? count : b->longest;
    return true;
}

/* --- order ------------------------------------------------------------------------------------ */

/* Two functions from `depth` on; nothing is below each of them. */
static uint64_t key_at(const struct call_batch *b, uint32_t stack, size_t depth)
{
    const struct call_waiting *s = &b->stacks[stack];
    const uint32_t *f = b->functions + s->first + depth;
    const uint64_t upper = depth < s->count ? (uint64_t)f[0] + 1 : 0;
    const uint64_t lower = depth + 1 < s->count ? (uint64_t)f[1] + 1 : 0;
    return upper << 32 | lower;
}

static bool goes_on(uint64_t key)
{
    return (uint32_t)key != 0;
}

static void swap(struct call_turn *a, struct call_turn *b)
{
    const struct call_turn old = *a;
    *a = *b;
    *b = old;
}

/* Whether x is behind y; they are equal before `depth`, where their keys are from. */
static bool is_behind(const struct call_batch *b, const struct call_turn *x,
                      const struct call_turn *y, size_t depth)
{
    uint64_t kx = x->key, ky = y->key;
    while (kx == ky && goes_on(kx)) {
        depth += 2;
        kx = key_at(b, x->stack, depth);
        ky = key_at(b, y->stack, depth);
    }
    return kx > ky;
}

static void sort_few(const struct call_batch *b, struct call_turn *t, size_t n, size_t depth)
{
    for (size_t i = 1; i < n; i++) {
        for (size_t k = i; k > 0 && is_behind(b, &t[k - 1], &t[k], depth); k--)
            swap(&t[k - 1], &t[k]);
    }
}

static uint64_t middle_key(const struct call_turn *t, size_t n)
{
    const uint64_t x = t[0].key, y = t[n / 2].key, z = t[n - 1].key;
    if (x < y)
        return y < z ? y : x < z ? z : x;
    return x < z ? x : y < z ? z : y;
}

/* Which part of the turns is still to be sorted, and from where on its stacks differ. */
struct part {
    struct call_turn *turns;
    size_t count, depth;
};

/* Three parts by their keys: below, equal to, above that in the middle. */
static void divide(const struct call_batch *b, const struct part *p, struct part ret[3])
{
    struct call_turn *t = p->turns;
    const uint64_t pivot = middle_key(t, p->count);
    size_t below = 0, above = p->count;
    for (size_t i = 0; i < above;) {
        if (t[i].key < pivot)
            swap(&t[i++], &t[below++]);
        else if (t[i].key > pivot)
            swap(&t[i], &t[--above]);
        else
            i++;
    }
    ret[0] = (struct part){t, below, p->depth};
    ret[1] = (struct part){t + below, goes_on(pivot) ? above - below : 0, p->depth + 2};
    ret[2] = (struct part){t + above, p->count - above, p->depth};
    for (size_t i = 0; i < ret[1].count; i++)
        ret[1].turns[i].key = key_at(b, ret[1].turns[i].stack, ret[1].depth);
}

/* The largest part last, in a loop: each of the others is at most half of what there was. */
static void sort_part(const struct call_batch *b, struct part p)
{
    while (p.count > FEW) {
        struct part parts[3];
        size_t largest = 0;
        divide(b, &p, parts);
        for (size_t i = 1; i < 3; i++)
            largest = parts[i].count > parts[largest].count ? i : largest;
        for (size_t i = 0; i < 3; i++) {
            if (i != largest)
                sort_part(b, parts[i]);
        }
        p = parts[largest];
    }
    sort_few(b, p.turns, p.count, p.depth);
}

void call_batch_sort(struct call_batch *b)
{
    for (size_t i = b->at; i < b->count; i++)
        b->turns[i].key = key_at(b, b->turns[i].stack, 0);
    if (b->count > b->at)
        sort_part(b, (struct part){b->turns + b->at, b->count - b->at, 0});
}

const struct call_waiting *call_batch_next(const struct call_batch *b)
{
    return b->at < b->count ? &b->stacks[b->turns[b->at].stack] : NULL;
}

void call_batch_clear(struct call_batch *b)
{
    b->function_count = b->count = b->at = b->longest = 0;
}
