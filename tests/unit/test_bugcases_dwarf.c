/* Public faults of such software: what must come out of the files that show them. */
#include <stdio.h>
#include <string.h>

#include "tests/support/index_of.h"
#include "tests/support/unit.h"

/* An address of a report, its image's load address taken off (and 1 from return addresses), and
 * what expected.txt of the case says. */
struct row {
    uint64_t address;
    const char *answer;
};

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

/* False when the bug cases are not here. */
static bool open_case(const char *name, struct index_of *ret)
{
    char path[1024];
    if (!shared_bugcase(name, path, sizeof(path)))
        return false;
    ck_assert_msg(index_file(path, 0, NULL, ret), "%s: %s", name, ret->error.text);
    return true;
}

static void expect_rows(const char *name, const struct row *rows, size_t count)
{
    struct index_of i;
    char text[CHAIN_SIZE];
    if (!open_case(name, &i))
        return;
    for (size_t k = 0; k < count; k++)
        ck_assert_msg(
            strcmp(index_answer(&i, gsym_info(i.gsym)->text_vmaddr + rows[k].address, text),
                   rows[k].answer) == 0,
            "%s 0x%lx: %s, wanted %s", name, (unsigned long)rows[k].address, text, rows[k].answer);
    index_of_done(&i);
}

START_TEST(b1_calls_at_the_end_of_functions)
{
    static const struct row rows[] = {
        {0x4028, "park_forever app.c:8"}, {0x4047, "enter_stall app.c:13"},
        {0x4043, "enter_stall app.c:12"}, {0x4010, "leaf_entry app.c:4"},
        {0x4063, "drive app.c:19"},       {0x4064, ""},
    };
    expect_rows("B1/libapp.dSYM/Contents/Resources/DWARF/libapp.dylib", rows, COUNT(rows));
}
END_TEST

START_TEST(b8_inlined_calls_in_several_pieces)
{
    static const struct row rows[] = {
        {0x4063, "check inl.h:5 <- two_checks app.c:4"},
        {0x4077, "check inl.h:5 <- two_checks app.c:6"},
        {0x4058, "two_checks app.c:7"},
    };
    expect_rows("B8/librng.dSYM/Contents/Resources/DWARF/librng.dylib", rows, COUNT(rows));
}
END_TEST

START_TEST(b9_lines_of_outer_frames)
{
    static const struct row rows[] = {
        {0x401b, "deep deep.h:7 <- mid mid.h:5 <- outer app.c:4"},
        {0x403c, "outer app.c:6"},
    };
    expect_rows("B9/libinl.dSYM/Contents/Resources/DWARF/libinl.dylib", rows, COUNT(rows));
}
END_TEST

START_TEST(b12_line_zero_is_no_line)
{
    static const struct row rows[] = {
        {0x401b, "first app.c:0"},
        {0x404b, "second <compiler-generated>:0"},
        {0x407f, "body app.c:0 <- third app.c:20"},
    };
    struct index_of i;
    struct gsym_frame frame;
    char path[GSYM_PATH_MAX];
    const char *name = "B12/libzero.dSYM/Contents/Resources/DWARF/libzero.dylib";
    expect_rows(name, rows, COUNT(rows));
    if (!open_case(name, &i))
        return;
    ck_assert_uint_eq(gsym_lookup(i.gsym, 0x404b, &frame, 1), 1);
    ck_assert_str_eq(gsym_frame_file(&frame, path), "<compiler-generated>");
    index_of_done(&i);
}
END_TEST

START_TEST(b19_dwarf_5_and_4_of_one_source)
{
    static const struct row rows[] = {
        {0x4067, "probe cold.h:5 <- work a.c:3"},
        {0x407b, "probe cold.h:5 <- work a.c:5"},
        {0x4004, "work a.c:2"},
    };
    struct index_of i;
    struct gsym_frame frames[2];
    char path[GSYM_PATH_MAX];
    expect_rows("B19/v4.dwarf", rows, COUNT(rows));
    expect_rows("B19/v5.dwarf", rows, COUNT(rows));
    if (!open_case("B19/v5.dwarf", &i))
        return;
    ck_assert_uint_eq(gsym_lookup(i.gsym, gsym_info(i.gsym)->text_vmaddr + 0x4067, frames, 2), 2);
    ck_assert_str_eq(gsym_frame_file(&frames[0], path), "/src/app/./inc/cold.h");
    index_of_done(&i);
}
END_TEST

/* B9's file with a few bytes changed. */
START_TEST(b22_damaged_dwarf)
{
    static const struct {
        const char *name;
        const char *answer;
        bool damaged;
    } cases[] = {
        {"ok_control", "deep deep.h:7 <- mid mid.h:5 <- outer app.c:4", false},
        {"self_ref", "?? deep.h:7 <- mid mid.h:5 <- outer app.c:4", false},
        {"two_cycle", "?? deep.h:7 <- ?? mid.h:5 <- outer app.c:4", false},
        {"ref_past_cu", "?? deep.h:7 <- mid mid.h:5 <- outer app.c:4", false},
        {"ref_mid_die", "?? deep.h:7 <- mid mid.h:5 <- outer app.c:4", false},
        {"ref_to_cu_die", "?? deep.h:7 <- mid mid.h:5 <- outer app.c:4", false},
        {"name_off_bad", "deep deep.h:7 <- ?? mid.h:5 <- outer app.c:4", false},
        {"high_pc_wrap", "deep deep.h:7 <- mid mid.h:5 <- outer app.c:4", false},
        {"abbrev_off_bad", "outer :0", true},
        {"abbrev_no_end", "outer :0", true},
        {"cu_len_huge", "outer :0", true},
        {"cu_len_zero", "outer :0", true},
        {"cu_len_reserved", "outer :0", true},
        {"cu_version_99", "outer :0", true},
        {"addr_size_0", "outer :0", true},
        {"opcode_base_0", "deep :0 <- mid :0 <- outer :0", true},
        {"line_len_huge", "deep :0 <- mid :0 <- outer :0", true},
        {"stmt_list_bad", "deep :0 <- mid :0 <- outer :0", true},
        {"line_range_0", "deep :0 <- mid mid.h:5 <- outer app.c:4", true},
    };
    for (size_t k = 0; k < COUNT(cases); k++) {
        struct index_of i;
        char name[64], text[CHAIN_SIZE];
        snprintf(name, sizeof(name), "B22/%s", cases[k].name);
        if (!open_case(name, &i))
            return;
        ck_assert_msg(strcmp(index_answer(&i, 0x401b, text), cases[k].answer) == 0, "%s: %s", name,
                      text);
        ck_assert_uint_eq(i.counts.damaged_units, cases[k].damaged);
        ck_assert_int_eq(*i.counts.warning != 0, cases[k].damaged);
        index_of_done(&i);
    }
}
END_TEST

UNIT_MAIN("bugcases_dwarf", b1_calls_at_the_end_of_functions, b8_inlined_calls_in_several_pieces,
          b9_lines_of_outer_frames, b12_line_zero_is_no_line, b19_dwarf_5_and_4_of_one_source,
          b22_damaged_dwarf)
