/*
 * resolver - turns pending stacks into resolved, clustered ones.
 *
 * Purpose: one thread pages through pending stacks, its workers symbolize and compute cluster keys,
 * and the answers go to the writer as resolution ops. The database is the queue: a restart loses
 * nothing.
 *
 * Invariants: sleeps until rung; every ring after the last look is answered by another look. A
 * stack whose resolution came late stays pending and is taken again. A stack that cannot be
 * resolved (damaged blob) is resolved as unmappable, with a log line, and holds nothing up.
 *
 * Threads: resolver_ring from any. Memory: resolver_start/resolver_stop.
 */
#ifndef STALLSYM_JOBS_RESOLVER_H
#define STALLSYM_JOBS_RESOLVER_H

#include <stddef.h>

#include "base/error.h"
#include "server/analysis/rules.h"
#include "server/jobs/metrics.h"
#include "server/jobs/writer.h"
#include "storage/storage.h"
#include "symbolizer/index_cache.h"

struct resolver;

struct resolver_options {
    size_t workers;
    size_t page; /* stacks a page, 2048 */
    size_t frame_cache_entries;
};

enum err resolver_start(struct storage *storage, struct writer *writer, struct index_cache *cache,
                        const struct rules *rules, const struct resolver_options *options,
                        struct metrics *metrics, struct resolver **ret, struct error *err);
void resolver_stop(struct resolver *r);
/* Stacks of later passes are keyed by these rules; the old ones live until resolver_stop. */
void resolver_set_rules(struct resolver *r, const struct rules *rules);
void resolver_ring(struct resolver *r);

#endif
