/*
 * gsym_inline - the inline tree of one FunctionInfo record.
 *
 * Purpose: finds the calls that were inlined at an address, outermost first, by one pass over the
 * encoded tree (gsym_format.h), stepping over subtrees that do not hold the address.
 *
 * Invariants: reads only inside the cursor, allocates nothing, does not recurse, ends on any bytes
 * (each step takes a byte).
 *
 * Threads: any. Memory: none.
 */
#ifndef STALLSYM_SYMBOLIZER_GSYM_INLINE_H
#define STALLSYM_SYMBOLIZER_GSYM_INLINE_H

#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"

#define GSYM_INLINE_DEPTH_MAX 1024 /* what gsym_inline_check lets pass */

/* An inlined function and where it was called from, in its caller. */
struct gsym_call {
    uint32_t name; /* offset into the string table */
    uint32_t call_file;
    uint32_t call_line;
};

/* Fills at most `max` calls and answers how many levels hold the address (perhaps more than `max`,
 * counted up to `max + 1`, the surplus one standing in `ret[max]`: `ret` has `max + 1` places). The
 * root, which is the function itself, is not among them. */
size_t gsym_inline_find(struct cursor tree, uint64_t function, uint64_t address,
                        struct gsym_call *ret, size_t max);

/* Reads the whole tree. NULL, or what is wrong with it. */
const char *gsym_inline_check(struct cursor tree, uint32_t file_count, uint32_t strings_size);

#endif
