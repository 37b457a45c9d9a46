#include "symbolizer/dwarf_skim.h"

#include <string.h>

#include "tests/support/dwarf_bytes.h"
#include "tests/support/unit.h"

/* Abbreviations of the hand-made units. */
enum {
    UNIT = 1,   /* compile unit, children */
    FUNCTION,   /* low_pc addr, high_pc data4, name string, children */
    DECLARED,   /* subprogram with a name only, children */
    BLOCK,      /* lexical block, children */
    CALL,       /* inlined call: low_pc, high_pc data4, origin ref4, children */
    CALL_BARE,  /* inlined call: origin ref4, children */
    CLASS,      /* structure, children */
    VARIABLE,   /* name string */
    HIGH_ADDR,  /* low_pc addr, high_pc addr */
    RANGED,     /* ranges sec_offset, linkage name string, name string */
    ODD_FORM,   /* variable of a form nobody knows */
    ALT_STRING, /* variable with GNU_strp_alt */
};

static struct dwarf_bytes bytes;
static struct dwarf *dwarf;
static struct dwarf_skim skim;

static void abbreviations(void)
{
    static const struct {
        uint64_t code, tag;
        int children;
        uint64_t specs[12];
    } list[] = {
        {UNIT, 0x11, 1, {0}},
        {FUNCTION, 0x2e, 1, {0x11, 0x01, 0x12, 0x06, 0x03, 0x08}},
        {DECLARED, 0x2e, 1, {0x03, 0x08}},
        {BLOCK, 0x0b, 1, {0}},
        {CALL, 0x1d, 1, {0x11, 0x01, 0x12, 0x06, 0x31, 0x13}},
        {CALL_BARE, 0x1d, 1, {0x31, 0x13}},
        {CLASS, 0x13, 1, {0}},
        {VARIABLE, 0x34, 0, {0x03, 0x08}},
        {HIGH_ADDR, 0x2e, 0, {0x11, 0x01, 0x12, 0x01}},
        {RANGED, 0x2e, 0, {0x55, 0x17, 0x6e, 0x08, 0x03, 0x08}},
        {ODD_FORM, 0x34, 0, {0x03, 0x3f}},
        {ALT_STRING, 0x34, 0, {0x03, 0x1f21}},
    };
    for (size_t i = 0; i < sizeof(list) / sizeof(list[0]); i++)
        dwarf_abbreviation(&bytes, list[i].code, list[i].tag, list[i].children, list[i].specs);
    buf_u8(&bytes.abbrev, 0);
}

static void begin(void)
{
    dwarf_bytes_init(&bytes);
    abbreviations();
    dwarf_unit_begin(&bytes, 4, 0);
    buf_u8(&bytes.info, UNIT);
}

static void die(int code)
{
    buf_u8(&bytes.info, (uint8_t)code);
}

static void end_children(int levels)
{
    while (levels--)
        buf_u8(&bytes.info, 0);
}

static void text(const char *s)
{
    buf_put(&bytes.info, s, strlen(s) + 1);
}

static void bounds(uint64_t low, uint32_t size)
{
    buf_u64(&bytes.info, low);
    buf_u32(&bytes.info, size);
}

static const char *read_unit(size_t unit)
{
    if (!dwarf) {
        dwarf_unit_end(&bytes);
        dwarf_bytes_open(&bytes, NULL, 0);
        ck_assert_int_eq(dwarf_open(bytes.object, NULL, &dwarf, NULL), ERR_OK);
    }
    ck_assert_uint_gt(dwarf->unit_count, unit);
    return dwarf_skim_unit(dwarf, &dwarf->units[unit], &skim);
}

static void finish(void)
{
    dwarf_skim_done(&skim);
    dwarf_close(dwarf);
    dwarf = NULL;
    dwarf_bytes_done(&bytes);
}

