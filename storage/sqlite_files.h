/*
 * sqlite_files - are the files that are open still those that have the names?
 *
 * Purpose: SQLite goes on writing to a database or a write-ahead log that somebody moved, removed
 * or cut meanwhile, and says that it is on disk; the next start finds nothing of it. A look before
 * each group and each commit finds that, so that nothing is answered for that is lost.
 *
 * Invariants: without such a hand every look says FILES_OK. What was moved is well again once it is
 * back. A log that was cut stays so until the program is started anew: frames of it are missing,
 * and a checkpoint would copy what is there in their place: zeros, where a commit that was under way made
 * it as long again.
 *
 * Threads: any; a look reads what sqlite_files_note() wrote, before there were others. Memory:
 * none.
 */
#ifndef STALLSYM_STORAGE_SQLITE_FILES_H
#define STALLSYM_STORAGE_SQLITE_FILES_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"

struct sqlite_files {
    struct {
        bool known;
        ino_t ino; /* alone, as SQLite does: a mount may number devices anew */
    } database, log;
    _Atomic bool cut;
};

enum sqlite_files_state {
    FILES_OK,
    FILES_DATABASE_GONE, /* or another one has its name */
    FILES_LOG_GONE,
    FILES_LOG_CUT,    /* shorter than it has to be, or it was before */
    FILES_LOG_HOLLOW, /* it was cut, and is long again */
};

/* The files that are open now: `path` and its "-wal". */
void sqlite_files_note(struct sqlite_files *f, const char *path);
/* `log_bytes`: so long the log is at least. */
enum sqlite_files_state sqlite_files_look(const struct sqlite_files *f, const char *path,
                                          int64_t log_bytes);
/* ERR_IO and words for what is not FILES_OK. */
enum err sqlite_files_error(enum sqlite_files_state state, struct error *err);

#endif
