#include "base/bytes.h"

#include "tests/support/unit.h"

START_TEST(reads_stop_at_the_end)
{
    static const uint8_t data[] = {1, 2, 3, 4, 5};
    struct cursor c = cursor_of(data, sizeof(data));
    ck_assert_uint_eq(cursor_u32(&c, false), 0x04030201);
    ck_assert(!c.overrun);
    ck_assert_uint_eq(cursor_u16(&c, false), 0);
    ck_assert(c.overrun);
    ck_assert_uint_eq(cursor_left(&c), 0);
    ck_assert_uint_eq(cursor_u8(&c), 0);
    c = cursor_of(data, sizeof(data));
    ck_assert_uint_eq(cursor_u32(&c, true), 0x01020304);
    c = cursor_of(data, sizeof(data));
    ck_assert(!cursor_skip(&c, UINT64_MAX));
    ck_assert(c.overrun);
    c = cursor_of(NULL, 0);
    ck_assert_uint_eq(cursor_u64(&c, false), 0);
    ck_assert(c.overrun);
}
END_TEST

START_TEST(leb128_oddities)
{
    static const uint8_t unterminated[] = {0x80, 0x80};
    static const uint8_t padded[] = {0x81, 0x80, 0x80, 0x00};
    static const uint8_t endless[] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
                                      0xff, 0xff, 0xff, 0xff, 0xff, 0x01};
    static const uint8_t negative[] = {0x7f};
    struct cursor c = cursor_of(unterminated, sizeof(unterminated));
    ck_assert_uint_eq(cursor_uleb(&c), 0);
    ck_assert(c.overrun);
    c = cursor_of(padded, sizeof(padded));
    ck_assert_uint_eq(cursor_uleb(&c), 1);
    ck_assert(!c.overrun && cursor_left(&c) == 0);
    c = cursor_of(endless, sizeof(endless));
    ck_assert_uint_eq(cursor_uleb(&c), UINT64_MAX);
    ck_assert(!c.overrun && cursor_left(&c) == 0);
    c = cursor_of(negative, sizeof(negative));
    ck_assert_int_eq(cursor_sleb(&c), -1);
}
END_TEST

START_TEST(strings_need_their_nul)
{
    struct cursor c = cursor_of("ab\0cd", 5);
    ck_assert_str_eq(cursor_cstr(&c), "ab");
    ck_assert_ptr_null(cursor_cstr(&c));
    ck_assert(c.overrun);
}
END_TEST

START_TEST(slices_are_checked_without_overflow)
{
    struct cursor c = {0};
    ck_assert(bytes_slice("abcd", 4, 1, 3, &c));
    ck_assert_uint_eq(cursor_left(&c), 3);
    ck_assert(bytes_slice("abcd", 4, 4, 0, &c));
    ck_assert(!bytes_slice("abcd", 4, 5, 0, &c));
    ck_assert(!bytes_slice("abcd", 4, 2, 3, &c));
    ck_assert(!bytes_slice("abcd", 4, UINT64_MAX, 2, &c));
    ck_assert(!bytes_slice("abcd", 4, 2, UINT64_MAX, &c));
}
END_TEST

/* An empty blob of the database is a NULL pointer. */
START_TEST(no_bytes_at_all)
{
    struct cursor c = cursor_of(NULL, 0);
    ck_assert_uint_eq(cursor_left(&c), 0);
    ck_assert(cursor_skip(&c, 0) && cursor_take(&c, 0) != NULL && !c.overrun);
    ck_assert_uint_eq(cursor_uleb(&c), 0);
    ck_assert(c.overrun);
    ck_assert(bytes_slice(NULL, 0, 0, 0, &c) && c.p && c.p == c.end && !c.overrun);
    ck_assert(!bytes_slice(NULL, 0, 0, 1, &c));
}
END_TEST

UNIT_MAIN("bytes", reads_stop_at_the_end, leb128_oddities, strings_need_their_nul,
          slices_are_checked_without_overflow, no_bytes_at_all)
