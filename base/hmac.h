/*
 * hmac - HMAC-SHA256 (RFC 2104, FIPS 198-1) and base64 (RFC 4648), for signatures of webhooks.
 *
 * Threads: any. Memory: none, values only. Purpose: base64 goes into a buffer of the caller's.
 */
#ifndef STALLSYM_BASE_HMAC_H
#define STALLSYM_BASE_HMAC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/hash.h"

struct hmac_sha256 {
    struct sha256 inner;
    uint8_t outer_key[64];
};

void hmac_sha256_init(struct hmac_sha256 *h, const void *key, size_t key_len);
void hmac_sha256_update(struct hmac_sha256 *h, const void *data, size_t len);
void hmac_sha256_final(struct hmac_sha256 *h, uint8_t out[SHA256_SIZE]);
void hmac_sha256_of(const void *key, size_t key_len, const void *data, size_t len,
                    uint8_t out[SHA256_SIZE]);

/* With padding. */
bool buf_base64(struct buf *b, const void *data, size_t len);

#endif
