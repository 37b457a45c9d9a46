#include "server/jobs/slice_line.h"

#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/utf8.h"

enum value_kind { VALUE_TEXT, VALUE_NUMBER, VALUE_BOOL, VALUE_NULL };

struct value {
    enum value_kind kind;
    const char *text; /* VALUE_TEXT */
    uint64_t number;  /* VALUE_NUMBER */
    bool flag;        /* VALUE_BOOL */
};

struct parser {
    const char *start;
    struct cursor in;
    struct arena *arena;
    struct error *err;
};

static enum err wrong(const struct parser *p, const char *what)
{
    size_t at = (size_t)((const char *)p->in.p - p->start);
    return error_set(p->err, ERR_FORMAT, "%s at byte %zu", what, at);
}

static int peek(const struct parser *p)
{
    return p->in.p < p->in.end ? *p->in.p : -1;
}

static void skip_blanks(struct parser *p)
{
    while (peek(p) == ' ' || peek(p) == '\t' || peek(p) == '\r')
        p->in.p++;
}

static bool accept(struct parser *p, char c)
{
    if (peek(p) != (unsigned char)c)
        return false;
    p->in.p++;
    return true;
}

/* --- values ----------------------------------------------------------------------------------- */

static bool hex4(struct parser *p, uint32_t *ret)
{
    uint32_t v = 0;
    for (int i = 0; i < 4; i++) {
        int c = cursor_u8(&p->in);
        if (c >= '0' && c <= '9')
            v = v * 16 + (uint32_t)(c - '0');
        else if ((c | 0x20) >= 'a' && (c | 0x20) <= 'f')
            v = v * 16 + (uint32_t)((c | 0x20) - 'a' + 10);
        else
            return false;
    }
    *ret = v;
    return true;
}

/* After "\u": the code point, surrogate pairs joined; 0 and lone surrogates are refused. */
static bool escaped_unicode(struct parser *p, uint32_t *ret)
{
    uint32_t high, low;
    if (!hex4(p, &high) || high == 0 || (high >= 0xdc00 && high <= 0xdfff))
        return false;
    if (high >= 0xd800 && high <= 0xdbff) {
        if (!accept(p, '\\') || !accept(p, 'u') || !hex4(p, &low) || low < 0xdc00 || low > 0xdfff)
            return false;
        high = 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00);
    }
    *ret = high;
    return true;
}

static bool escaped(struct parser *p, char *out, size_t *len)
{
    static const char from[] = "\"\\/bfnrt";
    static const char to[] = "\"\\/\b\f\n\r\t";
    int c = cursor_u8(&p->in);
    if (c == 'u') {
        uint32_t code = 0;
        if (!escaped_unicode(p, &code))
            return false;
        *len += utf8_encode(code, out + *len);
        return true;
    }
    const char *at = c ? strchr(from, c) : NULL;
    if (!at)
        return false;
    out[(*len)++] = to[at - from];
    return true;
}

/* After the opening quote. Bytes above 0x7f pass as they are: the store checks nothing and shows
 * them through an encoder that does. */
static enum err parse_text(struct parser *p, const char **ret)
{
    char text[SLICE_TEXT_MAX + 4];
    size_t len = 0;
    while (!accept(p, '"')) {
        int c = cursor_u8(&p->in);
        if (c < 0x20)
            return wrong(p, p->in.overrun ? "end inside a text" : "control character in a text");
        if (c != '\\')
            text[len++] = (char)c;
        else if (!escaped(p, text, &len))
            return wrong(p, "bad escape");
        if (len > SLICE_TEXT_MAX)
            return wrong(p, "text too long");
    }
    *ret = arena_strndup(p->arena, text, len);
    return *ret ? ERR_OK : error_set(p->err, ERR_NO_MEMORY, "no memory for a slice");
}

static enum err parse_number(struct parser *p, uint64_t *ret)
{
    uint64_t v = 0;
    if (peek(p) == '0' && p->in.p + 1 < p->in.end && p->in.p[1] >= '0' && p->in.p[1] <= '9')
        return wrong(p, "number with a leading zero");
    while (peek(p) >= '0' && peek(p) <= '9') {
        uint64_t digit = (uint64_t)(*p->in.p - '0');
        if (v > (UINT64_MAX - digit) / 10)
            return wrong(p, "number too large");
        v = v * 10 + digit;
        p->in.p++;
    }
    if (peek(p) == '.' || peek(p) == 'e' || peek(p) == 'E')
        return wrong(p, "number that is no integer");
    *ret = v;
    return ERR_OK;
}

static bool accept_word(struct parser *p, const char *word)
{
    size_t n = strlen(word);
    if (cursor_left(&p->in) < n || memcmp(p->in.p, word, n) != 0)
        return false;
    p->in.p += n;
    return true;
}

