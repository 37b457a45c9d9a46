/*
 * jout - JSON out, streamed into a buffer.
 *
 * Purpose: answers are printed, never built as trees. Keys are NULL inside arrays.
 *
 * Invariants: commas are this module's business. Strings that are no UTF-8 come out with U+FFFD;
 * numbers that are not finite, nil UUIDs and unset times come out as null. The buffer's own
 * `failed` says whether everything fitted.
 *
 * Threads: one owner. Memory: borrows the buffer.
 */
#ifndef STALLSYM_HTTP_JOUT_H
#define STALLSYM_HTTP_JOUT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/uuid.h"

struct jout {
    struct buf *b;
    bool comma; /* a value stands before the next one */
};

void jout_init(struct jout *j, struct buf *b);
void jout_object(struct jout *j, const char *key);
void jout_end_object(struct jout *j);
void jout_array(struct jout *j, const char *key);
void jout_end_array(struct jout *j);

void jout_null(struct jout *j, const char *key);
void jout_bool(struct jout *j, const char *key, bool v);
void jout_string(struct jout *j, const char *key, const char *s); /* NULL: null */
/* NULL and "": null. */
void jout_text(struct jout *j, const char *key, const char *s);
void jout_uint(struct jout *j, const char *key, uint64_t v);
void jout_int(struct jout *j, const char *key, int64_t v);
/* Negative: null. */
void jout_known(struct jout *j, const char *key, int64_t v);
void jout_double(struct jout *j, const char *key, double v);
void jout_hex(struct jout *j, const char *key, uint64_t v); /* "0x10011a2db" */
void jout_time(struct jout *j, const char *key,
               int64_t ms); /* INT64_MIN, INT64_MAX (last, first of none): null */
void jout_uuid(struct jout *j, const char *key, const struct uuid *); /* NULL, nil: null */
void jout_sha256(struct jout *j, const char *key, const uint8_t *digest);
/* JSON text that is already right. */
void jout_raw(struct jout *j, const char *key, const char *json);

#endif
