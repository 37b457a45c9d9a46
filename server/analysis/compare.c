#include "server/analysis/compare.h"

#include <math.h>
#include <stdlib.h>

/* The larger of both sides, each by its own days. */
static double dispersion_of(const struct compare_day *days, size_t count)
{
    double most = 1;
    for (int side = 0; side < 2; side++) {
        double counts[COMPARE_DAYS_MAX], exposures[COMPARE_DAYS_MAX];
        size_t n = 0;
        for (size_t i = 0; i < count && n < COMPARE_DAYS_MAX; i++) {
            if (days[i].side != side)
                continue;
            counts[n] = days[i].count;
            exposures[n++] = days[i].app_count;
        }
        most = fmax(most, significance_dispersion(counts, exposures, n));
    }
    return most;
}

void compare_reckon(struct compare_result *r, const double exposures[2], const double sampled[2],
                    const struct compare_day *days, size_t day_count)
{
    struct event_rate rates[2];
    r->dispersion = dispersion_of(days, day_count);
    for (int i = 0; i < 2; i++) {
        const struct compare_side *s = &r->sides[i];
        const double share = s->weighted > 0 ? s->count / s->weighted : sampled[i];
        rates[i] = (struct event_rate){s->count, exposures[i] * share};
        r->rates[i] = exposures[i] > 0 ? s->weighted / exposures[i] : (double)NAN;
    }
    significance_compare(&rates[0], &rates[1], r->dispersion, 0.95, &r->rate);
    r->q = r->rate.p;
    r->verdict = significance_verdict(&r->rate, r->q);
}

enum err compare_decide(struct compare_result *results, size_t count, struct error *err)
{
    double *p = calloc(2 * count + 1, sizeof(*p));
    if (!p)
        return error_set(err, ERR_NO_MEMORY, "no memory for a comparison");
    double *q = p + count;
    for (size_t i = 0; i < count; i++)
        p[i] = results[i].rate.p;
    const bool ok = significance_adjust(p, count, q);
    for (size_t i = 0; i < count && ok; i++) {
        results[i].q = q[i];
        results[i].verdict = significance_verdict(&results[i].rate, q[i]);
    }
    free(p);
    return ok ? ERR_OK : error_set(err, ERR_NO_MEMORY, "no memory for a comparison");
}

static int descending(double a, double b)
{
    return a == b ? 0 : a > b ? -1 : 1;
}

int compare_order(const void *a, const void *b)
{
    const struct compare_result *x = a;
    const struct compare_result *y = b;
    int c = descending(y->q, x->q);
    if (!c)
        c = descending(x->sides[0].weighted + x->sides[1].weighted,
                       y->sides[0].weighted + y->sides[1].weighted);
    return c ? c : (x->id > y->id) - (x->id < y->id);
}
