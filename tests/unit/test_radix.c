/* Covers: symbolizer/radix.c */
#include "symbolizer/radix.h"

#include <stdlib.h>

#include "tests/support/unit.h"

#define COUNT 5000

static uint64_t next(uint64_t *seed)
{
    *seed ^= *seed << 13, *seed ^= *seed >> 7, *seed ^= *seed << 17;
    return *seed;
}

static void check(struct radix_item *list, size_t count, uint64_t sum)
{
    ck_assert(radix_sort(list, count));
    for (size_t i = 0; i < count; i++) {
        sum -= list[i].key ^ list[i].index;
        if (i == 0)
            continue;
        ck_assert_uint_le(list[i - 1].key, list[i].key);
        if (list[i - 1].key == list[i].key)
            ck_assert_uint_lt(list[i - 1].index, list[i].index);
    }
    ck_assert_uint_eq(sum, 0);
}

/* Ascending, equal ones in their order, none lost; keys of every width. */
START_TEST(sorts_and_is_stable)
{
    static struct radix_item list[COUNT];
    uint64_t seed = 88172645463325252u;
    for (unsigned bits = 1; bits <= 64; bits++) {
        size_t count = bits == 1 ? COUNT : (size_t)(next(&seed) % COUNT);
        uint64_t sum = 0;
        for (size_t i = 0; i < count; i++) {
            list[i] = (struct radix_item){next(&seed) >> (64 - bits), (uint32_t)i};
            sum += list[i].key ^ list[i].index;
        }
        check(list, count, sum);
        check(list, count, sum); /* in order already */
    }
}
END_TEST

START_TEST(few)
{
    struct radix_item two[2] = {{UINT64_MAX, 0}, {0, 1}};
    ck_assert(radix_sort(two, 0));
    ck_assert(radix_sort(two, 1));
    ck_assert_uint_eq(two[0].key, UINT64_MAX);
    check(two, 2, UINT64_MAX + 1);
}
END_TEST

UNIT_MAIN("radix", sorts_and_is_stable, few)
