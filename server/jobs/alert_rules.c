#include "server/jobs/alert_rules.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "server/jobs/json_text.h"

#define NAME_BYTES   100
#define BUNDLE_BYTES 256
#define URL_BYTES    2000
#define SECRET_BYTES 500
#define HOUR_MS      ((int64_t)3600000)
#define WINDOW_HOURS 24
#define FACTOR       3.0
#define DROP         0.1
#define REPORTS_MAX  1000000000

static const char *const TARGET_NAMES[TARGET_KINDS] = {
    [TARGET_WEBHOOK] = "webhook",
    [TARGET_SLACK] = "slack",
    [TARGET_FEISHU] = "feishu",
    [TARGET_DINGTALK] = "dingtalk",
};

static const uint64_t MIN_REPORTS[ALERT_KINDS] = {
    [ALERT_NEW_CLUSTER] = 5,          [ALERT_SPIKE] = 10,           [ALERT_REGRESSION] = 1,
    [ALERT_SYMBOLICATION_RATE] = 100, [ALERT_MISSING_SYMBOLS] = 50, [ALERT_TEST] = 0,
};

struct reading {
    struct arena *arena;
    struct fields fields;
    const struct alert_rules *before;
    struct alert_rules *out;
    bool no_memory;
};

/* --- reading values --------------------------------------------------------------------------- */

static const char *keep(struct reading *r, const char *text)
{
    const char *copy = text ? arena_strdup(r->arena, text) : NULL;
    r->no_memory |= text && !copy;
    return copy;
}

static bool only(struct reading *r, json_t *object, const char *at, const char *const *names)
{
    if (!json_is_object(object))
        return fields_refuse(&r->fields, "an object is expected", "%s", at);
    return fields_known(&r->fields, object, at, names);
}

/* NULL when missing or null. */
static const char *read_text(struct reading *r, json_t *object, const char *at, const char *key,
                             size_t max)
{
    const char *text = fields_text(&r->fields, object, at, key, max);
    if (text && !*text)
        fields_refuse(&r->fields, "is empty", "%s.%s", at, key);
    return text;
}

static bool read_number(struct reading *r, json_t *object, const char *at, const char *key,
                        double min, double max, double *ret)
{
    return fields_number(&r->fields, object, at, key, min, max, ret) || !r->fields.failed;
}

static bool read_whole(struct reading *r, json_t *object, const char *at, const char *key,
                       int64_t min, int64_t max, int64_t *ret)
{
    return fields_int(&r->fields, object, at, key, min, max, ret) || !r->fields.failed;
}

static json_t *read_array(struct reading *r, json_t *object, const char *key, size_t max)
{
    json_t *value = json_object_get(object, key);
    char reason[64];
    if (!value || json_is_null(value))
        return NULL;
    snprintf(reason, sizeof(reason), "an array of at most %zu is expected", max);
    if (!json_is_array(value) || json_array_size(value) > max) {
        fields_refuse(&r->fields, reason, "%s", key);
        return NULL;
    }
    return value;
}

/* --- targets ---------------------------------------------------------------------------------- */

static const struct alert_target *find_target(const struct alert_target *targets, size_t count,
                                              const char *name)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(targets[i].name, name) == 0)
            return &targets[i];
    }
    return NULL;
}

/* Scheme and host, and that something followed. */
static void mask_url(const char *url, char *out, size_t size)
{
    const char *host = strstr(url, "://");
    size_t end = host ? (size_t)(host + 3 - url) + strcspn(host + 3, "/?#") : 0;
    bool more = url[end] && strcmp(url + end, "/") != 0;
    snprintf(out, size, "%.*s%s", (int)end, url, more ? "/" ALERT_MASK : url + end);
}

static bool good_url(const char *url)
{
    size_t scheme = strncmp(url, "https://", 8) == 0 ? 8 : strncmp(url, "http://", 7) == 0 ? 7 : 0;
    size_t host = scheme ? strcspn(url + scheme, "/?#") : 0;
    if (host == 0 || memchr(url + scheme, '@', host) || strchr(url, '#'))
        return false;
    for (const char *p = url; *p; p++) {
        if ((unsigned char)*p <= 0x20 || (unsigned char)*p >= 0x7f || *p == '"' || *p == '<' ||
            *p == '>' || *p == '\\')
            return false;
    }
    return true;
}

