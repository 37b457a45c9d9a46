/*
 * index_upload - one waiting upload to its end.
 *
 * Purpose: runs the indexing child on it, verifies and installs what the child wrote, and says so to the
 * database, in the order that indexer.c explains.
 *
 * Invariants: whatever the child does the upload ends INDEXED, or FAILED with a reason. Only what is not
 * the upload's fault (no process, descriptor or memory to be had, the disk or the database says no)
 * leaves it queued. A child that is killed several times in a row is believed to be the upload's doing:
 * it takes more memory than there is.
 *
 * Threads: the indexer's. Memory: parts are borrowed; the arena is emptied by each run.
 */
#ifndef STALLSYM_JOBS_INDEX_UPLOAD_H
#define STALLSYM_JOBS_INDEX_UPLOAD_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "server/jobs/index_child.h"
#include "server/jobs/index_room.h"
#include "server/jobs/layouts.h"
#include "server/jobs/metrics.h"
#include "server/jobs/writer.h"
#include "storage/blob_store.h"
#include "storage/storage_read.h"
#include "symbolizer/index_cache.h"

struct index_upload {
    struct storage_reader *reader;
    struct writer *writer;
    struct blob_store *blobs;
    struct index_cache *cache;
    struct layouts *layouts;
    struct metrics *metrics;
    struct arena *arena; /* of one upload */
    struct index_caps caps;
    struct index_child child; /* how it is run; but for the upload itself */
};

/* An error: it is still queued. */
enum err index_upload_run(struct index_upload *u, uint64_t id, struct error *err);

#endif
