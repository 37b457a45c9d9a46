/*
 * The merges that were accepted are kept in a table by the key they lead away from; a union-find
 * over the keys says what is one with what already. Candidates come best score first.
 */
#include "server/analysis/merge_plan.h"

#include <stdlib.h>
#include <string.h>

#define CHAIN_MAX 64

struct node {
    const uint8_t *key;
    size_t into;     /* itself: a root */
    size_t union_of; /* for the union-find */
    bool by_hand;    /* what leads away from it */
    size_t part;     /* SIZE_MAX: a key that only rules know */
};

struct planning {
    const struct similar_result *result;
    const struct plan_rule *rules;
    size_t rule_count;
    struct arena *arena;
    struct error *err;
    struct node *nodes; /* by key */
    size_t count;
    size_t *deepened; /* nodes that fell out of a part by hand */
    size_t deepened_count;
    struct plan_merge *accepted;
    size_t accepted_count;
};

static enum err no_memory(struct error *err)
{
    return error_set(err, ERR_NO_MEMORY, "no memory to plan merges");
}

static int compare_nodes(const void *a, const void *b)
{
    const struct node *x = a;
    const struct node *y = b;
    int c = memcmp(x->key, y->key, CLUSTER_KEY_SIZE);
    return c ? c : (x->part > y->part) - (x->part < y->part);
}

