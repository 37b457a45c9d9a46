/*
 * Parts, and which takes which in. An index from (frame, operation) to the shapes that have this
 * frame among their first ones leads from a part to its candidates, so that no two parts without
 * common ground are ever compared.
 */
#include "server/analysis/similar.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "server/analysis/similar_shapes.h"

#define MISSING_MAX    2   /* frames that the taker's stacks may have in front */
#define TAIL           4   /* frames that are compared behind them */
#define TAIL_SHARE     .7  /* of their weight must be common */
#define EVIDENCE_MIN   2.0 /* weight of the common frames: not two entry points that all share */
#define CANDIDATES_MAX 512 /* shapes with one frame and operation that are compared */
#define LIKES_MAX      256 /* parts that one part is compared with */
#define TAKERS_MAX     8
#define RELATED_MIN    .25

#define SYSTEM_OPERATION UINT32_MAX /* in the index: shapes of system-only stacks */

struct entry {
    uint32_t frame;
    uint32_t operation;
    uint32_t shape;
    uint32_t missing; /* frames in front of this one */
};

/* How far a part is like another one. */
struct likeness {
    size_t part;
    size_t covered; /* shapes that are like one of `part` */
    double evidence;
    size_t last; /* shape that counted last, so that none counts twice */
    bool twin;   /* the same function under other labels */
};

struct comparing {
    struct arena *arena;
    struct error *err;
    struct shapes s;
    struct similar_result r;
    double *idf; /* by name */
    struct entry *entries;
    size_t entry_count;
    size_t *part_of_shape;
    size_t *first_shape;              /* of each part, and the end */
    struct likeness likes[LIKES_MAX]; /* of the part at hand */
    size_t like_count;
    size_t (*takers)[TAKERS_MAX]; /* of each part */
    size_t *taker_count;
};

static enum err no_memory(struct comparing *c)
{
    return error_set(c->err, ERR_NO_MEMORY, "no memory to compare clusters");
}

/* --- parts --------------------------------------------------------------------------------- */

static void start_part(struct comparing *c, size_t shape_index)
{
    const struct shape *shape = &c->s.shapes[shape_index];
    struct similar_part *part = &c->r.parts[c->r.part_count];
    c->first_shape[c->r.part_count] = shape_index;
    part->into = c->r.part_count++;
    part->score = 1;
    part->name = shape_head(shape);
    memcpy(part->cluster, shape->stack->cluster, CLUSTER_KEY_SIZE);
    memcpy(part->key, shape->place.key, CLUSTER_KEY_SIZE);
    part->deepened = shape->place.deepened;
    memcpy(part->origin, shape->place.origin, CLUSTER_KEY_SIZE);
}

static enum err make_parts(struct comparing *c, size_t stacks)
{
    size_t n = c->s.count + 1;
    uint64_t heaviest = 0;
    c->r.parts = arena_array(c->arena, n, sizeof(*c->r.parts));
    c->r.part_of = arena_array(c->arena, stacks + 1, sizeof(*c->r.part_of));
    c->first_shape = arena_array(c->arena, n, sizeof(*c->first_shape));
    c->part_of_shape = arena_array(c->arena, n, sizeof(*c->part_of_shape));
    c->takers = arena_array(c->arena, n, sizeof(*c->takers));
    c->taker_count = arena_array(c->arena, n, sizeof(*c->taker_count));
    if (!c->r.parts || !c->r.part_of || !c->first_shape || !c->part_of_shape || !c->takers ||
        !c->taker_count)
        return no_memory(c);
    for (size_t i = 0; i < c->s.count; i++) {
        if (i == 0 || !shape_same_part(&c->s.shapes[i - 1], &c->s.shapes[i])) {
            start_part(c, i);
            heaviest = 0;
        }
        struct similar_part *part = &c->r.parts[c->r.part_count - 1];
        c->part_of_shape[i] = c->r.part_count - 1;
        part->weight += c->s.shapes[i].weight;
        if (c->s.shapes[i].weight >= heaviest + (heaviest > 0)) {
            heaviest = c->s.shapes[i].weight;
            part->representative = c->s.shapes[i].first;
        }
    }
    c->first_shape[c->r.part_count] = c->s.count;
    for (size_t i = 0; i < stacks; i++)
        c->r.part_of[i] = c->part_of_shape[c->s.shape_of[i]];
    return ERR_OK;
}

