/* Reports by the hour: they add up to days, follow their stacks, and go after a while. */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "storage/read_hours.h"
#include "tests/conformance/suite.h"

#define HOUR_0 (SUITE_DAY0 * HOURS_A_DAY)

static const uint32_t all_images[] = {1, 2, 3, 4};

static struct hour_row *hours(struct suite *s, uint64_t cluster, const struct read_filter *f,
                              int64_t begin, size_t count)
{
    struct error err = {0};
    struct hour_row *rows = NULL;
    int64_t known = 0;
    enum err rc = read_hours(s->reader, cluster, f, begin, count, &s->arena, &rows, &known, &err);
    ck_assert_msg(rc == ERR_OK, "%s", err.text);
    for (size_t i = 0; i < count; i++)
        ck_assert_int_eq(rows[i].hour, begin + (int64_t)i);
    return rows;
}

static struct cluster_row largest(struct suite *s)
{
    struct error err = {0};
    struct cluster_row *rows = NULL;
    const char *next = NULL;
    size_t count = 0;
    ck_assert_int_eq(
        read_clusters(s->reader, NULL, SORT_COUNT, 1, NULL, &s->arena, &rows, &count, &next, &err),
        ERR_OK);
    ck_assert_uint_eq(count, 1);
    return rows[0];
}

static void post(struct suite *s, const char *id, uint32_t stack, int64_t time_ms, double weight,
                 const char *build)
{
    const struct suite_report r = {.id = id,
                                   .stack = stack,
                                   .time_ms = time_ms,
                                   .received_ms = SUITE_NOW + 20 * CLOCK_DAY_MS,
                                   .duration_ms = 700,
                                   .weight = weight,
                                   .build = build};
    suite_apply(s, suite_batch(SUITE_APP, &r, 1));
}

void suite_hours_add_up(struct suite *s)
{
    struct read_filter f;
    struct error err = {0};
    struct hour_row *h;
    int64_t known = 0;
    const int64_t midnight = SUITE_DAY0 * CLOCK_DAY_MS;
    suite_index(s, all_images, 4, 1);
    post(s, "a", 0, midnight, 1, "100"); /* the first millisecond of an hour, and the last */
    post(s, "b", 0, midnight + HOUR_MS - 1, 4, "100");
    post(s, "c", 0, midnight + HOUR_MS, 1, "101");
    post(s, "d", 1, midnight + 5 * HOUR_MS + 17, 2.5, "100");
    post(s, "e", 0, midnight + CLOCK_DAY_MS - 1, 1, "100");
    post(s, "f", 8, midnight + CLOCK_DAY_MS, 1, "100"); /* another cluster */
    post(s, "g", SUITE_NO_STACK, midnight + 5 * HOUR_MS, 1, "100");
    suite_resolve(s);
    if (strcmp(s->backend, "sqlite") == 0)
        suite_reopen(s);

    h = hours(s, 0, NULL, HOUR_0, 25);
    ck_assert_uint_eq(h[0].count, 2);
    ck_assert_double_eq(h[0].weighted, 5);
    ck_assert_uint_eq(h[0].stall_ms, 1400);
    ck_assert_uint_eq(h[1].count, 1);
    ck_assert_uint_eq(h[2].count, 0);
    ck_assert_uint_eq(h[5].count, 2);
    ck_assert_uint_eq(h[23].count, 1);
    ck_assert_uint_eq(h[24].count, 1);

    struct cluster_row c = largest(s);
    ck_assert_uint_eq(c.figures.count, 5);
    h = hours(s, c.id, NULL, HOUR_0 + 1, 24);
    ck_assert_uint_eq(h[0].count, 1);
    ck_assert_uint_eq(h[4].count, 1);
    ck_assert_double_eq(h[4].weighted, 2.5);
    ck_assert_uint_eq(h[22].count, 1);
    ck_assert_uint_eq(h[23].count, 0);

    read_filter_init(&f);
    f.bundle_id = SUITE_APP;
    f.build = "101";
    h = hours(s, c.id, &f, HOUR_0, 3);
    ck_assert_uint_eq(h[0].count + h[2].count, 0);
    ck_assert_uint_eq(h[1].count, 1);
    f.build = NULL;
    f.kind = REPORT_HANG;
    ck_assert_uint_eq(hours(s, c.id, &f, HOUR_0, 3)[0].count, 0);

    f.device = "iPhone14,7"; /* hours know nothing of devices */
    ck_assert_int_eq(read_hours(s->reader, 0, &f, HOUR_0, 3, &s->arena, &h, &known, &err),
                     ERR_INVALID);
    ck_assert_int_eq(
        read_hours(s->reader, 0, NULL, HOUR_0, READ_HOURS_MAX + 1, &s->arena, &h, &known, &err),
        ERR_INVALID);
    ck_assert_int_eq(read_hours(s->reader, 0, NULL, HOUR_0, 0, &s->arena, &h, &known, &err),
                     ERR_INVALID);
    ck_assert_int_eq(read_hours(s->reader, 99, NULL, HOUR_0, 3, &s->arena, &h, &known, &err),
                     ERR_NOT_FOUND);
}

