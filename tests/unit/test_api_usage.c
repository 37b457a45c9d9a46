/* Covers: server/http/api_usage.c server/http/api_trends.c server/http/numbers_json.c */
#include "server/http/api.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "tests/support/http_fixture.h"
#include "tests/support/unit.h"

static const char BATCH[] =
    "{\"id\":\"u1\",\"app\":{\"bundle_id\":\"com.a\",\"version\":\"1\"},"
    "\"device\":{\"model\":\"iPhone14,7\"},"
    "\"items\":[{\"page\":\"Home\",\"foreground_ms\":7200000,\"launches\":3},{\"page\":\"Cart\"}]}";

START_TEST(usage_is_stored_once)
{
    http_fixture_start(&http_fixture);
    ck_assert_int_eq(http_post_json("/v1/usage", INGEST_TOKEN, BATCH), 202);
    ck_assert_int_eq(http_number("accepted"), 1);
    json_t *answer = http_json();
    ck_assert_uint_eq(json_array_size(json_object_get(answer, "rejected")), 1);
    json_decref(answer);
    ck_assert_int_eq(http_post_json("/v1/usage", INGEST_TOKEN, BATCH), 202);
    ck_assert_int_eq(http_number("accepted"), 0);
    ck_assert_int_eq(http_number("duplicates"), 1);
    ck_assert_int_eq(http_post_json("/v1/usage", READ_TOKEN, BATCH), 403);
    ck_assert_int_eq(http_post_json("/v1/usage", BOUND_INGEST, BATCH), 202);
    ck_assert_int_eq(
        http_post_json("/v1/usage", BOUND_INGEST, "{\"bundle_id\":\"com.b\",\"launches\":1}"), 422);
    http_expect_problem(422);
    ck_assert_int_eq(http_post_json("/v1/usage", INGEST_TOKEN, "{\"items\":[{}]}"), 422);
    ck_assert_int_eq(http_post_json("/v1/usage", INGEST_TOKEN, "[1"), 400);
    ck_assert_int_eq(http_post("/v1/usage", INGEST_TOKEN, "Content-Type: text/plain\r\n", "x", 1),
                     415);
    ck_assert_int_eq(http_ask("GET", "/v1/usage", READ_TOKEN), 405);
    http_stop();
}
END_TEST

static json_t *first(json_t *answer)
{
    return json_array_get(json_object_get(answer, "items"), 0);
}

static double number(json_t *o, const char *key)
{
    json_t *v = json_object_get(o, key);
    return json_is_number(v) ? json_number_value(v) : (double)NAN;
}

/* Two reports of com.a, 900 ms each, in two hours of use. */
START_TEST(rates_are_per_hour_of_use)
{
    http_fixture_start(&http_fixture);
    ck_assert_int_eq(http_post_json("/v1/reports", INGEST_TOKEN, http_batch("a")), 202);
    ck_assert_int_eq(http_post_json("/v1/reports", INGEST_TOKEN, http_batch("b")), 202);
    ck_assert_int_eq(http_get("/v1/breakdown?bundle_id=com.a&by=version"), 200);
    json_t *answer = http_json();
    ck_assert(json_is_null(json_object_get(first(answer), "stall_rate")));
    ck_assert_double_eq(number(first(answer), "usage_hours"), 0);
    json_decref(answer);
    ck_assert_int_eq(http_post_json("/v1/usage", INGEST_TOKEN, BATCH), 202);
    ck_assert_int_eq(http_get("/v1/breakdown?bundle_id=com.a&by=version"), 200);
    answer = http_json();
    ck_assert_double_eq(number(first(answer), "usage_hours"), 2);
    ck_assert_double_eq(number(first(answer), "stall_rate"), 0.9);
    ck_assert_double_eq(number(first(answer), "launches"), 3);
    json_decref(answer);
    ck_assert_int_eq(http_get("/v1/breakdown?bundle_id=com.a&by=version,device"), 200);
    answer = http_json();
    ck_assert(json_is_null(json_object_get(first(answer), "usage_hours")));
    ck_assert(json_is_null(json_object_get(first(answer), "launches")));
    json_decref(answer);

    ck_assert_int_eq(http_get("/v1/trends?bundle_id=com.a&group=version"), 200);
    answer = http_json();
    json_t *points = json_object_get(first(answer), "points");
    ck_assert_uint_eq(json_array_size(points), 30);
    ck_assert_double_eq(number(first(answer), "stall_rate"), 0.9);
    ck_assert_double_eq(number(json_array_get(points, 0), "count"), 0);
    ck_assert_str_eq(json_string_value(json_object_get(first(answer), "value")), "1");
    json_decref(answer);
    http_stop();
}
END_TEST

