/*
 * sqlite_figures - one way to look at all four sources of sums.
 *
 * Purpose: counters, weekly pairs and raw reports as rows of one shape, filtered, of one cluster or
 * of an app; what clusters, breakdowns and trends are added up from.
 *
 * Threads: the reader's. Memory: a row is valid inside the callback only.
 */
#ifndef STALLSYM_STORAGE_SQLITE_FIGURES_H
#define STALLSYM_STORAGE_SQLITE_FIGURES_H

#include "storage/figures.h"
#include "storage/read_plan.h"
#include "storage/sqlite_read.h"

struct figure_row {
    int64_t build_id, device_id, os_id, page_id; /* rows of dict; 0 where the source has none */
    int64_t day;                                 /* of counters and reports; the week of pairs */
    int64_t time_ms;                             /* of reports */
    int64_t count, weighted, stall_ms, above_ms;
    const void *hist;
    size_t hist_len;
    int64_t duration_ms; /* of reports, in place of a histogram; -1: none */
    const void *hours;   /* of counters, storage/hours.h */
    size_t hours_len;
    int64_t kind;                 /* enum report_kind; -1 where the source has none */
    const char *category;         /* of its cluster; NULL where none is asked for */
    int64_t cpu, memory, path_id; /* of reports; -1 and 0: none */
};

typedef enum err figure_visit(void *ctx, const struct figure_row *row, struct error *err);

/* In place of a cluster's id: whole apps (or, when the filter speaks of clusters, all that match),
 * all clusters that match. */
#define FIGURES_APPS     ((int64_t)0)
#define FIGURES_CLUSTERS ((int64_t)-1)

enum err sqlite_scan_figures(struct sqlite_reader *r, enum read_source source, int64_t cluster_id,
                             const struct read_filter *f, figure_visit *visit, void *ctx,
                             struct error *err);

/* Rows of usage: `stall_ms` is foreground time, `weighted` launches, the count 0. `beside`: where the
 * figures are from; usage goes back no further than they do. */
enum err sqlite_scan_usage(struct sqlite_reader *r, enum usage_source source,
                           enum read_source beside, const struct read_filter *f,
                           figure_visit *visit, void *ctx, struct error *err);

/* A row of one of the figures_* queries. */
void sqlite_figure_row(sqlite3_stmt *st, bool reports, struct figure_row *row);
bool figure_row_add(struct figures *f, const struct figure_row *row);

/* Values that queries by filter begin with: ?1 bundle id, ?2 version, ?3 build, ?4 device, ?5 OS
 * version, ?6 page, ?7 kind, ?8 begin and ?9 end (times of reports, days, or weeks, by source),
 * ?10 least duration, ?11 smallest report id. */
#define FILTER_VALUES   11
#define FILTER_FIRST_ID 10 /* where that one is */
enum err sqlite_filter_values(struct sqlite_reader *r, const struct read_filter *f,
                              enum read_source source, struct sql_value out[FILTER_VALUES],
                              struct error *err);

#endif
