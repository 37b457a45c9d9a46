#include "base/app_version.h"

#include <stddef.h>
#include <string.h>

/* What is left of a version text: parts up to `end`. */
struct parts {
    const char *p, *end;
};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static struct parts parts_of(const char *version)
{
    struct parts v = {version ? version : "", NULL};
    while (is_blank(*v.p))
        v.p++;
    if ((*v.p == 'v' || *v.p == 'V') && is_digit(v.p[1]))
        v.p++;
    v.end = v.p + strcspn(v.p, "+");
    while (v.end > v.p && is_blank(v.end[-1]))
        v.end--;
    return v;
}

static struct parts digits_of(struct parts *v)
{
    struct parts d = {v->p, v->p};
    while (d.end < v->end && is_digit(*d.end))
        d.end++;
    v->p = d.end;
    while (d.p < d.end && *d.p == '0')
        d.p++;
    return d;
}

static int order_digits(struct parts a, struct parts b)
{
    ptrdiff_t la = a.end - a.p;
    ptrdiff_t lb = b.end - b.p;
    if (la != lb)
        return la < lb ? -1 : 1;
    return la ? memcmp(a.p, b.p, (size_t)la) : 0;
}

/* The text between a part's number and the next dot. */
static struct parts suffix_of(struct parts *v)
{
    struct parts s = {v->p, v->p};
    while (s.end < v->end && *s.end != '.')
        s.end++;
    v->p = s.end < v->end ? s.end + 1 : s.end;
    return s;
}

/* Digits as numbers, all else by bytes; none at all is the newest. */
static int order_suffixes(struct parts a, struct parts b)
{
    if (a.p == a.end || b.p == b.end)
        return (a.p == a.end) - (b.p == b.end);
    while (a.p < a.end && b.p < b.end) {
        if (is_digit(*a.p) && is_digit(*b.p)) {
            int c = order_digits(digits_of(&a), digits_of(&b));
            if (c)
                return c;
        } else if (*a.p != *b.p) {
            return (unsigned char)*a.p < (unsigned char)*b.p ? -1 : 1;
        } else {
            a.p++;
            b.p++;
        }
    }
    return (a.p < a.end) - (b.p < b.end);
}

bool app_version_known(const char *version)
{
    struct parts v = parts_of(version);
    return v.p < v.end && is_digit(*v.p);
}

int app_version_order(const char *a, const char *b)
{
    bool known_a = app_version_known(a);
    bool known_b = app_version_known(b);
    struct parts x = parts_of(a);
    struct parts y = parts_of(b);
    if (!known_a || !known_b)
        return known_a - known_b;
    /* A side that has ended goes on as ".0.0". */
    while (x.p < x.end || y.p < y.end) {
        int c = order_digits(digits_of(&x), digits_of(&y));
        if (!c)
            c = order_suffixes(suffix_of(&x), suffix_of(&y));
        if (c)
            return c < 0 ? -1 : 1;
    }
    return 0;
}

int app_release_order(const char *version_a, const char *build_a, const char *version_b,
                      const char *build_b)
{
    int c = app_version_order(version_a, version_b);
    return c ? c : app_version_order(build_a, build_b);
}

int app_release_pick(const char *version_a, const char *build_a, const char *version_b,
                     const char *build_b)
{
    int c = app_release_order(version_a, build_a, version_b, build_b);
    if (!c)
        c = strcmp(version_a ? version_a : "", version_b ? version_b : "");
    return c ? c : strcmp(build_a ? build_a : "", build_b ? build_b : "");
}

bool app_release_newer(const char *version, const char *build, const char *than_version,
                       const char *than_build)
{
    if (!app_version_known(version) || !app_version_known(than_version))
        return false;
    int c = app_version_order(version, than_version);
    if (c)
        return c > 0;
    return app_version_known(build) && app_version_known(than_build) &&
           app_version_order(build, than_build) > 0;
}
