/*
 * string_table - texts stored once, by number and by offset.
 *
 * Purpose: the index file's string table: names of functions, directories, files.
 *
 * Invariants: `bytes` begins with a NUL, every text ends in one; equal texts are one entry. Entry 0
 * is the empty text. Offsets fit 32 bits: past that, and without memory, `failed` sticks. Numbers
 * and offsets follow the order in which texts were added. The table that is written has the texts
 * of `is_local` last, each part in the order of the entries.
 *
 * Threads: one owner. Memory: string_table_done.
 */
#ifndef STALLSYM_SYMBOLIZER_STRING_TABLE_H
#define STALLSYM_SYMBOLIZER_STRING_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

struct string_entry {
    uint32_t offset;
    uint32_t length;
    uint32_t hash;
    uint32_t place; /* in the table as it is written, see string_table_settle() */
    bool is_name;   /* of a function */
    bool is_local;
};

struct string_table {
    struct buf bytes;
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
/* Fills in `place` and `locals`; nothing is added from then on. */
void string_table_settle(struct string_table *t);
const char *string_table_text(const struct string_table *t, uint32_t entry);

#endif
