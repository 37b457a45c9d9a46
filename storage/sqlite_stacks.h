/*
 * sqlite_stacks - stored stacks with their frames, for readers.
 *
 * Purpose: one stack row with its raw and resolved frames, names looked up in the dictionary.
 *
 * Threads: the reader's. Memory: rows in the caller's arena.
 */
#ifndef STALLSYM_STORAGE_SQLITE_STACKS_H
#define STALLSYM_STORAGE_SQLITE_STACKS_H

#include "storage/sqlite_read.h"

/* From a row of the queries cluster_stacks and stack_get. */
enum err sqlite_stack_fill(struct sqlite_reader *r, sqlite3_stmt *st, struct arena *arena,
                           struct stack_row *ret, struct error *err);
enum err sqlite_stack_get(struct sqlite_reader *r, int64_t stack_id, struct arena *arena,
                          struct stack_row *ret, struct error *err);
/* Frames of a stored resolution; `data` NULL gives none. */
enum err sqlite_frames_decode(struct sqlite_reader *r, const struct raw_stack *raw,
                              const void *data, size_t len, struct arena *arena,
                              struct resolved_stack *ret, struct error *err);

#endif
