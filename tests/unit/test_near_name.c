#include "base/near_name.h"

#include <string.h>

#include "tests/support/unit.h"

START_TEST(slips_are_counted)
{
    static const struct {
        const char *a, *b;
        size_t slips;
    } cases[] = {
        {"port", "port", 0},
        {"PORT", "port", 0},
        {"prot", "port", 1},
        {"HTPP_PROT", "http_port", 2},
        {"por", "port", 1},
        {"ports", "port", 1},
        {"pork", "port", 1},
        {"body_byte", "body_bytes", 1},
        {"retention_days", "report_days", NEAR_NAME_FAR},
        {"", "", 0},
        {"", "a", NEAR_NAME_FAR},
        {"ab", "cd", NEAR_NAME_FAR},
        {"on", "no", 1},
        {"log", "log_level", NEAR_NAME_FAR},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        ck_assert_msg(near_name(cases[i].a, cases[i].b) == cases[i].slips, "%s %s: %zu", cases[i].a,
                      cases[i].b, near_name(cases[i].a, cases[i].b));
        ck_assert_uint_eq(near_name(cases[i].b, cases[i].a), cases[i].slips);
    }
}
END_TEST

START_TEST(long_names_are_far)
{
    char a[NEAR_NAME_LEN_MAX + 2];
    memset(a, 'a', sizeof(a));
    a[NEAR_NAME_LEN_MAX] = 0;
    ck_assert_uint_eq(near_name(a, a), 0);
    a[NEAR_NAME_LEN_MAX] = 'a';
    a[NEAR_NAME_LEN_MAX + 1] = 0;
    ck_assert_uint_eq(near_name(a, a), NEAR_NAME_FAR);
}
END_TEST

UNIT_MAIN("near_name", slips_are_counted, long_names_are_far)
