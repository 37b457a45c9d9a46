/*
 * frame_memo - what the rules made of a frame, remembered.
 *
 * Purpose: the same few thousand frames come again in stack after stack. A memo makes of normalising
 * a name and asking all rules one look-up; verdicts are the same with and without it.
 *
 * Invariants: holds at most `max_entries` frames and FRAME_MEMO_BYTES; when it is full it forgets
 * everything, between two stacks (frame_memo_begin). Belongs to one rule set, which must outlive it.
 *
 * Where frames come from a symbol index their number finds what was decided of them, without a look
 * at their names; so does the name of the image where nothing else is known.
 *
 * Threads: one owner, each thread its own. Memory: frame_memo_new/frame_memo_free; answers live until
 * the next stack begins.
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
    uint32_t depth; /* 0: no rule */
    bool named;     /* has a name at all, which may have no identity */
    bool in_app;
    bool vendor;
    bool boundary;
    bool plumbing;
    bool everywhere; /* at every position of a stack it would be the same */
    bool special;    /* one of these says something; above is what every frame is asked for */
    struct rule_match group;
    struct rule_match system_group;
    struct rule_match category;
};

/* NULL without memory. */
struct frame_memo *frame_memo_new(const struct rules *rules, size_t max_entries);
void frame_memo_free(struct frame_memo *m);

/* A stack begins: answers of the one before are gone, and its images' names may be. NULL will do. */
void frame_memo_begin(struct frame_memo *m);

/* A frame that is known by a number, and what else a decision depends on. The same `linkage_key` goes
 * with all of a memo. */
struct frame_place {
    uint64_t frames_id; /* of resolved_frame; 0: of the image alone is something known */
    uint32_t index;     /* among the frames of that number */
    uint32_t position;  /* in the stack */
    const char *image;
    bool in_app; /* before rules */
};

/* What was decided of the frame; NULL: nothing that is remembered. */
const struct frame_decision *frame_memo_placed(struct frame_memo *m, const struct rules *rules,
                                               const struct frame_place *place);

/* The decision: the memo's, or `room` with its key in `key_buffer` (KEY_NAME_MAX bytes) where there is
 * no memo (NULL) or no room in it. From now on it is found by `place`; NULL: it has none. */
const struct frame_decision *frame_decide(const struct rules *rules, struct frame_memo *memo,
                                          const struct frame_place *place,
                                          const struct frame_question *question, char *key_buffer,
                                          struct frame_decision *room);

#endif
