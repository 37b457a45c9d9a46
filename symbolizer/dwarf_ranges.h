/*
 * dwarf_ranges - the address ranges of a function or inlined call.
 *
 * Purpose: low_pc/high_pc, .debug_ranges (DWARF 2 to 4) and .debug_rnglists (DWARF 5, with its
 * index table and .debug_addr), as one list of [start, end).
 *
 * Invariants: empty and backward ranges are left out; several ranges stay several, in the order of
 * the file. A list that runs past its section gives what it had before that, and `damaged`. Each
 * entry read is paid for with dwarf_spend, so that lists shared by many DIEs end.
 *
 * Threads: one list per thread. Memory: the list is the caller's, freed with free(list->items).
 */
#ifndef STALLSYM_SYMBOLIZER_DWARF_RANGES_H
#define STALLSYM_SYMBOLIZER_DWARF_RANGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symbolizer/dwarf_skim.h"

struct dwarf_range_list {
    struct object_range *items;
    size_t count;
    size_t cap;
    bool damaged;
};

/* Appends the entry's ranges. False: no memory, or the work is spent. */
bool dwarf_ranges_of(struct dwarf *d, const struct dwarf_unit *u, const struct dwarf_entry *e,
                     struct dwarf_range_list *list);

/* Sorts, and joins what overlaps or touches. The count left. */
size_t dwarf_ranges_join(struct object_range *ranges, size_t count);

#endif
