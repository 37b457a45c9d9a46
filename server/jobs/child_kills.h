/*
 * child_kills - how often in a row the child of an object was killed.
 *
 * Purpose: a killed child says nothing about what it read: the machine was short of memory, or somebody
 * killed it. One that is killed again and again does: it takes more memory than there is.
 *
 * Invariants: objects are known by their digest, whoever has them read (an upload, a choice of an index,
 * a map that came later), and one does not make another forgotten. Past CHILD_KILLS_OBJECTS all begin
 * anew. A restart forgets.
 *
 * Threads: one owner. Memory: child_kills_done.
 */
#ifndef STALLSYM_JOBS_CHILD_KILLS_H
#define STALLSYM_JOBS_CHILD_KILLS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/hash.h"
#include "base/key_set.h"

#define CHILD_KILLS_MAX     4
#define CHILD_KILLS_OBJECTS 4096

struct child_kills {
    struct key_set counts;
};

void child_kills_init(struct child_kills *k);
void child_kills_done(struct child_kills *k);
/* Killed once more; true: so often that the object is to blame, and its count begins anew. */
bool child_kills_note(struct child_kills *k, const uint8_t sha256[SHA256_SIZE]);
/* It came to an end of its own. */
void child_kills_forget(struct child_kills *k, const uint8_t sha256[SHA256_SIZE]);

#endif
