#include "base/steady_wall.h"

#include "tests/support/unit.h"

#define HOUR ((int64_t)3600 * 1000)
#define DAY  (24 * HOUR)
#define YEAR (365 * DAY)
#define NOW  ((int64_t)1796000000000)

static struct steady_wall s;
static bool begins;

static int64_t at(int64_t wall_ms, int64_t mono_ms)
{
    return steady_wall(&s, wall_ms, mono_ms, &begins);
}

static void setup(void)
{
    s = (struct steady_wall){.started = false};
    ck_assert_int_eq(at(NOW, 1000), NOW);
    ck_assert(!begins);
}

START_TEST(goes_with_the_clock)
{
    setup();
    ck_assert_int_eq(at(NOW + 10 * DAY, 1000 + 10 * DAY), NOW + 10 * DAY);
    ck_assert_int_eq(at(NOW + 10 * DAY + STEADY_STEP_MS, 1000 + 10 * DAY),
                     NOW + 10 * DAY + STEADY_STEP_MS);
    ck_assert(!begins);
}
END_TEST

START_TEST(a_step_ahead_is_doubted_and_forgotten_when_it_was_an_error)
{
    setup();
    ck_assert_int_eq(at(NOW + YEAR, 2000), NOW + 1000);
    ck_assert(begins);
    ck_assert_int_eq(at(NOW + YEAR + HOUR, 2000 + HOUR), NOW + 1000 + HOUR);
    ck_assert(!begins);
    ck_assert_int_eq(at(NOW + 2 * HOUR, 1000 + 2 * HOUR), NOW + 2 * HOUR);
    ck_assert_int_eq(at(NOW + YEAR, 1000 + 3 * HOUR), NOW + 3 * HOUR);
    ck_assert(begins);
}
END_TEST

START_TEST(what_stands_for_a_day_is_believed)
{
    setup();
    ck_assert_int_eq(at(NOW + YEAR, 1000), NOW);
    ck_assert_int_eq(at(NOW + YEAR + DAY - 1, 1000 + DAY - 1), NOW + DAY - 1);
    ck_assert_int_eq(at(NOW + YEAR + DAY, 1000 + DAY), NOW + YEAR + DAY);
    ck_assert_int_eq(at(NOW + YEAR + DAY + 5, 1000 + DAY + 5), NOW + YEAR + DAY + 5);
    ck_assert(!begins);
}
END_TEST

START_TEST(a_step_back_is_believed_at_once)
{
    setup();
    ck_assert_int_eq(at(NOW - YEAR, 2000), NOW - YEAR);
    ck_assert(!begins);
    ck_assert_int_eq(at(NOW, 3000), NOW - YEAR + 1000); /* and the way home is a step ahead */
    ck_assert(begins);
}
END_TEST

UNIT_MAIN("steady_wall", goes_with_the_clock,
          a_step_ahead_is_doubted_and_forgotten_when_it_was_an_error,
          what_stands_for_a_day_is_believed, a_step_back_is_believed_at_once)
