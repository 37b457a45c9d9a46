#include "storage/hours.h"

#include <string.h>

#include "storage/figures.h"
#include "tests/support/unit.h"

static void encode(const struct hours *h, struct buf *out)
{
    buf_clear(out);
    ck_assert(hours_encode(h, out));
}

START_TEST(hours_are_rounded_to_the_past)
{
    ck_assert_int_eq(hours_number(0), 0);
    ck_assert_int_eq(hours_number(HOUR_MS - 1), 0);
    ck_assert_int_eq(hours_number(HOUR_MS), 1);
    ck_assert_int_eq(hours_number(-1), -1);
    ck_assert_int_eq(hours_number(-HOUR_MS), -1);
    ck_assert_int_eq(hours_number(-HOUR_MS - 1), -2);
    ck_assert_int_eq(hours_of_day(-1), 23);
    ck_assert_int_eq(hours_of_day(24 * HOUR_MS - 1), 23);
    ck_assert_int_eq(hours_of_day(24 * HOUR_MS), 0);
    ck_assert_int_eq(hours_of_day(INT64_C(1767225600000) + 5 * HOUR_MS), 5);
}
END_TEST

START_TEST(one_hour_is_one_byte)
{
    struct hours h = {0}, back = {0};
    struct buf out;
    const struct hour_sums sums = {3, 7 * FIGURES_WEIGHT_ONE, 4000, 9000};
    buf_init(&out, 4096);
    encode(&h, &out);
    ck_assert_uint_eq(out.len, 0);
    ck_assert(hours_add_encoded(&back, NULL, 0, &sums));
    ck_assert_mem_eq(&h, &back, sizeof(h));
    hours_add(&h, 17, &sums);
    encode(&h, &out);
    ck_assert_uint_eq(out.len, 1);
    ck_assert(hours_add_encoded(&back, out.data, out.len, &sums));
    ck_assert_mem_eq(&h, &back, sizeof(h));
    buf_done(&out);
}
END_TEST

START_TEST(merging_forgets_the_order)
{
    struct hours a = {0}, b = {0}, both = {0}, back = {0};
    struct buf x, y;
    struct hour_sums day = {0};
    buf_init(&x, 4096);
    buf_init(&y, 4096);
    for (int i = 0; i < 200; i++) {
        const int64_t weighted = figures_weight(1 + i % 5 / 3.0);
        const struct hour_sums one = {1, weighted, i % 7 ? i * 31 : 0,
                                      figures_above(weighted, i % 7 ? i * 31 : 0)};
        hours_add(i % 3 ? &a : &b, i * 7 % HOURS_A_DAY, &one);
        hours_add(&both, i * 7 % HOURS_A_DAY, &one);
        day.count += one.count;
        day.weighted += one.weighted;
        day.stall_ms += one.stall_ms;
        day.above_ms += one.above_ms;
    }
    encode(&both, &x);
    ck_assert(hours_add_encoded(&back, x.data, x.len, &day));
    ck_assert_mem_eq(&back, &both, sizeof(back));
    hours_merge(&b, &a);
    encode(&b, &y);
    ck_assert_uint_eq(x.len, y.len);
    ck_assert_mem_eq(x.data, y.data, x.len);
    hours_subtract(&b, &a);
    hours_subtract(&both, &a);
    ck_assert_mem_eq(&b, &both, sizeof(b));
    buf_done(&x);
    buf_done(&y);
}
END_TEST

START_TEST(damaged_bytes_are_refused)
{
    static const struct {
        const char *bytes;
        size_t len;
    } bad[] = {
        {"\x18", 1},                                          /* hour 24 */
        {"\x01\x01", 2},                                      /* cut short */
        {"\x01\x00\x00", 3},                                  /* an hour of none */
        {"\x02\x01\x00\x02\x01\x00", 6},                      /* the same hour again */
        {"\x03\x01\x00\x02\x01\x00", 6},                      /* descending */
        {"\x21\x01\x00\x05", 4},                              /* a weight without its time */
        {"\x03\xff\xff\xff\xff\xff\xff\xff\xff\x7f\x00", 11}, /* more than there can be */
    };
    const struct hour_sums day = {1, FIGURES_WEIGHT_ONE, 5, 0};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct hours h = {0};
        ck_assert_msg(!hours_add_encoded(&h, bad[i].bytes, bad[i].len, &day), "%zu", i);
    }
}
END_TEST

UNIT_MAIN("hours", hours_are_rounded_to_the_past, one_hour_is_one_byte, merging_forgets_the_order,
          damaged_bytes_are_refused)
