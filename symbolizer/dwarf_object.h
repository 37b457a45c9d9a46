/*
 * dwarf_object - an object's sections for libdwarf.
 *
 * Purpose: opens libdwarf over sections that we found ourselves, under their ELF names, so that
 * Mach-O slices, DWARF 5 in Mach-O and mapped files work with every version of the library. Hides
 * what differs between 20210528 and 0.11.
 *
 * Invariants: the sections are read-only and stay where they are: names libdwarf gives out point
 * into them.
 *
 * Threads: one dwarf_object per thread, over a shared object. Memory: dwarf_object_close; the
 * object outlives it.
 */
#ifndef STALLSYM_SYMBOLIZER_DWARF_OBJECT_H
#define STALLSYM_SYMBOLIZER_DWARF_OBJECT_H

#include <libdwarf.h>

#include "base/error.h"
#include "symbolizer/object.h"

struct dwarf_object;

/* ERR_NOT_FOUND: no .debug_info. ERR_FORMAT: libdwarf refuses it; its own words are in the text. */
enum err dwarf_object_open(const struct object *o, struct dwarf_object **ret, struct error *err);
void dwarf_object_close(struct dwarf_object *d);
Dwarf_Debug dwarf_object_debug(const struct dwarf_object *d);

#endif
