#include "symbolizer/dwarf_units.h"

#include <string.h>

#include "symbolizer/dwarf_skim.h"
#include "tests/support/dwarf_bytes.h"
#include "tests/support/unit.h"

static struct dwarf_bytes bytes;
static struct dwarf *dwarf;

static void open_object(void)
{
    struct error error;
    dwarf_bytes_open(&bytes, NULL, 0);
    ck_assert_msg(!dwarf_open(bytes.object, NULL, &dwarf, &error), "%s", error.text);
}

static void finish(void)
{
    dwarf_close(dwarf);
    dwarf = NULL;
    dwarf_bytes_done(&bytes);
}

/* A unit with a name and one function, in a version and with an abbreviation table. */
static void unit(uint16_t version, uint32_t table, const char *name)
{
    dwarf_unit_begin(&bytes, version, table);
    buf_u8(&bytes.info, 1);
    buf_put(&bytes.info, name, strlen(name) + 1);
    buf_u8(&bytes.info, 2);
    buf_u64(&bytes.info, CODE);
    buf_u64(&bytes.info, CODE + 8);
    /* DW_FORM_ref_addr: an address in DWARF 2, an offset since */
    buf_put(&bytes.info, "\0\0\0\0\0\0\0", version == 2 ? 8 : 4);
    buf_u8(&bytes.info, 0);
    dwarf_unit_end(&bytes);
}

static void tables(void)
{
    dwarf_bytes_init(&bytes);
    dwarf_abbreviation(&bytes, 1, 0x11, 1, (const uint64_t[]){0x03, 0x08, 0, 0});
    dwarf_abbreviation(&bytes, 2, 0x2e, 0,
                       (const uint64_t[]){0x11, 0x01, 0x12, 0x01, 0x31, 0x10, 0, 0});
    buf_u8(&bytes.abbrev, 0);
}

START_TEST(versions_mixed_on_one_table)
{
    struct dwarf_skim skim = {0};
    tables();
    for (uint16_t v = 2; v <= 5; v++)
        unit(v, 0, "unit");
    unit(2, 0, "again");
    open_object();
    ck_assert_uint_eq(dwarf->unit_count, 5);
    ck_assert_uint_eq(dwarf->table_count, 2);
    for (size_t i = 0; i < 5; i++) {
        ck_assert_ptr_null(dwarf->units[i].damage);
        ck_assert_ptr_null(dwarf_skim_unit(dwarf, &dwarf->units[i], &skim));
        ck_assert_uint_eq(skim.count, 1);
        ck_assert_uint_eq(skim.entries[0].high, CODE + 8);
    }
    ck_assert_str_eq(dwarf->units[4].name, "again");
    const struct dwarf_unit *second = &dwarf->units[1];
    ck_assert_ptr_eq(dwarf_unit_of(dwarf, second->dies), second);
    ck_assert_ptr_eq(dwarf_unit_of(dwarf, second->end - 1), second);
    ck_assert_ptr_null(dwarf_unit_of(dwarf, second->offset)); /* a header holds no DIE */
    ck_assert_ptr_null(dwarf_unit_of(dwarf, dwarf->units[4].end));
    dwarf_skim_done(&skim);
    finish();
}
END_TEST

START_TEST(dwarf_64)
{
    struct dwarf_skim skim = {0};
    dwarf_bytes_init(&bytes);
    dwarf_abbreviation(&bytes, 1, 0x11, 1,
                       (const uint64_t[]){0x03, 0x0e, 0x72, 0x17, 0x25, 0x1a, 0x10, 0x17, 0, 0});
    buf_u8(&bytes.abbrev, 0);
    dwarf_string(&bytes, "first");
    uint32_t at = dwarf_string(&bytes, "wide.c");
    buf_put(&bytes.str_offsets, "0123456789abcdef", 16);
    buf_u64(&bytes.str_offsets, at);
    buf_u32(&bytes.info, 0xffffffff);
    buf_u64(&bytes.info, 2 + 1 + 1 + 8 + 1 + 8 + 8 + 1 + 8 + 1);
    buf_put(&bytes.info, "\5\0\1\10", 4);
    buf_u64(&bytes.info, 0);
    buf_u8(&bytes.info, 1);
    buf_u64(&bytes.info, at);
    buf_u64(&bytes.info, 16);
    buf_u8(&bytes.info, 0);
    buf_u64(&bytes.info, 0x1234);
    buf_u8(&bytes.info, 0);
    open_object();
    ck_assert_uint_eq(dwarf->unit_count, 1);
    ck_assert_uint_eq(dwarf->units[0].sizes.offset, 8);
    ck_assert_str_eq(dwarf->units[0].name, "wide.c");
    ck_assert_uint_eq(dwarf->units[0].stmt_list, 0x1234);
    ck_assert_ptr_null(dwarf_skim_unit(dwarf, &dwarf->units[0], &skim));
    dwarf_skim_done(&skim);
    finish();
}
END_TEST

