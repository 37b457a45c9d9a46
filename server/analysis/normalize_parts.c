#include "server/analysis/normalize_parts.h"

#include <string.h>

struct name_view name_view_of(const char *s, size_t n)
{
    struct name_view v = {s, n};
    return v;
}

struct name_view name_view_from(struct name_view v, size_t from)
{
    if (from > v.n)
        from = v.n;
    return name_view_of(v.p + from, v.n - from);
}

bool name_goes_on(struct name_view v, const char *prefix)
{
    size_t n = strlen(prefix);
    return v.n >= n && memcmp(v.p, prefix, n) == 0;
}

bool name_ends(struct name_view v, const char *suffix)
{
    size_t n = strlen(suffix);
    return v.n >= n && memcmp(v.p + v.n - n, suffix, n) == 0;
}

bool name_equals(struct name_view v, const char *s)
{
    return v.n == strlen(s) && memcmp(v.p, s, v.n) == 0;
}

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

struct name_view name_trim(struct name_view v)
{
    while (v.n > 0 && is_space(v.p[0])) {
        v.p++;
        v.n--;
    }
    while (v.n > 0 && is_space(v.p[v.n - 1]))
        v.n--;
    return v;
}

bool name_digit(char c)
{
    return c >= '0' && c <= '9';
}

bool name_ident_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || name_digit(c) || c == '_' ||
           c == '$' || (unsigned char)c >= 0x80;
}

/* An opening bracket that has a closing one. `<` opens where something could be generic: after an
 * identifier or at the start, not as an operator's name (`< infix`). */
static bool opens(struct name_view v, size_t i)
{
    char c = v.p[i];
    if (c == '(' || c == '[' || c == '{')
        return true;
    if (c != '<')
        return false;
    if (i + 1 < v.n && v.p[i + 1] == ' ') /* `Range< where A: P>` */
        return i > 0 && (name_ident_char(v.p[i - 1]) || v.p[i - 1] == '>');
    return i == 0 || name_ident_char(v.p[i - 1]) || strchr(" :,(<>)]&*?", v.p[i - 1]) != NULL;
}

static bool closes(struct name_view v, size_t i)
{
    char c = v.p[i];
    if (c == '>')
        return i == 0 || v.p[i - 1] != '-';
    return c == ')' || c == ']' || c == '}';
}

/* Past the quoted text that begins at `at`. */
static size_t skip_quoted(struct name_view v, size_t at)
{
    size_t i = at + 1;
    while (i < v.n && v.p[i] != '"')
        i += v.p[i] == '\\' ? 2 : 1;
    return i < v.n ? i + 1 : v.n;
}

size_t name_find_outside(struct name_view v, size_t from, const char *needle)
{
    size_t n = strlen(needle);
    size_t depth = 0;
    for (size_t i = from; i < v.n;) {
        if (depth == 0 && v.n - i >= n && memcmp(v.p + i, needle, n) == 0)
            return i;
        if (depth > 0 && v.p[i] == '"') {
            i = skip_quoted(v, i);
            continue;
        }
        if (opens(v, i))
            depth++;
        else if (closes(v, i) && depth > 0)
            depth--;
        i++;
    }
    return NAME_NPOS;
}

size_t name_skip_group(struct name_view v, size_t at)
{
    size_t depth = 0;
    for (size_t i = at; i < v.n;) {
        if (v.p[i] == '"') {
            i = skip_quoted(v, i);
            continue;
        }
        if (i == at || opens(v, i)) {
            depth++;
        } else if (closes(v, i)) {
            depth--;
            if (depth == 0)
                return i + 1;
        }
        i++;
    }
    return v.n;
}

void name_put(struct name_out *out, const char *p, size_t n)
{
    size_t room = out->size - out->n;
    if (n > room)
        n = room;
    if (n > 0)
        memcpy(out->p + out->n, p, n);
    out->n += n;
}

void name_puts(struct name_out *out, const char *s)
{
    name_put(out, s, strlen(s));
}

void name_put_view(struct name_out *out, struct name_view v)
{
    name_put(out, v.p, v.n);
}

bool name_out_ends(const struct name_out *out, const char *suffix)
{
    return name_ends(name_view_of(out->p, out->n), suffix);
}
