/*
 * read_quota - what apps may bring.
 *
 * Purpose: the read side of op_quota.h: quotas of their own; and which apps there are, and their new
 * stacks.
 *
 * Invariants: as storage_read.h says. Threads: one per reader. Memory: the caller's arena.
 */
#ifndef STALLSYM_STORAGE_READ_QUOTA_H
#define STALLSYM_STORAGE_READ_QUOTA_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "storage/op_quota.h"
#include "storage/storage.h"

struct quota_row {
    const char *bundle_id;
    struct quota quota;
};
/* All, by bundle id. */
enum err read_quotas(struct storage_reader *r, struct arena *arena, struct quota_row **ret,
                     size_t *ret_count, struct error *err);
/* Bundle ids of all apps that have sent something. */
enum err read_app_names(struct storage_reader *r, struct arena *arena, const char ***ret,
                        size_t *ret_count, struct error *err);

/* What the caps of new stacks (stack_budget.h) and new pairs of values did on a day; of all apps
 * when NULL. */
struct new_stacks_row {
    uint64_t added;         /* stacks */
    uint64_t dropped;       /* reports that came without one, or some, of theirs */
    uint64_t pairs_dropped; /* reports that lost device or page for the cap of pairs */
};
enum err read_new_stacks(struct storage_reader *r, const char *bundle_id, int32_t day,
                         struct new_stacks_row *ret, struct error *err);

#endif
