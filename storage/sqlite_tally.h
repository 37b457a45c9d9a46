/*
 * sqlite_tally - tallies of clusters in SQL and in the database.
 *
 * Purpose: tally_merge(a, b) and tally_take(a, b) of encoded tallies, and the aggregate
 * tally_sum(kind, id, count); reading one.
 *
 * Invariants: a cluster's tally is what the counters of its stacks tally to (storage/tally.h).
 *
 * Threads: the connection's. Memory: none but where it says so.
 */
#ifndef STALLSYM_STORAGE_SQLITE_TALLY_H
#define STALLSYM_STORAGE_SQLITE_TALLY_H

#include "storage/cluster_face.h"
#include "storage/sqlite_read.h"
#include "storage/tally.h"

/* An SQLite result code. */
int sqlite_tally_functions(sqlite3 *db);

/* What a row of clusters shows of its cluster's tally: devices, versions and releases, trend (whose
 * first day is there). */
enum err sqlite_tally_show(struct sqlite_reader *r, const struct tally *t, struct arena *arena,
                           struct cluster_row *c, struct error *err);

#endif
