/*
 * sqlite_moves - stacks that go from cluster to cluster, folded and written once an op.
 *
 * Purpose: a symbol file that comes late sends the stacks of some provisional clusters to some
 * others, by the hundred. What they take with them (totals, tally, roll-ups) is read for all of them
 * at once and meets here by the cluster that they leave and by the one that they come to, so that
 * each one's rows are rewritten once an op and not once a stack.
 *
 * Invariants: the stacks' rows point to where they go before moves_write(), and nothing of the op
 * reads sums of clusters before it. A stack moves once an op.
 *
 * Threads: the writer's. Memory: the arena given, histograms and the like freed by moves_done().
 */
#ifndef STALLSYM_STORAGE_SQLITE_MOVES_H
#define STALLSYM_STORAGE_SQLITE_MOVES_H

#include "storage/sqlite_rollup.h"

#define MOVE_SLOTS 256 /* lists of clusters, and of pairs of them */

struct stack_move {
    int64_t stack_id;
    int64_t from, to; /* `from` 0: none */
    int64_t first_ms, last_ms;
};

struct move_place;
struct move_pair;

struct moves {
    struct arena *arena;
    struct row_list stacks; /* struct stack_move */
    struct row_list hefts;  /* ids of stacks that come to clusters with tables: others need none */
    struct move_place *place_slots[MOVE_SLOTS];
    struct move_place *first_place, *last_place; /* in order of arrival */
    struct move_pair *pair_slots[MOVE_SLOTS];
    struct move_pair *first_pair, *last_pair;
    struct fold leaves, comes; /* rows of clusters with tables of their own */
    struct rolled_limits limits;
};

void moves_init(struct moves *m, struct arena *arena);
void moves_done(struct moves *m);
enum err moves_add(struct moves *m, const struct stack_move *stack, struct error *err);
/* What the stacks have by now. */
enum err moves_write(struct sqlite_storage *s, struct moves *m, struct error *err);

#endif
