/*
 * trend - series of a trend while they are added up.
 *
 * Purpose: shared by the backends: cells come in by the numbers of their group and point, go out as
 * series in order.
 *
 * Invariants: groups of equal text are one series; a group that was used without a report is one of
 * zeros.
 *
 * Threads: one owner. Memory: trend_sums_done(); the series in the arena.
 */
#ifndef STALLSYM_STORAGE_TREND_H
#define STALLSYM_STORAGE_TREND_H

#include "storage/breakdown.h"
#include "storage/read_trend.h"

/* Reports, or use: `groups` by the group's number with its text, `cells` by group and point. Of use,
 * `stall_ms` is foreground time. */
struct trend_parts {
    struct breakdown groups, cells;
};
void trend_parts_done(struct trend_parts *p);
/* Adds sums (no histograms) to group and cell; false without memory or above the cap. The entry of
 * the group, to be given its text. */
struct breakdown_entry *trend_add(struct trend_parts *p, int64_t group, int64_t point,
                                  const struct figures *sums);

/* `usage` NULL: not known. `usage_grouped`: its groups have texts of the same kind; else it has one
 * group that belongs to every series. */
enum err trend_make(const struct trend_query *q, struct trend_parts *sums,
                    const struct trend_parts *usage, bool usage_grouped, struct arena *arena,
                    struct trend *ret, struct error *err);

#endif
