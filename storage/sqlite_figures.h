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
    int64_t day;                                 /* of counters and reports */
    int64_t count, weighted, stall_ms, above_ms;
    const void *hist;
    size_t hist_len;
    int64_t duration_ms; /* of reports, in place of a histogram; -1: none */
};

typedef enum err figure_visit(void *ctx, const struct figure_row *row, struct error *err);

/* `cluster_id` 0: whole apps. */
enum err sqlite_scan_figures(struct sqlite_reader *r, enum read_source source, int64_t cluster_id,
                             const struct read_filter *f, figure_visit *visit, void *ctx,
                             struct error *err);

bool figure_row_add(struct figures *f, const struct figure_row *row);

/* Values that queries by filter begin with: ?1 bundle id, ?2 version, ?3 build, ?4 device, ?5 OS
 * version, ?6 page, ?7 kind, ?8 begin and ?9 end (times of reports, days, or weeks, by source),
 * ?10 least duration, ?11 smallest report id. */
#define FILTER_VALUES 11
enum err sqlite_filter_values(struct sqlite_reader *r, const struct read_filter *f,
                              enum read_source source, struct sql_value out[FILTER_VALUES],
                              struct error *err);

#endif
