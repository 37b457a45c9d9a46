#include "server/analysis/remote_config.h"

#include <stdio.h>
#include <string.h>

#include "server/analysis/device_class.h"
#include "tests/support/unit.h"

#define SET(setting, value)                                                                        \
    {                                                                                              \
        .set = 1u << (setting), .v = { [setting] = (value) }                                       \
    }

static struct config_client client(const char *version, const char *device)
{
    return (struct config_client){.bundle_id = "com.example.shop",
                                  .version = version,
                                  .device = device,
                                  .os_version = "16.6",
                                  .id = "c1"};
}

static double value(const struct remote_config *config, const struct config_client *c,
                    enum config_setting setting, size_t *ret_rule)
{
    struct config_values values;
    remote_config_of(config, c, &values, ret_rule);
    ck_assert_uint_eq(values.set, (1u << CONFIG_SETTINGS) - 1);
    return values.v[setting];
}

START_TEST(nothing_configured)
{
    struct remote_config none = {0};
    struct error err;
    struct config_client c = {.bundle_id = "a"};
    size_t rule = 0;
    ck_assert_int_eq(remote_config_check(&none, &err), ERR_OK);
    ck_assert_double_eq(value(&none, &c, CONFIG_STALL_MS, &rule), 800);
    ck_assert_uint_eq(rule, SIZE_MAX);
    ck_assert_double_eq(value(&none, &c, CONFIG_SLIGHT_SAMPLE_RATE, &rule), .1);
    ck_assert_double_eq(value(&none, &c, CONFIG_ENABLED, &rule), 1);
}
END_TEST

START_TEST(first_rule_that_is_met)
{
    static const char *const phones[] = {"iPhone12,*", "iPhone13,1"};
    const struct config_rule rules[] = {
        {.name = "off", .off = true, .percentage = -1, .values = SET(CONFIG_ENABLED, 0)},
        {.name = "new", .version = ">=8", .percentage = -1, .values = SET(CONFIG_STALL_MS, 900)},
        {.name = "phones",
         .version = ">=7",
         .devices = {phones, 2},
         .percentage = -1,
         .values = SET(CONFIG_STALL_MS, 1000)},
        {.name = "low",
         .device_classes = DEVICE_CLASS_LOW,
         .percentage = -1,
         .values = SET(CONFIG_SAMPLE_RATE, .2)},
        {.name = "roomy",
         .memory_mb = ">=5000",
         .percentage = -1,
         .values = SET(CONFIG_BATCH_SIZE, 50)},
        {.name = "ios15",
         .os_version = "<16",
         .build = "7210",
         .percentage = -1,
         .values = SET(CONFIG_BATCH_SIZE, 5)},
    };
    struct remote_config config = {
        .standard = SET(CONFIG_HANG_MS, 5000), .rules = rules, .rule_count = 6};
    struct error err;
    size_t rule;
    ck_assert_int_eq(remote_config_check(&config, &err), ERR_OK);
    struct config_client c = client("8.1", "iPhone12,3");
    ck_assert_double_eq(value(&config, &c, CONFIG_STALL_MS, &rule), 900);
    ck_assert_uint_eq(rule, 1);
    ck_assert_double_eq(value(&config, &c, CONFIG_HANG_MS, &rule), 5000);
    c = client("7.9", "iPhone13,1");
    ck_assert_double_eq(value(&config, &c, CONFIG_STALL_MS, &rule), 1000);
    c = client("7.9", "iPhone13,2");
    ck_assert_double_eq(value(&config, &c, CONFIG_STALL_MS, &rule), 800);
    ck_assert_uint_eq(rule, SIZE_MAX);
    c = client(NULL, "iPhone13,1"); /* does not say its version */
    (void)value(&config, &c, CONFIG_STALL_MS, &rule);
    ck_assert_uint_eq(rule, SIZE_MAX);
    c = client("1", "iPhone8,1");
    ck_assert_double_eq(value(&config, &c, CONFIG_SAMPLE_RATE, &rule), .2);
    c.memory_mb = 6000; /* what it says counts more than its model */
    ck_assert_double_eq(value(&config, &c, CONFIG_BATCH_SIZE, &rule), 50);
    c = client("1", NULL);
    c.os_version = "15.4";
    (void)value(&config, &c, CONFIG_BATCH_SIZE, &rule);
    ck_assert_uint_eq(rule, SIZE_MAX);
    c.build = "7210";
    ck_assert_double_eq(value(&config, &c, CONFIG_BATCH_SIZE, &rule), 5);
}
END_TEST

