/*
 * sqlite_life - states of clusters on the writer's side: decisions, regressions, heirs.
 *
 * Purpose: which clusters are resolved, and in what, is kept in memory, so that a report of a
 * cluster that is not costs one look; regressions are found where reports are counted
 * (sqlite_write_batch.c) and where a stack with reports joins a cluster (sqlite_write_resolve.c and
 * whatever else moves stacks).
 *
 * Invariants: the set is that of the open transaction: it is read anew after every change and every
 * rollback.
 *
 * Threads: the writer's. Memory: resolved_set_init/resolved_set_done.
 */
#ifndef STALLSYM_STORAGE_SQLITE_LIFE_H
#define STALLSYM_STORAGE_SQLITE_LIFE_H

#include "storage/resolved_set.h"
#include "storage/sqlite_storage.h"

/* A report of the release in row `build_id` of dict was counted for the cluster. */
enum err sqlite_life_report(struct sqlite_storage *s, int64_t cluster_id, int64_t build_id,
                            int64_t at_ms, struct error *err);
/* The stack points to that cluster since now. */
enum err sqlite_life_joined(struct sqlite_storage *s, int64_t stack_id, int64_t cluster_id,
                            int64_t at_ms, struct error *err);
/* The cluster of key `from` becomes one with that of `into`, whose state was changed, if at all:
 * resolved both, they are so in the newer of their releases. */
enum err sqlite_life_merged(struct sqlite_storage *s, int64_t app_id, const uint8_t *from,
                            const uint8_t *into, struct error *err);
/* The cluster `from` is empty and lives on in `heir` (0: in none): history follows, and so does a
 * decision when the heir came out of it and nobody has decided about the heir. */
enum err sqlite_life_inherit(struct sqlite_storage *s, int64_t from, int64_t heir,
                             struct error *err);

#endif
