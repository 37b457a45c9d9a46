/* Lists, filters, pages, breakdowns, retention, snapshots. */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "storage/read_apps.h"
#include "storage/read_compare.h"
#include "storage/read_trend.h"
#include "tests/conformance/suite.h"

#define DAY ((int64_t)86400000)

static const uint32_t all_images[] = {1, 2, 3, 4};

/* Clusters in a comparison of the two versions, and reports of the app. */
static size_t compared(struct suite *s, size_t *ret_app)
{
    static const char *const versions[2] = {"1.0", "2.0"};
    struct read_filter f;
    struct compare_cell *cells;
    struct error err = {0};
    size_t count, clusters = 0;
    read_filter_init(&f);
    f.bundle_id = SUITE_APP;
    ck_assert_int_eq(read_compare(s->reader, &f, versions, &s->arena, &cells, &count, &err),
                     ERR_OK);
    for (size_t i = 0; i < count; i++) {
        *ret_app += cells[i].cluster_id ? 0 : cells[i].count;
        clusters += cells[i].cluster_id && cells[i].cluster_id != cells[i - 1].cluster_id;
    }
    return clusters;
}

/* 24 reports over three clusters (16, 6 and 2), two versions, devices, days. */
static void post_mixture(struct suite *s)
{
    char id[16];
    suite_index(s, all_images, 4, 1);
    for (uint32_t i = 0; i < 24; i++) {
        snprintf(id, sizeof(id), "r%02u", i);
        uint32_t stack = i < 16 ? i % 2 : i < 22 ? 8 + i % 3 : 24;
        const struct suite_report r = {
            .id = id,
            .stack = stack,
            .kind = i % 4 == 3 ? REPORT_HANG : REPORT_STALL,
            .time_ms = SUITE_NOW + (int64_t)(i % 6) * DAY,
            .duration_ms = 1000 + 100 * (int64_t)i,
            .version = i % 3 ? "1.0" : "2.0",
            .build = i % 3 ? (i % 2 ? "100" : "101") : "200",
            .device = i % 2 ? "iPhone14,7" : "iPhone15,2",
            .os = i % 5 ? "17.1" : "16.6",
            .page = i % 4 ? "Home" : "Detail",
            .weight = i % 8 == 0 ? 5 : 1,
        };
        suite_apply(s, suite_batch(SUITE_APP, &r, 1));
    }
    suite_resolve(s);
}

static struct cluster_row *list(struct suite *s, const struct read_filter *f,
                                enum cluster_sort sort, size_t *count)
{
    struct error err = {0};
    struct cluster_row *rows = NULL;
    const char *next = NULL;
    enum err rc =
        read_clusters(s->reader, f, sort, 100, NULL, &s->arena, &rows, count, &next, &err);
    ck_assert_msg(rc == ERR_OK, "%s", err.text);
    return rows;
}

/* Six reports of a second each, and one of ten that there were: which cause is the larger one? */
void suite_sampling_is_undone_in_orders(struct suite *s)
{
    static const enum cluster_sort sorts[] = {SORT_COUNT, SORT_STALL_MS};
    struct read_filter filters[3]; /* cached sums, counters, reports */
    struct error err = {0};
    size_t n;
    suite_index(s, (const uint32_t[]){1, 2, 3, 4}, 4, 1);
    for (uint32_t i = 0; i < 7; i++) {
        const struct suite_report r = {.id = (const char[]){(char)('a' + i), 0},
                                       .stack = i < 6 ? 0 : 8,
                                       .duration_ms = 1000,
                                       .version = i < 6 ? "1" : "2",
                                       .device = "iPhone14,7",
                                       .weight = i < 6 ? 1 : 10};
        suite_apply(s, suite_batch(SUITE_APP, &r, 1));
    }
    suite_resolve(s);
    for (size_t i = 0; i < 3; i++)
        read_filter_init(&filters[i]);
    filters[1].kind = REPORT_STALL;
    filters[2].device = "iPhone14,7";
    filters[2].kind = REPORT_STALL;
    for (size_t i = 0; i < 6; i++) {
        struct cluster_row *c = list(s, &filters[i / 2], sorts[i % 2], &n);
        ck_assert_uint_eq(n, 2);
        ck_assert_uint_eq(c[0].figures.count, 1);
        ck_assert_uint_eq(c[0].figures.stall_ms, 1000);
        ck_assert_uint_eq(c[0].figures.weighted_stall_ms, 10000);
        ck_assert_uint_eq(c[1].figures.weighted_stall_ms, 6000);
    }
    struct breakdown_row *rows = NULL;
    struct breakdown_scope scope;
    ck_assert_int_eq(read_breakdown(s->reader, 0, &filters[0], BY_VERSION, BY_NONE, 10, &s->arena,
                                    &rows, &n, &scope, &err),
                     ERR_OK);
    ck_assert_str_eq(rows[0].value, "2");
    ck_assert(fabs(rows[0].share - 10.0 / 16) < 1e-9);
}

