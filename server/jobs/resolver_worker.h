/*
 * resolver_worker - makes resolution ops of pending stacks: symbols, then a cluster key.
 *
 * Purpose: the work of one thread of the resolver (resolver.h); a piece of a page in, one op out.
 *
 * Invariants: a stack whose bytes are damaged, or that takes more memory than an op may have, is
 * resolved as one without frames (unmappable), and logged. Memory that the machine did not have is
 * no property of the stack: it is left out of the piece, with all behind it.
 *
 * Threads: a worker by one at a time; the grounds are read by all of them. Memory:
 * resolver_worker_new/resolver_worker_free; the op of a piece is its owner's.
 */
#ifndef STALLSYM_JOBS_RESOLVER_WORKER_H
#define STALLSYM_JOBS_RESOLVER_WORKER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "server/analysis/rules.h"
#include "server/jobs/overlays.h"
#include "storage/storage.h"
#include "storage/storage_read.h"
#include "storage/write_op.h"
#include "symbolizer/image_map.h"
#include "symbolizer/index_cache.h"
#include "symbolizer/symbolize.h"

struct resolver_worker;

/* What stacks are resolved by beside rules and symbols. */
struct resolver_grounds {
    const struct overlays *overlays;  /* of this pass */
    const struct stand_in *stand_ins; /* of this page */
    size_t stand_in_count;
    uint64_t page; /* counted on */
};

struct resolver_piece {
    const struct pending_stack *stacks;
    size_t count;
    struct write_op *op; /* result; NULL: no memory for one */
    bool incomplete;     /* result: stacks were left out, look again */
    bool starved;        /* result: the machine had no memory, so not at once */
};

enum err resolver_worker_new(struct storage *storage, struct index_cache *cache,
                             const struct rules *rules, size_t frame_cache_entries,
                             struct resolver_worker **ret, struct error *err);
void resolver_worker_free(struct resolver_worker *w);
/* A pass: facts of images are asked anew, stacks are keyed by these rules. */
void resolver_worker_begin(struct resolver_worker *w, const struct rules *rules);
void resolver_worker_piece(struct resolver_worker *w, const struct resolver_grounds *grounds,
                           struct resolver_piece *piece);
void resolver_worker_stats(const struct resolver_worker *w, struct symbolizer_stats *ret);

#endif
