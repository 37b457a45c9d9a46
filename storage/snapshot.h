/*
 * snapshot - the database as it is at one instant, copied while work goes on.
 *
 * Purpose: what a backup of the database is made of.
 *
 * Invariants: snapshot_write() copies what was committed when snapshot_open() returned, nothing
 * later, in steps of SNAPSHOT_STEP_BYTES; neither writer nor readers wait for it. The write-ahead log
 * cannot begin anew while a snapshot is open, so nobody keeps one for long. A written copy is synced
 * and complete in itself: one file, no log beside it. One that failed is removed.
 *
 * Threads: one; the writer works meanwhile. Memory: snapshot_open/snapshot_close, before
 * storage_close().
 */
#ifndef STALLSYM_STORAGE_SNAPSHOT_H
#define STALLSYM_STORAGE_SNAPSHOT_H

#include "storage/storage.h"

#define SNAPSHOT_STEP_BYTES ((int64_t)1 << 20)

struct snapshot;

/* Looks in between: false ends the copy with ERR_BUSY. */
struct snapshot_watch {
    bool (*go_on)(void *ctx, uint64_t done_bytes, uint64_t total_bytes);
    void *ctx;
};

/* ERR_UNSUPPORTED: this backend keeps nothing. */
enum err snapshot_open(struct storage *s, struct snapshot **ret, struct error *err);
void snapshot_close(struct snapshot *s);
uint64_t snapshot_bytes(const struct snapshot *s);
/* To a file that is not there yet. */
enum err snapshot_write(struct snapshot *s, const char *path, const struct snapshot_watch *watch,
                        struct error *err);

#endif
