/*
 * op_stand_ins - the symbol file of another build in place of one that never came.
 *
 * Purpose: a person accepts a candidate (storage_read.h, struct missing_candidate), or the daemon
 * takes one of the same version and build by itself. Frames that it names are approximate.
 *
 * Invariants: the stacks that miss the UUID are turned back to pending with the op, those that wait
 * already get a new generation; they go on missing it, so that the true file, when it comes, finds
 * them: it ends the stand-in in the op that installs it, an app's own file that app's alone. One that
 * the daemon chose, for one app always, never replaces another one. What is for one app is judged by
 * what that app is served by (shelf.h) and by what its reports say.
 *
 * Threads, memory: as write_op.h says.
 */
#ifndef STALLSYM_STORAGE_OP_STAND_INS_H
#define STALLSYM_STORAGE_OP_STAND_INS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/uuid.h"

#define STAND_INS_MAX 10000

/* ERR_NOT_FOUND: `stand_in` has no index. ERR_CONFLICT: `uuid` has one, it is the same UUID, or an
 * image of another name or architecture. ERR_LIMIT: there are STAND_INS_MAX. */
struct op_stand_in {
    struct uuid uuid;
    struct uuid stand_in;
    const char
        *bundle_id; /* the app that it is for; "": for all, in place of what single ones have */
    bool on;        /* false: taken back, `stand_in` is not looked at */
    bool by_hand;
    int64_t now_ms;
    bool existed; /* result: `uuid` had one, for whom the op is */
    bool changed; /* result: stacks are resolved anew */
};

#endif
