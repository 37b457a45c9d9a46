/*
 * listen_socket - the door's address, taken before anything is made.
 *
 * Purpose: who starts on an address that is in use must find out before it leaves files behind; who
 * checks a configuration, without taking it.
 *
 * Invariants: a bound socket that does not listen refuses connections: nobody waits for a daemon that
 * is not ready. A port that was named is nobody else's from then on; a free one could be taken by who
 * names it before it is open. Errors name address and port.
 *
 * Threads: any. Memory: a descriptor, the caller's to close.
 */
#ifndef STALLSYM_HTTP_LISTEN_SOCKET_H
#define STALLSYM_HTTP_LISTEN_SOCKET_H

#include <stdint.h>

#include "base/error.h"

/* `address` "" or NULL: all. `port` 0: a free one. */
enum err listen_socket_bind(const char *address, uint16_t port, int *ret, struct error *err);
/* Lets clients in; the port it has. */
enum err listen_socket_open(int fd, uint16_t *ret_port, struct error *err);
/* Is it an address, or a name that has one? ERR_INVALID: no. */
enum err listen_socket_check(const char *address, struct error *err);

#endif
