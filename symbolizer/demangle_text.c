#include "symbolizer/demangle_parts.h"

#include <string.h>

#include "base/utf8.h"

#define WIDE_MAX 256 /* characters of one Punycode identifier */

static const char ELLIPSIS[] = "\xe2\x80\xa6";

void demangle_out_init(struct demangle_out *o, char *data, size_t size)
{
    o->data = data;
    o->size = size;
    o->len = 0;
    o->full = size == 0;
    if (size > 0)
        data[0] = 0;
}

void demangle_put(struct demangle_out *o, const char *s, size_t len)
{
    if (o->full)
        return;
    size_t room = o->size - 1 - o->len;
    if (len > room) {
        len = room;
        o->full = true;
    }
    memcpy(o->data + o->len, s, len);
    o->len += len;
}

void demangle_puts(struct demangle_out *o, const char *s)
{
    demangle_put(o, s, strlen(s));
}

void demangle_out_end(struct demangle_out *o)
{
    size_t mark = sizeof(ELLIPSIS) - 1;
    if (o->size == 0)
        return;
    if (o->full && o->size > mark) {
        size_t at = o->len < o->size - 1 - mark ? o->len : o->size - 1 - mark;
        while (at > 0 && ((unsigned char)o->data[at] & 0xc0) == 0x80)
            at--;
        memcpy(o->data + at, ELLIPSIS, mark);
        o->len = at + mark;
    }
    o->data[o->len] = 0;
}

/* --- characters ---------------------------------------------------------------------------- */

bool demangle_is_scalar(uint64_t c)
{
    return c <= 0x10ffff && (c < 0xd800 || c > 0xdfff);
}

/* --- Punycode (RFC 3492, with "_" for "-") -------------------------------------------------- */

static uint64_t adapt(uint64_t delta, uint64_t points, bool first)
{
    uint64_t k = 0;
    delta = first ? delta / 700 : delta / 2;
    delta += delta / points;
    while (delta > (36 - 1) * 26 / 2) {
        delta /= 36 - 1;
        k += 36;
    }
    return k + (36 - 1 + 1) * delta / (delta + 38);
}

/* One generalised variable-length integer; false at the end or at a wrong digit. */
static bool punycode_integer(const char *s, size_t len, size_t *at, uint64_t bias, uint64_t *ret)
{
    uint64_t w = 1;
    for (uint64_t k = 36;; k += 36) {
        uint64_t t = k <= bias ? 1 : k >= bias + 26 ? 26 : k - bias;
        uint64_t d;
        if (*at >= len)
            return false;
        char c = s[(*at)++];
        if (c >= 'a' && c <= 'z')
            d = (uint64_t)(c - 'a');
        else if (c >= '0' && c <= '9')
            d = (uint64_t)(c - '0') + 26;
        else
            return false;
        *ret += d * w;
        if (d < t)
            return true;
        w *= 36 - t;
        if (w > UINT32_MAX)
            return false;
    }
}

static size_t punycode_decode(const char *s, size_t len, uint32_t out[WIDE_MAX])
{
    size_t count = 0;
    size_t at = 0;
    for (size_t i = len; i > 0 && at == 0; i--) {
        if (s[i - 1] == '_')
            at = i;
    }
    for (size_t i = 0; i + 1 < at && count < WIDE_MAX; i++)
        out[count++] = (unsigned char)s[i];
    uint64_t n = 0x80;
    uint64_t bias = 72;
    uint64_t i = 0;
    while (at < len) {
        uint64_t before = i;
        if (!punycode_integer(s, len, &at, bias, &i) || count >= WIDE_MAX)
            return 0;
        bias = adapt(i - before, count + 1, before == 0);
        n += i / (count + 1);
        i %= count + 1;
        if (!demangle_is_scalar(n))
            return 0;
        memmove(out + i + 1, out + i, (count - (size_t)i) * sizeof(*out));
        out[i++] = (uint32_t)n;
        count++;
    }
    return count;
}

bool demangle_put_punycode(struct demangle_out *o, const char *s, size_t len)
{
    uint32_t wide[WIDE_MAX];
    size_t count = punycode_decode(s, len, wide);
    for (size_t i = 0; i < count; i++) {
        char bytes[4];
        demangle_put(o, bytes, utf8_encode(wide[i], bytes));
    }
    return count > 0;
}
