#include "server/analysis/rules_match.h"

#include <string.h>

#include "server/analysis/rules_parts.h"

bool rules_glob(const char *pattern, const char *text)
{
    const char *star = NULL;
    const char *again = NULL;
    while (*text) {
        if (*pattern == '*') {
            star = ++pattern;
            again = text;
            if (!*star)
                return true;
        } else if (*pattern == '?' || *pattern == *text) {
            pattern++;
            text++;
        } else if (star) {
            /* on to the next place where it can go on */
            pattern = star;
            text = *star == '*' || *star == '?' ? again + 1 : strchr(again + 1, *star);
            if (!text)
                return false;
            again = text;
        } else {
            return false;
        }
    }
    while (*pattern == '*')
        pattern++;
    return *pattern == 0;
}

size_t rules_bucket(const char *first_bytes)
{
    return (size_t)(hash64(first_bytes, RULES_PREFIX, 0) % RULES_BUCKETS);
}

size_t rules_image_bucket(const char *first_bytes)
{
    return (size_t)(hash64(first_bytes, IMAGE_PREFIX, 0) % IMAGE_BUCKETS);
}

void rules_add_pairs(struct rule_pairs *pairs, const char *text, bool pattern)
{
    const char wild[2] = {pattern ? '*' : 0, pattern ? '?' : 0};
    for (; text[0] && text[1]; text++) {
        if (text[0] == wild[0] || text[0] == wild[1] || text[1] == wild[0] || text[1] == wild[1])
            continue;
        const unsigned pair = ((unsigned char)text[0] * 31u + (unsigned char)text[1]) & 255;
        pairs->bits[pair / 64] |= UINT64_C(1) << pair % 64;
    }
}

static bool has_pairs(const struct rule_pairs *text, const struct rule_pairs *pattern)
{
    uint64_t lacking = 0;
    for (size_t i = 0; i < 4; i++)
        lacking |= pattern->bits[i] & ~text->bits[i];
    return lacking == 0;
}

/* Patterns need not say `static`: NULL where a name does not. */
static const char *without_static(const char *key)
{
    static const char STATIC[] = "static ";
    return key && strncmp(key, STATIC, sizeof(STATIC) - 1) == 0 ? key + sizeof(STATIC) - 1 : NULL;
}

static bool match_one(const struct rule_pattern *pattern, enum pattern_kind kind,
                      const struct rule_subject *s)
{
    switch (kind) {
    case PATTERN_IMAGE:
        return rules_glob(pattern->text, s->image ? s->image : "");
    case PATTERN_FILE: {
        const char *file = s->file ? s->file : "";
        const char *base = strrchr(file, '/');
        return rules_glob(pattern->text, file) || (base && rules_glob(pattern->text, base + 1));
    }
    case PATTERN_MODULE:
        return s->module && rules_glob(pattern->text, s->module);
    case PATTERN_FUNCTION: {
        const char *bare = without_static(s->key);
        return (s->key && *s->key && rules_glob(pattern->text, s->key)) ||
               (bare && rules_glob(pattern->text, bare)) ||
               (s->shown && rules_glob(pattern->text, s->shown));
    }
    case PATTERN_KINDS:
        break;
    }
    return false;
}

static bool class_fits(const struct rule *rule, const struct rule_subject *s)
{
    switch (rule->on) {
    case ON_APP:
        return s->in_app;
    case ON_SYSTEM:
        return !s->in_app && !s->vendor;
    case ON_VENDOR:
        return s->vendor;
    case ON_ANY:
        break;
    }
    return true;
}

/* `hit` is the function pattern that led here, NULL for a rule without one. */
static bool rule_matches(const struct rule *rule, const struct rule_subject *s,
                         const struct rule_pattern *hit)
{
    if (s->position < rule->position_from || s->position > rule->position_to)
        return false;
    if (rule->named != TRI_ANY && (rule->named == TRI_YES) != s->named)
        return false;
    if (!class_fits(rule, s))
        return false;
    for (int kind = 0; kind < PATTERN_KINDS; kind++) {
        bool found = !rule->positive[kind] || (kind == PATTERN_FUNCTION && hit);
        for (const struct rule_pattern *p = rule->patterns[kind]; p; p = p->next) {
            if (p->negated) {
                if (match_one(p, (enum pattern_kind)kind, s))
                    return false;
            } else if (!found) {
                found = match_one(p, (enum pattern_kind)kind, s);
            }
        }
        if (!found)
            return false;
    }
    return true;
}

