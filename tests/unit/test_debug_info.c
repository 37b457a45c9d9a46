/* Covers: symbolizer/debug_files.c symbolizer/debug_names.c symbolizer/debug_pieces.c
 * Covers: symbolizer/dwarf_inlines.c symbolizer/dwarf_walk.c */
#include "symbolizer/debug_info.h"

#include <elf.h>
#include <stdio.h>
#include <string.h>

#include "symbolizer/debug_info_model.h"
#include "tests/support/dwarf_bytes.h"
#include "tests/support/index_of.h"
#include "tests/support/unit.h"

#define GLOBAL ((STB_GLOBAL << 4) | STT_FUNC)
#define LOCAL  ((STB_LOCAL << 4) | STT_FUNC)

enum {
    UNIT = 1,  /* compile unit: stmt_list, comp_dir, language, low_pc; children */
    FUNCTION,  /* low_pc, high_pc, name; children */
    LINKED,    /* low_pc, high_pc, name, linkage name; children */
    CALL,      /* low_pc, high_pc, origin, call_file, call_line; children */
    RANGED,    /* ranges, name */
    CALL_BARE, /* origin, call_file, call_line; children */
    NAMELESS,  /* low_pc, high_pc */
    ODD,       /* a form nobody knows */
};

static struct dwarf_bytes bytes;
static struct buf program;
static struct index_of made;
static char answer[CHAIN_SIZE];

static void begin(uint8_t language)
{
    dwarf_bytes_init(&bytes);
    buf_init(&program, 65536);
    dwarf_abbreviation(&bytes, UNIT, 0x11, 1,
                       (const uint64_t[]){0x10, 0x17, 0x1b, 0x08, 0x13, 0x0b, 0x11, 0x01, 0, 0});
    dwarf_abbreviation(&bytes, FUNCTION, 0x2e, 1,
                       (const uint64_t[]){0x11, 0x01, 0x12, 0x06, 0x03, 0x08, 0, 0});
    dwarf_abbreviation(&bytes, LINKED, 0x2e, 1,
                       (const uint64_t[]){0x11, 0x01, 0x12, 0x06, 0x03, 0x08, 0x6e, 0x08, 0, 0});
    dwarf_abbreviation(
        &bytes, CALL, 0x1d, 1,
        (const uint64_t[]){0x11, 0x01, 0x12, 0x06, 0x31, 0x10, 0x58, 0x0b, 0x59, 0x0b, 0, 0});
    dwarf_abbreviation(&bytes, RANGED, 0x2e, 0, (const uint64_t[]){0x55, 0x17, 0x03, 0x08, 0, 0});
    dwarf_abbreviation(&bytes, CALL_BARE, 0x1d, 1,
                       (const uint64_t[]){0x31, 0x10, 0x58, 0x0b, 0x59, 0x0b, 0, 0});
    dwarf_abbreviation(&bytes, NAMELESS, 0x2e, 0, (const uint64_t[]){0x11, 0x01, 0x12, 0x06, 0, 0});
    dwarf_abbreviation(&bytes, ODD, 0x34, 0, (const uint64_t[]){0x03, 0x3f, 0, 0});
    buf_u8(&bytes.abbrev, 0);
    dwarf_unit_begin(&bytes, 4, 0);
    buf_u8(&bytes.info, UNIT);
    buf_u32(&bytes.info, 0);
    buf_put(&bytes.info, "/src", 5);
    buf_u8(&bytes.info, language);
    buf_u64(&bytes.info, 0);
}

static void text(const char *s)
{
    buf_put(&bytes.info, s, strlen(s) + 1);
}

/* Offset of the DIE. Functions of CODE + `at`; children are open. */
static uint32_t function(uint64_t address, uint32_t size, const char *name)
{
    uint32_t offset = (uint32_t)bytes.info.len;
    buf_u8(&bytes.info, FUNCTION);
    buf_u64(&bytes.info, address);
    buf_u32(&bytes.info, size);
    text(name);
    return offset;
}

