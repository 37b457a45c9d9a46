/*
 * hash - the two hashes of this project.
 *
 * Purpose: SHA-256 (FIPS 180-4) where a stranger chooses the bytes and a collision would lose or
 * mix data: report ids, stacks, cluster keys, uploads, tokens. hash64 (multiplied by words)
 * for tables in memory only; it is never stored, and tables that hold values of strangers take a
 * random `seed`.
 *
 * Threads: a context has one owner. Memory: none.
 */
#ifndef STALLSYM_BASE_HASH_H
#define STALLSYM_BASE_HASH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SHA256_SIZE      32
#define SHA256_TEXT_SIZE 65

struct sha256 {
    uint32_t state[8];
    uint64_t length; /* bytes so far */
    uint8_t block[64];
};

void sha256_init(struct sha256 *s);
void sha256_update(struct sha256 *s, const void *data, size_t len);
void sha256_final(struct sha256 *s, uint8_t out[SHA256_SIZE]);
void sha256_of(const void *data, size_t len, uint8_t out[SHA256_SIZE]);
/* Lower-case hexadecimal. Returns `out`. */
const char *sha256_format(const uint8_t digest[SHA256_SIZE], char out[SHA256_TEXT_SIZE]);
/* The other way round; false: it is none. */
bool sha256_parse(const char *text, uint8_t ret[SHA256_SIZE]);

/* The first 8 bytes of a digest as a number from 0 up to, but not, 1: which share of all it is in. */
double hash_share(const uint8_t *digest);

uint64_t hash64(const void *data, size_t len, uint64_t seed);

#endif
