/*
 * buf - a growing byte buffer with a hard cap.
 *
 * Purpose: request bodies, JSON output, encoded blobs.
 *
 * Invariants: never longer than `limit`. Errors stick: after the first failed append every other
 * append fails too and `failed` is set, so a writer checks once at the end. There is always a NUL
 * after the last byte once anything was appended (not counted in `len`).
 *
 * Threads: one owner. Memory: buf_done() frees; buf_take() hands the bytes to the caller (free()).
 */
#ifndef STALLSYM_BASE_BUF_H
#define STALLSYM_BASE_BUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf {
    char *data;
    size_t len;
    size_t cap;
    size_t limit;
    bool failed;
};

void buf_init(struct buf *b, size_t limit);
void buf_done(struct buf *b);
/* Empties it and forgets a failure; the memory stays. */
void buf_clear(struct buf *b);
/* The bytes, to be freed with free(); the buffer is empty afterwards. NULL when nothing is there. */
char *buf_take(struct buf *b, size_t *ret_len);

bool buf_put(struct buf *b, const void *data, size_t len);
bool buf_puts(struct buf *b, const char *s);
bool buf_putc(struct buf *b, char c);
bool buf_printf(struct buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Room for `len` more bytes; a pointer to write to before buf_grow(), NULL past the limit. */
char *buf_reserve(struct buf *b, size_t len);
void buf_grow(struct buf *b, size_t len);

/* LEB128, as DWARF 5 section 7.6 describes it. */
bool buf_uleb(struct buf *b, uint64_t v);
bool buf_sleb(struct buf *b, int64_t v);
/* Little endian. */
bool buf_u8(struct buf *b, uint8_t v);
bool buf_u16(struct buf *b, uint16_t v);
bool buf_u32(struct buf *b, uint32_t v);
bool buf_u64(struct buf *b, uint64_t v);

/* A JSON string with its quotes; control characters, quotes and backslashes escaped, bytes that are
 * no UTF-8 replaced by U+FFFD. NULL prints null. */
bool buf_json_string(struct buf *b, const char *s);
bool buf_json_stringn(struct buf *b, const char *s, size_t len);

#endif
