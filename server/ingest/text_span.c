#include "server/ingest/text_span.h"

#include <string.h>

#define HEX_DIGITS_MAX 16
#define DIGITS_MAX     18

struct text_span text_span_of(const char *s, size_t len)
{
    return (struct text_span){s, len};
}

struct text_span text_from(struct text_span t, size_t at)
{
    if (at > t.len)
        at = t.len;
    return (struct text_span){t.s + at, t.len - at};
}

struct text_span text_until(struct text_span t, size_t at)
{
    return (struct text_span){t.s, at < t.len ? at : t.len};
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

struct text_span text_trim(struct text_span t)
{
    t = text_from(t, text_blanks(t));
    while (t.len > 0 && is_blank(t.s[t.len - 1]))
        t.len--;
    return t;
}

bool text_starts(struct text_span t, const char *word)
{
    size_t n = strlen(word);
    return t.len >= n && memcmp(t.s, word, n) == 0;
}

bool text_ends(struct text_span t, const char *word)
{
    size_t n = strlen(word);
    return t.len >= n && memcmp(t.s + t.len - n, word, n) == 0;
}

bool text_is(struct text_span t, const char *word)
{
    return t.len == strlen(word) && text_starts(t, word);
}

size_t text_find(struct text_span t, const char *word)
{
    const char *at = t.len > 0 ? memmem(t.s, t.len, word, strlen(word)) : NULL;
    return at ? (size_t)(at - t.s) : TEXT_NOWHERE;
}

size_t text_find_last(struct text_span t, const char *word)
{
    size_t n = strlen(word);
    for (size_t at = t.len + 1; at-- > n;) {
        if (memcmp(t.s + at - n, word, n) == 0)
            return at - n;
    }
    return TEXT_NOWHERE;
}

size_t text_opening(struct text_span t)
{
    size_t depth = 0;
    for (size_t at = t.len; at-- > 0;) {
        if (t.s[at] == ')')
            depth++;
        else if (t.s[at] == '(' && --depth == 0)
            return at;
        if (depth == 0)
            break;
    }
    return TEXT_NOWHERE;
}

size_t text_blanks(struct text_span t)
{
    size_t n = 0;
    while (n < t.len && is_blank(t.s[n]))
        n++;
    return n;
}

static unsigned digit_of(char c)
{
    if (c >= '0' && c <= '9')
        return (unsigned)(c - '0');
    if (c >= 'a' && c <= 'f')
        return (unsigned)(c - 'a') + 10;
    if (c >= 'A' && c <= 'F')
        return (unsigned)(c - 'A') + 10;
    return 16;
}

static size_t digits(struct text_span t, unsigned base, size_t max, uint64_t *ret)
{
    size_t n = 0;
    uint64_t v = 0;
    for (; n < t.len && digit_of(t.s[n]) < base; n++) {
        if (n == max)
            return 0;
        v = v * base + digit_of(t.s[n]);
    }
    if (n > 0)
        *ret = v;
    return n;
}

size_t text_hex(struct text_span t, uint64_t *ret)
{
    if (!text_starts(t, "0x") && !text_starts(t, "0X"))
        return 0;
    size_t n = digits(text_from(t, 2), 16, HEX_DIGITS_MAX, ret);
    return n > 0 ? n + 2 : 0;
}

size_t text_number(struct text_span t, uint64_t *ret)
{
    return digits(t, 10, DIGITS_MAX, ret);
}
