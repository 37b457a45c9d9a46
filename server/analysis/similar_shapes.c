#include "server/analysis/similar_shapes.h"

#include <stdlib.h>
#include <string.h>

#define PLUMBING_BRANCHES 2 /* so many callers that are reached in several ways… */
#define PLUMBING_WAYS     4 /* …with so many ways beyond the first of each together */
#define PLUMBING_ROUNDS   8
#define ROUTER_CALLEES    6 /* a router or dispatcher, no cause: it calls so many others */
#define NO_FRAME          UINT32_MAX

/* A frame, its caller and the caller's caller. */
struct triple {
    uint32_t frame;
    uint32_t caller;
    uint32_t beyond;
};

static enum err no_memory(struct error *err)
{
    return error_set(err, ERR_NO_MEMORY, "no memory to compare stacks");
}

size_t similar_base_length(const char *name)
{
    const char *open = strchr(name, '(');
    size_t n = strlen(name);
    if (!open || open == name || name[n - 1] != ')' || name[0] == '-' || name[0] == '+' ||
        strstr(name, "::") || strchr(open + 1, '('))
        return n;
    return (size_t)(open - name);
}

static const char *base_name(const char *name, struct arena *arena)
{
    size_t n = similar_base_length(name);
    return name[n] ? arena_strndup(arena, name, n) : name;
}

static int compare_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static uint32_t number_of(const struct shapes *s, const char *name)
{
    const char **found = bsearch(&name, s->names, s->name_count, sizeof(name), compare_text);
    return (uint32_t)(found - s->names);
}

static size_t frames_of(const struct similar_stack *s)
{
    return s->count < SIMILAR_FRAMES ? s->count : SIMILAR_FRAMES;
}

size_t similar_distinct_frames(const struct similar_stack *stack, size_t at[SIMILAR_FRAMES])
{
    size_t n = 0;
    size_t before = 0;
    for (size_t i = 0; i < frames_of(stack); i++) {
        size_t len = similar_base_length(stack->names[i]);
        if (n > 0 && len == before && memcmp(stack->names[i], stack->names[at[n - 1]], len) == 0)
            continue;
        at[n++] = i;
        before = len;
    }
    return n;
}

/* All names sorted, each once; `bases[i][k]` is the base name of frame k of stack i. */
static enum err collect_names(const struct similar_stack *stacks, size_t count, struct arena *arena,
                              const char ***ret_bases, struct shapes *s, struct error *err)
{
    size_t n = 0;
    const char **bases = arena_array(arena, count * (SIMILAR_FRAMES + 1) + 1, sizeof(*bases));
    s->names = arena_array(arena, count * (SIMILAR_FRAMES + 1) + 1, sizeof(*s->names));
    if (!bases || !s->names)
        return no_memory(err);
    for (size_t i = 0; i < count; i++) {
        const char **row = &bases[i * (SIMILAR_FRAMES + 1)];
        for (size_t k = 0; k < frames_of(&stacks[i]); k++) {
            row[k] = base_name(stacks[i].names[k], arena);
            if (!row[k])
                return no_memory(err);
            s->names[n++] = row[k];
        }
        row[SIMILAR_FRAMES] = stacks[i].operation;
        s->names[n++] = stacks[i].operation;
    }
    qsort(s->names, n, sizeof(*s->names), compare_text);
    for (size_t i = 0; i < n; i++) {
        if (s->name_count == 0 || strcmp(s->names[s->name_count - 1], s->names[i]) != 0)
            s->names[s->name_count++] = s->names[i];
    }
    *ret_bases = bases;
    return ERR_OK;
}

static int compare_shapes(const void *a, const void *b)
{
    const struct shape *x = a;
    const struct shape *y = b;
    int c = memcmp(x->stack->cluster, y->stack->cluster, CLUSTER_KEY_SIZE);
    if (c)
        return c;
    if (x->stack->kind != y->stack->kind)
        return x->stack->kind < y->stack->kind ? -1 : 1;
    if (x->operation != y->operation)
        return x->operation < y->operation ? -1 : 1;
    for (uint32_t i = 0; i < x->count && i < y->count; i++) {
        if (x->frames[i] != y->frames[i])
            return x->frames[i] < y->frames[i] ? -1 : 1;
    }
    return x->count == y->count ? 0 : x->count < y->count ? -1 : 1;
}

static int compare_shapes_stably(const void *a, const void *b)
{
    const struct shape *x = a;
    const struct shape *y = b;
    int c = compare_shapes(a, b);
    if (c)
        return c;
    return x->first == y->first ? 0 : x->first < y->first ? -1 : 1;
}

