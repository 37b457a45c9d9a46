/*
 * call_tree - many stacks merged into one tree of calls, with what each call weighs.
 *
 * Purpose: flame graphs. A node is a function of an image, called along one path from the root;
 * inlined calls and recursion are nodes like any other.
 *
 * Invariants: a node's value is the sum of the weights of all stacks that go through it, so the
 * root's is the sum of all. Whatever the order in which stacks come, the tree, once sorted, is the
 * same: children by weight, ties by name and image. What does not fit into the memory given is
 * ERR_LIMIT; call_tree_fold() makes room, and whatever it folds keeps its weight.
 *
 * Threads: one owner. Memory: call_tree_new/call_tree_free; names are copied.
 */
#ifndef STALLSYM_ANALYSIS_CALL_TREE_H
#define STALLSYM_ANALYSIS_CALL_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "server/analysis/call_functions.h"

#define CALL_TREE_WEIGHTS 2 /* to compare two sets of stacks */
#define CALL_TREE_NONE    UINT32_MAX
#define CALL_TREE_OTHER   "(other)"

struct call_tree;

/* NULL without memory. It takes at most about `max_bytes`. */
struct call_tree *call_tree_new(size_t max_bytes);
void call_tree_free(struct call_tree *t);

/* The number of a frame's function. It is true until something is folded. */
enum err call_tree_function(struct call_tree *t, const struct call_frame *frame, uint32_t *ret,
                            struct error *err);
/* A stack by the numbers of its functions, innermost first. Stacks wait for each other, to be added in
 * an order that takes less time. ERR_LIMIT: not this stack, but those that wait do not fit: fold, and try
 * again. */
enum err call_tree_gather(struct call_tree *t, const uint32_t *functions, size_t count,
                          const int64_t weights[CALL_TREE_WEIGHTS], struct error *err);
/* Those that wait are part of the tree. ERR_LIMIT: some of them wait still: fold, and try again. */
enum err call_tree_settle(struct call_tree *t, struct error *err);
/* Puts children in order. */
enum err call_tree_sort(struct call_tree *t, struct error *err);
/* Leaves at most about `max_nodes`, the heaviest ones; what their other callees weigh becomes one
 * callee CALL_TREE_OTHER of each. Memory of names that are gone is free for others. The order is
 * that of call_tree_sort. True in *ret_folded: something was folded. */
enum err call_tree_fold(struct call_tree *t, size_t max_nodes, bool *ret_folded, struct error *err);

size_t call_tree_count(const struct call_tree *t); /* of nodes, the root is one */
int64_t call_tree_total(const struct call_tree *t, size_t weight);
const struct call_function *call_tree_functions(const struct call_tree *t, size_t *ret_count);

/* Where a walk stands. A tree that was sorted is walked depth first, callees before what is beside
 * their caller:
 *
 *     call_tree_root(t, &n);
 *     do ... while (call_tree_next(t, &n, &up)); */
struct call_node {
    uint32_t function;                /* of call_tree_functions(); the root's is CALL_TREE_NONE */
    int64_t value[CALL_TREE_WEIGHTS]; /* callees included */
    uint32_t run, at;                 /* the tree's own */
};
void call_tree_root(const struct call_tree *t, struct call_node *ret);
/* False behind the last one. `ret_up`: how many levels were left for it (0: it is a callee of the
 * one before). */
bool call_tree_next(const struct call_tree *t, struct call_node *n, size_t *ret_up);
/* The same without the callees. */
bool call_tree_next_outside(const struct call_tree *t, struct call_node *n, size_t *ret_up);
/* What a node weighs without its callees. */
int64_t call_tree_self(const struct call_tree *t, const struct call_node *n, size_t weight);

#endif
