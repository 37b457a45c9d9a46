/*
 * dwarf_abbrev - one abbreviation table, decoded for stepping over DIEs fast.
 *
 * Purpose: for every abbreviation its tag, its attributes, and how to step over a DIE made by it:
 * in one add where all its values have fixed sizes, else by a short list of steps.
 *
 * Invariants: codes may be sparse, in any order and up to 64 bits; of equal codes the first counts.
 * Sizes of values depend on the unit, so a table is decoded once for each set of sizes it is used
 * with. An attribute with DW_FORM_implicit_const has no bytes in the DIE. A form we do not know
 * makes DIEs of that abbreviation unreadable, not the table.
 *
 * Threads: read-only after dwarf_abbrevs_read. Memory: dwarf_abbrevs_done.
 */
#ifndef STALLSYM_SYMBOLIZER_DWARF_ABBREV_H
#define STALLSYM_SYMBOLIZER_DWARF_ABBREV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "symbolizer/dwarf_form.h"

#define DWARF_ABBREVS_MAX ((size_t)1 << 22) /* attributes of one table */
#define DWARF_NOT_FIXED   UINT32_MAX
#define DWARF_NO_FORM     UINT32_MAX

/* What a DIE of this abbreviation can be to us. */
enum dwarf_role {
    DWARF_ROLE_OTHER,
    DWARF_ROLE_FUNCTION,    /* subprogram with low_pc or ranges */
    DWARF_ROLE_DECLARATION, /* subprogram without code of its own */
    DWARF_ROLE_INLINE,
};

enum {
    DW_TAG_entry_point = 0x03,
    DW_TAG_compile_unit = 0x11,
    DW_TAG_inlined_subroutine = 0x1d,
    DW_TAG_subprogram = 0x2e,
    DW_TAG_partial_unit = 0x3c,
    DW_TAG_skeleton_unit = 0x4a,
};

enum {
    DW_AT_name = 0x03,
    DW_AT_stmt_list = 0x10,
    DW_AT_low_pc = 0x11,
    DW_AT_high_pc = 0x12,
    DW_AT_language = 0x13,
    DW_AT_comp_dir = 0x1b,
    DW_AT_abstract_origin = 0x31,
    DW_AT_declaration = 0x3c,
    DW_AT_external = 0x3f,
    DW_AT_specification = 0x47,
    DW_AT_ranges = 0x55,
    DW_AT_call_file = 0x58,
    DW_AT_call_line = 0x59,
    DW_AT_linkage_name = 0x6e,
    DW_AT_str_offsets_base = 0x72,
    DW_AT_addr_base = 0x73,
    DW_AT_rnglists_base = 0x74,
    DW_AT_MIPS_linkage_name = 0x2007,
};

struct dwarf_spec {
    uint16_t attribute;
    uint16_t form;
    int8_t bytes;    /* of a value, -1: it says itself */
    uint8_t meaning; /* enum dwarf_meaning */
    bool wanted;     /* of functions and calls */
    int64_t implicit;
};

/* `fixed` bytes, then one value of a form whose length stands in the DIE (0: none, only in the last
 * step; DWARF_NO_FORM: one nobody knows). */
struct dwarf_step {
    uint32_t fixed;
    uint32_t form;
};

struct dwarf_abbrev {
    uint64_t code;
    uint32_t fixed; /* bytes of a DIE behind its code, or DWARF_NOT_FIXED */
    uint32_t first_spec;
    uint32_t spec_count;
    uint32_t first_step;
    uint32_t step_count;
    uint16_t tag;
    uint8_t role;
    bool children;
};

struct dwarf_abbrevs {
    struct dwarf_sizes sizes;
    struct dwarf_abbrev *list; /* ascending by code */
    size_t count;
    bool dense; /* list[i] has code i + 1 */
    struct dwarf_spec *specs;
    struct dwarf_step *steps;
    const char *damage; /* why the table cannot be used; NULL when it can */
};

/* Decodes the table at the cursor. Damage, and want of memory, are noted in `ret->damage`; such a
 * table is empty. How many abbreviations and attributes were read, damaged or not. */
uint64_t dwarf_abbrevs_read(struct cursor c, const struct dwarf_sizes *sizes,
                            struct dwarf_abbrevs *ret);
void dwarf_abbrevs_done(struct dwarf_abbrevs *a);

const struct dwarf_abbrev *dwarf_abbrevs_search(const struct dwarf_abbrevs *a, uint64_t code);

static inline const struct dwarf_abbrev *dwarf_abbrevs_find(const struct dwarf_abbrevs *a,
                                                            uint64_t code)
{
    if (a->dense)
        return code - 1 < a->count ? &a->list[code - 1] : NULL;
    return dwarf_abbrevs_search(a, code);
}

/* The attributes of an abbreviation; NULL when it has none. */
static inline const struct dwarf_spec *dwarf_abbrev_specs(const struct dwarf_abbrevs *a,
                                                          const struct dwarf_abbrev *abbrev)
{
    return abbrev->spec_count ? a->specs + abbrev->first_spec : NULL;
}

/* Steps over the values of a DIE, its code being read. False: unknown form, or past the end. */
bool dwarf_abbrev_skip_steps(const struct dwarf_abbrevs *a, const struct dwarf_abbrev *abbrev,
                             struct cursor *c, bool swap);

static inline bool dwarf_abbrev_skip(const struct dwarf_abbrevs *a,
                                     const struct dwarf_abbrev *abbrev, struct cursor *c, bool swap)
{
    if (abbrev->fixed != DWARF_NOT_FIXED)
        return cursor_skip(c, abbrev->fixed);
    return dwarf_abbrev_skip_steps(a, abbrev, c, swap);
}

#endif
