#include "server/analysis/spike.h"

#include <math.h>
#include <stdlib.h>

#include "server/analysis/significance.h"

#define CHANCE_MAX    1e-7 /* an hour, of one window */
#define HOURS_A_DAY   24
#define HOUR_MS       3600000.0
#define SLOTS_AN_HOUR (3600000 / SPIKE_SLOT_MS)
#define CELLS_MAX     (SPIKE_DAYS * 3)
#define PRIOR         0.5 /* of a report: no baseline is exactly zero */

double spike_tail(uint64_t count, double mean, double variance)
{
    double k = (double)count;
    if (k <= mean)
        return 1;
    if (mean <= 0)
        return 0;
    bool poisson = variance <= mean * (1 + 1e-9);
    double size = poisson ? 0 : mean * mean / (variance - mean);
    double q = poisson ? 0 : (variance - mean) / variance;
    double log_term = poisson ? k * log(mean) - mean - significance_log_gamma(k + 1)
                              : significance_log_gamma(k + size) - significance_log_gamma(size) -
                                    significance_log_gamma(k + 1) + size * log1p(-q) + k * log(q);
    double term = exp(log_term);
    double sum = 0;
    for (uint64_t i = count; term > sum * 1e-12 && term > 0; i++) {
        double j = (double)i;
        sum += term;
        term *= poisson ? mean / (j + 1) : (j + size) / (j + 1) * q;
    }
    return sum < 1 ? sum : 1;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Hours like this one on the days before. */
static size_t collect(const struct spike_history *h, int64_t hour, double cells[CELLS_MAX])
{
    size_t n = 0;
    for (int day = 1; day <= SPIKE_DAYS; day++) {
        for (int near = -1; near <= 1; near++) {
            int64_t at = hour - (int64_t)day * HOURS_A_DAY + near;
            if (at < h->known_hour || at < h->first_hour || at - h->first_hour >= (int64_t)h->count)
                continue;
            cells[n++] = (double)h->counts[at - h->first_hour];
        }
    }
    return n;
}

struct spike_baseline spike_baseline_of(const struct spike_history *h, int64_t hour)
{
    struct spike_baseline b = {.rate = -1, .dispersion = 1};
    double cells[CELLS_MAX];
    size_t n = collect(h, hour, cells);
    if (n < 3)
        return b;
    qsort(cells, n, sizeof(*cells), by_value);
    double median = n % 2 ? cells[n / 2] : (cells[n / 2 - 1] + cells[n / 2]) / 2;
    double bound = fmax(3 * median, median + 3 * sqrt(median) + 3);
    double sum = 0;
    double squares = 0;
    for (size_t i = 0; i < n; i++)
        sum += fmin(cells[i], bound);
    double mean = sum / (double)n;
    for (size_t i = 0; i < n; i++)
        squares += (fmin(cells[i], bound) - mean) * (fmin(cells[i], bound) - mean);
    b.rate = (sum + PRIOR) / (double)n;
    b.error = (sum + PRIOR) / ((double)n * (double)n);
    /* Only as far as the scatter is no chance itself: a Poisson's own ratio has that much error. */
    double ratio = mean > 0 ? squares / (double)(n - 1) / mean : 1;
    b.dispersion = fmax(1, ratio - 2 * sqrt(2 / (double)(n - 1)));
    return b;
}

/* What a window that ends now may expect. */
struct expected {
    double hours, mean;
    double error; /* standard error of the mean */
    double dispersion;
};

static void expect_slot(struct expected *e, const struct spike_baseline *b, double hours)
{
    e->hours += hours;
    e->mean += b->rate * hours;
    e->error += sqrt(b->error) * hours; /* neighbouring hours share most of their cells */
    e->dispersion = fmax(e->dispersion, b->dispersion);
}

bool spike_find(const struct spike_baseline bases[SPIKE_HOURS], const uint64_t slots[SPIKE_SLOTS],
                int64_t now_ms, const struct spike_limits *limits, struct spike *ret)
{
    static const int windows[] = {10, 15, 20, 30, 45, 60, 90, 120, SPIKE_SLOTS};
    const int64_t this_slot = now_ms / SPIKE_SLOT_MS;
    const int64_t this_hour = this_slot / SLOTS_AN_HOUR;
    struct expected e = {.dispersion = 1};
    double best = CHANCE_MAX;
    uint64_t count = 0;
    size_t w = 0;
    bool found = false;
    for (int i = 0; i < SPIKE_SLOTS; i++) {
        const struct spike_baseline *b = &bases[this_hour - (this_slot - i) / SLOTS_AN_HOUR];
        if (b->rate < 0)
            return false;
        expect_slot(&e, b, SPIKE_SLOT_MS / HOUR_MS);
        count += slots[SPIKE_SLOTS - 1 - i];
        if (i + 1 < windows[w])
            continue;
        w++;
        if (count < limits->min_count || (double)count < limits->factor * e.mean)
            continue;
        /* Each report is a look: what is reported often has more chances to ring. */
        double looks = fmax(1, e.mean / e.hours);
        double chance =
            looks * spike_tail(count, e.mean, e.mean * e.dispersion + e.error * e.error);
        if (chance < best) {
            best = chance;
            *ret = (struct spike){(i + 1) * SPIKE_SLOT_MS, count, e.mean};
            found = true;
        }
    }
    return found;
}
