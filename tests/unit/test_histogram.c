#include "base/histogram.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "tests/support/unit.h"

START_TEST(buckets_ascend_and_stay_close)
{
    uint32_t before = 0;
    for (int64_t v = 0; v < 5000000; v += 1 + v / 97) {
        uint32_t b = histogram_bucket(v);
        ck_assert_uint_ge(b, before);
        ck_assert_uint_lt(b, HISTOGRAM_BUCKETS);
        before = b;
        double off = fabs((double)(histogram_value(b) - v));
        ck_assert_msg(off <= HISTOGRAM_ERROR * (double)v, "%ld is shown as %ld", (long)v,
                      (long)histogram_value(b));
    }
}
END_TEST

START_TEST(borders)
{
    ck_assert_uint_eq(histogram_bucket(-5), 0);
    ck_assert_uint_eq(histogram_bucket(INT64_MIN), 0);
    ck_assert_uint_eq(histogram_bucket(INT64_MAX), histogram_bucket(HISTOGRAM_MAX_MS));
    ck_assert_uint_lt(histogram_bucket(INT64_MAX), HISTOGRAM_BUCKETS);
    ck_assert_int_eq(histogram_value(0), 0);
    ck_assert_int_eq(histogram_value(histogram_bucket(63)), 63);
    struct histogram h;
    histogram_init(&h);
    ck_assert_int_eq(histogram_quantile(&h, 0.5), -1);
    histogram_done(&h);
    histogram_done(NULL);
}
END_TEST

