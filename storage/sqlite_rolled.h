/*
 * sqlite_rolled - sums of clusters that need none of their stacks: the readers' side.
 *
 * Purpose: roll-ups (storage/sqlite_rollup.h) and the reports that came after them, as one.
 *
 * Invariants: what is read here is what the counters of the clusters' stacks add up to. The later
 * reports are read once a read and are as many as the writer lets wait.
 *
 * Threads: the reader's. Memory: the reader holds the later reports, until it is closed.
 */
#ifndef STALLSYM_STORAGE_SQLITE_ROLLED_H
#define STALLSYM_STORAGE_SQLITE_ROLLED_H

#include "storage/cube.h"
#include "storage/sqlite_figures.h"

/* Has the cluster tables of its own? */
enum err sqlite_is_rolled(struct sqlite_reader *r, int64_t cluster_id, bool *ret,
                          struct error *err);
/* The later reports of a cluster that are under the filter, as rows of the source (not of reports). */
enum err sqlite_scan_later(struct sqlite_reader *r, enum read_source source, int64_t cluster_id,
                           const struct read_filter *f, figure_visit *visit, void *ctx,
                           struct error *err);

/* Sums of clusters under a filter that counters can answer; clusters ascend, each with rows of its
 * cube and one for each later report. */
struct cube_scan {
    const struct read_filter *filter; /* what it says of apps and clusters is not looked at */
    const struct row_list *builds;    /* rows of dict in place of the filter's; NULL: those */
    bool days;                        /* each row's day is wanted */
    bool (*wants)(void *ctx, uint64_t cluster_id); /* NULL: all */
    enum err (*visit)(void *ctx, uint64_t cluster_id, const struct cube_row *row,
                      struct error *err);
    void *ctx;
};
/* *ret_known false: some cube cannot tell, and what was visited so far is for nothing. */
enum err sqlite_scan_cubes(struct sqlite_reader *r, const struct cube_scan *scan, bool *ret_known,
                           struct error *err);

/* Ids of an app's values (bundle_id NULL: of all apps) behind those of the list; NULL: any. */
enum err sqlite_dict_named(struct sqlite_reader *r, int kind, const char *bundle_id,
                           const char *value, const char *value2, struct row_list *ret,
                           struct error *err);

/* Stacks of a cluster that later reports have, each once. */
enum err sqlite_later_stacks(struct sqlite_reader *r, int64_t cluster_id, struct arena *arena,
                             const int64_t **ret, size_t *ret_count, struct error *err);

void sqlite_later_forget(struct sqlite_reader *r);
void sqlite_later_done(struct sqlite_reader *r);

#endif
