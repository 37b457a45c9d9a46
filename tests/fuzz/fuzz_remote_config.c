/*
 * fuzz_remote_config - any text is an app's configuration.
 *
 * What must hold: a refusal names its place; what was accepted is accepted again as it is stored, and
 * gives any client every setting, inside its bounds and in the right order.
 */
#include "server/http/config_json.h"
#include "server/jobs/json_text.h"
#include "tests/fuzz/fuzz.h"

static void serve(const struct remote_config *config)
{
    static const struct config_client clients[] = {
        {.bundle_id = "a"},
        {"a", "7.2.1", "7210", "iPhone14,7", "16.6", 0, "one"},
        {"b", "8", "1", "iPad6,12", "26.0", 1024, "two"},
    };
    for (size_t i = 0; i < sizeof(clients) / sizeof(clients[0]); i++) {
        struct config_values v;
        size_t rule = 0;
        remote_config_of(config, &clients[i], &v, &rule);
        REQUIRE(rule == SIZE_MAX || rule < config->rule_count);
        for (int s = 0; s < CONFIG_SETTINGS; s++)
            REQUIRE(v.v[s] >= CONFIG_INFO[s].min && v.v[s] <= CONFIG_INFO[s].max);
        REQUIRE(v.v[CONFIG_SLIGHT_MS] < v.v[CONFIG_STALL_MS]);
        REQUIRE(v.v[CONFIG_STALL_MS] < v.v[CONFIG_HANG_MS]);
    }
}

static void check(json_t *body, struct arena *arena)
{
    struct remote_config config, again;
    struct error err = {.code = ERR_OK};
    enum err rc = config_json_read(body, arena, &config, &err);
    if (rc) {
        REQUIRE((rc == ERR_INVALID || rc == ERR_NO_MEMORY) && err.code == rc && err.text[0]);
        return;
    }
    serve(&config);
    const char *stored = config_json_store(body, arena);
    if (!stored)
        return;
    REQUIRE(config_json_parse(stored, arena, &again, &err) == ERR_OK);
    REQUIRE(again.rule_count == config.rule_count);
    serve(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena arena;
    struct error err = {.code = ERR_OK};
    json_t *body = NULL;
    arena_init(&arena, (size_t)4 << 20);
    if (json_text_load(size ? (const char *)data : "", size, &body, &err) == ERR_OK)
        check(body, &arena);
    json_decref(body);
    arena_done(&arena);
    return 0;
}
