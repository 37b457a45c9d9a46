/*
 * index_restore - symbol maps that an upload brought: kept, and put to use.
 *
 * Purpose: the child leaves the maps of an upload (`UUID.bcsymbolmap`, `UUID.plist`) in its folder.
 * They go into the store, where every later run of the child finds them; those of an app's own
 * upload (storage/shelf.h) apart, for its own indexes. Indexes of the same owner that are there
 * already and hide names are made anew from their kept objects, as further slices of this upload;
 * those that apps have for themselves, when it serves all, by index_restore_own.h.
 *
 * Invariants: an index is made anew only when it hides names and a map for it is there; an object of
 * the upload itself has had its map already. Nothing is told to the database here. Doing it again
 * ends the same.
 *
 * Threads: the indexer's. Memory: the caller's arena.
 */
#ifndef STALLSYM_JOBS_INDEX_RESTORE_H
#define STALLSYM_JOBS_INDEX_RESTORE_H

#include "base/arena.h"
#include "base/error.h"
#include "server/jobs/index_child.h"
#include "storage/blob_store.h"
#include "storage/storage_read.h"

struct index_restore {
    struct storage_reader *reader;
    struct blob_store *blobs;
    const char *work_dir;     /* of the upload */
    const char *own;          /* the app whose token sent it; "": it serves all */
    struct index_child child; /* how it is run; upload and out_dir are set here */
};

struct restored {
    const char *note;         /* what is to be said of the upload */
    const struct uuid *named; /* of the maps and links that came */
    size_t named_count;
};

/* Appends to told->slices. ERR_BUSY, ERR_IO, ERR_NO_MEMORY: try again. */
enum err index_restore(const struct index_restore *in, struct index_child_result *told,
                       struct arena *arena, struct restored *ret, struct error *err);

#endif