static enum err parse_value(struct parser *p, struct value *ret)
{
    int c = peek(p);
    if (accept(p, '"')) {
        ret->kind = VALUE_TEXT;
        return parse_text(p, &ret->text);
    }
    if (c >= '0' && c <= '9') {
        ret->kind = VALUE_NUMBER;
        return parse_number(p, &ret->number);
    }
    ret->kind = VALUE_BOOL;
    ret->flag = accept_word(p, "true");
    if (ret->flag || accept_word(p, "false"))
        return ERR_OK;
    ret->kind = VALUE_NULL;
    if (accept_word(p, "null"))
        return ERR_OK;
    return wrong(p, "no text, number, true, false or null");
}

/* --- fields ----------------------------------------------------------------------------------- */

enum field_kind { FIELD_TEXT, FIELD_NUMBER, FIELD_BOOL, FIELD_UUID, FIELD_STATE, FIELD_SHA256 };

struct field {
    const char *name;
    enum field_kind kind;
    size_t offset; /* in struct slice_report */
};

#define AT(member) offsetof(struct slice_report, member)

static const struct field FIELDS[] = {
    {"state", FIELD_STATE, AT(state)},
    {"uuid", FIELD_UUID, AT(uuid)},
    {"name", FIELD_TEXT, AT(name)},
    {"member", FIELD_TEXT, AT(member)},
    {"arch", FIELD_TEXT, AT(arch)},
    {"reason", FIELD_TEXT, AT(reason)},
    {"has_dwarf", FIELD_BOOL, AT(has_dwarf)},
    {"functions", FIELD_NUMBER, AT(functions)},
    {"lines", FIELD_NUMBER, AT(lines)},
    {"inlines", FIELD_NUMBER, AT(inlines)},
    {"hidden", FIELD_NUMBER, AT(hidden)},
    {"index_bytes", FIELD_NUMBER, AT(index_bytes)},
    {"text_vmaddr", FIELD_NUMBER, AT(text_vmaddr)},
    {"text_size", FIELD_NUMBER, AT(text_size)},
    {"object_sha256", FIELD_SHA256, AT(object_sha256)},
    {"object_bytes", FIELD_NUMBER, AT(object_bytes)},
    {"index_file", FIELD_TEXT, AT(index_file)},
};
#define FIELD_COUNT (sizeof(FIELDS) / sizeof(FIELDS[0]))

/* Numbers may be written as "0x…", which is how this project shows addresses. */
static bool hex_text(const char *text, uint64_t *ret)
{
    uint64_t v = 0;
    size_t n = strlen(text);
    if (n < 3 || n > 18 || text[0] != '0' || text[1] != 'x')
        return false;
    for (const char *c = text + 2; *c; c++) {
        int digit = *c >= '0' && *c <= '9'   ? *c - '0'
                    : *c >= 'a' && *c <= 'f' ? *c - 'a' + 10
                    : *c >= 'A' && *c <= 'F' ? *c - 'A' + 10
                                             : -1;
        if (digit < 0)
            return false;
        v = v << 4 | (uint64_t)digit;
    }
    *ret = v;
    return true;
}

static bool set_number(const struct value *v, uint64_t *place)
{
    if (v->kind == VALUE_TEXT)
        return hex_text(v->text, place);
    *place = v->kind == VALUE_NUMBER ? v->number : 0;
    return v->kind == VALUE_NUMBER || v->kind == VALUE_NULL;
}

static bool set_sha256(const struct value *v, char *place)
{
    if (v->kind == VALUE_NULL || (v->kind == VALUE_TEXT && !*v->text))
        return true; /* an object that could not be read */
    if (v->kind != VALUE_TEXT || strlen(v->text) != SHA256_TEXT_SIZE - 1 ||
        strspn(v->text, "0123456789abcdef") != SHA256_TEXT_SIZE - 1)
        return false;
    memcpy(place, v->text, SHA256_TEXT_SIZE);
    return true;
}

static bool set_state(const struct value *v, enum slice_state *place)
{
    if (v->kind != VALUE_TEXT)
        return false;
    static const char *const words[] = {
        [SLICE_INDEXED] = "indexed", [SLICE_FAILED] = "failed", [SLICE_KNOWN] = "known"};
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (strcmp(v->text, words[i]) == 0) {
            *place = (enum slice_state)i;
            return true;
        }
    }
    return false;
}