START_TEST(clusters_say_their_numbers)
{
    char body[512];
    http_fixture_start(&http_fixture);
    for (int i = 0; i < 3; i++) {
        snprintf(body, sizeof(body),
                 "{\"bundle_id\":\"com.a\",\"app_version\":\"7.%d\",\"id\":\"r%d\",\"kind\":"
                 "\"stall\",\"duration_ms\":1000,\"cpu_usage\":%d,\"memory_usage\":300,\"path\":"
                 "\"A->B\",\"page\":\"P%d\",\"stack\":[\"0x1\"]}",
                 9 + i / 2, i, 40 + i, i / 2);
        ck_assert_int_eq(http_post_json("/v1/reports", INGEST_TOKEN, body), 202);
    }
    ck_assert_int_eq(http_post_json("/v1/usage", INGEST_TOKEN, BATCH), 202);
    int64_t deadline = clock_mono_ms() + 10000;
    do {
        usleep(10000);
        ck_assert_int_eq(http_get("/v1/stats"), 200);
    } while (http_number("pending_stacks") > 0 && clock_mono_ms() < deadline);
    ck_assert_int_eq(http_get("/v1/clusters?include_hidden=1"), 200);
    json_t *list = http_json();
    json_t *c = first(list);
    ck_assert_double_eq(number(c, "share"), 1);
    ck_assert_double_eq(number(c, "stall_share"), 1);
    ck_assert_double_eq(number(c, "stall_rate"), 1.5);
    ck_assert_str_eq(json_string_value(json_object_get(c, "first_version")), "7.9");
    ck_assert_str_eq(json_string_value(json_object_get(c, "last_version")), "7.10");
    ck_assert(json_is_null(json_object_get(c, "last_build")));
    ck_assert_str_eq(json_string_value(json_object_get(c, "trend_direction")), "flat");
    json_int_t id = json_integer_value(json_object_get(c, "id"));
    json_decref(list);
    snprintf(body, sizeof(body), "/v1/clusters/%lld", (long long)id);
    ck_assert_int_eq(http_get(body), 200);
    json_t *detail = http_json();
    json_t *context = json_object_get(detail, "context");
    ck_assert_double_eq(number(context, "reports"), 3);
    ck_assert_double_eq(number(json_object_get(context, "cpu"), "p50"), 41);
    ck_assert_double_eq(number(json_object_get(context, "cpu"), "p90"), 42);
    json_t *page = json_array_get(json_object_get(context, "pages"), 0);
    ck_assert_str_eq(json_string_value(json_object_get(page, "value")), "P0");
    ck_assert_double_eq(number(page, "count"), 2);
    page = json_array_get(json_object_get(context, "paths"), 0);
    ck_assert_str_eq(json_string_value(json_object_get(page, "value")), "A->B");
    json_decref(detail);
    snprintf(body, sizeof(body), "/v1/clusters/%lld/breakdown?by=version", (long long)id);
    ck_assert_int_eq(http_get(body), 200);
    detail = http_json();
    ck_assert_double_eq(number(json_object_get(first(detail), "cpu"), "p50"), 40);
    ck_assert_double_eq(number(json_object_get(detail, "context"), "reports"), 3);
    json_decref(detail);
    http_stop();
}
END_TEST

START_TEST(trends_have_whole_steps)
{
    static const struct {
        const char *query;
        int status;
        size_t points;
        const char *first;
    } cases[] = {
        {"", 200, 30, NULL},
        {"by=hour", 200, 48, NULL},
        {"by=week", 200, 12, NULL},
        {"since=2026-03-01T05:00:00Z&until=2026-03-03T00:00:00Z", 200, 2,
         "2026-03-01T00:00:00.000Z"},
        {"since=2026-03-01T05:00:00Z&until=2026-03-03T00:00:01Z", 200, 3,
         "2026-03-01T00:00:00.000Z"},
        {"by=hour&since=2026-03-01T05:59:59Z&until=2026-03-01T06:00:01Z", 200, 2,
         "2026-03-01T05:00:00.000Z"},
        {"by=week&since=2026-03-01T05:00:00Z&until=2026-03-02T00:00:01Z", 200, 2,
         "2026-02-23T00:00:00.000Z"},
        {"since=2026-03-03T00:00:00Z&until=2026-03-02T00:00:00Z", 400, 0, NULL},
        {"by=hour&since=2026-01-01T00:00:00Z&until=2026-03-02T00:00:00Z", 400, 0, NULL},
        {"by=minute", 400, 0, NULL},
        {"group=day", 400, 0, NULL},
        {"group=path", 400, 0, NULL},
        {"groups=51", 400, 0, NULL},
        {"cluster_id=99", 404, 0, NULL},
        {"limit=5", 400, 0, NULL},
    };
    http_fixture_start(&http_fixture);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char target[200];
        snprintf(target, sizeof(target), "/v1/trends?%s", cases[i].query);
        ck_assert_msg(http_get(target) == cases[i].status, "%s: %d", cases[i].query,
                      http_answer.status);
        if (cases[i].status != 200)
            continue;
        json_t *answer = http_json();
        json_t *points = json_object_get(first(answer), "points");
        ck_assert_uint_eq(json_array_size(points), cases[i].points);
        ck_assert(json_is_null(json_object_get(first(answer), "value")));
        if (cases[i].first)
            ck_assert_str_eq(json_string_value(json_object_get(json_array_get(points, 0), "time")),
                             cases[i].first);
        json_decref(answer);
    }
    ck_assert_int_eq(http_ask("GET", "/v1/trends", INGEST_TOKEN), 403);
    ck_assert_int_eq(http_ask("GET", "/v1/trends?bundle_id=com.b", BOUND_READ), 403);
    http_stop();
}
END_TEST

UNIT_MAIN("api_usage", usage_is_stored_once, rates_are_per_hour_of_use, clusters_say_their_numbers,
          trends_have_whole_steps)
