/*
 * utf8 - is this text?
 *
 * Purpose: the one judge of well-formed UTF-8 (Unicode 15, table 3-7: no overlong forms, no
 * surrogates, nothing above U+10FFFF).
 *
 * Threads, memory: none.
 */
#ifndef STALLSYM_BASE_UTF8_H
#define STALLSYM_BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Length of the well-formed sequence at `s` of which `left` > 0 bytes are there; 0: none. */
size_t utf8_sequence(const void *s, size_t left);
bool utf8_valid(const void *s, size_t len);
/* How much of a valid text of more than `max` bytes fits into `max` without a sequence cut apart. */
size_t utf8_cut(const char *s, size_t max);
/* The bytes of a code point below 2^21; how many they are. */
size_t utf8_encode(uint32_t c, char out[4]);

#endif