START_TEST(calls_belong_to_the_innermost_function)
{
    begin();
    die(FUNCTION); /* 0 */
    bounds(CODE, 0x100);
    text("outer");
    die(BLOCK); /* no code of its own: seen through */
    die(VARIABLE);
    text("v");
    die(CALL); /* 1 */
    bounds(CODE + 8, 8);
    buf_u32(&bytes.info, 0x44);
    die(BLOCK);
    die(CALL_BARE); /* 2, inside 1 */
    buf_u32(&bytes.info, 0x55);
    end_children(3);
    die(CLASS);    /* a local class whose method has code */
    die(FUNCTION); /* 3 */
    bounds(CODE + 0x200, 0x10);
    text("method");
    die(CALL_BARE); /* 4, inside 3 */
    buf_u32(&bytes.info, 0x66);
    end_children(3);
    die(DECLARED); /* nothing below it is inlined into outer */
    text("declared");
    die(CALL_BARE);
    buf_u32(&bytes.info, 0x77);
    end_children(2);
    die(CALL_BARE); /* 5, inside 0 again */
    buf_u32(&bytes.info, 0x88);
    end_children(1);
    end_children(3);
    ck_assert_ptr_null(read_unit(0));
    static const uint32_t parents[] = {DWARF_NO_PARENT, 0, 1, DWARF_NO_PARENT, 3, 0};
    ck_assert_uint_eq(skim.count, 6);
    for (size_t i = 0; i < 6; i++)
        ck_assert_uint_eq(skim.entries[i].parent, parents[i]);
    ck_assert_str_eq(skim.entries[0].name, "outer");
    ck_assert_str_eq(skim.entries[3].name, "method");
    ck_assert_uint_eq(skim.entries[2].origin, 0x55);
    ck_assert(skim.entries[1].has_low && !skim.entries[2].has_low);
    finish();
}
END_TEST

START_TEST(high_pc_by_the_class_of_its_form)
{
    begin();
    die(HIGH_ADDR);
    buf_u64(&bytes.info, CODE);
    buf_u64(&bytes.info, CODE + 0x20);
    die(FUNCTION);
    bounds(CODE + 0x40, 0x20);
    text("f");
    end_children(1);
    die(RANGED);
    buf_u32(&bytes.info, 0x30);
    text(""); /* an empty linkage name is none */
    text("plain");
    end_children(1);
    ck_assert_ptr_null(read_unit(0));
    ck_assert_uint_eq(skim.count, 3);
    ck_assert_uint_eq(skim.entries[0].high_form, DWARF_HIGH_ADDRESS);
    ck_assert_uint_eq(skim.entries[1].high_form, DWARF_HIGH_OFFSET);
    ck_assert_uint_eq(skim.entries[2].ranges_form, DWARF_RANGES_OFFSET);
    ck_assert_ptr_null(skim.entries[2].linkage);
    ck_assert_str_eq(skim.entries[2].name, "plain");
    finish();
}
END_TEST

/* The second unit is damaged; the first and third are read. */
START_TEST(damage_stays_in_its_unit)
{
    static const int bad[] = {ODD_FORM, 99};
    for (size_t i = 0; i < 2; i++) {
        begin();
        die(FUNCTION);
        bounds(CODE, 8);
        text("first");
        end_children(2);
        dwarf_unit_end(&bytes);
        dwarf_unit_begin(&bytes, 4, 0);
        die(UNIT);
        die(FUNCTION);
        bounds(CODE + 8, 8);
        text("second");
        end_children(1);
        die(bad[i]);
        text("?");
        end_children(1);
        dwarf_unit_end(&bytes);
        dwarf_unit_begin(&bytes, 4, 0);
        die(UNIT);
        die(ALT_STRING); /* its length is known, its text is elsewhere */
        buf_u32(&bytes.info, 7);
        die(FUNCTION);
        bounds(CODE + 16, 8);
        text("third");
        end_children(2);
        ck_assert_ptr_null(read_unit(0));
        ck_assert_uint_eq(skim.count, 1);
        const char *damage = read_unit(1);
        ck_assert_ptr_nonnull(damage);
        ck_assert_int_eq(damage == dwarf_skim_unknown_form, bad[i] == ODD_FORM);
        ck_assert_uint_eq(skim.count, 0);
        ck_assert_ptr_null(read_unit(2));
        ck_assert_str_eq(skim.entries[0].name, "third");
        finish();
    }
}
END_TEST

START_TEST(dies_past_their_unit_and_deep_nesting)
{
    begin();
    die(FUNCTION);
    bounds(CODE, 8);
    buf_put(&bytes.info, "no end", 6);
    ck_assert_ptr_nonnull(read_unit(0));
    finish();
    begin();
    die(FUNCTION);
    bounds(CODE, 8);
    text("f");
    for (int i = 0; i <= DWARF_SKIM_DEPTH_MAX; i++) {
        die(CALL_BARE);
        buf_u32(&bytes.info, 1);
    }
    ck_assert_ptr_nonnull(read_unit(0));
    finish();
    /* Blocks may be nested as deeply as they like; missing end marks are no damage. */
    begin();
    die(FUNCTION);
    bounds(CODE, 8);
    text("f");
    for (int i = 0; i < 100000; i++)
        die(BLOCK);
    ck_assert_ptr_null(read_unit(0));
    ck_assert_uint_eq(skim.count, 1);
    finish();
}
END_TEST

UNIT_MAIN("dwarf_skim", calls_belong_to_the_innermost_function, high_pc_by_the_class_of_its_form,
          damage_stays_in_its_unit, dies_past_their_unit_and_deep_nesting)