static enum err fold_shapes(const struct similar_stack *stacks, size_t count, const char **bases,
                            struct arena *arena, struct shapes *s, struct error *err)
{
    s->shapes = arena_array(arena, count ? count : 1, sizeof(*s->shapes));
    s->shape_of = arena_array(arena, count ? count : 1, sizeof(*s->shape_of));
    if (!s->shapes || !s->shape_of)
        return no_memory(err);
    for (size_t i = 0; i < count; i++) {
        struct shape *shape = &s->shapes[i];
        const char **row = &bases[i * (SIMILAR_FRAMES + 1)];
        shape->stack = &stacks[i];
        shape->first = i;
        shape->weight = stacks[i].weight;
        size_t at[SIMILAR_FRAMES];
        size_t n = similar_distinct_frames(&stacks[i], at);
        for (size_t k = 0; k < n; k++)
            shape->frames[shape->count++] = number_of(s, row[at[k]]);
        shape->operation = number_of(s, row[SIMILAR_FRAMES]);
    }
    qsort(s->shapes, count, sizeof(*s->shapes), compare_shapes_stably);
    for (size_t i = 0; i < count; i++) {
        size_t index = s->shapes[i].first;
        if (s->count > 0 && compare_shapes(&s->shapes[s->count - 1], &s->shapes[i]) == 0)
            s->shapes[s->count - 1].weight += s->shapes[i].weight;
        else
            s->shapes[s->count++] = s->shapes[i];
        s->shape_of[index] = s->count - 1;
    }
    return ERR_OK;
}

static int compare_triples(const void *a, const void *b)
{
    const struct triple *x = a;
    const struct triple *y = b;
    if (x->frame != y->frame)
        return x->frame < y->frame ? -1 : 1;
    if (x->caller != y->caller)
        return x->caller < y->caller ? -1 : 1;
    return x->beyond == y->beyond ? 0 : x->beyond < y->beyond ? -1 : 1;
}

/* How many different frames each frame calls; `ret` holds a zero for each name. */
static void count_callees(const struct triple *t, size_t n, uint32_t *ret)
{
    for (size_t i = 0; i < n; i++) {
        if (i == 0 || t[i].frame != t[i - 1].frame || t[i].caller != t[i - 1].caller)
            ret[t[i].caller]++;
    }
}

/* One frame's triples, sorted and each once: how many callers, and who if there is one alone; whether
 * the callers are causes, reached in several ways each. Without routers in mind every cause that a few
 * of them lead to would look shared once enough stacks are known. */
static bool looks_shared(const struct triple *t, size_t n, const uint32_t *callees,
                         uint32_t *ret_only_caller)
{
    size_t branches = 0;
    size_t ways = 0;
    size_t callers = 0;
    for (size_t i = 0; i < n;) {
        size_t k = i;
        while (k < n && t[k].caller == t[i].caller)
            k++;
        callers++;
        if (callees[t[i].caller] < ROUTER_CALLEES) {
            branches += k - i >= 2;
            ways += k - i - 1;
        }
        i = k;
    }
    *ret_only_caller = callers == 1 ? t[0].caller : NO_FRAME;
    return branches >= PLUMBING_BRANCHES && ways >= PLUMBING_WAYS;
}

static const char *without_static(const char *name)
{
    static const char STATIC[] = "static ";
    return strncmp(name, STATIC, sizeof(STATIC) - 1) == 0 ? name + sizeof(STATIC) - 1 : name;
}

/* The type or file that a function belongs to. */
static size_t owner_length(const char *name)
{
    if (name[0] == '-' || name[0] == '+')
        return strcspn(name + 1, " (") + 1;
    const char *end = NULL;
    for (const char *p = name; *p; p++) {
        if (*p == '.' || (p[0] == ':' && p[1] == ':'))
            end = p;
    }
    return end ? (size_t)(end - name) : 0;
}

static bool same_owner(const char *a, const char *b)
{
    a = without_static(a);
    b = without_static(b);
    size_t skip = (a[0] == '-' || a[0] == '+') && (b[0] == '-' || b[0] == '+') ? 1 : 0;
    size_t n = owner_length(a);
    return n > skip && n == owner_length(b) && memcmp(a + skip, b + skip, n - skip) == 0;
}

static size_t collect_triples(const struct shapes *s, struct triple *triples)
{
    size_t n = 0;
    for (size_t i = 0; i < s->count; i++) {
        const struct shape *shape = &s->shapes[i];
        if (shape->stack->kind != CLUSTER_APP)
            continue;
        for (uint32_t k = 0; k + 1 < shape->count; k++) {
            uint32_t beyond = k + 2 < shape->count ? shape->frames[k + 2] : NO_FRAME;
            triples[n++] = (struct triple){shape->frames[k], shape->frames[k + 1], beyond};
        }
    }
    if (n == 0)
        return 0;
    qsort(triples, n, sizeof(*triples), compare_triples);
    size_t unique = 1;
    for (size_t i = 1; i < n; i++) {
        if (compare_triples(&triples[unique - 1], &triples[i]) != 0)
            triples[unique++] = triples[i];
    }
    return unique;
}

