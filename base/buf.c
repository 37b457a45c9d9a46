#include "base/buf.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"

void buf_init(struct buf *b, size_t limit)
{
    memset(b, 0, sizeof(*b));
    b->limit = limit;
}

void buf_done(struct buf *b)
{
    if (!b)
        return;
    free(b->data);
    b->data = NULL;
    b->len = b->cap = 0;
}

void buf_clear(struct buf *b)
{
    b->len = 0;
    b->failed = false;
    b->capped = false;
    if (b->data)
        b->data[0] = 0;
}

char *buf_take(struct buf *b, size_t *ret_len)
{
    char *data = b->data;
    if (ret_len)
        *ret_len = b->len;
    b->data = NULL;
    b->len = b->cap = 0;
    return data;
}

void buf_shorten(struct buf *b, size_t len)
{
    b->len = len;
    b->failed = b->capped = false;
    if (b->data)
        b->data[len] = 0;
}

char *buf_reserve(struct buf *b, size_t len)
{
    if (b->failed || len > b->limit - b->len) {
        b->capped = b->capped || !b->failed;
        b->failed = true;
        return NULL;
    }
    size_t need = b->len + len + 1;
    if (need > b->cap) {
        size_t cap = b->cap ? b->cap : 256;
        while (cap < need)
            cap = cap > SIZE_MAX / 2 ? need : cap * 2;
        if (cap > b->limit + 1)
            cap = b->limit + 1;
        char *data = realloc(b->data, cap);
        if (!data) {
            b->failed = true;
            return NULL;
        }
        b->data = data;
        b->cap = cap;
    }
    return b->data + b->len;
}

bool buf_put(struct buf *b, const void *data, size_t len)
{
    char *p = buf_reserve(b, len);
    if (!p)
        return false;
    if (len)
        memcpy(p, data, len);
    buf_grow(b, len);
    return true;
}

bool buf_puts(struct buf *b, const char *s)
{
    return buf_put(b, s, strlen(s));
}

bool buf_putc(struct buf *b, char c)
{
    return buf_put(b, &c, 1);
}

bool buf_printf(struct buf *b, const char *fmt, ...)
{
    va_list ap;
    char small[256];
    va_start(ap, fmt);
    int n = vsnprintf(small, sizeof(small), fmt, ap);
    va_end(ap);
    if (n < 0) {
        b->failed = true;
        return false;
    }
    if ((size_t)n < sizeof(small))
        return buf_put(b, small, (size_t)n);
    char *p = buf_reserve(b, (size_t)n);
    if (!p)
        return false;
    va_start(ap, fmt);
    vsnprintf(p, (size_t)n + 1, fmt, ap);
    va_end(ap);
    buf_grow(b, (size_t)n);
    return true;
}

bool buf_uleb_slow(struct buf *b, uint64_t v)
{
    uint8_t bytes[BUF_NUMBER_MAX];
    size_t n = 0;
    for (; v >= 0x80; v >>= 7)
        bytes[n++] = (uint8_t)(v | 0x80);
    bytes[n++] = (uint8_t)v;
    return buf_put(b, bytes, n);
}

bool buf_sleb(struct buf *b, int64_t v)
{
    uint8_t bytes[BUF_NUMBER_MAX];
    uint8_t *room = buf_roomy(b);
    uint8_t *p = room ? room : bytes;
    size_t n = 0;
    for (bool more = true; more;) {
        uint8_t byte = v & 0x7f;
        v >>= 7;
        more = !((v == 0 && !(byte & 0x40)) || (v == -1 && (byte & 0x40)));
        p[n++] = (uint8_t)(byte | (more ? 0x80 : 0));
    }
    if (!room)
        return buf_put(b, bytes, n);
    buf_grow(b, n);
    return true;
}

bool buf_le_slow(struct buf *b, uint64_t v, size_t n)
{
    uint8_t bytes[BUF_NUMBER_MAX];
    for (size_t i = 0; i < n; i++)
        bytes[i] = (uint8_t)(v >> (8 * i));
    return buf_put(b, bytes, n);
}

static inline bool json_plain(unsigned char c)
{
    return c >= 0x20 && c < 0x7f && c != '"' && c != '\\';
}

bool buf_json_stringn(struct buf *b, const char *s, size_t len)
{
    const unsigned char *p = (const unsigned char *)s;
    buf_putc(b, '"');
    size_t plain = 0; /* bytes before i that go out as they are */
    size_t i = 0;
    while (i < len) {
        /* Nearly all of nearly every text. */
        while (i < len && json_plain(p[i])) {
            i++;
            plain++;
        }
        if (i == len)
            break;
        size_t n = 1;
        char esc[8];
        if (p[i] >= 0x20 && p[i] != '"' && p[i] != '\\' && p[i] != 0x7f) {
            n = utf8_sequence(p + i, len - i);
            if (n) {
                i += n;
                plain += n;
                continue;
            }
            n = 1;
            snprintf(esc, sizeof(esc), "\\ufffd");
        } else if (p[i] == '"' || p[i] == '\\') {
            snprintf(esc, sizeof(esc), "\\%c", p[i]);
        } else if (p[i] == '\n') {
            snprintf(esc, sizeof(esc), "\\n");
        } else {
            snprintf(esc, sizeof(esc), "\\u%04x", p[i]);
        }
        buf_put(b, s + i - plain, plain);
        plain = 0;
        buf_puts(b, esc);
        i += n;
    }
    buf_put(b, s + i - plain, plain);
    return buf_putc(b, '"');
}

bool buf_json_string(struct buf *b, const char *s)
{
    if (!s)
        return buf_puts(b, "null");
    return buf_json_stringn(b, s, strlen(s));
}
