/*
 * sqlite_log_pages - how many pages the write-ahead log has, as its commits say.
 *
 * Purpose: a log that is shorter than its last commit made it was cut by somebody
 * (storage/sqlite_files.h). SQLite tells of a commit when the lock to write is free again, and a
 * truncation returns when it has given that lock back: a commit that ended before a truncation began may
 * be told behind it, and one that began after it before it. So a commit carries a mark from when it had
 * the lock.
 *
 * Invariants: the log has at least so many pages, whatever the order in which the two are told of what
 * they did; where that cannot be known it is none, until the next commit.
 *
 * Threads: any; one commits. Memory: none; zeros are an empty log.
 */
#ifndef STALLSYM_STORAGE_SQLITE_LOG_PAGES_H
#define STALLSYM_STORAGE_SQLITE_LOG_PAGES_H

#include <stdatomic.h>
#include <stdint.h>

struct sqlite_log_pages {
    _Atomic uint64_t state; /* truncations, of 32 bits; pages */
};

int64_t sqlite_log_pages(const struct sqlite_log_pages *p);
/* Before a commit, inside its transaction. */
uint32_t sqlite_log_pages_mark(const struct sqlite_log_pages *p);
/* After it: `pages` of now, unless the log was truncated since the mark. */
void sqlite_log_pages_committed(struct sqlite_log_pages *p, uint32_t mark, int64_t pages);
void sqlite_log_pages_truncated(struct sqlite_log_pages *p);
/* All `pages` are in the database: the next commit begins the log anew. One that came meanwhile goes on
 * with it. */
void sqlite_log_pages_copied(struct sqlite_log_pages *p, int64_t pages);

#endif
