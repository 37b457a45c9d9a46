/*
 * read_merges - questions about what clusters are made of.
 *
 * Purpose: part of storage_read.h, which includes it: overlays for the resolver, stacks page by page
 * for whoever keys them anew, rules and parts for the API.
 *
 * Threads, memory: as storage_read.h says.
 */
#ifndef STALLSYM_STORAGE_READ_MERGES_H
#define STALLSYM_STORAGE_READ_MERGES_H

#include "storage/op_merges.h"

/* Overlays with a version above that one, of all apps. */
struct overlay_row {
    uint64_t app_id;
    const char *bundle_id;
    uint64_t version;
    uint64_t epoch;
    const void *data;
    size_t len;
};
enum err read_overlays(struct storage_reader *r, uint64_t after_version, struct arena *arena,
                       struct overlay_row **ret, size_t *ret_count, struct error *err);

/* A resolved stack, and where it is now. */
struct keyed_stack {
    uint64_t stack_id;
    uint64_t app_id;
    uint32_t generation;
    bool give_up, provisional;
    bool damaged; /* what is stored of its frames cannot be read: `resolved` is empty */
    int64_t weighted;
    uint8_t hash[STACK_HASH_SIZE];
    uint8_t part[PART_KEY_SIZE];
    uint8_t cluster[PART_KEY_SIZE]; /* the cluster's key */
    const char *rules_version;      /* the cluster's */
    struct resolved_stack resolved;
};
/* The heaviest stacks: those of more weight, or of the same and no larger hash. */
struct stack_floor {
    int64_t weighted;
    uint8_t hash[STACK_HASH_SIZE];
};
/* Of an app or one of its clusters (0: all), ids above `after_id`, ascending. */
enum err read_keyed_stacks(struct storage_reader *r, const char *bundle_id, uint64_t cluster_id,
                           uint64_t after_id, size_t limit, struct arena *arena,
                           struct keyed_stack **ret, size_t *ret_count, struct error *err);
/* The lightest of an app's `heaviest` heaviest resolved stacks, and how many there are in all. */
enum err read_stack_floor(struct storage_reader *r, const char *bundle_id, size_t heaviest,
                          struct stack_floor *ret, uint64_t *ret_total, struct error *err);

struct cluster_rule_row {
    uint64_t id;
    const char *bundle_id;
    enum cluster_rule_kind kind;
    uint8_t from[PART_KEY_SIZE], into[PART_KEY_SIZE]; /* into: zeros for DEPTH */
    uint32_t depth;
    bool by_hand;
    int64_t score;
    uint64_t epoch;
    int64_t created_ms;
    int64_t undone_ms; /* INT64_MIN: in force */
    const char *from_title, *into_title;
    uint64_t
        cluster_id; /* where stacks of `from` are now; of DEPTH, without any: where most of them
                            went; 0: nowhere */
};
/* Newest first. `undone`: those that are undone, too. */
enum err read_cluster_rules(struct storage_reader *r, const char *bundle_id, bool undone,
                            size_t limit, const char *cursor, struct arena *arena,
                            struct cluster_rule_row **ret, size_t *ret_count, const char **ret_next,
                            struct error *err);

struct cluster_part {
    uint8_t key[PART_KEY_SIZE];
    bool own;                      /* the key is the cluster's */
    uint64_t stacks, count;        /* stacks with reports, as of a cluster: no mere samples */
    const char *title;             /* NULL when nobody knows */
    struct cluster_rule_row merge; /* id 0: none leads away from it */
};
/* Largest first, at most `limit`. */
enum err read_cluster_parts(struct storage_reader *r, uint64_t cluster_id, size_t limit,
                            struct arena *arena, struct cluster_part **ret, size_t *ret_count,
                            struct error *err);

struct related_row {
    uint8_t key[PART_KEY_SIZE], other[PART_KEY_SIZE];
    int64_t score;
    uint64_t cluster_id; /* of `other`; 0: has none */
    const char *title;   /* NULL */
};
/* Of an app, ascending by keys; of one cluster only (0: all). */
enum err read_related(struct storage_reader *r, const char *bundle_id, uint64_t cluster_id,
                      struct arena *arena, struct related_row **ret, size_t *ret_count,
                      struct error *err);

struct cluster_work_row {
    uint64_t id;
    const char *bundle_id;
    enum cluster_work_kind kind;
    uint32_t attempt;
    uint64_t cluster_id;
    enum cluster_work_phase phase;
    uint64_t after_id, seen, changed, total;
    const char *rules_version;
    int64_t requested_ms, started_ms, finished_ms; /* INT64_MIN: not yet */
};
/* What is not finished, oldest first. */
enum err read_cluster_work(struct storage_reader *r, struct arena *arena,
                           struct cluster_work_row **ret, size_t *ret_count, struct error *err);
/* The newest re-clustering and the newest epoch of each app. */
enum err read_cluster_work_last(struct storage_reader *r, const char *bundle_id,
                                struct arena *arena, struct cluster_work_row **ret,
                                size_t *ret_count, struct error *err);

/* Apps, with what decides whether an epoch is due. */
struct cluster_app_row {
    const char *bundle_id;
    int64_t epoch_ms; /* the last one ended then; INT64_MIN: there was none */
    bool outdated;    /* has clusters of other rules than these */
};
enum err read_cluster_apps(struct storage_reader *r, const char *rules_version, struct arena *arena,
                           struct cluster_app_row **ret, size_t *ret_count, struct error *err);

#endif
