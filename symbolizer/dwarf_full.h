/*
 * dwarf_full - the slow pass over a unit, by libdwarf.
 *
 * Purpose: gives the same entries as dwarf_skim by visiting every DIE with libdwarf: it reads the
 * units that hold a form the skim does not know, and is the judge of the skim in tests.
 *
 * Threads: one dwarf_object per thread. Memory: as dwarf_skim.
 */
#ifndef STALLSYM_SYMBOLIZER_DWARF_FULL_H
#define STALLSYM_SYMBOLIZER_DWARF_FULL_H

#include "symbolizer/dwarf_object.h"
#include "symbolizer/dwarf_skim.h"

#define DWARF_FULL_DEPTH_MAX 4096 /* DIEs inside DIEs */

/* Fills `s` anew. The answer is NULL, or why the unit is given up. */
const char *dwarf_full_unit(const struct dwarf_object *o, const struct dwarf_unit *u,
                            struct dwarf_skim *s);

#endif
