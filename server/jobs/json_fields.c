#include "server/jobs/json_fields.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define REAL_EXACT_MAX 9007199254740992.0 /* 2^53: whole numbers below it are exact */

void fields_init(struct fields *f, struct arena *arena)
{
    f->arena = arena;
    f->failed = false;
    f->path[0] = f->reason[0] = 0;
}

bool fields_refuse(struct fields *f, const char *reason, const char *path, ...)
{
    if (f->failed)
        return false;
    f->failed = true;
    snprintf(f->reason, sizeof(f->reason), "%s", reason);
    va_list ap;
    va_start(ap, path);
    vsnprintf(f->path, sizeof(f->path), path, ap);
    va_end(ap);
    return false;
}

static bool refuse_at(struct fields *f, const char *reason, const char *at, const char *key)
{
    return fields_refuse(f, reason, "%s%s%s", at, *at ? "." : "", key);
}

static bool refuse_length(struct fields *f, size_t max, const char *at, const char *key)
{
    char reason[64];
    snprintf(reason, sizeof(reason), "too long: %zu bytes at most", max);
    return refuse_at(f, reason, at, key);
}

static bool refuse_range(struct fields *f, double min, double max, const char *at, const char *key)
{
    char reason[96];
    snprintf(reason, sizeof(reason), "out of range: from %g to %g", min, max);
    return refuse_at(f, reason, at, key);
}

static bool refuse_whole_range(struct fields *f, int64_t min, int64_t max, const char *at,
                               const char *key)
{
    char reason[96];
    snprintf(reason, sizeof(reason), "out of range: from %lld to %lld", (long long)min,
             (long long)max);
    return refuse_at(f, reason, at, key);
}

json_t *fields_get(json_t *object, const char *key)
{
    json_t *v = json_object_get(object, key);
    return json_is_null(v) ? NULL : v;
}

bool fields_known(struct fields *f, json_t *object, const char *at, const char *const *known)
{
    const char *key;
    json_t *value;
    json_object_foreach(object, key, value)
    {
        size_t i = 0;
        while (known[i] && strcmp(known[i], key) != 0)
            i++;
        if (!known[i])
            return fields_refuse(f, "not known here", "%s%s%.100s", at, *at ? "." : "", key);
    }
    return true;
}

bool json_clean_key(const char *key, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        if ((unsigned char)key[i] < 0x20 || key[i] == 0x7f)
            return false;
    }
    return true;
}

bool json_clean_text(const json_t *value, size_t max)
{
    return json_is_string(value) && json_string_length(value) <= max &&
           json_clean_key(json_string_value(value), json_string_length(value));
}

const char *json_word(const json_t *value)
{
    return json_clean_text(value, SIZE_MAX) ? json_string_value(value) : NULL;
}

const char *fields_text(struct fields *f, json_t *object, const char *at, const char *key,
                        size_t max)
{
    json_t *v = f->failed ? NULL : fields_get(object, key);
    if (!v)
        return NULL;
    if (!json_is_string(v)) {
        refuse_at(f, "not a string", at, key);
        return NULL;
    }
    if (json_string_length(v) > max) {
        refuse_length(f, max, at, key);
        return NULL;
    }
    if (!json_clean_text(v, max)) {
        refuse_at(f, "contains control characters", at, key);
        return NULL;
    }
    return json_string_value(v);
}

/* U+202A to U+202E, U+2066 to U+2069. */
static bool turns_direction(const char *s)
{
    const unsigned char *p = (const unsigned char *)s;
    return p[0] == 0xe2 && ((p[1] == 0x80 && p[2] >= 0xaa && p[2] <= 0xae) ||
                            (p[1] == 0x81 && p[2] >= 0xa6 && p[2] <= 0xa9));
}

const char *fields_prose(struct fields *f, json_t *object, const char *at, const char *key,
                         size_t max)
{
    json_t *v = f->failed ? NULL : fields_get(object, key);
    const char *s = json_string_value(v);
    const char *reason = NULL;
    if (!v)
        return NULL;
    if (json_string_length(v) > max) {
        refuse_length(f, max, at, key);
        return NULL;
    }
    if (!s)
        reason = "not a string";
    for (size_t i = 0; !reason && i < json_string_length(v); i++) {
        unsigned char c = (unsigned char)s[i];
        if ((c < 0x20 && c != '\n' && c != '\t') || c == 0x7f)
            reason = "contains control characters";
        else if (turns_direction(s + i))
            reason = "contains characters that change the direction of text";
    }
    if (reason)
        refuse_at(f, reason, at, key);
    return reason ? NULL : s;
}

