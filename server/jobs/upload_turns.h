/*
 * upload_turns - whose symbol upload is next.
 *
 * Purpose: one child works at a time, and one file may keep it for [symbols] child_wall_s. So apps
 * take turns: whoever queues a thousand files makes nobody wait for more than one of them.
 *
 * Invariants: of the app that was served longest ago (or never) the oldest upload is next; of the
 * app whose upload failed last those behind that one go first. Apps are told apart by hash; few may
 * share a turn.
 *
 * Threads: one owner. Memory: a value; all zeros: nobody was served.
 */
#ifndef STALLSYM_JOBS_UPLOAD_TURNS_H
#define STALLSYM_JOBS_UPLOAD_TURNS_H

#include <stddef.h>
#include <stdint.h>

#include "storage/storage_read.h"

#define UPLOAD_TURNS 1024

struct upload_turns {
    uint64_t turn;
    uint64_t last[UPLOAD_TURNS]; /* turn of an app, by its hash */
};

/* The next of those that wait (oldest first), which has its turn now; 0 without one. */
uint64_t upload_turns_take(struct upload_turns *t, const struct upload_waiting *waiting,
                           size_t count, uint64_t failed_id);

#endif
