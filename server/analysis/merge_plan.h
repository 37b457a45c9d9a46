/*
 * merge_plan - which merges shall be in force after an epoch.
 *
 * Purpose: the second stage says which parts are alike; people said which clusters are one, which
 * are not, and which fell apart. The plan is what follows from both: merges of the second stage that
 * hold no more, merges that are new, and the pairs that are offered as related.
 *
 * Invariants: pure, and the same whatever the order of the input. What people said comes first: their
 * merges stand, and no merge of the second stage leads away from a key that they merged, unites what
 * they said is two, or what they split. Merges never make a circle. Planning again with the plan in
 * force plans nothing.
 *
 * Threads: any. Memory: the caller's arena.
 */
#ifndef STALLSYM_ANALYSIS_MERGE_PLAN_H
#define STALLSYM_ANALYSIS_MERGE_PLAN_H

#include "server/analysis/similar.h"

#define PLAN_SCORE_ONE   1000000
#define PLAN_RELATED_MAX 20000

enum plan_rule_kind { PLAN_MERGE, PLAN_APART };

/* A rule in force. */
struct plan_rule {
    uint64_t id;
    enum plan_rule_kind kind;
    bool by_hand;
    uint8_t from[CLUSTER_KEY_SIZE], into[CLUSTER_KEY_SIZE];
    int64_t score;
};

struct plan_merge {
    uint8_t from[CLUSTER_KEY_SIZE], into[CLUSTER_KEY_SIZE];
    int64_t score;
    size_t part, taker; /* in the result */
};

struct plan_pair {
    uint8_t key[CLUSTER_KEY_SIZE], other[CLUSTER_KEY_SIZE];
    int64_t score;
};

struct merge_plan {
    uint64_t *undo;
    size_t undo_count;
    struct plan_merge *merges; /* new, or with another score */
    size_t merge_count;
    struct plan_pair *related; /* ascending, each pair both ways */
    size_t related_count;
};

enum err merge_plan_of(const struct similar_result *result, const struct plan_rule *rules,
                       size_t rule_count, struct arena *arena, struct merge_plan *ret,
                       struct error *err);

/* Where merges lead: a sorted table. */
struct merge_map {
    struct plan_merge *items; /* by `from` */
    size_t count;
};
/* Of the merges among the rules. */
enum err merge_map_of(const struct plan_rule *rules, size_t count, struct arena *arena,
                      struct merge_map *ret, struct error *err);
const uint8_t *merge_map_root(const struct merge_map *map, const uint8_t key[CLUSTER_KEY_SIZE]);

#endif
