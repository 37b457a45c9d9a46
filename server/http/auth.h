/*
 * auth - tokens: who may do what.
 *
 * Purpose: a request's token against the set of known ones: scopes, and the app it is bound to.
 *
 * Invariants: only SHA-256 hashes of tokens are known here; every known hash is compared, each in
 * constant time. The admin scope holds every other one. Wrong tokens are counted by client address:
 * past AUTH_FAILURES_BURST of them (one is forgiven every AUTH_FAILURE_MS) further wrong ones from
 * there are told to wait. A token that is known always passes: it has 315 random bits, so what is
 * held back is load and noise, and nobody who shares an address with somebody who tries may be locked
 * out.
 *
 * Threads: any; a lock inside. Memory: auth_new/auth_free; an identity's bundle_id lives in the
 * caller's arena.
 */
#ifndef STALLSYM_HTTP_AUTH_H
#define STALLSYM_HTTP_AUTH_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "server/http/client_addr.h"
#include "storage/storage_read.h"

#define AUTH_TOKENS_MAX      4096
#define AUTH_TOKENS_SPARE    96 /* of them, for tokens made at the same moment */
#define AUTH_TOKEN_TEXT_MAX  512
#define AUTH_FAILURES_BURST  20
#define AUTH_FAILURE_MS      3000
#define AUTH_FAILURE_CLIENTS 4096 /* addresses remembered; the slot of the oldest is reused */

#define AUTH_TOKEN_SIZE 68 /* a new token's text: "sst_", 63 letters and digits, NUL */

struct auth;

struct auth_identity {
    uint64_t token_id; /* 0: no token was needed */
    uint32_t scopes;   /* admin spelt out */
    const char *bundle_id;
};

enum auth_result {
    AUTH_OK,
    AUTH_MISSING,   /* no token was sent */
    AUTH_WRONG,     /* not a known one */
    AUTH_THROTTLED, /* too many wrong ones from there */
};

struct auth *auth_new(void);
void auth_free(struct auth *a);
/* Before tokens are read for auth_set_tokens: a set that was read before a newer one was begun and
 * comes after it is passed over, else a revoked token could come back. */
uint64_t auth_begin_set(struct auth *a);
/* Replaces the set by the one read since `begun`. ERR_LIMIT: more than AUTH_TOKENS_MAX. */
enum err auth_set_tokens(struct auth *a, uint64_t begun, const struct token_row *tokens,
                         size_t count, struct error *err);
size_t auth_token_count(struct auth *a);

/* `authorization` and `own_header` (X-Stallsym-Token): the headers' values or NULL. */
enum auth_result auth_check(struct auth *a, const char *authorization, const char *own_header,
                            const struct client_addr *client, int64_t now_mono_ms,
                            struct arena *arena, struct auth_identity *ret);

/* Scope by name ("ingest", "symbols", "read", "admin"); 0: no such. And back, for one bit. */
uint32_t auth_scope_parse(const char *name);
const char *auth_scope_name(uint32_t scope);
/* "symbols or read"; a cut list when `size` is small. Returns `out`. */
const char *auth_scope_names(uint32_t scopes, char *out, size_t size);

/* A new random token. ERR_IO when the system gives no randomness. */
enum err auth_token_make(char out[AUTH_TOKEN_SIZE], struct error *err);

#endif
