/*
 * Rust's older linkage names look like C++ ones, and tools that know no Rust print them so: `<`, `{`
 * and their like are words between `$`, `::` within a type is `..`, and an underscore stands before
 * a part that would begin with `$`. Here they become what Rust's own demangler prints.
 */
#include <string.h>

#include "server/analysis/normalize_parts.h"

#define HASH_LENGTH 17 /* `h` and sixteen hexadecimal digits */

static bool ends_in_hash(struct name_view v)
{
    if (v.n < HASH_LENGTH + 2 || memcmp(v.p + v.n - HASH_LENGTH - 2, "::h", 3) != 0)
        return false;
    for (size_t i = v.n - HASH_LENGTH + 1; i < v.n; i++) {
        if (!name_digit(v.p[i]) && (v.p[i] < 'a' || v.p[i] > 'f'))
            return false;
    }
    return true;
}

static int hex_value(char c)
{
    return name_digit(c) ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* `$u7b$`: one character by its number, of those that ASCII prints. */
static size_t numbered(struct name_view rest, char *ret)
{
    if (rest.n < 5 || rest.p[0] != '$' || rest.p[1] != 'u' || rest.p[4] != '$')
        return 0;
    int high = hex_value(rest.p[2]);
    int low = hex_value(rest.p[3]);
    if (high < 2 || high > 7 || low < 0)
        return 0;
    *ret = (char)(high * 16 + low);
    return 5;
}

/* Length of the escape that `rest` begins with, 0 without one. */
static size_t escape(struct name_view rest, char *ret)
{
    static const struct {
        const char *word;
        char means;
    } WORDS[] = {
        {"$LT$", '<'}, {"$GT$", '>'}, {"$LP$", '('}, {"$RP$", ')'},
        {"$C$", ','},  {"$RF$", '&'}, {"$BP$", '*'}, {"$SP$", '@'},
    };
    for (size_t k = 0; k < sizeof(WORDS) / sizeof(WORDS[0]); k++) {
        if (name_starts(rest, WORDS[k].word)) {
            *ret = WORDS[k].means;
            return strlen(WORDS[k].word);
        }
    }
    return numbered(rest, ret);
}

struct name_view normalize_rust_escapes(struct name_view v, struct name_out *out)
{
    if (!ends_in_hash(v) || !memchr(v.p, '$', v.n) || v.n > out->size)
        return v;
    for (size_t i = 0; i < v.n;) {
        const struct name_view rest = name_view_from(v, i);
        const bool first = i == 0 || (i > 1 && v.p[i - 1] == ':');
        char c = v.p[i];
        size_t n = first && name_starts(rest, "_$") ? 1 : 0;
        if (n > 0) {
            i += n;
            continue;
        }
        n = escape(rest, &c);
        if (n > 0) {
            name_put(out, &c, 1);
        } else if (name_starts(rest, "..")) {
            name_puts(out, "::");
            n = 2;
        } else {
            name_put(out, &c, 1);
            n = 1;
        }
        i += n;
    }
    return name_view_of(out->p, out->n);
}
