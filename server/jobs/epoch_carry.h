/*
 * epoch_carry - what people decided about clusters outlives the keys that it was said of.
 *
 * Purpose: merges and splits by hand are rules about keys. When the form of keys or the rules are
 * others than those that the clusters were made by, a key may be one that no stack gets any more; its
 * stacks, which are still filed under it, say which keys came out of it. The rules are said anew of
 * those, before the stacks follow.
 *
 * Invariants: a key that some of its stacks keep is left alone. Of a key that fell apart each piece
 * keeps the merge or depth; what others are merged into, or kept apart from, is its heaviest piece. A
 * function of the stacks, the rules and the decisions; done twice it changes nothing.
 *
 * Threads: the caller's. Memory: gives all back.
 */
#ifndef STALLSYM_JOBS_EPOCH_CARRY_H
#define STALLSYM_JOBS_EPOCH_CARRY_H

#include "server/jobs/epoch_learn.h"

/* *ret_count: rules that were said anew. ERR_BUSY: stopping. */
enum err epoch_carry(const struct epoch_tools *tools, const char *bundle_id, int64_t now_ms,
                     size_t *ret_count, struct error *err);

#endif
