#include "symbolizer/dwarf_ranges.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "tests/support/unit.h"

#define LOW ((uint64_t)0x1000)

static struct dwarf dwarf;
static struct dwarf_unit unit;
static struct dwarf_range_list list;
static struct buf section;

static void begin(uint16_t version)
{
    memset(&dwarf, 0, sizeof(dwarf));
    dwarf.work_limit = 1 << 20;
    unit = (struct dwarf_unit){.version = version, .sizes = {8, 4, 4}, .low_pc = LOW};
    buf_init(&section, 65536);
}

static void finish(void)
{
    free(list.items);
    memset(&list, 0, sizeof(list));
    buf_done(&section);
}

static void read_list(const struct dwarf_entry *e)
{
    struct cursor c = cursor_of(section.data, section.len);
    if (unit.version < 5)
        dwarf.ranges = c;
    else
        dwarf.rnglists = c;
    ck_assert(dwarf_ranges_of(&dwarf, &unit, e, &list));
}

static void expect(const struct object_range *ranges, size_t count)
{
    ck_assert_uint_eq(list.count, count);
    for (size_t i = 0; i < count; i++) {
        ck_assert_uint_eq(list.items[i].start, ranges[i].start);
        ck_assert_uint_eq(list.items[i].end, ranges[i].end);
    }
}

static void pair(uint64_t a, uint64_t b)
{
    buf_u64(&section, a);
    buf_u64(&section, b);
}

START_TEST(low_and_high)
{
    struct dwarf_entry e = {.has_low = true, .low = 0x2000, .high = 0x10};
    begin(4);
    read_list(&e); /* no high_pc: no range */
    expect(NULL, 0);
    e.high_form = DWARF_HIGH_OFFSET;
    read_list(&e);
    e.high_form = DWARF_HIGH_ADDRESS; /* below low: none */
    read_list(&e);
    e.high = 0x2008;
    read_list(&e);
    e.high_form = DWARF_HIGH_OFFSET;
    e.high = UINT64_MAX; /* reaches the end of the address space, and does not wrap */
    read_list(&e);
    expect((const struct object_range[]){{0x2000, 0x2010}, {0x2000, 0x2008}, {0x2000, UINT64_MAX}},
           3);
    finish();
}
END_TEST

START_TEST(debug_ranges)
{
    struct dwarf_entry e = {.ranges_form = DWARF_RANGES_OFFSET, .ranges = 16};
    begin(4);
    pair(0, 0);
    pair(0x10, 0x20); /* from the unit's low_pc */
    pair(0x30, 0x30); /* empty */
    pair(0x50, 0x40); /* backward */
    pair(UINT64_MAX, 0x8000);
    pair(0x10, 0x20); /* from the base just set */
    pair(0, 0);
    pair(1, 2);
    read_list(&e);
    expect((const struct object_range[]){{0x1010, 0x1020}, {0x8010, 0x8020}}, 2);
    ck_assert(!list.damaged);
    finish();
}
END_TEST

START_TEST(addresses_of_four_bytes)
{
    struct dwarf_entry e = {.ranges_form = DWARF_RANGES_OFFSET};
    begin(3);
    unit.sizes.address = 4;
    buf_u32(&section, UINT32_MAX);
    buf_u32(&section, 0x4000);
    buf_u32(&section, 0x10);
    buf_u32(&section, 0x20);
    pair(0, 0);
    read_list(&e);
    expect((const struct object_range[]){{0x4010, 0x4020}}, 1);
    dwarf.thumb = true;
    e = (struct dwarf_entry){
        .has_low = true, .low = 0x4001, .high = 0x20, .high_form = DWARF_HIGH_OFFSET};
    read_list(&e);
    ck_assert_uint_eq(list.items[1].start, 0x4000);
    finish();
}
END_TEST

