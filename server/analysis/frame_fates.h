/*
 * frame_fates - the logical frames of a resolved stack, and what the rules make of each.
 *
 * Purpose: the first half of cluster_key: inlined calls unfolded, names normalised, every frame
 * classified and kept or dropped with the rule that did it. category uses the same frames.
 *
 * Invariants: pure. One entry for each logical frame, innermost first; a raw frame of which nothing
 * is known is one frame without a name.
 *
 * Threads: any. Memory: the caller's arena; rule texts borrow from the rules. With a memo in the options
 * `key` and `rules` are good until the next call that has it.
 */
#ifndef STALLSYM_ANALYSIS_FRAME_FATES_H
#define STALLSYM_ANALYSIS_FRAME_FATES_H

#include "base/arena.h"
#include "server/analysis/cluster_key.h"
#include "server/analysis/frame_memo.h"

struct fated_frame {
    const struct resolved_frame *raw;
    const struct frame *frame; /* NULL: nothing is known */
    uint32_t raw_index;
    uint32_t frame_index;
    const char *key;   /* normalised name; "" without identity */
    const char *image; /* never NULL, "" when unknown */
    bool named;        /* has a name at all (which may have no identity) */
    bool waiting;      /* no name because the symbol file is not there yet */
    bool in_app;
    bool vendor;
    const char *drop; /* reason, NULL: kept by the rules */
    bool beyond;      /* outside a boundary: counts for nothing */
    bool plumbing;
    uint32_t depth; /* 0: no rule */
    const char *owner;
    const char *rule;                   /* why, for struct frame_fate */
    const struct frame_decision *rules; /* all that they say of it */
};

struct fated_stack {
    struct fated_frame *frames;
    size_t count;
};

enum err frame_fates_of(const struct rules *rules, const struct key_options *options,
                        const struct resolved_stack *stack, struct arena *arena,
                        struct fated_stack *ret, struct error *err);

#endif