static void linked(uint64_t address, uint32_t size, const char *name, const char *linkage)
{
    buf_u8(&bytes.info, LINKED);
    buf_u64(&bytes.info, address);
    buf_u32(&bytes.info, size);
    text(name);
    text(linkage);
}

static void call(uint64_t address, uint32_t size, uint32_t origin, uint8_t file, uint8_t line)
{
    buf_u8(&bytes.info, CALL);
    buf_u64(&bytes.info, address);
    buf_u32(&bytes.info, size);
    buf_u32(&bytes.info, origin);
    buf_u8(&bytes.info, file);
    buf_u8(&bytes.info, line);
}

static void close_children(int levels)
{
    while (levels--)
        buf_u8(&bytes.info, 0);
}

/* One sequence: rows of file 1, line 1, 2, 3 … each `step` bytes, until `end`. */
static void rows(uint64_t start, uint64_t end, uint8_t step)
{
    buf_put(&program, "\0\11\2", 3);
    buf_u64(&program, start);
    for (uint64_t at = start; at < end; at += step) {
        buf_u8(&program, 1);
        buf_put(&program, "\3\1\2", 3); /* advance_line 1, advance_pc */
        buf_uleb(&program, step);
    }
    buf_put(&program, "\0\1\1", 3);
}

static void make(const struct elf_builder_symbol *symbols, uint32_t count)
{
    close_children(1);
    dwarf_unit_end(&bytes);
    dwarf_line_table(&bytes, program.data, program.len);
    dwarf_bytes_open(&bytes, symbols, count);
    ck_assert_msg(index_object(bytes.object, NULL, &made), "%s", made.error.text);
}

static void expect(uint64_t address, const char *wanted)
{
    ck_assert_msg(strcmp(index_answer(&made, address, answer), wanted) == 0, "0x%lx: %s, wanted %s",
                  (unsigned long)address, answer, wanted);
}

static void finish(void)
{
    index_of_done(&made);
    dwarf_bytes_done(&bytes);
    buf_done(&program);
}

START_TEST(dead_functions_are_dropped)
{
    begin(0x0c);
    function(CODE, 0x10, "alive");
    close_children(1);
    function(0, 0x500000, "dead at 0"); /* would cover everything */
    close_children(1);
    function(UINT64_MAX, 0x10, "dead at ~0");
    close_children(1);
    function(UINT64_MAX - 1, 0x10, "dead at ~0-1");
    close_children(1);
    function(CODE_END, 0x10, "outside");
    close_children(1);
    function(CODE + 0x20, 0, "empty");
    close_children(1);
    function(CODE + 0x40, 0xffffffff, "cut at its section");
    close_children(1);
    rows(CODE, CODE + 0x10, 8);
    make(NULL, 0);
    ck_assert_uint_eq(made.counts.functions, 2);
    expect(CODE, "alive a.c:1");
    expect(CODE + 8, "alive a.c:2");
    expect(CODE + 0x10, "");
    expect(CODE - 1, "");
    expect(CODE + 0x20, "");
    expect(CODE_END - 1, "cut at its section :0");
    expect(CODE_END, "");
    finish();
}
END_TEST

START_TEST(overlaps_have_one_answer)
{
    begin(0x0c);
    function(CODE, 0x100, "wide");
    close_children(1);
    function(CODE + 0x20, 0x20, "nested");
    close_children(1);
    function(CODE + 0x80, 0x100, "later");
    close_children(1);
    /* folded: two names at one place; the one that says more has it */
    function(CODE + 0x400, 0x10, "folded_plain");
    close_children(1);
    uint32_t folded = function(CODE + 0x400, 0x10, "folded_with_call");
    call(CODE + 0x404, 4, folded, 1, 9);
    close_children(2);
    /* and of equals the first */
    function(CODE + 0x500, 0x10, "equal_first");
    close_children(1);
    function(CODE + 0x500, 0x10, "equal_second");
    close_children(1);
    make(NULL, 0);
    expect(CODE, "wide :0");
    expect(CODE + 0x1f, "wide :0");
    expect(CODE + 0x20, "nested :0");
    expect(CODE + 0x40, "wide :0");
    expect(CODE + 0x7f, "wide :0");
    expect(CODE + 0x80, "later :0");
    expect(CODE + 0x17f, "later :0");
    expect(CODE + 0x180, "");
    expect(CODE + 0x400, "folded_with_call :0");
    expect(CODE + 0x500, "equal_first :0");
    finish();
}
END_TEST

