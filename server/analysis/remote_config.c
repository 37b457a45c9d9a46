#include "server/analysis/remote_config.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "server/analysis/device_class.h"
#include "server/analysis/rules_match.h"
#include "server/analysis/version_range.h"

#define MINUTE_MS 60000.0
#define DAY_S     86400.0

const struct config_setting_info CONFIG_INFO[CONFIG_SETTINGS] = {
    [CONFIG_ENABLED] = {"enabled", CONFIG_BOOL, 0, 1, 1},
    [CONFIG_SAMPLE_RATE] = {"sample_rate", CONFIG_RATE, 0, 1, 1},
    [CONFIG_SLIGHT_SAMPLE_RATE] = {"slight_sample_rate", CONFIG_RATE, 0, 1, .1},
    [CONFIG_STALL_MS] = {"stall_ms", CONFIG_NUMBER, 50, MINUTE_MS, 800},
    [CONFIG_SLIGHT_MS] = {"slight_ms", CONFIG_NUMBER, 16, MINUTE_MS, 500},
    [CONFIG_HANG_MS] = {"hang_ms", CONFIG_NUMBER, 100, 10 * MINUTE_MS, 8000},
    [CONFIG_WARMUP_MS] = {"warmup_ms", CONFIG_NUMBER, 0, 10 * MINUTE_MS, 3000},
    [CONFIG_COOLDOWN_MS] = {"cooldown_ms", CONFIG_NUMBER, 0, 60 * MINUTE_MS, 30000},
    [CONFIG_SAMPLE_INTERVAL_MS] = {"sample_interval_ms", CONFIG_NUMBER, 5, MINUTE_MS, 50},
    [CONFIG_SAMPLES_MAX] = {"samples_max", CONFIG_NUMBER, 1, 1000, 100},
    [CONFIG_BATCH_SIZE] = {"batch_size", CONFIG_NUMBER, 1, 1000, 20},
    [CONFIG_UPLOAD_INTERVAL_S] = {"upload_interval_s", CONFIG_NUMBER, 1, DAY_S, 300},
    [CONFIG_REFRESH_S] = {"refresh_s", CONFIG_NUMBER, 60, 7 * DAY_S, 3600},
};

static void put(struct config_values *to, const struct config_values *from)
{
    for (int s = 0; s < CONFIG_SETTINGS; s++) {
        if (from->set & (1u << s))
            to->v[s] = from->v[s];
    }
    to->set |= from->set;
}

static struct config_values standard_of(const struct remote_config *config)
{
    struct config_values all = {.set = (1u << CONFIG_SETTINGS) - 1};
    for (int s = 0; s < CONFIG_SETTINGS; s++)
        all.v[s] = CONFIG_INFO[s].standard;
    put(&all, &config->standard);
    return all;
}

/* --- conditions ------------------------------------------------------------------------------- */

static bool in_range(const char *range, const char *value)
{
    return !range || version_range_holds(range, value);
}

static bool has_memory(const char *range, uint32_t memory_mb)
{
    char text[16];
    if (!range)
        return true;
    snprintf(text, sizeof(text), "%u", memory_mb);
    return memory_mb > 0 && version_range_holds(range, text);
}

static bool is_one_of(const struct config_texts *patterns, const char *text)
{
    for (size_t i = 0; text && i < patterns->count; i++) {
        if (rules_glob(patterns->items[i], text))
            return true;
    }
    return patterns->count == 0;
}

/* 0 up to, but not, 100. */
static double place_of(const char *bundle_id, const char *salt, const char *client)
{
    struct sha256 h;
    uint8_t digest[SHA256_SIZE];
    sha256_init(&h);
    sha256_update(&h, bundle_id, strlen(bundle_id) + 1);
    sha256_update(&h, salt, strlen(salt) + 1);
    sha256_update(&h, client, strlen(client));
    sha256_final(&h, digest);
    return hash_share(digest) * 100;
}

static bool is_taken(const struct config_rule *rule, const struct config_client *c)
{
    if (rule->percentage < 0)
        return true;
    return c->id && *c->id && place_of(c->bundle_id, rule->name, c->id) < rule->percentage;
}

