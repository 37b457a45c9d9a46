/*
 * debug_info - the plain intermediate between DWARF and the index file.
 *
 * Purpose: functions with their address ranges, inline trees and line rows of one object, with
 * files and strings interned; filled by dwarf_walk (via dwarf_skim) and symtab_fill, read by
 * gsym_write.
 *
 * Invariants after debug_info_build: functions ascend by address, do not overlap, each lies in an
 * executable section; a function's rows ascend and lie inside it; inline children lie inside their
 * parents. Same object, same result, whatever the number of workers. Damaged units are given up
 * alone and counted.
 *
 * Threads: built by the caller's parallel_for; read-only afterwards. Memory: debug_info_free; texts
 * point into the object, which has to live as long.
 */
#ifndef STALLSYM_SYMBOLIZER_DEBUG_INFO_H
#define STALLSYM_SYMBOLIZER_DEBUG_INFO_H

#include "base/error.h"
#include "base/parallel.h"
#include "symbolizer/object.h"

struct debug_info;

struct debug_info_counts {
    uint64_t functions;
    uint64_t lines;
    uint64_t inlines;
    uint64_t units;
    uint64_t damaged_units;
    uint64_t nameless; /* functions of which only LC_FUNCTION_STARTS knows; not among `functions` */
    uint64_t hidden;   /* names of functions that stayed `__hidden#N_` */
    char warning[256]; /* first thing that was given up, "" when all was read */
};

enum err debug_info_build(const struct object *o, const struct parallel_for *parallel,
                          struct debug_info **ret, struct error *err);
void debug_info_free(struct debug_info *d);
const struct debug_info_counts *debug_info_counts(const struct debug_info *d);

#endif