/* Provisional clusters become one: the hours go where the stacks go. */
void suite_hours_follow_their_stacks(struct suite *s)
{
    const int64_t noon = SUITE_DAY0 * CLOCK_DAY_MS + 12 * HOUR_MS;
    post(s, "a", 0, noon, 1, "100");
    post(s, "b", 0, noon + HOUR_MS, 1, "100");
    post(s, "c", 1, noon, 1, "100");
    suite_resolve(s);
    ck_assert_uint_eq(suite_cluster_count(s), 2);
    const uint64_t before = 1;
    ck_assert_uint_eq(hours(s, before, NULL, HOUR_0 + 12, 2)[0].count, 1);
    ck_assert_uint_eq(hours(s, 2, NULL, HOUR_0 + 12, 2)[0].count, 1);
    suite_index(s, all_images, 4, 1);
    suite_resolve(s);
    ck_assert_uint_eq(suite_cluster_count(s), 1);
    uint64_t after = suite_cluster(s, NULL).id;
    struct hour_row *h = hours(s, after, NULL, HOUR_0 + 12, 2);
    ck_assert_uint_eq(h[0].count, 2);
    ck_assert_uint_eq(h[1].count, 1);
    /* By the id it had. */
    ck_assert_uint_eq(hours(s, before, NULL, HOUR_0 + 12, 2)[0].count, 2);

    /* Folded into the heaviest stack when the reports are gone. */
    struct write_op *op = write_op_new(WRITE_EXPIRE, 4096);
    op->u.expire = (struct op_expire){.now_ms = SUITE_NOW + 90 * CLOCK_DAY_MS,
                                      .reports_before_ms = SUITE_NOW + 90 * CLOCK_DAY_MS,
                                      .max_rows = 1000};
    suite_apply(s, op);
    h = hours(s, after, NULL, HOUR_0 + 12, 2);
    ck_assert_uint_eq(h[0].count, 2);
    ck_assert_uint_eq(h[1].count, 1);
}

void suite_hours_expire(struct suite *s)
{
    struct error err = {0};
    struct hour_row *h;
    int64_t known = 0;
    const int64_t noon = SUITE_DAY0 * CLOCK_DAY_MS + 12 * HOUR_MS;
    for (uint32_t i = 0; i < 4; i++) {
        char id[8];
        snprintf(id, sizeof(id), "a%u", i);
        post(s, id, i * 8, noon, 1, "100");
        snprintf(id, sizeof(id), "b%u", i);
        post(s, id, i * 8, noon + CLOCK_DAY_MS, 1, "100");
    }
    uint64_t after = 0;
    for (bool more = true; more;) {
        struct write_op *op = write_op_new(WRITE_HOURS_EXPIRE, 4096);
        op->u.hours_expire = (struct op_hours_expire){
            .before_day = SUITE_DAY0 + 1, .max_stacks = 2, .after_id = after};
        suite_apply_keep(s, op);
        ck_assert(!op->u.hours_expire.more || op->u.hours_expire.after_id > after);
        more = op->u.hours_expire.more;
        after = op->u.hours_expire.after_id;
        write_op_free(op);
    }
    /* What comes late for a day whose hours are gone has none either. */
    post(s, "late", 0, noon, 1, "100");
    ck_assert_int_eq(read_hours(s->reader, 0, NULL, HOUR_0, 48, &s->arena, &h, &known, &err),
                     ERR_OK);
    ck_assert_int_eq(known, HOUR_0 + 24);
    ck_assert_uint_eq(h[12].count, 0);
    ck_assert_uint_eq(h[36].count, 4);
    struct breakdown_row *days;
    struct breakdown_scope scope;
    size_t n = 0;
    ck_assert_int_eq(
        read_breakdown(s->reader, 0, NULL, BY_DAY, BY_NONE, 10, &s->arena, &days, &n, &scope, &err),
        ERR_OK);
    ck_assert_uint_eq(n, 2);
    ck_assert_uint_eq(days[0].figures.count, 5); /* days stay */
}
