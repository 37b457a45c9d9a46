/*
 * sqlite_quota - quotas of apps in SQLite.
 *
 * Purpose: declares what sqlite_quota.c defines for op_quota.h and read_quota.h.
 *
 * Threads, memory: as storage.h says.
 */
#ifndef STALLSYM_STORAGE_SQLITE_QUOTA_H
#define STALLSYM_STORAGE_SQLITE_QUOTA_H

#include "storage/read_quota.h"
#include "storage/sqlite_storage.h"

enum err sqlite_write_quota(struct sqlite_storage *s, struct write_op *op, struct error *err);
enum err sqlite_read_quotas(struct storage_reader *r, struct arena *arena, struct quota_row **ret,
                            size_t *ret_count, struct error *err);
enum err sqlite_read_app_names(struct storage_reader *r, struct arena *arena, const char ***ret,
                               size_t *ret_count, struct error *err);
enum err sqlite_read_new_stacks(struct storage_reader *r, const char *bundle_id, int32_t day,
                                struct new_stacks_row *ret, struct error *err);

#endif