static int by_value(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a;
    int64_t y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

START_TEST(quantiles_are_those_of_the_values)
{
    enum { N = 9973 };
    static int64_t values[N];
    struct histogram h;
    histogram_init(&h);
    uint64_t seed = 42;
    for (size_t i = 0; i < N; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        values[i] = (int64_t)(exp((double)(seed >> 40) / (1 << 24) * 10) * 3);
        histogram_add(&h, values[i], 1);
    }
    qsort(values, N, sizeof(values[0]), by_value);
    static const double qs[] = {0, 0.01, 0.5, 0.9, 0.99, 0.999, 1};
    for (size_t i = 0; i < sizeof(qs) / sizeof(qs[0]); i++) {
        size_t rank = (size_t)ceil(qs[i] * N);
        double want = (double)values[rank ? rank - 1 : 0];
        double is = (double)histogram_quantile(&h, qs[i]);
        ck_assert_msg(fabs(is - want) <= 0.02 * want, "q%g: %g for %g", qs[i], is, want);
    }
    ck_assert_uint_eq(h.total, N);
    histogram_done(&h);
}
END_TEST

START_TEST(merge_encode_subtract_agree)
{
    struct histogram a, b, both, back;
    struct buf x, y;
    histogram_init(&a);
    histogram_init(&b);
    histogram_init(&both);
    histogram_init(&back);
    buf_init(&x, 1 << 16);
    buf_init(&y, 1 << 16);
    for (int64_t i = 0; i < 3000; i++) {
        histogram_add(i % 3 ? &a : &b, i * i % 70001, 1 + (uint64_t)i % 2);
        histogram_add(&both, i * i % 70001, 1 + (uint64_t)i % 2);
    }
    ck_assert(histogram_encode(&b, &x));
    ck_assert(histogram_merge(&back, &a));
    ck_assert(histogram_add_encoded(&back, x.data, x.len));
    buf_clear(&x);
    ck_assert(histogram_encode(&back, &x));
    ck_assert(histogram_encode(&both, &y));
    ck_assert_uint_eq(x.len, y.len);
    ck_assert_mem_eq(x.data, y.data, x.len);
    ck_assert_uint_eq(back.total, both.total);

    histogram_subtract(&back, &b);
    buf_clear(&x);
    buf_clear(&y);
    histogram_encode(&back, &x);
    histogram_encode(&a, &y);
    ck_assert_uint_eq(x.len, y.len);
    ck_assert_mem_eq(x.data, y.data, x.len);
    ck_assert_uint_eq(back.total, a.total);
    histogram_subtract(&back, &both);
    ck_assert_uint_eq(back.total, 0);
    ck_assert_uint_eq(back.count, 0);
    histogram_done(&a);
    histogram_done(&b);
    histogram_done(&both);
    histogram_done(&back);
    buf_done(&x);
    buf_done(&y);
}
END_TEST

START_TEST(one_value_takes_few_bytes)
{
    struct histogram h;
    struct buf x;
    histogram_init(&h);
    buf_init(&x, 100);
    ck_assert(histogram_encode(&h, &x));
    ck_assert_uint_eq(x.len, 0);
    histogram_add(&h, 1240, 1);
    ck_assert(histogram_encode(&h, &x));
    ck_assert_uint_le(x.len, 3);
    histogram_done(&h);
    buf_done(&x);
}
END_TEST

START_TEST(damaged_bytes_are_refused)
{
    static const struct {
        const char *bytes;
        size_t len;
    } cases[] = {
        {"\x05", 1},                 /* count missing */
        {"\x80", 1},                 /* number cut */
        {"\xa0\x09\x01", 3},         /* bucket 1184: one too many */
        {"\x9f\x09\x01\x01\x01", 5}, /* past the last one by its distance */
        /* counts whose sum wraps around to 0, in one bucket and in two */
        {"\x00\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x00\x01", 13},
        {"\x00\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x01\x01", 13},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct histogram h;
        histogram_init(&h);
        ck_assert(!histogram_add_encoded(&h, cases[i].bytes, cases[i].len));
        ck_assert(h.failed);
        histogram_done(&h);
    }
}
END_TEST

START_TEST(counts_have_a_cap)
{
    struct histogram h;
    histogram_init(&h);
    ck_assert(histogram_add(&h, 5, HISTOGRAM_TOTAL_MAX - 1));
    ck_assert(histogram_add(&h, 7, 1));
    ck_assert_int_eq(histogram_quantile(&h, 1), 7);
    ck_assert_int_eq(histogram_quantile(&h, 0.5), 5);
    ck_assert(!histogram_add(&h, 9, 1) && h.failed);
    ck_assert_uint_eq(h.total, HISTOGRAM_TOTAL_MAX);
    histogram_done(&h);
}
END_TEST

/* A million durations from 100 ms to many minutes, merged from parts as days and stacks are. */
START_TEST(percentiles_of_a_million)
{
    enum { N = 1000000, PARTS = 200 };
    static const double ranks[] = {0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.999};
    struct histogram whole;
    struct buf bytes;
    uint64_t state = 11;
    int64_t *values = malloc(N * sizeof(*values));
    histogram_init(&whole);
    buf_init(&bytes, 1 << 16);
    for (int part = 0; part < PARTS; part++) {
        struct histogram h;
        histogram_init(&h);
        for (int i = 0; i < N / PARTS; i++) {
            double e = 0;
            for (int k = 0; k < 4; k++) {
                state = state * 6364136223846793005u + 1442695040888963407u;
                e += (double)(state >> 40) / (1 << 24);
            }
            int64_t v = (int64_t)(100 * exp(e * 2));
            values[part * (N / PARTS) + i] = v;
            ck_assert(histogram_add(&h, v, 1));
        }
        buf_clear(&bytes);
        ck_assert(histogram_encode(&h, &bytes));
        ck_assert(histogram_add_encoded(&whole, bytes.data, bytes.len));
        histogram_done(&h);
    }
    qsort(values, N, sizeof(*values), by_value);
    for (size_t i = 0; i < sizeof(ranks) / sizeof(ranks[0]); i++) {
        const double exact = (double)values[(size_t)ceil(ranks[i] * N) - 1];
        const double ours = (double)histogram_quantile(&whole, ranks[i]);
        ck_assert_msg(fabs(ours - exact) <= 0.02 * exact, "p%g: %g, not %g", ranks[i] * 100, ours,
                      exact);
    }
    free(values);
    buf_done(&bytes);
    histogram_done(&whole);
}
END_TEST

UNIT_MAIN("histogram", buckets_ascend_and_stay_close, borders, quantiles_are_those_of_the_values,
          merge_encode_subtract_agree, one_value_takes_few_bytes, damaged_bytes_are_refused,
          counts_have_a_cap, percentiles_of_a_million)
