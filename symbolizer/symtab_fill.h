/*
 * symtab_fill - functions that only the symbol table knows.
 *
 * Purpose: fills the gaps between the functions of the debugging information by the symbol table,
 * and answers which symbol stands at an address.
 *
 * Invariants: a function ends where the next symbol begins (whatever its name), at its own size
 * where that is known, at the end of its section, or where debugging information takes over,
 * whichever comes first: no address is named by a symbol that is merely the nearest. A symbol that
 * lies inside a function already known names nothing. Nameless symbols (LC_FUNCTION_STARTS) bound
 * the ones before them. Of several names at one address an external one is taken, then the last of
 * the symbol table.
 *
 * Threads: plain functions. Memory: the list is the caller's, freed with free(list->items).
 */
#ifndef STALLSYM_SYMBOLIZER_SYMTAB_FILL_H
#define STALLSYM_SYMBOLIZER_SYMTAB_FILL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symbolizer/object.h"

/* The symbols of an object, as object_symbols gives them, and its executable sections. */
struct symtab {
    const struct object_symbol *symbols;
    size_t count;
    const struct object_range *code;
    size_t code_count;
    /* ELF: a symbol without a size (hand-written code: _init, _start) reaches to the next symbol
     * over section borders, as both judges have it. Mach-O symbols never have a size, and what
     * follows a section there are stubs that nobody's name fits. */
    bool unsized_reach;
};

struct symtab_function {
    uint64_t start;
    uint64_t end;
    size_t symbol;
};

struct symtab_list {
    struct symtab_function *items;
    size_t count, cap;
};

/* Appends what lies outside `known` (ascending, disjoint). False: no memory. */
bool symtab_fill(const struct symtab *t, const struct object_range *known, size_t known_count,
                 struct symtab_list *list);

/* The symbols at exactly this address: the first one, and how many. */
const struct object_symbol *symtab_at(const struct symtab *t, uint64_t address, size_t *ret_count);
/* The symbol whose function holds the address; NULL when none does. */
const struct object_symbol *symtab_around(const struct symtab *t, uint64_t address);

#endif
