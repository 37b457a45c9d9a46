/*
 * string_table - texts stored once, by number and by offset.
 *
 * Purpose: the index file's string table: names of functions, directories, files.
 *
 * Invariants: equal texts are one entry, entry 0 is the empty text. Each takes its length and a NUL of
 * the table that is written; its offsets fit 32 bits: past that, and without memory, `failed` sticks.
 * Numbers follow the order in which texts were added. The table that is written has the texts of
 * `is_local` last, each part in the order of the entries.
 *
 * Threads: one owner. Memory: string_table_done; borrowed texts stay their owners'.
 */
#ifndef STALLSYM_SYMBOLIZER_STRING_TABLE_H
#define STALLSYM_SYMBOLIZER_STRING_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"

struct string_entry {
    const char *text; /* ends in a NUL */
    uint32_t length;
    uint32_t hash;
    uint32_t place; /* in the table as it is written, see string_table_settle() */
    bool is_name;   /* of a function */
    bool is_local;
};

struct string_table {
    struct arena copies;
    uint64_t size;  /* of the table that is written */
    uint64_t limit; /* for `size` */
    struct string_entry *entries;
    size_t count, cap;
    uint32_t *slots; /* 1 + entry, 0: free */
    size_t slot_count;
    bool failed;
    uint32_t locals; /* where the local ones begin in the table as it is written */
};

/* False: no memory. */
bool string_table_init(struct string_table *t);
void string_table_done(struct string_table *t);
/* The text's entry; 0 for "" and after failure. */
uint32_t string_table_add(struct string_table *t, const char *text, size_t length);
/* The same for a text that ends in a NUL and outlives the table: it is not copied. */
uint32_t string_table_borrow(struct string_table *t, const char *text);
/* Fills in `place` and `locals`; nothing is added from then on. */
void string_table_settle(struct string_table *t);
static inline const char *string_table_text(const struct string_table *t, uint32_t entry)
{
    return t->entries[entry].text;
}

#endif
