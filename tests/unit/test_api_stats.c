#include "server/http/api.h"

#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "tests/support/http_fixture.h"
#include "tests/support/unit.h"

#define MANY 2000 /* so many stacks are not counted for each request */

static void post_stacks(int first, int count)
{
    struct buf body;
    buf_init(&body, 1 << 22);
    buf_puts(&body, "{\"app\":{\"bundle_id\":\"com.a\",\"version\":\"1\"},\"reports\":[");
    for (int i = first; i < first + count; i++)
        buf_printf(&body,
                   "%s{\"id\":\"%d\",\"kind\":\"stall\",\"stack\":[{\"uuid\":"
                   "\"0285884D-3DE9-3051-B23A-63B48BF99F35\",\"offset\":%d}]}",
                   i > first ? "," : "", i, 4096 + 16 * i);
    buf_puts(&body, "]}");
    ck_assert_int_eq(http_post("/v1/reports", INGEST_TOKEN, "Content-Type: application/json\r\n",
                               body.data, body.len),
                     202);
    buf_done(&body);
}

static json_int_t stat_of(const char *target, const char *key)
{
    ck_assert_int_eq(http_get(target), 200);
    return http_number(key);
}

START_TEST(few_stacks_are_counted_each_time)
{
    http_fixture_start(&http_fixture);
    for (int i = 0; i < 3; i++) {
        ck_assert_int_eq(stat_of("/v1/stats", "stacks"), i);
        post_stacks(i, 1);
    }
    ck_assert_int_eq(http_get("/v1/stats?fresh=maybe"), 400);
    http_expect_problem(400);
    http_stop();
}
END_TEST

START_TEST(many_are_kept_for_a_while)
{
    http_fixture_start(&http_fixture);
    for (int i = 0; i < MANY; i += 500)
        post_stacks(i, 500);
    ck_assert_int_eq(stat_of("/v1/stats?bundle_id=com.a", "stacks"), MANY);
    post_stacks(MANY, 1);
    ck_assert_int_eq(stat_of("/v1/stats?bundle_id=com.a", "reports"), MANY + 1);
    ck_assert_int_eq(http_number("stacks"), MANY);
    ck_assert_int_eq(stat_of("/v1/stats", "stacks"), MANY + 1);
    ck_assert_int_eq(stat_of("/v1/stats?bundle_id=com.b", "stacks"), 0);
    ck_assert_int_eq(stat_of("/v1/stats?bundle_id=com.a&fresh=true", "stacks"), MANY + 1);
    ck_assert_int_eq(stat_of("/v1/stats?bundle_id=com.a", "stacks"), MANY + 1);
    /* Who asks after a minute has the next one counted. */
    stats_memo_forget(http_fixture.services.stats, "com.a", INT64_MAX);
    stats_memo_put(http_fixture.services.stats, "com.a", clock_mono_ms() - STATS_FRESH_MS,
                   ",\"stacks\":7");
    ck_assert_int_eq(stat_of("/v1/stats?bundle_id=com.a", "stacks"), 7);
    int looks = 0;
    while (stat_of("/v1/stats?bundle_id=com.a", "stacks") == 7 && looks++ < 500)
        usleep(10000);
    ck_assert_int_eq(http_number("stacks"), MANY + 1);
    http_stop();
}
END_TEST

/* There were many; retention left few, and the next count says so to those behind it. */
START_TEST(what_was_kept_goes_with_the_stacks)
{
    static const char KEPT[] = ",\"stacks\":300000";
    http_fixture_start(&http_fixture);
    post_stacks(0, 3);
    stats_memo_put(http_fixture.services.stats, "com.a", clock_mono_ms(), KEPT);
    ck_assert_int_eq(stat_of("/v1/stats?bundle_id=com.a&fresh=true", "stacks"), 3);
    ck_assert_int_eq(stat_of("/v1/stats?bundle_id=com.a", "stacks"), 3);
    stats_memo_put(http_fixture.services.stats, "com.a", clock_mono_ms() - STATS_FRESH_MS, KEPT);
    ck_assert_int_eq(stat_of("/v1/stats?bundle_id=com.a", "stacks"), 300000);
    int looks = 0;
    while (stat_of("/v1/stats?bundle_id=com.a", "stacks") == 300000 && looks++ < 500)
        usleep(10000);
    ck_assert_int_eq(http_number("stacks"), 3);
    http_stop();
}
END_TEST

UNIT_MAIN("api_stats", what_was_kept_goes_with_the_stacks, few_stacks_are_counted_each_time,
          many_are_kept_for_a_while)
