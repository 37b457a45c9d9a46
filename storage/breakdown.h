/*
 * breakdown - sums by one or two dimensions.
 *
 * Purpose: shared by the backends: rows come in with numbers for values, go out as texts, largest
 * first, with shares.
 *
 * Invariants: a value that was used without a report is a row of zeros. Values of equal text are one
 * row (a device model of two archs, a version of two builds); ties are in the order of their texts.
 *
 * Threads: one owner. Memory: breakdown_init/breakdown_done; results in the arena.
 */
#ifndef STALLSYM_STORAGE_BREAKDOWN_H
#define STALLSYM_STORAGE_BREAKDOWN_H

#include "storage/figures.h"
#include "storage/storage_read.h"

struct breakdown_entry {
    int64_t key, key2;
    const char *value, *value2;
    struct figures figures;
};

struct breakdown {
    struct breakdown_entry *entries;
    size_t count, cap;
    uint32_t *slots; /* index + 1 */
    size_t slot_count;
};

void breakdown_init(struct breakdown *b);
void breakdown_done(struct breakdown *b);
/* The entry of a pair of values; NULL without memory or above BREAKDOWN_MAX pairs. Valid until the
 * next one is made. */
struct breakdown_entry *breakdown_entry_at(struct breakdown *b, int64_t key, int64_t key2);
#define BREAKDOWN_MAX 1000000

/* Once all entries have their texts: merges equal ones and makes the rows. */
struct breakdown_parts {
    struct breakdown *sums;
    struct breakdown *app; /* NULL: the same */
    struct breakdown
        *usage; /* NULL: not known. `stall_ms` is foreground time, `weighted` launches */
    /* Whether usage was split by the first and the second dimension, too. */
    bool usage_by, usage_by2;
    bool usage_of_all; /* it was split by all dimensions there are */
};
enum err breakdown_rows(const struct breakdown_parts *parts, size_t limit, struct arena *arena,
                        struct breakdown_row **ret, size_t *ret_count, struct error *err);

#endif
