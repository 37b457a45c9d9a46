/*
 * compare - two versions of an app, cluster by cluster.
 *
 * Purpose: rates, their ratio with an interval, and whether the difference is more than chance
 * (significance.h).
 *
 * Invariants: the test is about reports as received; exposures are those of the sample they came
 * from, so that sampling is undone in rates without feigning more reports than there were. Counts of
 * days that vary more than chance does widen the interval (`dispersion`). q is corrected for the
 * number of clusters.
 *
 * Threads: pure. Memory: the caller's.
 */
#ifndef STALLSYM_ANALYSIS_COMPARE_H
#define STALLSYM_ANALYSIS_COMPARE_H

#include <stdint.h>

#include "base/error.h"
#include "server/analysis/significance.h"

#define COMPARE_DAYS_MAX 400 /* for the dispersion: later days of a side are not looked at */

struct compare_side {
    double count, weighted;
    double stall_ms, weighted_stall_ms;
};

/* Reports of a day, of a cluster and of the whole app. */
struct compare_day {
    int side;
    double count;
    double app_count;
};

struct compare_result {
    uint64_t id; /* the caller's */
    struct compare_side sides[2];
    double rates[2]; /* weighted reports by exposure */
    double dispersion;
    struct rate_comparison rate;
    double q;
    enum rate_verdict verdict;
};

/* Fills rates, dispersion, rate and, for a start, q = p. `exposures`: of both versions, sampling
 * undone (hours of use; or weighted reports of the app). `sampled`: reports as received by weighted
 * ones, of the app's both versions. */
void compare_reckon(struct compare_result *r, const double exposures[2], const double sampled[2],
                    const struct compare_day *days, size_t day_count);
/* Corrects q for all of them and decides. */
enum err compare_decide(struct compare_result *results, size_t count, struct error *err);
/* For qsort: what differs first, by q; then the larger. */
int compare_order(const void *a, const void *b);

#endif
