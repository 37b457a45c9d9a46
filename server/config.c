#include "server/config.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/file.h"
#include "base/near_name.h"

#define PREFIX         "STALLSYM_"
#define VALUE_MAX      1024
#define VARIABLE_MAX   128
#define FIRST_LINE_MAX 256 /* keys a file can set, for the line of the first setting */

/* One load: where problems go, and where each key was set. */
struct loader {
    struct config *config;
    struct buf *problems;
    struct error *err;
    size_t problem_count;
    unsigned set_in_line[FIRST_LINE_MAX];
};

static void problem(struct loader *l, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static void problem(struct loader *l, const char *fmt, ...)
{
    char text[sizeof(l->err->text)];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    if (l->problem_count++ == 0)
        error_set(l->err, ERR_INVALID, "%s", text);
    if (l->problems)
        buf_printf(l->problems, "%s\n", text);
}

static void *place_of(const struct config *c, const struct config_key *key)
{
    return (char *)(uintptr_t)c + key->offset;
}

static const struct config_key *find_key(const char *section, const char *name)
{
    size_t count;
    const struct config_key *keys = config_keys(&count);
    for (size_t i = 0; i < count; i++) {
        if (strcmp(keys[i].section, section) == 0 && strcmp(keys[i].name, name) == 0)
            return &keys[i];
    }
    return NULL;
}

static bool section_exists(const char *section)
{
    size_t count;
    const struct config_key *keys = config_keys(&count);
    for (size_t i = 0; i < count; i++) {
        if (strcmp(keys[i].section, section) == 0)
            return true;
    }
    return false;
}

/* The key of the section whose name is nearest to `name`, or with NULL the one whose section's is; NULL:
 * near to none. */
static const struct config_key *near_key(const char *section, const char *name)
{
    size_t count, best = NEAR_NAME_FAR;
    const struct config_key *keys = config_keys(&count), *found = NULL;
    for (size_t i = 0; i < count; i++) {
        if (section && strcmp(keys[i].section, section) != 0)
            continue;
        size_t slips = near_name(section ? keys[i].name : keys[i].section, name);
        if (slips < best) {
            best = slips;
            found = &keys[i];
        }
    }
    return found;
}

/* The first key of that name in any section. */
static const struct config_key *same_key(const char *name)
{
    size_t count;
    const struct config_key *keys = config_keys(&count);
    for (size_t i = 0; i < count; i++) {
        if (strcasecmp(keys[i].name, name) == 0)
            return &keys[i];
    }
    return NULL;
}

/* --- values ----------------------------------------------------------------------------------- */

static bool parse_number(const char *value, bool size, uint64_t *ret)
{
    char *end = NULL;
    if (!isdigit((unsigned char)*value))
        return false;
    errno = 0;
    uint64_t n = strtoull(value, &end, 10);
    if (errno != 0)
        return false;
    unsigned shift = 0;
    if (size && *end) {
        static const char suffixes[] = "KMG";
        const char *at = strchr(suffixes, toupper((unsigned char)*end));
        if (!at)
            return false;
        shift = 10 * (unsigned)(at - suffixes + 1);
        end++;
    }
    if (*end || n > UINT64_MAX >> shift)
        return false;
    *ret = n << shift;
    return true;
}

static bool parse_bool(const char *value, bool *ret)
{
    static const char *const words[][2] = {
        {"no", "yes"}, {"false", "true"}, {"off", "on"}, {"0", "1"}};
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        for (int v = 0; v < 2; v++) {
            if (strcasecmp(value, words[i][v]) == 0) {
                *ret = v == 1;
                return true;
            }
        }
    }
    return false;
}

static bool is_choice(const char *choices, const char *value)
{
    size_t len = strlen(value);
    for (const char *p = choices; *p;) {
        size_t n = strcspn(p, " ");
        if (n == len && memcmp(p, value, n) == 0)
            return true;
        p += n;
        p += strspn(p, " ");
    }
    return false;
}

static void format_number(const struct config_key *key, uint64_t v, char *out, size_t size)
{
    static const char suffixes[] = "KMG";
    int i = -1;
    while (key->type == CONFIG_SIZE && v > 0 && v % 1024 == 0 && i < 2) {
        v /= 1024;
        i++;
    }
    if (i >= 0)
        snprintf(out, size, "%" PRIu64 "%c", v, suffixes[i]);
    else
        snprintf(out, size, "%" PRIu64, v);
}

/* What is wrong with a value that is written as other kinds of files want it; NULL: nothing. A text taken
 * as it stands would be a folder with quotes or a comment in its name. */
