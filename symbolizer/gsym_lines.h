/*
 * gsym_lines - the line table of one FunctionInfo record.
 *
 * Purpose: finds the row of an address by running the opcodes of gsym_format.h, and no further than
 * needed.
 *
 * Invariants: reads only inside the cursor, allocates nothing, ends on any bytes (each step takes a
 * byte). The last row at an address counts.
 *
 * Threads: any. Memory: none.
 */
#ifndef STALLSYM_SYMBOLIZER_GSYM_LINES_H
#define STALLSYM_SYMBOLIZER_GSYM_LINES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bytes.h"

struct gsym_row {
    uint32_t file; /* index into the file table, 0: none */
    uint32_t line; /* 0: none */
};

/* The row that covers `address`; false when the table begins after it or is damaged before. */
bool gsym_lines_find(struct cursor table, uint64_t function, uint64_t address,
                     struct gsym_row *ret);

/* Runs the whole table. NULL, or what is wrong with it. */
const char *gsym_lines_check(struct cursor table, uint32_t file_count);

#endif
