#include "server/analysis/significance.h"

#include <math.h>
#include <stdlib.h>

#define FRACTION_STEPS 100000
#define FRACTION_TINY  1e-300
#define INVERSE_STEPS  200

/* The continued fraction of the incomplete beta function, by Lentz's method. */
static double beta_fraction(double x, double a, double b)
{
    double c = 1;
    double d = 1 - (a + b) * x / (a + 1);
    d = 1 / (fabs(d) < FRACTION_TINY ? FRACTION_TINY : d);
    double h = d;
    for (int m = 1; m < FRACTION_STEPS; m++) {
        const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
        const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
        const double steps[] = {even, odd};
        double change = 1;
        for (int i = 0; i < 2; i++) {
            d = 1 + steps[i] * d;
            c = 1 + steps[i] / c;
            d = 1 / (fabs(d) < FRACTION_TINY ? FRACTION_TINY : d);
            c = fabs(c) < FRACTION_TINY ? FRACTION_TINY : c;
            change = c * d;
            h *= change;
        }
        if (fabs(change - 1) < 1e-15)
            break;
    }
    return h;
}

/* lgamma() writes the sign to a variable of all threads. */
double significance_log_gamma(double x)
{
    int sign;
    return lgamma_r(x, &sign);
}

double significance_beta(double x, double a, double b)
{
    if (!(x > 0))
        return 0;
    if (x >= 1)
        return 1;
    /* The fraction is quick on the near side of the mean only. */
    if (x > (a + 1) / (a + b + 2))
        return 1 - significance_beta(1 - x, b, a);
    const double front = exp(significance_log_gamma(a + b) - significance_log_gamma(a) -
                             significance_log_gamma(b) + a * log(x) + b * log1p(-x)) /
                         a;
    return front * beta_fraction(x, a, b);
}

/* The x with I_x(a, b) = p. */
static double beta_inverse(double p, double a, double b)
{
    double low = 0;
    double high = 1;
    for (int i = 0; i < INVERSE_STEPS && high - low > 1e-15 * high; i++) {
        const double mid = (low + high) / 2;
        if (significance_beta(mid, a, b) < p)
            low = mid;
        else
            high = mid;
    }
    return (low + high) / 2;
}

static double odds(double share)
{
    return share >= 1 ? INFINITY : share / (1 - share);
}

void significance_compare(const struct event_rate *first, const struct event_rate *second,
                          double dispersion, double confidence, struct rate_comparison *ret)
{
    *ret = (struct rate_comparison){NAN, NAN, NAN, 1};
    if (!(first->exposure > 0) || !(second->exposure > 0))
        return;
    const double phi = dispersion > 1 ? dispersion : 1;
    const double k = second->count / phi;
    const double rest = first->count / phi;
    const double scale = first->exposure / second->exposure;
    const double share = second->exposure / (first->exposure + second->exposure);
    const double alpha = (1 - confidence) / 2;
    ret->low = 0;
    ret->high = INFINITY;
    if (!(k + rest > 0))
        return;
    ret->ratio = first->count > 0 ? second->count / first->count * scale : INFINITY;
    const double above = k > 0 ? significance_beta(share, k, rest + 1) : 1;
    const double below = rest > 0 ? significance_beta(1 - share, rest, k + 1) : 1;
    ret->p = fmin(1, 2 * fmin(above, below));
    if (k > 0)
        ret->low = odds(beta_inverse(alpha, k, rest + 1)) * scale;
    if (rest > 0)
        ret->high = odds(beta_inverse(1 - alpha, k + 1, rest)) * scale;
}

double significance_dispersion(const double *counts, const double *exposures, size_t n)
{
    double count = 0;
    double exposure = 0;
    double chi2 = 0;
    size_t parts = 0;
    for (size_t i = 0; i < n; i++) {
        if (!(exposures[i] > 0))
            continue;
        count += counts[i];
        exposure += exposures[i];
        parts++;
    }
    if (parts < SIGNIFICANCE_MIN_PARTS || count < SIGNIFICANCE_MIN_EVENTS)
        return 1;
    for (size_t i = 0; i < n; i++) {
        if (!(exposures[i] > 0))
            continue;
        const double expected = count * exposures[i] / exposure;
        chi2 += (counts[i] - expected) * (counts[i] - expected) / expected;
    }
    return fmax(1, chi2 / (double)(parts - 1));
}

struct ranked {
    double p;
    size_t at;
};

static int by_p(const void *a, const void *b)
{
    const struct ranked *x = a;
    const struct ranked *y = b;
    if (x->p != y->p)
        return x->p < y->p ? -1 : 1;
    return x->at < y->at ? -1 : x->at > y->at;
}

bool significance_adjust(const double *p, size_t n, double *ret_q)
{
    struct ranked *order = calloc(n + 1, sizeof(*order));
    double least = 1;
    if (!order)
        return false;
    for (size_t i = 0; i < n; i++)
        order[i] = (struct ranked){p[i], i};
    qsort(order, n, sizeof(*order), by_p);
    for (size_t i = n; i-- > 0;) {
        least = fmin(least, order[i].p * (double)n / (double)(i + 1));
        ret_q[order[i].at] = least;
    }
    free(order);
    return true;
}

enum rate_verdict significance_verdict(const struct rate_comparison *c, double q)
{
    if (isnan(c->low))
        return RATE_UNCLEAR;
    if (q < SIGNIFICANCE_LEVEL && c->p < SIGNIFICANCE_LEVEL)
        return c->low > 1 ? RATE_HIGHER : RATE_LOWER;
    if (c->low > 1 / SIGNIFICANCE_SAME && c->high < SIGNIFICANCE_SAME)
        return RATE_SAME;
    return RATE_UNCLEAR;
}

const char *rate_verdict_name(enum rate_verdict v)
{
    static const char *const names[] = {
        [RATE_UNCLEAR] = "unclear",
        [RATE_SAME] = "same",
        [RATE_HIGHER] = "higher",
        [RATE_LOWER] = "lower",
    };
    return names[v];
}
