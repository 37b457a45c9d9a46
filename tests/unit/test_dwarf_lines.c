#include "symbolizer/dwarf_lines.h"

#include <string.h>

#include "tests/support/dwarf_bytes.h"
#include "tests/support/unit.h"

/* Opcodes of the hand-made table: base 13, line_base -5, line_range 14. */
#define SPECIAL(line, address) (uint8_t)((line) + 5 + 14 * (address) + 13)

static struct dwarf_bytes bytes;
static struct dwarf *dwarf;
static struct dwarf_lines lines;
static struct buf program;

static void set_address(uint64_t address)
{
    buf_put(&program, "\0\11\2", 3);
    buf_u64(&program, address);
}

static void end_sequence(uint8_t advance)
{
    buf_u8(&program, 2); /* advance_pc */
    buf_uleb(&program, advance);
    buf_put(&program, "\0\1\1", 3);
}

static void begin(void)
{
    dwarf_bytes_init(&bytes);
    buf_init(&program, 65536);
    dwarf_abbreviation(&bytes, 1, 0x11, 0, (const uint64_t[]){0x10, 0x17, 0x1b, 0x08, 0, 0});
    buf_u8(&bytes.abbrev, 0);
    dwarf_unit_begin(&bytes, 4, 0);
    buf_uleb(&bytes.info, 1);
    buf_u32(&bytes.info, 0);
    buf_put(&bytes.info, "/src", 5);
    dwarf_unit_end(&bytes);
}

/* Reads what was put together; the answer is that of dwarf_lines_read. */
static const char *read_table(void)
{
    if (bytes.line.len == 0)
        dwarf_line_table(&bytes, program.data, program.len);
    dwarf_bytes_open(&bytes, NULL, 0);
    ck_assert_int_eq(dwarf_open(bytes.object, NULL, &dwarf, NULL), ERR_OK);
    ck_assert_uint_eq(dwarf->unit_count, 1);
    return dwarf_lines_read(dwarf, &dwarf->units[0], &lines);
}

static void finish(void)
{
    dwarf_lines_done(&lines);
    dwarf_close(dwarf);
    dwarf_bytes_done(&bytes);
    buf_done(&program);
}

static void expect_rows(const struct dwarf_row *rows, size_t count)
{
    ck_assert_uint_eq(lines.row_count, count);
    for (size_t i = 0; i < count; i++) {
        ck_assert_uint_eq(lines.rows[i].address, rows[i].address);
        ck_assert_uint_eq(lines.rows[i].file, rows[i].file);
        ck_assert_uint_eq(lines.rows[i].line, rows[i].line);
    }
}

START_TEST(rows_of_all_opcodes)
{
    begin();
    set_address(CODE);
    buf_u8(&program, SPECIAL(4, 0)); /* line 5 */
    buf_u8(&program, 4);             /* set_file 2 */
    buf_uleb(&program, 2);
    buf_u8(&program, 6); /* negate_stmt: rows that are no statements count */
    buf_u8(&program, SPECIAL(-3, 4));
    buf_u8(&program, 3); /* advance_line +100 */
    buf_sleb(&program, 100);
    buf_u8(&program, 8); /* const_add_pc: (255 - 13) / 14 = 17 */
    buf_u8(&program, 1); /* copy */
    buf_u8(&program, 9); /* fixed_advance_pc */
    buf_u16(&program, 0x100);
    buf_u8(&program, 5); /* set_column */
    buf_uleb(&program, 9);
    buf_u8(&program, 3);
    buf_sleb(&program, -102);
    buf_u8(&program, 1); /* line 0: no line */
    end_sequence(8);
    ck_assert_ptr_null(read_table());
    expect_rows((const struct dwarf_row[]){{CODE, 1, 5},
                                           {CODE + 4, 2, 2},
                                           {CODE + 21, 2, 102},
                                           {CODE + 277, 2, 0},
                                           {CODE + 285, DWARF_ROW_END, 0}},
                5);
    ck_assert_uint_eq(lines.first_file, 1);
    ck_assert_str_eq(dwarf_lines_file(&lines, 1)->name, "a.c");
    ck_assert_uint_eq(dwarf_lines_file(&lines, 2)->directory, 1);
    ck_assert_ptr_null(dwarf_lines_file(&lines, 0));
    ck_assert_ptr_null(dwarf_lines_file(&lines, 3));
    ck_assert_str_eq(lines.directories[0], "/src");
    ck_assert_str_eq(lines.directories[1], "dir");
    finish();
}
END_TEST