static enum err learn_plumbing(struct arena *arena, struct shapes *s, struct error *err)
{
    struct triple *triples = arena_array(arena, s->count * SIMILAR_FRAMES + 1, sizeof(*triples));
    uint32_t *only_caller = arena_array(arena, s->name_count + 1, sizeof(*only_caller));
    uint32_t *callees = arena_array(arena, s->name_count + 1, sizeof(*callees));
    s->plumbing = arena_array(arena, s->name_count + 1, sizeof(*s->plumbing));
    if (!triples || !only_caller || !callees || !s->plumbing)
        return no_memory(err);
    for (size_t i = 0; i < s->name_count; i++) {
        only_caller[i] = NO_FRAME;
        callees[i] = 0;
    }
    size_t n = collect_triples(s, triples);
    count_callees(triples, n, callees);
    for (size_t i = 0; i < n;) {
        size_t k = i;
        while (k < n && triples[k].frame == triples[i].frame)
            k++;
        uint32_t frame = triples[i].frame;
        s->plumbing[frame] = looks_shared(&triples[i], k - i, callees, &only_caller[frame]);
        i = k;
    }
    /* what only plumbing of its own type calls is plumbing too */
    bool changed = true;
    for (int round = 0; changed && round < PLUMBING_ROUNDS; round++) {
        changed = false;
        for (size_t i = 0; i < s->name_count; i++) {
            uint32_t caller = only_caller[i];
            if (!s->plumbing[i] && caller != NO_FRAME && s->plumbing[caller] &&
                same_owner(s->names[i], s->names[caller]))
                changed = s->plumbing[i] = true;
        }
    }
    return ERR_OK;
}

const char *shape_head(const struct shape *s)
{
    return s->count > 0 ? s->stack->names[s->place.head] : NULL;
}

/* A cluster falls into what has no plumbing in front, and one part for each name behind it; those
 * fall deeper where a person wants it. */
static int compare_parts(const struct shape *a, const struct shape *b)
{
    int c = memcmp(a->stack->cluster, b->stack->cluster, CLUSTER_KEY_SIZE);
    if (c)
        return c;
    if (a->skipped == 0 || b->skipped == 0)
        c = (a->skipped > 0) - (b->skipped > 0);
    else
        c = strcmp(shape_head(a), shape_head(b));
    return c ? c : memcmp(a->place.key, b->place.key, CLUSTER_KEY_SIZE);
}

bool shape_same_part(const struct shape *a, const struct shape *b)
{
    return compare_parts(a, b) == 0;
}

static int compare_placed(const void *a, const void *b)
{
    const struct shape *const *x = a;
    const struct shape *const *y = b;
    int c = compare_parts(*x, *y);
    if (c)
        return c;
    return *x == *y ? 0 : *x < *y ? -1 : 1; /* the order that they have */
}

/* Brings the shapes of a part together. */
static enum err sort_by_part(size_t stacks, struct arena *arena, struct shapes *s,
                             struct error *err)
{
    struct shape **placed = arena_array(arena, s->count + 1, sizeof(struct shape *));
    struct shape *sorted = arena_array(arena, s->count + 1, sizeof(*sorted));
    size_t *moved = arena_array(arena, s->count + 1, sizeof(*moved));
    if (!placed || !sorted || !moved)
        return no_memory(err);
    for (size_t i = 0; i < s->count; i++)
        placed[i] = &s->shapes[i];
    qsort(placed, s->count, sizeof(*placed), compare_placed);
    for (size_t i = 0; i < s->count; i++) {
        sorted[i] = *placed[i];
        moved[placed[i] - s->shapes] = i;
    }
    for (size_t i = 0; i < stacks; i++)
        s->shape_of[i] = moved[s->shape_of[i]];
    s->shapes = sorted;
    return ERR_OK;
}

/* Where each shape belongs, by what was learnt and what was given. */
static enum err place_shapes(const struct overlay *given, struct arena *arena, struct shapes *s,
                             struct error *err)
{
    struct overlay overlay = {.hold_count = 0};
    if (given)
        overlay = *given;
    overlay.plumbing.count = 0;
    overlay.plumbing.items = arena_array(arena, s->name_count + 1, sizeof(*s->names));
    if (!overlay.plumbing.items)
        return no_memory(err);
    for (size_t i = 0; i < s->name_count; i++) {
        if (s->plumbing[i])
            overlay.plumbing.items[overlay.plumbing.count++] = s->names[i];
    }
    for (size_t i = 0; i < s->count; i++) {
        struct shape *shape = &s->shapes[i];
        overlay_place(&overlay, shape->stack, &shape->place);
        shape->skipped = shape->place.skipped;
    }
    return ERR_OK;
}

enum err shapes_of(const struct overlay *given, const struct similar_stack *stacks, size_t count,
                   struct arena *arena, struct shapes *ret, struct error *err)
{
    struct shapes s = {0};
    const char **bases = NULL;
    enum err e = collect_names(stacks, count, arena, &bases, &s, err);
    if (e == ERR_OK)
        e = fold_shapes(stacks, count, bases, arena, &s, err);
    if (e == ERR_OK)
        e = learn_plumbing(arena, &s, err);
    if (e == ERR_OK)
        e = place_shapes(given, arena, &s, err);
    if (e == ERR_OK)
        e = sort_by_part(count, arena, &s, err);
    if (e == ERR_OK)
        *ret = s;
    return e;
}
