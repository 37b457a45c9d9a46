/*
 * hmac - HMAC-SHA256 (RFC 2104, FIPS 198-1).
 *
 * Purpose: signatures of webhooks. A key of any length, data in pieces or whole.
 *
 * Threads: a context has one owner. Memory: none, values only.
 */
#ifndef STALLSYM_BASE_HMAC_H
#define STALLSYM_BASE_HMAC_H

#include <stddef.h>
#include <stdint.h>

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

#endif
