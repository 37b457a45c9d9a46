#include "base/buf.h"

#include <string.h>

#include "base/bytes.h"
#include "tests/support/unit.h"

START_TEST(limit_sticks)
{
    struct buf b;
    buf_init(&b, 5);
    ck_assert(buf_puts(&b, "abc"));
    ck_assert(!buf_puts(&b, "def"));
    ck_assert(b.failed);
    ck_assert(!buf_putc(&b, 'x'));
    ck_assert_str_eq(b.data, "abc");
    buf_clear(&b);
    ck_assert(buf_puts(&b, "12345"));
    ck_assert_uint_eq(b.len, 5);
    ck_assert_uint_eq(strlen(b.data), 5);
    buf_done(&b);
}
END_TEST

/* What was appended since is taken back, a failure too; there is a NUL again. */
START_TEST(goes_back)
{
    struct buf b;
    buf_init(&b, 8);
    ck_assert(buf_puts(&b, "[1,2]"));
    buf_shorten(&b, 4);
    ck_assert_str_eq(b.data, "[1,2");
    ck_assert(!buf_puts(&b, ",3456"));
    ck_assert(b.failed && b.capped);
    buf_shorten(&b, 4);
    ck_assert(!b.failed && !b.capped);
    ck_assert(buf_putc(&b, ']'));
    ck_assert_str_eq(b.data, "[1,2]");
    buf_done(&b);
    buf_init(&b, 8);
    buf_shorten(&b, 0);
    ck_assert_uint_eq(b.len, 0);
    buf_done(&b);
}
END_TEST

START_TEST(long_prints)
{
    struct buf b;
    char text[2000];
    memset(text, 'y', sizeof(text) - 1);
    text[sizeof(text) - 1] = 0;
    buf_init(&b, 100000);
    ck_assert(buf_printf(&b, "%s|%d", text, 5));
    ck_assert_uint_eq(b.len, sizeof(text) + 1);
    size_t len = 0;
    char *taken = buf_take(&b, &len);
    ck_assert_uint_eq(len, sizeof(text) + 1);
    ck_assert_ptr_null(b.data);
    free(taken);
    buf_done(&b);
}
END_TEST

START_TEST(leb128_round_trip)
{
    static const uint64_t values[] = {0, 1, 127, 128, 16383, 16384, INT64_MAX, UINT64_MAX};
    struct buf b;
    buf_init(&b, 1000);
    for (size_t i = 0; i < 8; i++) {
        buf_clear(&b);
        buf_uleb(&b, values[i]);
        buf_sleb(&b, (int64_t)values[i]);
        buf_sleb(&b, -(int64_t)(values[i] / 2));
        struct cursor c = cursor_of(b.data, b.len);
        ck_assert_uint_eq(cursor_uleb(&c), values[i]);
        ck_assert_int_eq(cursor_sleb(&c), (int64_t)values[i]);
        ck_assert_int_eq(cursor_sleb(&c), -(int64_t)(values[i] / 2));
        ck_assert(!c.overrun && cursor_left(&c) == 0);
    }
    buf_done(&b);
}
END_TEST

START_TEST(json_strings)
{
    static const struct {
        const char *in, *out;
    } cases[] = {
        {"plain", "\"plain\""},
        {"a\"b\\c", "\"a\\\"b\\\\c\""},
        {"\n\t\x01\x7f", "\"\\n\\u0009\\u0001\\u007f\""},
        {"\xe5\x8d\xa1\xe9\xa1\xbf", "\"\xe5\x8d\xa1\xe9\xa1\xbf\""},
        {"\xf0\x9f\x98\x80", "\"\xf0\x9f\x98\x80\""},
        {"\xff", "\"\\ufffd\""},
        {"\xc0\xaf", "\"\\ufffd\\ufffd\""},
        {"\xed\xa0\x80", "\"\\ufffd\\ufffd\\ufffd\""},
        {"\xe5\x8d", "\"\\ufffd\\ufffd\""},
        {"\xf5\x80\x80\x80", "\"\\ufffd\\ufffd\\ufffd\\ufffd\""},
        {"", "\"\""},
    };
    struct buf b;
    buf_init(&b, 1000);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        buf_clear(&b);
        ck_assert(buf_json_string(&b, cases[i].in));
        ck_assert_str_eq(b.data, cases[i].out);
    }
    buf_clear(&b);
    buf_json_string(&b, NULL);
    ck_assert_str_eq(b.data, "null");
    buf_done(&b);
}
END_TEST

UNIT_MAIN("buf", limit_sticks, goes_back, long_prints, leb128_round_trip, json_strings)
