/* Covers: server/ingest/format_names.c */
#include "server/ingest/format_names.h"

#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "server/ingest/usage.h"
#include "tests/support/unit.h"

#define APP "\"app\":{\"bundle_id\":\"com.a\"}"

static struct ingest_result result;

static enum err take(enum err ingest(const struct ingest_request *, struct ingest_result *,
                                     struct error *),
                     const char *body, enum ingest_media media)
{
    struct error err;
    struct ingest_request request = {.body = body,
                                     .len = strlen(body),
                                     .media = media,
                                     .now_ms = 1795300000000,
                                     .limits = &INGEST_LIMITS_DEFAULT};
    memset(&result, 0, sizeof(result));
    return ingest(&request, &result, &err);
}

static void check_ignored(size_t i, const char *path, uint64_t count)
{
    ck_assert_uint_lt(i, result.ignored_count);
    ck_assert_str_eq(result.ignored[i].path, path);
    ck_assert_uint_eq(result.ignored[i].count, count);
}

START_TEST(all_that_is_read_is_known)
{
    ck_assert_int_eq(
        take(ingest_body,
             "{\"app\":{\"bundle_id\":\"com.a\",\"version\":\"1\",\"build\":\"2\"},"
             "\"device\":{\"model\":\"D\",\"os_version\":\"1\",\"os_build\":\"2\",\"arch\":\"a\"},"
             "\"images\":[{\"uuid\":\"\",\"name\":\"S\",\"arch\":\"a\",\"slide\":1,"
             "\"load_address\":2,\"size\":3,\"path\":\"/S\"}],\"image_set\":\"s\","
             "\"sample_rate\":1,\"order\":\"innermost_first\",\"reports\":[{\"id\":\"r\","
             "\"kind\":\"stall\",\"timestamp\":1,\"duration_ms\":1,\"threshold_type\":\"t\","
             "\"page\":\"P\",\"path\":\"A->B\",\"cpu_usage\":1,\"memory_usage\":1,"
             "\"stack\":[{\"address\":1,\"kind\":\"leaf\",\"symbol\":\"s\"}],"
             "\"sample_interval_ms\":1,\"samples\":[{\"offset_ms\":1,\"repeat_count\":1,"
             "\"cpu_usage\":1,\"thread_state\":\"r\",\"stack\":[1]}],\"threads\":[{\"tid\":1,"
             "\"name\":\"n\",\"state\":\"w\",\"queue\":\"q\",\"stalled\":true,\"stack\":\"0x1\","
             "\"waits_for\":{\"kind\":\"mutex\",\"address\":1,\"owner_tid\":2,\"queue\":\"q\"}}],"
             "\"frame_gaps_ms\":[1],\"stack_skipped\":\"no\",\"tags\":{\"any\":1},"
             "\"bundle_id\":\"com.a\",\"app_version\":\"1\",\"build\":\"1\",\"os_version\":\"1\","
             "\"os_build\":\"1\",\"arch\":\"a\",\"device\":\"D\"}]}",
             INGEST_JSON),
        ERR_OK);
    ck_assert_uint_eq(result.rejected_count, 0);
    ck_assert_uint_eq(result.ignored_count, 0);
    ingest_result_done(&result);
    ck_assert_int_eq(take(ingest_usage,
                          "{" APP ",\"device\":\"D\",\"id\":\"i\",\"sample_rate\":1,\"items\":"
                          "[{\"id\":\"j\",\"day\":\"2026-11-20\",\"page\":\"P\","
                          "\"foreground_ms\":1,\"launches\":2}]}",
                          INGEST_JSON),
                     ERR_OK);
    ck_assert_uint_eq(result.ignored_count, 0);
    ingest_result_done(&result);
}
END_TEST

