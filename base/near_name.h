/*
 * near_name - was another name meant?
 *
 * Purpose: who misspells a name of a short list is told the one that was meant.
 *
 * Invariants: letters and their case: a small letter is its capital. Names of more than
 * NEAR_NAME_LEN_MAX bytes are far from all.
 *
 * Threads: any. Memory: none.
 */
#ifndef STALLSYM_BASE_NEAR_NAME_H
#define STALLSYM_BASE_NEAR_NAME_H

#include <stddef.h>

#define NEAR_NAME_LEN_MAX 63
#define NEAR_NAME_FAR     4 /* slips that are too many for one name to be meant by the other */

/* How many bytes are to be changed, added, left out or swapped with the next one to make one name of
 * the other; NEAR_NAME_FAR: so many, more, or half of the shorter name. */
size_t near_name(const char *a, const char *b);

#endif
