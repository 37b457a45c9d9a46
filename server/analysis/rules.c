/*
 * Reads the language that the head of conf/cluster.rules describes. A rule is a line and the
 * indented lines after it; its head ends at the first `:` that ends a word, function patterns
 * follow.
 */
#include "server/analysis/rules.h"

#include <stdlib.h>
#include <string.h>

#include "cluster_rules.h"
#include "server/analysis/cluster_key.h"
#include "server/analysis/rules_parts.h"

#define RULES_MEMORY_MAX (64u * 1024 * 1024)

struct reader {
    struct rules *rules;
    const char *p;
    const char *end;
    uint32_t line;
    size_t patterns;
    size_t capacity;
    struct rule *rule; /* being read */
    struct error *err;
};

static const struct {
    const char *word;
    enum rule_kind kind;
    enum rule_value value;
    bool flag; /* `boundary=no` takes it back */
} ACTIONS[] = {
    {"drop", RULE_FATE, VALUE_DROP, false},
    {"keep", RULE_FATE, VALUE_YES, false},
    {"app", RULE_CLASS, VALUE_APP, false},
    {"system", RULE_CLASS, VALUE_SYSTEM, false},
    {"vendor", RULE_CLASS, VALUE_VENDOR, false},
    {"platform", RULE_PLATFORM, VALUE_YES, true},
    {"boundary", RULE_BOUNDARY, VALUE_YES, true},
    {"plumbing", RULE_PLUMBING, VALUE_YES, true},
    {"group", RULE_GROUP, VALUE_TEXT, false},
    {"category", RULE_CATEGORY, VALUE_TEXT, false},
    {"owner", RULE_OWNER, VALUE_TEXT, false},
    {"depth", RULE_DEPTH, VALUE_TEXT, false},
    {"system_group", RULE_SYSTEM_GROUP, VALUE_TEXT, false},
};

