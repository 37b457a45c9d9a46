#include "symbolizer/dwarf_names.h"

#include <string.h>

#include "tests/support/dwarf_bytes.h"
#include "tests/support/unit.h"

enum {
    UNIT = 1,  /* compile unit, children */
    NAMED,     /* subprogram: name string, linkage name string, external flag */
    ORIGIN,    /* subprogram: abstract_origin ref4 */
    SPEC,      /* subprogram: specification ref_addr, name string */
    SCOPE,     /* namespace: name string, children */
    ANONYMOUS, /* namespace without a name, children */
    STRUCT,    /* structure: name string, children */
    SHORT,     /* subprogram: name string */
    TYPE,      /* base type: name string */
};

static struct dwarf_bytes bytes;
static struct dwarf *dwarf;

static void begin(void)
{
    dwarf_bytes_init(&bytes);
    dwarf_abbreviation(&bytes, UNIT, 0x11, 1, (const uint64_t[]){0, 0});
    dwarf_abbreviation(&bytes, NAMED, 0x2e, 0,
                       (const uint64_t[]){0x03, 0x08, 0x2007, 0x08, 0x3f, 0x0c, 0, 0});
    dwarf_abbreviation(&bytes, ORIGIN, 0x2e, 0, (const uint64_t[]){0x31, 0x13, 0, 0});
    dwarf_abbreviation(&bytes, SPEC, 0x2e, 0, (const uint64_t[]){0x47, 0x10, 0x03, 0x08, 0, 0});
    dwarf_abbreviation(&bytes, SCOPE, 0x39, 1, (const uint64_t[]){0x03, 0x08, 0, 0});
    dwarf_abbreviation(&bytes, ANONYMOUS, 0x39, 1, (const uint64_t[]){0, 0});
    dwarf_abbreviation(&bytes, STRUCT, 0x13, 1, (const uint64_t[]){0x03, 0x08, 0, 0});
    dwarf_abbreviation(&bytes, SHORT, 0x2e, 0, (const uint64_t[]){0x03, 0x08, 0, 0});
    dwarf_abbreviation(&bytes, TYPE, 0x24, 0, (const uint64_t[]){0x03, 0x08, 0, 0});
    buf_u8(&bytes.abbrev, 0);
}

static void begin_unit(void)
{
    dwarf_unit_begin(&bytes, 4, 0);
    buf_u8(&bytes.info, UNIT);
}

/* Where the DIE begun stands in .debug_info. */
static uint32_t die(int code, const char *text)
{
    uint32_t at = (uint32_t)bytes.info.len;
    buf_u8(&bytes.info, (uint8_t)code);
    if (text)
        buf_put(&bytes.info, text, strlen(text) + 1);
    return at;
}

static void open_object(void)
{
    dwarf_bytes_open(&bytes, NULL, 0);
    ck_assert_int_eq(dwarf_open(bytes.object, NULL, &dwarf, NULL), ERR_OK);
}

static void finish(void)
{
    dwarf_close(dwarf);
    dwarf_bytes_done(&bytes);
}