void suite_cluster_filters(struct suite *s)
{
    struct read_filter f;
    size_t n;
    post_mixture(s);
    struct cluster_row *c = list(s, NULL, SORT_COUNT, &n);
    ck_assert_uint_eq(n, 3);
    ck_assert_uint_eq(c[0].figures.count, 16);
    ck_assert_uint_eq(c[1].figures.count, 6);
    ck_assert(c[0].figures.weighted == 16 + 2 * 4.0);

    read_filter_init(&f);
    f.version = "2.0";
    c = list(s, &f, SORT_COUNT, &n);
    ck_assert_uint_eq(n, 2);
    ck_assert_uint_eq(c[0].figures.count, 6); /* 0 3 6 9 12 15 */
    f.build = "100";
    list(s, &f, SORT_COUNT, &n);
    ck_assert_uint_eq(n, 0);

    read_filter_init(&f);
    f.kind = REPORT_HANG;
    c = list(s, &f, SORT_COUNT, &n);
    ck_assert_uint_eq(c[0].figures.count, 4);
    read_filter_init(&f);
    f.since_ms = (SUITE_DAY0 + 1) * DAY;
    f.until_ms = (SUITE_DAY0 + 3) * DAY;
    c = list(s, &f, SORT_COUNT, &n);
    ck_assert_uint_eq(c[0].figures.count, 6); /* days 1 and 2: 1 2 7 8 13 14 */
    f.since_ms = SUITE_NOW + 1;
    f.until_ms = SUITE_NOW + DAY + 1; /* at no midnight: from reports */
    c = list(s, &f, SORT_COUNT, &n);
    ck_assert_uint_eq(c[0].figures.count, 3);

    read_filter_init(&f);
    f.device = "iPhone15,2";
    f.os_version = "16.6";
    c = list(s, &f, SORT_COUNT, &n);
    ck_assert_uint_eq(c[0].figures.count, 2); /* 0 10 */
    read_filter_init(&f);
    f.page = "Detail";
    f.min_duration_ms = 1500;
    c = list(s, &f, SORT_COUNT, &n);
    ck_assert_uint_eq(c[0].figures.count, 2); /* 8 12 */
    ck_assert_uint_eq(c[0].figures.stall_ms, 1800 + 2200);

    read_filter_init(&f);
    f.text = "F12";
    list(s, &f, SORT_COUNT, &n);
    ck_assert_uint_eq(n, 2);
    f.text = "FEED.CC";
    list(s, &f, SORT_COUNT, &n);
    ck_assert_uint_eq(n, 3);
    f.text = "nothing of that kind";
    list(s, &f, SORT_COUNT, &n);
    ck_assert_uint_eq(n, 0);
    read_filter_init(&f);
    f.category = "lock";
    list(s, &f, SORT_COUNT, &n);
    ck_assert_uint_eq(n, 2);
    f.state = "resolved";
    list(s, &f, SORT_COUNT, &n);
    ck_assert_uint_eq(n, 0);
    read_filter_init(&f);
    f.bundle_id = "com.example.other";
    list(s, &f, SORT_COUNT, &n);
    ck_assert_uint_eq(n, 0);

    /* Idle ones only on demand, and never in a comparison. */
    const struct suite_report idle = {.id = "idle", .stack = 16};
    suite_apply(s, suite_batch(SUITE_APP, &idle, 1));
    suite_resolve(s);
    list(s, NULL, SORT_COUNT, &n);
    ck_assert_uint_eq(n, 3);
    read_filter_init(&f);
    f.include_hidden = true;
    list(s, &f, SORT_COUNT, &n);
    ck_assert_uint_eq(n, 4);
    size_t app = 0;
    ck_assert_uint_eq(compared(s, &app), 3);
    ck_assert_uint_eq(app, 25);
}

