/*
 * index_install - checks what the indexing child wrote and puts it into place.
 *
 * Purpose: every index file is verified whole (tables and CRC) and must be that of the UUID it was
 * announced for. What came with a token bound to an app goes to that app's own shelves
 * (storage/shelf.h), which nothing of others is on. Each object's index goes into the store; of
 * several objects of one shelf the richest is used (index_rank.h); the cache and the door's table
 * of layouts are told.
 *
 * Invariants: nothing the child said is believed where the file itself can be asked. An index that
 * is in use is only replaced by a richer one, or by the same object's made anew; a second,
 * different object of the UUID is reported in the slice's reason, a conflict as one. A slice that
 * fails its check fails alone. After ERR_OK the files of all installed slices are in place and
 * synced; after an error the caller may simply do it all again.
 *
 * Threads: the indexer's. Memory: the result lives in the caller's arena.
 */
#ifndef STALLSYM_JOBS_INDEX_INSTALL_H
#define STALLSYM_JOBS_INDEX_INSTALL_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/error.h"
#include "server/jobs/layouts.h"
#include "storage/blob_store.h"
#include "storage/storage_read.h"
#include "storage/write_op.h"
#include "symbolizer/index_cache.h"
#include "symbolizer/symbol_index.h"

struct index_install {
    struct storage_reader *reader;
    struct blob_store *blobs;
    struct index_cache *cache;
    struct layouts *layouts;
    const char *work_dir; /* where the child wrote */
    bool keep_objects;
    const char *own; /* the app whose token sent the upload; "": it serves all */
};

struct installed {
    struct op_slice *slices; /* as many as were reported, in their order */
    bool *replaced;          /* for each: whom it serves may have used another index */
    bool *refit;             /* for each: what was in use is lost, its UUID is to be looked after */
    size_t count;
    size_t indexed; /* slices that are indexed, installed or not */
};

enum err index_install(const struct index_install *in, const struct slice_report *reports,
                       size_t count, struct arena *arena, struct installed *ret, struct error *err);
/* A whole look at an index file: is it one of `s->image`, sound and of this version? Sets in `s` what
 * the file says itself. */
enum err index_file_check(const char *path, struct op_slice *s, struct error *err);
/* Whether there is such a file, and no link: what the child left may be one. An error when nobody could
 * look. */
enum err index_file_is_plain(const char *path, bool *ret, struct error *err);
/* What a look at an index file said, where that is not an error. */
enum index_state {
    INDEX_SOUND,
    INDEX_ABSENT,
    INDEX_OUTDATED,   /* of another version */
    INDEX_DAMAGED,    /* or of another UUID */
    INDEX_UNREADABLE, /* the disk fails there: for good, or not */
};
/* A whole look at the index of an image. ERR_IO, ERR_NO_MEMORY: nobody could look (no descriptor, no
 * memory), which says nothing about the file. */
enum err index_file_state(const char *path, const struct uuid *image, enum index_state *ret,
                          struct error *err);
/* Whether the index of a shelf is in the store and whole; reads all of it. */
bool index_is_sound(const struct blob_store *blobs, const struct uuid *shelf,
                    const struct uuid *image);
/* The same slices as failed ones, for an upload that failed as a whole. Of `in` the reader and the
 * owner. */
enum err index_install_none(const struct index_install *in, const struct slice_report *reports,
                            size_t count, const char *reason, struct arena *arena,
                            struct installed *ret, struct error *err);

#endif
