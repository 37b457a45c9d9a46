/* The skim gives what a full walk with libdwarf gives, on every file there is. */
#include "symbolizer/dwarf_full.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/dwarf_bytes.h"
#include "tests/support/files.h"
#include "tests/support/unit.h"

static bool same_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

static bool same_entry(const struct dwarf_entry *a, const struct dwarf_entry *b)
{
    return a->offset == b->offset && a->low == b->low && a->high == b->high &&
           a->ranges == b->ranges && a->origin == b->origin && same_text(a->name, b->name) &&
           same_text(a->linkage, b->linkage) && a->parent == b->parent &&
           a->call_line == b->call_line && a->call_file == b->call_file &&
           a->high_form == b->high_form && a->ranges_form == b->ranges_form &&
           a->inlined == b->inlined && a->has_low == b->has_low &&
           a->has_call_file == b->has_call_file && a->external == b->external;
}

/* A unit of which dsymutil kept nothing: libdwarf reads on into the next one. */
static bool is_empty(const struct dwarf *d, const struct dwarf_unit *u)
{
    struct cursor c = dwarf_unit_cursor(d, u, u->dies);
    return cursor_uleb(&c) == 0;
}

/* The number of entries compared. */
static size_t compare(const struct object *o, const char *what)
{
    struct error error;
    struct dwarf *d = NULL;
    struct dwarf_object *lib = NULL;
    struct dwarf_skim fast = {0}, full = {0};
    size_t compared = 0;
    if (dwarf_open(o, NULL, &d, &error) == ERR_NOT_FOUND)
        return 0;
    ck_assert_ptr_nonnull(d);
    ck_assert_msg(dwarf_object_open(o, &lib, &error) == ERR_OK, "%s: %s", what, error.text);
    for (size_t i = 0; i < d->unit_count; i++) {
        const struct dwarf_unit *u = &d->units[i];
        if (is_empty(d, u))
            continue;
        const char *damage = dwarf_skim_unit(d, u, &fast);
        ck_assert_msg(!damage, "%s: unit 0x%lx: %s", what, (unsigned long)u->offset, damage);
        damage = dwarf_full_unit(lib, u, &full);
        ck_assert_msg(!damage, "%s: unit 0x%lx: %s", what, (unsigned long)u->offset, damage);
        ck_assert_uint_eq(fast.count, full.count);
        for (size_t k = 0; k < fast.count; k++)
            ck_assert_msg(same_entry(&fast.entries[k], &full.entries[k]), "%s: DIE 0x%lx", what,
                          (unsigned long)fast.entries[k].offset);
        compared += fast.count;
    }
    dwarf_skim_done(&fast);
    dwarf_skim_done(&full);
    dwarf_object_close(lib);
    dwarf_close(d);
    return compared;
}

static size_t compare_file(const char *path)
{
    struct mapped file;
    struct object_slice slices[OBJECT_SLICES_MAX];
    size_t count = OBJECT_SLICES_MAX, compared = 0;
    struct error problem, error;
    if (!map_file(path, &file))
        return 0;
    ck_assert(!object_slices(file.data, file.size, slices, &count, &problem, &error));
    for (size_t i = 0; i < count; i++) {
        struct object *o;
        if (object_open(file.data + slices[i].offset, slices[i].size, &o, &error))
            continue;
        compared += compare(o, path);
        object_close(o);
    }
    unmap_file(&file);
    return compared;
}

START_TEST(equal_on_sample_files)
{
    char path[1024], line[4096];
    const char *table = shared_data("SYMBOLS.tsv", path, sizeof(path));
    if (!table)
        return;
    FILE *f = fopen(table, "r");
    ck_assert_ptr_nonnull(f);
    size_t compared = 0;
    while (fgets(line, sizeof(line), f)) {
        char name[1024];
        line[strcspn(line, "\t")] = 0;
        snprintf(name, sizeof(name), "symbols/%.900s", line);
        if (*line != '#' && shared_data(name, path, sizeof(path)))
            compared += compare_file(path);
    }
    fclose(f);
    ck_assert_uint_gt(compared, 50000);
}
END_TEST

/* libdwarf reads a DWARF 5 object from sections under their ELF names. */
START_TEST(equal_on_hand_made_units)
{
    struct dwarf_bytes b;
    dwarf_bytes_init(&b);
    /* bases behind their user, implicit_const, strx, addrx, indirect */
    dwarf_abbreviation(&b, 1, 0x11, 1,
                       (const uint64_t[]){0x03, 0x1a, 0x72, 0x17, 0x73, 0x17, 0x11, 0x1b, 0, 0});
    dwarf_abbreviation(&b, 900, 0x2e, 1,
                       (const uint64_t[]){0x11, 0x1b, 0x12, 0x06, 0x03, 0x25, 0x3f, 0x19, 0, 0});
    dwarf_abbreviation(&b, 70, 0x0b, 1, (const uint64_t[]){0, 0});
    dwarf_abbreviation(
        &b, 7, 0x1d, 0,
        (const uint64_t[]){0x11, 0x01, 0x12, 0x0b, 0x31, 0x13, 0x58, 0x21, 3, 0x59, 0x16, 0, 0});
    buf_u8(&b.abbrev, 0);
    dwarf_unit_begin(&b, 5, 0);
    buf_uleb(&b.info, 1);
    buf_uleb(&b.info, 0);
    buf_u32(&b.info, 8);
    buf_u32(&b.info, 8);
    buf_uleb(&b.info, 0);
    uint32_t function = (uint32_t)b.info.len;
    buf_uleb(&b.info, 900);
    buf_uleb(&b.info, 0);
    buf_u32(&b.info, 0x100);
    buf_u8(&b.info, 1);
    buf_uleb(&b.info, 70);
    buf_uleb(&b.info, 7);
    buf_u64(&b.info, CODE + 0x10);
    buf_u8(&b.info, 0x20);
    buf_u32(&b.info, function);
    buf_uleb(&b.info, 0x05); /* indirect: data2 */
    buf_u16(&b.info, 77);
    buf_put(&b.info, "\0\0", 3);
    dwarf_unit_end(&b);
    dwarf_string(&b, "unit.c");
    buf_u32(&b.str_offsets, 12);
    buf_u32(&b.str_offsets, 5);
    buf_u32(&b.str_offsets, 0);
    buf_u32(&b.str_offsets, dwarf_string(&b, "work"));
    buf_u32(&b.addr, 12);
    buf_u32(&b.addr, 0x00080005);
    buf_u64(&b.addr, CODE);
    struct object *o = dwarf_bytes_open(&b, NULL, 0);
    struct dwarf *d;
    struct dwarf_skim s = {0};
    ck_assert_uint_eq(compare(o, "hand-made"), 2);
    ck_assert_int_eq(dwarf_open(o, NULL, &d, NULL), ERR_OK);
    ck_assert_ptr_null(dwarf_skim_unit(d, &d->units[0], &s));
    ck_assert_str_eq(d->units[0].name, "unit.c");
    ck_assert_str_eq(s.entries[0].name, "work");
    ck_assert_uint_eq(s.entries[0].low, CODE);
    ck_assert_uint_eq(s.entries[1].call_file, 3);
    ck_assert_uint_eq(s.entries[1].call_line, 77);
    ck_assert_uint_eq(s.entries[1].parent, 0);
    dwarf_skim_done(&s);
    dwarf_close(d);
    dwarf_bytes_done(&b);
}
END_TEST

UNIT_MAIN("dwarf_full", equal_on_sample_files, equal_on_hand_made_units)
