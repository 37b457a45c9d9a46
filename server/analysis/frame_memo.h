/*
 * frame_memo - what the rules made of a frame, remembered.
 *
 * Purpose: the same few thousand frames come again in stack after stack. A memo makes of normalising
 * a name and asking all rules one look-up; verdicts are the same with and without it.
 *
 * Invariants: holds at most `max_entries` frames and FRAME_MEMO_BYTES; when it is full it forgets
 * everything. Belongs to one rule set, which must outlive it.
 *
 * Stacks that share an arena share frames in it: what was decided of such a frame is found by where it
 * lies, without a look at its names (frame_memo_share).
 *
 * Threads: one owner, each thread its own. Memory: frame_memo_new/frame_memo_free; answers are copied
 * out by frame_fates.
 */
#ifndef STALLSYM_ANALYSIS_FRAME_MEMO_H
#define STALLSYM_ANALYSIS_FRAME_MEMO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/stack.h"
#include "server/analysis/rules.h"
#include "server/analysis/rules_match.h"

#define FRAME_MEMO_BYTES (32u * 1024 * 1024)

struct frame_memo;

/* All that a decision depends on. Strings may be NULL. */
struct frame_question {
    const char *image;
    const char *function;  /* as shown; NULL: nothing is known */
    const char *qualified; /* where `function` leaves out whose it is: with that */
    const char *file;
    const char *module; /* Swift's */
    uint32_t position;  /* of the frame in the stack */
    bool local;
    bool in_app; /* before rules */
};

/* Texts borrow from the rules, `key` from the memo (or from where it was computed). */
struct frame_decision {
    const char *key; /* normalised name; "" without identity */
    size_t key_len;
    const char *drop; /* reason, NULL: kept by the rules */
    const char *rule; /* why; "" when no rule says */
    const char *owner;
    struct rule_match group;
    struct rule_match system_group;
    struct rule_match category;
    uint32_t depth; /* 0: no rule */
    bool named;     /* has a name at all, which may have no identity */
    bool in_app;
    bool vendor;
    bool boundary;
    bool plumbing;
};

/* NULL without memory. */
struct frame_memo *frame_memo_new(const struct rules *rules, size_t max_entries);
void frame_memo_free(struct frame_memo *m);

/* The decision; `key_buffer` (KEY_NAME_MAX bytes) holds the key where there is no memo (NULL) or no
 * room in it. `ret->key` is good until the next call. */
void frame_decide(const struct rules *rules, struct frame_memo *memo,
                  const struct frame_question *question, char *key_buffer,
                  struct frame_decision *ret);

/* Where a frame lies, and what else a decision depends on. */
struct frame_place {
    const struct frame *frame;
    const char *image;
    uint32_t position;
    bool in_app; /* before rules */
};

/* From now on frames lie in another arena, until the next call; before the first one nothing is found
 * by its place. The same `linkage_key` goes with all of them. NULL will do. What was found before is
 * gone. */
void frame_memo_share(struct frame_memo *m);
/* What was decided of the frame since; NULL: nothing that is remembered. */
const struct frame_decision *frame_memo_placed(const struct frame_memo *m,
                                               const struct rules *rules,
                                               const struct frame_place *place);
/* Keeps a copy of a decision and its key, up to FRAME_MEMO_BYTES of them. */
void frame_memo_place(struct frame_memo *m, const struct rules *rules,
                      const struct frame_place *place, const struct frame_decision *d);

#endif