/* The header of DWARF 5's string offsets differs from unit to unit: each has its own base. */
START_TEST(a_base_for_each_unit)
{
    dwarf_bytes_init(&bytes);
    dwarf_abbreviation(&bytes, 1, 0x11, 0, (const uint64_t[]){0x03, 0x25, 0x72, 0x17, 0, 0});
    buf_u8(&bytes.abbrev, 0);
    buf_put(&bytes.str_offsets, "header..", 8);
    buf_u32(&bytes.str_offsets, dwarf_string(&bytes, "one.c"));
    buf_put(&bytes.str_offsets, "header..", 8);
    buf_u32(&bytes.str_offsets, dwarf_string(&bytes, "two.c"));
    for (uint32_t base = 8; base <= 20; base += 12) {
        dwarf_unit_begin(&bytes, 5, 0);
        buf_put(&bytes.info, "\1\0", 2); /* the name stands before the base it needs */
        buf_u32(&bytes.info, base);
        dwarf_unit_end(&bytes);
    }
    open_object();
    ck_assert_str_eq(dwarf->units[0].name, "one.c");
    ck_assert_str_eq(dwarf->units[1].name, "two.c");
    finish();
}
END_TEST

START_TEST(damaged_headers)
{
    static const struct {
        const char *bytes;
        size_t len;
        size_t units; /* the good one before is counted */
        bool damage;  /* of what follows the units */
    } cases[] = {
        {"\0\0\0\0rest", 8, 1, true},                  /* no length */
        {"\377\377\0\0\4\0", 6, 1, true},              /* runs past */
        {"\360\377\377\377\4\0", 6, 1, true},          /* reserved */
        {"\377\377\377\377\4\0", 6, 1, true},          /* 64 bits, cut off */
        {"\1", 1, 1, true},                            /* cut off */
        {"\7\0\0\0\4\0\0\0\0\0\0", 11, 2, false},      /* address size 0 */
        {"\7\0\0\0\11\0\0\0\0\0\10", 11, 2, false},    /* version 9 */
        {"\7\0\0\0\4\0\377\0\0\0\10", 11, 2, false},   /* abbreviations outside */
        {"\3\0\0\0\4\0\0", 7, 2, false},               /* header cut off by its own length */
        {"\10\0\0\0\4\0\0\0\0\0\10\77", 12, 2, false}, /* unknown abbreviation */
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        tables();
        unit(4, 0, "good");
        buf_put(&bytes.info, cases[i].bytes, cases[i].len);
        open_object();
        ck_assert_uint_eq(dwarf->unit_count, cases[i].units);
        ck_assert_int_eq(dwarf->damage != NULL, cases[i].damage);
        ck_assert_ptr_null(dwarf->units[0].damage);
        if (cases[i].units > 1) {
            ck_assert_ptr_nonnull(dwarf->units[1].damage);
            ck_assert_ptr_null(dwarf_unit_of(dwarf, dwarf->units[1].dies));
        }
        finish();
    }
    /* A unit of which nothing was kept is no damage. */
    tables();
    buf_put(&bytes.info, "\10\0\0\0\4\0\0\0\0\0\10\0", 12);
    open_object();
    ck_assert_ptr_null(dwarf->units[0].damage);
    finish();
}
END_TEST

/* No attribute in the whole table, so that it has no list of them. */
START_TEST(tables_without_attributes)
{
    dwarf_bytes_init(&bytes);
    dwarf_abbreviation(&bytes, 1, 0x11, 1, (const uint64_t[]){0, 0});
    buf_u8(&bytes.abbrev, 0);
    dwarf_unit_begin(&bytes, 4, 0);
    buf_put(&bytes.info, "\1", 2);
    dwarf_unit_end(&bytes);
    open_object();
    ck_assert_ptr_null(dwarf->units[0].damage);
    ck_assert_ptr_null(dwarf->units[0].name);
    finish();
}
END_TEST

