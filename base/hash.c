#include "base/hash.h"

#include <string.h>

#include "base/hash_blocks.h"

void sha256_init(struct sha256 *s)
{
    static const uint32_t first[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                      0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    memcpy(s->state, first, sizeof(first));
    s->length = 0;
}

void sha256_update(struct sha256 *s, const void *data, size_t len)
{
    const uint8_t *p = data;
    size_t have = s->length % sizeof(s->block);
    s->length += len;
    if (have) {
        size_t want = sizeof(s->block) - have;
        size_t n = len < want ? len : want;
        memcpy(s->block + have, p, n);
        if (n < want)
            return;
        hash_blocks(s->state, s->block, 1);
        p += n;
        len -= n;
    }
    if (len >= sizeof(s->block))
        hash_blocks(s->state, p, len / sizeof(s->block));
    if (len % sizeof(s->block))
        memcpy(s->block, p + len - len % sizeof(s->block), len % sizeof(s->block));
}

void sha256_final(struct sha256 *s, uint8_t out[SHA256_SIZE])
{
    uint64_t bits = __builtin_bswap64(s->length * 8);
    size_t have = s->length % sizeof(s->block);
    uint8_t pad[72] = {0x80};
    sha256_update(s, pad, (have < 56 ? 56 : 120) - have);
    sha256_update(s, &bits, sizeof(bits));
    for (size_t i = 0; i < 8; i++) {
        uint32_t v = __builtin_bswap32(s->state[i]);
        memcpy(out + 4 * i, &v, sizeof(v));
    }
}

void sha256_of(const void *data, size_t len, uint8_t out[SHA256_SIZE])
{
    struct sha256 s;
    sha256_init(&s);
    sha256_update(&s, data, len);
    sha256_final(&s, out);
}

const char *sha256_format(const uint8_t digest[SHA256_SIZE], char out[SHA256_TEXT_SIZE])
{
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < SHA256_SIZE; i++) {
        out[2 * i] = digits[digest[i] >> 4];
        out[2 * i + 1] = digits[digest[i] & 15];
    }
    out[SHA256_TEXT_SIZE - 1] = 0;
    return out;
}

bool sha256_parse(const char *text, uint8_t ret[SHA256_SIZE])
{
    static const char digits[] = "0123456789abcdef";
    uint8_t digest[SHA256_SIZE] = {0};
    if (strlen(text) != SHA256_TEXT_SIZE - 1)
        return false;
    for (size_t i = 0; i < 2 * SHA256_SIZE; i++) {
        const char *at = strchr(digits, text[i]);
        if (!at)
            return false;
        digest[i / 2] = (uint8_t)(digest[i / 2] << 4 | (at - digits));
    }
    memcpy(ret, digest, SHA256_SIZE);
    return true;
}

static inline uint64_t mix_word(uint64_t h, const uint8_t *p)
{
    uint64_t w;
    memcpy(&w, p, sizeof(w));
    h = (h ^ w) * 0x9e3779b97f4a7c15u;
    return h ^ h >> 29;
}

uint64_t hash64(const void *data, size_t len, uint64_t seed)
{
    const uint8_t *p = data;
    uint64_t h = (0xcbf29ce484222325u ^ seed) + len * 0xd6e8feb86659fd93u;
    size_t at = 0;
    for (; len - at >= 8; at += 8)
        h = mix_word(h, p + at);
    /* What is left is taken with what stands before it, where that makes a word. */
    if (at < len && len >= 8)
        h = mix_word(h, p + len - 8);
    for (; len < 8 && at < len; at++)
        h = (h ^ p[at]) * 0x100000001b3u;
    h ^= h >> 32;
    h *= 0xd6e8feb86659fd93u;
    h ^= h >> 32;
    return h;
}

double hash_share(const uint8_t *digest)
{
    uint64_t v = 0;
    for (int i = 0; i < 8; i++)
        v = v << 8 | digest[i];
    return (double)(v >> 11) / (double)(UINT64_C(1) << 53);
}
