/*
 * fuzz_rules - any bytes are a rule text; what was read is asked about frames.
 */
#include "server/analysis/rules_match.h"
#include "tests/fuzz/fuzz.h"

static void ask(const struct rules *rules, const char *name)
{
    struct rule_match m[RULE_KINDS];
    struct rule_subject s = {
        .image = "Shop", .key = name, .shown = name, .file = "/src/Feed.swift"};
    for (uint32_t i = 0; i < 8; i++) {
        s.position = i;
        s.in_app = i & 1;
        s.vendor = !s.in_app && (i & 2);
        s.named = i & 4;
        rules_match(rules, &s, m);
        for (int k = 0; k < RULE_KINDS; k++)
            REQUIRE(!m[k].action || (m[k].line > 0 && m[k].label && *m[k].label));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct rules *rules = NULL;
    struct error err = {0};
    enum err e = rules_new((const char *)data, size, &rules, &err);
    if (e != ERR_OK) {
        REQUIRE(!rules && err.code == e &&
                (e == ERR_NO_MEMORY || strncmp(err.text, "line ", 5) == 0));
        return 0;
    }
    REQUIRE(strlen(rules_version(rules)) == SHA256_TEXT_SIZE - 1);
    ask(rules, "mach_msg2_trap");
    ask(rules, "-[Feed reload:]");
    ask(rules, "a");
    ask(rules, "");
    ask(rules, NULL);
    (void)rules_is_platform(rules, "UIKitCore");
    rules_free(rules);
    return 0;
}
