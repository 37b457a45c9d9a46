#include "server/http/config_json.h"

#include <stdlib.h>
#include <string.h>

#include "server/analysis/device_class.h"
#include "server/jobs/json_text.h"

#define AT_MAX 64

static const char *text(struct fields *f, json_t *object, const char *at, const char *key)
{
    const char *given = fields_text(f, object, at, key, CONFIG_TEXT_MAX);
    const char *kept = given ? arena_strdup(f->arena, given) : NULL;
    if (given && !kept)
        (void)fields_refuse(f, "too large", "%s", at);
    return kept;
}

static void read_setting(struct fields *f, json_t *object, const char *at,
                         enum config_setting setting, struct config_values *ret)
{
    const struct config_setting_info *info = &CONFIG_INFO[setting];
    double number = 0;
    bool flag = false, given;
    if (info->type == CONFIG_BOOL) {
        given = fields_bool(f, object, at, info->name, &flag);
        number = flag;
    } else {
        given = fields_number(f, object, at, info->name, info->min, info->max, &number);
    }
    if (given) {
        ret->v[setting] = number;
        ret->set |= 1u << setting;
    }
}

static void read_settings(struct fields *f, json_t *parent, const char *at, const char *key,
                          struct config_values *ret)
{
    char inner[AT_MAX];
    const char *names[CONFIG_SETTINGS + 1] = {NULL};
    json_t *object = fields_object(f, parent, at, key);
    snprintf(inner, sizeof(inner), "%s%s%s", at, *at ? "." : "", key);
    *ret = (struct config_values){0};
    for (int s = 0; s < CONFIG_SETTINGS; s++)
        names[s] = CONFIG_INFO[s].name;
    if (!object || !fields_known(f, object, inner, names))
        return;
    for (enum config_setting s = 0; s < CONFIG_SETTINGS; s++)
        read_setting(f, object, inner, s, ret);
}

/* One text or a list of them. */
static struct config_texts read_texts(struct fields *f, json_t *object, const char *at,
                                      const char *key)
{
    struct config_texts none = {NULL, 0};
    json_t *given = fields_get(object, key);
    size_t count = json_is_array(given) ? json_array_size(given) : given ? 1 : 0;
    if (count > CONFIG_LIST_MAX) {
        (void)fields_refuse(f, "too many", "%s.%s", at, key);
        return none;
    }
    const char **items = arena_array(f->arena, count + 1, sizeof(*items));
    for (size_t i = 0; items && i < count; i++) {
        json_t *item = json_is_array(given) ? json_array_get(given, i) : given;
        if (json_string_length(item) == 0 || !json_clean_text(item, CONFIG_TEXT_MAX)) {
            (void)fields_refuse(f, "a text or a list of texts is expected", "%s.%s", at, key);
            return none;
        }
        items[i] = arena_strdup(f->arena, json_string_value(item));
        if (!items[i])
            items = NULL;
    }
    if (!items) {
        (void)fields_refuse(f, "too large", "%s", at);
        return none;
    }
    return (struct config_texts){items, count};
}

static unsigned read_classes(struct fields *f, json_t *object, const char *at)
{
    struct config_texts names = read_texts(f, object, at, "device_class");
    unsigned classes = 0;
    for (size_t i = 0; i < names.count; i++) {
        enum device_class class = device_class_parse(names.items[i]);
        if (!class)
            (void)fields_refuse(f, "not one of low, mid, high", "%s.device_class", at);
        classes |= class;
    }
    return classes;
}

static void read_conditions(struct fields *f, json_t *rule, const char *at, struct config_rule *ret)
{
    static const char *const KNOWN[] = {"version", "build",        "os_version", "memory_mb",
                                        "device",  "device_class", "percentage", NULL};
    char inner[AT_MAX];
    json_t *object = fields_object(f, rule, at, "if");
    snprintf(inner, sizeof(inner), "%.40s.if", at);
    if (!object || !fields_known(f, object, inner, KNOWN))
        return;
    ret->version = text(f, object, inner, "version");
    ret->build = text(f, object, inner, "build");
    ret->os_version = text(f, object, inner, "os_version");
    ret->memory_mb = text(f, object, inner, "memory_mb");
    ret->devices = read_texts(f, object, inner, "device");
    ret->device_classes = read_classes(f, object, inner);
    (void)fields_number(f, object, inner, "percentage", 0, 100, &ret->percentage);
}

