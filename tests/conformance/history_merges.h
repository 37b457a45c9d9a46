/*
 * history_merges - merges, splits, epochs and keys made anew, in a random history (history.h).
 *
 * Threads: one. Memory: none of its own.
 */
#ifndef STALLSYM_TESTS_HISTORY_MERGES_H
#define STALLSYM_TESTS_HISTORY_MERGES_H

#include "tests/conformance/history.h"

/* One step on both; what it leaves must be right: see history_sums. */
void history_merges_step(struct history *h, struct suite *a, struct suite *b);
/* Every cluster is the sum of its parts, every stack is where its key leads. */
void history_sums(struct suite *s);

#endif