static bool meets(const struct config_rule *rule, const struct config_client *c)
{
    return !rule->off && in_range(rule->version, c->version) && in_range(rule->build, c->build) &&
           in_range(rule->os_version, c->os_version) && has_memory(rule->memory_mb, c->memory_mb) &&
           is_one_of(&rule->devices, c->device) &&
           (!rule->device_classes ||
            (rule->device_classes & device_class_of(c->memory_mb, c->device))) &&
           is_taken(rule, c);
}

void remote_config_of(const struct remote_config *config, const struct config_client *client,
                      struct config_values *ret, size_t *ret_rule)
{
    *ret = standard_of(config);
    *ret_rule = SIZE_MAX;
    for (size_t i = 0; i < config->rule_count; i++) {
        if (meets(&config->rules[i], client)) {
            put(ret, &config->rules[i].values);
            *ret_rule = i;
            return;
        }
    }
}

/* --- checks ----------------------------------------------------------------------------------- */

static enum err refuse(struct error *err, const char *at, const char *what, const char *reason)
{
    return error_set(err, ERR_INVALID, "%s%s: %s", at, what, reason);
}

static enum err check_values(const struct config_values *v, const char *at, struct error *err)
{
    for (int s = 0; s < CONFIG_SETTINGS; s++) {
        const struct config_setting_info *info = &CONFIG_INFO[s];
        if (!(v->set & (1u << s)))
            continue;
        if (!(v->v[s] >= info->min && v->v[s] <= info->max))
            return error_set(err, ERR_INVALID, "%s.%s: %g to %g is possible", at, info->name,
                             info->min, info->max);
        if (info->type != CONFIG_RATE && floor(v->v[s]) != v->v[s])
            return error_set(err, ERR_INVALID, "%s.%s: a whole number is expected", at, info->name);
    }
    return ERR_OK;
}

/* A client gets all of them together. */
static enum err check_together(const struct config_values *v, const char *at, struct error *err)
{
    if (v->v[CONFIG_SLIGHT_MS] >= v->v[CONFIG_STALL_MS])
        return error_set(err, ERR_INVALID, "%s: slight_ms %g is not below stall_ms %g", at,
                         v->v[CONFIG_SLIGHT_MS], v->v[CONFIG_STALL_MS]);
    if (v->v[CONFIG_STALL_MS] >= v->v[CONFIG_HANG_MS])
        return error_set(err, ERR_INVALID, "%s: stall_ms %g is not below hang_ms %g", at,
                         v->v[CONFIG_STALL_MS], v->v[CONFIG_HANG_MS]);
    return ERR_OK;
}

static enum err check_rule(const struct config_rule *r, const struct config_values *standard,
                           const char *at, struct error *err)
{
    const struct {
        const char *name, *range;
    } ranges[] = {{".if.version", r->version},
                  {".if.build", r->build},
                  {".if.os_version", r->os_version},
                  {".if.memory_mb", r->memory_mb}};
    for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++) {
        if (ranges[i].range && !version_range_valid(ranges[i].range))
            return refuse(err, at, ranges[i].name,
                          "a range is expected, as in \">=7.2 <8\", \"7.2.1\" or \"7.2.*\"");
    }
    if (r->percentage > 100)
        return refuse(err, at, ".if.percentage", "0 to 100 is possible");
    if (r->percentage >= 0 && !*r->name)
        return refuse(err, at, ".name",
                      "a rule with a percentage needs one: it says which clients");
    char set_at[64];
    snprintf(set_at, sizeof(set_at), "%s.set", at);
    enum err rc = check_values(&r->values, set_at, err);
    struct config_values all = *standard;
    put(&all, &r->values);
    return rc ? rc : check_together(&all, set_at, err);
}

enum err remote_config_check(const struct remote_config *config, struct error *err)
{
    struct config_values standard = standard_of(config);
    enum err rc = check_values(&config->standard, "defaults", err);
    if (!rc)
        rc = check_together(&standard, "defaults", err);
    if (!rc && config->rule_count > CONFIG_RULES_MAX)
        rc = error_set(err, ERR_INVALID, "rules: %d at most", CONFIG_RULES_MAX);
    for (size_t i = 0; !rc && i < config->rule_count; i++) {
        char at[32];
        snprintf(at, sizeof(at), "rules[%zu]", i);
        rc = check_rule(&config->rules[i], &standard, at, err);
    }
    return rc;
}
