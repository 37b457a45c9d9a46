/*
 * notifier - brings alerts to where they are wanted.
 *
 * Purpose: takes deliveries that are due from the outbox (storage/op_alerts.h), sends each as its
 * target's kind wants it (alert_body.h), and notes how it went: sent, again later, or given up.
 *
 * Invariants: a delivery that was answered well is sent no more; one whose answer was lost with the
 * process is sent again, with the same X-Stallsym-Delivery, so that a receiver can tell. Only http and
 * https, no redirect, no proxy, certificates verified, a bounded answer and time. Unless
 * `allow_private` the address that is connected to must be public (net_guard.h), whatever its name
 * resolved to. A target that fails holds up its own deliveries alone.
 *
 * Threads: one of its own; notifier_ring from any. Memory: notifier_start/notifier_stop.
 */
#ifndef STALLSYM_JOBS_NOTIFIER_H
#define STALLSYM_JOBS_NOTIFIER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "server/jobs/metrics.h"
#include "server/jobs/writer.h"
#include "storage/storage.h"

struct notifier;

struct notifier_options {
    bool allow_private;
    int64_t timeout_ms;   /* of one attempt */
    int64_t retry_ms;     /* after the first failure; doubled after each further one */
    int64_t retry_max_ms; /* but not above */
    int64_t give_up_ms;   /* an alert that old is given up when it fails again */
};

enum err notifier_start(struct storage *storage, struct writer *writer,
                        const struct notifier_options *options, struct metrics *metrics,
                        struct notifier **ret, struct error *err);
/* Breaks an attempt off, which leaves its delivery pending. NULL is allowed. */
void notifier_stop(struct notifier *n);
/* Something may be due. NULL is allowed. */
void notifier_ring(struct notifier *n);

/* How long to wait after the `attempts`-th failure: exponential, up to a fifth more or less by
 * `random`, and no less than what the target asked for (0: nothing). */
int64_t notifier_delay(const struct notifier_options *options, uint32_t attempts, int64_t asked_ms,
                       uint32_t random);
/* Why nothing can be sent there whatever its name resolves to (a port that is none, a literal address
 * that is not public and not allowed); NULL: may be tried. `n` NULL: private ones are not allowed. */
const char *notifier_url_fault(const struct notifier *n, const char *url);
/* What libcurl says it is. */
const char *notifier_library(void);

#endif
