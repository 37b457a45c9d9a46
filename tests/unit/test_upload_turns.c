/* Covers: server/jobs/upload_turns.c */
#include "server/jobs/upload_turns.h"

#include "tests/support/unit.h"

START_TEST(apps_take_turns)
{
    static struct upload_turns t;
    const struct upload_waiting w[] = {{1, "flood"}, {2, "flood"}, {3, "flood"},
                                       {4, "a"},     {5, ""},      {6, "a"}};
    ck_assert_uint_eq(upload_turns_take(&t, w, 0, 0), 0);
    ck_assert_uint_eq(upload_turns_take(&t, w, 6, 0), 1);
    ck_assert_uint_eq(upload_turns_take(&t, w + 1, 5, 0), 4);
    const struct upload_waiting left[] = {{2, "flood"}, {3, "flood"}, {5, ""}, {6, "a"}};
    ck_assert_uint_eq(upload_turns_take(&t, left, 4, 0), 5);
    ck_assert_uint_eq(upload_turns_take(&t, left, 2, 0), 2);
    /* Longest ago. */
    ck_assert_uint_eq(upload_turns_take(&t, left + 1, 3, 0), 6);
    ck_assert_uint_eq(upload_turns_take(&t, left + 1, 2, 0), 5);
}
END_TEST

START_TEST(what_failed_lets_others_pass)
{
    static struct upload_turns t;
    const struct upload_waiting w[] = {{1, "a"}, {2, "a"}, {3, "a"}, {4, "b"}};
    ck_assert_uint_eq(upload_turns_take(&t, w, 4, 0), 1);
    ck_assert_uint_eq(upload_turns_take(&t, w, 4, 1), 4);
    ck_assert_uint_eq(upload_turns_take(&t, w, 3, 1), 2);
    ck_assert_uint_eq(upload_turns_take(&t, w, 3, 2), 3);
    ck_assert_uint_eq(upload_turns_take(&t, w, 3, 3), 1);
}
END_TEST

/* What failed is no reason for others to be out of order: the oldest would wait for ever behind those
 * that keep coming. */
START_TEST(what_failed_is_its_own_app_s_matter)
{
    static struct upload_turns t;
    const struct upload_waiting w[] = {{3, "b"}, {5, "a"}, {6, "a"}, {9, "b"}};
    ck_assert_uint_eq(upload_turns_take(&t, w + 1, 2, 0), 5);
    ck_assert_uint_eq(upload_turns_take(&t, w, 4, 5), 3);
    ck_assert_uint_eq(upload_turns_take(&t, w + 1, 3, 5), 6);
    const struct upload_waiting gone[] = {{4, "a"}, {7, "a"}}; /* 5 is indexed by now */
    ck_assert_uint_eq(upload_turns_take(&t, gone, 2, 5), 4);
}
END_TEST

UNIT_MAIN("upload_turns", apps_take_turns, what_failed_lets_others_pass,
          what_failed_is_its_own_app_s_matter)