START_TEST(chains_over_units)
{
    struct dwarf_name n;
    begin();
    begin_unit();
    uint32_t linked = die(NAMED, "poll");
    buf_put(&bytes.info, "_ZN3net4pollEv\0\1", 16);
    uint32_t plain = die(NAMED, "tick");
    buf_put(&bytes.info, "\0\0", 2); /* an empty linkage name; not external */
    uint32_t nameless = die(NAMED, "");
    buf_put(&bytes.info, "\0\0", 2);
    uint32_t type = die(TYPE, "int");
    buf_u8(&bytes.info, 0);
    dwarf_unit_end(&bytes);
    begin_unit();
    uint32_t spec = die(SPEC, NULL);
    buf_u32(&bytes.info, linked);
    buf_put(&bytes.info, "own", 4);
    uint32_t origin = die(ORIGIN, NULL);
    buf_u32(&bytes.info, spec - (uint32_t)bytes.unit);
    uint32_t to_type = die(SPEC, NULL);
    buf_u32(&bytes.info, type);
    buf_put(&bytes.info, "kept", 5);
    uint32_t outside = die(SPEC, NULL);
    buf_u32(&bytes.info, 0x7fffffff);
    buf_put(&bytes.info, "", 1);
    buf_u8(&bytes.info, 0);
    dwarf_unit_end(&bytes);
    open_object();
    dwarf_name_at(dwarf, origin, &n);
    ck_assert_str_eq(n.linkage, "_ZN3net4pollEv");
    ck_assert_str_eq(n.name, "own");
    ck_assert(n.external);
    ck_assert_uint_eq(n.declaration, linked);
    dwarf_name_at(dwarf, plain, &n);
    ck_assert_ptr_null(n.linkage);
    ck_assert_str_eq(n.name, "tick");
    ck_assert(!n.external);
    dwarf_name_at(dwarf, nameless, &n);
    ck_assert(!n.name && !n.linkage);
    dwarf_name_at(dwarf, to_type, &n); /* a type names no function */
    ck_assert_str_eq(n.name, "kept");
    dwarf_name_at(dwarf, type, &n);
    ck_assert(!n.name && !n.linkage);
    dwarf_name_at(dwarf, outside, &n);
    ck_assert(!n.name && !n.linkage);
    dwarf_name_at(dwarf, origin + 1, &n); /* the middle of a DIE */
    dwarf_name_at(dwarf, UINT64_MAX, &n);
    ck_assert(!n.name && !n.linkage);
    finish();
}
END_TEST

START_TEST(rings_end)
{
    struct dwarf_name n;
    begin();
    begin_unit();
    uint32_t self = die(ORIGIN, NULL);
    buf_u32(&bytes.info, self - (uint32_t)bytes.unit);
    uint32_t first = die(ORIGIN, NULL);
    buf_u32(&bytes.info, first + 5 - (uint32_t)bytes.unit);
    die(ORIGIN, NULL);
    buf_u32(&bytes.info, first - (uint32_t)bytes.unit);
    buf_u8(&bytes.info, 0);
    dwarf_unit_end(&bytes);
    open_object();
    dwarf_name_at(dwarf, self, &n);
    ck_assert(!n.name && !n.linkage);
    dwarf_name_at(dwarf, first, &n);
    ck_assert(!n.name && !n.linkage);
    finish();
}
END_TEST

START_TEST(scopes)
{
    struct arena arena;
    arena_init(&arena, 1 << 20);
    begin();
    begin_unit();
    uint32_t top = die(SHORT, "main");
    die(SCOPE, "net");
    die(STRUCT, "Client<int>");
    uint32_t method = die(SHORT, "poll");
    buf_u8(&bytes.info, 0);
    die(ANONYMOUS, NULL);
    uint32_t hidden = die(SHORT, "tick");
    buf_u8(&bytes.info, 0);
    uint32_t inner = die(SHORT, "run");
    buf_u8(&bytes.info, 0);
    uint32_t after = die(SHORT, "late");
    buf_u8(&bytes.info, 0);
    dwarf_unit_end(&bytes);
    begin_unit();
    die(SCOPE, "db");
    uint32_t other = die(SHORT, "open");
    buf_put(&bytes.info, "\0", 2);
    dwarf_unit_end(&bytes);
    open_object();
    struct dwarf_scoped list[] = {
        {other, "open", 0},  {after, "late", 1}, {inner, "run", 2},   {hidden, "tick", 3},
        {method, "poll", 4}, {top, "main", 5},   {method, "poll", 6}, {0x7ffffff, "nowhere", 7},
    };
    static const char *const wanted[] = {
        "db::open",
        "late",
        "net::run",
        "net::(anonymous namespace)::tick",
        "net::Client<int>::poll",
        "main",
        "net::Client<int>::poll",
        "nowhere",
    };
    ck_assert(dwarf_names_qualify(dwarf, list, 8, &arena));
    for (size_t i = 0; i < 8; i++)
        ck_assert_str_eq(list[i].name, wanted[list[i].user]);
    ck_assert(dwarf_names_qualify(dwarf, list, 0, &arena));
    arena_done(&arena);
    finish();
}
END_TEST

UNIT_MAIN("dwarf_names", chains_over_units, rings_end, scopes)
