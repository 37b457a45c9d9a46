/*
 * dwarf_form - how long an attribute's value is, and what it says.
 *
 * Purpose: the one table of DWARF forms (DWARF 5 section 7.5.6, and the GNU ones that real files
 * hold): stepping over a value, and reading it as text, address, number or reference.
 *
 * Invariants: a form that is not in the table has no length: whoever meets it gives the unit up.
 * Forms whose meaning lies in a file we do not have (GNU_ref_alt, strp_sup, ref_sig8) have a length
 * and no value. Texts returned end inside their section.
 *
 * Threads, memory: plain functions; texts point into the object's sections.
 */
#ifndef STALLSYM_SYMBOLIZER_DWARF_FORM_H
#define STALLSYM_SYMBOLIZER_DWARF_FORM_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bytes.h"

struct dwarf;
struct dwarf_unit;

enum dwarf_form_shape {
    FORM_UNKNOWN,
    FORM_FIXED,    /* `bytes` long */
    FORM_ADDRESS,  /* the unit's address size */
    FORM_OFFSET,   /* the unit's offset size */
    FORM_REF_ADDR, /* address size in DWARF 2, offset size since */
    FORM_LEB,
    FORM_BLOCK1,
    FORM_BLOCK2,
    FORM_BLOCK4,
    FORM_BLOCK,
    FORM_STRING,
    FORM_INDIRECT,
};

enum dwarf_class {
    DWARF_CLASS_NONE, /* there, but of no use here */
    DWARF_CLASS_ADDRESS,
    DWARF_CLASS_CONSTANT,
    DWARF_CLASS_OFFSET,    /* into another section */
    DWARF_CLASS_INDEX,     /* rnglistx, loclistx */
    DWARF_CLASS_REFERENCE, /* offset of a DIE in .debug_info */
    DWARF_CLASS_TEXT,
    DWARF_CLASS_FLAG,
};

struct dwarf_value {
    enum dwarf_class class;
    uint64_t number;
    const char *text; /* NULL: not to be had */
};

/* What the number of a form means once it is read. */
enum dwarf_meaning {
    MEANS_NOTHING,
    MEANS_ADDRESS,
    MEANS_ADDRESS_INDEX,
    MEANS_CONSTANT,
    MEANS_OFFSET,
    MEANS_INDEX,
    MEANS_UNIT_REFERENCE,
    MEANS_REFERENCE,
    MEANS_STR,
    MEANS_LINE_STR,
    MEANS_STR_INDEX,
    MEANS_FLAG,
    MEANS_PRESENT,
    MEANS_IMPLICIT,
    MEANS_SIGNED,
};

enum {
    DW_FORM_addr = 0x01,
    DW_FORM_implicit_const = 0x21,
};

/* Sizes that forms depend on. */
struct dwarf_sizes {
    uint8_t address; /* 4 or 8 */
    uint8_t offset;  /* 4 or 8 */
    uint8_t ref_addr;
};

enum dwarf_form_shape dwarf_form_shape(uint64_t form, uint8_t *ret_bytes);
/* Bytes of a value that always has the same length, or -1. */
int dwarf_form_fixed(uint64_t form, const struct dwarf_sizes *sizes);
/* Steps over a value. False: unknown form, or past the end. */
bool dwarf_form_skip(struct cursor *c, uint64_t form, const struct dwarf_sizes *sizes, bool swap);
/* Reads a value; `implicit` is the abbreviation's own. False as above. */
bool dwarf_form_read(struct cursor *c, uint64_t form, int64_t implicit, const struct dwarf *d,
                     const struct dwarf_unit *u, struct dwarf_value *ret);
enum dwarf_meaning dwarf_form_meaning(uint64_t form);
/* The value that the number `v`, read already, stands for. */
void dwarf_form_give(enum dwarf_meaning meaning, uint64_t v, const struct dwarf *d,
                     const struct dwarf_unit *u, struct dwarf_value *ret);
/* An unsigned integer of 1 to 8 bytes. */
uint64_t dwarf_read_uint(struct cursor *c, unsigned bytes, bool swap);
/* A text at `offset` of a string section; NULL when it does not end inside. */
const char *dwarf_text_at(const struct cursor *section, uint64_t offset);
/* Entry `index` of .debug_addr for this unit; false when it is not there. */
bool dwarf_address_at(const struct dwarf *d, const struct dwarf_unit *u, uint64_t index,
                      uint64_t *ret);

#endif