START_TEST(rnglists_of_all_kinds)
{
    struct dwarf_entry e = {.ranges_form = DWARF_RANGES_INDEX, .ranges = 1};
    static const char addr[] = "\0\0\0\0\0\0\0\0\0\x50\0\0\0\0\0\0\0\x60\0\0\0\0\0\0";
    begin(5);
    dwarf.addr = cursor_of(addr, 24);
    unit.addr_base = 8;
    unit.rnglists_base = 12;
    buf_put(&section, "header......", 12);
    buf_u32(&section, 8); /* index 0: an empty list */
    buf_u32(&section, 9);
    buf_u8(&section, 0);
    buf_put(&section, "\4\20\40", 3); /* offset pair: 0x1010-0x1020 */
    buf_put(&section, "\1\0", 2);     /* base is address 0: 0x5000 */
    buf_put(&section, "\4\1\2", 3);
    buf_put(&section, "\2\0\1", 3);  /* startx_endx: 0x5000-0x6000 */
    buf_put(&section, "\3\1\10", 3); /* startx_length: 0x6000, 8 */
    buf_u8(&section, 5);
    buf_u64(&section, 0x7000);
    buf_put(&section, "\4\0\4", 3);
    buf_u8(&section, 6);
    pair(0x8000, 0x8001);
    buf_u8(&section, 7);
    buf_u64(&section, 0x9000);
    buf_u8(&section, 9);
    buf_u8(&section, 0);
    read_list(&e);
    expect((const struct object_range[]){{0x1010, 0x1020},
                                         {0x5001, 0x5002},
                                         {0x5000, 0x6000},
                                         {0x6000, 0x6008},
                                         {0x7000, 0x7004},
                                         {0x8000, 0x8001},
                                         {0x9000, 0x9009}},
           7);
    ck_assert(!list.damaged);
    list.count = 0;
    e.ranges = 0;
    read_list(&e);
    expect(NULL, 0);
    /* As an offset into the section, too. */
    e = (struct dwarf_entry){.ranges_form = DWARF_RANGES_OFFSET, .ranges = 21};
    read_list(&e);
    ck_assert_uint_eq(list.count, 7);
    finish();
}
END_TEST

START_TEST(damaged_lists_keep_what_came_before)
{
    struct dwarf_entry e = {.ranges_form = DWARF_RANGES_OFFSET};
    begin(4);
    pair(0x10, 0x20);
    buf_u64(&section, 0x30);
    read_list(&e);
    ck_assert(list.damaged);
    expect((const struct object_range[]){{0x1010, 0x1020}}, 1);
    e.ranges = 1000;
    list.damaged = false;
    read_list(&e);
    ck_assert(list.damaged);
    finish();
    begin(5);
    buf_put(&section, "\4\20\40\77", 4); /* a kind that does not exist */
    e.ranges = 0;
    read_list(&e);
    ck_assert(list.damaged);
    ck_assert_uint_eq(list.count, 1);
    e = (struct dwarf_entry){.ranges_form = DWARF_RANGES_INDEX, .ranges = UINT64_MAX / 2};
    list.damaged = false;
    read_list(&e);
    ck_assert(list.damaged);
    finish();
}
END_TEST

/* Many DIEs that share one long list end in a verdict. */
START_TEST(work_is_bounded)
{
    struct dwarf_entry e = {.ranges_form = DWARF_RANGES_OFFSET};
    bool good = true;
    begin(4);
    for (int i = 0; i < 100; i++)
        pair(0x10, 0x20);
    pair(0, 0);
    dwarf.ranges = cursor_of(section.data, section.len);
    int lists = 0;
    for (; good && lists < 100000; lists++) {
        list.count = 0;
        good = dwarf_ranges_of(&dwarf, &unit, &e, &list);
    }
    ck_assert(!good);
    ck_assert(dwarf_exhausted(&dwarf));
    ck_assert_int_lt(lists, 1000);
    finish();
}
END_TEST

START_TEST(joins_what_touches)
{
    struct object_range r[] = {{50, 60}, {10, 20}, {20, 30}, {55, 58}, {40, 45}, {15, 18}};
    ck_assert_uint_eq(dwarf_ranges_join(r, 6), 3);
    ck_assert_uint_eq(r[0].start, 10);
    ck_assert_uint_eq(r[0].end, 30);
    ck_assert_uint_eq(r[1].start, 40);
    ck_assert_uint_eq(r[2].end, 60);
    ck_assert_uint_eq(dwarf_ranges_join(r, 0), 0);
}
END_TEST

UNIT_MAIN("dwarf_ranges", low_and_high, debug_ranges, addresses_of_four_bytes,
          rnglists_of_all_kinds, damaged_lists_keep_what_came_before, work_is_bounded,
          joins_what_touches)
