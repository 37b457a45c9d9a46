/*
 * read_context - under what circumstances an app or a cluster stalls.
 *
 * Purpose: CPU and memory at the stall, the most frequent pages and page paths.
 *
 * Invariants: from the newest raw reports under the filter, at most CONTEXT_REPORTS of the last
 * CONTEXT_SPAN that were received: what it is like now, in bounded time; the answer says how many
 * reports there were. Values of CPU and memory that were not sent count nowhere.
 *
 * Threads, memory: as storage_read.h says.
 */
#ifndef STALLSYM_STORAGE_READ_CONTEXT_H
#define STALLSYM_STORAGE_READ_CONTEXT_H

#include "storage/storage_read.h"

#define CONTEXT_REPORTS 1000
#define CONTEXT_SPAN    50000
#define CONTEXT_TOP     10

struct value_count {
    const char *value;
    uint64_t count;
};

struct context_row {
    const char *value, *value2; /* of the dimensions; NULL without them */
    uint64_t reports;
    int64_t cpu_p50, cpu_p90;       /* percent; -1: no report has it */
    int64_t memory_p50, memory_p90; /* MB; so here */
    /* Most frequent first, those without a name left out. */
    struct value_count pages[CONTEXT_TOP], paths[CONTEXT_TOP];
    size_t page_count, path_count;
};

struct context {
    struct context_row *rows; /* by their texts; without dimensions exactly one */
    size_t count;
    uint64_t reports;
    int64_t since_ms; /* when the oldest of them happened; INT64_MIN: there is none */
};

enum err read_context(struct storage_reader *r, uint64_t cluster_id, const struct read_filter *f,
                      enum breakdown_by by, enum breakdown_by by2, struct arena *arena,
                      struct context *ret, struct error *err);
/* The row of those values; NULL when none of the reports had them. */
const struct context_row *context_find(const struct context *c, const char *value,
                                       const char *value2);

#endif
