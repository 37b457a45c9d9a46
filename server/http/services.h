/*
 * services - everything below the door that handlers may use.
 *
 * Purpose: one struct of borrowed pointers, filled by server/daemon.c.
 *
 * Invariants: all set while the HTTP server runs. Threads: each part says itself.
 * Memory: borrowed.
 */
#ifndef STALLSYM_HTTP_SERVICES_H
#define STALLSYM_HTTP_SERVICES_H

#include "server/http/stats_memo.h"
#include "server/ingest/admission.h"
#include "server/ingest/ingest.h"
#include "server/jobs/backups.h"
#include "server/jobs/epochs.h"
#include "server/jobs/indexer.h"
#include "server/jobs/layouts.h"
#include "server/jobs/live_rules.h"
#include "server/jobs/metrics.h"
#include "server/jobs/notifier.h"
#include "server/jobs/piece_locks.h"
#include "server/jobs/readers.h"
#include "server/jobs/resolver.h"
#include "server/jobs/spooler.h"
#include "server/jobs/writer.h"
#include "storage/blob_store.h"
#include "storage/storage.h"
#include "symbolizer/index_cache.h"

struct services {
    struct storage *storage;
    struct blob_store *blobs;
    struct writer *writer;
    struct readers *readers;
    struct resolver *resolver;
    struct spooler *spooler;
    struct piece_locks *piece_locks;
    uint64_t open_uploads;      /* in pieces: at most so many at a time, */
    uint64_t open_upload_bytes; /* of so many bytes together */
    struct index_caps index_caps;
    struct indexer *indexer;
    struct index_cache *index_cache;
    struct layouts *layouts;
    struct stats_memo *stats;
    struct metrics *metrics;
    struct notifier *notifier; /* NULL in tests */
    struct live_rules *rules;
    struct epochs *epochs;
    struct backups *backups;
    const struct ingest_limits *ingest_limits;
    struct admission *admission;
};

#endif
