/*
 * uuid - the 16 bytes an image is known by.
 *
 * Purpose: Mach-O LC_UUID; for ELF the first 16 bytes of the build-id in the little-endian form of
 * the first three fields; also, under image kinds other than IMAGE_UUID (see stack.h), a hash.
 *
 * Invariants: bytes are in the order they are printed in. All zeros is "nil" and equals nothing:
 * callers test uuid_is_nil() before a lookup.
 *
 * Threads, memory: a value.
 */
#ifndef STALLSYM_BASE_UUID_H
#define STALLSYM_BASE_UUID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define UUID_TEXT_SIZE 37 /* "0285884D-3DE9-3051-B23A-63B48BF99F35" and its NUL */

struct uuid {
    uint8_t bytes[16];
};

/* Any case, with or without dashes (dashes only in their places). False for anything else. */
bool uuid_parse(const char *text, size_t len, struct uuid *ret);
/* Upper case with dashes. Returns `out`. */
const char *uuid_format(const struct uuid *u, char out[UUID_TEXT_SIZE]);
bool uuid_is_nil(const struct uuid *u);
/* Asked for each frame of each stack. */
static inline bool uuid_equal(const struct uuid *a, const struct uuid *b)
{
    uint64_t x[2], y[2];
    memcpy(x, a, sizeof(x));
    memcpy(y, b, sizeof(y));
    return ((x[0] ^ y[0]) | (x[1] ^ y[1])) == 0;
}
static inline bool uuid_is_in(const struct uuid *list, size_t count, const struct uuid *u)
{
    for (size_t i = 0; i < count; i++) {
        if (uuid_equal(&list[i], u))
            return true;
    }
    return false;
}
int uuid_compare(const struct uuid *a, const struct uuid *b);
/* From an ELF build-id (GNU note), see above; shorter ids are padded with zeros. */
struct uuid uuid_from_build_id(const uint8_t *id, size_t len);

#endif
