/*
 * epochs - keeps what clusters are made of up to date: the second stage by night, re-clustering when
 * it is asked for, and what follows from decisions of people.
 *
 * Purpose: work is rows of the database (cluster_work): asked for by WRITE_CLUSTER_RULE,
 * WRITE_CLUSTER_RULE_UNDO and WRITE_CLUSTER_WORK, or here, when an app's nightly epoch is due. One
 * piece after the other is done in small steps beside live traffic: first it is learnt which parts
 * are one (epoch_learn.h), then the stacks whose key or cluster is another one by now follow.
 *
 * Invariants: every step leaves all sums right. A restart goes on where the last step ended; learning
 * begins anew. The same stacks, rules and decisions give the same clusters.
 *
 * Threads: one of its own; epochs_ring and epochs_set_rules from any. Memory:
 * epochs_start/epochs_stop.
 */
#ifndef STALLSYM_JOBS_EPOCHS_H
#define STALLSYM_JOBS_EPOCHS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "server/analysis/rules.h"
#include "server/jobs/writer.h"
#include "storage/storage.h"

struct epochs;

struct epochs_options {
    bool nightly;
    uint32_t hour;       /* UTC, 0 to 23 */
    uint64_t stacks_min; /* an app with fewer has no nightly epoch */
    uint64_t stacks_max; /* compared with each other */
    bool on_change;      /* re-cluster by itself when the rules are others than they were */
};

enum err epochs_start(struct storage *storage, struct writer *writer, const struct rules *rules,
                      const struct epochs_options *options, struct epochs **ret, struct error *err);
void epochs_stop(struct epochs *e);
/* Something was asked for. */
void epochs_ring(struct epochs *e);
/* From the next piece of work on; the old ones live until epochs_stop. */
void epochs_set_rules(struct epochs *e, const struct rules *rules);
/* Are there clusters made by other rules than those of now, and nobody re-clusters? */
bool epochs_outdated(struct epochs *e);

#endif
