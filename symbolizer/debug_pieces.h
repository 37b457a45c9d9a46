/*
 * debug_pieces - who has which address.
 *
 * Purpose: from the functions of all units and of the symbol table, which may overlap, be folded
 * onto one address or leave gaps, to pieces of code that each belong to one function.
 *
 * Invariants: pieces ascend and do not overlap. Of functions that overlap the one that starts later
 * has the place; behind its end the earlier one goes on. Of functions that start together the one
 * with more to say (line rows, a linkage name, inlined calls) has it, then the one of the earlier
 * unit. Code that has line rows but no function goes to the symbol table's function there, cut where
 * another unit's rows begin.
 *
 * Threads: plain functions. Memory: debug_pieces_done; parts and symbols are borrowed.
 */
#ifndef STALLSYM_SYMBOLIZER_DEBUG_PIECES_H
#define STALLSYM_SYMBOLIZER_DEBUG_PIECES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symbolizer/debug_info_model.h"
#include "symbolizer/symtab_fill.h"

struct debug_piece {
    uint64_t start;
    uint64_t end;
    uint32_t unit;                      /* DEBUG_NO_UNIT: no rows */
    const struct debug_part *part;      /* NULL: a function of the symbol table */
    const struct object_symbol *symbol; /* NULL: a function of a unit */
};

struct debug_pieces {
    struct debug_piece *items;
    size_t count, cap;
};

/* False: no memory. `ret` is zeroed before; debug_pieces_done after, in any case. */
bool debug_pieces_make(const struct debug_info *info, const struct symtab *t,
                       struct debug_pieces *ret);
void debug_pieces_done(struct debug_pieces *p);

#endif
