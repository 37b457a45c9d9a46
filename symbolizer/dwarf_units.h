/*
 * dwarf_units - the DWARF of one object: its sections, units and abbreviation tables.
 *
 * Purpose: everything a unit needs to be read by itself, whatever unit a thread takes first:
 * sections, unit headers (DWARF 2 to 5, 32- and 64-bit), abbreviation tables, and what the unit's
 * own DIE says (bases, line table, directory, language).
 *
 * Invariants: units ascend and do not overlap; [dies, end) lies inside .debug_info. Bases are known
 * before anything that uses them is read, though they may stand behind it in the DIE. A unit that
 * cannot be read has `damage` (why) and no abbreviations; the others live.
 *
 * Threads: dwarf_open spreads over the caller's parallel_for; read-only afterwards, but for
 * `spent`. Memory: dwarf_close; texts and sections point into the object.
 */
#ifndef STALLSYM_SYMBOLIZER_DWARF_UNITS_H
#define STALLSYM_SYMBOLIZER_DWARF_UNITS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/parallel.h"
#include "symbolizer/dwarf_abbrev.h"
#include "symbolizer/object.h"

#define DWARF_UNITS_MAX ((size_t)1 << 24)
/* Work an object may cost, for each byte of its DWARF, and at least. Real files take 1 to 3. */
#define DWARF_WORK_PER_BYTE ((uint64_t)64)
#define DWARF_WORK_MIN      ((uint64_t)1 << 26)

struct dwarf_unit {
    uint64_t offset; /* of the header in .debug_info */
    uint64_t dies;   /* of the first DIE */
    uint64_t end;
    uint64_t abbrev_offset;
    const struct dwarf_abbrevs *abbrevs;
    struct dwarf_sizes sizes;
    uint16_t version;
    uint8_t type; /* DW_UT_*, 0 before DWARF 5 */
    bool has_lines;
    uint16_t language; /* DW_LANG_*, 0: not given */
    uint64_t stmt_list;
    uint64_t low_pc; /* base of the unit's range lists */
    uint64_t str_offsets_base;
    uint64_t addr_base;
    uint64_t rnglists_base;
    const char *name; /* NULL: not given */
    const char *comp_dir;
    const char *damage;
};

struct dwarf {
    struct cursor info, abbrev, line, line_str, str, str_offsets, addr, ranges, rnglists;
    bool swap;
    bool thumb;
    uint8_t address_size;
    struct symbol_map *map;          /* of hidden names, or NULL */
    const struct object_range *code; /* the object's executable sections */
    size_t code_count;
    struct dwarf_unit *units;
    size_t unit_count;
    const char *damage; /* .debug_info ends in something that is no unit */
    struct dwarf_abbrevs *tables;
    size_t table_count;
    uint64_t work_limit;
    atomic_uint_fast64_t spent; /* see dwarf_spend */
};

/* ERR_NOT_FOUND: the object has no .debug_info. */
enum err dwarf_open(const struct object *o, const struct parallel_for *parallel, struct dwarf **ret,
                    struct error *err);
void dwarf_close(struct dwarf *d);

/* The unit whose DIEs hold `offset`; NULL when none does or it is damaged. */
const struct dwarf_unit *dwarf_unit_of(const struct dwarf *d, uint64_t offset);
/* The DIEs of a unit from `offset` on; empty when that is not inside. */
struct cursor dwarf_unit_cursor(const struct dwarf *d, const struct dwarf_unit *u, uint64_t offset);
/* Types alone, no code. */
bool dwarf_unit_is_type(const struct dwarf_unit *u);
/* C++, Objective-C++, Rust and the like: names are told apart by the scopes around them. */
bool dwarf_unit_has_scopes(const struct dwarf_unit *u);

/* The executable section that holds `address`; NULL: none, so the code is dead. An object that names
 * no executable section has one from 1 to just below the highest addresses, which linkers put where
 * code was removed. */
const struct object_range *dwarf_code_at(const struct dwarf *d, uint64_t address);

/* Work is counted, so that a small file that sends us in circles over a large table ends. The sum
 * over all units is the same whatever the number of threads, and so is the verdict. False: spent. */
bool dwarf_spend(struct dwarf *d, uint64_t work);
bool dwarf_exhausted(struct dwarf *d);

#endif
