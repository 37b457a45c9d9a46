/*
 * sqlite_config - remote configurations in SQLite.
 *
 * Purpose: declares what sqlite_config.c defines for op_config.h and read_config.h.
 *
 * Threads, memory: as storage.h says.
 */
#ifndef STALLSYM_STORAGE_SQLITE_CONFIG_H
#define STALLSYM_STORAGE_SQLITE_CONFIG_H

#include "storage/read_config.h"
#include "storage/sqlite_storage.h"

enum err sqlite_write_config(struct sqlite_storage *s, struct write_op *op, struct error *err);
enum err sqlite_read_config(struct storage_reader *r, const char *bundle_id, uint32_t revision,
                            struct arena *arena, struct config_row *ret, struct error *err);
enum err sqlite_read_config_history(struct storage_reader *r, const char *bundle_id,
                                    struct arena *arena, struct config_row **ret, size_t *ret_count,
                                    struct error *err);

#endif
