/* Covers: server/jobs/alert_body.c */
#include "server/jobs/alert_rules.h"

#include <string.h>

#include "server/jobs/alert_body.h"
#include "server/jobs/notifier.h"
#include "tests/support/scarce.h"
#include "tests/support/unit.h"

static const char DOCUMENT[] =
    "{\"targets\":[{\"name\":\"a\",\"url\":\"https://h.example.com/x?token=t\",\"secret\":\"s\"},"
    "{\"name\":\"b\",\"kind\":\"slack\",\"url\":\"http://h.example.com\"}],"
    "\"owners\":{\"feed\":[\"b\"]},\"rules\":["
    "{\"bundle_id\":\"com.quiet\",\"mute\":true},"
    "{\"alerts\":[\"spike\"],\"min_reports\":20,\"factor\":4,\"to\":[\"a\",\"b\"]},"
    "{\"to\":\"a\"}]}";

static struct alert_rules read_good(struct arena *arena, const char *text,
                                    const struct alert_rules *before)
{
    struct alert_rules rules;
    struct alert_fault fault;
    struct error err = {0};
    enum err rc = alert_rules_read(text, strlen(text), before, arena, &rules, &fault, &err);
    ck_assert_msg(rc == ERR_OK, "%s", err.text);
    return rules;
}

START_TEST(first_rule_decides)
{
    struct arena arena;
    arena_init(&arena, 1 << 20);
    struct alert_rules r = read_good(&arena, DOCUMENT, NULL);
    struct alert_facts f = {.kind = ALERT_SPIKE, .bundle_id = "com.quiet"};
    ck_assert(alert_rules_match(&r, &f)->mute);
    f.bundle_id = "com.a";
    const struct alert_rule *rule = alert_rules_match(&r, &f);
    ck_assert_uint_eq(alert_rule_min_reports(rule, ALERT_SPIKE), 20);
    ck_assert_uint_eq(alert_rules_route(&r, rule, NULL)->count, 2);
    ck_assert_str_eq(alert_rules_route(&r, rule, "feed")->names[0], "b");
    f.kind = ALERT_NEW_CLUSTER;
    ck_assert_uint_eq(alert_rule_min_reports(alert_rules_match(&r, &f), f.kind), 5);
    ck_assert_uint_eq(alert_rules_least(&r, ALERT_SPIKE), 10);
    arena_done(&arena);
}
END_TEST

START_TEST(prints_and_reads_back)
{
    struct arena arena;
    struct buf plain, masked, again;
    arena_init(&arena, 1 << 20);
    buf_init(&plain, 65536);
    buf_init(&masked, 65536);
    buf_init(&again, 65536);
    struct alert_rules r = read_good(&arena, DOCUMENT, NULL);
    ck_assert(alert_rules_print(&r, false, false, &plain));
    ck_assert(alert_rules_print(&r, true, false, &masked));
    ck_assert_ptr_null(strstr(masked.data, "token"));
    ck_assert_ptr_nonnull(strstr(masked.data, "https://h.example.com/***"));
    struct alert_rules back = read_good(&arena, masked.data, &r);
    ck_assert(alert_rules_print(&back, false, false, &again));
    ck_assert_str_eq(plain.data, again.data);
    buf_done(&plain);
    buf_done(&masked);
    buf_done(&again);
    arena_done(&arena);
}
END_TEST

START_TEST(answers_and_delays)
{
    char why[128];
    const struct notifier_options o = {.retry_ms = 1000, .retry_max_ms = 60000};
    ck_assert(alert_answer_good(TARGET_WEBHOOK, 204, "", 0, why, sizeof(why)));
    ck_assert(!alert_answer_good(TARGET_WEBHOOK, 302, "", 0, why, sizeof(why)));
    ck_assert(!alert_answer_good(TARGET_FEISHU, 200, "{\"code\":9}", 10, why, sizeof(why)));
    ck_assert(alert_answer_good(TARGET_DINGTALK, 200, "{\"errcode\":0}", 13, why, sizeof(why)));
    ck_assert_int_eq(notifier_delay(&o, 1, 0, 0), 800);
    ck_assert_int_eq(notifier_delay(&o, 1, 0, UINT32_MAX), 1200);
    ck_assert_int_eq(notifier_delay(&o, 4, 0, 0), 6400);
    ck_assert_int_eq(notifier_delay(&o, 4000000000u, 0, UINT32_MAX), 72000);
    ck_assert_int_eq(notifier_delay(&o, 1, 30000, 0), 30000);
    ck_assert_int_eq(notifier_delay(&o, 1, INT64_MAX, 0), 60000);
}
END_TEST

