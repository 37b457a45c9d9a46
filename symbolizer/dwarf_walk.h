/*
 * dwarf_walk - one unit of DWARF, understood.
 *
 * Purpose: turns the entries of a skim into functions, ranges, inline trees and line rows: a
 * debug_unit.
 *
 * Invariants: functions lie in executable sections; dead ones (address 0, ~0, ~0-1 and the like)
 * are left out. A damaged unit gives nothing but `damage`; a damaged line table or range list takes
 * only itself along.
 *
 * Threads: one walker per thread, any number of units at once. Memory: a walker keeps its memory
 * for the next unit; dwarf_walker_done.
 */
#ifndef STALLSYM_SYMBOLIZER_DWARF_WALK_H
#define STALLSYM_SYMBOLIZER_DWARF_WALK_H

#include <stdbool.h>

#include "symbolizer/debug_info_model.h"
#include "symbolizer/dwarf_full.h"
#include "symbolizer/dwarf_inlines.h"
#include "symbolizer/dwarf_names.h"
#include "symbolizer/dwarf_ranges.h"
#include "symbolizer/dwarf_skim.h"

#define DWARF_UNIT_TEXTS_MAX ((size_t)1 << 30) /* qualified names of one unit */

/* Names by the DIE they were found at, for one unit. */
struct dwarf_name_slot {
    uint64_t die;
    uint32_t name;
    uint32_t unit; /* number of the walker's unit, 0: free */
};

/* What is noted for an entry while its unit is walked. */
struct dwarf_entry_note {
    uint32_t root;    /* the function it belongs to */
    uint32_t inlined; /* its place among the function's calls */
    uint32_t first;   /* a function's calls: members[first, first + calls) */
    uint32_t calls;
};

struct dwarf_walker {
    const struct object *object;  /* set by the owner */
    struct dwarf_object *library; /* opened when a unit holds a form that the skim does not know */
    struct dwarf_skim skim;
    struct dwarf_range_list ranges;
    struct dwarf_name_slot *slots;
    size_t slot_count, slot_used;
    uint32_t unit;
    struct dwarf_scoped *scoped;
    size_t scoped_count, scoped_cap;
    /* For each entry of the skim, entry_cap of each. */
    struct dwarf_entry_note *entries;
    uint32_t *members; /* inlined calls, gathered by function */
    struct dwarf_nest *nest;
    size_t entry_cap;
    struct debug_unit
        lent; /* lists with room: a unit is read into them, and takes what it filled */
};

void dwarf_walker_done(struct dwarf_walker *w);
/* Fills `ret`, which is zeroed. False: no memory, or the object's work is spent; `ret` still wants
 * debug_unit_done. */
bool dwarf_walk_unit(struct dwarf *d, const struct dwarf_unit *u, struct dwarf_walker *w,
                     struct debug_unit *ret);

#endif
