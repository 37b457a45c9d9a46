#include "server/analysis/deadlock.h"

#include <stdlib.h>
#include <string.h>

#include "server/analysis/frame_fates.h"

#define NOBODY SIZE_MAX

struct owner {
    int64_t tid;
    size_t thread;
};

static enum err no_memory(struct error *err)
{
    return error_set(err, ERR_NO_MEMORY, "no memory for a report's threads");
}

static int compare_owners(const void *a, const void *b)
{
    const struct owner *x = a;
    const struct owner *y = b;
    if (x->tid != y->tid)
        return x->tid < y->tid ? -1 : 1;
    return x->thread < y->thread ? -1 : x->thread > y->thread;
}

static size_t find_owner(const struct owner *owners, size_t count, int64_t tid)
{
    size_t low = 0;
    size_t high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (owners[middle].tid < tid)
            low = middle + 1;
        else
            high = middle;
    }
    return low < count && owners[low].tid == tid ? owners[low].thread : NOBODY;
}

/* A concurrent queue is drained by several threads, and nobody knows which is waited for. */
static size_t find_drain(const struct deadlock_thread *threads, size_t count, const char *queue)
{
    size_t found = NOBODY;
    for (size_t i = 0; i < count; i++) {
        if (!threads[i].drains_queue || strcmp(threads[i].drains_queue, queue) != 0)
            continue;
        if (found != NOBODY)
            return NOBODY;
        found = i;
    }
    return found;
}

static enum err does_wait(const struct rules *rules, const struct deadlock_thread *t,
                          struct arena *arena, bool *ret, struct error *err)
{
    struct fated_stack stack = {0};
    if (t->stack) {
        enum err e = frame_fates_of(rules, NULL, t->stack, arena, &stack, err);
        if (e != ERR_OK)
            return e;
    }
    *ret = t->says_waiting;
    for (size_t i = 0; i < stack.count; i++) {
        const struct fated_frame *f = &stack.frames[i];
        if (!f->named)
            break; /* symbols are missing where it matters */
        if (!*f->key)
            continue;
        *ret = f->drop && (strcmp(f->drop, "wait") == 0 || strcmp(f->drop, "port") == 0);
        break;
    }
    return ERR_OK;
}

/* Whom each thread waits for. */
static enum err find_edges(const struct rules *rules, const struct deadlock_thread *threads,
                           size_t count, struct arena *arena, size_t *edges, struct error *err)
{
    struct owner *owners = arena_array(arena, count + 1, sizeof(*owners));
    if (!owners)
        return no_memory(err);
    for (size_t i = 0; i < count; i++)
        owners[i] = (struct owner){threads[i].tid, i};
    qsort(owners, count, sizeof(*owners), compare_owners);
    for (size_t i = 0; i < count; i++) {
        const struct deadlock_thread *t = &threads[i];
        bool waits = false;
        edges[i] = NOBODY;
        if (!t->has_owner && !t->waits_queue)
            continue;
        enum err e = does_wait(rules, t, arena, &waits, err);
        if (e != ERR_OK)
            return e;
        if (waits && t->has_owner)
            edges[i] = find_owner(owners, count, t->owner_tid);
        if (waits && edges[i] == NOBODY && t->waits_queue)
            edges[i] = find_drain(threads, count, t->waits_queue);
    }
    return ERR_OK;
}

/* A thread of the cycle that `from` leads to; `seen` holds who came by, by the number of the walk. */
static size_t walk(const size_t *edges, size_t from, size_t number, size_t *seen)
{
    size_t at = from;
    while (at != NOBODY && seen[at] == 0) {
        seen[at] = number;
        at = edges[at];
    }
    return at != NOBODY && seen[at] == number ? at : NOBODY;
}

static bool in_cycle(const size_t *edges, size_t start, size_t thread)
{
    size_t at = start;
    do {
        if (at == thread)
            return true;
        at = edges[at];
    } while (at != start);
    return false;
}

static const char *culprit_name(const struct deadlock_thread *t)
{
    if (!t->verdict || t->verdict->culprit_raw == SIZE_MAX)
        return NULL;
    return t->verdict->title;
}

static enum err tell(const struct deadlock_thread *threads, const size_t *edges, size_t start,
                     struct arena *arena, struct deadlock *d, struct error *err)
{
    size_t n = 0;
    size_t at = start;
    do {
        n++;
        at = edges[at];
    } while (at != start);
    struct deadlock_member *members = arena_array(arena, n, sizeof(*members));
    if (!members)
        return no_memory(err);
    for (size_t i = 0; i < n; i++, at = edges[at])
        members[i] = (struct deadlock_member){at, culprit_name(&threads[at])};
    d->found = true;
    d->members = members;
    d->member_count = n;
    return ERR_OK;
}

enum err deadlock_of(const struct rules *rules, const struct deadlock_thread *threads, size_t count,
                     size_t stalled, struct arena *arena, struct deadlock *ret, struct error *err)
{
    struct deadlock d = {0};
    if (count > DEADLOCK_THREADS_MAX)
        return error_set(err, ERR_LIMIT, "%zu threads; at most %d are read", count,
                         DEADLOCK_THREADS_MAX);
    size_t *edges = arena_array(arena, count + 1, sizeof(*edges));
    size_t *seen = arena_array(arena, count + 1, sizeof(*seen));
    if (!edges || !seen)
        return no_memory(err);
    enum err e = find_edges(rules, threads, count, arena, edges, err);
    if (e != ERR_OK)
        return e;
    size_t start = stalled < count ? walk(edges, stalled, 1, seen) : NOBODY;
    if (start != NOBODY) {
        d.stalled_inside = in_cycle(edges, start, stalled);
        d.stalled_behind = !d.stalled_inside;
        if (d.stalled_inside)
            start = stalled;
    }
    for (size_t i = 0; i < count && start == NOBODY; i++)
        start = walk(edges, i, i + 2, seen);
    if (start != NOBODY)
        e = tell(threads, edges, start, arena, &d, err);
    if (e == ERR_OK)
        *ret = d;
    return e;
}
