/*
 * index_install - checks what the indexing child wrote and puts it into place.
 *
 * Purpose: every index file is verified whole (tables and CRC) and must be that of the UUID it was
 * announced for; of several objects of one UUID the richest is used (DWARF before symbol table,
 * then more line rows, then more functions); that one is moved into the store, the cache and the
 * door's table of layouts are told.
 *
 * Invariants: nothing the child said is believed where the file itself can be asked. An index that
 * is in use is only replaced by a richer one; a second, different object of the UUID is reported in
 * the slice's reason. A slice that fails its check fails alone. After ERR_OK the files of all
 * installed slices are in place and synced; after an error the caller may simply do it all again.
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
};

struct installed {
    struct op_slice *slices; /* as many as were reported, in their order */
    bool *replaced;          /* for each: an index of that UUID was in use before */
    size_t count;
    size_t indexed; /* slices that are indexed, installed or not */
};

enum err index_install(const struct index_install *in, const struct slice_report *reports,
                       size_t count, struct arena *arena, struct installed *ret, struct error *err);
/* Whether the UUID's index is in the store and whole; reads all of it. */
bool index_is_sound(const struct blob_store *blobs, const struct uuid *uuid);
/* The same slices as failed ones, for an upload that failed as a whole. */
enum err index_install_none(const struct slice_report *reports, size_t count, const char *reason,
                            struct arena *arena, struct installed *ret, struct error *err);

#endif
