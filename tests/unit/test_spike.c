#include "server/analysis/spike.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/unit.h"

#define HOUR_MS   ((int64_t)3600000)
#define DAY_MS    (24 * HOUR_MS)
#define DAYS      45
#define LIVES_MAX 10000
#define BEGIN     (INT64_C(20454) * DAY_MS)

/* A simulated cluster: reports by time, ascending. */
struct life {
    uint64_t random;
    int64_t *times;
    size_t count, cap;
    uint64_t hours[DAYS * 24];
};

static double draw(struct life *l)
{
    l->random = l->random * 6364136223846793005u + 1442695040888963407u;
    return ((double)(l->random >> 11) + 0.5) / 9007199254740992.0;
}

static void add(struct life *l, int64_t at)
{
    if (l->count == l->cap) {
        l->cap = l->cap ? l->cap * 2 : 4096;
        l->times = realloc(l->times, l->cap * sizeof(*l->times));
        ck_assert_ptr_nonnull(l->times);
    }
    l->times[l->count++] = at;
    l->hours[(at - BEGIN) / HOUR_MS]++;
}

/* Reports an hour at that time: a day's rhythm between (1 - depth) and (1 + depth), times `burst`
 * inside [from, to). */
struct rates {
    double mean, depth, burst;
    int64_t from, to;
};

static double rate_at(const struct rates *r, int64_t at)
{
    double phase = (double)(at % DAY_MS) / (double)DAY_MS * 2 * 3.14159265358979;
    double rate = r->mean * (1 + r->depth * sin(phase));
    return at >= r->from && at < r->to ? rate * r->burst : rate;
}

/* A Poisson process by thinning, of whole days. */
static void live(struct life *l, const struct rates *r, int64_t days, uint64_t seed)
{
    double top = r->mean * (1 + r->depth) * fmax(1, r->burst);
    l->random = seed * 0x9e3779b97f4a7c15u + 1;
    l->count = 0;
    memset(l->hours, 0, sizeof(l->hours));
    for (double at = 0;;) {
        at -= log(draw(l)) / top * (double)HOUR_MS;
        int64_t ms = BEGIN + (int64_t)at;
        if (at >= (double)(days * DAY_MS))
            return;
        if (draw(l) * top < rate_at(r, ms))
            add(l, ms);
    }
}

/* Looks after every report, as often as anything can change for the worse; the time of the first
 * spike, 0: none. Counts of hours are those known at that time. */
static int64_t first_spike(const struct life *l, int64_t since, const struct spike_limits *limits,
                           struct spike *ret)
{
    struct spike_baseline bases[SPIKE_HOURS];
    int64_t base_hour = -1;
    size_t oldest = 0;
    const struct spike_history h = {l->hours, DAYS * 24, BEGIN / HOUR_MS, BEGIN / HOUR_MS};
    for (size_t i = 0; i < l->count; i++) {
        int64_t now = l->times[i];
        uint64_t slots[SPIKE_SLOTS] = {0};
        if (now < since)
            continue;
        if (now / HOUR_MS != base_hour) {
            base_hour = now / HOUR_MS;
            for (int back = 0; back < SPIKE_HOURS; back++)
                bases[back] = spike_baseline_of(&h, base_hour - back);
        }
        while (l->times[oldest] / SPIKE_SLOT_MS <= now / SPIKE_SLOT_MS - SPIKE_SLOTS)
            oldest++;
        for (size_t k = oldest; k <= i; k++)
            slots[SPIKE_SLOTS - 1 - (now / SPIKE_SLOT_MS - l->times[k] / SPIKE_SLOT_MS)]++;
        if (spike_find(bases, slots, now, limits, ret))
            return now;
    }
    return 0;
}

static const struct spike_limits limits = {.factor = 3, .min_count = 10};

START_TEST(tails)
{
    /* Exact values of the distributions. */
    ck_assert(fabs(spike_tail(10, 2, 2) / 4.649808e-5 - 1) < 1e-5);
    ck_assert(fabs(spike_tail(1, 0.5, 0.5) / 0.3934693403 - 1) < 1e-9);
    ck_assert(fabs(spike_tail(3, 2, 2) / 0.3233235838 - 1) < 1e-9);
    /* Size 2, success chance 1/2: mean 2, variance 4; P(>= 3) = 5/16. */
    ck_assert(fabs(spike_tail(3, 2, 4) / 0.3125 - 1) < 1e-9);
    ck_assert(spike_tail(2, 2, 2) == 1 && spike_tail(0, 0, 0) == 1);
    ck_assert(spike_tail(1, 0, 0) == 0);
    ck_assert(spike_tail(1000000, 1000, 1000) == 0);
    ck_assert(spike_tail(100, 10, 10) < spike_tail(100, 10, 30));
}
END_TEST

START_TEST(baselines)
{
    uint64_t hours[15 * 24] = {0};
    const struct spike_history h = {hours, 15 * 24, 1000, 1000};
    int64_t now = 1000 + 14 * 24 + 5;
    for (size_t i = 0; i < sizeof(hours) / sizeof(hours[0]); i++)
        hours[i] = 2;
    struct spike_baseline b = spike_baseline_of(&h, now);
    ck_assert(b.rate > 1.99 && b.rate < 2.05 && b.dispersion == 1);
    /* A spike of the past is pulled in. */
    hours[13 * 24 + 5] = 500;
    b = spike_baseline_of(&h, now);
    ck_assert(b.rate > 1.99 && b.rate < 2.3);
    /* A day's history, and less. */
    struct spike_history young = h;
    young.known_hour = now - 25;
    ck_assert(spike_baseline_of(&young, now).rate >= 0);
    young.known_hour = now - 20;
    ck_assert(spike_baseline_of(&young, now).rate < 0);
}
END_TEST

