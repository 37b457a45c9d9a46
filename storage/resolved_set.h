/*
 * resolved_set - the resolved clusters of a database, by id.
 *
 * Purpose: a plain value that sqlite_life.c fills and looks into; apart so that sqlite_storage.h can
 * hold one.
 *
 * Invariants: ascending ids while `known`. Threads: one owner. Memory: texts in its own arena.
 */
#ifndef STALLSYM_STORAGE_RESOLVED_SET_H
#define STALLSYM_STORAGE_RESOLVED_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"

#define RESOLVED_SET_BYTES ((size_t)256 << 20)

struct resolved_cluster {
    int64_t id;
    const char *version, *build; /* NULL: not told */
};

struct resolved_set {
    bool known;
    struct resolved_cluster *items;
    size_t count, room;
    struct arena arena;
};

#endif
