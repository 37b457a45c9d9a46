#include "base/clock.h"

#include <stdio.h>
#include <string.h>

#include "tests/support/unit.h"

START_TEST(rfc3339)
{
    static const struct {
        const char *text, *utc; /* NULL: refused */
    } cases[] = {
        {"2024-03-10T23:30:00-05:00", "2024-03-11T04:30:00.000Z"},
        {"2024-03-11T00:30:00+05:30", "2024-03-10T19:00:00.000Z"},
        {"2024-03-10T12:00:00Z", "2024-03-10T12:00:00.000Z"},
        {"2024-03-10T12:00:00.123456Z", "2024-03-10T12:00:00.123Z"},
        {"2024-03-10t12:00:00.5z", "2024-03-10T12:00:00.500Z"},
        {"2024-03-10 12:00:00Z", "2024-03-10T12:00:00.000Z"},
        {"2024-02-29T00:00:00Z", "2024-02-29T00:00:00.000Z"},
        {"2000-02-29T00:00:00Z", "2000-02-29T00:00:00.000Z"},
        {"2016-12-31T23:59:60Z", "2017-01-01T00:00:00.000Z"},
        {"1969-12-31T23:59:59.999Z", "1969-12-31T23:59:59.999Z"},
        {"0001-01-01T00:00:00Z", "0001-01-01T00:00:00.000Z"},
        {"9999-12-31T23:59:59.999Z", "9999-12-31T23:59:59.999Z"},
        {"2024-03-10T12:00:00", NULL},
        {"2024-02-30T10:00:00Z", NULL},
        {"2023-02-29T10:00:00Z", NULL},
        {"1900-02-29T10:00:00Z", NULL},
        {"2024-13-01T10:00:00Z", NULL},
        {"2024-00-01T10:00:00Z", NULL},
        {"2024-01-00T10:00:00Z", NULL},
        {"2024-03-10T24:00:00Z", NULL},
        {"2024-03-10T12:60:00Z", NULL},
        {"2024-03-10T12:00:61Z", NULL},
        {"2024-03-10T12:00:00+24:00", NULL},
        {"2024-03-10T12:00:00+05:60", NULL},
        {"2024-03-10T12:00:00.Z", NULL},
        {"2024-03-10T12:00:00Zx", NULL},
        {"2024-3-10T12:00:00Z", NULL},
        {"", NULL},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        int64_t ms = 0;
        char text[CLOCK_TEXT_SIZE];
        bool valid = clock_parse_rfc3339(cases[i].text, strlen(cases[i].text), &ms);
        ck_assert_msg(valid == (cases[i].utc != NULL), "%s", cases[i].text);
        if (valid)
            ck_assert_str_eq(clock_format_rfc3339(ms, text), cases[i].utc);
    }
}
END_TEST

START_TEST(days)
{
    char text[CLOCK_TEXT_SIZE];
    int32_t day = 0;
    ck_assert_int_eq(clock_day(0), 0);
    ck_assert_int_eq(clock_day(-1), -1);
    ck_assert_int_eq(clock_day(CLOCK_DAY_MS - 1), 0);
    ck_assert_int_eq(clock_day(-CLOCK_DAY_MS), -1);
    ck_assert_str_eq(clock_format_day(0, text), "1970-01-01");
    for (int32_t d = -800000; d < 800000; d += 97) {
        clock_format_day(d, text);
        if (text[0] == '-' || strlen(text) != 10)
            continue;
        ck_assert(clock_parse_day(text, strlen(text), &day));
        ck_assert_int_eq(day, d);
    }
}
END_TEST

START_TEST(moments_without_a_text_are_the_nearest)
{
    static const struct {
        int64_t ms;
        const char *text;
    } cases[] = {
        {INT64_MIN, "0000-01-01T00:00:00.000Z"},
        {-62167219200001, "0000-01-01T00:00:00.000Z"},
        {-62167219200000, "0000-01-01T00:00:00.000Z"},
        {-62167219199999, "0000-01-01T00:00:00.001Z"},
        {253402300799998, "9999-12-31T23:59:59.998Z"},
        {253402300799999, "9999-12-31T23:59:59.999Z"},
        {253402300800000, "9999-12-31T23:59:59.999Z"},
        {INT64_MAX, "9999-12-31T23:59:59.999Z"},
    };
    char text[CLOCK_TEXT_SIZE];
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        ck_assert_str_eq(clock_format_rfc3339(cases[i].ms, text), cases[i].text);
}
END_TEST

START_TEST(seconds_are_known)
{
    static const struct {
        int64_t ms;
        bool seconds;
    } cases[] = {{INT64_MIN, false},  {0, false},
                 {99999999, false},   {100000000, true},
                 {817800000, true},   {1000000000, true},
                 {99999999999, true}, {100000000000, false},
                 {1795300000, true},  {1795300000000, false},
                 {INT64_MAX, false}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        ck_assert_int_eq(clock_is_seconds(cases[i].ms), cases[i].seconds);
}
END_TEST

START_TEST(local_zone_changes_nothing)
{
    static const char *const zones[] = {"America/New_York", "Asia/Kolkata", "UTC"};
    for (size_t i = 0; i < 3; i++) {
        int64_t ms = 0;
        char text[CLOCK_TEXT_SIZE];
        setenv("TZ", zones[i], 1);
        ck_assert(clock_parse_rfc3339("2024-03-10T02:30:00Z", 20, &ms));
        ck_assert_int_eq(ms, 1710037800000);
        ck_assert_str_eq(clock_format_rfc3339(ms, text), "2024-03-10T02:30:00.000Z");
    }
}
END_TEST

UNIT_MAIN("clock", rfc3339, days, moments_without_a_text_are_the_nearest, seconds_are_known,
          local_zone_changes_nothing)
