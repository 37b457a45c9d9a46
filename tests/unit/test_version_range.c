#include "server/analysis/version_range.h"
#include <string.h>

#include "tests/support/unit.h"

START_TEST(comparisons)
{
    static const struct {
        const char *range, *version;
        bool holds;
    } rows[] = {
        {"7.2", "7.2", true},
        {"7.2", "7.2.0", true},
        {"7.2", "7.2.1", false},
        {"=7.2", "7.2", true},
        {"==7.2", "7.2", true},
        {"!=7.2", "7.2", false},
        {"!=7.2", "7.3", true},
        {">=7.2", "7.10", true},
        {">=7.2", "7.1.9", false},
        {">7.2", "7.2.0", false},
        {">7.2", "7.2.0.1", true},
        {"<8", "7.99", true},
        {"<8", "8.0", false},
        {"<=8", "8.0.0", true},
        {">=7.2 <8", "7.5", true},
        {">=7.2 <8", "8.1", false},
        {" >=7.2   <8 ", "7.2", true},
        {"7.2.*", "7.2", true},
        {"7.2.*", "7.2.9", true},
        {"7.2.*", "7.20", false},
        {"7.*", "7.2.9", true},
        {"<7 || >=7.2 <8", "6.9", true},
        {"<7 || >=7.2 <8", "7.1", false},
        {"<7 || >=7.2 <8", "7.3", true},
        {"<7 || >=7.2 <8", "8.3", false},
        {">=2048", "3000", true},
        {">=2048", "512", false},
        {">=7.2", "", false},
        {"<7.2", "dev", false},
        {"!=7.2", "dev", false},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        ck_assert_msg(version_range_valid(rows[i].range), "%s", rows[i].range);
        ck_assert_msg(version_range_holds(rows[i].range, rows[i].version) == rows[i].holds,
                      "%s of %s", rows[i].version, rows[i].range);
    }
    ck_assert(!version_range_holds(">=1", NULL));
}
END_TEST

START_TEST(what_is_no_range)
{
    static const char *const bad[] = {"",       " ",  ">=",   "~7",        "dev",
                                      "7.2 ||", "||", "|| 7", "7 || ",     ">=dev",
                                      ">= 7.2", "*",  ".*",   ">=7.2 and", "7||8"};
    char longest[300];
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        ck_assert_msg(!version_range_valid(bad[i]), "%s", bad[i]);
    memset(longest, '1', sizeof(longest) - 1);
    longest[sizeof(longest) - 1] = 0;
    ck_assert(!version_range_valid(longest));
}
END_TEST

UNIT_MAIN("version_range", comparisons, what_is_no_range)
