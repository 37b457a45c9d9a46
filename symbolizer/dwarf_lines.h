/*
 * dwarf_lines - a unit's line table, decoded.
 *
 * Purpose: the line-number program of .debug_line (DWARF 2 to 5) run into rows, and its file table.
 *
 * Invariants: rows ascend by address. Of several rows at one address the last counts; rows that
 * repeat the file and line before them are left out. A sequence ends with a row whose `file` is
 * DWARF_ROW_END: from there on nothing is known. A sequence that goes backwards, never ends or lies
 * outside the executable sections is dropped alone. Rows that are no statements do count; line 0
 * means "no line" and stays. Where sequences overlap, the one that starts later has the place.
 *
 * Threads: one table per thread. Memory: dwarf_lines_done; texts point into the object.
 */
#ifndef STALLSYM_SYMBOLIZER_DWARF_LINES_H
#define STALLSYM_SYMBOLIZER_DWARF_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symbolizer/dwarf_units.h"

#define DWARF_ROW_END         UINT32_MAX
#define DWARF_LINES_FILES_MAX ((size_t)1 << 20)

struct dwarf_row {
    uint64_t address;
    uint32_t file; /* number as in the program, or DWARF_ROW_END */
    uint32_t line;
};

struct dwarf_file {
    const char *name; /* NULL: cannot be read */
    uint32_t directory;
};

struct dwarf_sequence {
    uint64_t start;
    uint64_t end;
    size_t first; /* rows [first, last), the last being its DWARF_ROW_END */
    size_t last;
};

struct dwarf_lines {
    struct dwarf_row *rows;
    size_t row_count, row_cap;
    struct dwarf_file *files;
    size_t file_count, file_cap;
    uint32_t first_file;      /* number of files[0]: 1, from DWARF 5 on 0 */
    const char **directories; /* [0]: where the compiler ran, NULL: not known */
    size_t directory_count, directory_cap;
    uint64_t name_bytes;              /* of files and directories, for dwarf_spend */
    struct dwarf_sequence *sequences; /* only while reading */
    size_t sequence_count, sequence_cap;
};

void dwarf_lines_done(struct dwarf_lines *l);
/* Fills `l` anew with the unit's table; empty when it has none. The answer is NULL, or what was
 * given up; the rows before the damage are kept. */
const char *dwarf_lines_read(struct dwarf *d, const struct dwarf_unit *u, struct dwarf_lines *l);

/* Index of the last row at or before `address`; SIZE_MAX when there is none. */
size_t dwarf_lines_at(const struct dwarf_row *rows, size_t count, uint64_t address);
/* The file of that number; NULL: there is none. */
const struct dwarf_file *dwarf_lines_file(const struct dwarf_lines *l, uint32_t number);

#endif
