/* Trends: every point there, groups in order, what a step can answer and what not. */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "storage/read_trend.h"
#include "tests/conformance/suite.h"

static const uint32_t all_images[] = {1, 2, 3, 4};

static struct trend trend(struct suite *s, const struct read_filter *f, const struct trend_query *q)
{
    struct error err = {0};
    struct trend t;
    enum err rc = read_trend(s->reader, f, q, &s->arena, &t, &err);
    ck_assert_msg(rc == ERR_OK, "%s", err.text);
    for (size_t i = 0; i < t.count; i++) {
        struct trend_sums sum = {0};
        for (size_t k = 0; k < q->points; k++) {
            sum.count += t.series[i].points[k].count;
            sum.stall_ms += t.series[i].points[k].stall_ms;
            sum.foreground_ms += t.series[i].points[k].foreground_ms;
        }
        ck_assert_uint_eq(sum.count, t.series[i].total.count);
        ck_assert_uint_eq(sum.stall_ms, t.series[i].total.stall_ms);
        ck_assert_uint_eq(sum.foreground_ms, t.series[i].total.foreground_ms);
    }
    return t;
}

/* 40 reports over ten days, a new version every four days, three pages. */
static void post(struct suite *s)
{
    char id[16], version[8], page[8];
    suite_index(s, all_images, 4, 1);
    for (uint32_t i = 0; i < 40; i++) {
        snprintf(id, sizeof(id), "r%u", i);
        snprintf(version, sizeof(version), "%u.0", 1 + i / 16);
        snprintf(page, sizeof(page), "P%u", i % 7 % 3);
        const struct suite_report r = {.id = id,
                                       .stack = i % 5   ? 0
                                                : i % 2 ? 8
                                                        : SUITE_NO_STACK,
                                       .kind = i % 8 == 7 ? REPORT_HANG : REPORT_STALL,
                                       .time_ms =
                                           SUITE_DAY0 * CLOCK_DAY_MS + (int64_t)i * 6 * 3600000 + 1,
                                       .received_ms = SUITE_NOW + 12 * CLOCK_DAY_MS,
                                       .duration_ms = 1000,
                                       .weight = i % 10 == 9 ? 3 : 1,
                                       .version = version,
                                       .page = page};
        suite_apply(s, suite_batch(SUITE_APP, &r, 1));
    }
    suite_resolve(s);
}

void suite_trends_by_day(struct suite *s)
{
    const struct suite_usage used[] = {
        {.id = "1", .day = SUITE_DAY0, .foreground_ms = 7200000},
        {.id = "2", .day = SUITE_DAY0 + 4, .version = "2.0", .foreground_ms = 3600000},
        {.id = "3", .day = SUITE_DAY0 + 30, .foreground_ms = 3600000},
    };
    struct trend_query q = {.step = TREND_DAY, .begin = SUITE_DAY0 - 2, .points = 14, .groups = 10};
    struct read_filter f;
    post(s);
    suite_apply(s, suite_usage_op(SUITE_APP, used, 3));

    struct trend t = trend(s, NULL, &q);
    ck_assert_uint_eq(t.count, 1);
    ck_assert_ptr_null(t.series[0].value);
    ck_assert_str_eq(t.scope.source, "counters");
    ck_assert_uint_eq(t.series[0].total.count, 40);
    ck_assert_double_eq(t.series[0].total.weighted, 48);
    ck_assert_uint_eq(t.series[0].total.weighted_stall_ms, 48000);
    ck_assert_uint_eq(t.series[0].points[1].count, 0); /* gaps are there */
    ck_assert_uint_eq(t.series[0].points[2].count, 4);
    ck_assert_uint_eq(t.series[0].points[2].foreground_ms, 7200000);
    ck_assert_uint_eq(t.series[0].points[12].count, 0);
    ck_assert_uint_eq(t.series[0].total.foreground_ms, 10800000); /* the third is outside */

    q.group = BY_VERSION;
    t = trend(s, NULL, &q);
    ck_assert_uint_eq(t.count, 3);
    ck_assert_str_eq(t.series[0].value, "2.0"); /* 16, 16 and 8 came: of 20, 18 and 10 */
    ck_assert_str_eq(t.series[1].value, "1.0");
    ck_assert_str_eq(t.series[2].value, "3.0");
    ck_assert_uint_eq(t.series[0].points[2].count, 0);
    ck_assert_uint_eq(t.series[0].points[6].count, 4);
    ck_assert_uint_eq(t.series[0].total.foreground_ms, 3600000);
    ck_assert_uint_eq(t.series[2].total.foreground_ms, 0);

    q.groups = 1; /* what does not fit is one group, with its use */
    t = trend(s, NULL, &q);
    ck_assert_uint_eq(t.count, 2);
    ck_assert_str_eq(t.series[1].value, TREND_OTHER);
    ck_assert_uint_eq(t.series[1].total.count, 24);
    ck_assert_uint_eq(t.series[1].total.foreground_ms, 7200000);

    q.groups = 10;
    q.group = BY_KIND;
    read_filter_init(&f);
    f.version = "1.0";
    t = trend(s, &f, &q);
    ck_assert_uint_eq(t.count, 2);
    ck_assert_str_eq(t.series[1].value, "hang");
    ck_assert_uint_eq(t.series[1].total.count, 2);
    ck_assert_uint_eq(t.series[1].total.foreground_ms, 7200000);

    q.group = BY_CATEGORY; /* of clusters: what has no stack is in none */
    t = trend(s, NULL, &q);
    uint64_t count = 0;
    for (size_t i = 0; i < t.count; i++)
        count += t.series[i].total.count;
    ck_assert_uint_eq(count, 36);

    q.group = BY_PAGE; /* pages of days are in the reports alone */
    t = trend(s, NULL, &q);
    ck_assert_uint_eq(t.count, 4); /* one was used without a stall */
    ck_assert_uint_eq(t.series[3].total.count, 0);
    ck_assert_uint_gt(t.series[3].total.foreground_ms, 0);
    ck_assert_str_eq(t.scope.source, "reports");
    ck_assert_int_ne(t.scope.since_ms, INT64_MIN);
    q.step = TREND_WEEK; /* of weeks they are kept */
    q.begin = trend_number(TREND_WEEK, SUITE_NOW) - 1;
    q.points = 4;
    t = trend(s, NULL, &q);
    ck_assert_uint_eq(t.count, 4);
    ck_assert_str_eq(t.scope.source, "counters");
    ck_assert_uint_eq(t.series[0].points[1].count + t.series[1].points[1].count +
                          t.series[2].points[1].count,
                      16); /* Thursday to Sunday */

    read_filter_init(&f);
    f.bundle_id = "com.example.other";
    q.group = BY_NONE;
    t = trend(s, &f, &q);
    ck_assert_uint_eq(t.count, 1); /* nothing is a series, too */
    ck_assert_uint_eq(t.series[0].total.count, 0);
    q.group = BY_VERSION;
    ck_assert_uint_eq(trend(s, &f, &q).count, 0);
}

