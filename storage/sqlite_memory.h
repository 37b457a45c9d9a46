/*
 * sqlite_memory - where SQLite has its memory from.
 *
 * Purpose: what a savepoint may take back lies in one piece of megabytes that comes and goes with
 * every statement that has a trigger and with every op. From malloc that is a mapping made, filled
 * page by page and given back each time, in a process with many threads; the last one is kept
 * instead. SQLite's own statistics of memory are off: they take one lock for all threads on every
 * allocation, and nobody reads them.
 *
 * Invariants: one piece is kept at most, of SQLITE_PIECE_BYTES, of which 16 MB stay in memory.
 *
 * Threads: any. Memory: the process's.
 */
#ifndef STALLSYM_STORAGE_SQLITE_MEMORY_H
#define STALLSYM_STORAGE_SQLITE_MEMORY_H

/* Pages that a savepoint has seen, up to this much in one piece, of which only what is written to is
 * there. More is meant to go to a file, and cannot: the unix VFS of SQLite masks lengths of writes by
 * 0x1ffff, so that a piece above 128 kB never gets there ("database or disk is full"). So much no op
 * touches. */
#define SQLITE_PIECE_BYTES (128 << 20)

/* The process's settings, before its first connection; where they come too late SQLite's own hold. */
void sqlite_memory_set(void);

#endif
