/*
 * epoch_align - all stacks of an app, or of one of its clusters, go where rules and merges of now want
 * them.
 *
 * Purpose: keys them anew page by page; those that belong elsewhere, or whose cluster was named by
 * other rules, go to the writer, which moves pointer and sums.
 *
 * Invariants: the position is written with them, or behind some thousand that stay where they are, so
 * a restart goes on there. A stack whose frames or counters are damaged holds nothing up: it stays where
 * it is, and is counted. One op of a page is under way at a time, none while the writer is busy.
 *
 * Threads: the caller's. Memory: gives all back.
 */
#ifndef STALLSYM_JOBS_EPOCH_ALIGN_H
#define STALLSYM_JOBS_EPOCH_ALIGN_H

#include "server/jobs/epoch_learn.h"

/* From the position of `work` on, which moves. *ret_damaged: stacks that stay where they are. ERR_BUSY:
 * stopping. */
enum err epoch_align(const struct epoch_tools *tools, const struct rules *rules,
                     struct cluster_work_row *work, uint64_t *ret_damaged, struct error *err);
/* Writes the position. */
enum err epoch_save(const struct epoch_tools *tools, const struct cluster_work_row *work,
                    bool finished, struct error *err);

#endif
