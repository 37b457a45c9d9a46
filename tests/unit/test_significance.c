#include "server/analysis/significance.h"

#include <math.h>
#include <stdint.h>

#include "tests/support/unit.h"

static void close_to(double value, double expected, double relative)
{
    ck_assert_msg(value == expected || fabs(value - expected) <= relative * fabs(expected),
                  "%.12g, not %.12g", value, expected);
}

/* Sums of binomial terms as fractions, doubled tails; intervals by bisection with 60 digits. */
START_TEST(exact_references)
{
    static const struct {
        double first, second, first_exposure, second_exposure, p, low, high;
    } cases[] = {
        {10, 20, 1, 1, 0.0987371467054, 0.893508890385, 4.78455244034},
        {0, 5, 1, 1, 0.0625, 0.916355857315, (double)INFINITY},
        {5, 0, 1, 1, 0.0625, 0, 1.09127910518},
        {30, 15, 100, 200, 1.00023765766e-05, 0.12500444379, 0.47943890903},
        {3, 9, 7, 5, 0.0411189954485, 1.04815823028, 24.1192043777},
        {100, 140, 1000, 1000, 0.0116640923177, 1.07541489999, 1.82816188109},
        {1, 1, 1, 9, 0.38, 0.00141548523152, 8.7218705907},
        {40, 300, 3, 10, 1.59343941307e-07, 1.61397133062, 3.21316687126},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const struct event_rate first = {cases[i].first, cases[i].first_exposure};
        const struct event_rate second = {cases[i].second, cases[i].second_exposure};
        struct rate_comparison c, back;
        significance_compare(&first, &second, 1, 0.95, &c);
        close_to(c.p, cases[i].p, 1e-9);
        close_to(c.low, cases[i].low, 1e-9);
        close_to(c.high, cases[i].high, 1e-9);
        if (cases[i].first > 0)
            close_to(c.ratio,
                     cases[i].second / cases[i].second_exposure /
                         (cases[i].first / cases[i].first_exposure),
                     1e-12);
        /* The other way round it is the same question. */
        significance_compare(&second, &first, 1, 0.95, &back);
        close_to(back.p, c.p, 1e-9);
        if (c.low > 0)
            close_to(back.high, 1 / c.low, 1e-9);
    }
}
END_TEST

START_TEST(incomplete_beta)
{
    static const struct {
        double x, a, b, value;
    } cases[] = {
        {0.3, 3, 5, 0.3529305},
        {0.5, 20, 20, 0.5},
        {0.9, 2, 7, 0.99999927},
        {0.01, 1, 50, 0.39499393286246},
        {0.55, 300, 200, 0.011853654379737},
        {0.25, 0.5, 0.5, 1.0 / 3}, /* asin(sqrt(x)) * 2 / pi */
        {0, 3, 4, 0},
        {1, 3, 4, 1},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        close_to(significance_beta(cases[i].x, cases[i].a, cases[i].b), cases[i].value, 1e-10);
    /* Millions of events: the normal law says the same. */
    const double n = 1e7;
    close_to(significance_beta(0.5 + 1.96 / (2 * sqrt(2 * n)), n, n), 0.9750021, 1e-4);
}
END_TEST

START_TEST(nothing_to_compare)
{
    const struct event_rate none = {0, 10}, some = {4, 10}, unused = {4, 0};
    struct rate_comparison c;
    significance_compare(&none, &none, 1, 0.95, &c);
    ck_assert(isnan(c.ratio) && c.low == 0 && isinf(c.high));
    ck_assert_double_eq(c.p, 1);
    ck_assert_int_eq(significance_verdict(&c, 1), RATE_UNCLEAR);
    significance_compare(&some, &unused, 1, 0.95, &c);
    ck_assert(isnan(c.ratio) && isnan(c.low));
    ck_assert_double_eq(c.p, 1);
    ck_assert_int_eq(significance_verdict(&c, 1), RATE_UNCLEAR);
    significance_compare(&none, &some, 1, 0.95, &c);
    ck_assert(isinf(c.ratio));
}
END_TEST

START_TEST(verdicts)
{
    const struct event_rate base = {1000, 100};
    static const struct {
        double count, exposure;
        enum rate_verdict verdict;
    } cases[] = {
        {1200, 100, RATE_HIGHER}, {800, 100, RATE_LOWER}, {1010, 100, RATE_SAME},
        {14, 1, RATE_UNCLEAR},    {0, 1, RATE_LOWER},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const struct event_rate other = {cases[i].count, cases[i].exposure};
        struct rate_comparison c;
        significance_compare(&base, &other, 1, 0.95, &c);
        ck_assert_msg(significance_verdict(&c, c.p) == cases[i].verdict, "%zu: %s", i,
                      rate_verdict_name(significance_verdict(&c, c.p)));
        ck_assert_int_ne(significance_verdict(&c, 1), RATE_HIGHER); /* one of too many questions */
    }
}
END_TEST

static uint64_t state = 7;

static double uniform(void)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (double)(state >> 11) / 9007199254740992.0;
}

