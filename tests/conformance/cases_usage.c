/* Usage: counted once, weighted, beside the reports it is divided into. */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "storage/read_trend.h"
#include "tests/conformance/suite.h"

#define HOUR 3600000

static const uint32_t all_images[] = {1, 2, 3, 4};

static struct breakdown_row *split(struct suite *s, uint64_t cluster, const struct read_filter *f,
                                   enum breakdown_by by, enum breakdown_by by2, size_t *ret_count)
{
    struct error err = {0};
    struct breakdown_scope scope;
    struct breakdown_row *rows = NULL;
    ck_assert_int_eq(read_breakdown(s->reader, cluster, f, by, by2, 100, &s->arena, &rows,
                                    ret_count, &scope, &err),
                     ERR_OK);
    return rows;
}

static const struct breakdown_row *row_of(const struct breakdown_row *rows, size_t count,
                                          const char *value)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(rows[i].value, value) == 0)
            return &rows[i];
    }
    ck_abort_msg("there is no row %s", value);
    return NULL;
}

static void post(struct suite *s)
{
    const struct suite_report reports[] = {
        {.id = "a", .stack = 0, .duration_ms = 3000},
        {.id = "b", .stack = 0, .duration_ms = 1000, .device = "iPhone15,2", .page = "Detail"},
        {.id = "c", .stack = 8, .duration_ms = 2000, .version = "2.0", .build = "200"},
        {.id = "d", .stack = 8, .duration_ms = 600, .weight = 10, .kind = REPORT_SLIGHT_STALL},
    };
    suite_index(s, all_images, 4, 1);
    suite_apply(s, suite_batch(SUITE_APP, reports, 4));
    suite_resolve(s);
}

void suite_usage_counts_once(struct suite *s)
{
    const struct suite_usage items[] = {
        {.id = "u1", .foreground_ms = 2 * HOUR, .launches = 3},
        {.id = "u2", .foreground_ms = HOUR, .launches = 1, .weight = 5, .device = "iPhone15,2"},
        {.id = "u1", .foreground_ms = 9 * HOUR}, /* the same id twice in one op */
        {.id = "a", .foreground_ms = HOUR},      /* a report's id is another thing */
    };
    size_t n = 0;
    post(s);
    struct write_op *op = suite_usage_op(SUITE_APP, items, 4);
    suite_apply_keep(s, op);
    ck_assert(!op->u.usage.items[0].duplicate && !op->u.usage.items[1].duplicate);
    ck_assert(op->u.usage.items[2].duplicate && !op->u.usage.items[3].duplicate);
    suite_apply_keep(s, op); /* the retry */
    for (size_t i = 0; i < 4; i++)
        ck_assert(op->u.usage.items[i].duplicate);
    write_op_free(op);
    struct breakdown_row *rows = split(s, 0, NULL, BY_DAY, BY_NONE, &n);
    ck_assert_uint_eq(n, 1);
    ck_assert(rows[0].usage.known);
    ck_assert_uint_eq(rows[0].usage.foreground_ms, (2 + 5 + 1) * HOUR);
    ck_assert_double_eq(rows[0].usage.launches, 3 + 5);
    ck_assert_uint_eq(rows[0].figures.stall_ms, 6600);
    ck_assert_uint_eq(rows[0].figures.weighted_stall_ms, 12000);
    /* Another app's ids and hours are its own. */
    suite_apply(s, suite_usage_op("com.example.other", items, 1));
    struct read_filter f;
    read_filter_init(&f);
    f.bundle_id = SUITE_APP;
    ck_assert_uint_eq(split(s, 0, &f, BY_DAY, BY_NONE, &n)[0].usage.foreground_ms, 8 * HOUR);
}

