/*
 * text_span - a piece of a text, and reading it from its front.
 *
 * Purpose: foreign texts (crash logs, samples) are taken apart line by line without a copy.
 *
 * Invariants: never reads past `len`; bytes may be anything, NUL too. What consumes answers how many
 * bytes that were, 0 when there was nothing of the kind.
 *
 * Threads: values. Memory: borrows the text.
 */
#ifndef STALLSYM_INGEST_TEXT_SPAN_H
#define STALLSYM_INGEST_TEXT_SPAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct text_span {
    const char *s;
    size_t len;
};

#define TEXT_NOWHERE SIZE_MAX

struct text_span text_span_of(const char *s, size_t len);
/* From `at` on, and up to `at`; past the end there is nothing. */
struct text_span text_from(struct text_span t, size_t at);
struct text_span text_until(struct text_span t, size_t at);
/* Without blanks and tabs at both ends. */
struct text_span text_trim(struct text_span t);

bool text_starts(struct text_span t, const char *word);
bool text_ends(struct text_span t, const char *word);
bool text_is(struct text_span t, const char *word);
/* Where `word` stands first, or last; TEXT_NOWHERE. */
size_t text_find(struct text_span t, const char *word);
size_t text_find_last(struct text_span t, const char *word);
/* Where the parenthesis opens that the last byte of `t` closes. */
size_t text_opening(struct text_span t);

size_t text_blanks(struct text_span t);
/* "0x" and 1 to 16 digits, the next byte being none. */
size_t text_hex(struct text_span t, uint64_t *ret);
/* 1 to 18 decimal digits, the next byte being none. */
size_t text_number(struct text_span t, uint64_t *ret);

#endif
