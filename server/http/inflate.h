/*
 * inflate - compressed bodies in (gzip, zstd), compressed answers out (gzip).
 *
 * Purpose: a body is inflated as it comes, piece by piece, into the caller's buffer.
 *
 * Invariants: inflated bytes never pass `max_bytes` (ERR_LIMIT) nor, once INFLATE_RATIO_FROM bytes
 * came out, INFLATE_RATIO times what went in (ERR_LIMIT): a bomb is noticed long before the cap.
 * Several gzip members or zstd frames in a row are one body; a stream cut short is found by
 * inflate_end(); bytes after it are ERR_FORMAT. A zstd window above INFLATE_WINDOW_LOG is refused.
 *
 * Threads: one owner. Memory: inflate_new/inflate_free.
 */
#ifndef STALLSYM_HTTP_INFLATE_H
#define STALLSYM_HTTP_INFLATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"

#define INFLATE_RATIO      400
#define INFLATE_RATIO_FROM ((uint64_t)8 << 20)
#define INFLATE_WINDOW_LOG 23 /* 8 MB: what zstd -19 uses */

enum coding { CODING_NONE, CODING_GZIP, CODING_ZSTD };

/* The value of a Content-Encoding header; NULL, "" and "identity" are none. False: another one. */
bool coding_parse(const char *header, enum coding *ret);
/* Whether an Accept-Encoding header lets gzip through. */
bool coding_accepts_gzip(const char *header);

struct inflate;

enum err inflate_new(enum coding coding, uint64_t max_bytes, struct inflate **ret,
                     struct error *err);
void inflate_free(struct inflate *z);
/* Takes from `in`, puts at most `room` bytes to `out`. Call again while bytes are left or `out` was
 * filled. */
enum err inflate_step(struct inflate *z, const void *in, size_t in_len, size_t *ret_used, void *out,
                      size_t room, size_t *ret_out, struct error *err);
/* The body is over: ERR_FORMAT when its stream is not. */
enum err inflate_end(const struct inflate *z, struct error *err);

/* `in` as a gzip file, appended to `out`; false when it does not fit. */
bool deflate_gzip(const void *in, size_t len, struct buf *out);

#endif