void suite_trends_by_hour(struct suite *s)
{
    struct error err = {0};
    struct trend_query q = {
        .step = TREND_HOUR, .begin = SUITE_DAY0 * 24 + 5, .points = 26, .groups = 10};
    struct trend t;
    post(s);
    t = trend(s, NULL, &q);
    ck_assert_str_eq(t.scope.source, "counters");
    ck_assert_uint_eq(t.series[0].total.count, 5);
    ck_assert_uint_eq(t.series[0].points[1].count, 1);
    ck_assert_uint_eq(t.series[0].points[2].count, 0);
    ck_assert_uint_eq(t.series[0].points[25].count, 1);
    ck_assert(!t.usage_known);
    q.group = BY_PAGE;
    t = trend(s, NULL, &q);
    ck_assert_str_eq(t.scope.source, "reports");
    ck_assert_uint_eq(t.count, 3);

    struct write_op *op = write_op_new(WRITE_HOURS_EXPIRE, 4096);
    op->u.hours_expire = (struct op_hours_expire){.before_day = SUITE_DAY0 + 1, .max_stacks = 1000};
    suite_apply(s, op);
    q.group = BY_NONE;
    t = trend(s, NULL, &q);
    ck_assert_int_eq(t.scope.since_ms, (SUITE_DAY0 + 1) * CLOCK_DAY_MS);
    ck_assert_uint_eq(t.series[0].total.count, 2);

    q.points = TREND_POINTS_MAX + 1;
    ck_assert_int_eq(read_trend(s->reader, NULL, &q, &s->arena, &t, &err), ERR_INVALID);
    q.points = 1;
    q.groups = 0;
    ck_assert_int_eq(read_trend(s->reader, NULL, &q, &s->arena, &t, &err), ERR_INVALID);
    q.groups = 1;
    q.group = BY_DAY;
    ck_assert_int_eq(read_trend(s->reader, NULL, &q, &s->arena, &t, &err), ERR_INVALID);
    q.group = BY_NONE;
    q.cluster_id = 99;
    ck_assert_int_eq(read_trend(s->reader, NULL, &q, &s->arena, &t, &err), ERR_NOT_FOUND);
}

void suite_totals_of_an_app(struct suite *s)
{
    const struct suite_usage used = {
        .id = "1", .day = SUITE_DAY0 + 1, .foreground_ms = 7200000, .launches = 4};
    struct error err = {0};
    struct totals_row t;
    struct read_filter f;
    post(s);
    suite_apply(s, suite_usage_op(SUITE_APP, &used, 1));
    ck_assert_int_eq(read_totals(s->reader, NULL, &t, &err), ERR_OK);
    ck_assert_uint_eq(t.figures.count, 40);
    ck_assert(t.usage.known);
    ck_assert_uint_eq(t.usage.foreground_ms, 7200000);
    ck_assert_double_eq(t.usage.launches, 4);
    read_filter_init(&f);
    f.category = "lock"; /* speaks of clusters */
    f.version = "2.0";
    ck_assert_int_eq(read_totals(s->reader, &f, &t, &err), ERR_OK);
    ck_assert_uint_eq(t.figures.count, 16);
    ck_assert_uint_eq(t.usage.foreground_ms, 0);
    f.device = "iPhone14,7"; /* a crossing that is not kept of use */
    ck_assert_int_eq(read_totals(s->reader, &f, &t, &err), ERR_OK);
    ck_assert_uint_eq(t.figures.count, 16);
    ck_assert(!t.usage.known);
}
