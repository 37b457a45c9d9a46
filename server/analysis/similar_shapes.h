/*
 * similar_shapes - the distinct stacks of the second stage, in an order of their own.
 *
 * Purpose: the lower half of similar.c. Stacks that look alike are one shape; names become small
 * numbers in the order of the alphabet, argument labels aside; plumbing is learnt from the shapes.
 *
 * Invariants: a function of the set of stacks.
 *
 * Threads: any. Memory: the caller's arena.
 */
#ifndef STALLSYM_ANALYSIS_SIMILAR_SHAPES_H
#define STALLSYM_ANALYSIS_SIMILAR_SHAPES_H

#include <stdbool.h>
#include <stdint.h>

#include "server/analysis/overlay.h"

struct shape {
    const struct similar_stack *stack; /* one of them */
    size_t first;                      /* lowest index of a stack; only for `representative` */
    uint64_t weight;
    uint32_t frames[SIMILAR_FRAMES];
    uint32_t count;
    uint32_t operation;
    uint32_t skipped; /* frames of plumbing in front, never all */
    struct overlay_place place;
};

struct shapes {
    struct shape *shapes; /* those of one part are neighbours */
    size_t count;
    size_t *shape_of;   /* by stack */
    const char **names; /* by number */
    size_t name_count;
    bool *plumbing; /* by number */
};

/* `given`: holds and depths, NULL: none. */
enum err shapes_of(const struct overlay *given, const struct similar_stack *stacks, size_t count,
                   struct arena *arena, struct shapes *ret, struct error *err);

/* First frame behind the plumbing, with its labels; NULL without frames. */
const char *shape_head(const struct shape *s);
bool shape_same_part(const struct shape *a, const struct shape *b);

#endif