void suite_cluster_pages(struct suite *s)
{
    struct error err = {0};
    struct read_filter f;
    char id[16];
    suite_index(s, all_images, 4, 1);
    for (uint32_t i = 0; i < 60; i++) {
        snprintf(id, sizeof(id), "r%u", i);
        const struct suite_report r = {.id = id,
                                       .stack = (i % 20) * 8,
                                       .time_ms = SUITE_NOW + (int64_t)i * 1000,
                                       .duration_ms = 500 + 37 * (int64_t)(i % 20)};
        suite_apply(s, suite_batch(SUITE_APP, &r, 1));
    }
    suite_resolve(s);
    read_filter_init(&f);
    f.include_hidden = true;
    for (int sort = SORT_COUNT; sort <= SORT_P90; sort++) {
        const char *cursor = NULL;
        uint64_t seen[64];
        size_t total = 0;
        do {
            struct cluster_row *rows;
            size_t count;
            ck_assert_int_eq(read_clusters(s->reader, &f, (enum cluster_sort)sort, 7, cursor,
                                           &s->arena, &rows, &count, &cursor, &err),
                             ERR_OK);
            ck_assert_uint_eq(count, total == 14 ? 6 : 7);
            for (size_t i = 0; i < count; i++)
                seen[total++] = rows[i].id;
        } while (cursor);
        ck_assert_uint_eq(total, 20);
        for (size_t i = 0; i < total; i++) {
            for (size_t k = 0; k < i; k++)
                ck_assert_uint_ne(seen[i], seen[k]);
        }
    }
    size_t n;
    struct cluster_row *rows = list(s, &f, SORT_LAST_SEEN, &n);
    ck_assert_int_eq(rows[0].last_seen_ms, SUITE_NOW + 59000);
    rows = list(s, &f, SORT_FIRST_SEEN, &n);
    ck_assert_int_eq(rows[0].first_seen_ms, SUITE_NOW + 19000);
    rows = list(s, &f, SORT_P90, &n);
    ck_assert(rows[0].figures.p90_ms > rows[19].figures.p90_ms);
    rows = list(s, &f, SORT_STALL_MS, &n);
    ck_assert_uint_eq(rows[0].figures.stall_ms, 3 * (500 + 37 * 19));
}

void suite_cluster_percentiles(struct suite *s)
{
    char id[16];
    suite_index(s, all_images, 4, 1);
    for (uint32_t i = 1; i <= 100; i++) {
        snprintf(id, sizeof(id), "r%u", i);
        const struct suite_report r = {.id = id,
                                       .stack = i % 2,
                                       .time_ms = SUITE_NOW + (int64_t)(i % 9) * DAY,
                                       .duration_ms = 10 * (int64_t)i};
        suite_apply(s, suite_batch(SUITE_APP, &r, 1));
        if (i == 50)
            suite_resolve(s);
    }
    suite_resolve(s);
    const struct duration_figures f = suite_cluster(s, NULL).figures;
    ck_assert_uint_eq(f.count, 100);
    ck_assert_uint_eq(f.stall_ms, 50500);
    ck_assert(fabs((double)f.p50_ms - 500) <= 10);
    ck_assert(fabs((double)f.p90_ms - 900) <= 18);
    ck_assert(fabs((double)f.p99_ms - 990) <= 20);
    const struct suite_report none = {.id = "none", .stack = 32, .duration_ms = -1};
    suite_apply(s, suite_batch(SUITE_APP, &none, 1));
    suite_resolve(s);
    ck_assert_int_eq(suite_cluster(s, "f132()").figures.p50_ms, -1);
}

static struct breakdown_row *split(struct suite *s, uint64_t id, const struct read_filter *f,
                                   enum breakdown_by by, enum breakdown_by by2, size_t *count,
                                   struct breakdown_scope *scope)
{
    struct error err = {0};
    struct breakdown_row *rows = NULL;
    enum err rc =
        read_breakdown(s->reader, id, f, by, by2, 100, &s->arena, &rows, count, scope, &err);
    ck_assert_msg(rc == ERR_OK, "%s", err.text);
    return rows;
}

