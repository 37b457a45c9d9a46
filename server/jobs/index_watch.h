/*
 * index_watch - looks at the index files that are used, as soon as they are.
 *
 * Purpose: opening an index checks little of it, since that has to be quick. What is open is read whole
 * here, soon after it was opened first, and again when its file is another one or was written to: so
 * one that is damaged, or cut under its readers, is found within seconds and not by the patrol of the
 * day. A failure that is remembered and over (the disk answers again) is forgotten.
 *
 * Invariants: a file is read once for each state it was in (inode, size, time of change). At most
 * INDEX_WATCH_BYTES are read in a step, and one file. Nothing is told to the database here.
 *
 * Threads: one owner. Memory: index_watch_init/index_watch_done; a few bytes a UUID, at most
 * INDEX_WATCH_MAX of them.
 */
#ifndef STALLSYM_JOBS_INDEX_WATCH_H
#define STALLSYM_JOBS_INDEX_WATCH_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "base/key_set.h"
#include "base/uuid.h"
#include "storage/blob_store.h"
#include "storage/storage.h"
#include "symbolizer/index_cache.h"

#define INDEX_WATCH_BYTES ((uint64_t)64 << 20)
#define INDEX_WATCH_MAX   65536
#define INDEX_WATCH_PAGE  512 /* indexes looked at in a step */

struct index_watch {
    struct index_cache *cache;
    struct blob_store *blobs;
    struct storage_reader *reader; /* which image a shelf is of */
    struct key_set seen;           /* UUID: the state of its file that was looked at */
    size_t at;                     /* in the cache */
};

void index_watch_init(struct index_watch *w, struct index_cache *cache, struct blob_store *blobs,
                      struct storage_reader *reader);
void index_watch_done(struct index_watch *w);
/* One step. `ret`: UUIDs whose file is gone or cannot be used, set whatever is returned. *ret_more:
 * there are others to be looked at. ERR_IO, ERR_NO_MEMORY: nobody could look; go on later. */
enum err index_watch_look(struct index_watch *w, struct uuid *ret, size_t max, size_t *ret_count,
                          bool *ret_more, struct error *err);
/* Nobody could be told of these: they are found again. */
void index_watch_forget(struct index_watch *w, const struct uuid *uuids, size_t count);

#endif
