/*
 * epoch_learn - the second stage over all stacks of an app, and what follows from it.
 *
 * Purpose: reads the app's distinct resolved stacks page by page, finds plumbing, parts that are
 * alike and pairs that are related (similar.h), lays beside it what people decided (merge_plan.h), and
 * hands what is news to the writer in small ops. Stacks are not moved here.
 *
 * Invariants: a function of the stacks, the rules and the decisions. Nothing new: no change. Of an app
 * with more than `stacks_max` stacks the heaviest are compared (of equal weight those with the
 * smallest hash); all others follow the plumbing and merges that were found.
 *
 * Threads: the caller's. Memory: gives all back.
 */
#ifndef STALLSYM_JOBS_EPOCH_LEARN_H
#define STALLSYM_JOBS_EPOCH_LEARN_H

#include "server/analysis/merge_plan.h"
#include "server/jobs/keyer.h"
#include "server/jobs/writer.h"

struct epoch_tools {
    struct storage_reader *reader;
    struct writer *writer;
    struct keyer *keyer; /* begun */
    size_t stacks_max;
    bool (*pause)(void *ctx, int64_t ms); /* false: stop */
    void *ctx;
};

struct epoch_figures {
    size_t stacks, parts, plumbing, merges, undone, related;
};

/* The decisions and merges in force. */
struct epoch_rules {
    struct plan_rule *rules; /* merges and what is to stay apart */
    size_t count;
    struct overlay_depth *depths; /* sorted */
    size_t depth_count;
    uint8_t (*decided)[CLUSTER_KEY_SIZE]; /* keys that people spoke about, sorted, each once */
    size_t decided_count;
};
enum err epoch_rules_read(struct storage_reader *reader, const char *bundle_id, struct arena *arena,
                          struct epoch_rules *ret, struct error *err);

/* ERR_BUSY: stopping. */
enum err epoch_learn(const struct epoch_tools *tools, const char *bundle_id, int64_t now_ms,
                     struct epoch_figures *ret, struct error *err);
/* The depths alone, after somebody changed them; what was learnt stays. */
enum err epoch_learn_depths(const struct epoch_tools *tools, const char *bundle_id, int64_t now_ms,
                            struct error *err);
/* Sends an op and waits; a full queue is waited for. */
enum err epoch_send(const struct epoch_tools *tools, struct write_op *op, struct error *err);

#endif
