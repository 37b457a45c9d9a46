/*
 * gsym_sink - a file written from front to back, with one hole.
 *
 * Purpose: the index is written as it is made, so that it never lies in memory as a whole: first
 * the room of the head (header and tables, whose contents are known last), then the body in
 * pieces, then the head into its place.
 *
 * Invariants: `crc` is that of the body; gsym_sink_finish joins it with the head's. Errors stick:
 * the first one is kept and given by gsym_sink_finish; nothing is left at the path then.
 *
 * Threads: one owner. Memory: gsym_sink_abort or gsym_sink_finish give all back.
 */
#ifndef STALLSYM_SYMBOLIZER_GSYM_SINK_H
#define STALLSYM_SYMBOLIZER_GSYM_SINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"

struct gsym_sink {
    const char *path; /* borrowed */
    int fd;
    struct buf piece;  /* not written yet */
    uint64_t flushed;  /* bytes of the body in the file */
    uint64_t head_len; /* room left in front */
    uint32_t crc;
    struct error error; /* code ERR_OK: none so far */
};

/* Creates the file; `head_len` bytes are left in front. ERR_INVALID, and nothing touched, where
 * something other than a regular file has that name. */
enum err gsym_sink_open(struct gsym_sink *s, const char *path, uint64_t head_len,
                        struct error *err);
/* Where the next byte appended to `piece` will stand in the file. */
uint64_t gsym_sink_at(const struct gsym_sink *s);
/* Appends zeros up to a multiple of `to`. */
void gsym_sink_align(struct gsym_sink *s, size_t to);
/* Writes `piece` out when it is large; call it where nothing in it will be changed any more. */
void gsym_sink_flush(struct gsym_sink *s);
/* Appends bytes without a copy where they are many. */
void gsym_sink_put(struct gsym_sink *s, const void *data, size_t len);
/* CRC-32 of head and body as they would stand in the file. */
uint32_t gsym_sink_crc(struct gsym_sink *s, const struct buf *head);
/* Writes the rest and the head, closes. */
enum err gsym_sink_finish(struct gsym_sink *s, const struct buf *head, uint64_t *ret_bytes,
                          struct error *err);
/* Closes and removes the file; nothing after gsym_sink_finish. */
void gsym_sink_abort(struct gsym_sink *s);

#endif
