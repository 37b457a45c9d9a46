/*
 * yaml_to_json - a build tool: server/openapi.yaml in, JSON out, so that the build needs neither
 * Python nor a YAML library.
 *
 * Purpose: the subset of YAML that openapi.yaml is written in: block mappings and sequences,
 * plain, single- and double-quoted scalars on one line, literal (|) and folded (>) blocks, flow
 * sequences and mappings on one line, comments. Numbers, true, false and null are what JSON makes
 * of them; anything else plain is a string.
 *
 * Invariants: whatever is not in the subset (tabs, anchors, tags, documents, keys twice, odd
 * indentation) is an error with its line, never a guess.
 */
#include <ctype.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINES_MAX 20000
#define DEPTH_MAX 64
#define KEYS_MAX  512 /* of one mapping */

struct line {
    int number;
    int indent;
    char *text; /* without indentation, comment and trailing blanks; "" for a blank line */
    char *raw;  /* the line as it is, for blocks */
};

static const char *file_name;
static struct line lines[LINES_MAX];
static int line_count;
static int at; /* the line whose turn it is */

static void fail(int number, const char *fmt, ...)
{
    va_list ap;
    fprintf(stderr, "%s:%d: ", file_name, number);
    va_start(ap, fmt);
    vfprintf(stderr, fmt, ap);
    va_end(ap);
    fputc('\n', stderr);
    exit(1);
}

static char *copy(const char *text, size_t len)
{
    char *out = malloc(len + 1);
    if (!out)
        exit(1);
    memcpy(out, text, len);
    out[len] = 0;
    return out;
}

/* --- lines ------------------------------------------------------------------------------------ */

/* Where the comment or the trailing blanks begin; quotes are minded. */
static size_t content_end(const char *p)
{
    char quote = 0;
    size_t i = 0;
    for (; p[i]; i++) {
        if (quote) {
            if (p[i] == '\\' && quote == '"' && p[i + 1])
                i++;
            else if (p[i] == quote)
                quote = 0;
        } else if ((p[i] == '"' || p[i] == '\'') && (i == 0 || strchr(" [{,:", p[i - 1]))) {
            quote = p[i];
        } else if (p[i] == '#' && (i == 0 || p[i - 1] == ' ')) {
            break;
        }
    }
    while (i > 0 && p[i - 1] == ' ')
        i--;
    return i;
}

static void read_lines(FILE *in)
{
    char *text = NULL;
    size_t room = 0;
    ssize_t len;
    while ((len = getline(&text, &room, in)) >= 0) {
        struct line *l = &lines[line_count];
        while (len > 0 && (text[len - 1] == '\n' || text[len - 1] == '\r'))
            text[--len] = 0;
        if (line_count == LINES_MAX)
            fail(line_count, "more than %d lines", LINES_MAX);
        l->number = ++line_count;
        if (strchr(text, '\t'))
            fail(l->number, "a tab");
        l->indent = (int)strspn(text, " ");
        l->raw = copy(text, (size_t)len);
        l->text = copy(text + l->indent, content_end(text + l->indent));
    }
    free(text);
}

static void skip_blank(void)
{
    while (at < line_count && !*lines[at].text)
        at++;
}

/* --- scalars ---------------------------------------------------------------------------------- */

static void put_char(unsigned char c)
{
    if (c == '"' || c == '\\')
        printf("\\%c", c);
    else if (c == '\n')
        fputs("\\n", stdout);
    else if (c < 0x20)
        printf("\\u%04x", c);
    else
        putchar(c);
}

static void put_string(const char *text)
{
    putchar('"');
    for (; *text; text++)
        put_char((unsigned char)*text);
    putchar('"');
}

static bool is_number(const char *p)
{
    p += *p == '-';
    size_t whole = strspn(p, "0123456789");
    if (whole == 0 || (whole > 1 && *p == '0'))
        return false;
    p += whole;
    if (*p == '.') {
        size_t part = strspn(p + 1, "0123456789");
        if (part == 0)
            return false;
        p += 1 + part;
    }
    return *p == 0;
}

