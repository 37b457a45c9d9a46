#include "base/app_version.h"

#include <stdint.h>

#include "tests/support/unit.h"

/* Each is newer than the one before it. */
static const char *const ASCENDING[] = {
    "dev",
    "0.0.1-alpha",
    "0.0.1",
    "0.1",
    "1-rc.1",
    "1",
    "1.0.0.1",
    "1.0.1",
    "1.2b2",
    "1.2b10",
    "1.2fc1",
    "1.2",
    "1.2.1-beta",
    "1.2.1",
    "1.9",
    "1.10",
    "1.10.0.7",
    "2-alpha.1",
    "2-alpha.2",
    "2-alpha.10",
    "2-beta",
    "2",
    "7.2.1",
    "7.3.0",
    "7.3.0.1",
    "7.30",
    "10.0",
    "2024.11.29",
    "18446744073709551615",
    "18446744073709551616",
    "99999999999999999999999999999999999999999999",
};
#define COUNT (sizeof(ASCENDING) / sizeof(ASCENDING[0]))

START_TEST(order_is_total)
{
    for (size_t i = 0; i < COUNT; i++) {
        for (size_t k = 0; k < COUNT; k++) {
            int want = i < k ? -1 : i > k ? 1 : 0;
            ck_assert_msg(app_version_order(ASCENDING[i], ASCENDING[k]) == want, "%s and %s",
                          ASCENDING[i], ASCENDING[k]);
        }
    }
}
END_TEST

static const char *const SAME[][2] = {
    {"7.3", "7.3.0"},         {"7.3", "7.3.0.0.0"},  {"007.03", "7.3"},     {"v7.3", "7.3"},
    {"V7.3", "7.3"},          {" 7.3\t", "7.3"},     {"7.3+build5", "7.3"}, {"7.3.", "7.3"},
    {"7..3", "7.0.3"},        {"1.0-b01", "1.0-b1"}, {"", "dev"},           {"(other)", ""},
    {"7.3-rc+5", "7.3-rc+6"}, {"-1", "x"},           {".5", "beta"},        {"0", "0.0"},
};

START_TEST(the_same)
{
    for (size_t i = 0; i < sizeof(SAME) / sizeof(SAME[0]); i++) {
        ck_assert_msg(app_version_order(SAME[i][0], SAME[i][1]) == 0, "%s, %s", SAME[i][0],
                      SAME[i][1]);
        ck_assert_int_eq(app_version_order(SAME[i][1], SAME[i][0]), 0);
    }
}
END_TEST

START_TEST(what_is_known)
{
    static const char *const known[] = {"0", "1", "7.3.0", "v2", " 3 ", "4-beta", "20G75"};
    static const char *const unknown[] = {"",   " ",  "v",  "dev",  "(other)",
                                          ".1", "-1", "+1", "beta1"};
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        ck_assert_msg(app_version_known(known[i]), "%s", known[i]);
    for (size_t i = 0; i < sizeof(unknown) / sizeof(unknown[0]); i++)
        ck_assert_msg(!app_version_known(unknown[i]), "%s", unknown[i]);
    ck_assert(!app_version_known(NULL));
    ck_assert_int_eq(app_version_order(NULL, NULL), 0);
    ck_assert_int_lt(app_version_order(NULL, "0"), 0);
}
END_TEST

START_TEST(releases)
{
    ck_assert(app_release_newer("7.3.1", "1", "7.3.0", "9999"));
    ck_assert(!app_release_newer("7.2.9", "9999", "7.3.0", "1"));
    ck_assert(!app_release_newer("7.3.0", "7310", "7.3", ""));
    ck_assert(!app_release_newer("7.3.0", "7310", "7.3", NULL));
    ck_assert(!app_release_newer("7.3.0", "", "7.3", "7310"));
    ck_assert(app_release_newer("7.3.0", "7311", "7.3", "7310"));
    ck_assert(app_release_newer("7.3.0", "7310.1", "7.3", "7310"));
    ck_assert(!app_release_newer("7.3.0", "7310", "7.3", "7310"));
    ck_assert(!app_release_newer("", "7311", "7.3", "7310"));
    ck_assert(!app_release_newer("(other)", "", "7.3", ""));
    ck_assert(!app_release_newer("7.4", "", "", ""));
    ck_assert(!app_release_newer("7.4-beta.1", "1", "7.4", ""));
    ck_assert(app_release_newer("7.4", "1", "7.4-beta.1", ""));
    ck_assert_int_gt(app_release_order("7.3", "11", "7.3.0", "2"), 0);
    ck_assert_int_lt(app_release_order("7.3", "11", "7.4", "2"), 0);
    ck_assert_int_eq(app_release_order("7.3", "11", "7.3.0", "11.0"), 0);
    ck_assert_int_lt(app_release_pick("7.3", "11", "7.3.0", "11.0"), 0);
    ck_assert_int_lt(app_release_pick("7.3", "11", "7.3", "11.0"), 0);
    ck_assert_int_gt(app_release_pick("7.4", NULL, "7.3.0", "11.0"), 0);
    ck_assert_int_eq(app_release_pick(NULL, "", "", NULL), 0);
}
END_TEST

/* Random texts over a hostile alphabet: the order is antisymmetric and transitive. */
START_TEST(random_texts)
{
    static const char alphabet[] = "0019.-+ vab";
    char text[3][9];
    uint64_t state = 42;
    for (int round = 0; round < 200000; round++) {
        for (int i = 0; i < 3; i++) {
            size_t len = 0;
            for (; len < 8; len++) {
                state = state * 6364136223846793005u + 1442695040888963407u;
                text[i][len] = alphabet[(state >> 33) % (sizeof(alphabet) - 1)];
                if ((state >> 60) == 0)
                    break;
            }
            text[i][len] = '\0';
        }
        int ab = app_version_order(text[0], text[1]);
        int bc = app_version_order(text[1], text[2]);
        int ac = app_version_order(text[0], text[2]);
        ck_assert_int_eq(ab, -app_version_order(text[1], text[0]));
        if (ab <= 0 && bc <= 0)
            ck_assert_msg(ac <= 0 && (ac < 0) == (ab < 0 || bc < 0), "\"%s\" \"%s\" \"%s\"",
                          text[0], text[1], text[2]);
    }
}
END_TEST

UNIT_MAIN("app_version", order_is_total, the_same, what_is_known, releases, random_texts)
