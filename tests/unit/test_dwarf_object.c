#include "symbolizer/dwarf_object.h"

#include <string.h>

#include "tests/support/dwarf_bytes.h"
#include "tests/support/unit.h"

START_TEST(libdwarf_reads_our_sections)
{
    struct dwarf_bytes b;
    struct dwarf_object *d = NULL;
    struct error error;
    Dwarf_Die die = NULL;
    Dwarf_Error e = NULL;
    char *name = NULL;
    dwarf_bytes_init(&b);
    dwarf_abbreviation(&b, 1, 0x11, 0, (const uint64_t[]){0x03, 0x25, 0x72, 0x17, 0, 0});
    buf_u8(&b.abbrev, 0);
    buf_u32(&b.str_offsets, 8);
    buf_u32(&b.str_offsets, 5);
    buf_u32(&b.str_offsets, dwarf_string(&b, "a.c"));
    dwarf_unit_begin(&b, 5, 0);
    buf_put(&b.info, "\1\0\10\0\0\0", 6);
    dwarf_unit_end(&b);
    struct object *o = dwarf_bytes_open(&b, NULL, 0);
    ck_assert_msg(!dwarf_object_open(o, &d, &error), "%s", error.text);
    ck_assert_int_eq(dwarf_offdie_b(dwarf_object_debug(d), 12, 1, &die, &e), DW_DLV_OK);
    ck_assert_int_eq(dwarf_diename(die, &name, &e), DW_DLV_OK);
    ck_assert_str_eq(name, "a.c");
    dwarf_dealloc(dwarf_object_debug(d), die, DW_DLA_DIE);
    dwarf_object_close(d);
    dwarf_bytes_done(&b);
}
END_TEST

START_TEST(objects_without_dwarf)
{
    struct dwarf_bytes b;
    struct dwarf_object *d = NULL;
    struct error error;
    dwarf_bytes_init(&b);
    struct object *o = dwarf_bytes_open(&b, NULL, 0);
    ck_assert_int_eq(dwarf_object_open(o, &d, &error), ERR_NOT_FOUND);
    ck_assert_ptr_null(d);
    dwarf_object_close(NULL);
    dwarf_bytes_done(&b);
}
END_TEST

UNIT_MAIN("dwarf_object", libdwarf_reads_our_sections, objects_without_dwarf)
