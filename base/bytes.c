#include "base/bytes.h"

uint64_t cursor_uleb_slow(struct cursor *c)
{
    uint64_t v = 0;
    unsigned shift = 0;
    while (c->p < c->end) {
        uint8_t byte = *c->p++;
        if (shift < 64)
            v |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80))
            return v;
        shift = shift < 64 ? shift + 7 : shift;
    }
    c->overrun = true;
    return 0;
}

int64_t cursor_sleb_slow(struct cursor *c)
{
    uint64_t v = 0;
    unsigned shift = 0;
    while (c->p < c->end) {
        uint8_t byte = *c->p++;
        if (shift < 64)
            v |= (uint64_t)(byte & 0x7f) << shift;
        shift = shift < 64 ? shift + 7 : shift;
        if (!(byte & 0x80)) {
            if ((byte & 0x40) && shift < 64)
                v |= ~(uint64_t)0 << shift;
            return (int64_t)v;
        }
    }
    c->overrun = true;
    return 0;
}

const char *cursor_cstr(struct cursor *c)
{
    const uint8_t *nul = memchr(c->p, 0, cursor_left(c));
    if (!nul) {
        c->overrun = true;
        c->p = c->end;
        return NULL;
    }
    const char *s = (const char *)c->p;
    c->p = nul + 1;
    return s;
}

bool bytes_slice(const void *data, uint64_t size, uint64_t off, uint64_t len, struct cursor *ret)
{
    if (off > size || len > size - off)
        return false;
    *ret = cursor_of(data, (size_t)size);
    ret->p += off;
    ret->end = ret->p + len;
    return true;
}