void suite_breakdowns(struct suite *s)
{
    struct breakdown_scope scope;
    size_t n;
    post_mixture(s);
    uint64_t id = suite_cluster(s, "f128()").id;
    struct breakdown_row *rows = split(s, id, NULL, BY_VERSION, BY_NONE, &n, &scope);
    ck_assert_uint_eq(n, 2);
    ck_assert_str_eq(rows[0].value, "1.0");
    ck_assert_ptr_null(rows[0].value2);
    ck_assert_uint_eq(rows[0].figures.count, 10);
    ck_assert(fabs(rows[0].share - 14.0 / 24) < 1e-9);
    ck_assert(fabs(rows[0].app_share - 24.0 / 36) < 1e-9);
    rows = split(s, id, NULL, BY_BUILD, BY_NONE, &n, &scope);
    ck_assert_uint_eq(n, 3);
    ck_assert_str_eq(rows[0].value, "200");
    rows = split(s, id, NULL, BY_DEVICE, BY_NONE, &n, &scope);
    ck_assert_uint_eq(n, 2);
    ck_assert_uint_eq(rows[0].figures.count, 8);
    ck_assert_str_eq(rows[0].value, "iPhone15,2"); /* of equal counts: the heavier one */
    rows = split(s, id, NULL, BY_DEVICE, BY_OS_VERSION, &n, &scope);
    ck_assert_uint_eq(n, 4);
    ck_assert_str_eq(rows[0].value2, "17.1");
    rows = split(s, id, NULL, BY_PAGE, BY_VERSION, &n, &scope);
    ck_assert_uint_eq(n, 4);
    rows = split(s, id, NULL, BY_DAY, BY_NONE, &n, &scope);
    ck_assert_uint_eq(n, 6);
    ck_assert_str_eq(rows[0].value, "2026-01-01");
    rows = split(s, 0, NULL, BY_DAY, BY_NONE, &n, &scope);
    ck_assert_uint_eq(rows[0].figures.count, 4);
    ck_assert(fabs(rows[0].app_share - rows[0].share) < 1e-9);
    /* Of a cluster whose value the app has nowhere else. */
    rows = split(s, suite_cluster(s, "f131()").id, NULL, BY_VERSION, BY_NONE, &n, &scope);
    ck_assert_uint_eq(n, 1);
    ck_assert(fabs(rows[0].share - 1) < 1e-9);
}

void suite_breakdown_sources(struct suite *s)
{
    static const struct {
        enum breakdown_by by, by2;
        bool kind, reports;
    } cases[] = {
        {BY_VERSION, BY_DAY, true, false}, {BY_DEVICE, BY_OS_VERSION, false, false},
        {BY_PAGE, BY_BUILD, false, false}, {BY_DEVICE, BY_NONE, true, true},
        {BY_DEVICE, BY_PAGE, false, true}, {BY_OS_VERSION, BY_VERSION, false, true},
        {BY_PAGE, BY_NONE, true, true},    {BY_PAGE, BY_DAY, false, true},
    };
    struct breakdown_scope scope;
    struct read_filter f;
    size_t n;
    post_mixture(s);
    uint64_t id = suite_cluster(s, "f128()").id;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        read_filter_init(&f);
        f.kind = cases[i].kind ? REPORT_STALL : -1;
        struct breakdown_row *rows = split(s, id, &f, cases[i].by, cases[i].by2, &n, &scope);
        uint64_t sum = 0;
        for (size_t k = 0; k < n; k++)
            sum += rows[k].figures.count;
        ck_assert_uint_eq(sum, cases[i].kind ? 12 : 16);
        ck_assert_str_eq(scope.source, cases[i].reports ? "reports" : "counters");
        ck_assert_int_eq(scope.since_ms, cases[i].reports ? SUITE_NOW : INT64_MIN);
    }
    struct error err;
    struct breakdown_row *rows;
    ck_assert_int_eq(read_breakdown(s->reader, id, NULL, BY_NONE, BY_NONE, 10, &s->arena, &rows, &n,
                                    &scope, &err),
                     ERR_INVALID);
    ck_assert_int_eq(
        read_breakdown(s->reader, id, NULL, BY_DAY, BY_DAY, 10, &s->arena, &rows, &n, &scope, &err),
        ERR_INVALID);
    ck_assert_int_eq(read_breakdown(s->reader, 4711, NULL, BY_DAY, BY_NONE, 10, &s->arena, &rows,
                                    &n, &scope, &err),
                     ERR_NOT_FOUND);
}

void suite_cluster_reports_pages(struct suite *s)
{
    struct error err = {0};
    struct report_row *rows;
    struct read_filter f;
    const char *cursor = NULL;
    size_t count;
    size_t total = 0;
    post_mixture(s);
    uint64_t ids[] = {suite_cluster(s, "f128()").id, suite_cluster(s, "f131()").id, 0};
    const size_t want[] = {16, 2, 24};
    for (size_t i = 0; i < 3; i++) {
        total = 0;
        cursor = NULL;
        do {
            ck_assert_int_eq(read_cluster_reports(s->reader, ids[i], NULL, 5, cursor, &s->arena,
                                                  &rows, &count, &cursor, &err),
                             ERR_OK);
            ck_assert(!cursor || count == 5);
            if (total == 0)
                ck_assert_str_eq(rows[0].id, i ? "r23" : "r15");
            total += count;
        } while (cursor);
        ck_assert_uint_eq(total, want[i]);
    }
    ck_assert_uint_eq(rows[0].cluster_id, ids[0]);
    read_filter_init(&f);
    f.version = "2.0";
    f.since_ms = SUITE_NOW + DAY;
    ck_assert_int_eq(read_cluster_reports(s->reader, ids[0], &f, 100, NULL, &s->arena, &rows,
                                          &count, &cursor, &err),
                     ERR_OK);
    ck_assert_uint_eq(count, 3); /* 3 9 15 */
    f.bundle_id = "com.example.other";
    ck_assert_int_eq(read_cluster_reports(s->reader, ids[0], &f, 100, NULL, &s->arena, &rows,
                                          &count, &cursor, &err),
                     ERR_NOT_FOUND);
}

