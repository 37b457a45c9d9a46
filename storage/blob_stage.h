/*
 * blob_stage - all files of the blob store at one instant, in a folder of their own.
 *
 * Purpose: what a backup of the files is made of: hard links, so that it costs no space and little
 * time, in a work folder of the store; then moved or copied to where they shall be.
 *
 * Invariants: between blob_store_hold() and blob_store_release() nothing is removed from the store,
 * so what the database names at that instant is there (files come before their row and go after it).
 * Index files, objects and maps never change once they are in place and may stay links; spool files
 * do, and become copies. Links in the store stay links.
 *
 * Threads: one; others work meanwhile, removals wait. Memory: none.
 */
#ifndef STALLSYM_STORAGE_BLOB_STAGE_H
#define STALLSYM_STORAGE_BLOB_STAGE_H

#include "storage/blob_store.h"

struct blob_totals {
    uint64_t files;
    uint64_t bytes;
    uint64_t spool_bytes; /* of them */
};

void blob_store_hold(struct blob_store *b);
void blob_store_release(struct blob_store *b);

/* `stage`: from blob_store_work_create(). */
enum err blob_stage_fill(struct blob_store *b, const char *stage, struct blob_totals *ret,
                         struct error *err);
/* Whether `folder` is on another file system than the stage: then everything is copied. */
bool blob_stage_is_far(const char *stage, const char *folder);
/* Puts the stage's folders below `to` and syncs them. `go_on` is asked before each file; false:
 * ERR_BUSY. */
enum err blob_stage_move(const char *stage, const char *to, bool (*go_on)(void *ctx), void *ctx,
                         struct error *err);
/* Removes a folder with all that is inside; links are not followed. */
void blob_stage_remove_tree(const char *path);

#endif
