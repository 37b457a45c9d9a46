/*
 * object_names - the string table of an object's symbols.
 *
 * Purpose: symbols say where in the table their names begin. Any number of them may begin in one
 * long text, and each is worked over for its whole length: the work is counted.
 *
 * Invariants: all names together may have OBJECT_NAMES_FACTOR times the table's bytes, or
 * OBJECT_NAMES_LEAST where that is more (of real tables it is at most twice: linkers share tails).
 * What a name without its NUL costs counts, too. When it is spent no more names are read.
 *
 * Threads: one owner. Memory: texts point into the table.
 */
#ifndef STALLSYM_SYMBOLIZER_OBJECT_NAMES_H
#define STALLSYM_SYMBOLIZER_OBJECT_NAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/error.h"

#define OBJECT_NAMES_FACTOR ((uint64_t)8)
#define OBJECT_NAMES_LEAST  ((uint64_t)1 << 26)

struct object_names {
    struct cursor table;
    uint64_t left;
    bool spent;
};

void object_names_begin(struct object_names *n, struct cursor table);
/* NULL: there is none, or the work is spent. */
const char *object_names_at(struct object_names *n, uint64_t offset);
/* ERR_LIMIT when it is spent. */
enum err object_names_check(const struct object_names *n, struct error *err);

#endif
