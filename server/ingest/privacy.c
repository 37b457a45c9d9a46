#include "server/ingest/privacy.h"

#include <ctype.h>
#include <string.h>

#include "base/uuid.h"

#define DIGIT_RUN        9  /* so many digits in a row name a person or an account */
#define TELEPHONE_DIGITS 8  /* behind a plus, with blanks and dashes between */
#define HEX_RUN          24 /* a device token, a digest; Rust's hashes have 16 */

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
            if (s[i] == '.' && i > at + 1 && i + 1 < n && isalpha((unsigned char)s[i + 1]))
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

/* "+49 151 123 456-78": what begins with a plus and has digits enough, however they are grouped. */
static bool has_telephone(const char *s, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        size_t digits = 0;
        if (s[i] != '+')
            continue;
        for (size_t p = i + 1; p < n && (isdigit((unsigned char)s[p]) || strchr(" -().", s[p]));
             p++)
            digits += isdigit((unsigned char)s[p]) != 0;
        if (digits >= TELEPHONE_DIGITS)
            return true;
    }
    return false;
}

static bool is_token(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '-' || c == '+' || c == '/' || c == '=';
}

static size_t token_run(const char *s, size_t n, size_t at)
{
    size_t end = at;
    while (end < n && is_token(s[end]))
        end++;
    return end - at;
}

/* What begins secrets, and how much has to follow. */
static bool has_token(const char *s, size_t n)
{
    static const struct {
        const char *prefix;
        size_t more;
    } marks[] = {{"eyJ", 12},     {"Bearer ", 8},  {"bearer ", 8}, {"Basic ", 8},
                 {"sk_live_", 8}, {"sk_test_", 8}, {"ghp_", 16},   {"gho_", 16},
                 {"xoxb-", 8},    {"xoxp-", 8},    {"AKIA", 12},   {"AIza", 20}};
    for (size_t i = 0; i < n; i++) {
        if (i > 0 && isalnum((unsigned char)s[i - 1]))
            continue;
        for (size_t k = 0; k < sizeof(marks) / sizeof(marks[0]); k++) {
            size_t len = strlen(marks[k].prefix);
            if (i + len < n && memcmp(s + i, marks[k].prefix, len) == 0 &&
                token_run(s, n, i + len) >= marks[k].more)
                return true;
        }
    }
    return false;
}

static bool has_hex_run(const char *s, size_t n)
{
    size_t run = 0, digits = 0;
    for (size_t i = 0; i < n; i++) {
        bool hex = isxdigit((unsigned char)s[i]);
        run = hex ? run + 1 : 0;
        digits = !hex ? 0 : digits + (isdigit((unsigned char)s[i]) != 0);
        if (run >= HEX_RUN && digits > 0)
            return true;
    }
    return false;
}

bool privacy_is_secret(const char *text, size_t len)
{
    return has_email(text, len) || has_token(text, len);
}

bool privacy_is_personal(const char *text, size_t len)
{
    return privacy_is_secret(text, len) || has_ipv4(text, len) || has_ipv6(text, len) ||
           has_uuid(text, len) || has_digit_run(text, len) || has_hex_run(text, len) ||
           has_telephone(text, len);
}

bool privacy_trim_url(char *text)
{
    char *rest = strstr(text, "://");
    if (!rest)
        return false;
    rest += 3;
    rest[strcspn(rest, "?#")] = 0;
    size_t host = strcspn(rest, "/");
    for (size_t i = host; i > 0; i--) {
        if (rest[i - 1] == '@') {
            memmove(rest, rest + i, strlen(rest + i) + 1);
            break;
        }
    }
    return true;
}
