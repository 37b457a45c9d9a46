/*
 * dwarf_inlines - the tree of calls inlined into one function, made consistent.
 *
 * Purpose: what is inlined into an inlined call is inlined into the call around it, too, whatever
 * the outer one's own ranges say: its ranges are widened to hold the inner ones. Calls that end up
 * without any range are left out.
 *
 * Threads: one tree at a time. Memory: in the debug_unit.
 */
#ifndef STALLSYM_SYMBOLIZER_DWARF_INLINES_H
#define STALLSYM_SYMBOLIZER_DWARF_INLINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symbolizer/debug_info_model.h"

/* A call's place in the tree, by number among the calls of its function. */
struct dwarf_nest {
    uint32_t parent; /* DWARF_NO_PARENT: the function itself */
    uint32_t child;  /* filled by dwarf_inlines_settle */
    uint32_t sibling;
    uint32_t depth;
};

/* Appends ranges to the unit's; their place in `ret_first`. False: no memory. */
bool debug_unit_add_ranges(struct debug_unit *u, const struct object_range *ranges, size_t count,
                           size_t *ret_first);
/* The calls from `first` on are one function's; `nest` has as many. False: no memory. */
bool dwarf_inlines_settle(struct debug_unit *u, size_t first, struct dwarf_nest *nest);

#endif
