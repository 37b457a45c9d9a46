/*
 * sqlite_heft - the heaviest stacks of a cluster that has very many.
 *
 * Purpose: an index by weight that a report of a known stack does not have to write: a stack's heft
 * is its weight in steps, so it seldom changes, and it is looked at when reports are rolled up
 * (storage/sqlite_rollup.h), not before.
 *
 * Invariants: in a cluster with tables of its own (elsewhere nobody asks) the heft of a stack is
 * that of its weight, but for stacks with later reports, which weigh more than it says. Heft 0: one
 * report of weight 1, or none.
 *
 * Threads: the writer's, or the reader's. Memory: ids in the caller's arena.
 */
#ifndef STALLSYM_STORAGE_SQLITE_HEFT_H
#define STALLSYM_STORAGE_SQLITE_HEFT_H

#include "storage/sqlite_ranges.h"
#include "storage/sqlite_read.h"

/* After the weight of a stack changed without a later report; of many; of all stacks of a cluster. */
enum err sqlite_heft_stack(struct sqlite_storage *s, int64_t stack_id, struct error *err);
enum err sqlite_heft_stacks(struct sqlite_storage *s, const struct sql_ids *stacks,
                            struct error *err);
enum err sqlite_heft_cluster(struct sqlite_storage *s, int64_t cluster_id, struct error *err);

/* The heaviest stacks with reports of a cluster that has tables of its own, of equal ones the first. */
enum err sqlite_heaviest(struct sqlite_reader *r, int64_t cluster_id, size_t limit,
                         struct arena *arena, int64_t **ret_ids, size_t *ret_count,
                         struct error *err);

/* Weight to heft; stack_heft(weighted) in SQL (an SQLite result code). */
int64_t sqlite_heft_of(int64_t weighted);
int sqlite_heft_functions(sqlite3 *db);

#endif
