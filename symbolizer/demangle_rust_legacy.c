#include <string.h>

#include "base/utf8.h"
#include "symbolizer/demangle.h"
#include "symbolizer/demangle_parts.h"

/* Rust names before v0: C++'s nested names, the last part a hash, with "$LT$" and the like for what
 * C++ does not allow in a name. */

static const struct {
    const char *escape;
    const char *text;
} escapes[] = {
    {"$SP$", "@"}, {"$BP$", "*"}, {"$RF$", "&"}, {"$LT$", "<"},
    {"$GT$", ">"}, {"$LP$", "("}, {"$RP$", ")"}, {"$C$", ","},
};

/* "$u7e$" and the like: a character by its number. */
static size_t put_unicode_escape(struct demangle_out *o, const char *s, size_t len)
{
    uint32_t v = 0;
    size_t i = 2;
    if (len < 4 || s[1] != 'u')
        return 0;
    for (; i < len && s[i] != '$'; i++) {
        bool decimal = s[i] >= '0' && s[i] <= '9';
        if ((!decimal && !(s[i] >= 'a' && s[i] <= 'f')) || i > 7)
            return 0;
        v = v << 4 | (uint32_t)(decimal ? s[i] - '0' : s[i] - 'a' + 10);
    }
    if (i == len || i == 2 || !demangle_is_scalar(v) || v < 0x20)
        return 0;
    char bytes[4];
    demangle_put(o, bytes, utf8_encode(v, bytes));
    return i + 1;
}

static size_t put_escape(struct demangle_out *o, const char *s, size_t len)
{
    for (size_t i = 0; i < sizeof(escapes) / sizeof(escapes[0]); i++) {
        size_t n = strlen(escapes[i].escape);
        if (n <= len && memcmp(s, escapes[i].escape, n) == 0) {
            demangle_puts(o, escapes[i].text);
            return n;
        }
    }
    return put_unicode_escape(o, s, len);
}

static void put_legacy_element(struct demangle_out *o, const char *s, size_t len)
{
    if (len >= 2 && s[0] == '_' && s[1] == '$')
        s++, len--;
    while (len > 0) {
        size_t n = s[0] == '$' ? put_escape(o, s, len) : 0;
        if (n == 0 && len >= 2 && s[0] == '.' && s[1] == '.') {
            demangle_puts(o, "::");
            n = 2;
        }
        if (n == 0) {
            demangle_put(o, s, 1);
            n = 1;
        }
        s += n;
        len -= n;
    }
}

static bool is_hash(const char *s, size_t len)
{
    return len == 17 && s[0] == 'h' && strspn(s + 1, "0123456789abcdef") >= 16;
}

/* A decimal length and that many bytes. */
static bool legacy_element(const char **s, const char **ret, size_t *ret_len)
{
    size_t len = 0;
    const char *p = *s;
    if (*p < '1' || *p > '9')
        return false;
    for (; *p >= '0' && *p <= '9'; p++) {
        len = len * 10 + (size_t)(*p - '0');
        if (len > DEMANGLE_INPUT_MAX)
            return false;
    }
    if (strnlen(p, len) < len)
        return false;
    *ret = p;
    *ret_len = len;
    *s = p + len;
    return true;
}

bool demangle_rust_legacy(const char *name, char *out, size_t size)
{
    const char *s = name + 3;
    const char *element = NULL;
    size_t len = 0;
    size_t count = 0;
    struct demangle_out o;
    while (legacy_element(&s, &element, &len))
        count++;
    if (count < 2 || !is_hash(element, len) || s[0] != 'E' || (s[1] != 0 && s[1] != '.'))
        return false;
    demangle_out_init(&o, out, size);
    s = name + 3;
    for (size_t i = 0; i + 1 < count; i++) {
        (void)legacy_element(&s, &element, &len);
        demangle_puts(&o, i > 0 ? "::" : "");
        put_legacy_element(&o, element, len);
    }
    demangle_out_end(&o);
    return true;
}
