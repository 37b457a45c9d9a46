/*
 * sqlite_stack_rows - the counters of stacks, row by row.
 *
 * Purpose: what moves with a stack, and what a cluster's own tables are made of (sqlite_rollup.h):
 * the rows of its three tables of counters in one form.
 *
 * Threads: the writer's. Memory: a row's bytes are SQLite's until the visit returns.
 */
#ifndef STALLSYM_STORAGE_SQLITE_STACK_ROWS_H
#define STALLSYM_STORAGE_SQLITE_STACK_ROWS_H

#include "storage/sqlite_counters.h"
#include "storage/sqlite_ranges.h"

/* A row of the stack ids[at]. */
typedef enum err stack_row_visit(void *ctx, size_t at, const struct fold_row *row,
                                 struct error *err);

/* `table`: FOLD_COUNTERS, FOLD_DEVICES or FOLD_PAGES. An error of a visit ends the rows. */
enum err sqlite_stack_rows(struct sqlite_storage *s, enum fold_table table,
                           const struct sql_ids *stacks, stack_row_visit *visit, void *ctx,
                           struct error *err);

#endif
