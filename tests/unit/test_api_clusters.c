/* Covers: server/http/api_clusters.c server/http/api_breakdown.c server/http/api_stats.c
 * Covers: server/http/api_common.c */
#include "server/http/api.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "tests/support/http_fixture.h"
#include "tests/support/unit.h"

/* Reports of com.a: two of one stack, one of another without any image. */
static void send_reports(void)
{
    static const char other[] =
        "{\"app\":{\"bundle_id\":\"com.a\",\"version\":\"2\"},\"device\":{\"model\":\"iPhone14,7\"}"
        ","
        "\"reports\":[{\"id\":\"c\",\"kind\":\"hang\",\"duration_ms\":9000,\"stack\":[\"0x1\"]}]}";
    http_fixture_start(&http_fixture);
    ck_assert_int_eq(http_post_json("/v1/reports", INGEST_TOKEN, http_batch("a")), 202);
    ck_assert_int_eq(http_post_json("/v1/reports", INGEST_TOKEN, http_batch("b")), 202);
    ck_assert_int_eq(http_post_json("/v1/reports", INGEST_TOKEN, other), 202);
    int64_t deadline = clock_mono_ms() + 10000;
    do {
        usleep(10000);
        ck_assert_int_eq(http_get("/v1/stats"), 200);
    } while (http_number("pending_stacks") > 0 && clock_mono_ms() < deadline);
    ck_assert_int_eq(http_number("pending_stacks"), 0);
}

/* The item of the list just answered. */
static json_t *item(json_t *list, size_t i)
{
    return json_array_get(json_object_get(list, "items"), i);
}

static size_t items(void)
{
    json_t *list = http_json();
    size_t n = json_array_size(json_object_get(list, "items"));
    json_decref(list);
    return n;
}

static const char *text(json_t *o, const char *key)
{
    return json_string_value(json_object_get(o, key));
}

static json_int_t integer(json_t *o, const char *key)
{
    return json_integer_value(json_object_get(o, key));
}

START_TEST(clusters_are_ranked_and_filtered)
{
    send_reports();
    ck_assert_int_eq(http_get("/v1/clusters?bundle_id=com.a"), 200);
    json_t *list = http_json();
    ck_assert_uint_eq(json_array_size(json_object_get(list, "items")), 2);
    ck_assert(json_is_null(json_object_get(list, "next_cursor")));
    ck_assert_int_eq(integer(item(list, 0), "count"), 2);
    ck_assert(json_is_true(json_object_get(item(list, 0), "provisional")));
    ck_assert_str_eq(text(item(list, 0), "state"), "open");
    ck_assert_int_eq(integer(item(list, 0), "stack_count"), 1);
    ck_assert(json_real_value(json_object_get(item(list, 0), "stall_seconds")) > 1.79 &&
              json_real_value(json_object_get(item(list, 0), "stall_seconds")) < 1.81);
    json_decref(list);
    ck_assert_int_eq(http_get("/v1/clusters?sort=stall_ms"), 200);
    list = http_json();
    ck_assert_int_eq(integer(item(list, 0), "count"), 1);
    json_decref(list);
    static const struct {
        const char *query;
        size_t count;
    } cases[] = {{"kind=hang", 1},
                 {"kind=launch", 0},
                 {"version=1", 1},
                 {"device=iPhone14,7", 1},
                 {"page=Home", 1},
                 {"bundle_id=com.b", 0},
                 {"state=open", 2},
                 {"state=resolved", 0},
                 {"min_duration_ms=5000", 1},
                 {"until=2020-01-01T00:00:00Z", 0}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char target[128];
        snprintf(target, sizeof(target), "/v1/clusters?%s", cases[i].query);
        ck_assert_int_eq(http_get(target), 200);
        ck_assert_msg(items() == cases[i].count, "%s: %s", target, http_answer.body);
    }
    http_stop();
}
END_TEST

START_TEST(pages_lead_to_the_end)
{
    char target[512];
    send_reports();
    ck_assert_int_eq(http_get("/v1/clusters?limit=1"), 200);
    ck_assert_uint_eq(items(), 1);
    json_t *list = http_json();
    snprintf(target, sizeof(target), "/v1/clusters?limit=1&cursor=%s", text(list, "next_cursor"));
    json_int_t first = integer(item(list, 0), "id");
    json_decref(list);
    ck_assert_int_eq(http_get(target), 200);
    list = http_json();
    ck_assert_uint_eq(json_array_size(json_object_get(list, "items")), 1);
    ck_assert_int_ne(integer(item(list, 0), "id"), first);
    json_decref(list);
    ck_assert_int_eq(http_get("/v1/clusters?cursor=nonsense"), 400);
    http_expect_problem(400);
    http_stop();
}
END_TEST

