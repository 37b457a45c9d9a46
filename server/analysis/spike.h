/*
 * spike - does a cluster happen far more often than it used to?
 *
 * Purpose: counts by the hour of the last days give a baseline for this hour of the day; counts of
 * the last three hours, by the minute, are held against it.
 *
 * The baseline of an hour is what the same hour and its two neighbours had on the days before,
 * outliers pulled in to a bound around their median, so that neither a daily rhythm is a spike nor
 * an old spike raises the bar. What was counted is taken as negative binomial: Poisson, widened by
 * how much the baseline's own counts scatter and by how few of them there are. A window that ends
 * now is a spike when it holds at least `min_count` reports, `factor` times what was expected, and
 * when that many would come by chance in less than one of ten million hours: every report is a look,
 * so of what is reported often each look has to be less likely.
 *
 * Measured (1,000 lives each, of 20 an hour 300; STALLSYM_SPIKE_LIVES of tests/unit/test_spike.c makes
 * the like): of steady clusters over 30 days none rings at 0.2 and 20 an hour, flat or with a daily
 * rhythm, and 1 of 3,000 at 2. Five times an hour's reports within ten minutes ring within them. A
 * lasting rate rings, in minutes:
 *
 *     reports an hour   a tenth   half   nine tenths of the lives
 *     2 -> 10              54      115      199
 *     2 -> 20              18       33       57
 *     20 -> 100             8       13       20
 *
 * 2 -> 10 cannot be had much sooner: ten minutes of it are 1.7 reports. The best test there is (CUSUM,
 * told both rates) needs 55 minutes in the middle when a fifth of the steady lives may ring, 67 when
 * one in thirty may, about 100 when one in two thousand may.
 *
 * Threads: pure functions. Memory: none.
 */
#ifndef STALLSYM_ANALYSIS_SPIKE_H
#define STALLSYM_ANALYSIS_SPIKE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SPIKE_SLOT_MS ((int64_t)60000)
#define SPIKE_SLOTS   180
#define SPIKE_HOURS   4  /* that the slots may lie in */
#define SPIKE_DAYS    14 /* that a baseline looks back */

struct spike_baseline {
    double rate;       /* reports an hour; < 0: too little is known */
    double error;      /* variance of `rate` */
    double dispersion; /* variance of an hour's count over its mean, at least 1 */
};

/* Hours since 1970; `counts` begins at `first_hour`, nothing is known before `known_hour`. At least
 * a day before `hour` must be known. */
struct spike_history {
    const uint64_t *counts;
    size_t count;
    int64_t first_hour, known_hour;
};
struct spike_baseline spike_baseline_of(const struct spike_history *h, int64_t hour);

struct spike_limits {
    double factor;
    uint64_t min_count;
};

struct spike {
    int64_t window_ms;
    uint64_t count;
    double expected;
};

/* `slots`: counts, oldest first; the last one is the slot that `now_ms` lies in. `bases`: of the hour
 * of `now_ms`, of the one before, and so on. True: the window that chance explains worst is in *ret. */
bool spike_find(const struct spike_baseline bases[SPIKE_HOURS], const uint64_t slots[SPIKE_SLOTS],
                int64_t now_ms, const struct spike_limits *limits, struct spike *ret);

/* Chance of at least `count` of a negative binomial distribution (Poisson when variance <= mean). */
double spike_tail(uint64_t count, double mean, double variance);

#endif