/* The share is right, the same clients each time, and a larger one takes in the smaller. */
START_TEST(percentages)
{
    struct config_rule rule = {.name = "beta", .values = SET(CONFIG_ENABLED, 0)};
    struct remote_config config = {.rules = &rule, .rule_count = 1};
    enum { CLIENTS = 20000 };
    static bool at_ten[CLIENTS];
    static const double shares[] = {0, 10, 10, 30, 100};
    for (size_t s = 0; s < 5; s++) {
        size_t taken = 0;
        rule.percentage = shares[s];
        for (int i = 0; i < CLIENTS; i++) {
            char id[32];
            struct config_client c = client("7", "iPhone14,7");
            size_t met;
            snprintf(id, sizeof(id), "client-%d", i);
            c.id = id;
            bool is_taken = value(&config, &c, CONFIG_ENABLED, &met) == 0;
            ck_assert(s != 2 || is_taken == at_ten[i]);
            ck_assert(s != 3 || is_taken || !at_ten[i]);
            if (s == 1)
                at_ten[i] = is_taken;
            taken += is_taken;
        }
        double off = (double)taken / CLIENTS * 100 - shares[s];
        ck_assert_msg(off < 1 && off > -1, "%zu of %d at %g %%", taken, CLIENTS, shares[s]);
    }
    struct config_client nobody = client("7", NULL);
    size_t met;
    nobody.id = NULL;
    (void)value(&config, &nobody, CONFIG_ENABLED, &met);
    ck_assert_uint_eq(met, SIZE_MAX);
}
END_TEST

/* Other names take other clients. */
START_TEST(names_are_apart)
{
    struct config_rule rules[2] = {{.name = "a", .percentage = 50},
                                   {.name = "b", .percentage = 50}};
    size_t both = 0;
    for (int i = 0; i < 4000; i++) {
        char id[32];
        size_t met[2];
        snprintf(id, sizeof(id), "client-%d", i);
        for (int k = 0; k < 2; k++) {
            struct remote_config config = {.rules = &rules[k], .rule_count = 1};
            struct config_client c = client("7", NULL);
            c.id = id;
            (void)value(&config, &c, CONFIG_ENABLED, &met[k]);
        }
        both += met[0] == 0 && met[1] == 0;
    }
    ck_assert_uint_gt(both, 900);
    ck_assert_uint_lt(both, 1100);
}
END_TEST

START_TEST(what_is_refused)
{
    struct error err;
    struct config_rule rule = {.name = "", .percentage = -1};
    struct remote_config config = {.rules = &rule, .rule_count = 1};
    ck_assert_int_eq(remote_config_check(&config, &err), ERR_OK);
    rule.version = "7..";
    rule.version = "newest";
    ck_assert_int_eq(remote_config_check(&config, &err), ERR_INVALID);
    ck_assert_msg(strncmp(err.text, "rules[0].if.version: ", 21) == 0, "%s", err.text);
    rule = (struct config_rule){.name = "", .percentage = 5};
    ck_assert_int_eq(remote_config_check(&config, &err), ERR_INVALID);
    ck_assert_msg(strncmp(err.text, "rules[0].name: ", 15) == 0, "%s", err.text);
    rule = (struct config_rule){.name = "x", .percentage = 101};
    ck_assert_int_eq(remote_config_check(&config, &err), ERR_INVALID);
    rule = (struct config_rule){
        .name = "", .percentage = -1, .values = SET(CONFIG_STALL_MS, 400)}; /* below slight_ms */
    ck_assert_int_eq(remote_config_check(&config, &err), ERR_INVALID);
    ck_assert_msg(strncmp(err.text, "rules[0].set: ", 14) == 0, "%s", err.text);
    config.standard = (struct config_values)SET(CONFIG_SLIGHT_MS, 300); /* now above it */
    ck_assert_int_eq(remote_config_check(&config, &err), ERR_OK);
    rule.values = (struct config_values)SET(CONFIG_SAMPLE_RATE, 1.5);
    ck_assert_int_eq(remote_config_check(&config, &err), ERR_INVALID);
    rule.values = (struct config_values)SET(CONFIG_BATCH_SIZE, 2.5);
    ck_assert_int_eq(remote_config_check(&config, &err), ERR_INVALID);
    rule.values = (struct config_values){0};
    config.standard = (struct config_values)SET(CONFIG_HANG_MS, 700);
    ck_assert_int_eq(remote_config_check(&config, &err), ERR_INVALID);
    ck_assert_msg(strncmp(err.text, "defaults: ", 10) == 0, "%s", err.text);
}
END_TEST

UNIT_MAIN("remote_config", nothing_configured, first_rule_that_is_met, percentages, names_are_apart,
          what_is_refused)
