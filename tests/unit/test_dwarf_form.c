#include "symbolizer/dwarf_form.h"

#include <string.h>

#include "symbolizer/dwarf_units.h"
#include "tests/support/unit.h"

static struct dwarf dwarf;
static struct dwarf_unit unit = {.offset = 0x100, .end = 0x200, .sizes = {8, 4, 4}};

static struct dwarf_value value_of(uint64_t form, const void *bytes, size_t len)
{
    struct dwarf_value v;
    struct cursor c = cursor_of(bytes, len);
    ck_assert(dwarf_form_read(&c, form, -7, &dwarf, &unit, &v));
    ck_assert_uint_eq(cursor_left(&c), 0);
    /* Stepping over it takes the same bytes. */
    c = cursor_of(bytes, len);
    ck_assert(dwarf_form_skip(&c, form, &unit.sizes, false));
    ck_assert_uint_eq(cursor_left(&c), 0);
    return v;
}

START_TEST(numbers)
{
    static const char eight[] = "\1\2\3\4\5\6\7\10";
    static const struct {
        uint64_t form;
        size_t len;
        uint64_t number;
    } cases[] = {
        {0x0b, 1, 0x01}, {0x05, 2, 0x0201}, {0x06, 4, 0x04030201}, {0x07, 8, 0x0807060504030201},
        {0x0f, 1, 1},    {0x0d, 1, 1},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct dwarf_value v = value_of(cases[i].form, eight, cases[i].len);
        ck_assert_int_eq(v.class, DWARF_CLASS_CONSTANT);
        ck_assert_uint_eq(v.number, cases[i].number);
    }
    ck_assert_int_eq((int64_t)value_of(0x0d, "\177", 1).number, -1);
    ck_assert_int_eq((int64_t)value_of(0x21, "", 0).number, -7);
    ck_assert_uint_eq(value_of(0x19, "", 0).number, 1);
    ck_assert_int_eq(value_of(0x0c, "\0", 1).class, DWARF_CLASS_FLAG);
    ck_assert_int_eq(value_of(0x01, eight, 8).class, DWARF_CLASS_ADDRESS);
    ck_assert_int_eq(value_of(0x17, eight, 4).class, DWARF_CLASS_OFFSET);
    ck_assert_int_eq(value_of(0x23, "\3", 1).class, DWARF_CLASS_INDEX);
}
END_TEST

START_TEST(references)
{
    ck_assert_uint_eq(value_of(0x11, "\20", 1).number, 0x110);
    ck_assert_uint_eq(value_of(0x13, "\20\0\0\0", 4).number, 0x110);
    ck_assert_uint_eq(value_of(0x15, "\20", 1).number, 0x110);
    ck_assert_uint_eq(value_of(0x10, "\20\0\0\0", 4).number, 0x10);
    /* past the unit, and wrapping */
    ck_assert_int_eq(value_of(0x12, "\0\1", 2).class, DWARF_CLASS_NONE);
    ck_assert_int_eq(value_of(0x14, "\377\377\377\377\377\377\377\377", 8).class, DWARF_CLASS_NONE);
    ck_assert_int_eq(value_of(0x20, "12345678", 8).class, DWARF_CLASS_NONE);
}
END_TEST

START_TEST(texts)
{
    dwarf.str = cursor_of("\0one\0two", 9);
    dwarf.line_str = cursor_of("cut", 3); /* does not end */
    dwarf.str_offsets = cursor_of("........\1\0\0\0\5\0\0\0\377\0\0\0", 20);
    unit.str_offsets_base = 8;
    ck_assert_str_eq(value_of(0x08, "in place", 9).text, "in place");
    ck_assert_str_eq(value_of(0x0e, "\5\0\0\0", 4).text, "two");
    ck_assert_ptr_null(value_of(0x0e, "\11\0\0\0", 4).text);
    ck_assert_ptr_null(value_of(0x1f, "\0\0\0\0", 4).text);
    ck_assert_str_eq(value_of(0x1a, "\0", 1).text, "one");
    ck_assert_str_eq(value_of(0x25, "\1", 1).text, "two");
    ck_assert_ptr_null(value_of(0x26, "\2\0", 2).text);
    ck_assert_ptr_null(value_of(0x27, "\3\0\0", 3).text);
    ck_assert_ptr_null(value_of(0x1a, "\377\377\377\377\377\377\377\377\377\1", 10).text);
    dwarf.str = cursor_of("\0one\0two", 8); /* the last one does not end */
    ck_assert_str_eq(value_of(0x0e, "\1\0\0\0", 4).text, "one");
    ck_assert_ptr_null(value_of(0x0e, "\5\0\0\0", 4).text);
}
END_TEST

START_TEST(addresses_by_index)
{
    dwarf.addr = cursor_of("........\1\0\0\0\0\0\0\0\2\0\0\0\0\0\0\0", 24);
    unit.addr_base = 8;
    ck_assert_uint_eq(value_of(0x1b, "\1", 1).number, 2);
    ck_assert_uint_eq(value_of(0x29, "\0", 1).number, 1);
    ck_assert_int_eq(value_of(0x2c, "\2\0\0\0", 4).class, DWARF_CLASS_NONE);
}
END_TEST

START_TEST(blocks_and_indirect)
{
    ck_assert_int_eq(value_of(0x0a, "\2ab", 3).class, DWARF_CLASS_NONE);
    value_of(0x03, "\2\0ab", 4);
    value_of(0x04, "\2\0\0\0ab", 6);
    value_of(0x18, "\2ab", 3);
    value_of(0x1e, "0123456789abcdef", 16);
    ck_assert_uint_eq(value_of(0x16, "\13\52", 2).number, 42);
    struct dwarf_value v;
    struct cursor c = cursor_of("\26\13\52", 3); /* indirect to indirect */
    ck_assert(!dwarf_form_read(&c, 0x16, 0, &dwarf, &unit, &v));
    c = cursor_of("\5ab", 3);
    ck_assert(!dwarf_form_skip(&c, 0x0a, &unit.sizes, false));
    c = cursor_of("\377\377\377\377ab", 6);
    ck_assert(!dwarf_form_skip(&c, 0x04, &unit.sizes, false));
    c = cursor_of("ab", 2);
    ck_assert(!dwarf_form_skip(&c, 0x08, &unit.sizes, false));
    ck_assert(!dwarf_form_skip(&c, 0x3f, &unit.sizes, false));
}
END_TEST

START_TEST(other_byte_order)
{
    struct cursor c = cursor_of("\1\2\3", 3);
    ck_assert_uint_eq(dwarf_read_uint(&c, 3, true), 0x010203);
    c = cursor_of("\1\2\3", 3);
    ck_assert_uint_eq(dwarf_read_uint(&c, 3, false), 0x030201);
    c = cursor_of("\1\2", 2);
    ck_assert_uint_eq(dwarf_read_uint(&c, 2, true), 0x0102);
    /* Of longer ones the low 64 bits count. */
    c = cursor_of("\0\0\1\2\3\4\5\6\7\10", 10);
    ck_assert_uint_eq(dwarf_read_uint(&c, 10, true), 0x0102030405060708);
    c = cursor_of("\10\7\6\5\4\3\2\1\0\0", 10);
    ck_assert_uint_eq(dwarf_read_uint(&c, 10, false), 0x0102030405060708);
}
END_TEST

UNIT_MAIN("dwarf_form", numbers, references, texts, addresses_by_index, blocks_and_indirect,
          other_byte_order)
