#include "server/ingest/privacy.h"

#include <ctype.h>
#include <string.h>

#include "base/uuid.h"

#define DIGIT_RUN 9 /* so many digits in a row name a person or an account */

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '.' || c == '_' || c == '-' || c == '+' || c == '%';
}

/* something@host.domain */
static bool has_email(const char *s, size_t n)
{
    for (size_t at = 1; at + 3 < n; at++) {
        if (s[at] != '@' || !is_word(s[at - 1]))
            continue;
        for (size_t i = at + 1; i < n && is_word(s[i]); i++) {
            if (s[i] == '.' && i > at + 1 && i + 1 < n && isalnum((unsigned char)s[i + 1]))
                return true;
        }
    }
    return false;
}

/* Four numbers of at most 255 between dots, no fifth one. */
static bool has_ipv4(const char *s, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (!isdigit((unsigned char)s[i]) ||
            (i > 0 && (isalnum((unsigned char)s[i - 1]) || s[i - 1] == '.')))
            continue;
        size_t p = i;
        int parts = 0;
        while (p < n && isdigit((unsigned char)s[p])) {
            unsigned v = 0;
            size_t start = p;
            while (p < n && isdigit((unsigned char)s[p]) && p - start < 4)
                v = v * 10 + (unsigned)(s[p++] - '0');
            if (v > 255)
                break;
            parts++;
            if (p >= n || s[p] != '.')
                break;
            p++;
        }
        if (parts == 4 && (p >= n || !(isalnum((unsigned char)s[p]) || s[p] == '.')))
            return true;
    }
    return false;
}

/* Hexadecimal groups between colons: at least seven colons, or a "::" with two groups or more. */
static bool has_ipv6(const char *s, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (!isxdigit((unsigned char)s[i]) && s[i] != ':')
            continue;
        if (i > 0 && (isalnum((unsigned char)s[i - 1]) || s[i - 1] == ':'))
            continue;
        size_t p = i, group = 0;
        int colons = 0, groups = 0;
        bool gap = false, valid = true;
        for (; p < n && (isxdigit((unsigned char)s[p]) || s[p] == ':'); p++) {
            if (s[p] != ':') {
                groups += group == 0;
                valid = valid && ++group <= 4;
                continue;
            }
            gap = gap || (p + 1 < n && s[p + 1] == ':');
            colons++;
            group = 0;
        }
        bool ends = p >= n || !isalnum((unsigned char)s[p]);
        if (valid && ends && (colons == 7 || (gap && colons <= 7 && groups >= 2)))
            return true;
        i = p;
    }
    return false;
}

static bool has_uuid(const char *s, size_t n)
{
    struct uuid u;
    for (size_t i = 0; i + 32 <= n; i++) {
        if (!isxdigit((unsigned char)s[i]) || (i > 0 && isxdigit((unsigned char)s[i - 1])))
            continue;
        if ((i + 36 <= n && uuid_parse(s + i, 36, &u)) || uuid_parse(s + i, 32, &u))
            return true;
    }
    return false;
}

static bool has_digit_run(const char *s, size_t n)
{
    size_t run = 0;
    for (size_t i = 0; i < n; i++) {
        run = isdigit((unsigned char)s[i]) ? run + 1 : 0;
        if (run >= DIGIT_RUN)
            return true;
    }
    return false;
}

bool privacy_is_personal(const char *text, size_t len)
{
    return has_email(text, len) || has_ipv4(text, len) || has_ipv6(text, len) ||
           has_uuid(text, len) || has_digit_run(text, len);
}
