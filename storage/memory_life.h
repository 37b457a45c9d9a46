/*
 * memory_life - states of clusters in memory.
 *
 * Purpose: the memory backend's side of op_life.h, read_life.h and sqlite_life.h.
 *
 * Threads, memory: as memory_state.h says.
 */
#ifndef STALLSYM_STORAGE_MEMORY_LIFE_H
#define STALLSYM_STORAGE_MEMORY_LIFE_H

#include "storage/memory_state.h"

/* A report of that release was counted for the cluster (0: none). */
enum err mem_life_report(struct mem_storage *m, uint64_t cluster_id, const char *version,
                         const char *build, int64_t at_ms, struct error *err);
/* The stack points to that cluster since now. */
enum err mem_life_joined(struct mem_storage *m, uint64_t stack_id, uint64_t cluster_id,
                         int64_t at_ms, struct error *err);
/* Before the moves of `from` are redirected; heir 0: none. */
void mem_life_inherit(struct mem_state *s, uint64_t from, uint64_t heir);

enum err mem_write_cluster_state(struct mem_storage *m, struct write_op *op, struct error *err);
enum err mem_read_cluster_history(struct storage_reader *base, uint64_t id, size_t limit,
                                  const char *cursor, struct arena *arena,
                                  struct cluster_change **ret, size_t *ret_count,
                                  const char **ret_next, struct error *err);

#endif