START_TEST(several_ranges_stay_several)
{
    begin(0x0c);
    buf_u8(&bytes.info, RANGED);
    buf_u32(&bytes.info, 0);
    text("split");
    buf_u64(&bytes.ranges, CODE + 0x10);
    buf_u64(&bytes.ranges, CODE + 0x20);
    buf_u64(&bytes.ranges, CODE + 0x800);
    buf_u64(&bytes.ranges, CODE + 0x808);
    buf_u64(&bytes.ranges, 0x10); /* dead piece */
    buf_u64(&bytes.ranges, 0x20);
    buf_u64(&bytes.ranges, 0);
    buf_u64(&bytes.ranges, 0);
    function(CODE + 0x20, 0x10, "between");
    close_children(1);
    make(NULL, 0);
    ck_assert_uint_eq(made.counts.functions, 3);
    expect(CODE + 0x1f, "split :0");
    expect(CODE + 0x20, "between :0");
    expect(CODE + 0x30, "");
    expect(CODE + 0x807, "split :0");
    expect(CODE + 0x808, "");
    finish();
}
END_TEST

/* A call without ranges has those of what is inlined into it; one that reaches past the call around
 * it widens that. */
START_TEST(inner_calls_widen_outer_ones)
{
    begin(0x0c);
    uint32_t outer = function(CODE, 0x40, "outer");
    buf_u8(&bytes.info, CALL_BARE);
    buf_u32(&bytes.info, outer);
    buf_put(&bytes.info, "\1\12", 2);
    call(CODE + 8, 8, outer, 2, 20);
    call(CODE + 0xc, 8, outer, 1, 30); /* four bytes past */
    close_children(3);
    call(CODE + 0x20, 0x1000, outer, 1, 40); /* cut at the function */
    close_children(2);
    rows(CODE, CODE + 0x40, 0x40);
    make(NULL, 0);
    expect(CODE, "outer a.c:1");
    expect(CODE + 8, "outer a.c:1 <- outer b.h:20 <- outer a.c:10");
    expect(CODE + 0xc, "outer a.c:1 <- outer a.c:30 <- outer b.h:20 <- outer a.c:10");
    expect(CODE + 0x13, "outer a.c:1 <- outer a.c:30 <- outer b.h:20 <- outer a.c:10");
    expect(CODE + 0x14, "outer a.c:1");
    expect(CODE + 0x3f, "outer a.c:1 <- outer a.c:40");
    expect(CODE + 0x40, "");
    ck_assert_uint_eq(made.counts.inlines, 4);
    finish();
}
END_TEST

START_TEST(rows_without_functions_go_to_the_symbol_table)
{
    static const struct elf_builder_symbol symbols[] = {
        {"asm_one", GLOBAL, 0, CODE, 0},
        {"asm_two", GLOBAL, 0, CODE + 0x10, 0},
        {"no_rows", GLOBAL, 0, CODE + 0x40, 0x10},
    };
    begin(0x0c);
    rows(CODE, CODE + 0x20, 8);
    make(symbols, 3);
    expect(CODE, "asm_one a.c:1");
    expect(CODE + 0xf, "asm_one a.c:2");
    expect(CODE + 0x10, "asm_two a.c:3");
    expect(CODE + 0x1f, "asm_two a.c:4");
    expect(CODE + 0x20, "asm_two :0"); /* behind the rows, before the next symbol */
    expect(CODE + 0x40, "no_rows :0");
    expect(CODE + 0x50, "");
    finish();
}
END_TEST

