/* Covers: server/http/api_flamegraph.c */
#include "server/http/api.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tests/support/http_fixture.h"
#include "tests/support/unit.h"

/* Stacks of names that the device knew: no symbol file is needed. */
static void post(const char *id, const char *version, int duration_ms, const char *stack)
{
    char body[2048];
    snprintf(body, sizeof(body),
             "{\"app\":{\"bundle_id\":\"com.a\",\"version\":\"%s\"},\"images\":[{\"uuid\":"
             "\"4c4c44dc55553144a100c10e3a4b6d1e\",\"name\":\"Feed\",\"load_address\":"
             "\"0x100000000\"}],\"reports\":[{\"id\":\"%s\",\"kind\":\"stall\",\"duration_ms\":%d,"
             "\"stack\":[%s]}]}",
             version, id, duration_ms, stack);
    ck_assert_msg(http_post_json("/v1/reports", INGEST_TOKEN, body) == 202, "%s", http_answer.body);
}

#define MAIN    "{\"address\":\"0x100000010\",\"symbol\":\"main\"}"
#define LOAD    "{\"address\":\"0x100000020\",\"symbol\":\"-[Feed <load>]\"},"
#define NAMED   "{\"address\":\"0x100000030\",\"symbol\":\"decode\"},"
#define MYSTERY "\"0x100000040\","

static void wait_until_resolved(void)
{
    for (int i = 0; i < 500; i++) {
        ck_assert_int_eq(http_get("/v1/stats"), 200);
        if (http_number("pending_stacks") == 0)
            return;
        usleep(10000);
    }
    ck_abort_msg("stacks are still pending: %s", http_answer.body);
}

static void start(void)
{
    http_fixture_start(&http_fixture);
    post("1", "1.0", 900, NAMED LOAD MAIN);
    post("2", "1.0", 300, NAMED LOAD MAIN);
    post("3", "1.1", 500, MYSTERY MAIN);
    wait_until_resolved();
}

static const char *body_of(const char *target)
{
    ck_assert_msg(http_get(target) == 200, "%s: %s", target, http_answer.body);
    return http_answer.body;
}

START_TEST(formats_and_weights)
{
    start();
    ck_assert_str_eq(body_of("/v1/flamegraph?format=folded"),
                     "main;-[Feed <load>];decode 2\nmain;Feed + 0x40 1\n");
    ck_assert_str_eq(http_header("Content-Type"), "text/plain; charset=utf-8");
    ck_assert_str_eq(body_of("/v1/flamegraph?format=folded&weight=time"),
                     "main;-[Feed <load>];decode 1200\nmain;Feed + 0x40 500\n");
    ck_assert_str_eq(body_of("/v1/flamegraph?format=folded&weight=time&version=1.1"),
                     "main;Feed + 0x40 500\n");
    ck_assert_str_eq(
        body_of("/v1/flamegraph?format=folded&weight=time&version=1.0&compare_version=1.1"),
        "main;-[Feed <load>];decode 0 1200\nmain;Feed + 0x40 500 0\n");
    (void)body_of("/v1/flamegraph");
    ck_assert_int_eq(http_number("total"), 3);
    ck_assert_int_eq(http_number("stacks"), 2);
    ck_assert_int_eq(http_number("nodes"), 4);
    ck_assert_str_eq(http_header("Content-Type"), "application/json");
    (void)body_of("/v1/flamegraph?format=speedscope&bundle_id=com.a");
    ck_assert_str_eq(http_header("Content-Security-Policy"),
                     "default-src 'none'; frame-ancestors 'none'");
    ck_assert_ptr_nonnull(strstr(http_answer.body, "speedscope.app/file-format-schema.json"));
    (void)body_of("/v1/flamegraph?format=svg&bundle_id=com.a");
    ck_assert_str_eq(http_header("Content-Type"), "image/svg+xml");
    ck_assert_str_eq(http_header("Content-Security-Policy"),
                     "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; "
                     "frame-ancestors 'none'");
    ck_assert_ptr_nonnull(strstr(http_answer.body, "-[Feed &lt;load&gt;]"));
    /* Of one cluster: what is in it. */
    (void)body_of("/v1/clusters?include_hidden=1");
    json_t *clusters = http_json();
    size_t count = json_array_size(json_object_get(clusters, "items"));
    json_int_t sum = 0;
    for (size_t i = 0; i < count; i++) {
        char target[96];
        json_t *c = json_array_get(json_object_get(clusters, "items"), i);
        snprintf(target, sizeof(target), "/v1/flamegraph?cluster_id=%lld",
                 (long long)json_integer_value(json_object_get(c, "id")));
        (void)body_of(target);
        sum += http_number("total");
    }
    json_decref(clusters);
    ck_assert_int_eq(sum, 3);
    http_stop();
}
END_TEST

START_TEST(what_is_refused)
{
    static const struct {
        const char *query;
        int status;
    } rows[] = {
        {"?format=png", 400},
        {"?weight=memory", 400},
        {"?cluster_id=x", 400},
        {"?cluster_id=99", 404},
        {"?compare_version=1", 400},
        {"?limit=3", 400},
        {"?since=yesterday", 400},
        {"?version=9&compare_version=8", 200},
        {"?bundle_id=com.none", 200},
        {"?version=9&compare_version=9", 400},
        {"?since=2026-01-02T00:00:00Z&until=2026-01-01T00:00:00Z", 400},
        {"?since=2026-01-01T00:00:00Z&until=2026-01-02T00:00:00Z", 200},
    };
    start();
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char target[96];
        snprintf(target, sizeof(target), "/v1/flamegraph%s", rows[i].query);
        ck_assert_msg(http_get(target) == rows[i].status, "%s: %s", target, http_answer.body);
    }
    ck_assert_int_eq(http_ask("GET", "/v1/flamegraph", NULL), 401);
    ck_assert_int_eq(http_ask("GET", "/v1/flamegraph", INGEST_TOKEN), 403);
    ck_assert_int_eq(http_ask("GET", "/v1/flamegraph", BOUND_READ), 200);
    ck_assert_int_eq(http_ask("GET", "/v1/flamegraph?bundle_id=com.b", BOUND_READ), 403);
    http_stop();
}
END_TEST

UNIT_MAIN("api_flamegraph", formats_and_weights, what_is_refused)
