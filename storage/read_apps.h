/*
 * read_apps - which apps there are, and whether they still send.
 *
 * Purpose: the list of apps, from what is kept for each of them for ever.
 *
 * Invariants: an app is there once it sent a report or an item of usage. As storage_read.h says.
 *
 * Threads: one per reader. Memory: the caller's arena.
 */
#ifndef STALLSYM_STORAGE_READ_APPS_H
#define STALLSYM_STORAGE_READ_APPS_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "storage/storage.h"

struct app_row {
    uint64_t id; /* of the list */
    const char *bundle_id;
    uint64_t reports;                    /* of all times */
    uint64_t recent;                     /* of the days from `since_day` on */
    int64_t first_seen_ms, last_seen_ms; /* INT64_MIN: no report yet */
};
/* In the order in which they came; `bundle_id` NULL: all. */
enum err read_apps(struct storage_reader *r, const char *bundle_id, int32_t since_day, size_t limit,
                   const char *cursor, struct arena *arena, struct app_row **ret, size_t *ret_count,
                   const char **ret_next, struct error *err);

#endif