static enum err no_memory(struct reader *r)
{
    return error_set(r->err, ERR_NO_MEMORY, "line %u: no memory for the rules", r->line);
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

/* Blanks, comments, and line ends when the next line goes on with this rule. False at its end. */
static bool skip_to_word(struct reader *r)
{
    for (;;) {
        while (r->p < r->end && is_blank(*r->p))
            r->p++;
        if (r->p < r->end && *r->p == '#') {
            while (r->p < r->end && *r->p != '\n')
                r->p++;
        }
        if (r->p == r->end)
            return false;
        if (*r->p != '\n')
            return true;
        const char *next = r->p + 1;
        while (next < r->end && is_blank(*next))
            next++;
        if (next == r->p + 1 || next == r->end || *next == '\n')
            return false;
        r->p = next;
        r->line++;
    }
}

/* One word; quotes hold blanks and commas together. `stop` ends it too (0: none). */
static enum err read_text(struct reader *r, char stop, char out[RULES_PATTERN_MAX + 1],
                          bool *ret_quoted)
{
    size_t n = 0;
    bool quoted = false;
    bool any = false;
    for (; r->p < r->end && *r->p != '\n'; r->p++) {
        char c = *r->p;
        if (c == '"') {
            quoted = !quoted;
            any = true;
            continue;
        }
        if (!quoted && (is_blank(c) || (stop && c == stop)))
            break;
        if (quoted && c == '\\' && r->p + 1 < r->end && r->p[1] != '\n')
            c = *++r->p;
        if (n == RULES_PATTERN_MAX)
            return error_set(r->err, ERR_LIMIT, "line %u: a word has more than %d bytes", r->line,
                             RULES_PATTERN_MAX);
        if (c == 0)
            return error_set(r->err, ERR_INVALID, "line %u: a zero byte", r->line);
        out[n++] = c;
    }
    if (quoted)
        return error_set(r->err, ERR_INVALID, "line %u: a quote that is never closed", r->line);
    out[n] = 0;
    *ret_quoted = any;
    return ERR_OK;
}

static enum err add_entry(struct reader *r, struct rule_entry **head,
                          const struct rule_pattern *pattern)
{
    struct rule_entry *entry = arena_alloc(&r->rules->arena, sizeof(*entry));
    if (!entry)
        return no_memory(r);
    if (r->rule->kinds == 1u << RULE_PLATFORM)
        head = &r->rules->platform;
    entry->rule = r->rule;
    entry->pattern = pattern;
    entry->next = *head;
    *head = entry;
    return ERR_OK;
}

/* Where a function pattern is looked up: by its first bytes; `?[Feed*`, a method of the class or
 * of its objects, under both signs. */
static enum err add_function(struct reader *r, const struct rule_pattern *pattern)
{
    char method[RULES_PREFIX + 1] = "-[";
    const char *text = pattern->text;
    if (strcspn(text, "*?") >= RULES_PREFIX)
        return add_entry(r, &r->rules->buckets[rules_bucket(text)], pattern);
    if (strncmp(text, "?[", 2) != 0 || strcspn(text + 2, "*?") < RULES_PREFIX - 2)
        return add_entry(r, &r->rules->loose, pattern);
    memcpy(method + 2, text + 2, RULES_PREFIX - 2);
    enum err e = add_entry(r, &r->rules->buckets[rules_bucket(method)], pattern);
    method[0] = '+';
    return e == ERR_OK ? add_entry(r, &r->rules->buckets[rules_bucket(method)], pattern) : e;
}

/* A rule without a function pattern: found by the first bytes of its images, if it names some. */
static enum err add_bare_rule(struct reader *r)
{
    const struct rule *rule = r->rule;
    if (!rule->positive[PATTERN_IMAGE] || rule->kinds == 1u << RULE_PLATFORM)
        return add_entry(r, &r->rules->loose, NULL);
    for (const struct rule_pattern *p = rule->patterns[PATTERN_IMAGE]; p; p = p->next) {
        if (!p->negated && strcspn(p->text, "*?") < IMAGE_PREFIX)
            return add_entry(r, &r->rules->loose, NULL);
    }
    for (const struct rule_pattern *p = rule->patterns[PATTERN_IMAGE]; p; p = p->next) {
        if (p->negated)
            continue;
        struct rule_entry *entry = arena_alloc(&r->rules->arena, sizeof(*entry));
        if (!entry)
            return no_memory(r);
        struct rule_entry **head = &r->rules->by_image[rules_image_bucket(p->text)];
        *entry = (struct rule_entry){.rule = rule, .image = p, .next = *head};
        *head = entry;
    }
    return ERR_OK;
}

static enum err add_pattern(struct reader *r, enum pattern_kind kind, const char *text,
                            bool negated)
{
    if (!*text)
        return error_set(r->err, ERR_INVALID, "line %u: an empty pattern", r->line);
    if (++r->patterns > RULES_PATTERNS_MAX)
        return error_set(r->err, ERR_LIMIT, "line %u: more than %d patterns", r->line,
                         RULES_PATTERNS_MAX);
    struct rule_pattern *pattern = arena_alloc(&r->rules->arena, sizeof(*pattern));
    if (!pattern || !(pattern->text = arena_strdup(&r->rules->arena, text)))
        return no_memory(r);
    rules_add_pairs(&pattern->pairs, text, true);
    pattern->negated = negated;
    pattern->next = r->rule->patterns[kind];
    r->rule->patterns[kind] = pattern;
    if (negated)
        return ERR_OK;
    r->rule->positive[kind] = true;
    return kind == PATTERN_FUNCTION ? add_function(r, pattern) : ERR_OK;
}

static bool parse_number(const char *text, uint32_t max, uint32_t *ret)
{
    char *end;
    if (*text < '0' || *text > '9')
        return false;
    unsigned long n = strtoul(text, &end, 10);
    if (*end || n > max)
        return false;
    *ret = (uint32_t)n;
    return true;
}

static enum err read_position(struct reader *r, char *text)
{
    char *dash = strchr(text, '-');
    uint32_t from = 0;
    uint32_t to = UINT32_MAX;
    if (dash)
        *dash = 0;
    bool good = parse_number(text, RULES_LINES_MAX, &from);
    if (dash && dash[1])
        good = good && parse_number(dash + 1, RULES_LINES_MAX, &to) && to >= from;
    else if (!dash)
        to = from;
    if (!good)
        return error_set(r->err, ERR_INVALID, "line %u: `position` wants N, N-M or N-", r->line);
    r->rule->position_from = from;
    r->rule->position_to = to;
    return ERR_OK;
}

static enum err read_on(struct reader *r, const char *text)
{
    static const char *const WORDS[] = {"any", "app", "system", "vendor"};
    for (int i = 0; i < 4; i++) {
        if (strcmp(text, WORDS[i]) == 0) {
            r->rule->on = (enum rule_on)i;
            return ERR_OK;
        }
    }
    return error_set(r->err, ERR_INVALID,
                     "line %u: `on` wants app, system, vendor or any, not `%s`", r->line, text);
}

/* `image=A,B`, `image!=A`, `file=…`, `module=…`, `function=…`: the list of patterns behind the sign. */
static enum err read_patterns(struct reader *r, enum pattern_kind kind, bool negated, bool *colon)
{
    char text[RULES_PATTERN_MAX + 1];
    bool quoted;
    for (;;) {
        enum err e = read_text(r, ',', text, &quoted);
        if (e != ERR_OK)
            return e;
        bool more = r->p < r->end && *r->p == ',';
        size_t n = strlen(text);
        if (!more && n > 0 && text[n - 1] == ':' && r->p[-1] == ':') {
            text[n - 1] = 0;
            *colon = true;
        }
        e = add_pattern(r, kind, text, negated);
        if (e != ERR_OK || !more)
            return e;
        r->p++;
    }
}

static enum err add_action(struct reader *r, size_t k, const char *text)
{
    enum rule_kind kind = ACTIONS[k].kind;
    struct rule_action *action = &r->rule->actions[kind];
    if (r->rule->kinds & (1u << kind))
        return error_set(r->err, ERR_INVALID, "line %u: `%s` contradicts what stands before it",
                         r->line, ACTIONS[k].word);
    r->rule->kinds |= 1u << kind;
    action->value = ACTIONS[k].value;
    if (ACTIONS[k].flag && *text) {
        if (strcmp(text, "no") != 0 && strcmp(text, "yes") != 0)
            return error_set(r->err, ERR_INVALID, "line %u: `%s` wants yes or no, not `%s`",
                             r->line, ACTIONS[k].word, text);
        action->value = strcmp(text, "no") == 0 ? VALUE_NO : VALUE_YES;
    } else if (kind == RULE_DEPTH) {
        if (!parse_number(text, RULES_DEPTH_MAX, &action->number) || action->number == 0)
            return error_set(r->err, ERR_INVALID, "line %u: `depth` wants a number from 1 to %d",
                             r->line, RULES_DEPTH_MAX);
    } else if (ACTIONS[k].value == VALUE_TEXT && !*text) {
        return error_set(r->err, ERR_INVALID, "line %u: `%s` wants a name", r->line,
                         ACTIONS[k].word);
    } else if (*text && ACTIONS[k].value != VALUE_TEXT && ACTIONS[k].value != VALUE_DROP) {
        return error_set(r->err, ERR_INVALID, "line %u: `%s` takes no value", r->line,
                         ACTIONS[k].word);
    }
    if (*text && !(action->text = arena_strdup(&r->rules->arena, text)))
        return no_memory(r);
    r->rule->labels[kind] =
        arena_printf(&r->rules->arena, *text ? "%s %s" : "%s", ACTIONS[k].word, text);
    return r->rule->labels[kind] ? ERR_OK : no_memory(r);
}

/* A word of the head: an action or a matcher. `word` is what stands before `=`, `!=` or the end. */
static enum err read_head_word(struct reader *r, bool *colon)
{
    static const char *const KINDS[PATTERN_KINDS] = {"image", "file", "module", "function"};
    char word[RULES_PATTERN_MAX + 1];
    char text[RULES_PATTERN_MAX + 1] = "";
    bool quoted;
    enum err e = read_text(r, '=', word, &quoted);
    if (e != ERR_OK)
        return e;
    bool value = r->p < r->end && *r->p == '=';
    size_t n = strlen(word);
    bool negated = value && n > 0 && word[n - 1] == '!';
    if (negated)
        word[--n] = 0;
    r->p += value ? 1 : 0;
    for (int k = 0; value && k < PATTERN_KINDS; k++) {
        if (strcmp(word, KINDS[k]) == 0)
            return read_patterns(r, (enum pattern_kind)k, negated, colon);
    }
    if (negated)
        return error_set(r->err, ERR_INVALID, "line %u: `%s` cannot be negated", r->line, word);
    if (value && (e = read_text(r, 0, text, &quoted)) != ERR_OK)
        return e;
    char *last = value ? text : word;
    n = strlen(last);
    if (n > 0 && last[n - 1] == ':' && r->p[-1] == ':') {
        last[n - 1] = 0;
        *colon = true;
    }
    for (size_t k = 0; k < sizeof(ACTIONS) / sizeof(ACTIONS[0]); k++) {
        if (strcmp(word, ACTIONS[k].word) == 0)
            return add_action(r, k, text);
    }
    if (value && strcmp(word, "position") == 0)
        return read_position(r, text);
    if (value && strcmp(word, "on") == 0)
        return read_on(r, text);
    if (value && strcmp(word, "named") == 0 &&
        (strcmp(text, "yes") == 0 || strcmp(text, "no") == 0)) {
        r->rule->named = strcmp(text, "yes") == 0 ? TRI_YES : TRI_NO;
        return ERR_OK;
    }
    return error_set(
        r->err, ERR_INVALID,
        value ? "line %u: unknown matcher `%s=`"
              : "line %u: unknown action `%s` (patterns of functions stand after a colon)",
        r->line, word);
}

static enum err read_functions(struct reader *r)
{
    char text[RULES_PATTERN_MAX + 1];
    bool quoted;
    size_t before = r->patterns;
    while (skip_to_word(r)) {
        bool negated = *r->p == '!' && r->p + 1 < r->end && !is_blank(r->p[1]) && r->p[1] != '\n';
        r->p += negated ? 1 : 0;
        enum err e = read_text(r, 0, text, &quoted);
        if (e == ERR_OK)
            e = add_pattern(r, PATTERN_FUNCTION, text, negated);
        if (e != ERR_OK)
            return e;
    }
    if (r->patterns == before)
        return error_set(r->err, ERR_INVALID, "line %u: no function pattern after the colon",
                         r->line);
    return ERR_OK;
}

static enum err check_rule(struct reader *r)
{
    const struct rule *rule = r->rule;
    bool narrow = rule->on != ON_ANY || rule->named != TRI_ANY || rule->position_from > 0 ||
                  rule->position_to != UINT32_MAX;
    for (int k = 0; k < PATTERN_KINDS; k++)
        narrow = narrow || rule->patterns[k];
    if (rule->kinds == 0)
        return error_set(r->err, ERR_INVALID, "line %u: a rule without an action", rule->line);
    if ((rule->kinds & (1u << RULE_PLATFORM)) &&
        (!rule->patterns[PATTERN_IMAGE] || rule->patterns[PATTERN_FUNCTION] ||
         rule->patterns[PATTERN_FILE] || rule->patterns[PATTERN_MODULE]))
        return error_set(r->err, ERR_INVALID, "line %u: `platform` wants `image=` alone",
                         rule->line);
    if ((rule->kinds & (1u << RULE_PLATFORM)) && rule->kinds != 1u << RULE_PLATFORM)
        return error_set(r->err, ERR_INVALID, "line %u: `platform` goes with no other action",
                         rule->line);
    uint32_t narrowing =
        (1u << RULE_FATE) | (1u << RULE_CLASS) | (1u << RULE_BOUNDARY) | (1u << RULE_GROUP);
    if (!narrow && (rule->kinds & narrowing))
        return error_set(r->err, ERR_INVALID,
                         "line %u: this rule would meet every frame; give it a matcher",
                         rule->line);
    return ERR_OK;
}

/* What a verdict says of each function pattern, made once. */
static enum err explain(struct reader *r)
{
    static const enum rule_kind KINDS[2] = {RULE_FATE, RULE_CLASS};
    struct rule *rule = r->rule;
    for (struct rule_pattern *p = rule->patterns[PATTERN_FUNCTION]; p; p = p->next) {
        for (int i = 0; i < 2; i++) {
            if (!(rule->kinds & (1u << KINDS[i])) || p->negated)
                continue;
            p->why[i] = arena_printf(&r->rules->arena, "%s: %s", rule->labels[KINDS[i]], p->text);
            if (!p->why[i])
                return no_memory(r);
        }
    }
    uint32_t last = rule->position_to == UINT32_MAX ? rule->position_from : rule->position_to + 1;
    if (last > r->rules->position_cap)
        r->rules->position_cap = last;
    return ERR_OK;
}

static enum err new_rule(struct reader *r)
{
    struct rules *rules = r->rules;
    if (rules->count == r->capacity)
        return error_set(r->err, ERR_LIMIT, "line %u: more than %d rules", r->line,
                         RULES_LINES_MAX);
    r->rule = &rules->rules[rules->count];
    r->rule->position_to = UINT32_MAX;
    r->rule->line = r->line;
    r->rule->order = (uint32_t)rules->count++;
    return ERR_OK;
}

static enum err read_rule(struct reader *r)
{
    bool colon = false;
    enum err e = new_rule(r);
    while (e == ERR_OK && !colon && skip_to_word(r))
        e = read_head_word(r, &colon);
    if (e == ERR_OK && colon)
        e = read_functions(r);
    if (e == ERR_OK)
        e = check_rule(r);
    if (e == ERR_OK)
        e = explain(r);
    if (e == ERR_OK && !r->rule->positive[PATTERN_FUNCTION])
        e = add_bare_rule(r);
    return e;
}

static enum err read_rules(struct reader *r)
{
    while (r->p < r->end) {
        while (r->p < r->end && is_blank(*r->p))
            r->p++;
        if (r->p < r->end && *r->p == '\n') {
            r->p++;
            r->line++;
        } else if (r->p < r->end && *r->p == '#') {
            while (r->p < r->end && *r->p != '\n')
                r->p++;
        } else if (r->p < r->end) {
            enum err e = read_rule(r);
            if (e != ERR_OK)
                return e;
        }
    }
    return ERR_OK;
}

static size_t count_lines(const char *text, size_t len)
{
    size_t n = 1;
    for (size_t i = 0; i < len; i++)
        n += text[i] == '\n';
    return n;
}

static void set_version(struct rules *r, const char *text, size_t len)
{
    uint8_t digest[SHA256_SIZE];
    struct sha256 sha;
    const uint8_t form = KEY_FORM;
    sha256_init(&sha);
    sha256_update(&sha, &form, sizeof(form));
    sha256_update(&sha, text, len);
    sha256_final(&sha, digest);
    sha256_format(digest, r->version);
}

enum err rules_new(const char *text, size_t len, struct rules **ret, struct error *err)
{
    if (len > RULES_TEXT_MAX)
        return error_set(err, ERR_LIMIT, "rules of %zu bytes; at most %d are read", len,
                         RULES_TEXT_MAX);
    struct rules *rules = calloc(1, sizeof(*rules));
    if (!rules)
        return error_set(err, ERR_NO_MEMORY, "no memory for the rules");
    arena_init(&rules->arena, RULES_MEMORY_MAX);
    struct reader r = {.rules = rules, .p = text, .end = text + len, .line = 1, .err = err};
    r.capacity = count_lines(text, len);
    if (r.capacity > RULES_LINES_MAX)
        r.capacity = RULES_LINES_MAX;
    rules->rules = arena_array(&rules->arena, r.capacity, sizeof(*rules->rules));
    enum err e = rules->rules ? read_rules(&r) : no_memory(&r);
    if (e != ERR_OK) {
        rules_free(rules);
        return e;
    }
    set_version(rules, text, len);
    *ret = rules;
    return ERR_OK;
}

enum err rules_new_default(struct rules **ret, struct error *err)
{
    return rules_new((const char *)CLUSTER_RULES, sizeof(CLUSTER_RULES), ret, err);
}

void rules_free(struct rules *r)
{
    if (!r)
        return;
    arena_done(&r->arena);
    free(r);
}

const char *rules_version(const struct rules *r)
{
    return r->version;
}
