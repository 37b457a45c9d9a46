/*
 * remote_config - which settings a client of the SDK gets.
 *
 * Purpose: an app's configuration is defaults and rules in order; the first rule whose conditions a
 * client meets sets what it names, all else is as the defaults say (product.md 21). Conditions:
 * ranges of app version, build, OS version and memory, patterns of device models, device classes, and a percentage.
 *
 * A percentage takes clients by a hash of the app, the rule's name and an opaque value that the
 * client sends: the same clients each time, and still they when the percentage grows. The value is
 * used and forgotten. Two rules of one name take the same clients first.
 *
 * Invariants: pure. A condition on something the client did not say is not met. A configuration that
 * passed remote_config_check() gives every client settings that are in their bounds and make sense
 * together (slight_ms < stall_ms < hang_ms).
 *
 * Threads: any. Memory: the caller's arena; texts are borrowed.
 */
#ifndef STALLSYM_ANALYSIS_REMOTE_CONFIG_H
#define STALLSYM_ANALYSIS_REMOTE_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

#define CONFIG_RULES_MAX  100
#define CONFIG_LIST_MAX   64  /* patterns of a condition */
#define CONFIG_TEXT_MAX   128 /* bytes of a pattern, a range, a rule's name */
#define CONFIG_CLIENT_MAX 256 /* bytes of the client's opaque value */

enum config_setting {
    CONFIG_ENABLED,
    CONFIG_SAMPLE_RATE,
    CONFIG_SLIGHT_SAMPLE_RATE,
    CONFIG_STALL_MS,
    CONFIG_SLIGHT_MS,
    CONFIG_HANG_MS,
    CONFIG_WARMUP_MS,
    CONFIG_COOLDOWN_MS,
    CONFIG_SAMPLE_INTERVAL_MS,
    CONFIG_SAMPLES_MAX,
    CONFIG_BATCH_SIZE,
    CONFIG_UPLOAD_INTERVAL_S,
    CONFIG_REFRESH_S,
    CONFIG_SETTINGS,
};

enum config_type { CONFIG_BOOL, CONFIG_RATE, CONFIG_NUMBER };

struct config_setting_info {
    const char *name;
    enum config_type type;
    double min, max;
    double standard; /* what a client gets when nobody says anything */
};
extern const struct config_setting_info CONFIG_INFO[CONFIG_SETTINGS];

struct config_values {
    uint32_t set; /* bit: enum config_setting */
    double v[CONFIG_SETTINGS];
};

struct config_texts {
    const char *const *items;
    size_t count; /* 0: any */
};

struct config_rule {
    const char *name; /* "" without one */
    bool off;         /* kept, but passed over */
    /* version_range.h; NULL: any. */
    const char *version;
    const char *build;
    const char *os_version;
    const char *memory_mb;
    struct config_texts devices; /* patterns of models: "iPhone14,*" */
    unsigned device_classes;     /* bits of device_class.h; 0: any */
    double percentage;           /* 0 to 100; below 0: no such condition */
    struct config_values values;
};

struct remote_config {
    struct config_values standard; /* the app's own defaults */
    const struct config_rule *rules;
    size_t rule_count;
};

/* What a client says of itself; NULL and 0: nothing. */
struct config_client {
    const char *bundle_id;
    const char *version, *build, *device, *os_version;
    uint32_t memory_mb;
    const char *id; /* opaque */
};

/* ERR_INVALID: "rules[3].version: …", where and what is wrong. */
enum err remote_config_check(const struct remote_config *config, struct error *err);

/* Every setting is set in `ret`. `ret_rule`: index of the rule that was met, SIZE_MAX: none. */
void remote_config_of(const struct remote_config *config, const struct config_client *client,
                      struct config_values *ret, size_t *ret_rule);

#endif