bool fields_number(struct fields *f, json_t *object, const char *at, const char *key, double min,
                   double max, double *ret)
{
    json_t *v = f->failed ? NULL : fields_get(object, key);
    if (!v)
        return false;
    if (!json_is_number(v))
        return refuse_at(f, "not a number", at, key);
    double d = json_number_value(v);
    if (!isfinite(d) || d < min || d > max)
        return refuse_range(f, min, max, at, key);
    *ret = d;
    return true;
}

bool fields_rounded(struct fields *f, json_t *object, const char *at, const char *key, int64_t min,
                    int64_t max, int64_t *ret)
{
    json_t *v = f->failed ? NULL : fields_get(object, key);
    if (json_is_integer(v)) {
        int64_t i = json_integer_value(v);
        if (i < min || i > max)
            return refuse_whole_range(f, min, max, at, key);
        *ret = i;
        return true;
    }
    double d = json_number_value(v);
    if (json_is_real(v) && !(d >= (double)min && d <= (double)max))
        return refuse_whole_range(f, min, max, at, key);
    if (!fields_number(f, object, at, key, (double)min, (double)max, &d))
        return false;
    *ret = (int64_t)llround(d);
    return true;
}

bool json_whole(const json_t *value, int64_t *ret)
{
    const double d = json_is_real(value) ? json_real_value(value) : NAN;
    if (json_is_integer(value))
        *ret = json_integer_value(value);
    else if (d == trunc(d) && fabs(d) < REAL_EXACT_MAX)
        *ret = (int64_t)d;
    else
        return false;
    return true;
}

bool fields_int(struct fields *f, json_t *object, const char *at, const char *key, int64_t min,
                int64_t max, int64_t *ret)
{
    json_t *v = f->failed ? NULL : fields_get(object, key);
    int64_t i = 0;
    if (!v)
        return false;
    if (!json_whole(v, &i))
        return refuse_at(f, "not a whole number", at, key);
    if (i < min || i > max)
        return refuse_whole_range(f, min, max, at, key);
    *ret = i;
    return true;
}

bool fields_bool(struct fields *f, json_t *object, const char *at, const char *key, bool *ret)
{
    json_t *v = f->failed ? NULL : fields_get(object, key);
    if (!v)
        return false;
    if (!json_is_boolean(v))
        return refuse_at(f, "not true or false", at, key);
    *ret = json_is_true(v);
    return true;
}

bool hex_address(const char *text, size_t len, uint64_t *ret)
{
    if (len < 3 || text[0] != '0' || (text[1] != 'x' && text[1] != 'X'))
        return false;
    uint64_t v = 0;
    for (size_t i = 2; i < len; i++) {
        char c = text[i];
        unsigned digit;
        if (c >= '0' && c <= '9')
            digit = (unsigned)(c - '0');
        else if (c >= 'a' && c <= 'f')
            digit = (unsigned)(c - 'a' + 10);
        else if (c >= 'A' && c <= 'F')
            digit = (unsigned)(c - 'A' + 10);
        else
            return false;
        if (v >> 60)
            return false;
        v = v << 4 | digit;
    }
    *ret = v;
    return true;
}

bool json_address(const json_t *value, uint64_t *ret)
{
    if (json_is_integer(value) && json_integer_value(value) >= 0) {
        *ret = (uint64_t)json_integer_value(value);
        return true;
    }
    double real = json_is_real(value) ? json_real_value(value) : -1;
    if (real >= 0 && real < REAL_EXACT_MAX && real == (double)(uint64_t)real) {
        *ret = (uint64_t)real; /* 4345430032.0 */
        return true;
    }
    if (json_is_string(value))
        return hex_address(json_string_value(value), json_string_length(value), ret);
    return false;
}

bool fields_address(struct fields *f, json_t *object, const char *at, const char *key,
                    uint64_t *ret)
{
    json_t *v = f->failed ? NULL : fields_get(object, key);
    if (!v)
        return false;
    if (!json_address(v, ret))
        return refuse_at(f, NOT_AN_ADDRESS, at, key);
    return true;
}

json_t *fields_array(struct fields *f, json_t *object, const char *at, const char *key)
{
    json_t *v = f->failed ? NULL : fields_get(object, key);
    if (v && !json_is_array(v)) {
        refuse_at(f, "not an array", at, key);
        return NULL;
    }
    return v;
}

json_t *fields_object(struct fields *f, json_t *object, const char *at, const char *key)
{
    json_t *v = f->failed ? NULL : fields_get(object, key);
    if (v && !json_is_object(v)) {
        refuse_at(f, "not an object", at, key);
        return NULL;
    }
    return v;
}
