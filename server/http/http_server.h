/*
 * http_server - the door.
 *
 * Purpose: the only code that touches libmicrohttpd: accepts, reads headers and bodies under caps,
 * inflates, finds the route, checks the token, calls the handler, suspends and resumes.
 *
 * Invariants: a request is refused as early as can be: route, token, declared size, admission, then
 * the body. Every request gets an answer or a closed connection, and its memory is freed when the
 * library says that it is over. No handler waits for a disk or a query on a thread of the door.
 *
 * Threads: libmicrohttpd's pool. Memory: http_server_start/http_server_stop.
 */
#ifndef STALLSYM_HTTP_HTTP_SERVER_H
#define STALLSYM_HTTP_HTTP_SERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "server/http/services.h"

struct http_server;

struct http_options {
    int listen_fd; /* bound, of listen_socket.h */
    size_t threads;
    size_t connections;
    size_t connections_per_client;
    uint32_t timeout_s;
    size_t uploads;        /* received at a time; above it 503 */
    size_t body_bytes;     /* of any body but uploads, as received and inflated */
    uint64_t upload_bytes; /* of POST /v1/symbols */
    size_t buffered_bytes; /* bodies of all requests, and what they were read into; above it 503 */
    bool metrics_open;     /* /metrics without a token */
    const char *cors_origins; /* blank-separated, "" */
    const char *trusted_proxies;
    const char *tls_certificate; /* PEM files; "" or NULL: plain HTTP */
    const char *tls_key;
    const char *tls_priorities; /* "": TLS_PRIORITIES */
};

/* Takes listen_fd over, after an error too. */
enum err http_server_start(const struct http_options *options, const struct services *services,
                           struct http_server **ret, struct error *err);
uint16_t http_server_port(const struct http_server *s);
/* /readyz says no from now on. */
void http_server_quiesce(struct http_server *s);
/* No new requests; waits for running ones (at most `wait_ms`), resumes all, stops, frees. */
void http_server_stop(struct http_server *s, int64_t wait_ms);
/* Reads the tokens anew (start, and after a change). */
enum err http_server_reload_tokens(struct http_server *s, struct error *err);
/* Reads certificate and key anew; on failure the old ones stay. */
enum err http_server_reload_tls(struct http_server *s, struct error *err);

#endif
