/*
 * fuzz - what the fuzz targets share.
 *
 * Purpose: the entry that libFuzzer and replay_main call, and a check that ends the program, naming
 * the place.
 *
 * Threads: one. Memory: none.
 */
#ifndef STALLSYM_TESTS_FUZZ_H
#define STALLSYM_TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define REQUIRE(what)                                                                              \
    do {                                                                                           \
        if (!(what)) {                                                                             \
            fprintf(stderr, "%s:%d: does not hold: %s\n", __FILE__, __LINE__, #what);              \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

/* Equal texts, NULL being equal to NULL alone. */
static inline int same_text(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

#endif
