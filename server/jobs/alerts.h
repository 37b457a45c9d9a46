/*
 * alerts - what happened that somebody wants to be told.
 *
 * Purpose: looks, when housekeeping says so, at what the storage has to tell (read_alerts.h), holds it
 * against the rules (alert_rules.h), and puts what is worth an alert into the outbox in one op, from
 * where the notifier takes it:
 *   - new clusters, never provisional, idle or ignored ones, with enough reports;
 *   - spikes against a cluster's own baseline (server/analysis/spike.h);
 *   - regressions, each once;
 *   - the share of application frames with a name, today against the seven days before;
 *   - UUIDs that many reports wait for, each once.
 *
 * Invariants: at most one alert of a cause in its window, which the writer judges. However many
 * causes one app brings, and whether a rule is for them or not, those of others get their turn: an
 * app has a share of each look, what was judged is not looked at again, and a look goes on where
 * the one before has ended. Time is a parameter.
 *
 * Threads: one at a time (housekeeping's). Memory: alerts_new/alerts_free.
 */
#ifndef STALLSYM_JOBS_ALERTS_H
#define STALLSYM_JOBS_ALERTS_H

#include <stdint.h>

#include "base/error.h"
#include "server/jobs/metrics.h"
#include "server/jobs/notifier.h"
#include "server/jobs/writer.h"
#include "storage/storage.h"

struct alerts;

struct alerts_options {
    const char *public_url; /* "" or NULL: no links */
    int64_t keep_ms;        /* alerts older than that are forgotten */
    int64_t slow_ms;        /* rates and missing symbols are looked at so often */
};

enum err alerts_new(struct storage *storage, struct writer *writer,
                    const struct alerts_options *options, struct notifier *notifier,
                    struct metrics *metrics, struct alerts **ret, struct error *err);
void alerts_free(struct alerts *a);
enum err alerts_look(struct alerts *a, int64_t now_ms, struct error *err);

#endif
