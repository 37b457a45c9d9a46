#include "storage/figures.h"

#include <math.h>

void figures_done(struct figures *f)
{
    if (f)
        histogram_done(&f->hist);
}

bool figures_add(struct figures *f, int64_t weighted, int64_t duration_ms)
{
    f->count++;
    f->weighted = figures_sum(f->weighted, weighted);
    if (duration_ms < 0)
        return true;
    f->stall_ms = figures_sum(f->stall_ms, figures_stall(duration_ms));
    f->above_ms = figures_sum(f->above_ms, figures_above(weighted, duration_ms));
    return histogram_add(&f->hist, figures_stall(duration_ms), 1);
}

int64_t figures_sum(int64_t a, int64_t b)
{
    int64_t sum;
    if (__builtin_add_overflow(a, b, &sum))
        sum = a < 0 ? INT64_MIN : INT64_MAX;
    if (sum > FIGURES_SUM_MAX)
        return FIGURES_SUM_MAX;
    return sum < -FIGURES_SUM_MAX ? -FIGURES_SUM_MAX : sum;
}

void figures_add_sums(struct figures *f, int64_t count, int64_t weighted, int64_t stall_ms,
                      int64_t above_ms)
{
    f->count = figures_sum(f->count, count);
    f->weighted = figures_sum(f->weighted, weighted);
    f->stall_ms = figures_sum(f->stall_ms, stall_ms);
    f->above_ms = figures_sum(f->above_ms, above_ms);
}

int64_t figures_above(int64_t weighted, int64_t duration_ms)
{
    const int64_t above = weighted - FIGURES_WEIGHT_ONE;
    if (above <= 0)
        return 0;
    const __int128 added = (__int128)above * figures_stall(duration_ms) / FIGURES_WEIGHT_ONE;
    return added < FIGURES_ABOVE_MAX ? (int64_t)added : FIGURES_ABOVE_MAX;
}

int64_t figures_stall(int64_t duration_ms)
{
    if (duration_ms < 0)
        return 0;
    return duration_ms < FIGURES_DURATION_MAX ? duration_ms : FIGURES_DURATION_MAX;
}

bool figures_merge(struct figures *f, const struct figures *other)
{
    figures_add_sums(f, other->count, other->weighted, other->stall_ms, other->above_ms);
    return histogram_merge(&f->hist, &other->hist);
}

void figures_show(const struct figures *f, struct duration_figures *ret)
{
    ret->count = (uint64_t)f->count;
    ret->weighted = (double)f->weighted / FIGURES_WEIGHT_ONE;
    ret->stall_ms = (uint64_t)f->stall_ms;
    ret->weighted_stall_ms = (uint64_t)(f->stall_ms + f->above_ms);
    ret->p50_ms = histogram_quantile(&f->hist, 0.5);
    ret->p90_ms = histogram_quantile(&f->hist, 0.9);
    ret->p99_ms = histogram_quantile(&f->hist, 0.99);
}

int64_t figures_weight(double weight)
{
    if (!(weight >= 1))
        weight = 1;
    if (weight > FIGURES_WEIGHT_MAX)
        weight = FIGURES_WEIGHT_MAX;
    return llround(weight * FIGURES_WEIGHT_ONE);
}

int64_t figures_confidence(double share)
{
    if (!(share > 0))
        return 0;
    return share < 1 ? llround(share * FIGURES_WEIGHT_ONE) : FIGURES_WEIGHT_ONE;
}

int32_t figures_week(int32_t day)
{
    int32_t monday = day + 3;
    return (monday >= 0 ? monday : monday - 6) / 7;
}