static bool expire(struct suite *s, int64_t reports_before, int64_t ids_before, uint32_t max_rows)
{
    struct write_op *op = write_op_new(WRITE_EXPIRE, 4096);
    op->u.expire = (struct op_expire){.now_ms = SUITE_NOW + 40 * DAY,
                                      .reports_before_ms = reports_before,
                                      .report_ids_before_ms = ids_before,
                                      .image_sets_before_ms = SUITE_NOW,
                                      .max_rows = max_rows};
    suite_apply_keep(s, op);
    bool more = op->u.expire.more;
    write_op_free(op);
    return more;
}

/* What a list of clusters has of a device goes with its reports, and what its shares are of with it. */
static void shares_are_of_what_is_listed(struct suite *s, const struct report_row *only)
{
    struct error err = {0};
    struct read_filter f;
    struct cluster_row *rows;
    struct totals_row t;
    const char *next;
    size_t n;
    read_filter_init(&f);
    f.device = only ? only->device : "iPhone14,7";
    ck_assert_int_eq(
        read_clusters(s->reader, &f, SORT_COUNT, 10, NULL, &s->arena, &rows, &n, &next, &err),
        ERR_OK);
    ck_assert_uint_eq(n, only ? 1 : 0);
    ck_assert_int_eq(read_totals(s->reader, &f, &t, &err), ERR_OK);
    ck_assert_uint_eq(t.figures.count, only ? rows[0].figures.count : 0);
}

void suite_expiry_keeps_the_counters(struct suite *s)
{
    struct error err = {0};
    struct report_row r;
    struct breakdown_scope scope;
    struct stats_row stats;
    size_t n;
    post_mixture(s);
    const struct suite_report hang = {.id = "hang", .stack = 40, .samples = 4, .threads = 4};
    suite_apply(s, suite_batch(SUITE_APP, &hang, 1));
    suite_resolve(s);
    ck_assert(expire(s, SUITE_NOW + 30 * DAY, SUITE_NOW + 30 * DAY, 7));
    while (expire(s, SUITE_NOW + 30 * DAY, SUITE_NOW + 30 * DAY, 7))
        ;
    ck_assert_int_eq(read_report(s->reader, NULL, "r03", &s->arena, &r, &err), ERR_NOT_FOUND);
    struct cluster_row c = suite_cluster(s, "f128()");
    ck_assert_uint_eq(c.figures.count, 16);
    ck_assert_int_eq(c.first_seen_ms, SUITE_NOW);
    ck_assert_uint_eq(c.stacks, 1); /* folded into the heaviest, which shows the frames */
    split(s, c.id, NULL, BY_VERSION, BY_NONE, &n, &scope);
    ck_assert_uint_eq(n, 2);
    split(s, c.id, NULL, BY_DEVICE, BY_OS_VERSION, &n, &scope);
    ck_assert_uint_eq(n, 4);
    split(s, c.id, NULL, BY_DEVICE, BY_PAGE, &n, &scope);
    ck_assert_uint_eq(n, 0);
    shares_are_of_what_is_listed(s, NULL);
    ck_assert_int_eq(read_stats(s->reader, NULL, &stats, &err), ERR_OK);
    ck_assert_uint_eq(stats.reports, 25);
    ck_assert_uint_eq(stats.clusters, 4);
    ck_assert_uint_eq(suite_stack_count(s, NULL), 4); /* those of samples and threads are gone */
    /* The ids are forgotten with them: the same report counts again. */
    const struct suite_report again = {.id = "r03", .stack = 1};
    struct write_op *op = suite_batch(SUITE_APP, &again, 1);
    suite_apply_keep(s, op);
    ck_assert(!op->u.batches.items[0].reports[0].duplicate);
    write_op_free(op);
    suite_resolve(s);
    ck_assert_uint_eq(suite_cluster(s, "f128()").figures.count, 17);

    /* Reports may live longer than the retry window, and are found as long as they do. */
    ck_assert(!expire(s, SUITE_NOW - 10 * DAY, SUITE_NOW + 30 * DAY, 1000));
    ck_assert_int_eq(read_report(s->reader, NULL, "r03", &s->arena, &r, &err), ERR_OK);
    shares_are_of_what_is_listed(s, &r);
    /* And ids longer than reports. */
    ck_assert(!expire(s, SUITE_NOW + 30 * DAY, SUITE_NOW - 10 * DAY, 1000));
    ck_assert_int_eq(read_report(s->reader, NULL, "r03", &s->arena, &r, &err), ERR_NOT_FOUND);
    op = suite_batch(SUITE_APP, &again, 1);
    suite_apply_keep(s, op);
    ck_assert(op->u.batches.items[0].reports[0].duplicate);
    write_op_free(op);
}

