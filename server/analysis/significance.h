/*
 * significance - whether two rates differ, or only look as if they did.
 *
 * Purpose: "went up" must not be noise. Two counts of events, each over its exposure (hours of use,
 * or all reports), are compared by the exact conditional test: of a + b events, b are those of the
 * second, by a binomial law with the second's share of the exposure, if the rates are the same.
 *
 * Invariants: p-values are two-sided (twice the smaller tail, at most 1), intervals those of Clopper
 * and Pearson, so that p < 1 - confidence just when the interval leaves 1 out. Events that come in
 * clumps (one device that stalls all day) make counts vary more than the law says: `dispersion`, 1
 * or more, is by how much; counts are divided by it. Many questions asked at once need
 * significance_adjust().
 *
 * Threads: pure. Memory: none but the caller's.
 */
#ifndef STALLSYM_ANALYSIS_SIGNIFICANCE_H
#define STALLSYM_ANALYSIS_SIGNIFICANCE_H

#include <stdbool.h>
#include <stddef.h>

struct event_rate {
    double count;    /* events, >= 0 */
    double exposure; /* what they are divided by, > 0 */
};

struct rate_comparison {
    double ratio; /* of the second rate to the first; INFINITY when only the first is 0, NAN when
                         both are */
    double low, high; /* interval of the ratio; high may be INFINITY */
    double p;
};

/* `confidence` of the interval, 0.95 for instance. Exposures that are not above 0: all NAN, p 1. */
void significance_compare(const struct event_rate *first, const struct event_rate *second,
                          double dispersion, double confidence, struct rate_comparison *ret);

/* How much more `counts` vary than events do that come one by one at one rate over `exposures`:
 * Pearson's chi square by its degrees of freedom, at least 1. Parts without exposure are left out;
 * fewer than MIN_PARTS, or fewer than MIN_EVENTS events: 1. */
#define SIGNIFICANCE_MIN_PARTS  4
#define SIGNIFICANCE_MIN_EVENTS 20
double significance_dispersion(const double *counts, const double *exposures, size_t n);

/* Benjamini and Hochberg: of the questions with q below x a share of x at most, on average, is
 * answered wrongly. In the order of `p`. False without memory. */
bool significance_adjust(const double *p, size_t n, double *ret_q);

/* The logarithm of the gamma function of x > 0, without lgamma()'s global. */
double significance_log_gamma(double x);
/* The regularised incomplete beta function I_x(a, b); a, b > 0. */
double significance_beta(double x, double a, double b);

/* What a comparison says. Same: the whole interval is within SIGNIFICANCE_SAME of 1. */
enum rate_verdict { RATE_UNCLEAR, RATE_SAME, RATE_HIGHER, RATE_LOWER };
#define SIGNIFICANCE_SAME  1.25
#define SIGNIFICANCE_LEVEL 0.05
/* `q`: p, or what significance_adjust() made of it. */
enum rate_verdict significance_verdict(const struct rate_comparison *c, double q);
const char *rate_verdict_name(enum rate_verdict v);

#endif
