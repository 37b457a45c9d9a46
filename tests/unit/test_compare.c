/* Covers: server/http/api_compare.c */
#include "server/analysis/compare.h"

#include <math.h>
#include <string.h>

#include "tests/support/http_fixture.h"
#include "tests/support/unit.h"

static const double exposures[2] = {100, 200}, unsampled[2] = {1, 1};

static struct compare_result result(uint64_t id, double first, double second)
{
    return (struct compare_result){.id = id,
                                   .sides = {{first, first, 0, 0}, {second, second, 0, 0}}};
}

START_TEST(sampling_is_undone_but_not_feigned)
{
    struct compare_result plain = result(1, 50, 100), sampled = result(2, 50, 20);
    sampled.sides[1].weighted = 100; /* one in five was sent */
    compare_reckon(&plain, exposures, unsampled, NULL, 0);
    compare_reckon(&sampled, exposures, unsampled, NULL, 0);
    ck_assert_double_eq(plain.rates[0], 0.5);
    ck_assert_double_eq(plain.rates[1], 0.5);
    ck_assert_double_eq(sampled.rates[1], 0.5);
    ck_assert_double_eq(plain.rate.ratio, 1);
    ck_assert_double_eq_tol(sampled.rate.ratio, 1, 1e-12);
    ck_assert(sampled.rate.high > plain.rate.high); /* fewer reports know less */
    /* None at all: as much was looked at as of the app. */
    struct compare_result gone = result(3, 50, 0);
    const double fifth[2] = {1, 0.2};
    compare_reckon(&gone, exposures, fifth, NULL, 0);
    ck_assert_double_eq(gone.rate.ratio, 0);
    ck_assert(gone.rate.high < 0.3);
    ck_assert_int_eq(gone.verdict, RATE_LOWER);
}
END_TEST

START_TEST(days_that_vary_widen_the_interval)
{
    struct compare_day days[20];
    struct compare_result calm = result(1, 100, 280), wild = calm;
    for (int i = 0; i < 20; i++)
        days[i] = (struct compare_day){i / 10, i < 10 ? 10 : 28, 50};
    compare_reckon(&calm, exposures, unsampled, days, 20);
    for (int i = 0; i < 20; i++)
        days[i].count = i % 10 ? 0 : i < 10 ? 100 : 280;
    compare_reckon(&wild, exposures, unsampled, days, 20);
    ck_assert_double_eq(calm.dispersion, 1);
    ck_assert_int_eq(calm.verdict, RATE_HIGHER);
    ck_assert_double_gt(wild.dispersion, 50);
    ck_assert_int_eq(wild.verdict, RATE_UNCLEAR);
}
END_TEST

START_TEST(many_clusters_are_corrected_for)
{
    struct compare_result items[40];
    struct error err;
    for (int i = 0; i < 40; i++)
        items[i] = result((uint64_t)i, 20, i == 7 ? 120 : i == 9 ? 70 : 40);
    for (int i = 0; i < 40; i++)
        compare_reckon(&items[i], exposures, unsampled, NULL, 0);
    ck_assert_int_eq(items[9].verdict, RATE_HIGHER); /* alone it would be one */
    ck_assert_int_eq(compare_decide(items, 40, &err), ERR_OK);
    ck_assert_int_eq(items[7].verdict, RATE_HIGHER);
    ck_assert_int_eq(items[9].verdict, RATE_UNCLEAR);
    qsort(items, 40, sizeof(items[0]), compare_order);
    ck_assert_uint_eq(items[0].id, 7);
    ck_assert_uint_eq(items[1].id, 9);
}
END_TEST

static void post(const char *version, int from, int count, const char *stack)
{
    for (int i = from; i < from + count; i++) {
        char body[400];
        snprintf(body, sizeof(body),
                 "{\"bundle_id\":\"com.a\",\"app_version\":\"%s\",\"id\":\"%s-%s-%d\",\"kind\":"
                 "\"stall\",\"duration_ms\":1000,\"stack\":[\"%s\"]}",
                 version, version, stack, i, stack);
        ck_assert_int_eq(http_post_json("/v1/reports", INGEST_TOKEN, body), 202);
    }
}

START_TEST(over_http)
{
    http_fixture_start(&http_fixture);
    post("1", 0, 4, "0x1");
    post("2", 0, 40, "0x1");
    ck_assert_int_eq(http_get("/v1/compare?bundle_id=com.a&version=1&compare_version=2"), 200);
    json_t *answer = http_json();
    ck_assert_str_eq(json_string_value(json_object_get(answer, "basis")), "reports");
    ck_assert(json_is_null(json_object_get(answer, "app")));
    ck_assert_int_eq(json_integer_value(json_object_get(answer, "version_reports")), 4);
    ck_assert_int_eq(json_integer_value(json_object_get(answer, "compare_version_reports")), 40);
    json_decref(answer);
    /* Of a misspelt version nothing is known, which is not the same as that all clusters went. */
    ck_assert_int_eq(http_get("/v1/compare?bundle_id=com.a&version=1&compare_version=2.0"), 200);
    answer = http_json();
    json_t *none = json_object_get(answer, "compare_version_reports");
    ck_assert(json_is_integer(none) && json_integer_value(none) == 0);
    json_decref(answer);
    for (int v = 1; v <= 2; v++) {
        char body[200];
        snprintf(body, sizeof(body),
                 "{\"id\":\"u%d\",\"bundle_id\":\"com.a\",\"app_version\":\"%d\",\"foreground_ms\":"
                 "36000000}",
                 v, v);
        ck_assert_int_eq(http_post_json("/v1/usage", INGEST_TOKEN, body), 202);
    }
    ck_assert_int_eq(http_get("/v1/compare?bundle_id=com.a&version=1&compare_version=2"), 200);
    answer = http_json();
    json_t *app = json_object_get(answer, "app");
    ck_assert_str_eq(json_string_value(json_object_get(answer, "basis")), "usage");
    ck_assert_str_eq(json_string_value(json_object_get(app, "verdict")), "higher");
    ck_assert_double_eq_tol(json_number_value(json_object_get(app, "ratio")), 10, 1e-9);
    ck_assert_double_eq_tol(
        json_number_value(json_object_get(json_object_get(app, "version"), "stall_rate")), 0.4,
        1e-9);
    json_decref(answer);
    ck_assert_int_eq(http_get("/v1/compare?bundle_id=com.a&version=1"), 400);
    ck_assert_int_eq(http_get("/v1/compare?version=1&compare_version=2"), 400);
    ck_assert_int_eq(http_get("/v1/compare?bundle_id=com.a&version=1&compare_version=1"), 400);
    ck_assert_int_eq(
        http_ask("GET", "/v1/compare?bundle_id=com.b&version=1&compare_version=2", BOUND_READ),
        403);
    http_stop();
}
END_TEST

UNIT_MAIN("compare", sampling_is_undone_but_not_feigned, days_that_vary_widen_the_interval,
          many_clusters_are_corrected_for, over_http)