/* Rules and messages are whole, or there are none. */
START_TEST(no_byte_is_lost_without_memory)
{
    static const char STORY[] = "{\"summary\":\"Feed.reload waits for a lock that nobody gives\","
                                "\"owner\":\"feed\",\"link\":\"https://stalls.example.com/1\"}";
    struct arena arena;
    struct buf right;
    unsigned n = 1;
    arena_init(&arena, 1 << 20);
    buf_init(&right, 65536);
    struct alert_rules r = read_good(&arena, DOCUMENT, NULL);
    ck_assert(alert_rules_print(&r, false, false, &right));
    for (bool failed = true; failed; n++) {
        struct alert_fault fault;
        struct error err;
        struct buf out;
        buf_init(&out, 65536);
        scarce_begin(n);
        enum err rc = alert_rules_read(DOCUMENT, strlen(DOCUMENT), NULL, &arena, &r, &fault, &err);
        failed = scarce_end();
        ck_assert_msg(rc == ERR_OK || rc == ERR_NO_MEMORY, "%u: %s", n, err.text);
        if (!rc && alert_rules_print(&r, false, false, &out))
            ck_assert_str_eq(out.data, right.data);
        buf_done(&out);
    }
    ck_assert_uint_gt(n, 50);
    struct alert_message good, m;
    alert_message_init(&good);
    ck_assert_int_eq(alert_message_make(&r.targets[1], STORY, 0, &good, NULL), ERR_OK);
    n = 1;
    for (bool failed = true; failed; n++) {
        alert_message_init(&m);
        scarce_begin(n);
        enum err rc = alert_message_make(&r.targets[1], STORY, 0, &m, NULL);
        failed = scarce_end();
        ck_assert(rc == ERR_OK || rc == ERR_NO_MEMORY);
        if (!rc)
            ck_assert_mem_eq(m.body.data, good.body.data, good.body.len);
        alert_message_done(&m);
    }
    ck_assert_uint_gt(n, 5);
    n = 1;
    for (bool failed = true; failed; n++) {
        char why[128];
        scarce_begin(n);
        bool arrived = alert_answer_good(TARGET_FEISHU, 200, "{\"code\":9}", 10, why, sizeof(why));
        failed = scarce_end();
        ck_assert(!arrived);
    }
    alert_message_done(&good);
    buf_done(&right);
    arena_done(&arena);
}
END_TEST

START_TEST(wrong_members_are_refused_at_their_place)
{
    static const struct {
        const char *text, *path, *reason;
    } cases[] = {
        {"{\"targets\":[],\"rules\":[{\"mute\":true,\"min_reports\":1.5}]}", "rules[0].min_reports",
         "not a whole number"},
        {"{\"targets\":[],\"rules\":[{\"mute\":true,\"min_reports\":0}]}", "rules[0].min_reports",
         "out of range: from 1 to 1000000000"},
        {"{\"targets\":[],\"rules\":[{\"mute\":true,\"owner\":\"a\\u0000b\"}]}", "rules[0].owner",
         "contains control characters"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct arena arena;
        struct alert_rules rules;
        struct alert_fault fault;
        arena_init(&arena, 1 << 20);
        ck_assert_int_eq(alert_rules_read(cases[i].text, strlen(cases[i].text), NULL, &arena,
                                          &rules, &fault, NULL),
                         ERR_INVALID);
        ck_assert_str_eq(fault.path, cases[i].path);
        ck_assert_str_eq(fault.reason, cases[i].reason);
        arena_done(&arena);
    }
}
END_TEST

UNIT_MAIN("alert_rules", no_byte_is_lost_without_memory, wrong_members_are_refused_at_their_place,
          first_rule_decides, prints_and_reads_back, answers_and_delays)
