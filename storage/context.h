/*
 * context - from single reports to the rows of a context.
 *
 * Purpose: shared by the backends.
 *
 * Threads: pure. Memory: the arena's.
 */
#ifndef STALLSYM_STORAGE_CONTEXT_H
#define STALLSYM_STORAGE_CONTEXT_H

#include "storage/read_context.h"

struct context_fact {
    const char *value, *value2; /* NULL: no such dimension */
    int64_t time_ms;
    int64_t cpu, memory;     /* -1: not given */
    const char *page, *path; /* "" */
};

/* Sorts the facts. */
enum err context_make(struct context_fact *facts, size_t count, bool grouped, struct arena *arena,
                      struct context *ret, struct error *err);

#endif
