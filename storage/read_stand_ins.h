/*
 * read_stand_ins - which symbol files stand in for others.
 *
 * Purpose: for the resolver, and to be shown.
 *
 * Invariants: as storage_read.h says. Threads, memory: so, too.
 */
#ifndef STALLSYM_STORAGE_READ_STAND_INS_H
#define STALLSYM_STORAGE_READ_STAND_INS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/uuid.h"
#include "storage/op_stand_ins.h"
#include "storage/storage.h"

struct stand_in_row {
    struct uuid uuid, stand_in;
    const char *bundle_id; /* "": all apps that have none of their own */
    bool by_hand;
    int64_t created_ms;
};
/* In the order of their UUIDs, then of their apps; `uuid` NULL: all of them, at most STAND_INS_MAX. */
enum err read_stand_ins(struct storage_reader *r, const struct uuid *uuid, struct arena *arena,
                        struct stand_in_row **ret, size_t *ret_count, struct error *err);

#endif