static const char *why_of(const struct rule *rule, const struct rule_pattern *pattern, int kind)
{
    if (pattern && kind == RULE_FATE)
        return pattern->why[0];
    if (pattern && kind == RULE_CLASS)
        return pattern->why[1];
    return rule->labels[kind];
}

static bool has_position(const struct rule *rule)
{
    return rule->position_from > 0 || rule->position_to < UINT32_MAX;
}

/* Returns whether the position was asked for. */
static bool take(const struct rule_entry *entry, const struct rule_subject *s,
                 struct rule_match ret[RULE_KINDS])
{
    const struct rule *rule = entry->rule;
    bool better = false;
    for (int kind = 0; kind < RULE_KINDS && !better; kind++)
        better =
            (rule->kinds & (1u << kind)) && (!ret[kind].action || ret[kind].order > rule->order);
    if (!better)
        return false;
    if (!rule_matches(rule, s, entry->pattern))
        return has_position(rule);
    for (int kind = 0; kind < RULE_KINDS; kind++) {
        if (!(rule->kinds & (1u << kind)) || (ret[kind].action && ret[kind].order <= rule->order))
            continue;
        ret[kind].action = &rule->actions[kind];
        ret[kind].line = rule->line;
        ret[kind].order = rule->order;
        ret[kind].label = rule->labels[kind];
        ret[kind].pattern = entry->pattern ? entry->pattern->text : NULL;
        ret[kind].why = why_of(rule, entry->pattern, kind);
    }
    return has_position(rule);
}

static bool match_name(const struct rules *r, const char *name, const struct rule_subject *s,
                       struct rule_match ret[RULE_KINDS])
{
    bool asked = false;
    if (!name || strnlen(name, RULES_PREFIX) < RULES_PREFIX)
        return false;
    for (const struct rule_entry *e = r->buckets[rules_bucket(name)]; e; e = e->next) {
        if (rules_glob(e->pattern->text, name))
            asked = take(e, s, ret) || asked;
    }
    return asked;
}

static bool match_image(const struct rules *r, const struct rule_subject *s,
                        struct rule_match ret[RULE_KINDS])
{
    bool asked = false;
    if (!s->image || strnlen(s->image, IMAGE_PREFIX) < IMAGE_PREFIX)
        return false;
    for (const struct rule_entry *e = r->by_image[rules_image_bucket(s->image)]; e; e = e->next) {
        if (class_fits(e->rule, s) && rules_glob(e->image->text, s->image))
            asked = take(e, s, ret) || asked;
    }
    return asked;
}

bool rules_match(const struct rules *r, const struct rule_subject *subject,
                 struct rule_match ret[RULE_KINDS])
{
    memset(ret, 0, sizeof(ret[0]) * RULE_KINDS);
    bool asked = match_name(r, subject->key, subject, ret);
    asked = match_name(r, without_static(subject->key), subject, ret) || asked;
    if (subject->shown && (!subject->key || strcmp(subject->key, subject->shown) != 0))
        asked = match_name(r, subject->shown, subject, ret) || asked;
    asked = match_image(r, subject, ret) || asked;
    struct rule_pairs pairs = {{0}};
    if (subject->key)
        rules_add_pairs(&pairs, subject->key, false);
    if (subject->shown)
        rules_add_pairs(&pairs, subject->shown, false);
    for (const struct rule_entry *e = r->loose; e; e = e->next) {
        if (!class_fits(e->rule, subject) || (e->pattern && !has_pairs(&pairs, &e->pattern->pairs)))
            continue;
        if (!e->pattern || match_one(e->pattern, PATTERN_FUNCTION, subject))
            asked = take(e, subject, ret) || asked;
    }
    return asked;
}

bool rules_is_platform(const struct rules *r, const char *image_name)
{
    struct rule_subject s = {.image = image_name};
    struct rule_match match[RULE_KINDS];
    if (!image_name)
        return false;
    memset(match, 0, sizeof(match));
    for (const struct rule_entry *e = r->platform; e; e = e->next)
        take(e, &s, match);
    return match[RULE_PLATFORM].action && match[RULE_PLATFORM].action->value == VALUE_YES;
}

uint32_t rules_position_cap(const struct rules *r)
{
    return r->position_cap;
}
