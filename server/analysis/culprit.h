/*
 * culprit - which sample of a report with many stands for it.
 *
 * Purpose: design/clustering.md section 4. Samples that follow one another with one key are a stage,
 * which lasts until the next one begins. The longest stage is the culprit, the most recent of equally
 * long ones, and its last sample is the report's stack. A stage in which the app was idle again is
 * the culprit only when there is no other. The functions that were on the stack meanwhile are kept
 * as a tree, so that "300 ms of 1,240 ms in Feed.decode, inside Feed.reload" can be shown.
 *
 * Invariants: pure. Lengths add up to the report's time. With keys of raw stacks (culprit_raw_key) it
 * works before any symbol is there. Samples that all say the same time have none: their repeats
 * share the report's, or stand for it when that is not known either (lengths are 0 then).
 *
 * Threads: any. Memory: the caller's arena; names are borrowed from the samples.
 */
#ifndef STALLSYM_ANALYSIS_CULPRIT_H
#define STALLSYM_ANALYSIS_CULPRIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/stack.h"
#include "server/analysis/cluster_key.h"

#define CULPRIT_SAMPLES_MAX 4096
#define CULPRIT_DEPTH_MAX   32 /* functions of one sample in the tree, from the outermost on */

struct culprit_sample {
    int64_t at_ms;    /* when it was taken; any order */
    uint32_t repeats; /* the same again: it stands for so many; 0 counts as 1 */
    uint8_t key[CLUSTER_KEY_SIZE];
    bool idle;
    const char *const *names; /* app frames, innermost first; may be empty */
    size_t name_count;
};

struct culprit_stage {
    size_t first; /* samples, by their index in the input */
    size_t last;
    size_t samples;
    uint64_t repeats; /* of all of them */
    int64_t start_ms;
    int64_t length_ms;
};

/* A function that was on the stack without interruption. */
struct culprit_node {
    const char *name;
    size_t parent; /* SIZE_MAX: the outermost */
    uint32_t depth;
    int64_t start_ms;
    int64_t length_ms;
};

struct culprit {
    size_t sample; /* the report's stack */
    size_t stage;
    double confidence; /* the stage's share of the time, 0 to 1 */
    int64_t total_ms;
    uint64_t total_repeats;
    const struct culprit_stage *stages; /* in the order of time */
    size_t stage_count;
    const struct culprit_node *nodes; /* parents before their children */
    size_t node_count;
};

/* `end_ms`: when the stall ended; before the last sample, when it is not known: then the last one
 * lasts as long as samples do. ERR_INVALID without samples. */
enum err culprit_of(const struct culprit_sample *samples, size_t count, int64_t end_ms,
                    struct arena *arena, struct culprit *ret, struct error *err);

/* Key of a stack without symbols: its frames but the leaf, whose place is the moment's. */
void culprit_raw_key(const char *bundle_id, const struct raw_stack *stack,
                     uint8_t out[CLUSTER_KEY_SIZE]);

#endif
