/*
 * read_life - what became of a cluster, and when.
 *
 * Purpose: the history of a cluster's states and notes.
 *
 * Threads, memory: as storage_read.h says.
 */
#ifndef STALLSYM_STORAGE_READ_LIFE_H
#define STALLSYM_STORAGE_READ_LIFE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"

struct storage_reader;

struct cluster_change {
    uint64_t id; /* ascending in time */
    int64_t at_ms;
    const char *who; /* NULL: the daemon */
    bool regression;
    const char *from_state, *to_state;
    const char *resolved_in, *resolved_build; /* NULL; of a regression: in what it was resolved */
    const char *note;                         /* NULL: unchanged; "": taken away */
    const char *version, *build;              /* of a regression: what reported it; else NULL */
};

/* Newest first; `id` may be an alias: its history is that of the cluster it lives on in.
 * ERR_NOT_FOUND: there is no such cluster. */
enum err read_cluster_history(struct storage_reader *r, uint64_t id, size_t limit,
                              const char *cursor, struct arena *arena, struct cluster_change **ret,
                              size_t *ret_count, const char **ret_next, struct error *err);

#endif
