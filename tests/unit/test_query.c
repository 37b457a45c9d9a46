#include "server/http/query.h"

#include <stdio.h>
#include <string.h>

#include "storage/write_op.h"
#include "tests/support/unit.h"

static struct arena arena;
static struct query q;
static struct error err;

static enum err parse(const char *target)
{
    arena_done(&arena);
    arena_init(&arena, 65536);
    return query_parse(target, &arena, &q, &err);
}

START_TEST(paths)
{
    ck_assert_int_eq(parse("/"), ERR_OK);
    ck_assert_uint_eq(q.segment_count, 0);
    ck_assert_int_eq(parse("/v1/reports/a%2Fb%20c+d"), ERR_OK);
    ck_assert_uint_eq(q.segment_count, 3);
    ck_assert_str_eq(q.segments[2], "a/b c+d");
    ck_assert_int_eq(parse("//"), ERR_OK);
    ck_assert_uint_eq(q.segment_count, 2);
    ck_assert_str_eq(q.segments[0], "");
    ck_assert_int_eq(parse("/v1/"), ERR_OK);
    ck_assert_uint_eq(q.segment_count, 2);
    ck_assert_int_eq(parse("HTTP://host:80/v1?x=1"), ERR_OK);
    ck_assert_str_eq(q.segments[0], "v1");
    ck_assert_int_eq(parse("https://host"), ERR_OK);
    ck_assert_uint_eq(q.segment_count, 0);
    arena_done(&arena);
}
END_TEST

START_TEST(bad_targets)
{
    static const char *const bad[] = {
        "",        "*",         "v1",      "/%00", "/a%0", "/%zz",      "/?a=%zz&b",
        "/%c0%af", "/\xc3\xa9", "/?a=%ff", "/a b", "/a#b", "/?a=1&a=2", "/%e0%80%af%e0%80%af",
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        ck_assert_msg(parse(bad[i]) == ERR_INVALID, "%s", bad[i]);
    ck_assert_int_eq(parse("/1/2/3/4/5/6/7/8/9/10/11/12/13"), ERR_LIMIT);
    arena_done(&arena);
}
END_TEST

START_TEST(many_parameters)
{
    char target[2000] = "/?";
    size_t n = 2;
    for (int i = 0; i <= QUERY_PARAMS_MAX; i++)
        n += (size_t)snprintf(target + n, sizeof(target) - n, "p%d=%d&", i, i);
    ck_assert_int_eq(parse(target), ERR_INVALID);
    arena_done(&arena);
}
END_TEST

START_TEST(parameters)
{
    ck_assert_int_eq(parse("/x?a=1+2%2B3&&b&c=&%C3%A9=%F0%9F%98%80"), ERR_OK);
    ck_assert_str_eq(query_get(&q, "a"), "1 2+3");
    ck_assert_str_eq(query_get(&q, "b"), "");
    ck_assert_ptr_null(query_text(&q, "b"));
    ck_assert_ptr_null(query_get(&q, "d"));
    ck_assert_str_eq(query_get(&q, "\xc3\xa9"), "\xf0\x9f\x98\x80");
    ck_assert_int_eq(query_only(&q, "a b c \xc3\xa9", &err), ERR_OK);
    ck_assert_int_eq(query_only(&q, "aa b c \xc3\xa9", &err), ERR_INVALID);
    ck_assert(strncmp(err.text, "a:", 2) == 0);
    ck_assert_int_eq(query_only(&q, "", &err), ERR_INVALID);
    arena_done(&arena);
}
END_TEST

START_TEST(whole_numbers)
{
    int64_t v = 7;
    static const char *const bad[] = {"/?n=0",   "/?n=11", "/?n=1.5",  "/?n=1e1",
                                      "/?n=0x5", "/?n=+5", "/?n=5%20", "/?n=99999999999999999999",
                                      "/?n=-",   "/?n=5;"};
    ck_assert_int_eq(parse("/"), ERR_OK);
    ck_assert_int_eq(query_int(&q, "n", 1, 10, &v, &err), ERR_OK);
    ck_assert_int_eq(v, 7);
    ck_assert_int_eq(parse("/?n=10"), ERR_OK);
    ck_assert_int_eq(query_int(&q, "n", 1, 10, &v, &err), ERR_OK);
    ck_assert_int_eq(v, 10);
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        ck_assert_int_eq(parse(bad[i]), ERR_OK);
        ck_assert_msg(query_int(&q, "n", 1, 10, &v, &err) == ERR_INVALID, "%s", bad[i]);
        ck_assert(strncmp(err.text, "n:", 2) == 0);
        ck_assert_int_eq(v, 10);
    }
    arena_done(&arena);
}
END_TEST

