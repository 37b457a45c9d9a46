/*
 * read_compare - the reports of two versions, by cluster and day.
 *
 * Purpose: what a comparison of versions is reckoned from.
 *
 * Invariants: from the counters, for ever; times are whole days (UTC). Cells come by cluster, side and
 * day; those of cluster 0 are of the whole app, with what is in no cluster. Hidden clusters (idle) have
 * no cells of their own.
 *
 * Threads, memory: as storage_read.h says.
 */
#ifndef STALLSYM_STORAGE_READ_COMPARE_H
#define STALLSYM_STORAGE_READ_COMPARE_H

#include "storage/storage_read.h"

#define COMPARE_CELLS_MAX 1000000

struct compare_cell {
    uint64_t cluster_id;
    int side; /* 0: the first version, 1: the second */
    int32_t day;
    uint64_t count;
    double weighted;
    uint64_t stall_ms, weighted_stall_ms;
};

/* Of `f` bundle id (which must be given), kind and times are looked at. */
enum err read_compare(struct storage_reader *r, const struct read_filter *f,
                      const char *const versions[2], struct arena *arena, struct compare_cell **ret,
                      size_t *ret_count, struct error *err);

#endif
