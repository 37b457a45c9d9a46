#include "server/http/query.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/clock.h"
#include "base/utf8.h"
#include "storage/write_op.h"

#define PAGE_LIMIT_DEFAULT 50

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Percent-decodes text[0, len); `plus` turns '+' into a blank. */
static enum err decode(const char *text, size_t len, bool plus, struct arena *arena,
                       const char **ret, struct error *err)
{
    char *out = arena_alloc(arena, len + 1);
    size_t n = 0;
    if (!out)
        return arena->capped ? error_set(err, ERR_LIMIT, "request target is too large")
                             : error_set(err, ERR_NO_MEMORY, "no memory for a request");
    for (size_t i = 0; i < len; i++) {
        char c = text[i];
        if (c == '%') {
            if (len - i < 3 || hex_digit(text[i + 1]) < 0 || hex_digit(text[i + 2]) < 0)
                return error_set(err, ERR_INVALID, "request target has a broken percent escape");
            c = (char)(hex_digit(text[i + 1]) << 4 | hex_digit(text[i + 2]));
            i += 2;
        } else if (c == '+' && plus) {
            c = ' ';
        }
        if (c == 0)
            return error_set(err, ERR_INVALID, "request target contains a NUL");
        out[n++] = c;
    }
    if (!utf8_valid(out, n))
        return error_set(err, ERR_INVALID, "request target is not UTF-8");
    *ret = out;
    return ERR_OK;
}

static enum err parse_path(const char *path, size_t len, struct arena *arena, struct query *q,
                           struct error *err)
{
    const char *end = path + len;
    for (const char *p = path; p < end;) {
        p++; /* the slash */
        const char *slash = memchr(p, '/', (size_t)(end - p));
        const char *stop = slash ? slash : end;
        if (stop == end && p == end && q->segment_count == 0)
            break; /* "/" */
        if (q->segment_count == QUERY_SEGMENTS_MAX)
            return error_set(err, ERR_LIMIT, "request path has too many segments");
        enum err rc =
            decode(p, (size_t)(stop - p), false, arena, &q->segments[q->segment_count], err);
        if (rc != ERR_OK)
            return rc;
        q->segment_count++;
        p = stop;
    }
    return ERR_OK;
}

static enum err parse_param(const char *text, size_t len, struct arena *arena, struct query *q,
                            struct error *err)
{
    const char *equals = memchr(text, '=', len);
    size_t name_len = equals ? (size_t)(equals - text) : len;
    struct query_param param = {"", ""};
    if (q->param_count == QUERY_PARAMS_MAX)
        return error_set(err, ERR_INVALID, "more than %d parameters", QUERY_PARAMS_MAX);
    enum err rc = decode(text, name_len, true, arena, &param.name, err);
    if (rc == ERR_OK && equals)
        rc = decode(equals + 1, len - name_len - 1, true, arena, &param.value, err);
    if (rc != ERR_OK)
        return rc;
    if (query_get(q, param.name))
        return error_set(err, ERR_INVALID, "%.64s: given twice", param.name);
    q->params[q->param_count++] = param;
    return ERR_OK;
}

enum err query_parse(const char *target, struct arena *arena, struct query *ret, struct error *err)
{
    struct query q = {.segment_count = 0};
    /* The absolute form that proxies send: what stands before the path does not matter here. */
    if (strncasecmp(target, "http://", 7) == 0 || strncasecmp(target, "https://", 8) == 0) {
        target = strchr(target, ':') + 3;
        target += strcspn(target, "/?");
        if (*target != '/')
            target = "/";
    }
    if (*target != '/')
        return error_set(err, ERR_INVALID, "request target does not begin with a slash");
    for (const char *p = target; *p; p++) {
        if ((unsigned char)*p <= 0x20 || (unsigned char)*p >= 0x7f || *p == '#')
            return error_set(err, ERR_INVALID, "request target contains a forbidden character");
    }
    size_t path_len = strcspn(target, "?");
    enum err rc = parse_path(target, path_len, arena, &q, err);
    if (rc != ERR_OK)
        return rc;
    for (const char *p = target + path_len; *p;) {
        p++; /* '?' or '&' */
        size_t len = strcspn(p, "&");
        if (len > 0 && (rc = parse_param(p, len, arena, &q, err)) != ERR_OK)
            return rc;
        p += len;
    }
    *ret = q;
    return ERR_OK;
}

static bool has_word(const char *words, const char *word)
{
    size_t len = strlen(word);
    for (const char *p = words; *p;) {
        size_t n = strcspn(p, " ");
        if (n == len && n > 0 && memcmp(p, word, n) == 0)
            return true;
        p += n + strspn(p + n, " ");
    }
    return false;
}

enum err query_only(const struct query *q, const char *names, struct error *err)
{
    for (size_t i = 0; i < q->param_count; i++) {
        if (!has_word(names, q->params[i].name))
            return error_set(err, ERR_INVALID, "%.64s: no such parameter here%s%s",
                             q->params[i].name, *names ? "; known: " : "", names);
    }
    return ERR_OK;
}

const char *query_get(const struct query *q, const char *name)
{
    for (size_t i = 0; i < q->param_count; i++) {
        if (strcmp(q->params[i].name, name) == 0)
            return q->params[i].value;
    }
    return NULL;
}

