/*
 * candidates - which symbol files are offered for one that is missing.
 *
 * Purpose: shared by the backends: of the indexes of the same image name and architecture that were
 * uploaded for the app, those of a version that reports of the missing image have, nearest build
 * first.
 *
 * Invariants: the same build first, then builds that are numbers by their distance, then other
 * builds, then unknown ones; among equals the younger slice. At most CANDIDATES_MAX, each UUID once, with its nearest build.
 *
 * Threads: pure. Memory: texts are copied into the caller's arena.
 */
#ifndef STALLSYM_STORAGE_CANDIDATES_H
#define STALLSYM_STORAGE_CANDIDATES_H

#include "storage/storage_read.h"

struct build_seen {
    const char *version, *build;
};

struct candidates {
    const struct build_seen *seen; /* what reports of the missing image have */
    size_t seen_count;
    struct missing_candidate *items; /* CANDIDATES_MAX of them */
    uint64_t distance[CANDIDATES_MAX], slice[CANDIDATES_MAX];
    size_t count;
};

/* False without memory. */
bool candidates_init(struct candidates *c, const struct build_seen *seen, size_t seen_count,
                     struct arena *arena);
bool candidates_offer(struct candidates *c, const struct missing_candidate *offer,
                      uint64_t slice_id, struct arena *arena);

#endif