/* --- weights and index --------------------------------------------------------------------- */

static bool listed_before(const struct shape *shape, uint32_t k)
{
    for (uint32_t i = shape->skipped; i < k; i++) {
        if (shape->frames[i] == shape->frames[k])
            return true;
    }
    return false;
}

static enum err weigh(struct comparing *c)
{
    size_t *seen = arena_array(c->arena, c->s.name_count + 1, sizeof(*seen));
    c->idf = arena_array(c->arena, c->s.name_count + 1, sizeof(*c->idf));
    if (!seen || !c->idf)
        return no_memory(c);
    for (size_t i = 0; i < c->s.count; i++) {
        const struct shape *shape = &c->s.shapes[i];
        for (uint32_t k = shape->skipped; k < shape->count; k++)
            seen[shape->frames[k]] += !listed_before(shape, k);
        seen[shape->operation]++;
    }
    for (size_t i = 0; i < c->s.name_count; i++)
        c->idf[i] = seen[i] ? log(((double)c->s.count + 1) / (double)seen[i]) : 0;
    return ERR_OK;
}

static int compare_entries(const void *a, const void *b)
{
    const struct entry *x = a;
    const struct entry *y = b;
    if (x->frame != y->frame)
        return x->frame < y->frame ? -1 : 1;
    if (x->operation != y->operation)
        return x->operation < y->operation ? -1 : 1;
    if (x->shape != y->shape)
        return x->shape < y->shape ? -1 : 1;
    return x->missing == y->missing ? 0 : x->missing < y->missing ? -1 : 1;
}

static bool comparable(const struct shape *s)
{
    if (s->count == 0)
        return false;
    return s->stack->kind == CLUSTER_SYSTEM_ONLY ||
           (s->stack->kind == CLUSTER_APP && *s->stack->operation);
}

static bool system_only(const struct shape *s)
{
    return s->stack->kind == CLUSTER_SYSTEM_ONLY;
}

static enum err index_shapes(struct comparing *c)
{
    c->entries = arena_array(c->arena, c->s.count * (MISSING_MAX + 1) + 1, sizeof(*c->entries));
    if (!c->entries)
        return no_memory(c);
    for (size_t i = 0; i < c->s.count; i++) {
        const struct shape *s = &c->s.shapes[i];
        uint32_t last = system_only(s) ? 0 : MISSING_MAX;
        for (uint32_t m = 0; comparable(s) && m <= last && s->skipped + m < s->count; m++)
            c->entries[c->entry_count++] = (struct entry){
                .frame = s->frames[s->skipped + m],
                .operation = system_only(s) ? SYSTEM_OPERATION : s->operation,
                .shape = (uint32_t)i,
                .missing = m,
            };
    }
    qsort(c->entries, c->entry_count, sizeof(*c->entries), compare_entries);
    return ERR_OK;
}

