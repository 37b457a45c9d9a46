/* Covers: server/http/api_life.c */
#include "server/http/api.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "tests/support/http_fixture.h"
#include "tests/support/unit.h"

#define CLUSTER "/v1/clusters/1"

static int patch(const char *target, const char *token, const char *body)
{
    raw_answer_done(&http_answer);
    http_fixture_ask(&http_fixture, "PATCH", target, token, HTTP_JSON, body, strlen(body),
                     &http_answer);
    return http_answer.status;
}

static void post_version(const char *id, const char *version)
{
    char body[512];
    snprintf(body, sizeof(body),
             "{\"app\":{\"bundle_id\":\"com.a\",\"version\":\"%s\",\"build\":\"1\"},"
             "\"reports\":[{\"id\":\"%s\",\"stack\":[\"0x1\"]}]}",
             version, id);
    ck_assert_int_eq(http_post_json("/v1/reports", INGEST_TOKEN, body), 202);
}

static void one_cluster(void)
{
    http_fixture_start(&http_fixture);
    post_version("a", "1.0");
    int64_t deadline = clock_mono_ms() + 10000;
    do {
        usleep(10000);
        ck_assert_int_eq(http_get("/v1/stats"), 200);
    } while (http_number("pending_stacks") > 0 && clock_mono_ms() < deadline);
    ck_assert_int_eq(http_get(CLUSTER), 200);
}

static const char *text_of(json_t *o, const char *key)
{
    const char *text = json_string_value(json_object_get(o, key));
    return text ? text : "null";
}

START_TEST(a_cluster_lives)
{
    one_cluster();
    ck_assert_int_eq(patch(CLUSTER, ADMIN_TOKEN,
                           "{\"state\":\"resolved\",\"resolved_in\":\"1.1 (11)\",\"note\":\"ok\"}"),
                     200);
    json_t *c = http_json();
    ck_assert_str_eq(text_of(c, "state"), "resolved");
    ck_assert_str_eq(text_of(c, "resolved_in"), "1.1");
    ck_assert_str_eq(text_of(c, "resolved_in_build"), "11");
    ck_assert_str_eq(text_of(c, "note"), "ok");
    json_decref(c);
    post_version("b", "1.1");
    ck_assert_int_eq(http_get("/v1/clusters?state=resolved"), 200);
    c = http_json();
    ck_assert_uint_eq(json_array_size(json_object_get(c, "items")), 1);
    json_decref(c);
    post_version("c", "1.2");
    ck_assert_int_eq(http_get(CLUSTER), 200);
    c = http_json();
    ck_assert_str_eq(text_of(c, "state"), "open");
    ck_assert_str_eq(text_of(c, "regressed_in"), "1.2");
    ck_assert_str_ne(text_of(c, "regressed_at"), "null");
    ck_assert_uint_eq(json_array_size(json_object_get(c, "history")), 2);
    json_decref(c);

    ck_assert_int_eq(http_get(CLUSTER "/history?limit=1"), 200);
    c = http_json();
    json_t *first = json_array_get(json_object_get(c, "items"), 0);
    ck_assert_str_eq(text_of(first, "what"), "regression");
    ck_assert_str_eq(text_of(first, "version"), "1.2");
    ck_assert_str_eq(text_of(first, "who"), "null");
    char target[256];
    snprintf(target, sizeof(target), CLUSTER "/history?cursor=%s", text_of(c, "next_cursor"));
    json_decref(c);
    ck_assert_int_eq(http_get(target), 200);
    c = http_json();
    ck_assert_uint_eq(json_array_size(json_object_get(c, "items")), 1);
    first = json_array_get(json_object_get(c, "items"), 0);
    ck_assert_str_eq(text_of(first, "what"), "change");
    ck_assert_str_ne(text_of(first, "who"), "null");
    json_decref(c);

    ck_assert_int_eq(patch(CLUSTER, ADMIN_TOKEN, "{\"note\":\"a\\n\\tb\"}"), 200);
    ck_assert_int_eq(patch(CLUSTER, ADMIN_TOKEN, "{\"note\":null}"), 200);
    c = http_json();
    ck_assert_str_eq(text_of(c, "note"), "null");
    ck_assert_str_eq(text_of(c, "state"), "open");
    json_decref(c);
    ck_assert_int_eq(patch(CLUSTER, ADMIN_TOKEN, "{\"state\":\"resolved\"}"), 200);
    c = http_json();
    ck_assert_str_eq(text_of(c, "resolved_in"), "1.2");
    json_decref(c);
    http_stop();
}
END_TEST

