/*
 * backups - copies of everything, made while the daemon works.
 *
 * Purpose: one backup at a time: the database of one instant and the symbol store of the same, in a
 * folder from which a daemon starts (backup_dir.h says how it is named and found).
 *
 * Invariants: the writer never waits for a backup; removals of symbol files wait while the files are
 * linked, which takes milliseconds. A report or upload that was answered before a backup began is in
 * it. What cannot be finished leaves nothing behind, and says why in the list. The oldest go only
 * after a newer one is whole.
 *
 * Threads: one of its own; backups_begin and backups_last from any. Memory: backups_start/
 * backups_stop.
 */
#ifndef STALLSYM_JOBS_BACKUPS_H
#define STALLSYM_JOBS_BACKUPS_H

#include "server/jobs/backup_dir.h"
#include "server/jobs/metrics.h"
#include "storage/blob_store.h"
#include "storage/storage.h"

struct backups;

struct backups_options {
    const char *dir;         /* copied; is made when the first one is asked for */
    size_t keep;             /* the newest so many */
    uint64_t free_bytes_min; /* that a backup must leave */
};

enum backup_state { BACKUP_NONE, BACKUP_RUNNING, BACKUP_DONE, BACKUP_FAILED };

/* The last one that was asked for in this run. */
struct backup_status {
    enum backup_state state;
    char id[BACKUP_ID_SIZE];
    struct backup_facts facts;
    uint64_t copied_bytes; /* of the database */
    char reason[256];      /* BACKUP_FAILED */
};

enum err backups_start(struct storage *storage, struct blob_store *blobs,
                       const struct backups_options *options, struct metrics *metrics,
                       struct backups **ret, struct error *err);
/* One that runs is given up. */
void backups_stop(struct backups *b);

/* ERR_CONFLICT: one runs. ERR_LIMIT: not enough room on the disk. ERR_UNSUPPORTED: the storage keeps
 * nothing. Opens the database: not for the door's thread. */
enum err backups_begin(struct backups *b, int64_t now_ms, char ret_id[BACKUP_ID_SIZE],
                       struct error *err);
void backups_last(struct backups *b, struct backup_status *ret);
const char *backups_dir(const struct backups *b);

#endif
