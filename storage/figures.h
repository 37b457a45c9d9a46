/*
 * figures - counts, weights and durations, as both backends add them up.
 *
 * Purpose: a report adds (1, weight, duration); sums are kept as integers, so that the order in
 * which reports come, and moving a stack from one cluster to another and back, leave no trace.
 *
 * Invariants: weights are millionths of a report, 1 to FIGURES_WEIGHT_MAX; durations that enter a
 * sum are 0 to FIGURES_DURATION_MAX ms (what a report said is stored as it is), and a weight adds
 * no more than FIGURES_ABOVE_MAX to one: clients choose both, and no sum may come near 2^63 by
 * fewer than 900 million reports. A report without a duration adds no stall time and is in no
 * percentile. Sums of sums stop growing at FIGURES_SUM_MAX.
 *
 * Threads: values. Memory: the histogram's (figures_done).
 */
#ifndef STALLSYM_STORAGE_FIGURES_H
#define STALLSYM_STORAGE_FIGURES_H

#include <stdint.h>

#include "base/histogram.h"
#include "storage/storage_read.h"

#define FIGURES_WEIGHT_ONE   1000000
#define FIGURES_WEIGHT_MAX   10000.0
#define FIGURES_DURATION_MAX ((int64_t)1000000000)
#define FIGURES_ABOVE_MAX    ((int64_t)1000000000)
#define FIGURES_SUM_MAX      ((int64_t)4000000000000000000)

struct figures {
    int64_t count;
    int64_t weighted;
    int64_t stall_ms;
    int64_t above_ms; /* what weights above 1 add to it: stall_ms + above_ms is the weighted sum */
    struct histogram hist;
};

void figures_done(struct figures *f);
/* `duration_ms` below 0: none. False without memory. */
bool figures_add(struct figures *f, int64_t weighted, int64_t duration_ms);
bool figures_merge(struct figures *f, const struct figures *other);
void figures_show(const struct figures *f, struct duration_figures *ret);

/* Of two sums, cut at plus and minus FIGURES_SUM_MAX. */
int64_t figures_sum(int64_t a, int64_t b);
/* All that a row of sums has but its histogram. */
void figures_add_sums(struct figures *f, int64_t count, int64_t weighted, int64_t stall_ms,
                      int64_t above_ms);
/* What a duration adds to stall time. */
int64_t figures_stall(int64_t duration_ms);
/* What its weight (millionths) adds to that, rounded down, at most FIGURES_ABOVE_MAX. */
int64_t figures_above(int64_t weighted, int64_t duration_ms);
/* A report's weight in millionths. */
int64_t figures_weight(double weight);
/* A share of the time in millionths, 0 to 1,000,000. */
int64_t figures_confidence(double share);
/* Weeks begin on Monday; week 0 holds 1970-01-01. */
int32_t figures_week(int32_t day);

#endif