START_TEST(where_code_is)
{
    tables();
    unit(4, 0, "unit");
    open_object();
    ck_assert_ptr_nonnull(dwarf_code_at(dwarf, CODE));
    ck_assert_ptr_nonnull(dwarf_code_at(dwarf, CODE_END - 1));
    ck_assert_ptr_null(dwarf_code_at(dwarf, CODE - 1));
    ck_assert_ptr_null(dwarf_code_at(dwarf, CODE_END));
    ck_assert_ptr_null(dwarf_code_at(dwarf, 0));
    dwarf->code_count = 0;
    ck_assert_ptr_null(dwarf_code_at(dwarf, 0));
    ck_assert_ptr_null(dwarf_code_at(dwarf, UINT64_MAX));
    ck_assert_ptr_null(dwarf_code_at(dwarf, UINT64_MAX - 1));
    ck_assert_ptr_nonnull(dwarf_code_at(dwarf, 1));
    finish();
}
END_TEST

START_TEST(no_dwarf)
{
    struct error error;
    struct dwarf *d = NULL;
    dwarf_bytes_init(&bytes);
    dwarf_bytes_open(&bytes, NULL, 0);
    ck_assert_int_eq(dwarf_open(bytes.object, NULL, &d, &error), ERR_NOT_FOUND);
    ck_assert_ptr_null(d);
    finish();
}
END_TEST

START_TEST(languages_with_scopes)
{
    static const uint16_t with[] = {0x04, 0x11, 0x13, 0x19, 0x1a, 0x1c, 0x1e, 0x21, 0x2a, 0x2b};
    static const uint16_t without[] = {0,    0x01, 0x02, 0x0c,
                                       0x10, 0x1d, 0x2c, 0x8001}; /* C, Objective-C */
    for (size_t i = 0; i < sizeof(with) / sizeof(with[0]); i++)
        ck_assert(dwarf_unit_has_scopes(&(struct dwarf_unit){.language = with[i]}));
    for (size_t i = 0; i < sizeof(without) / sizeof(without[0]); i++)
        ck_assert(!dwarf_unit_has_scopes(&(struct dwarf_unit){.language = without[i]}));
}
END_TEST

/* Tables that overlap are read again and again, for nothing if they are damaged. */
START_TEST(damaged_tables_are_work)
{
    dwarf_bytes_init(&bytes);
    for (int i = 0; i < 100000; i++)
        buf_u8(&bytes.abbrev, 1); /* from any offset: one abbreviation without end */
    for (uint32_t i = 0; i < 200; i++) {
        dwarf_unit_begin(&bytes, 4, i);
        dwarf_unit_end(&bytes);
    }
    open_object();
    ck_assert(dwarf_exhausted(dwarf));
    for (size_t i = 0; i < dwarf->table_count; i++) {
        ck_assert_ptr_nonnull(dwarf->tables[i].damage);
        ck_assert_ptr_null(dwarf->tables[i].specs);
    }
    finish();
}
END_TEST

/* A DIE of one byte may have thousands of attributes, all without bytes. */
START_TEST(attributes_without_bytes_are_work)
{
    enum { FLAGS = 20000 };
    static uint64_t specs[2 * FLAGS + 2];
    for (int i = 0; i < FLAGS; i++) {
        specs[2 * i] = 0x3f;
        specs[2 * i + 1] = 0x19; /* DW_FORM_flag_present */
    }
    dwarf_bytes_init(&bytes);
    dwarf_abbreviation(&bytes, 1, 0x11, 0, specs);
    buf_u8(&bytes.abbrev, 0);
    for (int i = 0; i < 2000; i++) {
        dwarf_unit_begin(&bytes, 4, 0);
        buf_u8(&bytes.info, 1);
        dwarf_unit_end(&bytes);
    }
    open_object();
    ck_assert(dwarf_exhausted(dwarf));
    finish();
}
END_TEST

UNIT_MAIN("dwarf_units", languages_with_scopes, versions_mixed_on_one_table, dwarf_64,
          a_base_for_each_unit, damaged_headers, tables_without_attributes, where_code_is, no_dwarf,
          damaged_tables_are_work, attributes_without_bytes_are_work)
