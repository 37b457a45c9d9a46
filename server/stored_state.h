/*
 * stored_state - what the database remembers of the runs before, once, at start.
 *
 * Purpose: teaches the layouts and the quotas what was learnt, and removes spool files whose request
 * died with the last run.
 *
 * Invariants: a spool file that a waiting or an open upload names stays.
 *
 * Threads: main, before the writer starts. Memory: freed before the return; `taker` is borrowed.
 */
#ifndef STALLSYM_SERVER_STORED_STATE_H
#define STALLSYM_SERVER_STORED_STATE_H

#include <stddef.h>

#include "base/error.h"
#include "server/ingest/admission.h"
#include "server/jobs/layouts.h"
#include "storage/blob_store.h"
#include "storage/storage.h"

/* Who is told. */
struct stored_state_taker {
    struct blob_store *blobs;
    struct layouts *layouts;
    size_t layout_count; /* no more than that many, the newest */
    struct admission *admission;
};

enum err stored_state_load(struct storage *storage, const struct stored_state_taker *taker,
                           struct error *err);

#endif
