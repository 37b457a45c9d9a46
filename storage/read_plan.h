/*
 * read_plan - how a question is answered: from which table, in which order, from where on.
 *
 * Purpose: what both backends must decide alike: which sums can answer a filter and a breakdown,
 * how rows are ordered and cursors are written.
 *
 * Invariants: a table answers only what all its rows know about; raw reports know everything but
 * are kept for a while only.
 *
 * Threads: pure. Memory: texts in the caller's arena.
 */
#ifndef STALLSYM_STORAGE_READ_PLAN_H
#define STALLSYM_STORAGE_READ_PLAN_H

#include "storage/read_trend.h"
#include "storage/storage_read.h"

enum read_source {
    READ_COUNTERS,     /* stack, build, kind, day */
    READ_WEEK_DEVICES, /* stack, device, OS, week */
    READ_WEEK_PAGES,   /* stack, page, build, week */
    READ_REPORTS,
};

/* The table for a breakdown; BY_NONE twice: figures alone. */
enum read_source read_plan_source(const struct read_filter *f, enum breakdown_by by,
                                  enum breakdown_by by2);
/* For a trend. READ_COUNTERS for hours: those that stand with the counters. */
enum read_source read_plan_trend(const struct read_filter *f, enum trend_step step,
                                 enum breakdown_by group);
/* The same for usage, which knows nothing of kinds, durations and causes: there all use counts.
 * USAGE_UNKNOWN: a crossing that is not kept, or times that are no midnights. */
enum usage_source { USAGE_UNKNOWN, USAGE_DEVICES, USAGE_PAGES };
enum usage_source read_plan_usage(const struct read_filter *f, enum breakdown_by by,
                                  enum breakdown_by by2);
/* What of a filter usage is asked for beside reports, of which the oldest one that is kept came then
 * (INT64_MIN: all are, or they are not what is asked): that day's and later. */
struct read_filter read_plan_usage_filter(const struct read_filter *f, int64_t kept_ms);
/* What usage is split by when reports are split by `by`. */
enum breakdown_by read_plan_usage_by(enum breakdown_by by);
/* Figures of clusters: nothing filtered at all (the sums cached with clusters do), the counters by
 * day, or reports. */
bool read_plan_unfiltered(const struct read_filter *f);
enum read_source read_plan_clusters(const struct read_filter *f);

/* First and last+1 day or week of a filter, INT64_MIN/INT64_MAX when it is open. */
struct read_span {
    int64_t begin, end;
};
struct read_span read_plan_days(const struct read_filter *f);
struct read_span read_plan_weeks(const struct read_filter *f);
struct read_span read_plan_times(const struct read_filter *f);

/* "7.2.1 (7210)"; only what is given. NULL without memory. */
const char *read_version_label(struct arena *arena, const char *version, const char *build);

/* Cursors: a letter for the list and numbers. Parsing "" or NULL gives ret_started false. */
const char *read_cursor_make(struct arena *arena, char list, const int64_t *values, size_t count);
enum err read_cursor_parse(const char *cursor, char list, int64_t *values, size_t count,
                           bool *ret_started, struct error *err);

/* Order of lists: larger values first, then smaller ids. Below 0: a comes first. */
int read_order(int64_t value_a, uint64_t id_a, int64_t value_b, uint64_t id_b);

#endif