static bool read_target(struct reading *r, json_t *json, size_t i)
{
    static const char *const members[] = {"name", "kind", "url", "secret", NULL};
    struct alert_target *t = &r->out->targets[i];
    char at[32], masked[URL_BYTES + 16];
    snprintf(at, sizeof(at), "targets[%zu]", i);
    if (!only(r, json, at, members))
        return false;
    const char *name = read_text(r, json, at, "name", NAME_BYTES);
    const char *kind = read_text(r, json, at, "kind", NAME_BYTES);
    const char *url = read_text(r, json, at, "url", URL_BYTES);
    const char *secret = read_text(r, json, at, "secret", SECRET_BYTES);
    if (r->fields.failed)
        return false;
    if (!name || !url)
        return fields_refuse(&r->fields, "is missing", "%s.%s", at, name ? "url" : "name");
    if (find_target(r->out->targets, i, name))
        return fields_refuse(&r->fields, "another target has this name", "%s.name", at);
    while (kind && t->kind < TARGET_KINDS && strcmp(kind, TARGET_NAMES[t->kind]) != 0)
        t->kind++;
    if (t->kind == TARGET_KINDS)
        return fields_refuse(&r->fields, "not one of webhook, slack, feishu, dingtalk", "%s.kind",
                             at);
    const struct alert_target *old =
        r->before ? find_target(r->before->targets, r->before->target_count, name) : NULL;
    if (old) {
        mask_url(old->url, masked, sizeof(masked));
        url = strcmp(url, masked) == 0 ? old->url : url;
    }
    if (strstr(url, ALERT_MASK))
        return fields_refuse(&r->fields,
                             "a masked address, and no target of this name has it: give it whole",
                             "%s.url", at);
    if (!good_url(url))
        return fields_refuse(&r->fields,
                             "an http:// or https:// address without user and fragment is expected",
                             "%s.url", at);
    if (secret && strcmp(secret, ALERT_MASK) == 0 && !(secret = old ? old->secret : NULL))
        return fields_refuse(&r->fields, "masked, and there was none: give it whole", "%s.secret",
                             at);
    t->name = keep(r, name);
    t->url = keep(r, url);
    t->secret = keep(r, secret);
    return true;
}

static bool read_to(struct reading *r, json_t *value, const char *at, struct target_list *ret)
{
    size_t count = json_is_array(value) ? json_array_size(value) : 1;
    if (count == 0 || count > ALERT_RULE_TARGETS ||
        !(json_is_array(value) || json_is_string(value)))
        return fields_refuse(&r->fields, "names of 1 to 10 targets are expected", "%s", at);
    for (size_t i = 0; i < count; i++) {
        json_t *item = json_is_array(value) ? json_array_get(value, i) : value;
        const char *name = json_word(item);
        const struct alert_target *t =
            name ? find_target(r->out->targets, r->out->target_count, name) : NULL;
        if (!t)
            return fields_refuse(&r->fields, "no target has this name", "%s[%zu]", at, i);
        ret->names[ret->count++] = t->name;
    }
    return true;
}

static bool read_owners(struct reading *r, json_t *object)
{
    const char *key;
    json_t *value;
    char at[160];
    if (!object || json_is_null(object))
        return true;
    if (!json_is_object(object) || json_object_size(object) > ALERT_OWNERS_MAX)
        return fields_refuse(&r->fields, "an object of at most 500 owners is expected", "%s",
                             "owners");
    r->out->owners = arena_array(r->arena, json_object_size(object) + 1, sizeof(*r->out->owners));
    if (!r->out->owners) {
        r->no_memory = true;
        return false;
    }
    json_object_foreach(object, key, value)
    {
        struct alert_owner *o = &r->out->owners[r->out->owner_count++];
        snprintf(at, sizeof(at), "owners.%.100s", key);
        if (!*key || strlen(key) > NAME_BYTES || !json_clean_key(key, strlen(key)))
            return fields_refuse(
                &r->fields, "an owner's name has 1 to 100 bytes, no control characters", "%s", at);
        o->owner = keep(r, key);
        if (!read_to(r, value, at, &o->to))
            return false;
    }
    return true;
}

/* --- rules ------------------------------------------------------------------------------------ */

static bool read_kinds(struct reading *r, json_t *array, const char *at, uint32_t *ret)
{
    if (!array || json_is_null(array)) {
        *ret = (1u << ALERT_TEST) - 1;
        return true;
    }
    if (!json_is_array(array) || json_array_size(array) == 0)
        return fields_refuse(&r->fields, "an array of kinds is expected", "%s.alerts", at);
    for (size_t i = 0; i < json_array_size(array); i++) {
        enum alert_kind kind;
        const char *name = json_word(json_array_get(array, i));
        if (!name || !alert_kind_parse(name, &kind) || kind == ALERT_TEST)
            return fields_refuse(&r->fields,
                                 "not one of new_cluster, spike, regression, symbolication_rate, "
                                 "missing_symbols",
                                 "%s.alerts[%zu]", at, i);
        *ret |= 1u << kind;
    }
    return true;
}

