#include "base/hmac.h"

#include <string.h>

#define BLOCK sizeof(((struct hmac_sha256 *)NULL)->outer_key)

void hmac_sha256_init(struct hmac_sha256 *h, const void *key, size_t key_len)
{
    uint8_t inner_key[BLOCK] = {0};
    if (key_len > BLOCK)
        sha256_of(key, key_len, inner_key);
    else if (key_len)
        memcpy(inner_key, key, key_len);
    for (size_t i = 0; i < BLOCK; i++) {
        h->outer_key[i] = inner_key[i] ^ 0x5c;
        inner_key[i] ^= 0x36;
    }
    sha256_init(&h->inner);
    sha256_update(&h->inner, inner_key, BLOCK);
}

void hmac_sha256_update(struct hmac_sha256 *h, const void *data, size_t len)
{
    sha256_update(&h->inner, data, len);
}

void hmac_sha256_final(struct hmac_sha256 *h, uint8_t out[SHA256_SIZE])
{
    struct sha256 outer;
    uint8_t digest[SHA256_SIZE];
    sha256_final(&h->inner, digest);
    sha256_init(&outer);
    sha256_update(&outer, h->outer_key, BLOCK);
    sha256_update(&outer, digest, sizeof(digest));
    sha256_final(&outer, out);
}

void hmac_sha256_of(const void *key, size_t key_len, const void *data, size_t len,
                    uint8_t out[SHA256_SIZE])
{
    struct hmac_sha256 h;
    hmac_sha256_init(&h, key, key_len);
    hmac_sha256_update(&h, data, len);
    hmac_sha256_final(&h, out);
}