START_TEST(times_are_utc)
{
    int64_t v = INT64_MIN;
    ck_assert_int_eq(parse("/?t=1710072000123&u=2024-03-10T02:30:00Z&w=2024-03-11T00:30:00%2B05:30"
                           "&x=2024-03-10T02:30:00&y=yesterday&z=2024-02-30T10:00:00Z"),
                     ERR_OK);
    ck_assert_int_eq(query_time(&q, "t", &v, &err), ERR_OK);
    ck_assert_int_eq(v, 1710072000123);
    ck_assert_int_eq(query_time(&q, "u", &v, &err), ERR_OK);
    ck_assert_int_eq(v, 1710037800000);
    ck_assert_int_eq(query_time(&q, "w", &v, &err), ERR_OK);
    ck_assert_int_eq(v, 1710097200000);
    ck_assert_int_eq(query_time(&q, "x", &v, &err), ERR_INVALID);
    ck_assert_int_eq(query_time(&q, "y", &v, &err), ERR_INVALID);
    ck_assert_ptr_nonnull(strstr(err.text, "like 2026-11-30T08:00:00Z (a + is %2B in a URL)"));
    ck_assert_int_eq(query_time(&q, "z", &v, &err), ERR_INVALID);
    arena_done(&arena);
    ck_assert_int_eq(parse("/?t=1710072000&u=0"), ERR_OK);
    ck_assert_int_eq(query_time(&q, "t", &v, &err), ERR_INVALID);
    ck_assert_str_eq(err.text, "t: epoch milliseconds are wanted, not seconds");
    ck_assert_int_eq(query_time(&q, "u", &v, &err), ERR_OK);
    arena_done(&arena);
}
END_TEST

START_TEST(words_and_booleans)
{
    static const char *const words[] = {"count", "p90"};
    size_t i = 9;
    bool b = false;
    ck_assert_int_eq(parse("/?s=p90&t=P90&a&b=no&c=maybe"), ERR_OK);
    ck_assert_int_eq(query_word(&q, "s", words, 2, &i, &err), ERR_OK);
    ck_assert_uint_eq(i, 1);
    ck_assert_int_eq(query_word(&q, "t", words, 2, &i, &err), ERR_INVALID);
    ck_assert_str_eq(err.text, "t: not one of count, p90");
    ck_assert_int_eq(query_bool(&q, "a", &b, &err), ERR_OK);
    ck_assert(b);
    ck_assert_int_eq(query_bool(&q, "b", &b, &err), ERR_OK);
    ck_assert(!b);
    ck_assert_int_eq(query_bool(&q, "c", &b, &err), ERR_INVALID);
    arena_done(&arena);
}
END_TEST

START_TEST(pages)
{
    size_t limit = 0;
    const char *cursor = "x";
    ck_assert_int_eq(parse("/"), ERR_OK);
    ck_assert_int_eq(query_page(&q, &limit, &cursor, &err), ERR_OK);
    ck_assert_uint_eq(limit, 50);
    ck_assert_ptr_null(cursor);
    ck_assert_int_eq(parse("/?limit=1000&cursor=abc"), ERR_OK);
    ck_assert_int_eq(query_page(&q, &limit, &cursor, &err), ERR_OK);
    ck_assert_uint_eq(limit, 1000);
    ck_assert_str_eq(cursor, "abc");
    ck_assert_int_eq(parse("/?limit=1001"), ERR_OK);
    ck_assert_int_eq(query_page(&q, &limit, &cursor, &err), ERR_INVALID);
    ck_assert_int_eq(parse("/?limit=0"), ERR_OK);
    ck_assert_int_eq(query_page(&q, &limit, &cursor, &err), ERR_INVALID);
    arena_done(&arena);
}
END_TEST

START_TEST(filters)
{
    struct read_filter f;
    ck_assert_int_eq(parse("/?bundle_id=com.a&version=7&build=&device=iPhone14%2C7&os_version=16.6"
                           "&page=Home&kind=hang&category=lock&since=0&until=2024-03-10T00:00:00Z"
                           "&min_duration_ms=800&state=open"),
                     ERR_OK);
    ck_assert_int_eq(query_only(&q, QUERY_FILTERS, &err), ERR_OK);
    ck_assert_int_eq(query_filter(&q, &f, &err), ERR_OK);
    ck_assert_str_eq(f.bundle_id, "com.a");
    ck_assert_str_eq(f.version, "7");
    ck_assert_ptr_null(f.build);
    ck_assert_str_eq(f.device, "iPhone14,7");
    ck_assert_int_eq(f.kind, REPORT_HANG);
    ck_assert_int_eq(f.since_ms, 0);
    ck_assert_int_eq(f.until_ms, 1710028800000);
    ck_assert_int_eq(f.min_duration_ms, 800);
    ck_assert_str_eq(f.state, "open");
    static const char *const bad[] = {"/?kind=stal",         "/?since=x",         "/?until=1.5",
                                      "/?since=2&until=1",   "/?since=1&until=1", "/?state=closed",
                                      "/?min_duration_ms=-1"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        ck_assert_int_eq(parse(bad[i]), ERR_OK);
        ck_assert_msg(query_filter(&q, &f, &err) == ERR_INVALID, "%s", bad[i]);
    }
    arena_done(&arena);
}
END_TEST

UNIT_MAIN("query", paths, bad_targets, many_parameters, parameters, whole_numbers, times_are_utc,
          words_and_booleans, pages, filters)