static void in_group(struct suite *s, struct write_op *op, enum err want)
{
    struct error err = {0};
    enum err rc = storage_apply(s->storage, op, &err);
    ck_assert_msg(rc == want, "%s", err.text);
    write_op_free(op);
}

/* Sums of several ops of one group meet, those of a failed one do not, and an op that needs them
 * sees those before it. */
void suite_group_of_many_ops(struct suite *s)
{
    struct error err = {0};
    struct breakdown_row *rows;
    struct breakdown_scope scope;
    size_t n;
    const struct suite_report a[] = {{.id = "a", .stack = 0}, {.id = "b", .stack = 1}};
    const struct suite_report c[] = {{.id = "c", .stack = 0, .duration_ms = 3000}};
    const struct suite_report d[] = {{.id = "d", .stack = 0}, {.id = "e", .stack = 1}};
    suite_index(s, all_images, 4, 1);
    suite_apply(s, suite_batch(SUITE_APP, a, 2));
    struct write_op *answer = suite_resolution(s);
    ck_assert_int_eq(storage_begin(s->storage, &err), ERR_OK);
    in_group(s, suite_batch(SUITE_APP, c, 1), ERR_OK);
    struct write_op *bad = suite_batch(SUITE_APP, d, 2);
    bad->u.batches.items[0].reports[1].stack = 77;
    in_group(s, bad, ERR_INVALID);
    in_group(s, answer, ERR_OK);
    in_group(s, suite_batch(SUITE_APP, d, 1), ERR_OK);
    in_group(s, suite_batch(SUITE_APP, d, 2), ERR_OK);
    ck_assert_int_eq(storage_commit(s->storage, &err), ERR_OK);
    struct cluster_row row = suite_cluster(s, NULL);
    ck_assert_uint_eq(row.figures.count, 5);
    ck_assert_uint_eq(row.figures.stall_ms, 7000);
    ck_assert_int_eq(
        read_breakdown(s->reader, 0, NULL, BY_DAY, BY_NONE, 10, &s->arena, &rows, &n, &scope, &err),
        ERR_OK);
    ck_assert_uint_eq(rows[0].figures.count, 5);
    /* A group that was given up leaves no sums behind for the next one. */
    const struct suite_report f[] = {{.id = "f", .stack = 0}};
    ck_assert_int_eq(storage_begin(s->storage, &err), ERR_OK);
    in_group(s, suite_batch(SUITE_APP, f, 1), ERR_OK);
    storage_rollback(s->storage);
    suite_apply(s, suite_batch(SUITE_APP, f, 1));
    ck_assert_uint_eq(suite_cluster(s, NULL).figures.count, 6);
}

void suite_rollback_leaves_nothing(struct suite *s)
{
    struct error err = {0};
    struct stats_row stats;
    const struct suite_report a = {.id = "a", .stack = 0, .page = "P"};
    const struct suite_report b = {.id = "b", .stack = 0, .page = "P"};
    struct write_op *op = suite_batch(SUITE_APP, &a, 1);
    struct write_op *other = suite_batch(SUITE_APP, &b, 1);
    ck_assert_int_eq(storage_begin(s->storage, &err), ERR_OK);
    ck_assert_int_eq(storage_begin(s->storage, &err), ERR_INTERNAL);
    ck_assert_int_eq(storage_apply(s->storage, op, &err), ERR_OK);
    storage_rollback(s->storage);
    ck_assert_int_eq(storage_apply(s->storage, op, &err), ERR_INTERNAL);
    ck_assert_int_eq(storage_commit(s->storage, &err), ERR_INTERNAL);
    ck_assert_int_eq(read_stats(s->reader, NULL, &stats, &err), ERR_OK);
    ck_assert_uint_eq(stats.reports, 0);
    ck_assert_uint_eq(stats.apps, 0);
    /* What the caches learnt in the group is forgotten with it. */
    suite_apply(s, other);
    suite_apply_keep(s, op);
    ck_assert(!op->u.batches.items[0].reports[0].duplicate);
    write_op_free(op);
    suite_resolve(s);
    ck_assert_uint_eq(suite_cluster(s, NULL).figures.count, 2);
}

