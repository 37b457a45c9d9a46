/*
 * preflight - what a start would stop at, told before anything is made.
 *
 * Purpose: `run` and `check-config` refuse the same: beside the values (config.h) the address, and
 * the files that the configuration names.
 *
 * Invariants: reads, and leaves nothing behind; the address is not taken. All problems are told, one
 * line each, not the first alone.
 *
 * Threads: before the door is open: TLS is tried in its one place. Memory: none.
 */
#ifndef STALLSYM_SERVER_PREFLIGHT_H
#define STALLSYM_SERVER_PREFLIGHT_H

#include <stdbool.h>

#include "base/buf.h"
#include "server/config.h"

/* False: `problems` has lines. */
bool preflight(const struct config *config, struct buf *problems);

#endif
