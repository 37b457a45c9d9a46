#include "server/ingest/text_span.h"

#include <string.h>

#include "tests/support/unit.h"

static struct text_span of(const char *s)
{
    return text_span_of(s, strlen(s));
}

START_TEST(numbers)
{
    static const struct {
        const char *text;
        size_t hex, number;
        uint64_t value;
    } rows[] = {
        {"0x10 rest", 4, 1, 16},
        {"0X1f", 4, 1, 31},
        {"0x", 0, 1, 0},
        {"0xg", 0, 1, 0},
        {"0xffffffffffffffff", 18, 1, UINT64_MAX},
        {"0x1ffffffffffffffff", 0, 1, 0}, /* 17 digits */
        {"12ab", 0, 2, 12},
        {"999999999999999999", 0, 18, 999999999999999999},
        {"1000000000000000000", 0, 0, 0},
        {"", 0, 0, 0},
        {"-1", 0, 0, 0},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        uint64_t v = 0;
        ck_assert_msg(text_hex(of(rows[i].text), &v) == rows[i].hex, "%s", rows[i].text);
        if (rows[i].hex > 0)
            ck_assert_uint_eq(v, rows[i].value);
        v = 0;
        ck_assert_msg(text_number(of(rows[i].text), &v) == rows[i].number, "%s", rows[i].text);
        if (rows[i].hex == 0)
            ck_assert_uint_eq(v, rows[i].value);
    }
}
END_TEST

START_TEST(pieces)
{
    struct text_span t = of("a (b (c) d)");
    ck_assert_uint_eq(text_opening(t), 2);
    ck_assert_uint_eq(text_opening(of("(c) d")), TEXT_NOWHERE);
    ck_assert_uint_eq(text_opening(of("c))")), TEXT_NOWHERE);
    ck_assert_uint_eq(text_opening(of("")), TEXT_NOWHERE);
    ck_assert_uint_eq(text_find(t, "("), 2);
    ck_assert_uint_eq(text_find_last(t, "("), 5);
    ck_assert_uint_eq(text_find(t, "x"), TEXT_NOWHERE);
    ck_assert_uint_eq(text_find_last(t, "a (b (c) d)!"), TEXT_NOWHERE);
    ck_assert(text_is(text_trim(of(" \t x y\t")), "x y"));
    ck_assert_uint_eq(text_trim(of(" \t ")).len, 0);
    ck_assert(text_is(text_from(t, 9), "d)"));
    ck_assert_uint_eq(text_from(t, 99).len, 0);
    ck_assert_uint_eq(text_until(t, TEXT_NOWHERE).len, 11);
    ck_assert(text_starts(t, "a (") && text_ends(t, "d)") && !text_ends(of(")"), "d)"));
}
END_TEST

UNIT_MAIN("text_span", numbers, pieces)