static void read_rule(struct fields *f, json_t *rule, size_t index, struct config_rule *ret)
{
    static const char *const KNOWN[] = {"name", "off", "if", "set", NULL};
    char at[AT_MAX];
    snprintf(at, sizeof(at), "rules[%zu]", index);
    *ret = (struct config_rule){.percentage = -1};
    if (!json_is_object(rule)) {
        (void)fields_refuse(f, "an object is expected", "%s", at);
        return;
    }
    if (!fields_known(f, rule, at, KNOWN))
        return;
    const char *name = text(f, rule, at, "name");
    ret->name = name ? name : "";
    (void)fields_bool(f, rule, at, "off", &ret->off);
    read_conditions(f, rule, at, ret);
    read_settings(f, rule, at, "set", &ret->values);
}

enum err config_json_refuse_empty(json_t *body, struct error *err)
{
    static const char *const lists[] = {"device", "device_class"};
    json_t *rules = fields_get(body, "rules");
    for (size_t i = 0; i < json_array_size(rules); i++) {
        json_t *conditions = json_object_get(json_array_get(rules, i), "if");
        for (size_t k = 0; k < sizeof(lists) / sizeof(lists[0]); k++) {
            json_t *list = json_object_get(conditions, lists[k]);
            if (json_is_array(list) && json_array_size(list) == 0)
                return error_set(err, ERR_INVALID,
                                 "rules[%zu].if.%s: an empty list; leave it out for any", i,
                                 lists[k]);
        }
    }
    return ERR_OK;
}

enum err config_json_read(json_t *body, struct arena *arena, struct remote_config *ret,
                          struct error *err)
{
    struct fields f;
    struct remote_config config = {0};
    fields_init(&f, arena);
    if (!json_is_object(body))
        return error_set(err, ERR_INVALID, "an object is expected");
    read_settings(&f, body, "", "defaults", &config.standard);
    json_t *rules = fields_array(&f, body, "", "rules");
    config.rule_count = json_array_size(rules);
    if (config.rule_count > CONFIG_RULES_MAX)
        return error_set(err, ERR_INVALID, "rules: %d at most", CONFIG_RULES_MAX);
    struct config_rule *all = arena_array(arena, config.rule_count + 1, sizeof(*all));
    if (!all)
        return error_set(err, ERR_NO_MEMORY, "no memory for a configuration");
    for (size_t i = 0; i < config.rule_count && !f.failed; i++)
        read_rule(&f, json_array_get(rules, i), i, &all[i]);
    if (f.failed)
        return error_set(err, ERR_INVALID, "%s: %s", f.path, f.reason);
    config.rules = all;
    enum err rc = remote_config_check(&config, err);
    if (rc == ERR_OK)
        *ret = config;
    return rc;
}

enum err config_json_parse(const char *stored, struct arena *arena, struct remote_config *ret,
                           struct error *err)
{
    json_t *body = NULL;
    enum err rc = json_text_load(stored, strlen(stored), &body, err);
    if (rc != ERR_OK)
        return rc;
    rc = config_json_read(body, arena, ret, err);
    json_decref(body);
    return rc;
}

const char *config_json_store(json_t *body, struct arena *arena)
{
    json_t *kept = json_object();
    const char *stored = NULL;
    json_t *defaults = fields_get(body, "defaults");
    json_t *rules = fields_get(body, "rules");
    if (json_object_set_new(kept, "defaults", defaults ? json_incref(defaults) : json_object()) ==
            0 &&
        json_object_set_new(kept, "rules", rules ? json_incref(rules) : json_array()) == 0) {
        char *dumped = json_dumps(kept, JSON_COMPACT);
        if (dumped && strlen(dumped) <= CONFIG_JSON_MAX)
            stored = arena_strdup(arena, dumped);
        free(dumped);
    }
    json_decref(kept);
    return stored;
}

void config_json_print(struct jout *j, const struct config_values *values)
{
    for (int s = 0; s < CONFIG_SETTINGS; s++) {
        const struct config_setting_info *info = &CONFIG_INFO[s];
        if (info->type == CONFIG_BOOL)
            jout_bool(j, info->name, values->v[s] != 0);
        else if (info->type == CONFIG_RATE)
            jout_double(j, info->name, values->v[s]);
        else
            jout_uint(j, info->name, (uint64_t)values->v[s]);
    }
}
