#include "symbolizer/symtab_fill.h"

#include <stdlib.h>
#include <string.h>

#include "tests/support/unit.h"

static const struct object_range code[] = {{0x1000, 0x2000}, {0x3000, 0x3100}};
/* Ascending by address, then name, as object_symbols gives them. */
static const struct object_symbol symbols[] = {
    {.address = 0x0500, .name = "header", .external = true},
    {.address = 0x1000, .name = "first", .external = true},
    {.address = 0x1100, .name = "", .place = 9}, /* LC_FUNCTION_STARTS alone */
    {.address = 0x1200, .name = "sized", .size = 0x20, .external = true},
    {.address = 0x1300, .name = "alias_a", .external = true, .place = 1},
    {.address = 0x1300, .name = "alias_b", .external = true, .place = 2},
    {.address = 0x1300, .name = "alias_c", .place = 3},
    {.address = 0x1800, .name = "last", .size = 0x10000, .external = true},
    {.address = 0x3000, .name = "stub"},
    {.address = 0x3100, .name = "data"},
};
static const struct symtab table = {.symbols = symbols,
                                    .count = sizeof(symbols) / sizeof(symbols[0]),
                                    .code = code,
                                    .code_count = 2};

static void expect(const struct object_range *known, size_t known_count,
                   const struct symtab_function *wanted, size_t count)
{
    struct symtab_list list = {0};
    ck_assert(symtab_fill(&table, known, known_count, &list));
    ck_assert_uint_eq(list.count, count);
    for (size_t i = 0; i < count; i++) {
        ck_assert_uint_eq(list.items[i].start, wanted[i].start);
        ck_assert_uint_eq(list.items[i].end, wanted[i].end);
        ck_assert_uint_eq(list.items[i].symbol, wanted[i].symbol);
    }
    free(list.items);
}

START_TEST(every_bound)
{
    expect(NULL, 0,
           (const struct symtab_function[]){
               {0x1000, 0x1100, 1}, /* next symbol, though it has no name */
               {0x1200, 0x1220, 3}, /* own size */
               {0x1300, 0x1800, 5}, /* external before local, then the last of the table */
               {0x1800, 0x2000, 7}, /* section end, whatever the size says */
               {0x3000, 0x3100, 8},
           },
           5);
}
END_TEST

START_TEST(elf_symbols_without_size_reach_the_next)
{
    /* .init, .plt without symbols, .text: as Debian's own libraries are made */
    static const struct object_range sections[] = {
        {0x5000, 0x5017}, {0x5020, 0x5670}, {0x5690, 0x6000}};
    static const struct object_symbol elf[] = {
        {.address = 0x5000, .name = "_init"},
        {.address = 0x5690, .name = "sized", .size = 0x10},
        {.address = 0x5700, .name = "_start"},
    };
    struct symtab t = {elf, 3, sections, 3, true};
    ck_assert_str_eq(symtab_around(&t, 0x5020)->name, "_init");
    ck_assert_str_eq(symtab_around(&t, 0x568f)->name, "_init");
    ck_assert_ptr_null(symtab_around(&t, 0x56a0));
    ck_assert_str_eq(symtab_around(&t, 0x5fff)->name, "_start");
    ck_assert_ptr_null(symtab_around(&t, 0x6000));
    t.unsized_reach = false; /* Mach-O */
    ck_assert_str_eq(symtab_around(&t, 0x5016)->name, "_init");
    ck_assert_ptr_null(symtab_around(&t, 0x5020));
}
END_TEST

START_TEST(debugging_information_comes_first)
{
    static const struct object_range known[] = {
        {0x0ff0, 0x1010}, /* first lies inside: names nothing, not even behind it */
        {0x1210, 0x1218}, /* sized is cut */
        {0x1300, 0x1400}, /* same start */
        {0x1900, 0x1a00},
    };
    expect(known, 4,
           (const struct symtab_function[]){
               {0x1200, 0x1210, 3}, {0x1800, 0x1900, 7}, {0x3000, 0x3100, 8}},
           3);
}
END_TEST

START_TEST(symbols_at_and_around)
{
    size_t count;
    ck_assert_str_eq(symtab_at(&table, 0x1300, &count)->name, "alias_a");
    ck_assert_uint_eq(count, 3);
    ck_assert_ptr_null(symtab_at(&table, 0x1301, &count));
    ck_assert_uint_eq(count, 0);
    ck_assert_ptr_null(symtab_at(&table, UINT64_MAX, &count));
    ck_assert_str_eq(symtab_around(&table, 0x10ff)->name, "first");
    ck_assert_ptr_null(symtab_around(&table, 0x1100)); /* nameless */
    ck_assert_str_eq(symtab_around(&table, 0x121f)->name, "sized");
    ck_assert_ptr_null(symtab_around(&table, 0x1220));
    ck_assert_str_eq(symtab_around(&table, 0x17ff)->name, "alias_b");
    ck_assert_ptr_null(symtab_around(&table, 0x0510)); /* no code there */
    ck_assert_ptr_null(symtab_around(&table, 0x2000));
    ck_assert_ptr_null(symtab_around(&table, UINT64_MAX));
    ck_assert_ptr_null(symtab_around(&table, 0));
}
END_TEST

START_TEST(no_symbols)
{
    struct symtab empty = {.code = code, .code_count = 2};
    struct symtab_list list = {0};
    size_t count;
    ck_assert(symtab_fill(&empty, NULL, 0, &list));
    ck_assert_uint_eq(list.count, 0);
    ck_assert_ptr_null(symtab_at(&empty, 0x1000, &count));
    ck_assert_ptr_null(symtab_around(&empty, 0x1000));
}
END_TEST

UNIT_MAIN("symtab_fill", every_bound, elf_symbols_without_size_reach_the_next,
          debugging_information_comes_first, symbols_at_and_around, no_symbols)
