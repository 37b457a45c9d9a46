/*
 * fuzz_alert_rules - any bytes are the rules of alerts.
 *
 * What must hold: a refusal says what and where; every target that a rule or an owner names is
 * there; what was read, printed, is read again and prints the same, also when its secrets were
 * masked and come from the rules before.
 */
#include "server/jobs/alert_rules.h"
#include "tests/fuzz/fuzz.h"

static void check_list(const struct alert_rules *r, const struct target_list *l)
{
    REQUIRE(l->count <= ALERT_RULE_TARGETS);
    for (size_t i = 0; i < l->count; i++)
        REQUIRE(alert_rules_target(r, l->names[i]));
}

static void check_parts(const struct alert_rules *r)
{
    const struct alert_facts facts = {ALERT_SPIKE, "com.example.shop", "feed", "io"};
    REQUIRE(r->target_count <= ALERT_TARGETS_MAX && r->owner_count <= ALERT_OWNERS_MAX &&
            r->rule_count <= ALERT_RULES_MAX);
    for (size_t i = 0; i < r->target_count; i++)
        REQUIRE(r->targets[i].name[0] && strncmp(r->targets[i].url, "http", 4) == 0);
    for (size_t i = 0; i < r->owner_count; i++)
        check_list(r, &r->owners[i].to);
    for (size_t i = 0; i < r->rule_count; i++)
        check_list(r, &r->rules[i].to);
    const struct alert_rule *rule = alert_rules_match(r, &facts);
    REQUIRE(!rule || alert_rules_route(r, rule, facts.owner));
}

/* Printed with or without secrets, read again beside the rules themselves: the same. */
static void check_again(const struct alert_rules *r, bool masked, struct arena *arena)
{
    struct alert_rules back;
    struct alert_fault fault;
    struct error err = {.code = ERR_OK};
    struct buf first, second;
    buf_init(&first, 2 * ALERT_RULES_BYTES);
    buf_init(&second, 2 * ALERT_RULES_BYTES);
    REQUIRE(alert_rules_print(r, masked, false, &first));
    if (first.len <= ALERT_RULES_BYTES) {
        REQUIRE(alert_rules_read(first.data, first.len, r, arena, &back, &fault, &err) == ERR_OK);
        REQUIRE(alert_rules_print(&back, masked, false, &second));
        REQUIRE(first.len == second.len && memcmp(first.data, second.data, first.len) == 0);
    }
    buf_done(&first);
    buf_done(&second);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena arena;
    struct alert_rules rules;
    struct alert_fault fault = {.reason = ""};
    struct error err = {.code = ERR_OK};
    arena_init(&arena, (size_t)16 << 20);
    enum err rc =
        alert_rules_read(size ? (const char *)data : "", size, NULL, &arena, &rules, &fault, &err);
    if (rc == ERR_OK) {
        check_parts(&rules);
        check_again(&rules, false, &arena);
        check_again(&rules, true, &arena);
    } else {
        REQUIRE(rc == ERR_FORMAT || rc == ERR_INVALID || rc == ERR_NO_MEMORY);
        REQUIRE(rc != ERR_INVALID || fault.reason[0]);
        REQUIRE(rc != ERR_FORMAT || err.text[0]);
    }
    arena_done(&arena);
    return 0;
}
