#include "server/analysis/version_range.h"

#include <string.h>

#include "base/app_version.h"

#define TERM_MAX 128

enum comparison { IS, IS_NOT, BELOW, AT_MOST, ABOVE, AT_LEAST, BEGINS };

static const struct {
    const char *sign; /* longer ones first */
    enum comparison comparison;
} SIGNS[] = {{">=", AT_LEAST}, {"<=", AT_MOST}, {"!=", IS_NOT}, {"==", IS},
             {">", ABOVE},     {"<", BELOW},    {"=", IS}};

/* The next word of `*p`, cut out of it; false at the end. Too long a word is cut short, and no
 * version then. */
static bool next_word(const char **p, char out[TERM_MAX])
{
    *p += strspn(*p, " ");
    size_t n = strcspn(*p, " ");
    if (n == 0)
        return false;
    size_t kept = n < TERM_MAX ? n : 0;
    memcpy(out, *p, kept);
    out[kept] = 0;
    *p += n;
    return true;
}

static bool is_version(const char *text)
{
    return text[strspn(
               text, "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.+-_")] == 0 &&
           app_version_known(text);
}

/* What is compared, and with what; false when it is none of the forms. */
static bool parse_term(char *word, enum comparison *ret, const char **ret_version)
{
    size_t n = strlen(word);
    *ret = IS;
    for (size_t i = 0; i < sizeof(SIGNS) / sizeof(SIGNS[0]); i++) {
        size_t sign = strlen(SIGNS[i].sign);
        if (strncmp(word, SIGNS[i].sign, sign) == 0) {
            *ret = SIGNS[i].comparison;
            *ret_version = word + sign;
            return is_version(*ret_version);
        }
    }
    *ret_version = word;
    if (n > 2 && strcmp(word + n - 2, ".*") == 0) {
        *ret = BEGINS;
        word[n - 1] = 0; /* the dot stays */
    }
    return is_version(word);
}

static bool begins(const char *version, const char *with)
{
    size_t n = strlen(with);
    return strncmp(version, with, n) == 0 ||
           (strlen(version) == n - 1 && memcmp(version, with, n - 1) == 0);
}

static bool term_holds(enum comparison comparison, const char *with, const char *version)
{
    int order = app_version_order(version, with);
    switch (comparison) {
    case IS:
        return order == 0;
    case IS_NOT:
        return order != 0;
    case BELOW:
        return order < 0;
    case AT_MOST:
        return order <= 0;
    case ABOVE:
        return order > 0;
    case AT_LEAST:
        return order >= 0;
    case BEGINS:
        return begins(version, with);
    }
    return false;
}

/* `version` NULL: only whether the range is one. */
static bool look(const char *range, const char *version)
{
    char word[TERM_MAX];
    bool any = false, all = true, some = false;
    while (next_word(&range, word)) {
        enum comparison comparison;
        const char *with;
        if (strcmp(word, "||") == 0) {
            if (!any)
                return false;
            some = some || all;
            any = false;
            all = true;
            continue;
        }
        if (!parse_term(word, &comparison, &with))
            return false;
        any = true;
        all = all && (!version || term_holds(comparison, with, version));
    }
    return any && (some || all);
}

bool version_range_valid(const char *range)
{
    return look(range, NULL);
}

bool version_range_holds(const char *range, const char *version)
{
    return version && app_version_known(version) && look(range, version);
}
