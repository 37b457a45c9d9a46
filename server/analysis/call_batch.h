/*
 * call_batch - stacks that wait to be merged into a call tree, put in order.
 *
 * Purpose: stacks come in any order, and each one's way through a tree is a row of looks at memory
 * that is far away. Thousands of them in order share most of their way: it is gone once.
 *
 * Invariants: at most CALL_BATCH_STACKS of them. Functions are numbers below UINT32_MAX, outermost
 * first. The order is that of their functions, a stack before those that go on from it.
 *
 * Threads: one owner. Memory: call_batch_done(); all zeros is an empty one.
 */
#ifndef STALLSYM_ANALYSIS_CALL_BATCH_H
#define STALLSYM_ANALYSIS_CALL_BATCH_H

#include "server/analysis/call_tree.h"

#define CALL_BATCH_STACKS ((size_t)8192)
#define CALL_BATCH_WORDS  ((size_t)1 << 19) /* with that many functions it is full, too */

struct call_waiting {
    uint32_t first, count; /* in `functions` */
    int64_t weights[CALL_TREE_WEIGHTS];
};

/* `key`: what was compared last. */
struct call_turn {
    uint64_t key;
    uint32_t stack;
};

struct call_batch {
    uint32_t *functions;
    size_t function_count, function_room;
    struct call_waiting *stacks;
    size_t count, room;
    struct call_turn *turns; /* in the order, from `at` on */
    size_t turn_room;
    size_t at; /* how many were taken */
    size_t longest;
};

void call_batch_done(struct call_batch *b);
bool call_batch_full(const struct call_batch *b);
/* One more, of a batch that is not full; its functions come innermost first. False without memory. */
bool call_batch_put(struct call_batch *b, const uint32_t *functions, size_t count,
                    const int64_t weights[CALL_TREE_WEIGHTS]);
/* Those that were not taken, in order. */
void call_batch_sort(struct call_batch *b);
/* The one at hand; NULL: all were taken. */
const struct call_waiting *call_batch_next(const struct call_batch *b);
/* All were taken. */
void call_batch_clear(struct call_batch *b);

#endif
