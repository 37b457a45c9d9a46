/*
 * read_trend - counts, stall time and use over time, of an app or a cluster, in groups.
 *
 * Purpose: series for charts, with a point for every day, hour or week, reports or not.
 *
 * Invariants: groups are ordered by their weighted counts, largest first; what is beyond the cap is
 * one group more, "(other)". The points of a series add up to its total. Days and weeks of builds
 * and kinds are kept for ever, hours of them for HOURS_DAYS; what else is asked for comes from raw
 * reports, inside their retention: `scope` says so.
 *
 * Threads, memory: as storage_read.h says.
 */
#ifndef STALLSYM_STORAGE_READ_TREND_H
#define STALLSYM_STORAGE_READ_TREND_H

#include "storage/storage_read.h"

#define TREND_POINTS_MAX 1000
#define TREND_GROUPS_MAX 50
#define TREND_OTHER      "(other)"

enum trend_step { TREND_DAY, TREND_HOUR, TREND_WEEK };

struct trend_query {
    uint64_t cluster_id; /* 0: the app; an alias will do */
    enum trend_step step;
    enum breakdown_by group; /* BY_NONE: one series; never BY_DAY */
    int64_t begin;           /* number of the first day, hour or week (Mondays) since 1970 */
    size_t points;           /* 1 to TREND_POINTS_MAX */
    size_t groups;           /* 1 to TREND_GROUPS_MAX, "(other)" not counted */
};

struct trend_sums {
    uint64_t count;
    double weighted;
    uint64_t stall_ms;
    uint64_t weighted_stall_ms;
    uint64_t foreground_ms; /* use of the app with that value, sampling undone */
};

struct trend_series {
    const char *value; /* NULL: not grouped */
    struct trend_sums total;
    struct trend_sums *points; /* as many as asked for */
};

struct trend {
    struct trend_series *series; /* not grouped: exactly one */
    size_t count;
    bool usage_known; /* false: foreground_ms is 0 everywhere */
    struct breakdown_scope scope;
};

/* First millisecond of a step. */
int64_t trend_time(enum trend_step step, int64_t number);
int64_t trend_number(enum trend_step step, int64_t ms);

/* The filter's times are not looked at. */
enum err read_trend(struct storage_reader *r, const struct read_filter *f,
                    const struct trend_query *q, struct arena *arena, struct trend *ret,
                    struct error *err);

/* All that the filter leaves, and the use of the app beside it. Category, state and text, which
 * speak of clusters, are not looked at: what a cluster's share is of, so from the same source as its
 * figures (read_plan_clusters). */
struct totals_row {
    struct duration_figures figures;
    struct usage_figures usage;
};
enum err read_totals(struct storage_reader *r, const struct read_filter *f, struct totals_row *ret,
                     struct error *err);

#endif
