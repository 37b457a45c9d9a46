#include "server/jobs/json_text.h"

#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"

#define LOAD_FLAGS (JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL)

/* --- memory ----------------------------------------------------------------------------------- */

/* What a tree may take while it is read, see json_text.h. jansson asks malloc through these. */
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
    /* jansson's lexer goes on without a byte that it had no memory for: "com.example.shp". */
    if (starved || refused) {
        json_decref(root);
        root = NULL;
    }
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

/* What comes instead of JSON in UTF-8, by its first bytes. */
static const struct {
    const char *bytes;
    size_t count;
    const char *what;
} STRANGERS[] = {
    {"\x1f\x8b", 2, "a gzip'd body needs Content-Encoding: gzip"},
    {"\x28\xb5\x2f\xfd", 4, "a zstd body needs Content-Encoding: zstd"},
    {"\xff\xfe", 2, "UTF-16, where UTF-8 is wanted"},
    {"\xfe\xff", 2, "UTF-16, where UTF-8 is wanted"},
    {"{\0", 2, "UTF-16 or UTF-32, where UTF-8 is wanted"},
    {"[\0", 2, "UTF-16 or UTF-32, where UTF-8 is wanted"},
    {"\0", 1, "UTF-16 or UTF-32, where UTF-8 is wanted"},
};

enum err json_text_check(const char *body, size_t len, struct error *err)
{
    for (size_t i = 0; i < sizeof(STRANGERS) / sizeof(STRANGERS[0]); i++) {
        if (len >= STRANGERS[i].count && memcmp(body, STRANGERS[i].bytes, STRANGERS[i].count) == 0)
            return error_set(err, ERR_FORMAT, "not JSON: %s", STRANGERS[i].what);
    }
    size_t blank = 0;
    while (blank < len && body[blank] && strchr(" \t\r\n", body[blank]))
        blank++;
    return blank < len ? ERR_OK : error_set(err, ERR_FORMAT, "the body is empty");
}

/* jansson's words for the common slip are about its own end of file. */
static void say_what_follows(json_error_t *why)
{
    static const char theirs[] = "end of file expected", ours[] = "more follows the value";
    char rest[sizeof(why->text)];
    if (json_error_code(why) != json_error_end_of_input_expected ||
        strncmp(why->text, theirs, sizeof(theirs) - 1) != 0)
        return;
    snprintf(rest, sizeof(rest), "%s", why->text + sizeof(theirs) - 1);
    snprintf(why->text, sizeof(why->text), "%s%.100s", ours, rest);
}

enum err json_text_load(const char *body, size_t len, json_t **ret, struct error *err)
{
    if (len >= 3 && memcmp(body, "\xef\xbb\xbf", 3) == 0) {
        body += 3;
        len -= 3;
    }
    enum err unfit = json_text_check(body, len, err);
    if (unfit != ERR_OK)
        return unfit;
    json_error_t why;
    size_t max = JSON_TEXT_BYTES_MIN + len * JSON_TEXT_BYTES_EACH;
    json_t *root = load_within(body, len, max, &why);
    if (!root && !refused && json_error_code(&why) == json_error_numeric_overflow) {
        size_t quoted_len = 0;
        char *quoted = quote_large_integers(body, len, &quoted_len);
        starved = !quoted;
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
        say_what_follows(&why);
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