START_TEST(what_is_refused)
{
    static const struct {
        const char *target, *token, *body;
        int status;
        const char *says;
    } cases[] = {
        {CLUSTER, READ_TOKEN, "{\"state\":\"open\"}", 403, ""},
        {CLUSTER, INGEST_TOKEN, "{\"state\":\"open\"}", 403, ""},
        {"/v1/clusters/99", ADMIN_TOKEN, "{\"state\":\"open\"}", 404, "no cluster"},
        {"/v1/clusters/x", ADMIN_TOKEN, "{\"state\":\"open\"}", 404, ""},
        {CLUSTER, ADMIN_TOKEN, "{\"state\":", 400, ""},
        {CLUSTER, ADMIN_TOKEN, "[]", 422, "object"},
        {CLUSTER, ADMIN_TOKEN, "{}", 422, "nothing"},
        {CLUSTER, ADMIN_TOKEN, "{\"state\":null}", 422, "nothing"},
        {CLUSTER, ADMIN_TOKEN, "{\"state\":\"fixed\"}", 422, "state"},
        {CLUSTER, ADMIN_TOKEN, "{\"state\":7}", 422, "state"},
        {CLUSTER, ADMIN_TOKEN, "{\"status\":\"open\"}", 422, "status"},
        {CLUSTER, ADMIN_TOKEN, "{\"note\":7}", 422, "note"},
        {CLUSTER, ADMIN_TOKEN, "{\"note\":\"\\u001b[2J\"}", 422, "control"},
        {CLUSTER, ADMIN_TOKEN, "{\"note\":\"\\u0000\"}", 422, "control"},
        {CLUSTER, ADMIN_TOKEN, "{\"note\":\"a\\u202eb\"}", 422, "direction"},
        {CLUSTER, ADMIN_TOKEN, "{\"note\":\"a\\u2066b\"}", 422, "direction"},
        {CLUSTER, ADMIN_TOKEN, "{\"state\":\"open\",\"resolved_in\":\"1\"}", 422, "resolved_in"},
        {CLUSTER, ADMIN_TOKEN, "{\"resolved_in\":\"1\"}", 422, "resolved_in"},
        {CLUSTER, ADMIN_TOKEN, "{\"state\":\"resolved\",\"resolved_in\":\"next\"}", 422,
         "resolved_in"},
        {CLUSTER, ADMIN_TOKEN, "{\"state\":\"resolved\",\"resolved_in_build\":\"7\"}", 422,
         "resolved_in_build"},
    };
    one_cluster();
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        int status = patch(cases[i].target, cases[i].token, cases[i].body);
        ck_assert_msg(status == cases[i].status && strstr(http_answer.body, cases[i].says),
                      "%s: %d %s", cases[i].body, status, http_answer.body);
    }
    ck_assert_int_eq(http_get(CLUSTER "/history"), 200);
    json_t *c = http_json();
    ck_assert_uint_eq(json_array_size(json_object_get(c, "items")), 0);
    json_decref(c);
    ck_assert_int_eq(http_get("/v1/clusters/99/history"), 404);
    http_stop();
}
END_TEST

UNIT_MAIN("api_life", a_cluster_lives, what_is_refused)
