/*
 * net_guard - addresses that a webhook may not lead to.
 *
 * Purpose: who may set webhooks must not reach what only this machine can: loopback, private and
 * link-local networks (clouds keep their metadata there), carrier-grade NAT, multicast, reserved
 * ranges, and the same inside of IPv6 addresses that carry an IPv4 one.
 *
 * Threads: pure. Memory: none.
 */
#ifndef STALLSYM_JOBS_NET_GUARD_H
#define STALLSYM_JOBS_NET_GUARD_H

#include <stdbool.h>
#include <sys/socket.h>

/* A public unicast address of IPv4 or IPv6; anything else, other families too, is not. */
bool net_guard_public(const struct sockaddr *address);

#endif
