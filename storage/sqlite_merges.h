/*
 * sqlite_merges - what the ops on rules of clusters share.
 *
 * Purpose: rules by their rows, merges that must not make a circle, work that is left for the thread
 * that moves stacks.
 *
 * Threads: the writer's. Memory: none.
 */
#ifndef STALLSYM_STORAGE_SQLITE_MERGES_H
#define STALLSYM_STORAGE_SQLITE_MERGES_H

#include "storage/sqlite_clusters.h"

struct rule_values {
    int64_t app_id;
    enum cluster_rule_kind kind;
    const uint8_t *from, *into; /* into NULL: DEPTH */
    uint32_t depth;
    bool by_hand;
    int64_t score;
    uint64_t epoch;
    int64_t now_ms;
    const char *from_title, *into_title;
};
enum err sqlite_rule_insert(struct sqlite_storage *s, const struct rule_values *v, uint64_t *ret_id,
                            struct error *err);
/* The cluster of `into` gets the most open state of both; either may not be there. */
enum err sqlite_merge_states(struct sqlite_storage *s, int64_t app_id, const uint8_t *from,
                             const uint8_t *into, struct error *err);
/* Asks for the alignment of a cluster, or (0) of the whole app, first learning anew what an epoch
 * and people said of keys. */
enum err sqlite_work_ask(struct sqlite_storage *s, int64_t app_id, enum cluster_work_kind kind,
                         enum cluster_work_phase phase, int64_t cluster_id, int64_t now_ms,
                         struct error *err);

#endif
