#include "symbolizer/symbol_map.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/utf8.h"

#define MAGIC     "BCSymbolMap Version:"
#define HIDDEN    "__hidden#"
#define DIGITS    8 /* of a number, at most: SYMBOL_MAP_NAMES_MAX has as many */
#define NO_NUMBER UINT32_MAX

struct symbol_map {
    char *text;      /* lines, each ended by a NUL */
    uint32_t *lines; /* where name N begins in it */
    size_t count;
    bool plain_symbols; /* version 1.0: see the header */
};

bool symbol_map_recognize(const void *head, size_t len)
{
    return len >= sizeof(MAGIC) - 1 && memcmp(head, MAGIC, sizeof(MAGIC) - 1) == 0;
}

/* "1.0" or "2.0" behind the magic. */
static enum err read_version(struct symbol_map *m, const char *line, size_t len, struct error *err)
{
    const char *version = line + sizeof(MAGIC) - 1;
    if (!symbol_map_recognize(line, len))
        return error_set(err, ERR_FORMAT, "line 1 is not \"" MAGIC " 2.0\"");
    len -= sizeof(MAGIC) - 1;
    while (len > 0 && *version == ' ') {
        version++;
        len--;
    }
    m->plain_symbols = len == 3 && memcmp(version, "1.0", 3) == 0;
    if (m->plain_symbols || (len == 3 && memcmp(version, "2.0", 3) == 0))
        return ERR_OK;
    return error_set(err, ERR_UNSUPPORTED, "a symbol map of version %.*s; 1.0 and 2.0 are read",
                     (int)(len < 16 ? len : 16), version);
}

static enum err check_line(const char *line, size_t len, size_t number, struct error *err)
{
    if (memchr(line, 0, len))
        return error_set(err, ERR_FORMAT, "line %zu of the symbol map has a NUL", number);
    if (!utf8_valid(line, len))
        return error_set(err, ERR_FORMAT, "line %zu of the symbol map is not UTF-8", number);
    return ERR_OK;
}

/* Lines are counted first, so that the table of their places is made once. */
static enum err make_room(struct symbol_map *m, size_t size, struct error *err)
{
    size_t lines = 1;
    for (const char *p = m->text; (p = memchr(p, '\n', (size_t)(m->text + size - p))); p++)
        lines++;
    if (lines > SYMBOL_MAP_NAMES_MAX)
        return error_set(err, ERR_LIMIT, "the symbol map has more than %zu names",
                         SYMBOL_MAP_NAMES_MAX);
    m->lines = calloc(lines, sizeof(*m->lines));
    return m->lines ? ERR_OK : error_set(err, ERR_NO_MEMORY, "no memory for a symbol map");
}

static enum err read_lines(struct symbol_map *m, size_t size, struct error *err)
{
    enum err rc = make_room(m, size, err);
    size_t number = 0;
    for (size_t at = 0; rc == ERR_OK && at < size;) {
        char *line = m->text + at;
        const char *end = memchr(line, '\n', size - at);
        size_t len = end ? (size_t)(end - line) : size - at;
        at += len + 1;
        line[len] = 0;
        if (len > 0 && line[len - 1] == '\r')
            line[--len] = 0;
        number++;
        rc = check_line(line, len, number, err);
        if (rc == ERR_OK && number == 1)
            rc = read_version(m, line, len, err);
        else if (rc == ERR_OK)
            m->lines[m->count++] = (uint32_t)(line - m->text);
    }
    if (rc == ERR_OK && m->count == 0)
        rc = error_set(err, ERR_FORMAT, "the symbol map has no names");
    return rc;
}

/* `text` has room for one byte more; it is the map's from now on. */
static enum err take_text(char *text, size_t size, struct symbol_map **ret, struct error *err)
{
    struct symbol_map *m = calloc(1, sizeof(*m));
    if (!m) {
        free(text);
        return error_set(err, ERR_NO_MEMORY, "no memory for a symbol map");
    }
    m->text = text;
    m->text[size] = 0;
    enum err rc = symbol_map_recognize(text, size)
                      ? read_lines(m, size, err)
                      : error_set(err, ERR_FORMAT, "line 1 is not \"" MAGIC " 2.0\"");
    if (rc != ERR_OK) {
        symbol_map_free(m);
        return rc;
    }
    *ret = m;
    return ERR_OK;
}

