/*
 * piece_locks - which uploads in pieces somebody is busy with.
 *
 * Purpose: of two requests that send to one upload at the same time one is refused; retention leaves
 * alone what is being sent. Taken before the upload's row is read, given back once what became of it
 * is committed.
 *
 * Invariants: a key is held by one at a time; at most PIECE_LOCKS_MAX keys.
 *
 * Threads: any. Memory: piece_locks_new/piece_locks_free.
 */
#ifndef STALLSYM_JOBS_PIECE_LOCKS_H
#define STALLSYM_JOBS_PIECE_LOCKS_H

#include <stdbool.h>
#include <stdint.h>

#include "storage/op_symbols.h"

#define PIECE_LOCKS_MAX 1024

struct piece_locks;

struct piece_locks *piece_locks_new(void);
void piece_locks_free(struct piece_locks *l);
/* False: it is held, or too many are. */
bool piece_locks_take(struct piece_locks *l, const uint8_t id[OPEN_UPLOAD_ID_SIZE]);
void piece_locks_give(struct piece_locks *l, const uint8_t id[OPEN_UPLOAD_ID_SIZE]);

#endif