START_TEST(last_row_at_an_address_counts)
{
    begin();
    set_address(CODE);
    buf_u8(&program, SPECIAL(1, 0));
    buf_u8(&program, SPECIAL(1, 0));
    buf_u8(&program, SPECIAL(2, 0)); /* line 5 at CODE */
    buf_u8(&program, SPECIAL(0, 4)); /* repeats line 5 */
    buf_u8(&program, SPECIAL(3, 0)); /* and is line 8 after all */
    end_sequence(4);
    ck_assert_ptr_null(read_table());
    expect_rows(
        (const struct dwarf_row[]){{CODE, 1, 5}, {CODE + 4, 1, 8}, {CODE + 8, DWARF_ROW_END, 0}},
        3);
    ck_assert_uint_eq(dwarf_lines_at(lines.rows, lines.row_count, CODE - 1), SIZE_MAX);
    ck_assert_uint_eq(dwarf_lines_at(lines.rows, lines.row_count, CODE + 3), 0);
    ck_assert_uint_eq(dwarf_lines_at(lines.rows, lines.row_count, CODE + 4), 1);
    ck_assert_uint_eq(dwarf_lines_at(lines.rows, lines.row_count, CODE + 99), 2);
    finish();
}
END_TEST

START_TEST(backward_dead_and_endless_sequences_are_dropped_alone)
{
    begin();
    set_address(CODE + 0x100); /* goes backwards */
    buf_u8(&program, SPECIAL(1, 0));
    buf_u8(&program, SPECIAL(1, 8));
    set_address(CODE + 0x104);
    buf_u8(&program, SPECIAL(1, 0));
    end_sequence(8);
    set_address(CODE + 0x100); /* goes behind a row that repeats the one before */
    buf_u8(&program, SPECIAL(1, 0));
    buf_u8(&program, SPECIAL(0, 8));
    set_address(CODE + 0x104);
    buf_u8(&program, SPECIAL(1, 0));
    end_sequence(8);
    set_address(CODE + 0x100); /* the same, at its end */
    buf_u8(&program, SPECIAL(1, 0));
    buf_u8(&program, SPECIAL(0, 8));
    set_address(CODE + 0x104);
    end_sequence(1);
    set_address(0); /* dead */
    buf_u8(&program, SPECIAL(1, 0));
    end_sequence(8);
    set_address(CODE + 0x200); /* good */
    buf_u8(&program, SPECIAL(4, 0));
    end_sequence(8);
    set_address(~(uint64_t)0); /* dead, and wraps */
    buf_u8(&program, SPECIAL(1, 0));
    buf_u8(&program, SPECIAL(1, 8));
    end_sequence(8);
    set_address(CODE + 0x300); /* never ends */
    buf_u8(&program, SPECIAL(1, 0));
    ck_assert_ptr_null(read_table());
    expect_rows((const struct dwarf_row[]){{CODE + 0x200, 1, 5}, {CODE + 0x208, DWARF_ROW_END, 0}},
                2);
    finish();
}
END_TEST

START_TEST(sequences_are_put_in_order)
{
    begin();
    set_address(CODE + 0x20);
    buf_u8(&program, SPECIAL(2, 0));
    end_sequence(0x10);
    set_address(CODE);
    buf_u8(&program, SPECIAL(1, 0));
    buf_u8(&program, SPECIAL(1, 8));
    buf_u8(&program, 2); /* runs into the other one */
    buf_uleb(&program, 0x20);
    buf_u8(&program, SPECIAL(1, 0));
    end_sequence(4);
    ck_assert_ptr_null(read_table());
    expect_rows(
        (const struct dwarf_row[]){
            {CODE, 1, 2}, {CODE + 8, 1, 3}, {CODE + 0x20, 1, 3}, {CODE + 0x30, DWARF_ROW_END, 0}},
        4);
    finish();
}
END_TEST

START_TEST(program_cut_off_keeps_what_was_whole)
{
    begin();
    set_address(CODE);
    buf_u8(&program, SPECIAL(1, 0));
    end_sequence(8);
    buf_put(&program, "\0\11\2\1", 4); /* set_address without its bytes */
    ck_assert_ptr_nonnull(read_table());
    ck_assert_uint_eq(lines.row_count, 2);
    finish();
}
END_TEST

START_TEST(define_file_adds_one)
{
    begin();
    buf_put(&program, "\0\10\3z.h\0\1\0\0", 10);
    set_address(CODE);
    buf_u8(&program, SPECIAL(1, 0));
    end_sequence(8);
    ck_assert_ptr_null(read_table());
    ck_assert_str_eq(dwarf_lines_file(&lines, 3)->name, "z.h");
    finish();
}
END_TEST

