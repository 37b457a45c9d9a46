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

#define BUF_NUMBER_MAX 10 /* bytes of a number of 64 bits in LEB128 */

struct buf {
    char *data;
    size_t len;
    size_t cap;
    size_t limit;
    bool failed;
    bool capped; /* failed by the limit, not by the machine */
};

void buf_init(struct buf *b, size_t limit);
void buf_done(struct buf *b);
/* Empties it and forgets a failure; the memory stays. */
void buf_clear(struct buf *b);
/* Back to what it was at `len` bytes; a failure since is forgotten. */
void buf_shorten(struct buf *b, size_t len);
/* The bytes, to be freed with free(); the buffer is empty afterwards. NULL when nothing is there. */
char *buf_take(struct buf *b, size_t *ret_len);

bool buf_put(struct buf *b, const void *data, size_t len);
bool buf_puts(struct buf *b, const char *s);
bool buf_putc(struct buf *b, char c);
bool buf_printf(struct buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Room for `len` more bytes; a pointer to write to before buf_grow(), NULL past the limit. */
char *buf_reserve(struct buf *b, size_t len);
static inline void buf_grow(struct buf *b, size_t len)
{
    b->len += len;
    b->data[b->len] = 0;
}

/* Where a number can be written without a question, all BUF_NUMBER_MAX bytes of it; NULL: ask. What
 * there is room for is within the limit. */
static inline uint8_t *buf_roomy(struct buf *b)
{
    return !b->failed && b->cap > b->len + BUF_NUMBER_MAX ? (uint8_t *)b->data + b->len : NULL;
}

/* LEB128, as DWARF 5 section 7.6 describes it. */
bool buf_uleb_slow(struct buf *b, uint64_t v);
bool buf_sleb(struct buf *b, int64_t v);

static inline bool buf_uleb(struct buf *b, uint64_t v)
{
    uint8_t *p = buf_roomy(b);
    if (!p)
        return buf_uleb_slow(b, v);
    size_t n = 0;
    for (; v >= 0x80; v >>= 7)
        p[n++] = (uint8_t)(v | 0x80);
    p[n++] = (uint8_t)v;
    buf_grow(b, n);
    return true;
}

/* Little endian. */
bool buf_le_slow(struct buf *b, uint64_t v, size_t n);

static inline bool buf_le(struct buf *b, uint64_t v, size_t n)
{
    uint8_t *p = buf_roomy(b);
    if (!p)
        return buf_le_slow(b, v, n);
    for (size_t i = 0; i < n; i++)
        p[i] = (uint8_t)(v >> (8 * i));
    buf_grow(b, n);
    return true;
}

static inline bool buf_u8(struct buf *b, uint8_t v)
{
    return buf_le(b, v, 1);
}

static inline bool buf_u16(struct buf *b, uint16_t v)
{
    return buf_le(b, v, 2);
}

static inline bool buf_u32(struct buf *b, uint32_t v)
{
    return buf_le(b, v, 4);
}

static inline bool buf_u64(struct buf *b, uint64_t v)
{
    return buf_le(b, v, 8);
}

/* A JSON string with its quotes; control characters, quotes and backslashes escaped, bytes that are
 * no UTF-8 replaced by U+FFFD. NULL prints null. */
bool buf_json_string(struct buf *b, const char *s);
bool buf_json_stringn(struct buf *b, const char *s, size_t len);

#endif
