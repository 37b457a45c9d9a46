#include "symbolizer/demangle_rust_reader.h"

#include <inttypes.h>
#include <stdio.h>

#define DEPTH_MAX 200
#define STEPS_MAX 50000 /* grammar productions: back references can repeat work */

void rust_put(struct rust_reader *r, const char *s)
{
    if (!r->muted && !r->failed)
        demangle_puts(&r->out, s);
}

void rust_put_number(struct rust_reader *r, uint64_t v)
{
    char digits[24];
    snprintf(digits, sizeof(digits), "%" PRIu64, v);
    rust_put(r, digits);
}

void rust_put_identifier(struct rust_reader *r, const struct rust_identifier *id)
{
    if (r->muted || r->failed)
        return;
    if (!id->punycode)
        demangle_put(&r->out, id->bytes, id->len);
    else if (!demangle_put_punycode(&r->out, id->bytes, id->len))
        r->failed = true;
}

char rust_peek(const struct rust_reader *r)
{
    return r->c.p < r->c.end ? (char)*r->c.p : 0;
}

bool rust_take(struct rust_reader *r, char tag)
{
    if (r->c.p >= r->c.end || (char)*r->c.p != tag)
        return false;
    r->c.p++;
    return true;
}

char rust_next(struct rust_reader *r)
{
    char c = (char)cursor_u8(&r->c);
    if (c == 0)
        r->failed = true;
    return c;
}

uint64_t rust_base_62(struct rust_reader *r)
{
    uint64_t v = 0;
    if (rust_take(r, '_'))
        return 0;
    for (;;) {
        char c = rust_next(r);
        uint64_t d = 0;
        if (c == '_')
            break;
        if (c >= '0' && c <= '9')
            d = (uint64_t)(c - '0');
        else if (c >= 'a' && c <= 'z')
            d = (uint64_t)(c - 'a') + 10;
        else if (c >= 'A' && c <= 'Z')
            d = (uint64_t)(c - 'A') + 36;
        else
            r->failed = true;
        if (r->failed || __builtin_mul_overflow(v, 62, &v) || __builtin_add_overflow(v, d, &v)) {
            r->failed = true;
            return 0;
        }
    }
    if (v == UINT64_MAX)
        r->failed = true;
    return v + 1;
}

uint64_t rust_optional_base_62(struct rust_reader *r, char tag)
{
    return rust_take(r, tag) ? rust_base_62(r) + 1 : 0;
}

struct rust_identifier rust_plain_identifier(struct rust_reader *r)
{
    struct rust_identifier id = {0};
    id.punycode = rust_take(r, 'u');
    size_t len = 0;
    if (rust_peek(r) < '0' || rust_peek(r) > '9')
        r->failed = true;
    if (!rust_take(r, '0')) {
        while (!r->failed && rust_peek(r) >= '0' && rust_peek(r) <= '9') {
            len = len * 10 + (size_t)(rust_next(r) - '0');
            if (len > cursor_left(&r->c))
                r->failed = true;
        }
    }
    (void)rust_take(r, '_');
    const uint8_t *bytes = cursor_take(&r->c, len);
    if (!bytes) {
        r->failed = true;
        return id;
    }
    id.bytes = (const char *)bytes;
    id.len = len;
    return id;
}

struct rust_identifier rust_identifier(struct rust_reader *r)
{
    uint64_t disambiguator = rust_optional_base_62(r, 's');
    struct rust_identifier id = rust_plain_identifier(r);
    id.disambiguator = disambiguator;
    return id;
}

bool rust_enter(struct rust_reader *r)
{
    r->depth++;
    r->steps++;
    if (r->depth > DEPTH_MAX || r->steps > STEPS_MAX || r->c.overrun)
        r->failed = true;
    return !r->failed && !r->out.full;
}

void rust_leave(struct rust_reader *r)
{
    r->depth--;
}

bool rust_follow(struct rust_reader *r, struct cursor *ret_after)
{
    const uint8_t *start = (const uint8_t *)r->text;
    const uint8_t *here = r->c.p - 1;
    uint64_t to = rust_base_62(r);
    if (r->failed || to >= (uint64_t)(here - start)) {
        r->failed = true;
        return false;
    }
    *ret_after = r->c;
    r->c.p = start + to;
    return !r->muted;
}
