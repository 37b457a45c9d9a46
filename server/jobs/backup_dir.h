/*
 * backup_dir - the folder that backups lie in, and what each says of itself.
 *
 * Purpose: names, a small text file MANIFEST in each backup, lists, and the end of old ones.
 *
 * Invariants: a backup's id is the time of its beginning ("20261130T012824123Z") and the name of its
 * folder. It is written as ".ID.tmp" and renamed when all of it is on disk, so what has an id's name
 * is whole. Nothing that has another name, or no manifest, is listed or removed.
 *
 * Threads: any; one writes. Memory: the caller's arena.
 */
#ifndef STALLSYM_JOBS_BACKUP_DIR_H
#define STALLSYM_JOBS_BACKUP_DIR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"

#define BACKUP_ID_SIZE 20

struct backup_facts {
    int64_t begun_ms;
    int64_t finished_ms;
    uint64_t database_bytes;
    uint64_t files; /* of symbols */
    uint64_t bytes; /* all of it; those of files that the store shares with it, too */
};

struct backup_entry {
    char id[BACKUP_ID_SIZE];
    struct backup_facts facts;
};

void backup_id_make(int64_t now_ms, char out[BACKUP_ID_SIZE]);
bool backup_id_valid(const char *text);

/* Makes the folder (mode 0750) and removes what an earlier run left unfinished. */
enum err backup_dir_prepare(const char *dir, struct error *err);
/* The path of ".ID.tmp", made anew. */
enum err backup_dir_begin(const char *dir, const char *id, char *ret_path, size_t size,
                          struct error *err);
/* Writes the manifest, syncs, renames, syncs. */
enum err backup_dir_finish(const char *dir, const char *id, const struct backup_facts *facts,
                           struct error *err);
void backup_dir_abort(const char *dir, const char *id);
/* Newest first. */
enum err backup_dir_list(const char *dir, struct arena *arena, struct backup_entry **ret,
                         size_t *ret_count, struct error *err);
/* Removes all but the newest `keep`. */
enum err backup_dir_prune(const char *dir, size_t keep, size_t *ret_removed, struct error *err);
/* Bytes that may be written there. */
uint64_t backup_dir_free_bytes(const char *dir);

#endif
