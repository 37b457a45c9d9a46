/*
 * daemon - owns every part of the running program.
 *
 * Purpose: starts the parts in order, hands each what it needs, stops them in the reverse order.
 *
 * Invariants: a start that fails leaves nothing behind. A stop answers every request that was taken,
 * loses nothing that was answered, and takes no longer than [http] stop_ms and the last commit.
 *
 * Threads: main; signals must be blocked before daemon_start (all threads inherit the mask).
 * Memory: daemon_start/daemon_stop; the configuration is borrowed.
 */
#ifndef STALLSYM_SERVER_DAEMON_H
#define STALLSYM_SERVER_DAEMON_H

#include <stdint.h>

#include "base/error.h"
#include "server/config.h"

struct daemon;

enum err daemon_start(const struct config *config, struct daemon **ret, struct error *err);
uint16_t daemon_port(const struct daemon *d);
/* Takes what may change while running: the log's level, the tokens. */
enum err daemon_reload(struct daemon *d, const struct config *config, struct error *err);
void daemon_stop(struct daemon *d);

#endif
