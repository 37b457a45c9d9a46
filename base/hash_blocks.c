#include "base/hash_blocks.h"

#include <string.h>
#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#endif

static const uint32_t K[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static inline uint32_t ror(uint32_t x, unsigned n)
{
    return x >> n | x << (32 - n);
}

static void compress(uint32_t state[8], const uint8_t *p)
{
    uint32_t w[64];
    for (size_t i = 0; i < 16; i++) {
        uint32_t v;
        memcpy(&v, p + 4 * i, sizeof(v));
        w[i] = __builtin_bswap32(v);
    }
    for (size_t i = 16; i < 64; i++) {
        uint32_t s0 = ror(w[i - 15], 7) ^ ror(w[i - 15], 18) ^ w[i - 15] >> 3;
        uint32_t s1 = ror(w[i - 2], 17) ^ ror(w[i - 2], 19) ^ w[i - 2] >> 10;
        w[i] = w[i - 16] + s0 + w[i - 7] + s1;
    }
    uint32_t a = state[0], b = state[1], c = state[2], d = state[3];
    uint32_t e = state[4], f = state[5], g = state[6], h = state[7];
    for (size_t i = 0; i < 64; i++) {
        uint32_t t1 =
            h + (ror(e, 6) ^ ror(e, 11) ^ ror(e, 25)) + ((e & f) ^ (~e & g)) + K[i] + w[i];
        uint32_t t2 = (ror(a, 2) ^ ror(a, 13) ^ ror(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
        h = g;
        g = f;
        f = e;
        e = d + t1;
        d = c;
        c = b;
        b = a;
        a = t1 + t2;
    }
    state[0] += a;
    state[1] += b;
    state[2] += c;
    state[3] += d;
    state[4] += e;
    state[5] += f;
    state[6] += g;
    state[7] += h;
}

void hash_blocks_portable(uint32_t state[8], const uint8_t *p, size_t count)
{
    for (; count > 0; count--, p += HASH_BLOCK_SIZE)
        compress(state, p);
}

#if defined(__x86_64__)

#define CPUID_1_ECX_SSSE3  (1u << 9)
#define CPUID_1_ECX_SSE4_1 (1u << 19)
#define CPUID_7_EBX_SHA    (1u << 29)

static int have_sha(void)
{
    unsigned a, b, c, d;
    const unsigned need = CPUID_1_ECX_SSSE3 | CPUID_1_ECX_SSE4_1;
    if (!__get_cpuid(1, &a, &b, &c, &d) || (c & need) != need)
        return 0;
    return __get_cpuid_count(7, 0, &a, &b, &c, &d) && (b & CPUID_7_EBX_SHA);
}

/* The processor wants the state as (a, b, e, f) and (c, d, g, h), highest first, and does two
 * rounds at a time; `w` holds the last sixteen words of the schedule. */
__attribute__((target("sha,sse4.1,ssse3"))) static void
hash_blocks_sha(uint32_t state[8], const uint8_t *p, size_t count)
{
    const __m128i big_endian = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
    __m128i low = _mm_shuffle_epi32(_mm_loadu_si128((const __m128i *)(const void *)state), 0xb1);
    __m128i high =
        _mm_shuffle_epi32(_mm_loadu_si128((const __m128i *)(const void *)(state + 4)), 0x1b);
    __m128i abef = _mm_alignr_epi8(low, high, 8);
    __m128i cdgh = _mm_blend_epi16(high, low, 0xf0);
    for (; count > 0; count--, p += HASH_BLOCK_SIZE) {
        const __m128i abef_before = abef;
        const __m128i cdgh_before = cdgh;
        __m128i w[4];
#pragma GCC unroll 16
        for (size_t i = 0; i < 16; i++) {
            const __m128i *from = (const __m128i *)(const void *)p;
            if (i < 4) {
                w[i] = _mm_shuffle_epi8(_mm_loadu_si128(from + i), big_endian);
            } else {
                __m128i sum = _mm_sha256msg1_epu32(w[i % 4], w[(i + 1) % 4]);
                sum = _mm_add_epi32(sum, _mm_alignr_epi8(w[(i + 3) % 4], w[(i + 2) % 4], 4));
                w[i % 4] = _mm_sha256msg2_epu32(sum, w[(i + 3) % 4]);
            }
            const __m128i *k = (const __m128i *)(const void *)(K + 4 * i);
            __m128i m = _mm_add_epi32(w[i % 4], _mm_loadu_si128(k));
            cdgh = _mm_sha256rnds2_epu32(cdgh, abef, m);
            abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32(m, 0x0e));
        }
        abef = _mm_add_epi32(abef, abef_before);
        cdgh = _mm_add_epi32(cdgh, cdgh_before);
    }
    low = _mm_shuffle_epi32(abef, 0x1b);  /* f, e, b, a from the top */
    high = _mm_shuffle_epi32(cdgh, 0xb1); /* d, c, h, g */
    _mm_storeu_si128((__m128i *)(void *)state, _mm_blend_epi16(low, high, 0xf0));
    _mm_storeu_si128((__m128i *)(void *)(state + 4), _mm_alignr_epi8(high, low, 8));
}

#endif

typedef void blocks_function(uint32_t state[8], const uint8_t *p, size_t count);

static blocks_function *choose(void)
{
#if defined(__x86_64__)
    if (have_sha())
        return hash_blocks_sha;
#endif
    return hash_blocks_portable;
}

void hash_blocks(uint32_t state[8], const uint8_t *p, size_t count)
{
    /* Two threads that come here first find the same. */
    static blocks_function *chosen;
    blocks_function *f = __atomic_load_n(&chosen, __ATOMIC_RELAXED);
    if (!f) {
        f = choose();
        __atomic_store_n(&chosen, f, __ATOMIC_RELAXED);
    }
    f(state, p, count);
}