/* As many lives of each kind as STALLSYM_SPIKE_LIVES says: for figures as those of spike.h. */
static int lives_of(int usual)
{
    const char *text = getenv("STALLSYM_SPIKE_LIVES");
    long n = text ? strtol(text, NULL, 10) : 0;
    return n > 0 && n <= LIVES_MAX ? (int)n : usual;
}

/* Of many lives of 30 days none rings: two an hour, flat, with a daily rhythm, and larger ones. Of a
 * thousand, one or two may. */
START_TEST(steady_ones_never_ring)
{
    static const struct rates kinds[] = {
        {2, 0, 1, 0, 0},  {2, 0.6, 1, 0, 0},  {2, 0.9, 1, 0, 0},   {0.2, 0.5, 1, 0, 0},
        {20, 0, 1, 0, 0}, {20, 0.8, 1, 0, 0}, {100, 0.9, 1, 0, 0},
    };
    struct life l = {0};
    for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++) {
        int lives = lives_of(kinds[k].mean > 50 ? 2 : kinds[k].mean > 10 ? 6 : 60);
        int rung = 0;
        for (int i = 0; i < lives; i++) {
            struct spike s;
            live(&l, &kinds[k], 30, (uint64_t)(k * 1000 + (size_t)i));
            int64_t at = first_spike(&l, BEGIN, &limits, &s);
            rung += at != 0;
            ck_assert_msg(
                rung <= lives / 300, "kind %zu, life %d: %llu of %.2f expected within %lld min", k,
                i, (unsigned long long)s.count, s.expected, (long long)(s.window_ms / 60000));
        }
        printf("%g an hour, rhythm %g: %d of %d lives of 30 days ring\n", kinds[k].mean,
               kinds[k].depth, rung, lives);
    }
    free(l.times);
}
END_TEST

/* What an hour has, five times, within ten minutes, at any hour of a day with a rhythm. */
START_TEST(a_fivefold_hour_rings_within_ten_minutes)
{
    const struct rates r = {2, 0.5, 1, 0, 0};
    struct life l = {0};
    for (int i = 0; i < 48; i++) {
        struct spike s;
        struct life spiked = {0};
        int64_t at = BEGIN + 15 * DAY_MS + i * (HOUR_MS + 17 * 60000);
        live(&l, &r, 30, (uint64_t)i + 77);
        size_t sent = 0;
        for (size_t k = 0; k < l.count; k++) {
            while (sent < 10 && at + (int64_t)sent * 60000 <= l.times[k])
                add(&spiked, at + (int64_t)sent++ * 60000);
            add(&spiked, l.times[k]);
        }
        int64_t rung = first_spike(&spiked, BEGIN, &limits, &s);
        ck_assert_msg(rung >= at && rung <= at + 10 * 60000, "spike %d: after %lld s", i,
                      (long long)((rung - at) / 1000));
        free(spiked.times);
    }
    free(l.times);
}
END_TEST

static int by_time(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a;
    int64_t y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Minutes until a lasting rate rings: a tenth, the middle, nine tenths, and the worst. */
static void delays(double mean, double depth, double burst, int64_t ret[4])
{
    static int64_t after[LIVES_MAX];
    const int lives = lives_of(40);
    struct life l = {0};
    for (int i = 0; i < lives; i++) {
        struct spike s;
        int64_t at = BEGIN + 20 * DAY_MS + (int64_t)(i % 39) * 37 * 60000;
        const struct rates r = {mean, depth, burst, at, at + DAY_MS};
        live(&l, &r, 22, (uint64_t)i + 4242);
        int64_t rung = first_spike(&l, at, &limits, &s);
        ck_assert_msg(rung >= at, "life %d did not ring", i);
        after[i] = (rung - at) / 60000;
    }
    qsort(after, (size_t)lives, sizeof(*after), by_time);
    ret[0] = after[lives / 10];
    ret[1] = after[lives / 2];
    ret[2] = after[lives * 9 / 10];
    ret[3] = after[lives - 1];
    printf("%g times %g an hour, rhythm %g: after %lld, %lld, %lld min, worst %lld\n", burst, mean,
           depth, (long long)ret[0], (long long)ret[1], (long long)ret[2], (long long)ret[3]);
    free(l.times);
}

START_TEST(a_lasting_rate_rings)
{
    int64_t slow[4], flat[4], busy[4], huge[4];
    delays(2, 0.5, 5, slow);
    delays(2, 0, 5, flat);
    delays(30, 0.5, 5, busy);
    delays(2, 0.5, 50, huge);
    ck_assert_int_le(slow[1], 140);
    ck_assert_int_le(slow[3], 600);
    ck_assert_int_le(flat[1], 130);
    ck_assert_int_le(busy[1], 10);
    ck_assert_int_le(busy[3], 30);
    ck_assert_int_le(huge[3], 20);
}
END_TEST

UNIT_MAIN("spike", tails, baselines, steady_ones_never_ring,
          a_fivefold_hour_rings_within_ten_minutes, a_lasting_rate_rings)
