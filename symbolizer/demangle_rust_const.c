/* Constants as generic arguments in Rust names (demangle_rust_reader.h). */
#include "symbolizer/demangle_rust_reader.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"

/* Hexadecimal digits up to "_". */
static bool hex_constant(struct rust_reader *r, uint64_t *ret, const char **ret_digits,
                         size_t *ret_len)
{
    const char *digits = (const char *)r->c.p;
    uint64_t v = 0;
    size_t len = 0;
    for (char c; (c = rust_next(r)) != '_' && !r->failed; len++) {
        bool decimal = c >= '0' && c <= '9';
        if (!decimal && !(c >= 'a' && c <= 'f'))
            r->failed = true;
        v = v << 4 | (uint64_t)(decimal ? c - '0' : c - 'a' + 10);
    }
    *ret = v;
    *ret_digits = digits;
    *ret_len = len;
    return !r->failed;
}

static void put_char(struct rust_reader *r, uint64_t v)
{
    char bytes[5] = {0};
    if (!demangle_is_scalar(v)) {
        r->failed = true;
        return;
    }
    static const struct {
        uint32_t c;
        const char *escape;
    } escapes[] = {{0, "\\0"},    {'\t', "\\t"}, {'\n', "\\n"},
                   {'\r', "\\r"}, {'\'', "\\'"}, {'\\', "\\\\"}};
    rust_put(r, "'");
    (void)utf8_encode((uint32_t)v, bytes);
    const char *text = bytes;
    for (size_t i = 0; i < sizeof(escapes) / sizeof(escapes[0]); i++) {
        if (escapes[i].c == v)
            text = escapes[i].escape;
    }
    if (text == bytes && (v < 0x20 || v == 0x7f)) {
        char number[16];
        snprintf(number, sizeof(number), "\\u{%" PRIx64 "}", v);
        rust_put(r, number);
    } else {
        rust_put(r, text);
    }
    rust_put(r, "'");
}

static void put_value(struct rust_reader *r, char type)
{
    uint64_t v;
    const char *digits;
    size_t len;
    bool is_signed = strchr("ailnsx", type) != NULL;
    if (is_signed && rust_take(r, 'n'))
        rust_put(r, "-");
    if (!hex_constant(r, &v, &digits, &len))
        return;
    if (type == 'b' && v <= 1) {
        rust_put(r, v ? "true" : "false");
    } else if (type == 'c') {
        put_char(r, v);
    } else if (type == 'b') {
        r->failed = true;
    } else if (len > 16) {
        rust_put(r, "0x");
        for (size_t i = 0; i < len; i++)
            rust_put(r, (char[]){digits[i], 0});
    } else {
        rust_put_number(r, v);
    }
}

void rust_put_const(struct rust_reader *r)
{
    struct cursor after;
    if (rust_enter(r)) {
        char tag = rust_next(r);
        if (tag == 'p') {
            rust_put(r, "_");
        } else if (tag == 'B') {
            if (rust_follow(r, &after))
                rust_put_const(r);
            if (!r->failed)
                r->c = after;
        } else if (tag && strchr("abchijlmnostxy", tag)) {
            put_value(r, tag);
        } else {
            r->failed = true;
        }
    }
    rust_leave(r);
}
