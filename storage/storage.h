/*
 * storage - opening the database, writing groups of ops, and who reads.
 *
 * Purpose: the face of the storage library. What is behind it is a backend (storage_backend.h):
 * SQLite, or memory for tests. Reads are in storage_read.h.
 *
 * Invariants: one writer at a time per storage. After storage_commit() returned ERR_OK everything
 * applied since storage_begin() survives a crash at any later instant. When commit fails nothing
 * of the group is kept; the backend reopens its connection before the next group.
 * Always: cluster.count = sum of its stacks' counts = sum of the counters.
 *
 * Threads: begin/apply/commit from one thread; readers each from one thread, any number of
 * readers. Memory: storage_open/storage_close; readers are closed first.
 */
#ifndef STALLSYM_STORAGE_STORAGE_H
#define STALLSYM_STORAGE_STORAGE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "storage/write_op.h"

struct storage;
struct storage_reader;

struct storage_options {
    const char *backend;   /* "sqlite" or "memory" */
    const char *path;      /* database file; its folder exists */
    bool synchronous_full; /* false: NORMAL (not crash-safe to the last commit) */
    uint32_t busy_ms;
    uint32_t retry_days; /* how long report ids are remembered, at least 3 */
    uint32_t
        daily_values; /* new dictionary values of one kind an app may bring a day; above: "(other)" */
    uint32_t daily_stacks; /* stacks never seen before an app may bring a day; 0: any number */
    bool migrate;          /* false: refuse a database that needs a migration */
    /* Reports that wait to be rolled up; stacks of a cluster with sums of its own. 0: as many as are
     * good (storage/sqlite_rollup.h). */
    uint32_t rollup_lag, rollup_stacks;
    uint32_t new_ids; /* wait until they are put in order (storage/sqlite_ids.h); 0: the same */
};

/* Opens, creating or migrating (one copy `path.before-N` is kept of a file that held data, N the first
 * of the migrations). ERR_UNSUPPORTED: written by a newer program. ERR_FORMAT: no database, or damaged. */
enum err storage_open(const struct storage_options *options, struct storage **ret,
                      struct error *err);
void storage_close(struct storage *s);

enum err storage_begin(struct storage *s, struct error *err);
/* Applies one op in a savepoint. On failure nothing of it is kept and the group goes on. */
enum err storage_apply(struct storage *s, struct write_op *op, struct error *err);
enum err storage_commit(struct storage *s, struct error *err);
/* Gives the open group up. */
void storage_rollback(struct storage *s);

/* Checkpoint without blocking readers; `truncate` when idle, which waits for one that is under way;
 * else ERR_BUSY then. Any thread. */
enum err storage_checkpoint(struct storage *s, bool truncate, uint64_t *ret_wal_bytes,
                            struct error *err);
/* How the last checkpoint that anybody asked for ended, ERR_BUSY apart: while the disk takes the log
 * but not the file, reports go on and only this shows it. Any thread. */
enum err storage_last_checkpoint(struct storage *s, struct error *err);
/* Bytes in the write-ahead log now, for admission. */
uint64_t storage_wal_bytes(struct storage *s);

/* Bytes of the database's pages that hold something: freed ones are used again before the file grows.
 * Any thread. 0 in memory. */
enum err storage_used_bytes(struct storage *s, uint64_t *ret, struct error *err);

/* What any connection noticed of the file since the last check that found nothing. */
enum storage_trouble {
    STORAGE_SOUND,
    STORAGE_UNREADABLE, /* the disk gives an error instead of a page */
    STORAGE_DAMAGED,
};
/* `text`: the words of the first trouble; may be NULL. */
enum storage_trouble storage_trouble(struct storage *s, char *text, size_t size);
/* Reads the whole file and looks at every page; the trouble is over when it finds nothing. `go_on` is
 * asked now and then (by SQLite before 3.41 not within the pages of the tables): false ends it with
 * ERR_LIMIT. Any thread. ERR_FORMAT: damaged. */
enum err storage_check(struct storage *s, bool (*go_on)(void *ctx), void *ctx, struct error *err);

/* What opening made of the file. */
struct storage_upgrade {
    int from;            /* the file's schema number as it was found; 0: a new file */
    int to;              /* this program's */
    char copy[PATH_MAX]; /* the copy made of the file as it was found; "": none */
};
const struct storage_upgrade *storage_upgrade(const struct storage *s);

enum err storage_reader_open(struct storage *s, struct storage_reader **ret, struct error *err);
void storage_reader_close(struct storage_reader *r);
/* Reads after `deadline_mono_ms` end with ERR_LIMIT "query took too long"; INT64_MAX: never. */
void storage_reader_deadline(struct storage_reader *r, int64_t deadline_mono_ms);

#endif