START_TEST(linkage_names_from_the_symbol_table)
{
    static const struct elf_builder_symbol symbols[] = {
        {"_ZN3FooC2Ev", GLOBAL, 0, CODE, 0x10},
        {"_ZN5OtherC2Ev", GLOBAL, 0, CODE, 0x10}, /* folded with it */
        {"_ZN3FooD1Ev", GLOBAL, 0, CODE + 0x10, 0x10},
        {"c_function", GLOBAL, 0, CODE + 0x20, 0x10},
        {"_Zunrelated", GLOBAL, 0, CODE + 0x30, 0x10},
        {"_ZN3FooplERKS_", GLOBAL, 0, CODE + 0x40, 0x10},
        {"for_nameless", GLOBAL, 0, CODE + 0x60, 0x10},
    };
    begin(0x04);
    function(CODE, 0x10, "Foo");
    close_children(1);
    function(CODE + 0x10, 0x10, "~Foo");
    close_children(1);
    function(CODE + 0x20, 0x10, "c_function");
    close_children(1);
    function(CODE + 0x30, 0x10, "lonely");
    close_children(1);
    function(CODE + 0x40, 0x10, "operator+");
    close_children(1);
    linked(CODE + 0x50, 0x10, "plain", "");
    close_children(1);
    buf_u8(&bytes.info, NAMELESS);
    buf_u64(&bytes.info, CODE + 0x60);
    buf_u32(&bytes.info, 0x10);
    linked(CODE + 0x70, 0x10, "plain", "_ZN3Bar5plainEv");
    close_children(1);
    make(symbols, 7);
    expect(CODE, "_ZN3FooC2Ev :0");
    expect(CODE + 0x10, "_ZN3FooD1Ev :0");
    expect(CODE + 0x20, "c_function :0");
    expect(CODE + 0x30, "lonely :0");
    expect(CODE + 0x40, "_ZN3FooplERKS_ :0");
    expect(CODE + 0x50, "plain :0"); /* an empty linkage name falls through */
    expect(CODE + 0x60, "for_nameless :0");
    expect(CODE + 0x70, "_ZN3Bar5plainEv :0");
    finish();
}
END_TEST

START_TEST(damaged_units_are_replaced_by_the_symbol_table)
{
    static const struct elf_builder_symbol symbols[] = {
        {"from_symbols", GLOBAL, 0, CODE, 0x10},
        {"second", GLOBAL, 0, CODE + 0x20, 0x10},
    };
    begin(0x0c);
    function(CODE, 0x10, "from_dwarf");
    close_children(1);
    buf_u8(&bytes.info, ODD);
    text("?");
    close_children(1);
    dwarf_unit_end(&bytes);
    dwarf_unit_begin(&bytes, 4, 0);
    buf_u8(&bytes.info, UNIT);
    buf_u32(&bytes.info, 0x7fffffff); /* no such line table */
    text("/src");
    buf_u8(&bytes.info, 0x0c);
    buf_u64(&bytes.info, 0);
    function(CODE + 0x20, 0x10, "second");
    close_children(1);
    make(symbols, 2);
    ck_assert_uint_eq(made.counts.units, 2);
    ck_assert_uint_eq(made.counts.damaged_units, 2);
    ck_assert_ptr_nonnull(strstr(made.counts.warning, "unit at 0x0 of .debug_info"));
    expect(CODE, "from_symbols :0");
    expect(CODE + 0x20, "second :0");
    finish();
}
END_TEST

