/*
 * call_fold - the lightest nodes of a call tree folded.
 *
 * DESIGN. Nodes are ranked by what they weigh, those that weigh the same by their place, depth first:
 * before a node stand all its callers. Which weight parts those that stay from the others is found by
 * halving the range of weights; then one walk, depth first, copies what stays.
 */
#include <stdlib.h>
#include <string.h>

#include "server/analysis/call_tree_parts.h"

/* What some nodes weigh. */
struct heft {
    int64_t weight;
    size_t nodes;
};

/* Nodes that are heavier stay, and of those that weigh just that the first `ties`. */
struct border {
    int64_t weight;
    size_t ties;
};

static int64_t middle(int64_t low, int64_t high)
{
    return low + (int64_t)(((uint64_t)high - (uint64_t)low) / 2);
}

/* Those above `weight` first; how many. `ret_nodes`: what they are together. */
static size_t part(struct heft *h, size_t count, int64_t weight, size_t *ret_nodes)
{
    size_t above = 0;
    *ret_nodes = 0;
    for (size_t i = 0; i < count; i++) {
        const struct heft at = h[i];
        if (at.weight <= weight)
            continue;
        *ret_nodes += at.nodes;
        h[i] = h[above];
        h[above++] = at;
    }
    return above;
}

/* The `keep` heaviest nodes, which are fewer than all. */
static struct border border_of(struct heft *h, size_t count, size_t keep)
{
    int64_t low = INT64_MAX, high = INT64_MIN;
    for (size_t i = 0; i < count; i++) {
        low = h[i].weight < low ? h[i].weight : low;
        high = h[i].weight > high ? h[i].weight : high;
    }
    /* The border lies from `low` to `high`; what is above is counted. */
    while (low < high) {
        const int64_t at = middle(low, high);
        size_t nodes;
        const size_t above = part(h, count, at, &nodes);
        if (nodes > keep) {
            low = at + 1;
            count = above;
        } else {
            high = at;
            keep -= nodes;
            h += above;
            count -= above;
        }
    }
    return (struct border){low, keep};
}

/* --- copying ---------------------------------------------------------------------------------- */

struct fold {
    const struct call_tree *from;
    struct call_tree *to;
    struct heft *hefts;
    uint32_t *runs;      /* what runs became; CALL_TREE_NONE: they are folded */
    uint32_t *functions; /* what functions became; CALL_TREE_NONE: nothing yet */
    uint32_t *row;       /* functions of the run at hand */
    uint32_t other;      /* CALL_TREE_NONE: not yet */
    struct border border;
};

static enum err function_of(struct fold *f, uint32_t function, uint32_t *ret, struct error *err)
{
    const struct call_function *of = &f->from->functions.items[function];
    const struct call_frame frame = {
        .function = of->name, .image = of->image, .file = of->file, .in_app = of->in_app};
    enum err rc = ERR_OK;
    if (f->functions[function] == CALL_TREE_NONE)
        rc = call_tree_function(f->to, &frame, &f->functions[function], err);
    *ret = f->functions[function];
    return rc;
}

/* The first `count` nodes of a run. */
static enum err copy_run(struct fold *f, const struct call_run *r, uint32_t caller, size_t count,
                         uint32_t *ret, struct error *err)
{
    enum err rc = call_tree_reserve(f->to, count, err);
    for (size_t i = 0; i < count && rc == ERR_OK; i++)
        rc = function_of(f, f->from->path[r->first + i], &f->row[i], err);
    if (rc != ERR_OK)
        return rc;
    *ret = call_tree_put(f->to, caller, f->row, count);
    call_run_weigh(&f->to->runs[*ret], r->value);
    return ERR_OK;
}

/* A call of `caller` is one of the others. */
static enum err fold_call(struct fold *f, const struct call_run *r, uint32_t caller,
                          struct error *err)
{
    const struct call_frame frame = {.function = CALL_TREE_OTHER};
    enum err rc = call_tree_reserve(f->to, 1, err);
    if (rc == ERR_OK && f->other == CALL_TREE_NONE)
        rc = call_tree_function(f->to, &frame, &f->other, err);
    if (rc != ERR_OK)
        return rc;
    uint32_t others = call_tree_child(f->to, caller, f->other);
    if (others == CALL_TREE_NONE)
        others = call_tree_put(f->to, caller, &f->other, 1);
    else if (f->to->runs[others].length > 1)
        call_tree_split(f->to, others, 1);
    call_run_weigh(&f->to->runs[others], r->value);
    return ERR_OK;
}