static double poisson(double mean)
{
    double k = 0;
    for (double p = uniform(), limit = exp(-mean); p > limit; k++)
        p *= uniform();
    return k;
}

/* Of comparisons of equal rates at most one in twenty is called a difference. */
START_TEST(equal_rates_are_called_equal)
{
    int wrong = 0;
    for (int i = 0; i < 4000; i++) {
        const struct event_rate a = {poisson(20), 2}, b = {poisson(30), 3};
        struct rate_comparison c;
        significance_compare(&a, &b, 1, 0.95, &c);
        wrong += c.p < 0.05;
        ck_assert_int_eq(c.p < 0.05, !(c.low <= 1 && c.high >= 1));
    }
    ck_assert_int_lt(wrong, 200);
    ck_assert_int_gt(wrong, 40); /* nor is it blind */
}
END_TEST

/* Clumps of eight reports: the plain test is fooled, the one that knows of it is not. */
START_TEST(clumps_are_noticed)
{
    int fooled = 0, wrong = 0;
    for (int i = 0; i < 400; i++) {
        double days[28], exposure[28];
        struct event_rate a = {0, 14}, b = {0, 14};
        struct rate_comparison c;
        for (int d = 0; d < 28; d++) {
            days[d] = 8 * poisson(3);
            exposure[d] = 1;
            *(d < 14 ? &a.count : &b.count) += days[d];
        }
        const double phi = significance_dispersion(days, exposure, 28);
        significance_compare(&a, &b, 1, 0.95, &c);
        fooled += c.p < 0.05;
        significance_compare(&a, &b, phi, 0.95, &c);
        wrong += c.p < 0.05;
    }
    ck_assert_int_gt(fooled, 120);
    ck_assert_int_lt(wrong, 32);
}
END_TEST

START_TEST(dispersion_of_few_is_one)
{
    const double few[] = {5, 9, 1, 8}, exposure[] = {1, 1, 1, 1}, none[] = {0, 0, 0, 0};
    const double many[] = {50, 90, 10, 80};
    ck_assert_double_eq(significance_dispersion(many, exposure, 3), 1); /* three parts */
    ck_assert_double_eq(significance_dispersion(many, none, 4), 1);
    ck_assert_double_gt(significance_dispersion(few, exposure, 4), 1);
    /* 57.5 expected: (7.5^2 + 32.5^2 + 47.5^2 + 22.5^2) / 57.5 / 3 */
    close_to(significance_dispersion(many, exposure, 4), 22.4637681159, 1e-9);
}
END_TEST

START_TEST(many_questions)
{
    const double p[] = {0.01, 0.8, 0.03, 0.005, 0.04};
    const double expected[] = {0.025, 0.8, 0.05, 0.025, 0.05};
    double q[5];
    ck_assert(significance_adjust(p, 5, q));
    for (int i = 0; i < 5; i++)
        close_to(q[i], expected[i], 1e-12);
    ck_assert(significance_adjust(NULL, 0, NULL));
}
END_TEST

UNIT_MAIN("significance", exact_references, incomplete_beta, nothing_to_compare, verdicts,
          equal_rates_are_called_equal, clumps_are_noticed, dispersion_of_few_is_one,
          many_questions)
