/*
 * bytes - a bounded cursor over bytes that nobody has checked yet.
 *
 * Purpose: the only way this project reads headers, sections, index files and encoded blobs.
 *
 * Invariants: `p <= end`, neither is NULL. A read past the end yields 0 and sets `overrun`; the
 * cursor then stands at the end. The flag sticks, so a record is read whole and checked once.
 *
 * Threads: a cursor is a value. Memory: borrows the bytes.
 */
#ifndef STALLSYM_BASE_BYTES_H
#define STALLSYM_BASE_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct cursor {
    const uint8_t *p;
    const uint8_t *end;
    bool overrun;
};

/* `data` may be NULL when `len` is 0. */
static inline struct cursor cursor_of(const void *data, size_t len)
{
    const uint8_t *p = data ? data : "";
    struct cursor c = {p, p + len, false};
    return c;
}

static inline size_t cursor_left(const struct cursor *c)
{
    return (size_t)(c->end - c->p);
}

/* `len` bytes, or NULL (and overrun). */
static inline const uint8_t *cursor_take(struct cursor *c, size_t len)
{
    if (len > cursor_left(c)) {
        c->overrun = true;
        c->p = c->end;
        return NULL;
    }
    const uint8_t *p = c->p;
    c->p += len;
    return p;
}

static inline bool cursor_skip(struct cursor *c, uint64_t len)
{
    if (len > cursor_left(c)) {
        c->overrun = true;
        c->p = c->end;
        return false;
    }
    c->p += len;
    return true;
}

static inline uint8_t cursor_u8(struct cursor *c)
{
    const uint8_t *p = cursor_take(c, 1);
    return p ? *p : 0;
}

/* Fixed-width integers; `swap` for files of the other byte order than the host's. */
static inline uint16_t cursor_u16(struct cursor *c, bool swap)
{
    uint16_t v = 0;
    const uint8_t *p = cursor_take(c, sizeof(v));
    if (p)
        memcpy(&v, p, sizeof(v));
    return swap ? __builtin_bswap16(v) : v;
}

static inline uint32_t cursor_u32(struct cursor *c, bool swap)
{
    uint32_t v = 0;
    const uint8_t *p = cursor_take(c, sizeof(v));
    if (p)
        memcpy(&v, p, sizeof(v));
    return swap ? __builtin_bswap32(v) : v;
}

static inline uint64_t cursor_u64(struct cursor *c, bool swap)
{
    uint64_t v = 0;
    const uint8_t *p = cursor_take(c, sizeof(v));
    if (p)
        memcpy(&v, p, sizeof(v));
    return swap ? __builtin_bswap64(v) : v;
}

/* LEB128 (DWARF 5 section 7.6). Bits past 64 are dropped; over-long encodings are read through. */
uint64_t cursor_uleb_slow(struct cursor *c);
int64_t cursor_sleb_slow(struct cursor *c);

static inline uint64_t cursor_uleb(struct cursor *c)
{
    const uint8_t *p = c->p;
    if (c->end - p >= 2) {
        if (p[0] < 0x80) {
            c->p = p + 1;
            return p[0];
        }
        if (p[1] < 0x80) {
            c->p = p + 2;
            return (uint64_t)(p[0] & 0x7f) | (uint64_t)p[1] << 7;
        }
        if (c->end - p >= 3 && p[2] < 0x80) {
            c->p = p + 3;
            return (uint64_t)(p[0] & 0x7f) | (uint64_t)(p[1] & 0x7f) << 7 | (uint64_t)p[2] << 14;
        }
    }
    return cursor_uleb_slow(c);
}

static inline int64_t cursor_sleb(struct cursor *c)
{
    if (c->p < c->end && *c->p < 0x80) {
        int64_t v = *c->p++;
        return v - ((v & 0x40) << 1);
    }
    return cursor_sleb_slow(c);
}

/* Steps over `count` of them. */
static inline void cursor_skip_lebs(struct cursor *c, uint64_t count)
{
    const uint8_t *p = c->p;
    while (count > 0 && p < c->end)
        count -= *p++ < 0x80;
    c->p = p;
    if (count > 0)
        c->overrun = true;
}

/* A NUL-terminated string inside the bytes; NULL (and overrun) when the NUL is missing. */
const char *cursor_cstr(struct cursor *c);

/* Part [off, off+len) of [data, data+size); false when it does not lie inside. */
bool bytes_slice(const void *data, uint64_t size, uint64_t off, uint64_t len, struct cursor *ret);

#endif
