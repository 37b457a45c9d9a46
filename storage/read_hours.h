/*
 * read_hours - reports by the hour, of an app or a cluster.
 *
 * Purpose: short-term trends and alerts. Hours are UTC, by the effective time of reports, and follow
 * a stack that moves to another cluster.
 *
 * Invariants: kept for HOURS_DAYS days; inside of them the hours of a day add up to what the
 * counters say of that day.
 *
 * Threads, memory: as storage_read.h says.
 */
#ifndef STALLSYM_STORAGE_READ_HOURS_H
#define STALLSYM_STORAGE_READ_HOURS_H

#include "storage/hours.h"
#include "storage/storage_read.h"

/* 35 days, and the day ahead that devices may be. */
#define READ_HOURS_MAX ((HOURS_DAYS + 2) * HOURS_A_DAY)

struct hour_row {
    int64_t hour; /* since 1970: its first millisecond is hour * HOUR_MS */
    uint64_t count;
    double weighted;
    uint64_t stall_ms;
    uint64_t weighted_stall_ms;
};

/* `count` (1 to READ_HOURS_MAX) hours from `begin` on, those without reports too. `cluster_id` (an
 * alias will do) 0: of the app, or of all. Of `f` only bundle id, version, build and kind may be
 * given; its times are not looked at. Nothing is known of hours before *ret_known (INT64_MIN: of
 * all): they are zeros. */
enum err read_hours(struct storage_reader *r, uint64_t cluster_id, const struct read_filter *f,
                    int64_t begin, size_t count, struct arena *arena, struct hour_row **ret,
                    int64_t *ret_known, struct error *err);

#endif