static size_t node_of(const struct planning *p, const uint8_t *key)
{
    size_t low = 0;
    size_t high = p->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (memcmp(p->nodes[middle].key, key, CLUSTER_KEY_SIZE) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static size_t set_of(struct planning *p, size_t node)
{
    while (p->nodes[node].union_of != node) {
        p->nodes[node].union_of = p->nodes[p->nodes[node].union_of].union_of;
        node = p->nodes[node].union_of;
    }
    return node;
}

/* All keys, each once: parts first, so that their index survives. */
static enum err make_nodes(struct planning *p)
{
    size_t room = p->result->part_count + 2 * p->rule_count;
    size_t n = 0;
    p->nodes = arena_array(p->arena, room + 1, sizeof(*p->nodes));
    p->deepened = arena_array(p->arena, p->result->part_count + 1, sizeof(*p->deepened));
    p->accepted = arena_array(p->arena, p->result->part_count + 1, sizeof(*p->accepted));
    if (!p->nodes || !p->deepened || !p->accepted)
        return no_memory(p->err);
    for (size_t i = 0; i < p->result->part_count; i++)
        p->nodes[n++] = (struct node){.key = p->result->parts[i].key, .part = i};
    for (size_t i = 0; i < p->rule_count; i++) {
        p->nodes[n++] = (struct node){.key = p->rules[i].from, .part = SIZE_MAX};
        p->nodes[n++] = (struct node){.key = p->rules[i].into, .part = SIZE_MAX};
    }
    if (n > 0)
        qsort(p->nodes, n, sizeof(*p->nodes), compare_nodes);
    for (size_t i = 0; i < n; i++) {
        if (p->count > 0 &&
            memcmp(p->nodes[p->count - 1].key, p->nodes[i].key, CLUSTER_KEY_SIZE) == 0)
            continue;
        p->nodes[p->count] = p->nodes[i];
        p->nodes[p->count].into = p->nodes[p->count].union_of = p->count;
        p->count++;
    }
    for (size_t i = 0; i < p->count; i++) {
        size_t part = p->nodes[i].part;
        if (part != SIZE_MAX && p->result->parts[part].deepened)
            p->deepened[p->deepened_count++] = i;
    }
    return ERR_OK;
}

static void unite(struct planning *p, size_t from, size_t into, bool by_hand)
{
    p->nodes[from].into = into;
    p->nodes[from].by_hand = by_hand;
    p->nodes[set_of(p, from)].union_of = set_of(p, into);
}

static void take_hand_merges(struct planning *p)
{
    for (size_t i = 0; i < p->rule_count; i++) {
        const struct plan_rule *r = &p->rules[i];
        if (r->kind != PLAN_MERGE || !r->by_hand)
            continue;
        size_t from = node_of(p, r->from);
        size_t into = node_of(p, r->into);
        if (set_of(p, from) != set_of(p, into))
            unite(p, from, into, true);
    }
}

static bool apart(struct planning *p, size_t a, size_t b)
{
    for (size_t i = 0; i < p->rule_count; i++) {
        const struct plan_rule *r = &p->rules[i];
        if (r->kind != PLAN_APART)
            continue;
        size_t x = set_of(p, node_of(p, r->from));
        size_t y = set_of(p, node_of(p, r->into));
        if ((x == a && y == b) || (x == b && y == a))
            return true;
    }
    for (size_t i = 0; i < p->deepened_count; i++) {
        size_t x = set_of(p, p->deepened[i]);
        if (x != a && x != b)
            continue;
        const struct similar_part *part = &p->result->parts[p->nodes[p->deepened[i]].part];
        for (size_t k = i + 1; k < p->deepened_count; k++) {
            size_t y = set_of(p, p->deepened[k]);
            const struct similar_part *other = &p->result->parts[p->nodes[p->deepened[k]].part];
            if (y != x && (y == a || y == b) &&
                memcmp(part->origin, other->origin, CLUSTER_KEY_SIZE) == 0)
                return true;
        }
    }
    return false;
}

static int best_first(const void *a, const void *b)
{
    const struct plan_merge *x = a;
    const struct plan_merge *y = b;
    if (x->score != y->score)
        return x->score > y->score ? -1 : 1;
    return memcmp(x->from, y->from, CLUSTER_KEY_SIZE);
}

static int64_t whole(double score)
{
    return (int64_t)(score * PLAN_SCORE_ONE + .5);
}

static void take_candidates(struct planning *p)
{
    size_t n = 0;
    for (size_t i = 0; i < p->result->part_count; i++) {
        const struct similar_part *part = &p->result->parts[i];
        struct plan_merge *m = &p->accepted[n];
        if (part->into == i)
            continue;
        *m = (struct plan_merge){.score = whole(part->score), .part = i, .taker = part->into};
        memcpy(m->from, part->key, CLUSTER_KEY_SIZE);
        memcpy(m->into, p->result->parts[part->into].key, CLUSTER_KEY_SIZE);
        n++;
    }
    if (n > 0)
        qsort(p->accepted, n, sizeof(*p->accepted), best_first);
    for (size_t i = 0; i < n; i++) {
        size_t from = node_of(p, p->accepted[i].from);
        size_t into = node_of(p, p->accepted[i].into);
        size_t a = set_of(p, from);
        size_t b = set_of(p, into);
        if (p->nodes[from].into != from || a == b || apart(p, a, b))
            continue;
        unite(p, from, into, false);
        p->accepted[p->accepted_count++] = p->accepted[i];
    }
}

/* What is in force and holds no more; of the accepted ones there remain those that are news. */
static enum err compare_with_rules(struct planning *p, struct merge_plan *ret)
{
    bool *known = arena_array(p->arena, p->count + 1, sizeof(*known));
    ret->undo = arena_array(p->arena, p->rule_count + 1, sizeof(*ret->undo));
    if (!known || !ret->undo)
        return no_memory(p->err);
    for (size_t i = 0; i < p->rule_count; i++) {
        const struct plan_rule *r = &p->rules[i];
        if (r->kind != PLAN_MERGE || r->by_hand)
            continue;
        size_t from = node_of(p, r->from);
        const struct node *n = &p->nodes[from];
        if (n->into == from || n->by_hand || n->into != node_of(p, r->into)) {
            ret->undo[ret->undo_count++] = r->id;
            continue;
        }
        const struct similar_part *part = &p->result->parts[n->part];
        known[from] = whole(part->score) == r->score;
    }
    ret->merges = p->accepted;
    for (size_t i = 0; i < p->accepted_count; i++) {
        if (!known[node_of(p, p->accepted[i].from)])
            ret->merges[ret->merge_count++] = p->accepted[i];
    }
    return ERR_OK;
}

static const uint8_t *root_of(const struct planning *p, const uint8_t *key)
{
    size_t node = node_of(p, key);
    for (int i = 0; i < CHAIN_MAX && p->nodes[node].into != node; i++)
        node = p->nodes[node].into;
    return p->nodes[node].key;
}

static int compare_pairs(const void *a, const void *b)
{
    const struct plan_pair *x = a;
    const struct plan_pair *y = b;
    int c = memcmp(x->key, y->key, CLUSTER_KEY_SIZE);
    if (c == 0)
        c = memcmp(x->other, y->other, CLUSTER_KEY_SIZE);
    return c ? c : (x->score < y->score) - (x->score > y->score);
}

/* Pairs of what the parts are one with now. */
static enum err relate(struct planning *p, struct merge_plan *ret)
{
    size_t n = 0;
    const struct similar_result *r = p->result;
    ret->related = arena_array(p->arena, 2 * r->related_count + 1, sizeof(*ret->related));
    if (!ret->related)
        return no_memory(p->err);
    for (size_t i = 0; i < r->related_count; i++) {
        const uint8_t *a = root_of(p, r->parts[r->related[i].part].key);
        const uint8_t *b = root_of(p, r->parts[r->related[i].other].key);
        size_t x = set_of(p, node_of(p, a));
        size_t y = set_of(p, node_of(p, b));
        if (x == y || apart(p, x, y))
            continue;
        for (int way = 0; way < 2; way++) {
            struct plan_pair *pair = &ret->related[n++];
            pair->score = whole(r->related[i].score);
            memcpy(pair->key, way ? b : a, CLUSTER_KEY_SIZE);
            memcpy(pair->other, way ? a : b, CLUSTER_KEY_SIZE);
        }
    }
    if (n > 0)
        qsort(ret->related, n, sizeof(*ret->related), compare_pairs);
    for (size_t i = 0; i < n && ret->related_count < PLAN_RELATED_MAX; i++) {
        const struct plan_pair *pair = &ret->related[i];
        const struct plan_pair *last =
            ret->related_count > 0 ? &ret->related[ret->related_count - 1] : NULL;
        if (!last || memcmp(last->key, pair->key, CLUSTER_KEY_SIZE) != 0 ||
            memcmp(last->other, pair->other, CLUSTER_KEY_SIZE) != 0)
            ret->related[ret->related_count++] = *pair;
    }
    return ERR_OK;
}

enum err merge_plan_of(const struct similar_result *result, const struct plan_rule *rules,
                       size_t rule_count, struct arena *arena, struct merge_plan *ret,
                       struct error *err)
{
    struct planning p = {
        .result = result, .rules = rules, .rule_count = rule_count, .arena = arena, .err = err};
    struct merge_plan plan = {.undo_count = 0};
    enum err rc = make_nodes(&p);
    if (rc)
        return rc;
    take_hand_merges(&p);
    take_candidates(&p);
    rc = compare_with_rules(&p, &plan);
    if (!rc)
        rc = relate(&p, &plan);
    if (!rc)
        *ret = plan;
    return rc;
}

/* --- where merges lead ------------------------------------------------------------------------ */

static int by_from(const void *a, const void *b)
{
    const struct plan_merge *x = a;
    const struct plan_merge *y = b;
    return memcmp(x->from, y->from, CLUSTER_KEY_SIZE);
}

enum err merge_map_of(const struct plan_rule *rules, size_t count, struct arena *arena,
                      struct merge_map *ret, struct error *err)
{
    struct merge_map map = {.items = arena_array(arena, count + 1, sizeof(*map.items))};
    if (!map.items)
        return no_memory(err);
    for (size_t i = 0; i < count; i++) {
        if (rules[i].kind != PLAN_MERGE)
            continue;
        struct plan_merge *m = &map.items[map.count++];
        memcpy(m->from, rules[i].from, CLUSTER_KEY_SIZE);
        memcpy(m->into, rules[i].into, CLUSTER_KEY_SIZE);
    }
    if (map.count > 0)
        qsort(map.items, map.count, sizeof(*map.items), by_from);
    *ret = map;
    return ERR_OK;
}

const uint8_t *merge_map_root(const struct merge_map *map, const uint8_t key[CLUSTER_KEY_SIZE])
{
    for (int i = 0; i < CHAIN_MAX && map->count > 0; i++) {
        struct plan_merge wanted = {.score = 0};
        memcpy(wanted.from, key, CLUSTER_KEY_SIZE);
        const struct plan_merge *found =
            bsearch(&wanted, map->items, map->count, sizeof(wanted), by_from);
        if (!found)
            break;
        key = found->into;
    }
    return key;
}
