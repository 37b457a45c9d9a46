/*
 * similar - the second stage: clusters that are one cause, and clusters that are several.
 *
 * Purpose: design/clustering.md section 3.5. The first stage names a stack by its first app frame.
 * That errs in two ways, and both can be seen from all stacks together:
 *
 *   - a helper that many causes share (a lock with a closure, a database queue, a decoder) is learnt
 *     to be plumbing: several of its callers are themselves reached in several ways, and are no
 *     routers, which call so many others that they are no causes. Its cluster falls into parts,
 *     one for each frame behind the plumbing;
 *   - a cause inlined into its caller, a private helper on top of it, a signature that grew a
 *     parameter: the app frames of one part are those of another without the first one or two, and
 *     both call the same system function. The part with the longer stacks takes the other in.
 *
 * Frames weigh by how rare they are (IDF over the distinct stacks): an entry point that every
 * stack has is no evidence. Without a system function there is no merge either, since then the
 * caller may just as well do work of its own.
 *
 * Invariants: a function of the set of stacks: order and repetition of the input change nothing
 * but the indexes. Merges do not chain: each part taken in is like its taker itself, and a taker is
 * never taken in. Two takers that are equally near take nothing: those pairs are `related`.
 *
 * Threads: any. Memory: results live in the arena.
 */
#ifndef STALLSYM_ANALYSIS_SIMILAR_H
#define STALLSYM_ANALYSIS_SIMILAR_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/stack.h"
#include "server/analysis/cluster_key.h"

#define SIMILAR_FRAMES    8  /* app frames of a stack that are looked at */
#define SIMILAR_RELATED   3  /* related parts that are named for each part */
#define SIMILAR_SCORE_MIN .5 /* share of a part's distinct stacks that must be like the taker's */

/* What the second stage knows of a stack. Names are key forms. */
struct similar_stack {
    uint8_t cluster[CLUSTER_KEY_SIZE]; /* of the first stage */
    enum cluster_kind kind;
    uint64_t weight;
    const char *const *names; /* app frames, of system-only stacks the system's; innermost first */
    size_t count;
    const char *operation; /* the system function that the app called; "" when there is none */
    const uint32_t *at;    /* which of the verdict's fates each name is; NULL: nobody asked */
};

struct similar_part {
    uint8_t key[CLUSTER_KEY_SIZE];     /* the cluster's own when it was not split */
    uint8_t cluster[CLUSTER_KEY_SIZE]; /* of the first stage */
    bool deepened;                     /* by hand, out of the part `origin` */
    uint8_t origin[CLUSTER_KEY_SIZE];
    const char *name;      /* first frame behind the plumbing, NULL without frames */
    size_t representative; /* index of a heaviest stack */
    uint64_t weight;
    size_t into;  /* the part that takes it in; itself */
    double score; /* how like it is to `into`, 0 to 1 */
};

struct similar_pair {
    size_t part;
    size_t other;
    double score;
};

struct similar_result {
    size_t *part_of; /* by stack */
    struct similar_part *parts;
    size_t part_count;
    const char **plumbing; /* learnt, sorted */
    size_t plumbing_count;
    struct similar_pair *related;
    size_t related_count;
};

/* `verdict` is that of cluster_key_of for the same rules, options and stack. */
enum err similar_stack_of(const struct rules *rules, const struct key_options *options,
                          const struct resolved_stack *stack, const struct cluster_verdict *verdict,
                          uint64_t weight, struct arena *arena, struct similar_stack *ret,
                          struct error *err);

enum err similar_of(const struct similar_stack *stacks, size_t count, struct arena *arena,
                    struct similar_result *ret, struct error *err);
/* The same under holds and depths of an overlay (overlay.h); its plumbing is learnt anew. */
struct overlay;
enum err similar_under(const struct overlay *given, const struct similar_stack *stacks,
                       size_t count, struct arena *arena, struct similar_result *ret,
                       struct error *err);

/* Length of a name without argument labels: `Feed.reload` of `Feed.reload(_:)`, so that a new
 * parameter makes no new cause. */
size_t similar_base_length(const char *name);
/* Places of the frames that count among the stack's names: overloads that follow each other are
 * one. Returns how many, at most SIMILAR_FRAMES. */
size_t similar_distinct_frames(const struct similar_stack *stack, size_t at[SIMILAR_FRAMES]);

#endif
