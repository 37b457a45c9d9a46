/*
 * Merges, splits, their rules and re-clustering over HTTP; what they do to stacks is in test_epochs
 * and in the tests of the real program.
 *
 * Covers: server/http/api_recluster.c
 */
#include <string.h>
#include <unistd.h>

#include "tests/support/http_fixture.h"
#include "tests/support/unit.h"

/* Two causes of com.a, named by the device. */
static void send_causes(void)
{
    static const char body[] =
        "{\"app\":{\"bundle_id\":\"com.a\"},\"images\":[{\"name\":\"Shop\",\"load_address\":"
        "\"0x1000\",\"size\":65536}],\"reports\":["
        "{\"id\":\"a\",\"stack\":[{\"address\":\"0x1010\",\"symbol\":\"Feed.load()\"}]},"
        "{\"id\":\"b\",\"stack\":[{\"address\":\"0x1020\",\"symbol\":\"Cart.load()\"}]}]}";
    ck_assert_int_eq(http_post_json("/v1/reports", INGEST_TOKEN, body), 202);
    for (int i = 0; i < 500; i++) {
        ck_assert_int_eq(http_get("/v1/stats"), 200);
        if (http_number("clusters") == 2)
            return;
        usleep(10000);
    }
    ck_abort_msg("no clusters");
}

static void wait_for_work(void)
{
    for (int i = 0; i < 500; i++) {
        ck_assert_int_eq(http_get("/v1/admin/recluster"), 200);
        if (http_number("open") == 0)
            return;
        usleep(10000);
    }
    ck_abort_msg("work that does not end");
}

static size_t rules(const char *target)
{
    ck_assert_int_eq(http_get(target), 200);
    json_t *answer = http_json();
    size_t count = json_array_size(json_object_get(answer, "items"));
    json_decref(answer);
    return count;
}

START_TEST(merged_and_undone)
{
    http_fixture_start(&http_fixture);
    send_causes();
    ck_assert_int_eq(http_post_json("/v1/clusters/merge", ADMIN_TOKEN, "{\"into\":1,\"from\":[2]}"),
                     202);
    json_t *answer = http_json();
    ck_assert_str_eq(json_string_value(json_object_get(answer, "state")), "applying");
    ck_assert_uint_eq(json_array_size(json_object_get(answer, "rules")), 1);
    json_decref(answer);
    wait_for_work();
    ck_assert_int_eq(http_get("/v1/clusters/2"), 200);
    ck_assert_int_eq(http_number("id"), 1);
    ck_assert_int_eq(http_number("count"), 2);
    answer = http_json();
    json_t *part = json_array_get(json_object_get(answer, "parts"), 0);
    ck_assert_ptr_nonnull(json_object_get(part, "merged_by"));
    ck_assert_uint_eq(strlen(json_string_value(json_object_get(part, "key"))), 32);
    json_decref(answer);
    ck_assert_uint_eq(rules("/v1/clusters/rules?bundle_id=com.a"), 1);
    ck_assert_uint_eq(rules("/v1/clusters/rules?bundle_id=com.b"), 0);
    ck_assert_int_eq(http_ask("DELETE", "/v1/clusters/rules/1", ADMIN_TOKEN), 204);
    wait_for_work();
    ck_assert_int_eq(http_get("/v1/clusters/2"), 200);
    ck_assert_int_eq(http_number("id"), 2);
    ck_assert_uint_eq(rules("/v1/clusters/rules"), 0);
    ck_assert_uint_eq(rules("/v1/clusters/rules?undone=1"), 1);
    ck_assert_int_eq(http_ask("DELETE", "/v1/clusters/rules/1", ADMIN_TOKEN), 409);
    ck_assert_int_eq(http_ask("DELETE", "/v1/clusters/rules/9", ADMIN_TOKEN), 404);
    ck_assert_int_eq(http_ask("DELETE", "/v1/clusters/rules/x", ADMIN_TOKEN), 404);
    http_stop();
}
END_TEST