static size_t kept_of(struct fold *f, const struct call_run *r)
{
    const int64_t weight = call_run_weight(r);
    if (weight != f->border.weight)
        return weight > f->border.weight ? r->length : 0;
    const size_t kept = r->length < f->border.ties ? r->length : f->border.ties;
    f->border.ties -= kept;
    return kept;
}

static enum err copy_all(struct fold *f, struct error *err)
{
    enum err rc = ERR_OK;
    call_run_weigh(&f->to->runs[0], f->from->runs[0].value);
    f->runs[0] = 0;
    for (uint32_t n = 0; rc == ERR_OK && (n = call_tree_next_run(f->from, n)) != CALL_TREE_NONE;) {
        const struct call_run *r = &f->from->runs[n];
        const size_t kept = kept_of(f, r);
        uint32_t caller = f->runs[r->parent];
        f->runs[n] = CALL_TREE_NONE;
        if (caller == CALL_TREE_NONE)
            continue; /* inside of what was folded */
        if (kept > 0)
            rc = copy_run(f, r, caller, kept, &caller, err);
        if (rc == ERR_OK && kept < r->length)
            rc = fold_call(f, r, caller, err);
        else
            f->runs[n] = caller;
    }
    return rc == ERR_OK ? call_tree_sort(f->to, err) : rc;
}

/* Nodes but for the root, which stays anyway. */
static void find_border(struct fold *f, size_t keep)
{
    for (size_t i = 1; i < f->from->run_count; i++)
        f->hefts[i - 1] =
            (struct heft){call_run_weight(&f->from->runs[i]), f->from->runs[i].length};
    f->border = border_of(f->hefts, f->from->run_count - 1, keep);
}

static enum err prepare(struct fold *f, const struct call_tree *t, struct error *err)
{
    uint32_t longest = 1;
    for (size_t i = 0; i < t->run_count; i++)
        longest = t->runs[i].length > longest ? t->runs[i].length : longest;
    f->from = t;
    f->other = CALL_TREE_NONE;
    f->to = call_tree_new(t->max_bytes);
    f->hefts = malloc(t->run_count * sizeof(*f->hefts));
    f->runs = malloc(t->run_count * sizeof(*f->runs));
    f->functions = malloc((t->functions.count + 1) * sizeof(*f->functions));
    f->row = malloc(longest * sizeof(*f->row));
    if (!f->to || !f->hefts || !f->runs || !f->functions || !f->row)
        return error_set(err, ERR_NO_MEMORY, "no memory for a call tree");
    memset(f->functions, 0xff, t->functions.count * sizeof(*f->functions));
    return ERR_OK;
}

/* What waits to be added has functions, too. All of them, or none, are those of the new tree. */
static enum err move_batch(struct fold *f, struct call_batch *b, struct error *err)
{
    enum err rc = ERR_OK;
    for (size_t i = b->at; i < b->count && rc == ERR_OK; i++) {
        const struct call_waiting *s = &b->stacks[b->turns[i].stack];
        for (uint32_t k = 0, ignored; k < s->count && rc == ERR_OK; k++)
            rc = function_of(f, b->functions[s->first + k], &ignored, err);
    }
    for (size_t i = b->at; i < b->count && rc == ERR_OK; i++) {
        const struct call_waiting *s = &b->stacks[b->turns[i].stack];
        for (uint32_t k = 0; k < s->count; k++)
            b->functions[s->first + k] = f->functions[b->functions[s->first + k]];
    }
    if (rc == ERR_OK) {
        f->to->batch = *b;
        memset(b, 0, sizeof(*b));
    }
    return rc;
}

/* The functions count their bytes where their tree does. */
static void swap(struct call_tree *a, struct call_tree *b)
{
    const struct call_tree old = *a;
    *a = *b;
    *b = old;
    a->functions.bytes = &a->bytes;
    b->functions.bytes = &b->bytes;
}

enum err call_tree_fold(struct call_tree *t, size_t max_nodes, bool *ret_folded, struct error *err)
{
    struct fold f = {.to = NULL};
    /* Each of the kept ones, and the root, may get one that is of the others. */
    const size_t keep = (max_nodes > 2 ? max_nodes / 2 : 1) - 1;
    *ret_folded = false;
    enum err rc = call_tree_sort(t, err);
    if (rc != ERR_OK || t->node_count <= max_nodes)
        return rc;
    rc = prepare(&f, t, err);
    if (rc == ERR_OK) {
        find_border(&f, keep);
        rc = copy_all(&f, err);
    }
    if (rc == ERR_OK)
        rc = move_batch(&f, &t->batch, err);
    if (rc == ERR_OK) {
        swap(t, f.to);
        *ret_folded = true;
    }
    free(f.hefts);
    free(f.runs);
    free(f.functions);
    free(f.row);
    call_tree_free(f.to);
    return rc;
}