/* What shows beside the base name: the joined directory, and never one before a pseudo file. */
START_TEST(files_are_joined)
{
    static const char tables[] = "inc\0/abs\0\0"
                                 "a.c\0\0\0\0b.h\0\1\0\0c.h\0\2\0\0/x/d.h\0\0\0\0sub/e.h\0\1\0\0"
                                 "<compiler-generated>\0\1\0\0f.h\0\77\0\0";
    static const char *const wanted[] = {
        "/src/a.c",         "/src/inc/b.h",         "/abs/c.h", "/x/d.h",
        "/src/inc/sub/e.h", "<compiler-generated>", "/src/f.h",
    };
    static const uint8_t lengths[12] = {0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1};
    struct gsym_frame frame;
    char path[GSYM_PATH_MAX];
    begin(0x0c);
    function(CODE, 0x100, "f");
    close_children(2);
    dwarf_unit_end(&bytes);
    buf_put(&program, "\0\11\2", 3);
    buf_u64(&program, CODE);
    for (uint8_t file = 1; file <= 7; file++) {
        buf_u8(&program, 4);
        buf_uleb(&program, file);
        buf_put(&program, "\1\2\4", 3); /* copy, advance_pc 4 */
    }
    buf_put(&program, "\0\1\1", 3);
    buf_u32(&bytes.line, (uint32_t)(2 + 4 + 6 + sizeof(lengths) + sizeof(tables) + program.len));
    buf_u16(&bytes.line, 4);
    buf_u32(&bytes.line, (uint32_t)(6 + sizeof(lengths) + sizeof(tables)));
    buf_put(&bytes.line, "\1\1\1\373\16\15", 6);
    buf_put(&bytes.line, lengths, sizeof(lengths));
    buf_put(&bytes.line, tables, sizeof(tables));
    buf_put(&bytes.line, program.data, program.len);
    dwarf_bytes_open(&bytes, NULL, 0);
    ck_assert_msg(index_object(bytes.object, NULL, &made), "%s", made.error.text);
    for (uint64_t i = 0; i < 7; i++) {
        ck_assert_uint_eq(gsym_lookup(made.gsym, CODE + 4 * i, &frame, 1), 1);
        ck_assert_str_eq(gsym_frame_file(&frame, path), wanted[i]);
    }
    finish();
}
END_TEST

START_TEST(symbols_without_dwarf)
{
    static const struct elf_builder_symbol symbols[] = {
        {"crt.c", (STB_LOCAL << 4) | STT_FILE, 0, 0, 0},
        {"tick", LOCAL, 0, CODE, 0x10},
        {"start", GLOBAL, 0, CODE + 0x10, 0x10},
    };
    struct gsym_frame frame;
    dwarf_bytes_init(&bytes);
    dwarf_bytes_open(&bytes, symbols, 3);
    ck_assert_msg(index_object(bytes.object, NULL, &made), "%s", made.error.text);
    expect(CODE, "tick crt.c:0");
    expect(CODE + 0x10, "start :0");
    ck_assert_uint_eq(gsym_lookup(made.gsym, CODE, &frame, 1), 1);
    ck_assert(frame.local);
    ck_assert_uint_eq(gsym_lookup(made.gsym, CODE + 0x10, &frame, 1), 1);
    ck_assert(!frame.local);
    ck_assert(!gsym_info(made.gsym)->has_dwarf);
    finish();
}
END_TEST