/* The `at`th of those that are pending. */
static struct write_op *resolution_of_one(struct suite *s, size_t at)
{
    struct write_op *op = suite_resolution(s);
    ck_assert_uint_gt(op->u.resolutions.count, at);
    op->u.resolutions.items += at;
    op->u.resolutions.count = 1;
    return op;
}

/* Numbers of names that a lost group gave out are those of others afterwards. */
void suite_names_of_a_lost_group(struct suite *s)
{
    struct error err = {0};
    struct stack_row *stacks = NULL;
    size_t count = 0;
    const struct suite_report reports[] = {{.id = "a", .stack = 0}, {.id = "b", .stack = 40}};
    suite_index(s, all_images, 4, 1);
    suite_apply(s, suite_batch(SUITE_APP, reports, 2));
    ck_assert_int_eq(storage_begin(s->storage, &err), ERR_OK);
    in_group(s, resolution_of_one(s, 0), ERR_OK);
    storage_rollback(s->storage);
    suite_apply(s, resolution_of_one(s, 1));
    struct write_op *op = resolution_of_one(s, 0);
    suite_apply_keep(s, op);
    const struct op_resolution *r = &op->u.resolutions.items[0];
    suite_expect(read_cluster_stacks(s->reader, suite_cluster(s, r->title).id, 10, &s->arena,
                                     &stacks, &count, &err),
                 &err);
    ck_assert_uint_eq(count, 1);
    const struct frame *stored = stacks[0].resolved.frames[0].frames;
    ck_assert_str_eq(stored->function, r->stack->frames[0].frames->function);
    ck_assert_str_eq(stored->mangled, r->stack->frames[0].frames->mangled);
    write_op_free(op);
}

void suite_snapshot_of_a_reader(struct suite *s)
{
    struct error err = {0};
    struct stats_row stats;
    struct storage_reader *other = NULL;
    const struct suite_report a = {.id = "a", .stack = 0};
    struct write_op *op = suite_batch(SUITE_APP, &a, 1);
    ck_assert_int_eq(storage_reader_open(s->storage, &other, &err), ERR_OK);
    ck_assert_int_eq(storage_begin(s->storage, &err), ERR_OK);
    ck_assert_int_eq(storage_apply(s->storage, op, &err), ERR_OK);
    ck_assert_int_eq(read_stats(s->reader, NULL, &stats, &err), ERR_OK);
    ck_assert_uint_eq(stats.reports, 0);
    ck_assert_int_eq(storage_commit(s->storage, &err), ERR_OK);
    ck_assert_int_eq(read_stats(s->reader, NULL, &stats, &err), ERR_OK);
    ck_assert_uint_eq(stats.reports, 1);
    ck_assert_int_eq(read_stats(other, NULL, &stats, &err), ERR_OK);
    ck_assert_uint_eq(stats.reports, 1);
    storage_reader_close(other);
    write_op_free(op);
}

void suite_deadline_of_a_reader(struct suite *s)
{
    struct error err = {0};
    struct stats_row stats;
    storage_reader_deadline(s->reader, clock_mono_ms() - 1);
    ck_assert_int_eq(read_stats(s->reader, NULL, &stats, &err), ERR_LIMIT);
    ck_assert_str_eq(err.text, "query took too long");
    storage_reader_deadline(s->reader, INT64_MAX);
    ck_assert_int_eq(read_stats(s->reader, NULL, &stats, &err), ERR_OK);
}

void suite_limits_and_cursors_are_checked(struct suite *s)
{
    static const char *const bad[] = {"x",  "c",  "c1",     "c0.1",  "c0.1.2.3", "c0.1.x",
                                      "s1", "c-", "c1.5.9", "c0..1", "c0.1. 2"};
    struct error err = {0};
    struct cluster_row *rows;
    struct slice_row *slices;
    const char *next;
    size_t count;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        ck_assert_msg(read_clusters(s->reader, NULL, SORT_COUNT, 10, bad[i], &s->arena, &rows,
                                    &count, &next, &err) == ERR_INVALID,
                      "%s", bad[i]);
    ck_assert_int_eq(
        read_clusters(s->reader, NULL, SORT_COUNT, 0, NULL, &s->arena, &rows, &count, &next, &err),
        ERR_INVALID);
    ck_assert_int_eq(read_clusters(s->reader, NULL, SORT_COUNT, READ_LIMIT_MAX + 1, NULL, &s->arena,
                                   &rows, &count, &next, &err),
                     ERR_INVALID);
    ck_assert_int_eq(
        read_symbols(s->reader, NULL, 5, "c1", &s->arena, &slices, &count, &next, &err),
        ERR_INVALID);
    ck_assert_int_eq(
        read_clusters(s->reader, NULL, SORT_COUNT, 10, "", &s->arena, &rows, &count, &next, &err),
        ERR_OK);
    ck_assert_uint_eq(count, 0);
}

