#include "symbolizer/dwarf_abbrev.h"

#include <string.h>

#include "base/buf.h"
#include "tests/support/dwarf_bytes.h"
#include "tests/support/unit.h"

static const struct dwarf_sizes sizes = {8, 4, 4};

static void read_with(struct dwarf_bytes *b, const struct dwarf_sizes *s, struct dwarf_abbrevs *ret)
{
    dwarf_abbrevs_read(cursor_of(b->abbrev.data, b->abbrev.len), s, ret);
}

START_TEST(sparse_unordered_and_wide_codes)
{
    struct dwarf_bytes b;
    struct dwarf_abbrevs a;
    dwarf_bytes_init(&b);
    dwarf_abbreviation(&b, 900, 0x2e, 1, (const uint64_t[]){0x11, 0x01, 0, 0});
    dwarf_abbreviation(&b, UINT64_MAX, 0x1d, 0, (const uint64_t[]){0, 0});
    dwarf_abbreviation(&b, 1, 0x11, 1, (const uint64_t[]){0, 0});
    dwarf_abbreviation(&b, 900, 0x24, 0, (const uint64_t[]){0, 0}); /* the first one counts */
    buf_u8(&b.abbrev, 0);
    read_with(&b, &sizes, &a);
    ck_assert_ptr_null(a.damage);
    ck_assert(!a.dense);
    ck_assert_uint_eq(a.count, 3);
    ck_assert_uint_eq(dwarf_abbrevs_find(&a, 900)->tag, 0x2e);
    ck_assert_uint_eq(dwarf_abbrevs_find(&a, 900)->role, DWARF_ROLE_FUNCTION);
    ck_assert_uint_eq(dwarf_abbrevs_find(&a, UINT64_MAX)->role, DWARF_ROLE_INLINE);
    ck_assert_ptr_null(dwarf_abbrevs_find(&a, 2));
    ck_assert_ptr_null(dwarf_abbrevs_find(&a, 0));
    dwarf_abbrevs_done(&a);
    dwarf_bytes_done(&b);
}
END_TEST

START_TEST(dense_codes)
{
    struct dwarf_bytes b;
    struct dwarf_abbrevs a;
    dwarf_bytes_init(&b);
    for (uint64_t code = 1; code <= 300; code++)
        dwarf_abbreviation(&b, code, 0x100 + code, 0, (const uint64_t[]){0, 0});
    /* The last table of a section may lack its end mark. */
    read_with(&b, &sizes, &a);
    ck_assert_ptr_null(a.damage);
    ck_assert(a.dense);
    ck_assert_uint_eq(dwarf_abbrevs_find(&a, 300)->tag, 0x100 + 300);
    ck_assert_ptr_null(dwarf_abbrevs_find(&a, 0));
    ck_assert_ptr_null(dwarf_abbrevs_find(&a, 301));
    dwarf_abbrevs_done(&a);
    dwarf_bytes_done(&b);
}
END_TEST

START_TEST(lengths_depend_on_the_unit)
{
    static const uint64_t specs[] = {0x03, 0x0e, 0x11, 0x01, 0x31, 0x10, 0x3f, 0x19,
                                     0x3a, 0x21, 5,    0x0b, 0x0b, 0,    0};
    static const struct {
        struct dwarf_sizes sizes;
        uint32_t fixed;
    } cases[] = {
        {{8, 4, 4}, 4 + 8 + 4 + 0 + 0 + 1},
        {{8, 4, 8}, 4 + 8 + 8 + 0 + 0 + 1}, /* DWARF 2: ref_addr is an address */
        {{4, 8, 8}, 8 + 4 + 8 + 0 + 0 + 1},
    };
    struct dwarf_bytes b;
    dwarf_bytes_init(&b);
    dwarf_abbreviation(&b, 1, 0x34, 0, specs);
    buf_u8(&b.abbrev, 0);
    for (size_t i = 0; i < 3; i++) {
        struct dwarf_abbrevs a;
        read_with(&b, &cases[i].sizes, &a);
        ck_assert_uint_eq(a.list[0].fixed, cases[i].fixed);
        ck_assert_int_eq(a.specs[a.list[0].first_spec + 4].implicit, 5);
        dwarf_abbrevs_done(&a);
    }
    dwarf_bytes_done(&b);
}
END_TEST

START_TEST(steps_over_values_of_any_length)
{
    static const uint64_t specs[] = {0x03, 0x08, 0x02, 0x18, 0x3a, 0x0b, 0x1c,
                                     0x0d, 0x02, 0x0a, 0x11, 0x01, 0,    0};
    struct dwarf_bytes b;
    struct dwarf_abbrevs a;
    dwarf_bytes_init(&b);
    dwarf_abbreviation(&b, 1, 0x34, 0, specs);
    buf_u8(&b.abbrev, 0);
    read_with(&b, &sizes, &a);
    ck_assert_uint_eq(a.list[0].fixed, DWARF_NOT_FIXED);
    static const char die[] = "name\0\2ab\7\377\177\3xyz12345678";
    for (size_t n = 0; n < sizeof(die); n++) {
        struct cursor c = cursor_of(die, n);
        bool whole = n + 1 >= sizeof(die);
        ck_assert_int_eq(dwarf_abbrev_skip(&a, &a.list[0], &c, false), whole);
        ck_assert(!whole || cursor_left(&c) == 0);
    }
    dwarf_abbrevs_done(&a);
    dwarf_bytes_done(&b);
}
END_TEST

START_TEST(unknown_forms_harm_their_dies_only)
{
    struct dwarf_bytes b;
    struct dwarf_abbrevs a;
    dwarf_bytes_init(&b);
    dwarf_abbreviation(&b, 1, 0x34, 0, (const uint64_t[]){0x03, 0x3f, 0, 0});
    dwarf_abbreviation(&b, 2, 0x34, 0, (const uint64_t[]){0x03, 0x1f21, 0, 0});
    dwarf_abbreviation(&b, 3, 0x34, 0, (const uint64_t[]){0x03, 0x123456789, 0, 0});
    buf_u8(&b.abbrev, 0);
    read_with(&b, &sizes, &a);
    ck_assert_ptr_null(a.damage);
    struct cursor c = cursor_of("1234567890", 10);
    ck_assert(!dwarf_abbrev_skip(&a, &a.list[0], &c, false));
    ck_assert(!dwarf_abbrev_skip(&a, &a.list[2], &c, false));
    ck_assert(dwarf_abbrev_skip(&a, &a.list[1], &c, false));
    ck_assert_uint_eq(cursor_left(&c), 6);
    dwarf_abbrevs_done(&a);
    dwarf_bytes_done(&b);
}
END_TEST

START_TEST(cut_off_tables_are_damaged)
{
    struct dwarf_bytes b;
    dwarf_bytes_init(&b);
    dwarf_abbreviation(&b, 1, 0x34, 0, (const uint64_t[]){0x03, 0x08, 0x3a, 0x0b, 0, 0});
    for (size_t n = 1; n < b.abbrev.len; n++) {
        struct dwarf_abbrevs a;
        dwarf_abbrevs_read(cursor_of(b.abbrev.data, n), &sizes, &a);
        ck_assert_ptr_nonnull(a.damage);
        ck_assert_uint_eq(a.count, 0);
        dwarf_abbrevs_done(&a);
    }
    dwarf_bytes_done(&b);
}
END_TEST

UNIT_MAIN("dwarf_abbrev", sparse_unordered_and_wide_codes, dense_codes, lengths_depend_on_the_unit,
          steps_over_values_of_any_length, unknown_forms_harm_their_dies_only,
          cut_off_tables_are_damaged)