static const char *other_syntax(const char *value)
{
    size_t n = strlen(value);
    if (n >= 2 && (*value == '"' || *value == '\'') && value[n - 1] == *value)
        return "a value is written without quotes";
    if (strstr(value, " #") || strstr(value, "\t#"))
        return "a comment has a line of its own";
    return NULL;
}

/* Writes what is wrong with a value of this kind. */
static void explain(const struct config_key *key, const char *value, char *out, size_t size)
{
    char low[32], high[32];
    const char *why = other_syntax(value);
    if (why) {
        snprintf(out, size, "%s", why);
        return;
    }
    switch (key->type) {
    case CONFIG_NUMBER:
    case CONFIG_SIZE:
        format_number(key, key->min, low, sizeof(low));
        format_number(key, key->max, high, sizeof(high));
        snprintf(out, size, "a %s from %s to %s is wanted",
                 key->type == CONFIG_SIZE ? "size (K, M, G)" : "number", low, high);
        break;
    case CONFIG_BOOL:
        snprintf(out, size, "yes or no is wanted");
        break;
    case CONFIG_CHOICE:
        snprintf(out, size, "one of \"%s\" is wanted", key->choices);
        break;
    case CONFIG_TEXT: {
        why = key->check && strlen(value) <= VALUE_MAX ? key->check(value) : NULL;
        if (why)
            snprintf(out, size, "%s", why);
        else
            snprintf(out, size, "a text of at most %d bytes is wanted", VALUE_MAX);
        break;
    }
    }
}

/* False when the value is not one of this key. ERR_NO_MEMORY shows as false, too. */
static bool set_value(struct config *c, const struct config_key *key, const char *value)
{
    void *place = place_of(c, key);
    switch (key->type) {
    case CONFIG_NUMBER:
    case CONFIG_SIZE: {
        uint64_t v = 0;
        if (!parse_number(value, key->type == CONFIG_SIZE, &v) || v < key->min || v > key->max)
            return false;
        *(uint64_t *)place = v;
        return true;
    }
    case CONFIG_BOOL:
        return parse_bool(value, place);
    case CONFIG_CHOICE:
    case CONFIG_TEXT: {
        if (strlen(value) > VALUE_MAX || (key->choices && !is_choice(key->choices, value)) ||
            (key->type == CONFIG_TEXT && other_syntax(value)) || (key->check && key->check(value)))
            return false;
        char *copy = strdup(value);
        if (!copy)
            return false;
        free(*(char **)place);
        *(char **)place = copy;
        return true;
    }
    }
    return false;
}

static void set_or_complain(struct loader *l, const struct config_key *key, const char *value,
                            const char *where)
{
    char wanted[256];
    if (set_value(l->config, key, value))
        return;
    explain(key, value, wanted, sizeof(wanted));
    problem(l, "%s: [%s] %s = %.100s: %s", where, key->section, key->name, value, wanted);
}

/* --- the file --------------------------------------------------------------------------------- */

static char *trim(char *s)
{
    while (isspace((unsigned char)*s))
        s++;
    size_t n = strlen(s);
    while (n > 0 && isspace((unsigned char)s[n - 1]))
        s[--n] = 0;
    return s;
}

static void read_section(struct loader *l, char *line, const char *where, char *section,
                         size_t size)
{
    size_t n = strlen(line);
    section[0] = 0;
    if (line[n - 1] != ']') {
        problem(l, "%s: \"]\" is missing", where);
        return;
    }
    line[n - 1] = 0;
    const char *name = trim(line + 1);
    if (!section_exists(name)) {
        const struct config_key *near = near_key(NULL, name);
        problem(l, "%s: there is no section [%.60s]%s%s%s", where, name, near ? "; [" : "",
                near ? near->section : "", near ? "] is one" : "");
        return;
    }
    snprintf(section, size, "%s", name);
}

static void no_key(struct loader *l, const char *where, const char *section, const char *name)
{
    const struct config_key *near = near_key(section, name), *same = near ? NULL : same_key(name);
    char hint[128] = "";
    if (near)
        snprintf(hint, sizeof(hint), "; \"%s\" is one", near->name);
    else if (same)
        snprintf(hint, sizeof(hint), "; [%s] has it", same->section);
    problem(l, "%s: there is no key \"%.60s\" in [%s]%s", where, name, section, hint);
}