static size_t first_entry(const struct comparing *c, uint32_t frame, uint32_t operation)
{
    const struct entry wanted = {.frame = frame, .operation = operation};
    size_t low = 0;
    size_t high = c->entry_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (compare_entries(&c->entries[middle], &wanted) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* --- likeness ------------------------------------------------------------------------------ */

/* Weight of the frames of `a` from `i` on that `b` has from `k` on; 0 when too few are common. */
static double common_weight(const struct comparing *c, const struct shape *a, uint32_t i,
                            const struct shape *b, uint32_t k)
{
    double all = 0;
    double common = 0;
    for (uint32_t n = 0; n < TAIL && i + n < a->count; n++) {
        uint32_t frame = a->frames[i + n];
        all += c->idf[frame];
        for (uint32_t j = k; j < b->count; j++) {
            if (b->frames[j] == frame) {
                common += c->idf[frame];
                break;
            }
        }
    }
    return common >= TAIL_SHARE * all ? common + c->idf[a->operation] : 0;
}

static void note(struct comparing *c, size_t shape, size_t part, double evidence, bool twin)
{
    size_t i = 0;
    while (i < c->like_count && c->likes[i].part != part)
        i++;
    if (i == LIKES_MAX)
        return;
    if (i == c->like_count)
        c->likes[c->like_count++] = (struct likeness){.part = part, .last = SIZE_MAX, .twin = true};
    struct likeness *like = &c->likes[i];
    like->covered += like->last != shape;
    like->last = shape;
    like->twin = like->twin && twin;
    if (evidence > like->evidence)
        like->evidence = evidence;
}

/* What is like one shape: for an app's, shapes with up to MISSING_MAX more frames in front; for
 * the system's, whose innermost frames are but the moment of the sample, those with fewer. */
static void compare_shape(struct comparing *c, size_t index)
{
    const struct shape *t = &c->s.shapes[index];
    uint32_t last = system_only(t) ? MISSING_MAX : 0;
    uint32_t operation = system_only(t) ? SYSTEM_OPERATION : t->operation;
    for (uint32_t m = system_only(t) ? 1 : 0; m <= last && t->skipped + m < t->count; m++) {
        uint32_t frame = t->frames[t->skipped + m];
        size_t i = first_entry(c, frame, operation);
        for (size_t n = 0; n < CANDIDATES_MAX && i < c->entry_count; n++, i++) {
            const struct entry *e = &c->entries[i];
            if (e->frame != frame || e->operation != operation)
                break;
            if (c->part_of_shape[e->shape] == c->part_of_shape[index])
                continue;
            const struct shape *s = &c->s.shapes[e->shape];
            double weight = common_weight(c, t, t->skipped + m, s, s->skipped + e->missing);
            if (weight > 0)
                note(c, index, c->part_of_shape[e->shape], weight, m == 0 && e->missing == 0);
        }
    }
}

/* Of two names of one function the heavier part takes the other. */
static bool heavier(const struct comparing *c, size_t a, size_t b)
{
    const struct similar_part *x = &c->r.parts[a];
    const struct similar_part *y = &c->r.parts[b];
    if (x->weight != y->weight)
        return x->weight > y->weight;
    return memcmp(x->key, y->key, CLUSTER_KEY_SIZE) < 0;
}

static double share(const struct comparing *c, size_t part, const struct likeness *like)
{
    return (double)like->covered / (double)(c->first_shape[part + 1] - c->first_shape[part]);
}

static int compare_likes(const void *a, const void *b)
{
    const struct likeness *x = a;
    const struct likeness *y = b;
    if (x->covered != y->covered)
        return x->covered > y->covered ? -1 : 1;
    if (x->evidence != y->evidence)
        return x->evidence > y->evidence ? -1 : 1;
    return x->part < y->part ? -1 : x->part > y->part;
}

static void find_takers(struct comparing *c, size_t part, struct similar_pair *related)
{
    size_t listed = 0;
    c->like_count = 0;
    for (size_t i = c->first_shape[part]; i < c->first_shape[part + 1]; i++) {
        if (comparable(&c->s.shapes[i]))
            compare_shape(c, i);
    }
    qsort(c->likes, c->like_count, sizeof(*c->likes), compare_likes);
    for (size_t i = 0; i < c->like_count; i++) {
        const struct likeness *like = &c->likes[i];
        double score = share(c, part, like);
        bool takes = score >= SIMILAR_SCORE_MIN && like->evidence >= EVIDENCE_MIN &&
                     (!like->twin || heavier(c, like->part, part));
        if (takes && c->taker_count[part] < TAKERS_MAX)
            c->takers[part][c->taker_count[part]++] = like->part;
        if (score >= RELATED_MIN && listed < SIMILAR_RELATED)
            related[listed++] = (struct similar_pair){part, like->part, score};
    }
    for (; listed < SIMILAR_RELATED; listed++)
        related[listed].part = SIZE_MAX;
}

static bool has_taker(const struct comparing *c, size_t part, size_t taker)
{
    for (size_t i = 0; i < c->taker_count[part]; i++) {
        if (c->takers[part][i] == taker)
            return true;
    }
    return false;
}

/* The one taker that no other taker of the part would take: SIZE_MAX when there are several. */
static size_t best_taker(const struct comparing *c, size_t part)
{
    size_t best = SIZE_MAX;
    for (size_t i = 0; i < c->taker_count[part]; i++) {
        bool taken = false;
        for (size_t k = 0; k < c->taker_count[part]; k++)
            taken = taken || has_taker(c, c->takers[part][i], c->takers[part][k]);
        if (taken)
            continue;
        if (best != SIZE_MAX)
            return SIZE_MAX;
        best = c->takers[part][i];
    }
    return best;
}

static enum err merge(struct comparing *c)
{
    size_t n = c->r.part_count;
    size_t *best = arena_array(c->arena, n + 1, sizeof(*best));
    struct similar_pair *pairs = arena_array(c->arena, n * SIMILAR_RELATED + 1, sizeof(*pairs));
    if (!best || !pairs)
        return no_memory(c);
    for (size_t i = 0; i < n; i++)
        find_takers(c, i, &pairs[i * SIMILAR_RELATED]);
    for (size_t i = 0; i < n; i++)
        best[i] = best_taker(c, i);
    for (size_t i = 0; i < n; i++) {
        if (best[i] != SIZE_MAX && best[best[i]] == SIZE_MAX)
            c->r.parts[i].into = best[i];
    }
    c->r.related = pairs;
    for (size_t i = 0; i < n * SIMILAR_RELATED; i++) {
        struct similar_pair pair = pairs[i];
        if (pair.part == SIZE_MAX)
            continue;
        struct similar_part *part = &c->r.parts[pair.part];
        if (part->into == pair.other)
            part->score = pair.score;
        else if (part->into != c->r.parts[pair.other].into)
            c->r.related[c->r.related_count++] = pair;
    }
    return ERR_OK;
}

static enum err name_plumbing(struct comparing *c)
{
    c->r.plumbing = arena_array(c->arena, c->s.name_count + 1, sizeof(*c->r.plumbing));
    if (!c->r.plumbing)
        return no_memory(c);
    for (size_t i = 0; i < c->s.name_count; i++) {
        if (c->s.plumbing[i])
            c->r.plumbing[c->r.plumbing_count++] = c->s.names[i];
    }
    return ERR_OK;
}

enum err similar_of(const struct similar_stack *stacks, size_t count, struct arena *arena,
                    struct similar_result *ret, struct error *err)
{
    return similar_under(NULL, stacks, count, arena, ret, err);
}

enum err similar_under(const struct overlay *given, const struct similar_stack *stacks,
                       size_t count, struct arena *arena, struct similar_result *ret,
                       struct error *err)
{
    struct comparing c = {.arena = arena, .err = err};
    if (count > UINT32_MAX / 2)
        return error_set(err, ERR_LIMIT, "%zu stacks are too many to compare", count);
    enum err e = shapes_of(given, stacks, count, arena, &c.s, err);
    if (e == ERR_OK)
        e = make_parts(&c, count);
    if (e == ERR_OK)
        e = weigh(&c);
    if (e == ERR_OK)
        e = index_shapes(&c);
    if (e == ERR_OK)
        e = merge(&c);
    if (e == ERR_OK)
        e = name_plumbing(&c);
    if (e == ERR_OK)
        *ret = c.r;
    return e;
}
