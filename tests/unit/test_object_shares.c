/* Covers: server/jobs/object_shares.c */
#include "server/jobs/object_shares.h"

#include "tests/support/unit.h"

START_TEST(who_holds_most_gives_first)
{
    static const struct {
        uint64_t held[4]; /* 0: no more */
        uint64_t cap, share;
        uint64_t fixed[4]; /* of them, what stays */
    } cases[] = {
        {{0}, 0, UINT64_MAX, {0}},
        {{100}, 100, UINT64_MAX, {0}},
        {{100}, 60, 60, {0}},
        {{100}, 0, 0, {0}},
        {{900, 50, 50}, 1000, UINT64_MAX, {0}},
        {{900, 50, 50}, 300, 200, {0}},    /* the small ones are left alone */
        {{900, 800, 100}, 1000, 450, {0}}, /* the two large ones are made equal */
        {{900, 800, 100}, 240, 80, {0}},   /* no more than a third for anybody */
        {{900, 100, 100}, 200, 66, {0}},
        {{500, 500, 500, 500}, 1999, 499, {0}},
        {{UINT64_MAX / 2, 10}, 100, 90, {0}},
        {{900, 400, 100}, 1000, 500, {300}},    /* within its share: as if nothing stayed */
        {{900, 400, 300}, 1000, 100, {800}},    /* what it cannot give the others give */
        {{900, 400, 300}, 1000, 0, {900, 100}}, /* to the last byte */
        {{900, 400, 300}, 1000, 0, {900, 400}}, /* and no further */
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct object_holder_row rows[4];
        size_t count = 0;
        uint64_t sum = 0, fixed = 0;
        for (; count < 4 && cases[i].held[count] > 0; count++)
            rows[count] =
                (struct object_holder_row){"com.a", cases[i].held[count], cases[i].fixed[count]};
        uint64_t share = object_share_of(rows, count, cases[i].cap);
        ck_assert_msg(share == cases[i].share, "case %zu: %llu", i, (unsigned long long)share);
        for (size_t k = 0; k < count; k++) {
            uint64_t most = share > rows[k].fixed ? share : rows[k].fixed;
            sum += rows[k].bytes < most ? rows[k].bytes : most;
            fixed += rows[k].fixed;
        }
        ck_assert_uint_le(sum, fixed > cases[i].cap ? fixed : cases[i].cap);
    }
}
END_TEST

UNIT_MAIN("object_shares", who_holds_most_gives_first)
