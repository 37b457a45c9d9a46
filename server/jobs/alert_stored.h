/*
 * alert_stored - the rules of alerts as they were stored, by whatever version.
 *
 * Purpose: the one way from the database to rules. What was let in once and is refused today must not
 * end all alerts with an upgrade.
 *
 * Invariants: control characters in texts, which older versions let in, are "?" here. What alert_rules.h
 * still refuses is ERR_INVALID (no JSON at all: too), and the text says what and where.
 *
 * Threads: none. Memory: the arena given.
 */
#ifndef STALLSYM_JOBS_ALERT_STORED_H
#define STALLSYM_JOBS_ALERT_STORED_H

#include "server/jobs/alert_rules.h"

/* `document` NULL: none was ever set, no rules. */
enum err alert_stored_read(const char *document, struct arena *arena, struct alert_rules *ret,
                           struct error *err);

#endif
