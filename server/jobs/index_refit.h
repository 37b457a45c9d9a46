/*
 * index_refit - chooses the index of a shelf anew: after a deletion, a loss, or an upgrade.
 *
 * Purpose: of the objects that the database has on a shelf (storage/shelf.h) the richest one
 * (index_rank.h) whose index can be had comes into use: its kept index file, if that is whole and
 * of this version, else one that the child makes from the kept object file; so, too, where it hides
 * names and a symbol map for them came since (index_restore_own.h). Objects of which
 * neither is left are lost: `symbols/check` calls a UUID missing that has no other. Index files
 * that no row stands for go.
 *
 * Invariants: nothing is written but files; the caller tells the database (WRITE_REFITTED) and turns
 * stacks back. Doing it again, whole or half, ends the same.
 *
 * Threads: the indexer's. Memory: the caller's arena.
 */
#ifndef STALLSYM_JOBS_INDEX_REFIT_H
#define STALLSYM_JOBS_INDEX_REFIT_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/error.h"
#include "server/jobs/index_child.h"
#include "server/jobs/layouts.h"
#include "storage/blob_store.h"
#include "storage/storage_read.h"
#include "storage/write_op.h"
#include "symbolizer/index_cache.h"

struct index_refit {
    struct storage_reader *reader;
    struct blob_store *blobs;
    struct index_cache *cache;
    struct layouts *layouts;
    struct index_child child; /* how it is run; upload and out_dir are set here */
    /* The index in use was damaged, and is about to be replaced: to be noted, as a crash afterwards
     * would hide that stacks were resolved with it. May be NULL. */
    enum err (*heals)(void *ctx, const struct uuid *uuid, struct error *err);
    void *ctx;
};

struct refitted {
    struct op_refitted op; /* to be told to the database */
    bool changed;          /* another file is in use than before, or none */
    bool made_anew;        /* from the object */
    bool healed;           /* what was in use said wrong things, perhaps; something else is, now */
};

/* ERR_BUSY, ERR_IO, ERR_NO_MEMORY: nothing is decided, try again. */
enum err index_refit(const struct index_refit *in, const struct uuid *shelf, struct arena *arena,
                     struct refitted *ret, struct error *err);

#endif
