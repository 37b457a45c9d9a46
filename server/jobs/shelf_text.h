/*
 * shelf_text - how the log names an index.
 *
 * Purpose: an operator knows an index by the UUID of its image and by the app that it is of; the number
 * of a shelf (storage/shelf.h) says nothing to anybody.
 *
 * Invariants: a text in any case; of a shelf that cannot be looked up it is its own number.
 *
 * Threads: the reader's. Memory: the caller's arena.
 */
#ifndef STALLSYM_JOBS_SHELF_TEXT_H
#define STALLSYM_JOBS_SHELF_TEXT_H

#include "base/arena.h"
#include "base/uuid.h"
#include "storage/storage.h"

#define SHELF_TEXT_SIZE 400

/* `uuid=IMAGE`, and for what one app has for itself ` app="ID"`. */
const char *shelf_text(struct storage_reader *r, const struct uuid *shelf, struct arena *arena,
                       char out[SHELF_TEXT_SIZE]);

#endif
