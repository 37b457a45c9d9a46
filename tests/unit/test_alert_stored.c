/* Covers: server/jobs/alert_stored.c */
#include "server/jobs/alert_stored.h"

#include <string.h>

#include "tests/support/unit.h"

static struct error err;

START_TEST(what_older_versions_let_in_is_read)
{
    struct arena arena;
    struct alert_rules r;
    arena_init(&arena, 1 << 20);
    ck_assert_int_eq(alert_stored_read(NULL, &arena, &r, &err), ERR_OK);
    ck_assert_uint_eq(r.rule_count, 0);
    enum err rc = alert_stored_read(
        "{\"targets\":[{\"name\":\"on\\u0001ca\\nll\",\"url\":\"https://h.example.com/\\u0041\"}],"
        "\"owners\":{\"fe\\ted\x7f\":[\"on\\u0001ca\\nll\"]},\"rules\":[{\"name\":"
        "\"a\\\\n\\\"\\u007F"
        "\\u2028\",\"to\":[\"on\\u0001ca\\nll\"]}]}",
        &arena, &r, &err);
    ck_assert_msg(rc == ERR_OK, "%s", err.text);
    ck_assert_str_eq(r.targets[0].name, "on?ca?ll");
    ck_assert_str_eq(r.targets[0].url, "https://h.example.com/A");
    ck_assert_str_eq(r.owners[0].owner, "fe?ed?");
    ck_assert_str_eq(r.owners[0].to.names[0], "on?ca?ll");
    ck_assert_str_eq(r.rules[0].name, "a\\n\"?\xe2\x80\xa8");
    ck_assert_str_eq(r.rules[0].to.names[0], "on?ca?ll");
    arena_done(&arena);
}
END_TEST

START_TEST(what_is_refused_says_why)
{
    static const struct {
        const char *document, *why;
    } bad[] = {{"{\"targets\":[{\"name\":\"a\",\"url\":\"gopher://a\"}],\"rules\":[]}",
                "targets[0].url: an http:// or https:// address"},
               {"{\"targets\":[{\"name\":\"a\\u0001\",\"url\":\"http://a\"},"
                "{\"name\":\"a\\u0002\",\"url\":\"http://b\"}],\"rules\":[]}",
                "targets[1].name: another target has this name"},
               {"{\"targets\":", "nothing is sent until they are set anew"},
               {"\\", "nothing is sent until they are set anew"},
               {"{\"a\\u00", "nothing is sent until they are set anew"}};
    struct arena arena;
    arena_init(&arena, 1 << 20);
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct alert_rules r;
        ck_assert_int_eq(alert_stored_read(bad[i].document, &arena, &r, &err), ERR_INVALID);
        ck_assert_msg(strstr(err.text, bad[i].why) != NULL, "%s", err.text);
        ck_assert_uint_eq(r.rule_count + r.target_count, 0);
    }
    arena_done(&arena);
}
END_TEST

UNIT_MAIN("alert_stored", what_older_versions_let_in_is_read, what_is_refused_says_why)
