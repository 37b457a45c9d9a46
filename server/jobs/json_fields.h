/*
 * json_fields - typed reads of the members of JSON objects.
 *
 * Purpose: whoever reads a document of somebody else's (report formats, requests, alert rules) says
 * what a member has to be; every refusal names its place.
 *
 * Invariants: a `struct fields` carries the path to where it is ("reports[7].stack[3]") and the
 * first thing that was wrong; after that every read fails, so a reader checks once. JSON null is
 * the same as a missing field. Texts come out without NUL and control characters or are refused.
 *
 * Threads: one document, one thread. Memory: texts borrow from the JSON tree unless said otherwise.
 */
#ifndef STALLSYM_JOBS_JSON_FIELDS_H
#define STALLSYM_JOBS_JSON_FIELDS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"

struct fields {
    struct arena *arena;
    bool failed;
    char path[160];
    char reason[160];
};

void fields_init(struct fields *f, struct arena *arena);
/* First refusal wins. `path` is printf-like. Always false. */
bool fields_refuse(struct fields *f, const char *reason, const char *path, ...)
    __attribute__((format(printf, 3, 4)));

/* `at` is the path of `object` ("" for a report itself); it is only printed on refusal. */
json_t *fields_get(json_t *object, const char *key);
/* Refuses members of `object` that are not in `known` (ended by NULL): a misspelt one must not mean
 * the same as a missing one. */
bool fields_known(struct fields *f, json_t *object, const char *at, const char *const *known);
/* NULL when missing or refused. Texts longer than `max` bytes are refused. */
const char *fields_text(struct fields *f, json_t *object, const char *at, const char *key,
                        size_t max);
/* The same for what people write: line breaks and tabs may be in it, but nothing that changes the
 * direction of what follows. */
const char *fields_prose(struct fields *f, json_t *object, const char *at, const char *key,
                         size_t max);
/* Numbers: integers, or reals that are finite. False when missing or refused. */
bool fields_number(struct fields *f, json_t *object, const char *at, const char *key, double min,
                   double max, double *ret);
/* 30 and 30.0, not 29.5. */
bool fields_int(struct fields *f, json_t *object, const char *at, const char *key, int64_t min,
                int64_t max, int64_t *ret);
/* What was measured: fractions are rounded. */
bool fields_rounded(struct fields *f, json_t *object, const char *at, const char *key, int64_t min,
                    int64_t max, int64_t *ret);
bool fields_bool(struct fields *f, json_t *object, const char *at, const char *key, bool *ret);
#define NOT_AN_ADDRESS "not an address: hexadecimal with 0x before it, or a whole number, is wanted"
/* An address or offset: "0x…" (either case), or an integer. */
bool fields_address(struct fields *f, json_t *object, const char *at, const char *key,
                    uint64_t *ret);
json_t *fields_array(struct fields *f, json_t *object, const char *at, const char *key);
json_t *fields_object(struct fields *f, json_t *object, const char *at, const char *key);

/* Value itself as an address (text, integer, or a real that is a whole number below 2^53); false
 * without refusing when it is none. */
bool json_address(const json_t *value, uint64_t *ret);
/* A whole number, 30 or 30.0; false without refusing when it is none. */
bool json_whole(const json_t *value, int64_t *ret);
bool hex_address(const char *text, size_t len, uint64_t *ret);
/* A text value that may be stored: no NUL, no control characters. */
bool json_clean_text(const json_t *value, size_t max);
/* The same of the name of a member. */
bool json_clean_key(const char *key, size_t len);
/* The text of such a value, NULL of any other: "read\0x" is not "read". */
const char *json_word(const json_t *value);

#endif
