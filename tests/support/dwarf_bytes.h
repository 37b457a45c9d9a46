/*
 * dwarf_bytes - an object with hand-made DWARF sections.
 *
 * Purpose: a test appends bytes to the sections it cares about and gets an opened object: x86_64
 * ELF, .text at [CODE, CODE + 0x1000), functions as named in `symbols`.
 *
 * Threads: one owner. Memory: dwarf_bytes_done gives sections, file and object back.
 */
#ifndef STALLSYM_TESTS_DWARF_BYTES_H
#define STALLSYM_TESTS_DWARF_BYTES_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "symbolizer/object.h"
#include "tests/support/elf_builder.h"

#define CODE     ((uint64_t)0x401000)
#define CODE_END (CODE + 0x1000)

struct dwarf_bytes {
    struct buf info, abbrev, line, line_str, str, str_offsets, addr, ranges, rnglists;
    struct buf file;
    struct object *object;
    size_t unit; /* where the open unit begins */
};

void dwarf_bytes_init(struct dwarf_bytes *b);
void dwarf_bytes_done(struct dwarf_bytes *b);
/* A unit header of 32-bit DWARF with 8-byte addresses; type 1 (compile) in DWARF 5. */
void dwarf_unit_begin(struct dwarf_bytes *b, uint16_t version, uint32_t abbrev_offset);
/* Sets its length. */
void dwarf_unit_end(struct dwarf_bytes *b);
/* An abbreviation: attribute, form, … ended by 0, 0; DW_FORM_implicit_const takes a third. */
void dwarf_abbreviation(struct dwarf_bytes *b, uint64_t code, uint64_t tag, int children,
                        const uint64_t *specs);
/* Offset of a text added to .debug_str. */
uint32_t dwarf_string(struct dwarf_bytes *b, const char *text);
/* A line table of DWARF 4 with one directory "dir" and files 1 "a.c" (dir 0) and 2 "b.h" (dir 1),
 * opcode_base 13, line_base -5, line_range 14, around the given program. */
void dwarf_line_table(struct dwarf_bytes *b, const void *program, size_t len);
/* Opens the object; aborts when that fails. */
struct object *dwarf_bytes_open(struct dwarf_bytes *b, const struct elf_builder_symbol *symbols,
                                uint32_t count);

#endif