void suite_usage_by_its_dimensions(struct suite *s)
{
    const struct suite_usage items[] = {
        {.id = "1", .foreground_ms = HOUR},
        {.id = "2", .foreground_ms = 2 * HOUR, .version = "2.0", .build = "200"},
        {.id = "3", .foreground_ms = 4 * HOUR, .device = "iPhone15,2", .page = "Detail"},
        {.id = "4", .foreground_ms = 8 * HOUR, .device = "iPad1,1"}, /* no stalls there */
        {.id = "5", .foreground_ms = 16 * HOUR, .day = SUITE_DAY0 - 3},
    };
    struct error err = {0};
    struct cluster_row *clusters = NULL;
    struct read_filter f;
    const char *next = NULL;
    size_t n = 0;
    post(s);
    suite_apply(s, suite_usage_op(SUITE_APP, items, 5));

    struct breakdown_row *rows = split(s, 0, NULL, BY_VERSION, BY_NONE, &n);
    ck_assert_uint_eq(n, 2);
    ck_assert_uint_eq(row_of(rows, n, "2.0")->usage.foreground_ms, 2 * HOUR);
    ck_assert_uint_eq(row_of(rows, n, "1.0")->usage.foreground_ms, 29 * HOUR);
    rows = split(s, 0, NULL, BY_DEVICE, BY_OS_VERSION, &n);
    ck_assert_uint_eq(row_of(rows, n, "iPhone15,2")->usage.foreground_ms, 4 * HOUR);
    rows = split(s, 0, NULL, BY_PAGE, BY_DAY, &n);
    ck_assert_uint_eq(row_of(rows, n, "Detail")->usage.foreground_ms, 4 * HOUR);
    /* By kind or category all use counts; a device by a version is not kept. */
    rows = split(s, 0, NULL, BY_KIND, BY_NONE, &n);
    ck_assert_uint_eq(n, 2);
    ck_assert_uint_eq(row_of(rows, n, "slight_stall")->usage.foreground_ms, 31 * HOUR);
    rows = split(s, 0, NULL, BY_CATEGORY, BY_VERSION, &n);
    ck_assert_uint_gt(n, 0);
    for (size_t i = 0; i < n; i++)
        ck_assert_uint_eq(rows[i].usage.foreground_ms,
                          (strcmp(rows[i].value2, "2.0") == 0 ? 2 : 29) * HOUR);
    ck_assert(!split(s, 0, NULL, BY_DEVICE, BY_VERSION, &n)[0].usage.known);

    /* Of a cluster: the use of its app under the same filter. */
    ck_assert_int_eq(
        read_clusters(s->reader, NULL, SORT_COUNT, 10, NULL, &s->arena, &clusters, &n, &next, &err),
        ERR_OK);
    read_filter_init(&f);
    f.since_ms = SUITE_DAY0 * CLOCK_DAY_MS;
    rows = split(s, clusters[0].id, &f, BY_VERSION, BY_NONE, &n);
    ck_assert_uint_eq(row_of(rows, n, "1.0")->usage.foreground_ms, 13 * HOUR);
    f.since_ms++; /* usage is known by days */
    ck_assert(!split(s, clusters[0].id, &f, BY_VERSION, BY_NONE, &n)[0].usage.known);
}

static double launches_of(struct suite *s, const char *device, const char *page)
{
    struct error err = {0};
    struct totals_row t;
    struct read_filter f;
    read_filter_init(&f);
    f.device = device;
    f.page = page;
    ck_assert_int_eq(read_totals(s->reader, &f, &t, &err), ERR_OK);
    return t.usage.launches;
}

