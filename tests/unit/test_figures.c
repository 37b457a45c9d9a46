#include "storage/figures.h"

#include <math.h>
#include <string.h>

#include "tests/support/unit.h"

START_TEST(sums_forget_their_order)
{
    struct figures a = {0}, b = {0}, both = {0};
    struct duration_figures shown, back;
    for (int i = 0; i < 100; i++) {
        int64_t w = figures_weight(1 + i / 7.0);
        figures_add(i % 2 ? &a : &b, w, i * 31);
        figures_add(&both, w, i * 31);
    }
    figures_show(&both, &shown);
    figures_merge(&a, &b);
    figures_show(&a, &back);
    ck_assert_mem_eq(&shown, &back, sizeof(shown));
    ck_assert_uint_eq(shown.count, 100);
    figures_done(&a);
    figures_done(&b);
    figures_done(&both);
    figures_done(NULL);
}
END_TEST

START_TEST(hostile_values_do_not_overflow)
{
    struct figures f = {0};
    struct duration_figures shown;
    ck_assert_int_eq(figures_weight(5), 5 * FIGURES_WEIGHT_ONE);
    ck_assert_int_eq(figures_weight(1 / 0.3), 3333333);
    ck_assert_int_eq(figures_weight(0), FIGURES_WEIGHT_ONE);
    ck_assert_int_eq(figures_weight(-INFINITY), FIGURES_WEIGHT_ONE);
    ck_assert_int_eq(figures_weight((double)NAN), FIGURES_WEIGHT_ONE);
    ck_assert_int_eq(figures_weight(INFINITY), (int64_t)FIGURES_WEIGHT_MAX * FIGURES_WEIGHT_ONE);
    ck_assert_int_eq(figures_above(2500000, 1000), 1500);
    ck_assert_int_eq(figures_above(FIGURES_WEIGHT_ONE, 1000), 0);
    ck_assert_int_eq(figures_above(3333333, -1), 0);
    ck_assert_int_eq(figures_above(figures_weight(INFINITY), INT64_MAX), FIGURES_ABOVE_MAX);
    ck_assert_int_eq(figures_above(figures_weight(1000), 60000), 999 * 60000);
    figures_add(&f, 1, INT64_MAX);
    figures_add(&f, 1, -1);
    figures_show(&f, &shown);
    ck_assert_uint_eq(shown.stall_ms, (uint64_t)FIGURES_DURATION_MAX);
    ck_assert_uint_eq(shown.count, 2);
    ck_assert_uint_eq(f.hist.total, 1);
    figures_done(&f);
}
END_TEST

/* Clients choose weights and durations: what they can make of a sum. */
START_TEST(sums_stay_below_their_limit)
{
    const int64_t many = 900000000;
    struct figures f = {.weighted = FIGURES_SUM_MAX - 5, .stall_ms = FIGURES_SUM_MAX};
    const struct figures more = {.weighted = INT64_MAX, .stall_ms = 1, .above_ms = INT64_MIN};
    ck_assert_int_le((int64_t)FIGURES_WEIGHT_MAX * FIGURES_WEIGHT_ONE, INT64_MAX / many);
    ck_assert_int_le(FIGURES_ABOVE_MAX, INT64_MAX / many);
    ck_assert_int_le(FIGURES_DURATION_MAX, INT64_MAX / many);
    ck_assert_int_eq(figures_sum(3, -5), -2);
    ck_assert_int_eq(figures_sum(INT64_MAX, INT64_MAX), FIGURES_SUM_MAX);
    ck_assert_int_eq(figures_sum(INT64_MIN, INT64_MIN), -FIGURES_SUM_MAX);
    figures_merge(&f, &more);
    ck_assert_int_eq(f.weighted, FIGURES_SUM_MAX);
    ck_assert_int_eq(f.stall_ms, FIGURES_SUM_MAX);
    ck_assert_int_eq(f.above_ms, -FIGURES_SUM_MAX);
    figures_done(&f);
}
END_TEST

START_TEST(weeks_begin_on_monday)
{
    /* 1970-01-01 was a Thursday. */
    ck_assert_int_eq(figures_week(0), 0);
    ck_assert_int_eq(figures_week(3), 0);
    ck_assert_int_eq(figures_week(4), 1);
    ck_assert_int_eq(figures_week(-3), 0);
    ck_assert_int_eq(figures_week(-4), -1);
    ck_assert_int_eq(figures_week(-10), -1);
    ck_assert_int_eq(figures_week(-11), -2);
    ck_assert_int_eq(figures_week(20458) - figures_week(20457), 1); /* 2026-01-05 */
}
END_TEST

UNIT_MAIN("figures", sums_forget_their_order, hostile_values_do_not_overflow,
          sums_stay_below_their_limit, weeks_begin_on_monday)