START_TEST(detail_shows_stack_rules_and_reports)
{
    char target[128];
    send_reports();
    ck_assert_int_eq(http_get("/v1/clusters?version=1"), 200);
    json_t *list = http_json();
    json_int_t id = integer(item(list, 0), "id");
    json_decref(list);
    snprintf(target, sizeof(target), "/v1/clusters/%lld", (long long)id);
    ck_assert_int_eq(http_get(target), 200);
    json_t *c = http_json();
    ck_assert_int_eq(integer(c, "id"), id);
    json_t *stack = json_object_get(c, "stack");
    ck_assert_uint_eq(json_array_size(stack), 2);
    json_t *frame = json_array_get(stack, 0);
    ck_assert_str_eq(text(frame, "uuid"), "4C4C44DC-5555-3144-A100-C10E3A4B6D1E");
    ck_assert_str_eq(text(frame, "offset"), "0x401c");
    ck_assert_str_eq(text(frame, "image"), "Caf\xc3\xa9");
    ck_assert_str_eq(text(frame, "status"), "no_symbols");
    ck_assert(json_is_boolean(json_object_get(frame, "kept")));
    ck_assert_uint_eq(json_array_size(json_object_get(c, "stacks")), 1);
    ck_assert_ptr_nonnull(text(json_object_get(c, "key"), "text"));
    ck_assert(json_is_array(json_object_get(c, "aliases")));
    json_decref(c);

    snprintf(target, sizeof(target), "/v1/clusters/%lld/reports?limit=1", (long long)id);
    ck_assert_int_eq(http_get(target), 200);
    list = http_json();
    ck_assert_str_eq(text(item(list, 0), "id"), "b"); /* newest first */
    ck_assert_int_eq(integer(item(list, 0), "cluster_id"), id);
    ck_assert(json_is_string(json_object_get(list, "next_cursor")));
    json_decref(list);

    ck_assert_int_eq(http_get("/v1/reports/a"), 200);
    json_t *r = http_json();
    ck_assert_int_eq(integer(r, "cluster_id"), id);
    ck_assert_int_eq(integer(r, "duration_ms"), 900);
    ck_assert_str_eq(text(r, "page"), "Home");
    ck_assert_str_eq(text(json_array_get(json_object_get(r, "stack"), 0), "address"),
                     "0x102f4001c");
    json_decref(r);

    /* A bound token of the app sees it, and nobody else's. */
    snprintf(target, sizeof(target), "/v1/clusters/%lld", (long long)id);
    ck_assert_int_eq(http_ask("GET", target, BOUND_READ), 200);
    http_stop();
}
END_TEST

START_TEST(breakdowns)
{
    char target[128];
    send_reports();
    ck_assert_int_eq(http_get("/v1/breakdown?by=version&bundle_id=com.a"), 200);
    json_t *b = http_json();
    ck_assert_str_eq(json_string_value(json_array_get(json_object_get(b, "by"), 0)), "version");
    ck_assert_uint_eq(json_array_size(json_object_get(b, "items")), 2);
    ck_assert_str_eq(text(item(b, 0), "value"), "1");
    ck_assert_int_eq(integer(item(b, 0), "count"), 2);
    ck_assert_str_eq(text(item(b, 1), "value"), "2");
    json_decref(b);
    ck_assert_int_eq(http_get("/v1/breakdown?by=version,device"), 200);
    b = http_json();
    ck_assert_uint_eq(json_array_size(json_object_get(b, "by")), 2);
    ck_assert(json_is_string(json_object_get(item(b, 0), "value2")));
    json_decref(b);
    ck_assert_int_eq(http_get("/v1/clusters?version=2"), 200);
    b = http_json();
    snprintf(target, sizeof(target), "/v1/clusters/%lld/breakdown?by=device",
             (long long)integer(item(b, 0), "id"));
    json_decref(b);
    ck_assert_int_eq(http_get(target), 200);
    b = http_json();
    ck_assert_str_eq(text(item(b, 0), "value"), "iPhone14,7");
    json_decref(b);
    http_stop();
}
END_TEST

START_TEST(stats)
{
    send_reports();
    ck_assert_int_eq(http_get("/v1/stats"), 200);
    ck_assert_int_eq(http_number("reports"), 3);
    ck_assert_int_eq(http_number("stacks"), 2);
    ck_assert_int_eq(http_number("clusters"), 2);
    ck_assert_int_eq(http_number("apps"), 1);
    ck_assert_int_eq(http_number("symbol_files"), 0);
    ck_assert_int_eq(http_get("/v1/stats?bundle_id=com.b"), 200);
    ck_assert_int_eq(http_number("reports"), 0);
    http_stop();
}
END_TEST

UNIT_MAIN("api_clusters", clusters_are_ranked_and_filtered, pages_lead_to_the_end,
          detail_shows_stack_rules_and_reports, breakdowns, stats)
