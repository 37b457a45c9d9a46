/*
 * text - C strings that may be missing.
 *
 * Purpose: whether two are the same, where most of those that are lie at one place and most of the
 * others begin with another letter: then neither is read.
 *
 * Threads: any. Memory: none.
 */
#ifndef STALLSYM_BASE_TEXT_H
#define STALLSYM_BASE_TEXT_H

#include <stdbool.h>
#include <string.h>

/* NULL is the same as NULL alone. */
static inline bool text_same(const char *a, const char *b)
{
    return a == b || (a && b && *a == *b && strcmp(a, b) == 0);
}

#endif
