/*
 * stack_weights - weights by stack, as both backends add them up.
 *
 * Purpose: a table from stack ids to weights, and how the time of a report is shared by its samples.
 *
 * Invariants: shares add up to what is shared. At most STACK_WEIGHTS_MAX stacks.
 *
 * Threads: one owner. Memory: stack_weights_done.
 */
#ifndef STALLSYM_STORAGE_STACK_WEIGHTS_H
#define STALLSYM_STORAGE_STACK_WEIGHTS_H

#include "storage/read_stack_weights.h"

#define STACK_WEIGHTS_MAX ((size_t)4000000)

struct stack_weights_entry {
    uint64_t stack_id;
    struct stack_weight weights[WEIGHT_FILTERS_MAX];
};

struct stack_weights {
    struct stack_weights_entry *entries;
    size_t count, cap;
    uint32_t *slots;   /* index + 1 */
    size_t slot_count; /* 0: ids came in order so far */
};

void stack_weights_done(struct stack_weights *w);
/* The entry of a stack, zeros when it is new; valid until the next call. NULL without memory, or
 * above the cap (*err says so). */
struct stack_weights_entry *stack_weights_at(struct stack_weights *w, uint64_t stack_id,
                                             struct error *err);
/* By ascending id; the table takes no more afterwards. */
void stack_weights_sort(struct stack_weights *w);

struct weight_sample {
    uint64_t stack_id;
    int32_t offset_ms;
    uint32_t repeat_count;
};
struct weight_samples {
    uint64_t stack_id;   /* the report's own */
    int64_t duration_ms; /* -1: none */
    int64_t weighted;
    const struct weight_sample *items;
    size_t count;
};
/* Takes the time of a report from its own stack and gives it to those of its samples, under filter
 * `filter`. */
enum err stack_weights_spread(struct stack_weights *w, size_t filter,
                              const struct weight_samples *samples, struct error *err);

/* The frames of a stack, from its decoded forms (`resolved` count 0: not resolved yet), in the
 * arena. */
enum err stack_weights_frames(struct weighed_stack *s, const struct raw_stack *raw,
                              const struct resolved_stack *resolved, struct arena *arena,
                              struct error *err);

#endif