/* The text of a quoted scalar at *p, which is moved behind it. */
static char *quoted(const char **p, int number)
{
    char quote = **p;
    char *out = malloc(strlen(*p) + 1);
    size_t n = 0;
    if (!out)
        exit(1);
    for ((*p)++; **p; (*p)++) {
        if (**p == quote && quote == '\'' && (*p)[1] == '\'') {
            out[n++] = quote;
            (*p)++;
        } else if (**p == quote) {
            (*p)++;
            out[n] = 0;
            return out;
        } else if (**p == '\\' && quote == '"') {
            static const char from[] = "nt\"\\/", to[] = "\n\t\"\\/";
            const char *f = strchr(from, *++(*p));
            if (!f || !*f)
                fail(number, "unknown escape in a string");
            out[n++] = to[f - from];
        } else {
            out[n++] = **p;
        }
    }
    fail(number, "a string does not end on its line");
    return NULL;
}

static void put_plain(const char *text, int number)
{
    if (strchr("&*!%@`|>", *text) && *text)
        fail(number, "\"%s\" is outside the subset", text);
    if (strcmp(text, "true") == 0 || strcmp(text, "false") == 0 || strcmp(text, "null") == 0 ||
        is_number(text))
        fputs(text, stdout);
    else if (strcmp(text, "~") == 0 || strcmp(text, "yes") == 0 || strcmp(text, "no") == 0)
        fail(number, "\"%s\" means different things to different readers: quote it", text);
    else
        put_string(text);
}

static void put_flow(const char **p, int number, int depth);

static void skip_spaces(const char **p)
{
    *p += strspn(*p, " ");
}

/* A scalar inside a flow collection. */
static void put_flow_scalar(const char **p, int number, bool key)
{
    if (**p == '"' || **p == '\'') {
        char *text = quoted(p, number);
        put_string(text);
        free(text);
        return;
    }
    size_t len = strcspn(*p, key ? ":,]}" : ",]}");
    while (len > 0 && (*p)[len - 1] == ' ')
        len--;
    if (len == 0)
        fail(number, "an empty item");
    char *text = copy(*p, len);
    if (key)
        put_string(text);
    else
        put_plain(text, number);
    free(text);
    *p += len;
}

static void put_flow(const char **p, int number, int depth)
{
    if (depth > DEPTH_MAX)
        fail(number, "nested too deeply");
    if (**p != '[' && **p != '{') {
        put_flow_scalar(p, number, false);
        return;
    }
    bool map = **p == '{';
    char end = map ? '}' : ']';
    putchar(map ? '{' : '[');
    (*p)++;
    skip_spaces(p);
    for (bool first = true; **p != end; first = false) {
        if (!first) {
            if (**p != ',')
                fail(number, "',' or '%c' is expected", end);
            (*p)++;
            skip_spaces(p);
            putchar(',');
        }
        if (map) {
            put_flow_scalar(p, number, true);
            skip_spaces(p);
            if (**p != ':')
                fail(number, "':' is expected");
            (*p)++;
            skip_spaces(p);
            putchar(':');
        }
        put_flow(p, number, depth + 1);
        skip_spaces(p);
    }
    (*p)++;
    putchar(end);
}

/* A value that stands on its line: quoted, flow or plain. */
static void put_inline(const char *text, int number)
{
    const char *p = text;
    if (*p == '"' || *p == '\'') {
        char *s = quoted(&p, number);
        put_string(s);
        free(s);
    } else if (*p == '[' || *p == '{') {
        put_flow(&p, number, 0);
    } else {
        put_plain(text, number);
        return;
    }
    skip_spaces(&p);
    if (*p)
        fail(number, "something stands behind the value: %s", p);
}

/* "|" or ">": the lines below that are indented more than `indent`. */
static void put_block(bool folded, int indent, int number)
{
    int depth = -1, blank = 0;
    bool any = false;
    putchar('"');
    for (; at < line_count; at++) {
        const char *raw = lines[at].raw;
        if (strspn(raw, " ") == strlen(raw)) {
            blank++;
            continue;
        }
        if (lines[at].indent <= indent)
            break;
        if (depth < 0)
            depth = lines[at].indent;
        if (lines[at].indent < depth)
            fail(lines[at].number, "indented less than the block");
        if (any && folded && blank == 0)
            putchar(' ');
        for (int i = any && !folded ? blank + 1 : blank; any && i > 0; i--)
            put_char('\n');
        blank = 0;
        any = true;
        for (const char *p = raw + depth; *p; p++)
            put_char((unsigned char)*p);
    }
    if (!any)
        fail(number, "an empty block");
    put_char('\n');
    putchar('"');
}

