/*
 * call_tree_parts - what call_tree.c and call_fold.c share.
 *
 * Purpose: the tree from inside, for those two and nobody else.
 *
 * Most calls make one other call: a stack that leaves the others behind goes on alone. So what is kept
 * is runs: calls one inside of the other of which all but the last have one callee, the next one, and
 * no weight of their own. A run's functions lie side by side; its values are those of each of its
 * nodes, its callees those of the last one. A stack that leaves a run in the middle splits it: the
 * upper part stays where it is, the lower one is new and takes the callees along.
 *
 * Callees are a list that is walked; those of nodes with many are in one table, too, by the number of
 * the caller's callees (`family`, which moves with them) and the function.
 *
 * Invariants: run 0 is the root, one node without a function. `parent` is true in sorted trees alone.
 *
 * Threads, memory: the tree's.
 */
#ifndef STALLSYM_ANALYSIS_CALL_TREE_PARTS_H
#define STALLSYM_ANALYSIS_CALL_TREE_PARTS_H

#include "server/analysis/call_batch.h"

struct call_run {
    int64_t value[CALL_TREE_WEIGHTS];
    uint32_t function;      /* the first one */
    uint32_t first, length; /* in `path` */
    uint32_t next, first_child, child_count;
    uint32_t family;   /* of its callees */
    uint32_t brothers; /* the family it is in */
    uint32_t parent;
};

struct call_tree {
    size_t max_bytes, bytes; /* of the tables */
    struct call_functions functions;
    struct call_batch batch; /* what waits to be added */
    struct call_run *runs;
    size_t run_count, run_room;
    uint32_t *path; /* the functions of all runs */
    size_t path_count, path_room;
    uint32_t *children; /* run + 1, by family and function: those of nodes that have many */
    size_t children_count, child_slots;
    size_t node_count;
    uint32_t families;
};

/* Room for a stack of `count` frames; what follows does not fail. */
enum err call_tree_reserve(struct call_tree *t, size_t count, struct error *err);
/* A callee of a run's last node; CALL_TREE_NONE: none. */
uint32_t call_tree_child(struct call_tree *t, uint32_t run, uint32_t function);
/* One that is not there yet: calls of `count` functions one inside of the other, outermost first. */
uint32_t call_tree_put(struct call_tree *t, uint32_t run, const uint32_t *functions, size_t count);
/* `length` nodes of the run stay. */
void call_tree_split(struct call_tree *t, uint32_t run, uint32_t length);
void call_run_weigh(struct call_run *r, const int64_t weights[CALL_TREE_WEIGHTS]);
int64_t call_run_weight(const struct call_run *r);
/* The run behind another in a walk; CALL_TREE_NONE: none. */
uint32_t call_tree_next_run(const struct call_tree *t, uint32_t run);

#endif