const char *query_text(const struct query *q, const char *name)
{
    const char *value = query_get(q, name);
    return value && *value ? value : NULL;
}

bool query_parse_int(const char *text, int64_t *ret)
{
    const char *p = text + (*text == '-');
    size_t n = strlen(p);
    int64_t v = 0;
    if (n == 0 || n > 18 || strspn(p, "0123456789") != n)
        return false;
    for (; *p; p++)
        v = v * 10 + (*p - '0');
    *ret = *text == '-' ? -v : v;
    return true;
}

enum err query_int(const struct query *q, const char *name, int64_t min, int64_t max, int64_t *ret,
                   struct error *err)
{
    const char *text = query_text(q, name);
    int64_t v;
    if (!text)
        return ERR_OK;
    if (!query_parse_int(text, &v) || v < min || v > max)
        return error_set(err, ERR_INVALID, "%s: not a whole number from %lld to %lld", name,
                         (long long)min, (long long)max);
    *ret = v;
    return ERR_OK;
}

enum err query_bool(const struct query *q, const char *name, bool *ret, struct error *err)
{
    static const struct {
        const char *word;
        bool value;
    } words[] = {{"", true},   {"1", true},      {"true", true}, {"yes", true},
                 {"0", false}, {"false", false}, {"no", false}};
    const char *text = query_get(q, name);
    if (!text)
        return ERR_OK;
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (strcasecmp(text, words[i].word) == 0) {
            *ret = words[i].value;
            return ERR_OK;
        }
    }
    return error_set(err, ERR_INVALID, "%s: neither true nor false", name);
}

enum err query_time(const struct query *q, const char *name, int64_t *ret, struct error *err)
{
    const char *text = query_text(q, name);
    if (!text)
        return ERR_OK;
    if (query_parse_int(text, ret)) {
        if (!clock_is_seconds(*ret))
            return ERR_OK;
        return error_set(err, ERR_INVALID, "%s: epoch milliseconds are wanted, not seconds", name);
    }
    if (clock_parse_rfc3339(text, strlen(text), ret))
        return ERR_OK;
    return error_set(err, ERR_INVALID,
                     "%s: neither epoch milliseconds nor an RFC 3339 time with its zone, like "
                     "2026-11-30T08:00:00Z (a + is %%2B in a URL)",
                     name);
}

enum err query_word(const struct query *q, const char *name, const char *const *names, size_t count,
                    size_t *ret, struct error *err)
{
    const char *text = query_text(q, name);
    if (!text)
        return ERR_OK;
    for (size_t i = 0; i < count; i++) {
        if (strcmp(text, names[i]) == 0) {
            *ret = i;
            return ERR_OK;
        }
    }
    error_set(err, ERR_INVALID, "%s: not one of", name);
    for (size_t i = 0; err && i < count; i++) {
        size_t n = strlen(err->text);
        snprintf(err->text + n, sizeof(err->text) - n, "%s %s", i ? "," : "", names[i]);
    }
    return ERR_INVALID;
}

enum err query_page(const struct query *q, size_t *ret_limit, const char **ret_cursor,
                    struct error *err)
{
    int64_t limit = PAGE_LIMIT_DEFAULT;
    enum err rc = query_int(q, "limit", 1, READ_LIMIT_MAX, &limit, err);
    if (rc != ERR_OK)
        return rc;
    *ret_limit = (size_t)limit;
    *ret_cursor = query_text(q, "cursor");
    return ERR_OK;
}

enum err query_filter(const struct query *q, struct read_filter *ret, struct error *err)
{
    static const char *const states[] = {"open", "resolved", "ignored"};
    const char *kinds[REPORT_KINDS];
    struct read_filter f;
    size_t state = SIZE_MAX, kind = SIZE_MAX;
    enum err rc;
    for (size_t i = 0; i < REPORT_KINDS; i++)
        kinds[i] = report_kind_name((enum report_kind)i);
    read_filter_init(&f);
    if ((rc = query_word(q, "kind", kinds, REPORT_KINDS, &kind, err)) != ERR_OK ||
        (rc = query_word(q, "state", states, 3, &state, err)) != ERR_OK ||
        (rc = query_time(q, "since", &f.since_ms, err)) != ERR_OK ||
        (rc = query_time(q, "until", &f.until_ms, err)) != ERR_OK ||
        (rc = query_int(q, "min_duration_ms", 0, INT32_MAX, &f.min_duration_ms, err)) != ERR_OK)
        return rc;
    if (f.until_ms != INT64_MIN && f.since_ms >= f.until_ms)
        return error_set(err, ERR_INVALID, "since: not before until");
    if (kind != SIZE_MAX)
        f.kind = (int)kind;
    if (state != SIZE_MAX)
        f.state = states[state];
    f.bundle_id = query_text(q, "bundle_id");
    f.version = query_text(q, "version");
    f.build = query_text(q, "build");
    f.device = query_text(q, "device");
    f.os_version = query_text(q, "os_version");
    f.page = query_text(q, "page");
    f.category = query_text(q, "category");
    *ret = f;
    return ERR_OK;
}
