/*
 * memory_config - remote configurations in memory.
 *
 * Purpose: declares what memory_config.c defines for op_config.h and read_config.h.
 *
 * Threads, memory: as storage.h says.
 */
#ifndef STALLSYM_STORAGE_MEMORY_CONFIG_H
#define STALLSYM_STORAGE_MEMORY_CONFIG_H

#include "storage/memory_state.h"
#include "storage/read_config.h"

enum err mem_write_config(struct mem_storage *m, struct write_op *op, struct error *err);
enum err mem_read_config(struct storage_reader *r, const char *bundle_id, uint32_t revision,
                         struct arena *arena, struct config_row *ret, struct error *err);
enum err mem_read_config_history(struct storage_reader *r, const char *bundle_id,
                                 struct arena *arena, struct config_row **ret, size_t *ret_count,
                                 struct error *err);

#endif