enum err symbol_map_parse(const void *data, size_t size, struct symbol_map **ret, struct error *err)
{
    if (size > SYMBOL_MAP_BYTES_MAX)
        return error_set(err, ERR_LIMIT, "the symbol map has more than %zu bytes",
                         SYMBOL_MAP_BYTES_MAX);
    char *text = malloc(size + 1);
    if (!text)
        return error_set(err, ERR_NO_MEMORY, "no memory for a symbol map");
    if (size > 0)
        memcpy(text, data, size);
    return take_text(text, size, ret, err);
}

enum err symbol_map_open(const char *path, struct symbol_map **ret, struct error *err)
{
    struct buf b;
    buf_init(&b, SYMBOL_MAP_BYTES_MAX);
    enum err rc = file_read(path, &b, err);
    if (rc == ERR_LIMIT)
        error_set(err, ERR_LIMIT, "the symbol map has more than %zu bytes", SYMBOL_MAP_BYTES_MAX);
    if (rc == ERR_OK)
        rc = symbol_map_parse(b.data, b.len, ret, err);
    buf_done(&b);
    return rc;
}

void symbol_map_free(struct symbol_map *m)
{
    if (!m)
        return;
    free(m->text);
    free(m->lines);
    free(m);
}

size_t symbol_map_count(const struct symbol_map *m)
{
    return m->count;
}

/* N of "__hidden#N_", NO_NUMBER of anything else. More digits than a map has lines: none has it. */
static uint32_t hidden_number(const char *text)
{
    if (strncmp(text, HIDDEN, sizeof(HIDDEN) - 1) != 0)
        return NO_NUMBER;
    const char *p = text + sizeof(HIDDEN) - 1;
    size_t digits = strspn(p, "0123456789");
    if (digits == 0 || p[digits] != '_' || p[digits + 1])
        return NO_NUMBER;
    uint32_t n = 0;
    for (size_t i = 0; i < digits; i++)
        n = i < DIGITS ? n * 10 + (uint32_t)(p[i] - '0') : NO_NUMBER - 1;
    return n;
}

bool symbol_map_is_hidden(const char *name)
{
    if (name[0] != '_' || name[1] != '_')
        return false;
    return hidden_number(name) != NO_NUMBER || hidden_number(name + 1) != NO_NUMBER;
}

/* The line of that number, NULL when the map has none or it is empty. */
static const char *find_line(const struct symbol_map *m, uint32_t number)
{
    if (number < m->count && m->text[m->lines[number]])
        return m->text + m->lines[number];
    return NULL;
}

const char *symbol_map_name(const struct symbol_map *m, const char *text)
{
    if (!m || !text || text[0] != '_' || text[1] != '_')
        return text;
    uint32_t number = hidden_number(text);
    if (number == NO_NUMBER)
        return text;
    const char *line = find_line(m, number);
    if (!line)
        return text;
    return line[0] == '\1' && line[1] ? line + 1 : line;
}

static const char *without_underscore(const char *text)
{
    return text + (*text == '_' && text[1]);
}

const char *symbol_map_symbol(const struct symbol_map *m, const char *text)
{
    const char *hidden = text;
    uint32_t number = hidden_number(hidden);
    bool prefixed = number == NO_NUMBER && *text == '_';
    if (prefixed)
        number = hidden_number(++hidden);
    if (number == NO_NUMBER)
        return text + (*text == '_');
    const char *line = m ? find_line(m, number) : NULL;
    if (!line)
        return hidden;
    if (line[0] == '\1' && line[1])
        return without_underscore(line + 1);
    return prefixed && m->plain_symbols ? line : without_underscore(line);
}