/* Numbers from 0, texts in .debug_line_str, MD5 sums, and a machine that starts with file 1. */
START_TEST(dwarf_5_header)
{
    begin();
    set_address(CODE);
    buf_u8(&program, 1); /* file 1 */
    buf_u8(&program, 4);
    buf_uleb(&program, 0);
    buf_u8(&program, SPECIAL(1, 4)); /* file 0 */
    end_sequence(4);
    struct buf head;
    buf_init(&head, 4096);
    buf_put(&head, "\1\1\1\373\16\15", 6);
    buf_put(&head, "\0\1\1\1\1\0\0\0\1\0\0\1", 12);
    buf_put(&head, "\1\1\37\2", 4); /* one format: path, line_strp; two directories */
    buf_u32(&head, 0);
    buf_u32(&head, 5);
    buf_put(&head, "\3\1\37\2\13\5\36\2", 8); /* path, index as data1, MD5; two files */
    buf_u32(&head, 9);
    buf_u8(&head, 0);
    buf_put(&head, "0123456789abcdef", 16);
    buf_u32(&head, 13);
    buf_u8(&head, 1);
    buf_put(&head, "0123456789abcdef", 16);
    buf_u32(&bytes.line, (uint32_t)(2 + 2 + 4 + head.len + program.len));
    buf_u16(&bytes.line, 5);
    buf_put(&bytes.line, "\10\0", 2);
    buf_u32(&bytes.line, (uint32_t)head.len);
    buf_put(&bytes.line, head.data, head.len);
    buf_put(&bytes.line, program.data, program.len);
    buf_put(&bytes.line_str, "/src\0inc\0a.c\0b.h", 17);
    buf_done(&head);
    ck_assert_ptr_null(read_table());
    expect_rows(
        (const struct dwarf_row[]){{CODE, 1, 1}, {CODE + 4, 0, 2}, {CODE + 8, DWARF_ROW_END, 0}},
        3);
    ck_assert_str_eq(dwarf_lines_file(&lines, 0)->name, "a.c");
    ck_assert_str_eq(dwarf_lines_file(&lines, 1)->name, "b.h");
    ck_assert_str_eq(lines.directories[dwarf_lines_file(&lines, 1)->directory], "inc");
    finish();
}
END_TEST

/* Every cut of a table is refused or read, never read past. */
START_TEST(every_cut)
{
    begin();
    set_address(CODE);
    buf_u8(&program, SPECIAL(1, 0));
    end_sequence(8);
    dwarf_line_table(&bytes, program.data, program.len);
    struct buf whole = bytes.line;
    for (size_t n = 1; n < whole.len; n++) {
        buf_init(&bytes.line, 4096);
        buf_put(&bytes.line, whole.data, n);
        buf_done(&bytes.file); /* made anew by each opening */
        ck_assert_ptr_nonnull(read_table());
        ck_assert_uint_eq(lines.row_count, 0);
        dwarf_close(dwarf);
        dwarf = NULL;
        object_close(bytes.object);
        bytes.object = NULL;
        buf_done(&bytes.line);
    }
    buf_done(&whole);
    finish();
}
END_TEST

/* Any number of units may point at one table: its header is paid for each time. */
START_TEST(shared_headers_are_work)
{
    enum { DIRECTORIES = 50000 };
    begin();
    buf_u32(&bytes.line, 2 + 4 + 6 + 2 * DIRECTORIES + 2);
    buf_u16(&bytes.line, 4);
    buf_u32(&bytes.line, 6 + 2 * DIRECTORIES + 2);
    buf_put(&bytes.line, "\1\1\1\373\16\1", 6);
    for (int i = 0; i < DIRECTORIES; i++)
        buf_put(&bytes.line, "d", 2);
    buf_put(&bytes.line, "\0", 2);
    ck_assert_ptr_null(read_table());
    ck_assert_uint_eq(lines.directory_count, DIRECTORIES + 1);
    int times = 0;
    while (times < 1000 && !dwarf_lines_read(dwarf, &dwarf->units[0], &lines))
        times++;
    ck_assert_int_lt(times, 1000);
    ck_assert(dwarf_exhausted(dwarf));
    finish();
}
END_TEST

UNIT_MAIN("dwarf_lines", rows_of_all_opcodes, last_row_at_an_address_counts,
          backward_dead_and_endless_sequences_are_dropped_alone, sequences_are_put_in_order,
          program_cut_off_keeps_what_was_whole, define_file_adds_one, dwarf_5_header, every_cut,
          shared_headers_are_work)
