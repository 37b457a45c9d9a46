#include "server/ingest/format_json.h"

#include <malloc.h>
#include <math.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"

#define REAL_EXACT_MAX 9007199254740992.0 /* 2^53: whole numbers below it are exact */

#define LOAD_FLAGS (JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL)

/* --- memory ----------------------------------------------------------------------------------- */

/* What a tree may take while it is read, see format_json.h. jansson asks malloc through these. */
static _Thread_local size_t room = SIZE_MAX; /* SIZE_MAX: nobody counts */
static _Thread_local bool refused;
static _Thread_local bool starved; /* malloc said no; jansson's words are about the text then */

#define MALLOC_OVERHEAD 8

static void *counted_malloc(size_t size)
{
    if (room != SIZE_MAX && size + MALLOC_OVERHEAD > room) {
        refused = true;
        return NULL;
    }
    void *p = malloc(size);
    starved = starved || !p;
    if (p && room != SIZE_MAX) {
        size_t taken = malloc_usable_size(p) + MALLOC_OVERHEAD;
        room -= taken < room ? taken : room;
    }
    return p;
}

static void counted_free(void *p)
{
    if (p && room != SIZE_MAX)
        room += malloc_usable_size(p) + MALLOC_OVERHEAD;
    free(p);
}

static void count_from_now_on(void)
{
    json_set_alloc_funcs(counted_malloc, counted_free);
}

static json_t *load_within(const char *body, size_t len, size_t max, json_error_t *why)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, count_from_now_on);
    room = max;
    refused = starved = false;
    json_t *root = json_loadb(body, len, LOAD_FLAGS, why);
    room = SIZE_MAX;
    return root;
}

/* --- bodies ----------------------------------------------------------------------------------- */

/* jansson has no unsigned 64-bit integers: a number of 19 or 20 digits that is too large for it is
 * written as a hexadecimal string instead, which every address field takes. NULL without memory. */
static char *quote_large_integers(const char *body, size_t len, size_t *ret_len)
{
    char *out = malloc(len + len / 16 + 32); /* 19 digits become at most 20 bytes */
    size_t n = 0;
    bool in_string = false;
    for (size_t i = 0; out && i < len; i++) {
        char c = body[i];
        out[n++] = c;
        if (in_string) {
            if (c == '\\' && i + 1 < len)
                out[n++] = body[++i];
            in_string = c != '"';
            continue;
        }
        in_string = c == '"';
        if (c < '0' || c > '9' || (i > 0 && strchr("0123456789.eE+-", body[i - 1])))
            continue;
        size_t end = i;
        while (end < len && body[end] >= '0' && body[end] <= '9')
            end++;
        bool whole = end == len || !strchr(".eE", body[end]);
        if (!whole || end - i < 19 || end - i > 20)
            continue;
        unsigned __int128 v = 0;
        for (size_t k = i; k < end; k++)
            v = v * 10 + (unsigned)(body[k] - '0');
        if (v > UINT64_MAX)
            continue;
        n += (size_t)snprintf(out + n - 1, 24, "\"0x%llx\"", (unsigned long long)v) - 1;
        i = end - 1;
    }
    *ret_len = n;
    return out;
}

/* jansson's reasons quote the body, and may end inside a character. */
static void make_printable(char *text)
{
    size_t left = strlen(text);
    while (left > 0) {
        size_t n = utf8_sequence(text, left);
        if (n == 0 || (unsigned char)*text < 0x20 || *text == 0x7f)
            *text = '?';
        n = n ? n : 1;
        text += n;
        left -= n;
    }
}

enum err format_json_load(const char *body, size_t len, json_t **ret, struct error *err)
{
    if (len >= 3 && memcmp(body, "\xef\xbb\xbf", 3) == 0) {
        body += 3;
        len -= 3;
    }
    json_error_t why;
    size_t max = FORMAT_JSON_BYTES_MIN + len * FORMAT_JSON_BYTES_EACH;
    json_t *root = load_within(body, len, max, &why);
    if (!root && !refused && json_error_code(&why) == json_error_numeric_overflow) {
        size_t quoted_len = 0;
        char *quoted = quote_large_integers(body, len, &quoted_len);
        if (quoted)
            root = load_within(quoted, quoted_len, max, &why);
        free(quoted);
    }
    if (!root && refused) {
        malloc_trim(0); /* or each thread would keep as much of it */
        return error_set(err, ERR_LIMIT, "the JSON has too many values for its size");
    }
    if (!root) {
        if (starved || json_error_code(&why) == json_error_out_of_memory || !why.text[0])
            return error_set(err, ERR_NO_MEMORY, "no memory for the JSON");
        enum err rc = ERR_FORMAT;
        make_printable(why.text);
        if (why.line > 1 || memchr(body, '\n', len))
            error_set(err, rc, "not valid JSON: %s (line %d, column %d)", why.text, why.line,
                      why.column);
        else /* of an NDJSON body, whose reader counts the lines */
            error_set(err, rc, "not valid JSON: %s (column %d)", why.text, why.column);
        if (err && rc == ERR_FORMAT && why.line > 0)
            err->line = (unsigned)why.line;
        return rc;
    }
    *ret = root;
    return ERR_OK;
}

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

bool json_clean_text(const json_t *value, size_t max)
{
    const char *s = json_string_value(value);
    size_t n = json_string_length(value);
    if (!s || n > max)
        return false;
    for (size_t i = 0; i < n; i++) {
        if ((unsigned char)s[i] < 0x20 || s[i] == 0x7f)
            return false;
    }
    return true;
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
        refuse_at(f, "too long", at, key);
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
    if (!s)
        reason = "not a string";
    else if (json_string_length(v) > max)
        reason = "too long";
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
        return refuse_at(f, "out of range", at, key);
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
            return refuse_at(f, "out of range", at, key);
        *ret = i;
        return true;
    }
    double d;
    if (!fields_number(f, object, at, key, (double)min, (double)max, &d))
        return false;
    *ret = (int64_t)llround(d);
    return true;
}

bool fields_int(struct fields *f, json_t *object, const char *at, const char *key, int64_t min,
                int64_t max, int64_t *ret)
{
    json_t *v = f->failed ? NULL : fields_get(object, key);
    const double d = json_is_real(v) ? json_real_value(v) : 0;
    if (d != trunc(d) || fabs(d) >= REAL_EXACT_MAX)
        return refuse_at(f, "not a whole number", at, key);
    return fields_rounded(f, object, at, key, min, max, ret);
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
        return refuse_at(f, "not an address", at, key);
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
