/* Covers: symbolizer/object_ranges.c */
#include "symbolizer/object_ranges.h"

#include "tests/support/unit.h"

START_TEST(they_are_put_in_order)
{
    struct object_range r[] = {{50, 60}, {10, 20}, {15, 30}, {30, 40}, {12, 18}, {70, 70}};
    ck_assert_uint_eq(object_ranges_order(r, 6), 4);
    const struct object_range want[] = {{10, 20}, {20, 30}, {30, 40}, {50, 60}};
    for (size_t i = 0; i < 4; i++) {
        ck_assert_uint_eq(r[i].start, want[i].start);
        ck_assert_uint_eq(r[i].end, want[i].end);
    }
    for (uint64_t a = 0; a < 80; a++)
        ck_assert_msg(object_ranges_hold(r, 4, a) == ((a >= 10 && a < 40) || (a >= 50 && a < 60)),
                      "%llu", (unsigned long long)a);
    ck_assert_uint_eq(object_ranges_order(NULL, 0), 0);
    ck_assert(!object_ranges_hold(r, 0, 10));
}
END_TEST

UNIT_MAIN("object_ranges", they_are_put_in_order)
