/*
 * keyer - keys stacks that were resolved before by the rules and the overlay of now.
 *
 * Purpose: what the resolver does with a stack after its symbols: from the stored frames, so that
 * keying anew needs no symbol file, and loses no name when one is gone.
 *
 * Invariants: the same stack under the same rules and overlay gets the key that the resolver would
 * give it. What the rules say of images whose class nobody knows is said anew, too.
 *
 * Threads: one owner, with a storage reader of its own. Memory: keyer_new/keyer_free.
 */
#ifndef STALLSYM_JOBS_KEYER_H
#define STALLSYM_JOBS_KEYER_H

#include "server/analysis/overlay.h"
#include "server/jobs/overlays.h"
#include "storage/storage_read.h"

struct keyer;

struct keyer *keyer_new(struct storage_reader *reader, const struct rules *rules);
void keyer_free(struct keyer *k);
/* Facts, rules and overlays are those of now. */
enum err keyer_begin(struct keyer *k, const struct rules *rules, struct error *err);
/* Of the app, NULL: it has none. Lives until keyer_begin. */
const struct overlay *keyer_overlay(const struct keyer *k, uint64_t app_id, uint64_t *ret_version);

struct keyed {
    const struct resolved_stack *stack;
    bool changed;                   /* another one than the stored one */
    struct cluster_verdict verdict; /* by the overlay */
    struct similar_stack similar;   /* of the first stage; with `for_epoch` alone */
    uint64_t overlay;               /* its version */
};
/* Results live in the arena. */
enum err keyer_stack(struct keyer *k, const char *bundle_id, const struct keyed_stack *stack,
                     bool for_epoch, struct arena *arena, struct keyed *ret, struct error *err);

#endif
