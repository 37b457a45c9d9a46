/*
 * dwarf_names - what a function is called.
 *
 * Purpose: the name of an entry, through its specification and abstract_origin chain, over units if
 * need be; and the scopes (namespaces, classes) around a declaration, for names that have no
 * linkage name to say them.
 *
 * Invariants: the linkage name counts before the plain one; empty names count as none. A chain is
 * followed DWARF_CHAIN_MAX steps at most, so that a ring ends; a reference to what is no subprogram
 * names nothing. DIEs read on the way are paid for with dwarf_spend.
 *
 * Threads: any. Memory: texts point into the object or the arena.
 */
#ifndef STALLSYM_SYMBOLIZER_DWARF_NAMES_H
#define STALLSYM_SYMBOLIZER_DWARF_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "symbolizer/dwarf_skim.h"

#define DWARF_CHAIN_MAX  16 /* references from an entry to its name */
#define DWARF_SCOPES_MAX 32 /* scopes that a qualified name can have */

struct dwarf_name {
    const char *linkage;  /* NULL: none */
    const char *name;     /* NULL: none */
    uint64_t declaration; /* DIE at the end of the chain: its place says the scopes */
    bool external;
};

/* Of an entry. */
void dwarf_name_of(struct dwarf *d, const struct dwarf_entry *e, struct dwarf_name *ret);
/* The same for a reference: the abstract_origin of an inlined call. */
void dwarf_name_at(struct dwarf *d, uint64_t die, struct dwarf_name *ret);

/* A name to be qualified. */
struct dwarf_scoped {
    uint64_t declaration;
    const char *name; /* in: the plain name; out: "scope::name", where there are scopes */
    uint32_t user;    /* the caller's own */
};

/* Qualifies names; sorts `list` by declaration and reads each unit once. False: no memory, or the
 * work is spent. */
bool dwarf_names_qualify(struct dwarf *d, struct dwarf_scoped *list, size_t count,
                         struct arena *arena);

#endif