static bool read_rule(struct reading *r, json_t *json, size_t i)
{
    static const char *const members[] = {"name",         "bundle_id",   "alerts", "owner",
                                          "category",     "min_reports", "factor", "drop",
                                          "window_hours", "mute",        "to",     NULL};
    struct alert_rule *rule = &r->out->rules[i];
    char at[32], to[40];
    double hours = WINDOW_HOURS;
    int64_t min_reports = 0;
    snprintf(at, sizeof(at), "rules[%zu]", i);
    snprintf(to, sizeof(to), "rules[%zu].to", i);
    rule->factor = FACTOR;
    rule->drop = DROP;
    if (!only(r, json, at, members))
        return false;
    rule->name = keep(r, read_text(r, json, at, "name", NAME_BYTES));
    rule->bundle_id = keep(r, read_text(r, json, at, "bundle_id", BUNDLE_BYTES));
    rule->owner = keep(r, read_text(r, json, at, "owner", NAME_BYTES));
    rule->category = keep(r, read_text(r, json, at, "category", NAME_BYTES));
    json_t *mute = json_object_get(json, "mute");
    if (mute && !json_is_null(mute) && !json_is_boolean(mute))
        return fields_refuse(&r->fields, "true or false is expected", "%s.mute", at);
    rule->mute = json_is_true(mute);
    if (r->fields.failed || !read_kinds(r, json_object_get(json, "alerts"), at, &rule->kinds) ||
        !read_whole(r, json, at, "min_reports", 1, REPORTS_MAX, &min_reports) ||
        !read_number(r, json, at, "factor", 1.5, 1000, &rule->factor) ||
        !read_number(r, json, at, "drop", 0.01, 1, &rule->drop) ||
        !read_number(r, json, at, "window_hours", 1, 24 * 90, &hours))
        return false;
    rule->min_reports = (uint64_t)min_reports;
    rule->window_ms = (int64_t)(hours * (double)HOUR_MS);
    json_t *targets = json_object_get(json, "to");
    bool none = !targets || json_is_null(targets) ||
                (json_is_array(targets) && json_array_size(targets) == 0);
    if (!none)
        return read_to(r, targets, to, &rule->to);
    return rule->mute ||
           fields_refuse(&r->fields, "is missing (a rule that sends nothing is \"mute\")", "%s",
                         to);
}

static bool read_all(struct reading *r, json_t *root)
{
    static const char *const members[] = {"revision",   "targets",    "owners", "rules",
                                          "updated_at", "updated_by", NULL};
    struct alert_rules *out = r->out;
    if (!only(r, root, "", members))
        return false;
    json_t *targets = read_array(r, root, "targets", ALERT_TARGETS_MAX);
    json_t *rules = read_array(r, root, "rules", ALERT_RULES_MAX);
    if (r->fields.failed)
        return false;
    out->targets = arena_array(r->arena, json_array_size(targets) + 1, sizeof(*out->targets));
    out->rules = arena_array(r->arena, json_array_size(rules) + 1, sizeof(*out->rules));
    if (!out->targets || !out->rules) {
        r->no_memory = true;
        return false;
    }
    for (size_t i = 0; i < json_array_size(targets) && !r->no_memory; i++) {
        if (!read_target(r, json_array_get(targets, i), i))
            return false;
        out->target_count++;
    }
    if (r->no_memory || !read_owners(r, json_object_get(root, "owners")))
        return false;
    for (size_t i = 0; i < json_array_size(rules) && !r->no_memory; i++) {
        if (!read_rule(r, json_array_get(rules, i), i))
            return false;
        out->rule_count++;
    }
    return !r->no_memory;
}

enum err alert_rules_read(const char *text, size_t len, const struct alert_rules *before,
                          struct arena *arena, struct alert_rules *ret, struct alert_fault *fault,
                          struct error *err)
{
    struct alert_rules out = {0};
    struct reading r = {.arena = arena, .before = before, .out = &out};
    json_t *root = NULL;
    memset(fault, 0, sizeof(*fault));
    enum err rc = json_text_load(text, len, &root, err);
    if (rc)
        return rc;
    fields_init(&r.fields, arena);
    bool good = read_all(&r, root);
    json_decref(root);
    if (r.no_memory)
        return error_set(err, ERR_NO_MEMORY, "no memory for rules of alerts");
    if (!good) {
        snprintf(fault->path, sizeof(fault->path), "%s", r.fields.path);
        snprintf(fault->reason, sizeof(fault->reason), "%s", r.fields.reason);
        return error_set(err, ERR_INVALID, "%s: %s", fault->path, fault->reason);
    }
    *ret = out;
    return ERR_OK;
}

/* --- printing --------------------------------------------------------------------------------- */