static bool set_field(const struct field *f, const struct value *v, struct slice_report *r)
{
    char *place = (char *)r + f->offset;
    switch (f->kind) {
    case FIELD_TEXT:
        *(const char **)place = v->kind == VALUE_TEXT ? v->text : NULL;
        return v->kind == VALUE_TEXT || v->kind == VALUE_NULL;
    case FIELD_NUMBER:
        return set_number(v, (uint64_t *)place);
    case FIELD_BOOL:
        *(bool *)place = v->kind == VALUE_BOOL && v->flag;
        return v->kind == VALUE_BOOL;
    case FIELD_UUID:
        return v->kind == VALUE_NULL ||
               (v->kind == VALUE_TEXT &&
                uuid_parse(v->text, strlen(v->text), (struct uuid *)place));
    case FIELD_STATE:
        return set_state(v, (enum slice_state *)place);
    case FIELD_SHA256:
        return set_sha256(v, place);
    }
    return false;
}

static enum err parse_member(struct parser *p, struct slice_report *r, uint32_t *seen)
{
    const char *key = NULL;
    struct value v = {.kind = VALUE_NULL};
    skip_blanks(p);
    if (!accept(p, '"'))
        return wrong(p, "no key");
    enum err rc = parse_text(p, &key);
    if (rc != ERR_OK)
        return rc;
    skip_blanks(p);
    if (!accept(p, ':'))
        return wrong(p, "no colon");
    skip_blanks(p);
    rc = parse_value(p, &v);
    if (rc != ERR_OK)
        return rc;
    skip_blanks(p);
    for (size_t i = 0; i < FIELD_COUNT; i++) {
        if (strcmp(FIELDS[i].name, key) != 0)
            continue;
        if (*seen & 1u << i)
            return wrong(p, "a key twice");
        *seen |= 1u << i;
        if (!set_field(&FIELDS[i], &v, r))
            return error_set(p->err, ERR_FORMAT, "\"%s\" has a value of the wrong kind", key);
    }
    return ERR_OK;
}

static enum err parse_object(struct parser *p, struct slice_report *r, uint32_t *seen)
{
    skip_blanks(p);
    if (!accept(p, '{'))
        return wrong(p, "no object");
    do {
        enum err rc = parse_member(p, r, seen);
        if (rc != ERR_OK)
            return rc;
    } while (accept(p, ','));
    if (!accept(p, '}'))
        return wrong(p, "no closing brace");
    skip_blanks(p);
    return peek(p) == -1 ? ERR_OK : wrong(p, "something after the object");
}

/* "UUID.gsym" or "UUID.N.gsym" with the slice's own UUID. */
static bool is_index_name(const char *name, const struct uuid *uuid)
{
    char text[UUID_TEXT_SIZE];
    size_t n = UUID_TEXT_SIZE - 1;
    if (strncmp(name, uuid_format(uuid, text), n) != 0 || name[n] != '.')
        return false;
    const char *p = name + n + 1;
    size_t digits = strspn(p, "0123456789");
    if (digits > 0 && digits <= 6 && p[digits] == '.')
        p += digits + 1;
    return strcmp(p, "gsym") == 0;
}

enum err slice_line_parse(const char *line, size_t len, struct arena *arena,
                          struct slice_report *ret, struct error *err)
{
    struct parser p = {.start = line, .in = cursor_of(line, len), .arena = arena, .err = err};
    struct slice_report r;
    uint32_t seen = 0;
    memset(&r, 0, sizeof(r));
    enum err rc = parse_object(&p, &r, &seen);
    if (rc != ERR_OK)
        return rc;
    if (!(seen & 1u)) /* FIELDS[0] */
        return error_set(err, ERR_FORMAT, "\"state\" is missing");
    if (!r.name)
        r.name = "";
    if (!r.member)
        r.member = "";
    if (!r.arch)
        r.arch = "";
    if (r.state != SLICE_FAILED && uuid_is_nil(&r.uuid))
        return error_set(err, ERR_FORMAT, "an indexed slice without a UUID");
    if (r.state == SLICE_INDEXED && (!r.index_file || !is_index_name(r.index_file, &r.uuid)))
        return error_set(err, ERR_FORMAT, "an index file that is not named by its UUID");
    *ret = r;
    return ERR_OK;
}

static bool take_count(struct cursor *c, const char *before, uint64_t *ret)
{
    size_t n = strlen(before);
    const uint8_t *p = cursor_take(c, n);
    uint64_t v = 0;
    size_t digits = 0;
    if (!p || memcmp(p, before, n) != 0)
        return false;
    for (; c->p < c->end && *c->p >= '0' && *c->p <= '9' && digits < 18; digits++)
        v = v * 10 + (uint64_t)(*c->p++ - '0');
    *ret = v;
    return digits > 0;
}

bool slice_line_totals(const char *line, size_t len, struct symbol_index_totals *ret)
{
    struct symbol_index_totals t;
    struct cursor c = cursor_of(line, len);
    if (!take_count(&c, "{\"state\":\"totals\",\"maps\":", &t.maps) ||
        !take_count(&c, ",\"others\":", &t.others) || cursor_left(&c) != 1 || *c.p != '}')
        return false;
    *ret = t;
    return true;
}
