/*
 * sqlite_log_file - the write-ahead log, written in large pieces.
 *
 * Purpose: SQLite writes each page of a commit to the log by itself, after 24 bytes that stand before
 * it: thousands of calls of the system a commit. A VFS of that name is the default one but for files
 * that are logs: what is written to one gathers in memory while it goes on where it ended, and goes
 * to the file in pieces.
 *
 * Invariants: bytes gather from when the connection has the lock to write until the frame that
 * commits, and not where it takes no locks. All of it is with the system before that frame, before a
 * sync, and before anything is read. So another connection, which reads no further than the last
 * commit, finds what it looks for, and a sync is one of everything. What gathered goes when the lock
 * does: after a ROLLBACK others write in its place. A piece that cannot be written fails that call and
 * all others until then: SQLite believes that the pages of earlier calls are in the log.
 *
 * Threads: as SQLite's files: one at a time each. Memory: SQLITE_LOG_PIECE a log that is written to.
 */
#ifndef STALLSYM_STORAGE_SQLITE_LOG_FILE_H
#define STALLSYM_STORAGE_SQLITE_LOG_FILE_H

/* Less than the unix VFS of SQLite writes at a time: it masks lengths by 0x1ffff. */
#define SQLITE_LOG_PIECE (120 << 10)

/* The name of the VFS, for sqlite3_open_v2(); NULL, the default one, when it cannot be had. */
const char *sqlite_log_vfs(void);

#endif