static void read_setting(struct loader *l, char *line, const char *where, unsigned number,
                         const char *section)
{
    char *equals = strchr(line, '=');
    if (!equals) {
        problem(l, "%s: \"name = value\" is wanted, not \"%.60s\"", where, line);
        return;
    }
    *equals = 0;
    const char *name = trim(line);
    const struct config_key *key = find_key(section, name);
    if (!key) {
        no_key(l, where, section, name);
        return;
    }
    size_t count;
    size_t index = (size_t)(key - config_keys(&count));
    if (index < FIRST_LINE_MAX && l->set_in_line[index] != 0) {
        problem(l, "%s: [%s] %s is set twice, first in line %u", where, section, name,
                l->set_in_line[index]);
        return;
    }
    if (index < FIRST_LINE_MAX)
        l->set_in_line[index] = number;
    set_or_complain(l, key, trim(equals + 1), where);
}

static void read_lines(struct loader *l, const char *path, char *text)
{
    char section[64] = "";
    bool lost = false; /* after a section that is unknown its keys are not reported, too */
    unsigned number = 0;
    for (char *next = text; next;) {
        char *line = next;
        char where[512];
        next = strchr(line, '\n');
        if (next)
            *next++ = 0;
        number++;
        snprintf(where, sizeof(where), "%.400s:%u", path, number);
        line = trim(line);
        if (*line == 0 || *line == '#' || *line == ';')
            continue;
        if (*line == '[') {
            read_section(l, line, where, section, sizeof(section));
            lost = section[0] == 0;
        } else if (section[0]) {
            read_setting(l, line, where, number, section);
        } else if (!lost) {
            problem(l, "%s: a setting before the first [section]", where);
        }
    }
}

static enum err read_file(const char *path, struct buf *out, struct error *err)
{
    enum err rc = file_read(path, out, err);
    if (rc == ERR_OK && out->len > 0 && memchr(out->data, 0, out->len))
        rc = error_set(err, ERR_FORMAT, "%s is no text file", path);
    return rc;
}

/* --- the environment -------------------------------------------------------------------------- */

static void variable_of(const struct config_key *key, char *out, size_t size)
{
    int n = snprintf(out, size, PREFIX "%s_%s", key->section, key->name);
    for (int i = 0; i < n && (size_t)i < size; i++)
        out[i] = (char)toupper((unsigned char)out[i]);
}

static const char *variable_value(char *const *environment, const char *variable)
{
    size_t n = strlen(variable);
    for (char *const *e = environment; e && *e; e++) {
        if (strncmp(*e, variable, n) == 0 && (*e)[n] == '=')
            return *e + n + 1;
    }
    return NULL;
}

static void read_environment(struct loader *l, char *const *environment)
{
    size_t count;
    const struct config_key *keys = config_keys(&count);
    for (size_t i = 0; i < count; i++) {
        char variable[VARIABLE_MAX];
        variable_of(&keys[i], variable, sizeof(variable));
        const char *value = variable_value(environment, variable);
        if (value)
            set_or_complain(l, &keys[i], value, variable);
    }
}

/* Variables of ours that are no keys. */
static const char *const OTHERS[] = {"STALLSYM_URL", "STALLSYM_TOKEN", "STALLSYM_ADMIN_TOKEN",
                                     "STALLSYM_ADMIN_TOKEN_FILE"};

/* What Kubernetes and Docker say of a service or container that is named stallsym. */
static bool is_of_service(const char *name, const char *value)
{
    const char *port = strstr(name, "_PORT");
    return strstr(name, "_SERVICE_HOST") || strstr(name, "_SERVICE_PORT") ||
           (port && (strncmp(value, "tcp://", 6) == 0 || strncmp(value, "udp://", 6) == 0 ||
                     (port[5] == '_' && isdigit((unsigned char)port[6]))));
}

static bool is_other(const char *name)
{
    bool is = false;
    for (size_t i = 0; i < sizeof(OTHERS) / sizeof(OTHERS[0]); i++)
        is = is || strcmp(OTHERS[i], name) == 0;
    return is;
}

/* The variable that was meant, into `ret_near`, "" when none is near; true: it names a key. */
static bool find_variable(const char *name, char ret_near[VARIABLE_MAX])
{
    size_t count, best = NEAR_NAME_FAR;
    const struct config_key *keys = config_keys(&count);
    const struct config_key *same = same_key(name + sizeof(PREFIX) - 1);
    ret_near[0] = 0;
    for (size_t i = 0; i < count && best > 0; i++) {
        char variable[VARIABLE_MAX];
        variable_of(&keys[i], variable, sizeof(variable));
        size_t slips = 1 + near_name(variable + sizeof(PREFIX) - 1, name + sizeof(PREFIX) - 1);
        if (strcmp(variable, name) == 0)
            slips = 0;
        if (slips < best) {
            best = slips;
            memcpy(ret_near, variable, sizeof(variable));
        }
    }
    if (!*ret_near && same)
        variable_of(same, ret_near, VARIABLE_MAX);
    return best == 0;
}