/* A page of one, the rest, one app alone. */
static void check_apps(struct suite *s)
{
    struct error err = {0};
    struct app_row *first, *rest, *one;
    const char *next = NULL;
    size_t n;
    ck_assert_int_eq(
        read_apps(s->reader, NULL, INT32_MIN, 1, "", &s->arena, &first, &n, &next, &err), ERR_OK);
    ck_assert_uint_eq(n, 1);
    ck_assert_ptr_nonnull(next);
    ck_assert_uint_eq(first[0].reports, 24);
    ck_assert_uint_eq(first[0].recent, 24);
    ck_assert_int_le(first[0].first_seen_ms, first[0].last_seen_ms);
    ck_assert_int_eq(
        read_apps(s->reader, NULL, INT32_MAX, 9, next, &s->arena, &rest, &n, &next, &err), ERR_OK);
    ck_assert_uint_eq(n, 1);
    ck_assert_ptr_null(next);
    ck_assert_str_eq(rest[0].bundle_id, "com.example.other");
    ck_assert_uint_eq(rest[0].reports, 2);
    ck_assert_uint_eq(rest[0].recent, 0);
    ck_assert_int_eq(
        read_apps(s->reader, first[0].bundle_id, 0, 9, NULL, &s->arena, &one, &n, &next, &err),
        ERR_OK);
    ck_assert_uint_eq(n, 1);
    ck_assert_uint_eq(one[0].id, first[0].id);
    ck_assert_int_eq(read_apps(s->reader, NULL, 0, 9, "x1", &s->arena, &one, &n, &next, &err),
                     ERR_INVALID);
}

void suite_statistics(struct suite *s)
{
    struct error err = {0};
    struct stats_row stats;
    struct stack_totals totals;
    struct symbolication_row *rows;
    size_t n;
    ck_assert_int_eq(read_stack_totals(s->reader, NULL, &totals, &err), ERR_OK);
    ck_assert(isnan(totals.symbolication_rate));
    post_mixture(s);
    const struct suite_report extra[] = {{.id = "x", .stack = SUITE_NO_STACK},
                                         {.id = "y", .stack = 9}};
    suite_apply(s, suite_batch("com.example.other", extra, 2));
    ck_assert_int_eq(read_stats(s->reader, NULL, &stats, &err), ERR_OK);
    ck_assert_uint_eq(stats.apps, 2);
    ck_assert_uint_eq(stats.reports, 26);
    check_apps(s);
    ck_assert_uint_eq(suite_stack_count(s, NULL), 7);
    ck_assert_uint_eq(stats.pending_stacks, 1);
    ck_assert_uint_eq(stats.clusters, 3);
    ck_assert_uint_eq(stats.symbol_files, 4);
    ck_assert_int_eq(read_stack_totals(s->reader, NULL, &totals, &err), ERR_OK);
    ck_assert(totals.symbolication_rate == 1.0);
    ck_assert_int_eq(read_stats(s->reader, "com.example.other", &stats, &err), ERR_OK);
    ck_assert_uint_eq(stats.reports, 2);
    ck_assert_uint_eq(stats.pending_stacks, 1);
    ck_assert_uint_eq(suite_stack_count(s, "com.example.other"), 1);
    ck_assert_uint_eq(stats.symbol_files, 0);

    ck_assert_int_eq(read_symbolication(s->reader, NULL, "image", 10, &s->arena, &rows, &n, &err),
                     ERR_OK);
    ck_assert_uint_eq(n, 3);
    ck_assert_str_eq(rows[0].key, "Image1");
    ck_assert_uint_eq(rows[0].frames, 12);
    ck_assert_uint_eq(rows[0].resolved, 12);
    ck_assert_int_eq(read_symbolication(s->reader, NULL, "version", 10, &s->arena, &rows, &n, &err),
                     ERR_OK);
    ck_assert_uint_eq(n, 2);
    ck_assert_str_eq(rows[0].key, SUITE_APP " 1.0");
    ck_assert_uint_eq(rows[0].frames, 16);
    ck_assert_int_eq(read_symbolication(s->reader, NULL, "app", 10, &s->arena, &rows, &n, &err),
                     ERR_OK);
    ck_assert_uint_eq(rows[0].frames, 24);
    ck_assert_int_eq(read_symbolication(s->reader, NULL, "moon", 10, &s->arena, &rows, &n, &err),
                     ERR_INVALID);
}
