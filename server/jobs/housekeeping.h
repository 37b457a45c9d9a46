/*
 * housekeeping - what has to be done now and then.
 *
 * Purpose: checkpoints (PASSIVE; TRUNCATE when idle), retention of raw reports, report ids and image
 * sets, giving up on symbol files that never came, gauges for metrics.
 *
 * Invariants: every piece of work is bounded and goes through the writer where it changes data.
 *
 * Threads: one of its own. Memory: housekeeping_start/housekeeping_stop.
 */
#ifndef STALLSYM_JOBS_HOUSEKEEPING_H
#define STALLSYM_JOBS_HOUSEKEEPING_H

#include <stdint.h>

#include "base/error.h"
#include "server/jobs/alerts.h"
#include "server/jobs/metrics.h"
#include "server/jobs/resolver.h"
#include "server/jobs/writer.h"
#include "storage/storage.h"

struct housekeeping;

struct housekeeping_options {
    int64_t interval_ms;
    uint64_t checkpoint_bytes; /* checkpoint when the write-ahead log is larger */
    int64_t idle_ms;           /* no commit for so long: truncate the log */
    uint32_t report_days;
    uint64_t database_bytes; /* above it reports go before their time; 0: no cap */
    uint32_t retry_days;
    uint32_t image_set_days;
    int64_t give_up_ms;    /* wait so long for a vendor's symbol file */
    bool approximate;      /* then take one of the same version and build (stand_ins.h) */
    struct alerts *alerts; /* NULL: nobody looks for them */
    int64_t alerts_ms;     /* every so often */
};

enum err housekeeping_start(struct storage *storage, struct writer *writer,
                            struct resolver *resolver, struct index_cache *cache,
                            const struct housekeeping_options *options, struct metrics *metrics,
                            struct housekeeping **ret, struct error *err);
void housekeeping_stop(struct housekeeping *h);

#endif
