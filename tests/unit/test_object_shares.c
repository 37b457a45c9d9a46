/* Covers: server/jobs/object_shares.c */
#include "server/jobs/object_shares.h"

#include "tests/support/unit.h"

START_TEST(who_holds_most_gives_first)
{
    static const struct {
        uint64_t held[4]; /* 0: no more */
        uint64_t cap, share;
    } cases[] = {
        {{0}, 0, UINT64_MAX},
        {{100}, 100, UINT64_MAX},
        {{100}, 60, 60},
        {{100}, 0, 0},
        {{900, 50, 50}, 1000, UINT64_MAX},
        {{900, 50, 50}, 300, 200},    /* the small ones are left alone */
        {{900, 800, 100}, 1000, 450}, /* the two large ones are made equal */
        {{900, 800, 100}, 240, 80},   /* no more than a third for anybody */
        {{900, 100, 100}, 200, 66},
        {{500, 500, 500, 500}, 1999, 499},
        {{UINT64_MAX / 2, 10}, 100, 90},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct object_holder_row rows[4];
        size_t count = 0;
        uint64_t sum = 0;
        for (; count < 4 && cases[i].held[count] > 0; count++)
            rows[count] = (struct object_holder_row){"com.a", cases[i].held[count]};
        uint64_t share = object_share_of(rows, count, cases[i].cap);
        ck_assert_msg(share == cases[i].share, "case %zu: %llu", i, (unsigned long long)share);
        for (size_t k = 0; k < count; k++)
            sum += rows[k].bytes < share ? rows[k].bytes : share;
        ck_assert_uint_le(sum, cases[i].cap);
    }
}
END_TEST

UNIT_MAIN("object_shares", who_holds_most_gives_first)
