#include "base/utf8.h"

#include <string.h>

#include "tests/support/unit.h"

static const struct {
    const char *text;
    bool valid;
} CASES[] = {
    {"", true},
    {"abc", true},
    {"\xc3\xa9\xe6\xbc\xa2\xf0\x9f\x98\x80", true},
    {"\xed\x9f\xbf\xee\x80\x80", true}, /* around the surrogates */
    {"\xf4\x8f\xbf\xbf", true},         /* U+10FFFF */
    {"\xf4\x90\x80\x80", false},
    {"\xc0\xaf", false},     /* overlong slash */
    {"\xe0\x80\xaf", false}, /* the same in three */
    {"\xf0\x80\x80\xaf", false},
    {"\xed\xa0\x80", false}, /* surrogate */
    {"\xff", false},
    {"\x80", false},
    {"\xe6\xbc", false}, /* cut */
    {"a\xc3", false},
};

START_TEST(well_formed_or_not)
{
    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++)
        ck_assert_msg(utf8_valid(CASES[i].text, strlen(CASES[i].text)) == CASES[i].valid,
                      "case %zu", i);
}
END_TEST

START_TEST(length_of_a_sequence)
{
    ck_assert_uint_eq(utf8_sequence("a", 1), 1);
    ck_assert_uint_eq(utf8_sequence("\xf0\x9f\x98\x80", 4), 4);
    ck_assert_uint_eq(utf8_sequence("\xf0\x9f\x98\x80", 3), 0);
}
END_TEST

START_TEST(encodes_what_is_valid_again)
{
    static const uint32_t points[] = {1,      0x7f,   0x80,    0x7ff,   0x800,
                                      0xd7ff, 0xffff, 0x10000, 0x10ffff};
    static const size_t sizes[] = {1, 1, 2, 2, 3, 3, 3, 4, 4};
    for (size_t i = 0; i < sizeof(points) / sizeof(points[0]); i++) {
        char out[4];
        ck_assert_uint_eq(utf8_encode(points[i], out), sizes[i]);
        ck_assert(utf8_valid(out, sizes[i]));
    }
    char smile[4];
    ck_assert_uint_eq(utf8_encode(0x1f600, smile), 4);
    ck_assert_mem_eq(smile, "\xf0\x9f\x98\x80", 4);
}
END_TEST

/* "é漢": two bytes, three bytes. */
START_TEST(cut_between_sequences)
{
    static const size_t kept[] = {0, 0, 2, 2, 2};
    for (size_t max = 0; max < 5; max++)
        ck_assert_uint_eq(utf8_cut("\xc3\xa9\xe6\xbc\xa2", max), kept[max]);
}
END_TEST

UNIT_MAIN("utf8", cut_between_sequences, encodes_what_is_valid_again, well_formed_or_not,
          length_of_a_sequence)