/* 900 pairs of 30 values each, where 600 of them may be new: what is above is (other) twice. */
void suite_usage_pairs_are_capped(struct suite *s)
{
    enum { VALUES = 30, PAIRS = VALUES * VALUES };
    static char ids[PAIRS][16], one[VALUES][16], other[VALUES][16];
    struct suite_usage items[PAIRS];
    suite_cap_values(s, VALUES);
    for (int i = 0; i < VALUES; i++) {
        snprintf(one[i], sizeof(one[i]), "a%d", i);
        snprintf(other[i], sizeof(other[i]), "b%d", i);
    }
    for (int day = 0; day < 2; day++) {
        for (int i = 0; i < PAIRS; i++) {
            snprintf(ids[i], sizeof(ids[i]), "%d.%d", day, i);
            items[i] = (struct suite_usage){.id = ids[i],
                                            .launches = 1,
                                            .day = SUITE_DAY0,
                                            .received_ms = SUITE_NOW + day * 24 * HOUR,
                                            .device = one[i % VALUES],
                                            .os = other[i / VALUES],
                                            .page = one[i % VALUES],
                                            .version = other[i / VALUES]};
        }
        suite_apply(s, suite_usage_op(SUITE_APP, items, PAIRS));
        /* Those of the first day are there on the second, which may bring the 300 others. */
        ck_assert_double_eq(launches_of(s, NULL, NULL), (day + 1) * PAIRS);
        ck_assert_double_eq(launches_of(s, "(other)", NULL), 300);
        ck_assert_double_eq(launches_of(s, NULL, "(other)"), 300);
        ck_assert_double_eq(launches_of(s, "a1", NULL), day ? 50 : 20);
    }
}

static void expire_before(struct suite *s, int64_t ms)
{
    struct write_op *op = write_op_new(WRITE_EXPIRE, 4096);
    op->u.expire = (struct op_expire){.now_ms = SUITE_NOW + 40 * CLOCK_DAY_MS,
                                      .reports_before_ms = ms,
                                      .report_ids_before_ms = ms,
                                      .image_sets_before_ms = ms,
                                      .max_rows = 1000};
    suite_apply(s, op);
}

/* Hours of use of a device, as totals, by kind and by day tell them. */
static void device_was_used(struct suite *s, uint64_t hours)
{
    const struct trend_query q = {
        .step = TREND_DAY, .begin = SUITE_DAY0, .points = 30, .groups = 1, .group = BY_NONE};
    struct error err = {0};
    struct totals_row totals;
    struct trend trend;
    struct read_filter f;
    size_t n;
    read_filter_init(&f);
    f.device = "iPhone14,7";
    ck_assert_int_eq(read_totals(s->reader, &f, &totals, &err), ERR_OK);
    ck_assert_uint_eq(totals.usage.foreground_ms, hours * HOUR);
    ck_assert_uint_eq(split(s, 0, &f, BY_KIND, BY_NONE, &n)[0].usage.foreground_ms, hours * HOUR);
    suite_expect(read_trend(s->reader, &f, &q, &s->arena, &trend, &err), &err);
    ck_assert_uint_eq(trend.series[0].total.foreground_ms, hours * HOUR);
    /* What is counted for ever is divided by all use. */
    ck_assert_uint_eq(split(s, 0, NULL, BY_DEVICE, BY_NONE, &n)[0].usage.foreground_ms, 3 * HOUR);
}

/* Else the longer ago reports expired the better a device would do. */
void suite_usage_goes_with_the_reports_kept(struct suite *s)
{
    const int64_t later_ms = SUITE_NOW + 20 * CLOCK_DAY_MS;
    const struct suite_report reports[] = {{.id = "a"}, {.id = "b", .time_ms = later_ms}};
    const struct suite_usage items[] = {
        {.id = "1", .day = SUITE_DAY0, .foreground_ms = 2 * HOUR},
        {.id = "2", .day = SUITE_DAY0 + 20, .received_ms = later_ms, .foreground_ms = HOUR}};
    suite_index(s, all_images, 4, 1);
    for (int i = 0; i < 2; i++) {
        suite_apply(s, suite_batch(SUITE_APP, &reports[i], 1));
        suite_apply(s, suite_usage_op(SUITE_APP, &items[i], 1));
    }
    suite_resolve(s);
    device_was_used(s, 3);
    expire_before(s, SUITE_NOW + CLOCK_DAY_MS);
    device_was_used(s, 1);
}