START_TEST(which_names_need_their_file)
{
    static const struct {
        const char *name;
        bool unique;
    } cases[] = {
        {"tick", false},
        {"_ZL4tickv", false},
        {"_ZN12_GLOBAL__N_14tickEv", false},
        {"-[Feed reload:]", true},
        {"+[Feed shared]", true},
        {"__15-[Feed reload:]_block_invoke", true},
        {"__tick_block_invoke", false},
        {"$s4Shop4tickyyF", true},
        {"_TFC4Shop4Feed6reloadfT_T_", true},
        {"_RNvC4shop4tick", true},
        {"_ZN4core3fmt5write17h0123456789abcdefE", true},
        {"-", false},
        {"", false},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        ck_assert_msg(debug_name_is_unique(cases[i].name) == cases[i].unique, "%s", cases[i].name);
}
END_TEST

enum {
    HEAVY = 20000, /* attributes of a DIE, all without bytes */
    HEAVY_FUNCTION = 2,
    HEAVY_ORIGIN,
    ORIGINATED, /* low_pc, high_pc, origin */
    POINTED,    /* low_pc, high_pc, name in .debug_str */
};

/* A second unit, of abbreviations that cost more than they are long. */
static void begin_heavy(void)
{
    static uint64_t specs[2 * HEAVY + 5];
    size_t n = 0;
    specs[n++] = 0x11; /* low_pc 0, of the abbreviation */
    specs[n++] = 0x21;
    specs[n++] = 0;
    for (int i = 1; i < HEAVY; i++) {
        specs[n++] = 0x3f;
        specs[n++] = 0x19; /* DW_FORM_flag_present */
    }
    specs[n] = specs[n + 1] = 0;
    begin(0x0c);
    close_children(1);
    dwarf_unit_end(&bytes);
    uint32_t table = (uint32_t)bytes.abbrev.len;
    dwarf_abbreviation(&bytes, UNIT, 0x11, 1, (const uint64_t[]){0, 0});
    dwarf_abbreviation(&bytes, HEAVY_FUNCTION, 0x2e, 0, specs);
    dwarf_abbreviation(&bytes, HEAVY_ORIGIN, 0x2e, 0, specs + 3);
    dwarf_abbreviation(&bytes, ORIGINATED, 0x2e, 0,
                       (const uint64_t[]){0x11, 0x01, 0x12, 0x06, 0x31, 0x10, 0, 0});
    dwarf_abbreviation(&bytes, POINTED, 0x2e, 0,
                       (const uint64_t[]){0x11, 0x01, 0x12, 0x06, 0x03, 0x0e, 0, 0});
    buf_u8(&bytes.abbrev, 0);
    dwarf_unit_begin(&bytes, 4, table);
    buf_u8(&bytes.info, UNIT);
}

static void pointing(uint8_t code, uint32_t at, int times)
{
    for (int i = 0; i < times; i++) {
        buf_u8(&bytes.info, code);
        buf_u64(&bytes.info, CODE);
        buf_u32(&bytes.info, 4);
        buf_u32(&bytes.info, at);
    }
}

static void expect_circles(void)
{
    static const struct elf_builder_symbol symbols[] = {{"known", GLOBAL, 0, CODE, 0}};
    make(symbols, 1);
    ck_assert_msg(strstr(made.counts.warning, "in circles"), "%s", made.counts.warning);
    expect(CODE, "known :0");
    finish();
}

/* What a small file makes us do again and again is counted, and ends in a verdict. */
START_TEST(work_beyond_the_bytes_is_counted)
{
    static char name[100001];
    begin_heavy();
    for (int i = 0; i < 4000; i++)
        buf_u8(&bytes.info, HEAVY_FUNCTION);
    expect_circles();

    begin_heavy();
    uint32_t origin = (uint32_t)bytes.info.len;
    buf_u8(&bytes.info, HEAVY_ORIGIN);
    pointing(ORIGINATED, origin, 4000);
    expect_circles();

    begin_heavy();
    memset(name, 'x', sizeof(name) - 1);
    pointing(POINTED, dwarf_string(&bytes, name), 1000);
    expect_circles();
}
END_TEST

UNIT_MAIN("debug_info", dead_functions_are_dropped, overlaps_have_one_answer,
          several_ranges_stay_several, inner_calls_widen_outer_ones,
          rows_without_functions_go_to_the_symbol_table, linkage_names_from_the_symbol_table,
          damaged_units_are_replaced_by_the_symbol_table, files_are_joined, symbols_without_dwarf,
          which_names_need_their_file, work_beyond_the_bytes_is_counted)
