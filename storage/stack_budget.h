/*
 * stack_budget - how many stacks an app may bring that were never seen before.
 *
 * Purpose: stacks are what clients can mint most of, so an app has a daily cap on new ones. Known
 * ones go on; of a report with a stack above the cap the rest is kept, and counted.
 *
 * Invariants: reports are fitted in the order of the batch. A report's own stack goes first; without
 * it the report says `stack_skipped` with STACK_BUDGET_REASON. Its samples come whole or not at all,
 * so that no culprit is found among half of them; threads lose their stacks one by one.
 *
 * Threads: one owner. Memory: the caller's.
 */
#ifndef STALLSYM_STORAGE_STACK_BUDGET_H
#define STALLSYM_STORAGE_STACK_BUDGET_H

#include "storage/write_op.h"

#define STACK_BUDGET_REASON "daily_stacks"

enum stack_standing { STACK_NEW, STACK_ASKED_FOR, STACK_KNOWN };

struct stack_budget {
    int64_t left; /* new stacks that may still come; below 0 when the cap was lowered */
    enum stack_standing *standing; /* of the batch's stacks; KNOWN: stored, or let in */
    size_t count;
};

/* A copy of a report, with those of its stacks that may come; whether any was left out is in
 * `stacks_dropped` of both. */
enum err stack_budget_fit(struct stack_budget *b, struct op_report *r, struct arena *arena,
                          struct op_report *ret, struct error *err);

#endif
