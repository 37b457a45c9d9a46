/*
 * tls - the door's certificate and key.
 *
 * Purpose: reads both, says in words what is wrong with them, and hands them to each new connection;
 * a reload (SIGHUP) puts renewed ones in force without a restart.
 *
 * Invariants: what is in force fits together (the key is the certificate's) and was valid when it was
 * read; a reload that fails leaves the old ones in force. A key file that others than its owner and
 * group may read is refused. The library's callback has no argument of ours, so one door in a process
 * can serve TLS.
 *
 * Threads: any; a lock inside. Memory: tls_start/tls_stop; a replaced pair lives on for
 * TLS_RETIRED_MS, for handshakes under way.
 */
#ifndef STALLSYM_HTTP_TLS_H
#define STALLSYM_HTTP_TLS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

#define TLS_FILE_MAX   ((size_t)1 << 20)
#define TLS_CHAIN_MAX  16
#define TLS_RETIRED_MS ((int64_t)600000)
/* TLS 1.2 and 1.3, nothing without forward secrecy, no CBC. */
#define TLS_PRIORITIES                                                                             \
    "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2:-RSA:-DHE-RSA:-CIPHER-ALL:+AES-256-GCM:"           \
    "+AES-128-GCM:+CHACHA20-POLY1305"

/* The three of [tls], as they are given (NULL is empty); without certificate and key *ret_on is false.
 * `wall_ms`: for the certificate's dates. After an error there is nothing to stop. */
enum err tls_start(const char *certificate, const char *key, const char *priorities,
                   int64_t wall_ms, bool *ret_on, struct error *err);
enum err tls_reload(int64_t wall_ms, int64_t mono_ms, struct error *err);
void tls_stop(void);
/* gnutls_certificate_retrieve_function2, for MHD_OPTION_HTTPS_CERT_CALLBACK. */
void *tls_callback(void);
/* For a new connection's gnutls_session_t, before its first byte: a client that speaks HTTP without
 * TLS is answered 400, saying so, and its handshake fails. */
void tls_watch(void *session);

#endif
