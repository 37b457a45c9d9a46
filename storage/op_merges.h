/*
 * op_merges - ops on what clusters are made of: parts, merges, splits, epochs.
 *
 * Purpose: a stack has a key of its own, its part's (op_resolution.key). Its cluster is that of the
 * key where the merges lead from there. Merges are rules: made by the epoch (the second stage, with a
 * score) or by hand; dated, and kept when they are undone. Included by write_op.h.
 *
 * Invariants: of each key at most one merge leads away, and they never make a circle: an op that
 * would make one is refused (by hand) or leaves that merge out (the epoch's). Only WRITE_RESOLUTIONS
 * and WRITE_REKEY move stacks; what rules change takes effect by the work that they leave behind.
 *
 * Threads, memory: as write_op.h says.
 */
#ifndef STALLSYM_STORAGE_OP_MERGES_H
#define STALLSYM_STORAGE_OP_MERGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PART_KEY_SIZE    16
#define SCORE_ONE        1000000 /* scores are millionths */
#define CLUSTER_FROM_MAX 100     /* clusters merged by one request */

/* Of analysis' enum cluster_kind the first ones: causes, which may be one with others. */
#define CLUSTER_KINDS_OF_CAUSES 2

/* Of two clusters that become one the state is the most open: "open" before "ignored" (it happens,
 * and somebody knows) before "resolved" (the next report would be a regression). */
const char *cluster_state_merged(const char *a, const char *b);

enum cluster_rule_kind {
    CLUSTER_RULE_MERGE, /* stacks of `from` belong to the cluster of `into` */
    CLUSTER_RULE_APART, /* `from` and `into` are two causes: no epoch makes them one */
    CLUSTER_RULE_DEPTH, /* `from` is shared by causes: its stacks fall apart by `depth` frames */
};

struct op_resolution;

/* WRITE_REKEY: keys of resolved stacks computed anew. Of an item count: stack_id, generation, stack
 * (NULL: its frames stay as they are), overlay and what names the cluster. */
struct op_rekey {
    struct op_resolution *items; /* `applied` false: pending, or changed meanwhile */
    size_t count;
    const char *rules_version;
    int64_t now_ms;
    uint64_t work_id; /* whose progress this is, 0: nobody's */
    uint32_t work_attempt;
    uint64_t after_id;
    uint64_t seen;     /* more */
    uint64_t changed;  /* result: stacks that got another key or cluster */
    bool findings_due; /* result: as of op_resolutions */
};

/* WRITE_CLUSTER_RULE: by hand. */
struct op_cluster_rule {
    enum cluster_rule_kind kind;
    const char *bundle_id; /* of a bound token: clusters of other apps are not there. NULL */
    uint64_t cluster_id;   /* merged into; split */
    const uint64_t *from;  /* MERGE: these clusters */
    size_t from_count;
    bool has_part; /* APART, DEPTH: this part of the cluster; DEPTH alone: else its own one */
    uint8_t part[PART_KEY_SIZE];
    uint32_t depth;
    int64_t now_ms;
    uint64_t rule_ids[CLUSTER_FROM_MAX]; /* results */
    size_t rule_count;
};

/* WRITE_CLUSTER_RULE_UNDO. A merge of the epoch's that is undone leaves an APART rule behind. */
struct op_cluster_rule_undo {
    const char *bundle_id; /* as above */
    uint64_t rule_id;
    int64_t now_ms;
};

struct op_epoch_merge {
    uint8_t from[PART_KEY_SIZE], into[PART_KEY_SIZE];
    int64_t score;
    const char *from_title, *into_title;
};

struct op_related {
    uint8_t key[PART_KEY_SIZE], other[PART_KEY_SIZE];
    int64_t score;
};

/* WRITE_EPOCH: what the second stage found, in one or more ops. Applying it again changes nothing. */
struct op_epoch {
    const char *bundle_id;
    uint64_t epoch;
    const void *overlay; /* NULL: as it was */
    size_t overlay_len;
    const uint64_t *undo; /* the epoch's merges that hold no more */
    size_t undo_count;
    const struct op_epoch_merge *merges; /* new ones, or with another score */
    size_t merge_count;
    bool replaces_related; /* by these */
    const struct op_related *related;
    size_t related_count;
    int64_t now_ms;
};

/* WRITE_CLUSTER_CARRY: what people said of keys that no stack has any more, since the form of keys or
 * the rules are others, is said of the keys that came out of them. The rule keeps its id and date. One
 * that says nothing new (the two became one, or people said so already) is undone; a merge of the
 * epoch's gives way. Applying it again changes nothing. */
struct op_carried {
    uint64_t rule_id; /* by hand, and in force; else nothing happens */
    bool again;       /* one more of it: what it spoke of fell apart */
    uint8_t from[PART_KEY_SIZE], into[PART_KEY_SIZE]; /* into: zeros for DEPTH */
};
struct op_cluster_carry {
    const char *bundle_id;
    const struct op_carried *items; /* of a rule: first the one that is not `again` */
    size_t count;
    int64_t now_ms;
};

enum cluster_work_kind {
    CLUSTER_WORK_ALIGN,     /* stacks follow rules that changed */
    CLUSTER_WORK_EPOCH,     /* the second stage, then as above */
    CLUSTER_WORK_RECLUSTER, /* the same, with the rules of now, asked for */
};
enum cluster_work_phase { CLUSTER_PHASE_LEARN, CLUSTER_PHASE_ALIGN };

/* WRITE_CLUSTER_WORK with id 0 asks for work: on an app or (NULL) on all of them. Work of the kind
 * that is not finished begins anew. With an id: how far it is. */
struct op_cluster_work {
    uint64_t id;
    uint32_t attempt; /* with an id: which one of the row's; another one by now: ignored */
    enum cluster_work_kind kind;
    const char *bundle_id;
    enum cluster_work_phase phase;
    uint64_t after_id, seen, changed, total;
    const char *rules_version;
    bool finished;
    int64_t now_ms;
    uint64_t count; /* result: apps */
};

#endif
