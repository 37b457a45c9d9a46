/*
 * call_tree - many stacks merged into one tree of calls, with what each call weighs.
 *
 * Purpose: flame graphs. A node is a function of an image, called along one path from the root;
 * inlined calls and recursion are nodes like any other.
 *
 * Invariants: a node's value is the sum of the weights of all stacks that go through it, so the
 * root's is the sum of all. Whatever the order in which stacks come, the tree, once sorted, is the
 * same: children by weight, ties by name and image. What does not fit into the memory given is
 * ERR_LIMIT; call_tree_fold() makes room, and whatever it folds keeps its weight. Texts longer than
 * CALL_TREE_TEXT_MAX are cut: what is the same up to there is the same function.
 *
 * Threads: one owner. Memory: call_tree_new/call_tree_free; names are copied.
 */
#ifndef STALLSYM_ANALYSIS_CALL_TREE_H
#define STALLSYM_ANALYSIS_CALL_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

#define CALL_TREE_WEIGHTS  2 /* to compare two sets of stacks */
#define CALL_TREE_NONE     UINT32_MAX
#define CALL_TREE_TEXT_MAX 512 /* bytes of a name, an image or a file, without "..." */
#define CALL_TREE_OTHER    "(other)"

/* A frame as it is added. */
struct call_frame {
    const char *function; /* not NULL */
    const char *image;    /* NULL: not known */
    const char *file;     /* NULL */
    bool in_app;
    bool
        lasting; /* function and image stay where they are until call_tree_free: an equal pointer is
                     an equal name */
};

/* What nodes are of. */
struct call_function {
    const char *name;
    const char *image; /* NULL */
    const char *file;  /* NULL; of several the first in the alphabet */
    bool in_app;
};

struct call_node {
    uint32_t function; /* index; the root's is CALL_TREE_NONE */
    uint32_t parent;   /* of nodes: indexes, or CALL_TREE_NONE */
    uint32_t first_child;
    uint32_t next;
    uint32_t child_count;
    int64_t value[CALL_TREE_WEIGHTS]; /* callees included */
};

struct call_tree;

/* NULL without memory. It takes at most about `max_bytes`. */
struct call_tree *call_tree_new(size_t max_bytes);
void call_tree_free(struct call_tree *t);

/* Innermost first. */
enum err call_tree_add(struct call_tree *t, const struct call_frame *frames, size_t count,
                       const int64_t weights[CALL_TREE_WEIGHTS], struct error *err);
/* Puts children in order. */
enum err call_tree_sort(struct call_tree *t, struct error *err);
/* Leaves at most about `max_nodes`, the heaviest ones; what their other callees weigh becomes one
 * callee CALL_TREE_OTHER of each. Memory of names that are gone is free for others. The order is
 * that of call_tree_sort. True in *ret_folded: something was folded. */
enum err call_tree_fold(struct call_tree *t, size_t max_nodes, bool *ret_folded, struct error *err);

/* Node 0 is the root. */
const struct call_node *call_tree_nodes(const struct call_tree *t, size_t *ret_count);
const struct call_function *call_tree_functions(const struct call_tree *t, size_t *ret_count);
/* What a node weighs without its callees. */
int64_t call_tree_self(const struct call_tree *t, uint32_t node, size_t weight);
/* The node after `node` in depth-first order, its callees first; CALL_TREE_NONE at the end.
 * `ret_up`: how many levels were left for it (0: it is a callee of `node`). */
uint32_t call_tree_next(const struct call_tree *t, uint32_t node, size_t *ret_up);

#endif