START_TEST(what_is_not_read_is_listed_once_with_its_place)
{
    ck_assert_int_eq(
        take(ingest_body,
             "[{" APP ",\"sdk\":\"9\",\"images\":[{\"slide\":0,\"age\":1},{\"slide\":0,\"age\":2}],"
             "\"reports\":[{\"id\":\"a\",\"duration\":3,\"stack\":[1]},"
             "{\"id\":\"b\",\"duration\":4,\"stack\":[{\"address\":1,\"line\":2}],"
             "\"threads\":[{\"stack\":[{\"address\":1,\"line\":2}],\"waits_for\":{\"on\":1}}]}]},"
             "{\"bundle_id\":\"com.a\",\"duration\":3,\"stak\":[1],\"kind\":\"stall\"}]",
             INGEST_JSON),
        ERR_OK);
    ck_assert_uint_eq(result.reports, 2);
    ck_assert_uint_eq(result.rejected_count, 1); /* without a stack; `stak` says why */
    ck_assert_uint_eq(result.ignored_count, 8);
    check_ignored(0, "sdk", 1);
    check_ignored(1, "images[].age", 2);
    check_ignored(2, "reports[].duration", 2);
    check_ignored(3, "reports[].stack[].line", 1);
    check_ignored(4, "reports[].threads[].stack[].line", 1);
    check_ignored(5, "reports[].threads[].waits_for.on", 1);
    check_ignored(6, "duration", 1);
    check_ignored(7, "stak", 1);
    ingest_result_done(&result);
}
END_TEST

START_TEST(usage_too)
{
    ck_assert_int_eq(take(ingest_usage,
                          "{" APP ",\"items\":[{\"foreground\":5,\"launches\":1}]}\n"
                          "{\"bundle_id\":\"com.a\",\"launches\":1,\"screen\":\"P\"}",
                          INGEST_NDJSON),
                     ERR_OK);
    ck_assert_uint_eq(result.ignored_count, 2);
    check_ignored(0, "items[].foreground", 1);
    check_ignored(1, "screen", 1);
    ingest_result_done(&result);
}
END_TEST

START_TEST(strangers_names_are_short_and_clean)
{
    ck_assert_int_eq(take(ingest_body,
                          "{" APP
                          ",\"stack\":[1],\"a\\u001b[31m\\n\":1,\"mail a@example.com\":1,\"\":1,"
                          "\"aBcDeFgHiJaBcDeFgHiJaBcDeFgHiJaBcDeFgHiJaBcDeFgHiJaBcDeFgHiJab"
                          "\xe5\x8d\xa1more\":1}",
                          INGEST_JSON),
                     ERR_OK);
    ck_assert_uint_eq(result.ignored_count, 4);
    check_ignored(0, "a?[31m?", 1);
    check_ignored(1, "(removed)", 1);
    check_ignored(2, "", 1);
    check_ignored(3, "aBcDeFgHiJaBcDeFgHiJaBcDeFgHiJaBcDeFgHiJaBcDeFgHiJaBcDeFgHiJab", 1);
    ingest_result_done(&result);
}
END_TEST

START_TEST(the_list_is_bounded)
{
    struct buf b;
    buf_init(&b, 1 << 20);
    buf_puts(&b, "{" APP ",\"stack\":[1]");
    for (int i = 0; i < 1000; i++)
        buf_printf(&b, ",\"x%d\":1", i);
    buf_puts(&b, "}");
    ck_assert_int_eq(take(ingest_body, b.data, INGEST_JSON), ERR_OK);
    ck_assert_uint_eq(result.ignored_count, IGNORED_MAX);
    check_ignored(0, "x0", 1);
    check_ignored(IGNORED_MAX - 2, "x18", 1);
    check_ignored(IGNORED_MAX - 1, "(other)", 1000 - (IGNORED_MAX - 1));
    ingest_result_done(&result);
    buf_done(&b);
}
END_TEST

UNIT_MAIN("format_names", all_that_is_read_is_known, what_is_not_read_is_listed_once_with_its_place,
          usage_too, strangers_names_are_short_and_clean, the_list_is_bounded)