static void print_list(const struct target_list *l, struct buf *out)
{
    buf_putc(out, '[');
    for (size_t i = 0; i < l->count; i++) {
        if (i)
            buf_putc(out, ',');
        buf_json_string(out, l->names[i]);
    }
    buf_putc(out, ']');
}

static void print_member(struct buf *out, const char *key, const char *text)
{
    if (!text)
        return;
    buf_printf(out, ",\"%s\":", key);
    buf_json_string(out, text);
}

static void print_target(const struct alert_target *t, bool masked, struct buf *out)
{
    char url[URL_BYTES + 16];
    mask_url(t->url, url, sizeof(url));
    buf_puts(out, "{\"name\":");
    buf_json_string(out, t->name);
    print_member(out, "kind", TARGET_NAMES[t->kind]);
    print_member(out, "url", masked ? url : t->url);
    print_member(out, "secret", t->secret && masked ? ALERT_MASK : t->secret);
    buf_putc(out, '}');
}

static void print_rule(const struct alert_rule *r, struct buf *out)
{
    buf_puts(out, "{\"alerts\":[");
    for (int kind = 0, n = 0; kind < ALERT_TEST; kind++) {
        if (r->kinds & 1u << kind)
            buf_printf(out, "%s\"%s\"", n++ ? "," : "", alert_kind_name((enum alert_kind)kind));
    }
    buf_putc(out, ']');
    print_member(out, "name", r->name);
    print_member(out, "bundle_id", r->bundle_id);
    print_member(out, "owner", r->owner);
    print_member(out, "category", r->category);
    if (r->min_reports)
        buf_printf(out, ",\"min_reports\":%llu", (unsigned long long)r->min_reports);
    buf_printf(
        out, ",\"factor\":%.6g,\"drop\":%.6g,\"window_hours\":%.6g,\"mute\":%s,\"to\":", r->factor,
        r->drop, (double)r->window_ms / (double)HOUR_MS, r->mute ? "true" : "false");
    print_list(&r->to, out);
    buf_putc(out, '}');
}

bool alert_rules_print(const struct alert_rules *r, bool masked, bool inner, struct buf *out)
{
    buf_puts(out, inner ? "\"targets\":[" : "{\"targets\":[");
    for (size_t i = 0; i < r->target_count; i++) {
        if (i)
            buf_putc(out, ',');
        print_target(&r->targets[i], masked, out);
    }
    buf_puts(out, "],\"owners\":{");
    for (size_t i = 0; i < r->owner_count; i++) {
        if (i)
            buf_putc(out, ',');
        buf_json_string(out, r->owners[i].owner);
        buf_putc(out, ':');
        print_list(&r->owners[i].to, out);
    }
    buf_puts(out, "},\"rules\":[");
    for (size_t i = 0; i < r->rule_count; i++) {
        if (i)
            buf_putc(out, ',');
        print_rule(&r->rules[i], out);
    }
    buf_puts(out, inner ? "]" : "]}");
    return !out->failed;
}

/* --- asking ----------------------------------------------------------------------------------- */

static bool meets(const char *wanted, const char *given)
{
    return !wanted || (given && strcmp(wanted, given) == 0);
}

const struct alert_rule *alert_rules_match(const struct alert_rules *r, const struct alert_facts *f)
{
    for (size_t i = 0; i < r->rule_count; i++) {
        const struct alert_rule *rule = &r->rules[i];
        if ((rule->kinds & 1u << f->kind) && meets(rule->bundle_id, f->bundle_id) &&
            meets(rule->owner, f->owner) && meets(rule->category, f->category))
            return rule;
    }
    return NULL;
}

uint64_t alert_rule_min_reports(const struct alert_rule *rule, enum alert_kind kind)
{
    return rule->min_reports ? rule->min_reports : MIN_REPORTS[kind];
}

uint64_t alert_rules_least(const struct alert_rules *r, enum alert_kind kind)
{
    uint64_t least = UINT64_MAX;
    for (size_t i = 0; i < r->rule_count; i++) {
        const struct alert_rule *rule = &r->rules[i];
        uint64_t n = alert_rule_min_reports(rule, kind);
        if ((rule->kinds & 1u << kind) && !rule->mute && n < least)
            least = n;
    }
    return least;
}

const struct target_list *alert_rules_route(const struct alert_rules *r,
                                            const struct alert_rule *rule, const char *owner)
{
    for (size_t i = 0; owner && i < r->owner_count; i++) {
        if (strcmp(r->owners[i].owner, owner) == 0)
            return &r->owners[i].to;
    }
    return &rule->to;
}

const struct alert_target *alert_rules_target(const struct alert_rules *r, const char *name)
{
    return find_target(r->targets, r->target_count, name);
}
