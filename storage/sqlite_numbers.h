/*
 * sqlite_numbers - the SQLite backend's side of read_hours.h and what belongs to it.
 *
 * Purpose: what sqlite_read_hours.c and sqlite_read_stack_weights.c define, and the reader's helpers that it shares.
 *
 * Threads: one reader, one thread. Memory: results in the caller's arena.
 */
#ifndef STALLSYM_STORAGE_SQLITE_NUMBERS_H
#define STALLSYM_STORAGE_SQLITE_NUMBERS_H

#include "storage/read_compare.h"
#include "storage/read_context.h"
#include "storage/read_hours.h"
#include "storage/read_stack_weights.h"
#include "storage/read_trend.h"
#include "storage/sqlite_read.h"

/* Ids of the newest reports (of a cluster, 0: of all) from `first` to below `below`, descending. */
enum err sqlite_report_ids(struct sqlite_reader *q, uint64_t cluster_id,
                           const struct read_filter *f, int64_t first, int64_t below, size_t limit,
                           struct row_list *ids, struct error *err);
/* The first day whose hours are known; INT32_MIN: all are. */
enum err sqlite_hours_known(struct sqlite_reader *r, int64_t *ret_day, struct error *err);
enum err sqlite_read_hours(struct storage_reader *base, uint64_t cluster_id,
                           const struct read_filter *f, int64_t begin, size_t count,
                           struct arena *arena, struct hour_row **ret, int64_t *ret_known,
                           struct error *err);
enum err sqlite_read_trend(struct storage_reader *r, const struct read_filter *f,
                           const struct trend_query *q, struct arena *arena, struct trend *ret,
                           struct error *err);
enum err sqlite_read_totals(struct storage_reader *r, const struct read_filter *f,
                            struct totals_row *ret, struct error *err);

enum err sqlite_read_stack_weights(struct storage_reader *base, uint64_t cluster_id,
                                   const struct read_filter *filters, size_t filter_count,
                                   struct arena *arena, stack_weight_visit *visit, void *ctx,
                                   struct breakdown_scope *ret_scopes, struct error *err);
enum err sqlite_read_context(struct storage_reader *r, uint64_t cluster_id,
                             const struct read_filter *f, enum breakdown_by by,
                             enum breakdown_by by2, struct arena *arena, struct context *ret,
                             struct error *err);
enum err sqlite_read_compare(struct storage_reader *r, const struct read_filter *f,
                             const char *const versions[2], struct arena *arena,
                             struct compare_cell **ret, size_t *ret_count, struct error *err);

#endif
