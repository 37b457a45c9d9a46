/*
 * sqlite_migrate - brings a database file to this program's schema, or says why not.
 *
 * Purpose: migration N (sql/sqlite/000N_*.sql) turns schema N-1 into N and ends in
 * `PRAGMA user_version = N`.
 *
 * Invariants: one transaction each. Before the first one a file that held data is copied to
 * `PATH.before-N`, N the first migration: one copy, however many follow. Where a kill or a fault
 * ended them the next opening goes on, and its copy has a name of its own: that of the state
 * before the upgrade is never written over. A failed migration leaves the file as it was. Foreign keys are checked before each commit. The file
 * is in WAL mode afterwards.
 *
 * Threads: the connection's. Memory: none.
 */
#ifndef STALLSYM_STORAGE_SQLITE_MIGRATE_H
#define STALLSYM_STORAGE_SQLITE_MIGRATE_H

#include <stdbool.h>

#include "storage/sqlite_stmt.h"
#include "storage/storage.h"

struct sqlite_migrations {
    const char *const *texts; /* texts[N - 1] is migration N */
    int count;
    bool allowed; /* false: a file that needs one is refused with ERR_CONFLICT */
};

/* *ret: what was done, see storage.h. ERR_UNSUPPORTED: newer than the last migration. ERR_FORMAT: no database, damaged, or another program's. */
enum err sqlite_migrate(struct sql_conn *c, const char *path, const struct sqlite_migrations *m,
                        struct storage_upgrade *ret, struct error *err);

#endif