void config_unknown_environment(char *const *environment, struct buf *out)
{
    for (char *const *e = environment; e && *e; e++) {
        char name[VARIABLE_MAX], near[VARIABLE_MAX];
        size_t len = strcspn(*e, "=");
        snprintf(name, sizeof(name), "%.*s", (int)(len < VARIABLE_MAX ? len : VARIABLE_MAX - 1),
                 *e);
        if (strncmp(name, PREFIX, sizeof(PREFIX) - 1) != 0 || is_other(name) ||
            is_of_service(name, (*e)[len] ? *e + len + 1 : "") || find_variable(name, near))
            continue;
        buf_printf(out, "%s names no key%s%s%s\n", name, *near ? "; " : "", near,
                   *near ? " does" : "");
    }
}

/* --- the whole -------------------------------------------------------------------------------- */

static void check_pairs(struct loader *l)
{
    const struct config_storage *s = &l->config->storage;
    if (s->queue_high > s->queue)
        problem(l, "[storage] queue_high = %" PRIu64 " is above queue = %" PRIu64, s->queue_high,
                s->queue);
    if (*s->dir == 0)
        problem(l, "[storage] dir is empty");
}

enum err config_load(const char *path, char *const *environment, struct config *ret,
                     struct buf *problems, struct error *err)
{
    struct config c;
    struct error first = {.code = ERR_OK};
    struct loader l = {.config = &c, .problems = problems, .err = &first};
    struct buf text;
    size_t count;
    const struct config_key *keys = config_keys(&count);
    memset(&c, 0, sizeof(c));
    buf_init(&text, CONFIG_FILE_MAX);
    for (size_t i = 0; i < count; i++)
        set_or_complain(&l, &keys[i], keys[i].initial, "built-in default");
    enum err rc = path ? read_file(path, &text, err) : ERR_OK;
    if (rc != ERR_OK)
        goto out;
    if (text.len > 0)
        read_lines(&l, path, text.data);
    read_environment(&l, environment);
    if (l.problem_count == 0)
        check_pairs(&l);
    if (l.problem_count > 1)
        rc = error_set(err, ERR_INVALID, "%.440s (and %zu more)", first.text, l.problem_count - 1);
    else if (l.problem_count == 1)
        rc = error_set(err, ERR_INVALID, "%s", first.text);
    if (rc != ERR_OK)
        goto out;
    *ret = c;
    memset(&c, 0, sizeof(c));
out:
    config_done(&c);
    buf_done(&text);
    return rc;
}

void config_done(struct config *c)
{
    size_t count;
    const struct config_key *keys = config_keys(&count);
    for (size_t i = 0; i < count; i++) {
        if (keys[i].type == CONFIG_TEXT || keys[i].type == CONFIG_CHOICE)
            free(*(char **)place_of(c, &keys[i]));
    }
    memset(c, 0, sizeof(*c));
}

bool config_print_value(const struct config *c, const struct config_key *key, struct buf *out)
{
    const void *place = place_of(c, key);
    char number[32];
    switch (key->type) {
    case CONFIG_NUMBER:
    case CONFIG_SIZE:
        format_number(key, *(const uint64_t *)place, number, sizeof(number));
        return buf_puts(out, number);
    case CONFIG_BOOL:
        return buf_puts(out, *(const bool *)place ? "yes" : "no");
    case CONFIG_CHOICE:
    case CONFIG_TEXT:
        return buf_puts(out, *(char *const *)place);
    }
    return false;
}

bool config_equal(const struct config *a, const struct config *b, const struct config_key *key)
{
    const void *x = place_of(a, key);
    const void *y = place_of(b, key);
    switch (key->type) {
    case CONFIG_NUMBER:
    case CONFIG_SIZE:
        return *(const uint64_t *)x == *(const uint64_t *)y;
    case CONFIG_BOOL:
        return *(const bool *)x == *(const bool *)y;
    case CONFIG_CHOICE:
    case CONFIG_TEXT:
        return strcmp(*(char *const *)x, *(char *const *)y) == 0;
    }
    return false;
}

bool config_print(const struct config *c, struct buf *out)
{
    size_t count;
    const struct config_key *keys = config_keys(&count);
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || strcmp(keys[i].section, keys[i - 1].section) != 0)
            buf_printf(out, "%s[%s]\n", i ? "\n" : "", keys[i].section);
        buf_printf(out, "%s = ", keys[i].name);
        config_print_value(c, &keys[i], out);
        buf_putc(out, '\n');
    }
    return !out->failed;
}
