/*
 * gsym_encode - the payloads of a function: line table and inlined calls.
 *
 * Purpose: writes what LLVM's LineTable and InlineInfo decode (gsym_format.h).
 *
 * Invariants: addresses are cut to the piece's [start, end). Rows that repeat file and line are left
 * out. A call without a range in the piece is left out with all that is inlined into it.
 *
 * Threads, memory: append to the caller's buffer; failures stick there.
 */
#ifndef STALLSYM_SYMBOLIZER_GSYM_ENCODE_H
#define STALLSYM_SYMBOLIZER_GSYM_ENCODE_H

#include <stdbool.h>

#include "base/buf.h"
#include "symbolizer/debug_info_model.h"

/* Rows as the index has them: files of the whole. Kept from function to function. */
struct gsym_rows {
    struct dwarf_row *items;
    size_t count, cap;
};

/* Fills `rows` with the function's. False: no memory. */
bool gsym_rows_of(const struct debug_info *d, const struct debug_function *f,
                  struct gsym_rows *rows);
void gsym_rows_done(struct gsym_rows *rows);
void gsym_encode_lines(const struct gsym_rows *rows, uint64_t start, struct buf *out);

/* False: nothing was inlined here, nothing was written. */
bool gsym_encode_inlines(const struct debug_info *d, const struct debug_function *f,
                         struct buf *out);

#endif