START_TEST(shapes_are_checked)
{
    static const struct {
        const char *target, *body;
        int status;
    } cases[] = {
        {"/v1/clusters/merge", "[]", 422},
        {"/v1/clusters/merge", "{", 400},
        {"/v1/clusters/merge", "{}", 422},
        {"/v1/clusters/merge", "{\"into\":1}", 422},
        {"/v1/clusters/merge", "{\"into\":0,\"from\":[2]}", 422},
        {"/v1/clusters/merge", "{\"into\":1,\"from\":[1]}", 422},
        {"/v1/clusters/merge", "{\"into\":1,\"from\":[\"2\"]}", 422},
        {"/v1/clusters/merge", "{\"into\":1,\"from\":[2,2]}", 422},
        {"/v1/clusters/merge", "{\"into\":1.5,\"from\":[2]}", 422},
        {"/v1/clusters/merge", "{\"into\":1,\"from\":[2],\"form\":1}", 422},
        {"/v1/clusters/merge", "{\"into\":1,\"from\":[77]}", 404},
        {"/v1/clusters/1/split", "{}", 422},
        {"/v1/clusters/1/split", "{\"depth\":17}", 422},
        {"/v1/clusters/1/split", "{\"depth\":1}", 422},
        {"/v1/clusters/1/split", "{\"part\":\"xyz\"}", 422},
        {"/v1/clusters/1/split", "{\"part\":\"0000000000000000000000000000000g\"}", 422},
        {"/v1/clusters/1/split", "{\"part\":\"00000000000000000000000000000000\"}", 404},
        {"/v1/clusters/77/split", "{\"depth\":2}", 404},
        {"/v1/clusters/x/split", "{\"depth\":2}", 404},
    };
    http_fixture_start(&http_fixture);
    send_causes();
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        int status = http_post_json(cases[i].target, ADMIN_TOKEN, cases[i].body);
        ck_assert_msg(status == cases[i].status, "%s %s: %d", cases[i].target, cases[i].body,
                      status);
        http_expect_problem(status);
    }
    ck_assert_int_eq(
        http_post("/v1/clusters/merge", ADMIN_TOKEN, "Content-Type: text/plain\r\n", "{}", 2), 415);
    ck_assert_int_eq(http_post_json("/v1/clusters/merge", READ_TOKEN, "{}"), 403);
    ck_assert_int_eq(http_ask("GET", "/v1/clusters/rules", READ_TOKEN), 200);
    ck_assert_int_eq(http_ask("GET", "/v1/clusters/rules?bundle_id=com.b", BOUND_READ), 403);
    ck_assert_int_eq(http_ask("GET", "/v1/admin/recluster", READ_TOKEN), 403);
    ck_assert_uint_eq(rules("/v1/clusters/rules?undone=1"), 0);
    http_stop();
}
END_TEST

START_TEST(reclustering_is_told)
{
    http_fixture_start(&http_fixture);
    ck_assert_int_eq(http_ask("POST", "/v1/admin/recluster", ADMIN_TOKEN), 202);
    ck_assert_int_eq(http_number("apps"), 0);
    ck_assert_int_eq(http_ask("POST", "/v1/admin/recluster?bundle_id=com.none", ADMIN_TOKEN), 404);
    send_causes();
    ck_assert_int_eq(http_ask("POST", "/v1/admin/recluster?bundle_id=com.a", ADMIN_TOKEN), 202);
    ck_assert_int_eq(http_number("apps"), 1);
    ck_assert_str_eq(http_header("Location"), "/v1/admin/recluster");
    wait_for_work();
    json_t *answer = http_json();
    json_t *item = json_array_get(json_object_get(answer, "items"), 0);
    ck_assert_str_eq(json_string_value(json_object_get(item, "state")), "done");
    ck_assert_str_eq(json_string_value(json_object_get(item, "kind")), "recluster");
    ck_assert_int_eq(json_integer_value(json_object_get(item, "stacks_seen")), 2);
    ck_assert_int_eq(json_integer_value(json_object_get(item, "stacks_changed")), 0);
    ck_assert(json_is_false(json_object_get(answer, "outdated")));
    json_decref(answer);
    ck_assert_int_eq(http_get("/readyz"), 200);
    ck_assert_ptr_nonnull(strstr(http_answer.body, "\"recluster_due\":false"));
    http_stop();
}
END_TEST

UNIT_MAIN("api_merges", merged_and_undone, shapes_are_checked, reclustering_is_told)
