#include "storage/read_plan.h"

#include <string.h>

#include "tests/support/unit.h"

#define DAY ((int64_t)86400000)
/* 2026-01-05, a Monday. */
#define MONDAY (20458 * DAY)

START_TEST(sources_know_what_is_asked)
{
    static const struct {
        enum breakdown_by by, by2;
        const char *version, *device, *page;
        int kind;
        int64_t since, duration;
        enum read_source source;
    } cases[] = {
        {BY_VERSION, BY_NONE, NULL, NULL, NULL, -1, INT64_MIN, -1, READ_COUNTERS},
        {BY_BUILD, BY_DAY, "1", NULL, NULL, 0, MONDAY + DAY, -1, READ_COUNTERS},
        {BY_BUILD, BY_DAY, NULL, NULL, NULL, -1, MONDAY + 1, -1, READ_REPORTS},
        {BY_BUILD, BY_NONE, NULL, NULL, NULL, -1, INT64_MIN, 0, READ_REPORTS},
        {BY_DEVICE, BY_NONE, NULL, NULL, NULL, -1, INT64_MIN, -1, READ_WEEK_DEVICES},
        {BY_OS_VERSION, BY_DEVICE, NULL, "d", NULL, -1, MONDAY, -1, READ_WEEK_DEVICES},
        {BY_OS_VERSION, BY_DEVICE, NULL, NULL, NULL, -1, MONDAY + DAY, -1, READ_REPORTS},
        {BY_DEVICE, BY_NONE, "1", NULL, NULL, -1, INT64_MIN, -1, READ_REPORTS},
        {BY_PAGE, BY_VERSION, "1", NULL, "p", -1, MONDAY, -1, READ_WEEK_PAGES},
        {BY_PAGE, BY_NONE, NULL, NULL, NULL, 2, INT64_MIN, -1, READ_REPORTS},
        {BY_VERSION, BY_NONE, NULL, NULL, "p", -1, INT64_MIN, -1, READ_WEEK_PAGES},
        {BY_PAGE, BY_DEVICE, NULL, NULL, NULL, -1, INT64_MIN, -1, READ_REPORTS},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct read_filter f;
        read_filter_init(&f);
        f.version = cases[i].version;
        f.device = cases[i].device;
        f.page = cases[i].page;
        f.kind = cases[i].kind;
        f.since_ms = cases[i].since;
        f.min_duration_ms = cases[i].duration;
        ck_assert_msg(read_plan_source(&f, cases[i].by, cases[i].by2) == cases[i].source,
                      "case %zu", i);
    }
}
END_TEST

START_TEST(spans_are_half_open)
{
    struct read_filter f;
    read_filter_init(&f);
    ck_assert(read_plan_unfiltered(&f));
    struct read_span s = read_plan_days(&f);
    ck_assert(s.begin == INT64_MIN && s.end == INT64_MAX);
    f.bundle_id = "a";
    f.text = "q";
    ck_assert(read_plan_unfiltered(&f)); /* says nothing about reports */
    f.since_ms = MONDAY;
    f.until_ms = MONDAY + 7 * DAY;
    ck_assert(!read_plan_unfiltered(&f));
    s = read_plan_days(&f);
    ck_assert(s.begin == 20458 && s.end == 20465);
    s = read_plan_weeks(&f);
    ck_assert_int_eq(s.end - s.begin, 1);
    ck_assert_int_eq(read_plan_clusters(&f), READ_COUNTERS);
    f.page = "p";
    ck_assert_int_eq(read_plan_clusters(&f), READ_REPORTS);
}
END_TEST

START_TEST(cursors_and_labels)
{
    struct arena arena;
    struct error err;
    const int64_t values[] = {INT64_MIN, -1, INT64_MAX};
    int64_t back[3];
    bool started;
    arena_init(&arena, 1 << 16);
    const char *text = read_cursor_make(&arena, 'x', values, 3);
    ck_assert_int_eq(read_cursor_parse(text, 'x', back, 3, &started, &err), ERR_OK);
    ck_assert(started);
    ck_assert_mem_eq(back, values, sizeof(values));
    ck_assert_int_eq(read_cursor_parse(text, 'y', back, 3, &started, &err), ERR_INVALID);
    ck_assert_int_eq(read_cursor_parse(text, 'x', back, 2, &started, &err), ERR_INVALID);
    ck_assert_int_eq(read_cursor_parse(NULL, 'x', back, 3, &started, &err), ERR_OK);
    ck_assert(!started);
    ck_assert_str_eq(read_version_label(&arena, "7.2.1", "7210"), "7.2.1 (7210)");
    ck_assert_str_eq(read_version_label(&arena, "7.2.1", ""), "7.2.1");
    ck_assert_str_eq(read_version_label(&arena, "", "7210"), "(7210)");
    ck_assert_int_lt(read_order(2, 9, 1, 1), 0);
    ck_assert_int_lt(read_order(1, 1, 1, 2), 0);
    ck_assert_int_eq(read_order(1, 1, 1, 1), 0);
    arena_done(&arena);
}
END_TEST

UNIT_MAIN("read_plan", sources_know_what_is_asked, spans_are_half_open, cursors_and_labels)
