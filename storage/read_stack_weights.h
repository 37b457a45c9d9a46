/*
 * read_stack_weights - the distinct stacks under a filter, and what each weighs.
 *
 * Purpose: what flame graphs and call trees are added up from.
 *
 * Invariants: weights are whole numbers (millionths of a report, milliseconds), with the sampling
 * undone, so that their sum is what the filter's reports with a stack weigh, to the last unit. A
 * report counts where its own stack is. Its time, if it has samples, is theirs: each has the time up
 * to the next one (the first one from the start on, the last one to the end; without offsets by their
 * repeats). Samples live as long as their report: of older ones the time is their own stack's.
 *
 * Threads, memory: as storage_read.h says. What a visit sees lives until it returns. Names for which
 * the arena has no room are WEIGHT_OTHER_NAME.
 */
#ifndef STALLSYM_STORAGE_READ_STACK_WEIGHTS_H
#define STALLSYM_STORAGE_READ_STACK_WEIGHTS_H

#include "storage/storage_read.h"

#define WEIGHT_FILTERS_MAX 2
#define WEIGHT_OTHER_NAME  "(other)"

struct stack_weight {
    int64_t count;    /* reports, as received */
    int64_t weighted; /* millionths of a report */
    int64_t stall_ms; /* sampling undone */
};

/* One call; of a raw frame all that are inlined into it, too. */
struct weighed_frame {
    const char *function; /* NULL: none is known */
    const char *image;    /* NULL: not known; so file */
    const char *file;
    bool in_app;
    /* Of frames without a function: where they lie. */
    enum image_kind image_kind;
    struct uuid image_id;
    uint64_t offset;
};

struct weighed_stack {
    uint64_t stack_id;
    struct stack_weight weights[WEIGHT_FILTERS_MAX]; /* under each filter */
    const struct weighed_frame *frames;              /* innermost first; NULL: kinds are */
    size_t frame_count;
    /* Frames as numbers, one for all that are equal: the same ones in later stacks of this epoch. */
    const uint32_t *numbers;
    const struct weighed_frame *kinds; /* by number */
    size_t kind_count;
    uint32_t epoch;
    const void *raw; /* raw_stack_decode() */
    size_t raw_len;
};

static inline const struct weighed_frame *weighed_frame_at(const struct weighed_stack *s, size_t i)
{
    return s->frames ? &s->frames[i] : &s->kinds[s->numbers[i]];
}

typedef enum err stack_weight_visit(void *ctx, const struct weighed_stack *stack,
                                    struct error *err);

/* `filters`: one, or two to compare; their bundle ids are the same. Category and state are those of
 * the stack's cluster. `cluster_id` 0: of all; an alias will do. Stacks come by ascending id, those
 * that weigh nothing are left out. `ret_scopes`: one a filter. */
enum err read_stack_weights(struct storage_reader *r, uint64_t cluster_id,
                            const struct read_filter *filters, size_t filter_count,
                            struct arena *arena, stack_weight_visit *visit, void *ctx,
                            struct breakdown_scope *ret_scopes, struct error *err);

#endif
