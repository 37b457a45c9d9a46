/*
 * dwarf_skim - the fast pass over .debug_info: where are the DIEs that matter.
 *
 * Purpose: of millions of DIEs only subprograms with code and the calls inlined into them are
 * wanted. clang writes no DW_AT_sibling, so the others cannot be left out; they are stepped over:
 * one add for a DIE whose values all have fixed sizes. Of the wanted ones the few attributes that
 * matter are read in place. No allocation but the list of entries.
 *
 * What a fast pass gets wrong, and where it is dealt with:
 *   sparse, unordered and 64-bit abbreviation codes, tables shared by units     dwarf_abbrev
 *   units of other DWARF versions or sizes on the same table                    dwarf_abbrev
 *   implicit_const has no bytes in the DIE; DW_FORM_indirect                    dwarf_form
 *   str_offsets_base, addr_base, rnglists_base that stand after their users     dwarf_units
 *   high_pc: an address or an offset by the class of its form                   here
 *   inlined calls under lexical blocks, which have no say: blocks are seen through
 *   code inside type subtrees (methods) and functions inside functions: an inlined call belongs to
 *     the innermost function that is open, code or not
 *   inlined calls without ranges of their own: kept, they get those of what is inside them
 *                                                                               dwarf_walk
 *   ranges that count from the unit's low_pc                                    dwarf_ranges
 *   names behind specification and abstract_origin, also in other units, and qualified names where
 *     the linkage name is missing                                               dwarf_names
 * The result equals a full walk with libdwarf (dwarf_full.h), which tests compare it with.
 *
 * Threads: any number of units at once, one skim each. Memory: dwarf_skim_done; texts point into
 * the object.
 */
#ifndef STALLSYM_SYMBOLIZER_DWARF_SKIM_H
#define STALLSYM_SYMBOLIZER_DWARF_SKIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symbolizer/dwarf_units.h"

#define DWARF_SKIM_DEPTH_MAX 1024 /* functions and inlined calls open at once */
#define DWARF_NO_PARENT      UINT32_MAX

enum dwarf_high { DWARF_HIGH_NONE, DWARF_HIGH_ADDRESS, DWARF_HIGH_OFFSET };
enum dwarf_ranges_form { DWARF_RANGES_NONE, DWARF_RANGES_OFFSET, DWARF_RANGES_INDEX };

struct dwarf_entry {
    uint64_t offset; /* of the DIE */
    uint64_t low;
    uint64_t high;
    uint64_t ranges;
    uint64_t origin;     /* abstract_origin or specification, 0: none */
    const char *name;    /* DW_AT_name, NULL: none */
    const char *linkage; /* linkage name, NULL: none or empty */
    uint32_t parent;     /* entry this call is inlined into; DWARF_NO_PARENT for functions */
    uint32_t call_line;
    uint32_t call_file;
    uint8_t high_form;
    uint8_t ranges_form;
    bool inlined;
    bool has_low;
    bool has_call_file; /* DWARF 5 numbers files from 0 */
    bool external;
};

struct dwarf_skim {
    struct dwarf_entry *entries; /* in the order of the file: parents before children */
    size_t count;
    size_t cap;
    uint64_t work; /* attributes read for them, to be paid for by the caller */
};

void dwarf_skim_done(struct dwarf_skim *s);
/* Fills `s` anew with one unit's entries. The answer is NULL, or why the unit is given up;
 * dwarf_skim_unknown_form (that very pointer): libdwarf may know better. */
extern const char dwarf_skim_unknown_form[];
const char *dwarf_skim_unit(const struct dwarf *d, const struct dwarf_unit *u,
                            struct dwarf_skim *s);

/* Reads the attributes of the DIE behind its abbreviation code into `ret`; used by the names, too.
 * False: the DIE cannot be read. */
bool dwarf_entry_read(const struct dwarf *d, const struct dwarf_unit *u,
                      const struct dwarf_abbrev *a, struct cursor *c, struct dwarf_entry *ret);

#endif
