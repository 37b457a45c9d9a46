/*
 * read_quota - quotas that apps have of their own.
 *
 * Purpose: the read side of op_quota.h.
 *
 * Invariants: as storage_read.h says. Threads: one per reader. Memory: the caller's arena.
 */
#ifndef STALLSYM_STORAGE_READ_QUOTA_H
#define STALLSYM_STORAGE_READ_QUOTA_H

#include <stddef.h>

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

#endif