/* --- blocks ----------------------------------------------------------------------------------- */

static void put_node(int indent, int depth);

/* Splits "key: value" at the colon; NULL when the line is no such pair. */
static char *split_key(const char *text, const char **ret_value, int number)
{
    if (*text == '"' || *text == '\'') {
        const char *p = text;
        char *key = quoted(&p, number);
        if (*p != ':' || (p[1] && p[1] != ' ')) {
            free(key);
            return NULL;
        }
        p++;
        skip_spaces(&p);
        *ret_value = p;
        return key;
    }
    for (const char *p = text; (p = strchr(p, ':')); p++) {
        if (p[1] == 0 || p[1] == ' ') {
            *ret_value = p + 1 + strspn(p + 1, " ");
            return copy(text, (size_t)(p - text));
        }
    }
    return NULL;
}

static void put_value(const char *value, int indent, int number, int depth)
{
    if (*value == '|' || *value == '>') {
        if (value[1])
            fail(number, "block indicators are outside the subset");
        put_block(*value == '>', indent, number);
        return;
    }
    if (*value) {
        put_inline(value, number);
        return;
    }
    skip_blank();
    if (at == line_count || lines[at].indent < indent ||
        (lines[at].indent == indent && strncmp(lines[at].text, "- ", 2) != 0)) {
        fail(number, "a value is missing (write null)");
    }
    put_node(lines[at].indent, depth + 1);
}

static void put_mapping(int indent, int depth)
{
    char *keys[KEYS_MAX];
    int count = 0;
    putchar('{');
    for (skip_blank(); at < line_count && lines[at].indent == indent; skip_blank()) {
        const struct line *l = &lines[at];
        const char *value;
        char *key = split_key(l->text, &value, l->number);
        if (!key)
            fail(l->number, "\"key: value\" is expected");
        for (int i = 0; i < count; i++) {
            if (strcmp(keys[i], key) == 0)
                fail(l->number, "key \"%s\" twice", key);
        }
        if (count == KEYS_MAX)
            fail(l->number, "more than %d keys", KEYS_MAX);
        if (count > 0)
            putchar(',');
        keys[count++] = key;
        put_string(key);
        putchar(':');
        at++;
        put_value(value, indent, l->number, depth);
    }
    putchar('}');
    while (count > 0)
        free(keys[--count]);
}

static void put_sequence(int indent, int depth)
{
    bool first = true;
    putchar('[');
    for (skip_blank(); at < line_count && lines[at].indent == indent; skip_blank()) {
        struct line *l = &lines[at];
        const char *value;
        if (strncmp(l->text, "- ", 2) != 0)
            break; /* the parent mapping goes on at the same indentation */
        if (!first)
            putchar(',');
        first = false;
        int inner = 2 + (int)strspn(l->text + 2, " ");
        const char *item = l->text + inner;
        char *key = *item == '{' || *item == '[' ? NULL : split_key(item, &value, l->number);
        bool nested = strncmp(item, "- ", 2) == 0;
        if (key || nested) { /* a mapping or a sequence begins behind the dash */
            l->indent += inner;
            memmove(l->text, item, strlen(item) + 1);
            put_node(l->indent, depth + 1);
        } else {
            at++;
            put_value(item, indent, l->number, depth);
        }
        free(key);
    }
    putchar(']');
}

static void put_node(int indent, int depth)
{
    if (depth > DEPTH_MAX)
        fail(lines[at].number, "nested too deeply");
    if (strncmp(lines[at].text, "- ", 2) == 0)
        put_sequence(indent, depth);
    else
        put_mapping(indent, depth);
    skip_blank();
    if (at < line_count && lines[at].indent > indent)
        fail(lines[at].number, "indented more than what it belongs to");
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: yaml_to_json FILE.yaml >FILE.json\n");
        return 2;
    }
    file_name = argv[1];
    FILE *in = fopen(file_name, "r");
    if (!in) {
        perror(file_name);
        return 1;
    }
    read_lines(in);
    fclose(in);
    skip_blank();
    if (at == line_count)
        fail(line_count, "nothing in it");
    put_node(lines[at].indent, 0);
    if (at < line_count)
        fail(lines[at].number, "indented less than the first line");
    putchar('\n');
    for (int i = 0; i < line_count; i++) {
        free(lines[i].text);
        free(lines[i].raw);
    }
    return fflush(stdout) == 0 ? 0 : 1;
}
