/* What happens to reports: counting, duplicates, raw rows, caps. */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "storage/read_quota.h"
#include "tests/conformance/suite.h"

#define DAY ((int64_t)86400000)

static const struct op_report *report_of(const struct write_op *op, size_t i)
{
    return &op->u.batches.items[0].reports[i];
}

static uint64_t reports_counted(struct suite *s)
{
    struct error err;
    struct stats_row stats;
    ck_assert_int_eq(read_stats(s->reader, NULL, &stats, &err), ERR_OK);
    return stats.reports;
}

void suite_batch_counts_and_duplicates(struct suite *s)
{
    const struct suite_report reports[] = {
        {.id = "a", .stack = 0}, {.id = "b", .stack = 1}, {.id = "a", .stack = 0}};
    struct write_op *op = suite_batch(SUITE_APP, reports, 3);
    suite_apply_keep(s, op);
    ck_assert(!report_of(op, 0)->duplicate);
    ck_assert(!report_of(op, 1)->duplicate);
    ck_assert(report_of(op, 2)->duplicate);
    ck_assert_uint_ne(op->u.batches.items[0].stacks[0].added_id, 0);
    ck_assert_uint_ne(op->u.batches.items[0].stacks[1].added_id, 0);
    ck_assert_uint_eq(reports_counted(s), 2);

    /* The same op again, as a client that got no answer sends it. */
    suite_apply_keep(s, op);
    for (size_t i = 0; i < 3; i++)
        ck_assert(report_of(op, i)->duplicate);
    ck_assert_uint_eq(op->u.batches.items[0].stacks[0].added_id, 0);
    ck_assert_uint_eq(reports_counted(s), 2);
    write_op_free(op);

    /* Another app's report of the same id is another report. */
    op = suite_batch("com.example.other", reports, 1);
    suite_apply_keep(s, op);
    ck_assert(!report_of(op, 0)->duplicate);
    write_op_free(op);
    ck_assert_uint_eq(reports_counted(s), 3);
    ck_assert_uint_eq(suite_pending(s), 3);
}

void suite_batch_retry_window(struct suite *s)
{
    static const struct {
        int64_t days;
        bool duplicate;
    } retries[] = {{0, true},  {1, true},    {3, true},  {-1, true},
                   {40, true}, {-365, true}, {365, true}}; /* the clock may be wrong */
    struct suite_report r = {.id = "a", .stack = 0, .received_ms = SUITE_NOW};
    suite_apply(s, suite_batch(SUITE_APP, &r, 1));
    for (size_t i = 0; i < sizeof(retries) / sizeof(retries[0]); i++) {
        r.received_ms = SUITE_NOW + retries[i].days * DAY;
        struct write_op *op = suite_batch(SUITE_APP, &r, 1);
        suite_apply_keep(s, op);
        ck_assert_msg(report_of(op, 0)->duplicate == retries[i].duplicate, "%d days later",
                      (int)retries[i].days);
        write_op_free(op);
    }
    /* Other days come and go meanwhile. */
    struct suite_report other = {.id = "b", .stack = 0, .received_ms = SUITE_NOW + 365 * DAY};
    suite_apply(s, suite_batch(SUITE_APP, &other, 1));
    other.received_ms = SUITE_NOW - 365 * DAY;
    struct write_op *op = suite_batch(SUITE_APP, &other, 1);
    suite_apply_keep(s, op);
    ck_assert(report_of(op, 0)->duplicate);
    write_op_free(op);
    /* It is forgotten by retention, not before. */
    op = write_op_new(WRITE_EXPIRE, 65536);
    op->u.expire = (struct op_expire){.now_ms = SUITE_NOW + 5 * DAY,
                                      .reports_before_ms = SUITE_NOW + 2 * DAY,
                                      .report_ids_before_ms = SUITE_NOW + 2 * DAY,
                                      .max_rows = 100};
    suite_apply(s, op);
    op = suite_batch(SUITE_APP, &r, 1);
    suite_apply_keep(s, op);
    ck_assert(!report_of(op, 0)->duplicate);
    write_op_free(op);
}

void suite_batch_that_fails_burns_no_id(struct suite *s)
{
    const struct suite_report reports[] = {{.id = "a", .stack = 0}, {.id = "b", .stack = 1}};
    struct error err = {0};
    struct write_op *op = suite_batch(SUITE_APP, reports, 2);
    struct write_op *good = suite_batch(SUITE_APP, reports, 1);
    op->u.batches.items[0].reports[1].stack = 77; /* there is no such stack in the batch */
    ck_assert_int_eq(storage_begin(s->storage, &err), ERR_OK);
    ck_assert_int_eq(storage_apply(s->storage, op, &err), ERR_INVALID);
    ck_assert_ptr_nonnull(strstr(err.text, "77"));
    ck_assert_int_eq(storage_apply(s->storage, good, &err), ERR_OK);
    ck_assert_int_eq(storage_commit(s->storage, &err), ERR_OK);
    ck_assert(!report_of(good, 0)->duplicate);
    ck_assert_uint_eq(reports_counted(s), 1);
    ck_assert_uint_eq(suite_pending(s), 1);

    op->u.batches.items[0].reports[1].stack = 1;
    suite_apply_keep(s, op);
    ck_assert(report_of(op, 0)->duplicate);
    ck_assert(!report_of(op, 1)->duplicate);
    write_op_free(op);
    write_op_free(good);
}

void suite_changed_duplicate_leaves_no_trace(struct suite *s)
{
    struct error err;
    struct report_row r;
    struct suite_report report = {.id = "a", .stack = 0, .version = "1.0", .build = "1"};
    suite_apply(s, suite_batch(SUITE_APP, &report, 1));
    report.stack = 3;
    report.version = "9.9";
    report.duration_ms = 77777;
    struct write_op *op = suite_batch(SUITE_APP, &report, 1);
    suite_apply_keep(s, op);
    ck_assert(report_of(op, 0)->duplicate);
    ck_assert_uint_eq(op->u.batches.items[0].stacks[0].added_id, 0);
    write_op_free(op);
    ck_assert_int_eq(read_report(s->reader, SUITE_APP, "a", &s->arena, &r, &err), ERR_OK);
    ck_assert_str_eq(r.version, "1.0");
    ck_assert_int_eq(r.duration_ms, 1000);
    ck_assert_uint_eq(suite_pending(s), 1);
}

void suite_reports_without_a_stack(struct suite *s)
{
    const struct suite_report reports[] = {
        {.id = "a", .stack = SUITE_NO_STACK, .duration_ms = 900},
        {.id = "b", .stack = SUITE_NO_STACK, .kind = REPORT_FRAME_DROP, .duration_ms = -1},
        {.id = "c", .stack = 0, .duration_ms = 1100}};
    struct error err;
    struct breakdown_row *rows;
    struct breakdown_scope scope;
    struct report_row r;
    size_t count;
    suite_apply(s, suite_batch(SUITE_APP, reports, 3));
    suite_resolve(s);
    ck_assert_uint_eq(suite_cluster(s, NULL).figures.count, 1);
    ck_assert_int_eq(read_breakdown(s->reader, 0, NULL, BY_VERSION, BY_NONE, 10, &s->arena, &rows,
                                    &count, &scope, &err),
                     ERR_OK);
    ck_assert_uint_eq(count, 1);
    ck_assert_uint_eq(rows[0].figures.count, 3);
    ck_assert_uint_eq(rows[0].figures.stall_ms, 2000);
    ck_assert_str_eq(scope.source, "counters");
    ck_assert_int_eq(read_report(s->reader, NULL, "a", &s->arena, &r, &err), ERR_OK);
    ck_assert_str_eq(r.stack_skipped, "cpu_high");
    ck_assert(!r.has_stack);
    ck_assert_uint_eq(r.cluster_id, 0);
    ck_assert_int_eq(read_report(s->reader, NULL, "b", &s->arena, &r, &err), ERR_OK);
    ck_assert_int_eq(r.duration_ms, -1);
    ck_assert_int_eq(r.kind, REPORT_FRAME_DROP);
}

static void check_samples(const struct report_row *r)
{
    ck_assert_uint_eq(r->sample_count, 3);
    ck_assert_int_eq(r->samples[0].offset_ms, -50);
    ck_assert_int_eq(r->samples[0].cpu_usage, -1);
    ck_assert_ptr_null(r->samples[0].thread_state);
    ck_assert_int_eq(r->samples[1].cpu_usage, 97);
    ck_assert_str_eq(r->samples[1].thread_state, "running");
    ck_assert_uint_eq(r->samples[2].repeat_count, 3);
    ck_assert_uint_eq(r->samples[1].stack.raw.frames[0].offset, 0x1000 + 4 * (5 + 2));
    ck_assert_uint_eq(r->samples[1].addresses[0], 0x100001000u + 4 * (5 + 2));
    ck_assert_uint_eq(r->thread_count, 2);
    ck_assert_str_eq(r->threads[0].name, "main");
    ck_assert(r->threads[0].stalled && r->threads[0].has_stack);
    ck_assert_str_eq(r->threads[0].waits_kind, "mutex");
    ck_assert_uint_eq(r->threads[0].waits_address, 0xffffffff00002818u);
    ck_assert_int_eq(r->threads[0].owner_tid, 701);
    ck_assert_ptr_null(r->threads[1].name);
    ck_assert(!r->threads[1].has_stack);
    ck_assert_int_eq(r->threads[1].owner_tid, -1);
}

void suite_report_comes_back_whole(struct suite *s)
{
    static const char *const ids[] = {"6b1f6b5e-0001-4a2b-9c3d-0123456789ab",
                                      "6B1F6B5E-0001-4A2B-9C3D-0123456789AB",
                                      "6b1f6b5e00014a2b9c3d0123456789ab", "x", ""};
    struct error err;
    struct report_row r;
    for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++) {
        const struct suite_report report = {.id = ids[i],
                                            .stack = 5,
                                            .kind = REPORT_HANG,
                                            .received_ms = SUITE_NOW + 5000,
                                            .duration_ms = 8123,
                                            .weight = 5,
                                            .samples = 3,
                                            .threads = 2,
                                            .rich = true};
        suite_apply(s, suite_batch(SUITE_APP, &report, 1));
        ck_assert_int_eq(read_report(s->reader, NULL, ids[i], &s->arena, &r, &err), ERR_OK);
        ck_assert_str_eq(r.id, ids[i]);
        ck_assert_str_eq(r.bundle_id, SUITE_APP);
        ck_assert_int_eq(r.kind, REPORT_HANG);
        ck_assert_int_eq(r.time_ms, SUITE_NOW);
        ck_assert_int_eq(r.received_ms, SUITE_NOW + 5000);
        ck_assert_int_eq(r.device_time_ms, SUITE_NOW - 77);
        ck_assert(r.clock_skew);
        ck_assert_int_eq(r.duration_ms, 8123);
        ck_assert(r.weight == 5.0);
        ck_assert_str_eq(r.threshold_type, "runloop_800");
        ck_assert_str_eq(r.version, "1.0");
        ck_assert_str_eq(r.build, "100");
        ck_assert_str_eq(r.device, "iPhone14,7");
        ck_assert_str_eq(r.arch, "arm64e");
        ck_assert_str_eq(r.os_version, "17.1");
        ck_assert_str_eq(r.os_build, "21B74");
        ck_assert_str_eq(r.page, "Home");
        ck_assert_str_eq(r.path, "Home->Detail");
        ck_assert_str_eq(r.tags, "{\"experiment\":\"b\"}");
        ck_assert_ptr_null(r.stack_skipped);
        ck_assert_int_eq(r.cpu_usage, 78);
        ck_assert_int_eq(r.memory_usage, 345);
        ck_assert_uint_eq(r.frame_gap_count, 3);
        ck_assert_int_eq(r.frame_gaps_ms[1], -1);
        ck_assert_int_eq(r.frame_gaps_ms[2], 2000000000);
        ck_assert(r.has_stack);
        ck_assert_uint_eq(r.stack.raw.count, 2);
        ck_assert_str_eq(r.stack.raw.frames[1].symbol, "mach_msg");
        ck_assert_uint_eq(r.stack.resolved.count, 0);
        ck_assert(r.stack.pending);
        check_samples(&r);
    }
    const struct suite_report plain[] = {{.id = "told", .stack = 6}, {.id = "silent", .stack = 7}};
    suite_apply(s, suite_batch(SUITE_APP, plain, 2));
    ck_assert_int_eq(read_report(s->reader, NULL, "told", &s->arena, &r, &err), ERR_OK);
    ck_assert_int_eq(r.device_time_ms, SUITE_NOW);
    ck_assert_int_eq(read_report(s->reader, NULL, "silent", &s->arena, &r, &err), ERR_OK);
    ck_assert_int_eq(r.device_time_ms, INT64_MIN);
    ck_assert_int_eq(read_report(s->reader, NULL, "nobody", &s->arena, &r, &err), ERR_NOT_FOUND);
    ck_assert_int_eq(read_report(s->reader, "other", "x", &s->arena, &r, &err), ERR_NOT_FOUND);
}

/* B60: SQLite's integers are signed, addresses are not. */
void suite_huge_addresses_survive(struct suite *s)
{
    const struct suite_report report = {.id = "a", .stack = 6, .threads = 1};
    struct error err;
    struct report_row r;
    struct layout_claim_row *rows;
    size_t count;
    struct write_op *op = suite_batch(SUITE_APP, &report, 1);
    static const uint64_t places[] = {0xfffffff800000000u, 0x7fffffff00000000u, 0x1000};
    for (uint32_t i = 0; i < 3; i++) {
        struct op_image *image = suite_image(op, 50 + i, IMAGE_UUID);
        image->has_vmaddr = true;
        image->vmaddr = places[i];
    }
    suite_apply(s, op);
    ck_assert_int_eq(read_report(s->reader, NULL, "a", &s->arena, &r, &err), ERR_OK);
    ck_assert_uint_eq(r.stack.raw.count, 3);
    ck_assert_uint_eq(r.addresses[2], 0xfffffff000000006u);
    ck_assert_uint_eq(r.threads[0].waits_address, 0xffffffff00002818u);
    ck_assert_int_eq(read_layout_claims(s->reader, 10, &s->arena, &rows, &count, &err), ERR_OK);
    ck_assert_uint_eq(count, 3);
    for (size_t i = 0; i < count; i++)
        ck_assert_uint_eq(rows[i].vmaddr, places[2 - i]);
}

void suite_daily_values_are_capped(struct suite *s)
{
    struct error err;
    struct breakdown_row *rows;
    struct breakdown_scope scope;
    size_t count;
    char id[32], page[16];
    suite_cap_values(s, 3);
    for (int day = 0; day < 2; day++) {
        for (int i = 0; i < 6; i++) {
            snprintf(id, sizeof(id), "%d.%d", day, i);
            snprintf(page, sizeof(page), "P%d", i);
            const struct suite_report r = {
                .id = id, .stack = 0, .page = page, .received_ms = SUITE_NOW + day * DAY};
            suite_apply(s, suite_batch(SUITE_APP, &r, 1));
        }
    }
    ck_assert_int_eq(read_breakdown(s->reader, 0, NULL, BY_PAGE, BY_NONE, 10, &s->arena, &rows,
                                    &count, &scope, &err),
                     ERR_OK);
    /* P0 to P2 on the first day, P3 to P5 on the second; before that they were others. */
    ck_assert_uint_eq(count, 7);
    ck_assert_str_eq(rows[0].value, "(other)");
    ck_assert_uint_eq(rows[0].figures.count, 3);
    ck_assert_str_eq(rows[1].value, "P0");
    ck_assert_uint_eq(rows[1].figures.count, 2);
    ck_assert_str_eq(rows[6].value, "P5");
    ck_assert_uint_eq(rows[6].figures.count, 1);
}

static uint64_t reports_by(struct suite *s, enum breakdown_by by, const char *value)
{
    struct error err;
    struct breakdown_row *rows;
    struct breakdown_scope scope;
    size_t count;
    ck_assert_int_eq(read_breakdown(s->reader, 0, NULL, by, BY_NONE, 100, &s->arena, &rows, &count,
                                    &scope, &err),
                     ERR_OK);
    for (size_t i = 0; i < count; i++) {
        if (strcmp(rows[i].value, value) == 0)
            return rows[i].figures.count;
    }
    return 0;
}

/* 900 pairs of 30 values each, where 600 may be new: what is above keeps OS and version. */
void suite_report_pairs_are_capped(struct suite *s)
{
    enum { VALUES = 30, PAIRS = VALUES * VALUES };
    static char ids[PAIRS][16], one[VALUES][16], other[VALUES][16];
    static struct suite_report reports[PAIRS];
    suite_cap_values(s, VALUES);
    for (int i = 0; i < VALUES; i++) {
        snprintf(one[i], sizeof(one[i]), "a%d", i);
        snprintf(other[i], sizeof(other[i]), "b%d", i);
    }
    for (int day = 0; day < 2; day++) {
        struct error err;
        struct new_stacks_row told;
        for (int i = 0; i < PAIRS; i++) {
            snprintf(ids[i], sizeof(ids[i]), "%d.%d", day, i);
            reports[i] = (struct suite_report){.id = ids[i],
                                               .stack = SUITE_NO_STACK,
                                               .received_ms = SUITE_NOW + day * DAY,
                                               .device = one[i % VALUES],
                                               .os = other[i / VALUES],
                                               .page = one[i % VALUES],
                                               .version = other[i / VALUES]};
        }
        suite_apply(s, suite_batch(SUITE_APP, reports, PAIRS));
        ck_assert_uint_eq(reports_by(s, BY_DEVICE, "(other)"), 300);
        ck_assert_uint_eq(reports_by(s, BY_PAGE, "(other)"), 300);
        ck_assert_uint_eq(reports_by(s, BY_DEVICE, "a1"), day ? 50 : 20);
        ck_assert_uint_eq(reports_by(s, BY_OS_VERSION, "b29"), (uint64_t)(day + 1) * VALUES);
        ck_assert_uint_eq(reports_by(s, BY_VERSION, "b29"), (uint64_t)(day + 1) * VALUES);
        ck_assert_int_eq(
            read_new_stacks(s->reader, SUITE_APP, (int32_t)SUITE_DAY0 + day, &told, &err), ERR_OK);
        ck_assert_uint_eq(told.pairs_dropped, day ? 0 : 300);
    }
    struct error err;
    struct report_row last;
    ck_assert_int_eq(read_report(s->reader, NULL, "0.899", &s->arena, &last, &err), ERR_OK);
    ck_assert_str_eq(last.device, "(other)");
    ck_assert_str_eq(last.arch, ""); /* it is the device's */
}

static void cap_stacks(struct suite *s, uint32_t cap)
{
    s->options.daily_stacks = cap;
    suite_reopen(s);
}

static void check_new_stacks(struct suite *s, const char *bundle_id, int day, uint64_t added,
                             uint64_t dropped)
{
    struct error err;
    struct new_stacks_row row;
    ck_assert_int_eq(read_new_stacks(s->reader, bundle_id, (int32_t)SUITE_DAY0 + day, &row, &err),
                     ERR_OK);
    ck_assert_uint_eq(row.added, added);
    ck_assert_uint_eq(row.dropped, dropped);
}

/* Sends one report; whether it lost a stack. */
static bool send_stack(struct suite *s, const char *bundle_id, const struct suite_report *r)
{
    struct write_op *op = suite_batch(bundle_id, r, 1);
    suite_apply_keep(s, op);
    bool dropped = op->u.batches.items[0].reports[0].stacks_dropped;
    write_op_free(op);
    return dropped;
}

static struct report_row row_of(struct suite *s, const char *id)
{
    struct error err;
    struct report_row r;
    ck_assert_int_eq(read_report(s->reader, SUITE_APP, id, &s->arena, &r, &err), ERR_OK);
    return r;
}

void suite_daily_stacks_are_capped(struct suite *s)
{
    struct error err;
    struct stats_row stats;
    const struct suite_report first[] = {
        {.id = "a", .stack = 0}, {.id = "b", .stack = 1}, {.id = "c", .stack = 0}};
    const struct suite_report second[] = {
        {.id = "d", .stack = 2}, {.id = "e", .stack = 3}, {.id = "f", .stack = 0}};
    cap_stacks(s, 3);
    suite_apply(s, suite_batch(SUITE_APP, first, 3));
    check_new_stacks(s, SUITE_APP, 0, 2, 0);

    /* Batches of one group share the day. */
    struct write_op *x = suite_batch(SUITE_APP, second, 3);
    const struct suite_report third = {.id = "g", .stack = 4};
    struct write_op *y = suite_batch(SUITE_APP, &third, 1);
    ck_assert_int_eq(storage_begin(s->storage, &err), ERR_OK);
    ck_assert_int_eq(storage_apply(s->storage, x, &err), ERR_OK);
    ck_assert_int_eq(storage_apply(s->storage, y, &err), ERR_OK);
    ck_assert_int_eq(storage_commit(s->storage, &err), ERR_OK);
    ck_assert(!x->u.batches.items[0].reports[0].stacks_dropped);
    ck_assert(x->u.batches.items[0].reports[1].stacks_dropped);
    ck_assert(!x->u.batches.items[0].reports[2].stacks_dropped);
    ck_assert(y->u.batches.items[0].reports[0].stacks_dropped);
    write_op_free(x);
    write_op_free(y);
    check_new_stacks(s, SUITE_APP, 0, 3, 2);
    ck_assert_str_eq(row_of(s, "e").stack_skipped, "daily_stacks");
    ck_assert_uint_eq(row_of(s, "e").stack.raw.count, 0);
    ck_assert_ptr_null(row_of(s, "f").stack_skipped);
    ck_assert_uint_eq(row_of(s, "f").stack.stack_id, row_of(s, "a").stack.stack_id);

    /* Nor does a restart give it back; a retry counts nothing; another app has its own. */
    if (strcmp(s->backend, "sqlite") == 0)
        suite_reopen(s);
    ck_assert(send_stack(s, SUITE_APP, &(struct suite_report){.id = "h", .stack = 5}));
    ck_assert(!send_stack(s, SUITE_APP, &(struct suite_report){.id = "h", .stack = 5}));
    ck_assert(!send_stack(s, SUITE_APP, &(struct suite_report){.id = "i", .stack = 2}));
    ck_assert(!send_stack(s, "com.example.other", &(struct suite_report){.id = "h", .stack = 5}));
    check_new_stacks(s, SUITE_APP, 0, 3, 3);
    check_new_stacks(s, "com.example.other", 0, 1, 0);
    check_new_stacks(s, NULL, 0, 4, 3);
    check_new_stacks(s, "com.example.none", 0, 0, 0);
    ck_assert_int_eq(read_stats(s->reader, SUITE_APP, &stats, &err), ERR_OK);
    ck_assert_uint_eq(stats.reports, 9);
    ck_assert_uint_eq(suite_stack_count(s, SUITE_APP), 3);

    /* The next day has three more. */
    ck_assert(
        !send_stack(s, SUITE_APP,
                    &(struct suite_report){.id = "j", .stack = 5, .received_ms = SUITE_NOW + DAY}));
    check_new_stacks(s, SUITE_APP, 0, 3, 3);
    check_new_stacks(s, SUITE_APP, 1, 1, 0);
    ck_assert_uint_gt(row_of(s, "j").stack.raw.count, 0);
}

void suite_daily_stacks_of_samples_and_threads(struct suite *s)
{
    /* A report's stack r, samples r + 1, r + 2, …, the first thread r + 100. */
    cap_stacks(s, 3);
    ck_assert(
        !send_stack(s, SUITE_APP, &(struct suite_report){.id = "a", .stack = 0, .samples = 1}));
    check_new_stacks(s, SUITE_APP, 0, 2, 0);

    /* One more may come, two would have to: the samples go, the stack stays. */
    ck_assert(
        send_stack(s, SUITE_APP, &(struct suite_report){.id = "b", .stack = 1, .samples = 2}));
    check_new_stacks(s, SUITE_APP, 0, 2, 1);
    ck_assert_uint_eq(row_of(s, "b").sample_count, 0);
    ck_assert_uint_gt(row_of(s, "b").stack.raw.count, 0);
    ck_assert_ptr_null(row_of(s, "b").stack_skipped);

    /* A thread takes the last one. */
    ck_assert(
        !send_stack(s, SUITE_APP, &(struct suite_report){.id = "c", .stack = 1, .threads = 1}));
    check_new_stacks(s, SUITE_APP, 0, 3, 1);
    ck_assert(
        send_stack(s, SUITE_APP, &(struct suite_report){.id = "d", .stack = 0, .threads = 2}));
    struct report_row d = row_of(s, "d");
    ck_assert_uint_eq(d.thread_count, 2);
    ck_assert_uint_eq(d.threads[0].stack.raw.count, 0);
    ck_assert_uint_gt(d.stack.raw.count, 0);
    ck_assert(
        !send_stack(s, SUITE_APP, &(struct suite_report){.id = "e", .stack = 1, .threads = 2}));
    ck_assert_uint_gt(row_of(s, "e").threads[0].stack.raw.count, 0);

    /* All of it above the cap. */
    ck_assert(send_stack(
        s, SUITE_APP, &(struct suite_report){.id = "f", .stack = 7, .samples = 2, .threads = 1}));
    struct report_row f = row_of(s, "f");
    ck_assert_str_eq(f.stack_skipped, "daily_stacks");
    ck_assert_uint_eq(f.sample_count, 0);
    ck_assert_uint_eq(f.thread_count, 1);
    check_new_stacks(s, SUITE_APP, 0, 3, 3);
}

void suite_image_sets_are_remembered(struct suite *s)
{
    struct error err;
    const void *data = NULL;
    size_t len = 0;
    struct suite_report r = {.id = "a", .stack = 0};
    struct write_op *op = suite_batch(SUITE_APP, &r, 1);
    op->u.batches.items[0].image_set = "set-1";
    op->u.batches.items[0].image_set_data = "abc\0def";
    op->u.batches.items[0].image_set_len = 7;
    ck_assert_int_eq(read_image_set(s->reader, SUITE_APP, "set-1", &s->arena, &data, &len, &err),
                     ERR_NOT_FOUND);
    suite_apply(s, op);
    ck_assert_int_eq(read_image_set(s->reader, SUITE_APP, "set-1", &s->arena, &data, &len, &err),
                     ERR_OK);
    ck_assert_uint_eq(len, 7);
    ck_assert_mem_eq(data, "abc\0def", 7);
    ck_assert_int_eq(read_image_set(s->reader, "other", "set-1", &s->arena, &data, &len, &err),
                     ERR_NOT_FOUND);

    /* Used again without data, two days later: it lives on past its first day. */
    r = (struct suite_report){.id = "b", .stack = 0, .received_ms = SUITE_NOW + 2 * DAY};
    op = suite_batch(SUITE_APP, &r, 1);
    op->u.batches.items[0].image_set = "set-1";
    suite_apply(s, op);
    for (int i = 0; i < 2; i++) {
        op = write_op_new(WRITE_EXPIRE, 4096);
        op->u.expire = (struct op_expire){.now_ms = SUITE_NOW + 2 * DAY,
                                          .reports_before_ms = 0,
                                          .report_ids_before_ms = 0,
                                          .image_sets_before_ms = SUITE_NOW + (i ? 3 : 1) * DAY,
                                          .max_rows = 100};
        suite_apply(s, op);
        ck_assert_int_eq(
            read_image_set(s->reader, SUITE_APP, "set-1", &s->arena, &data, &len, &err),
            i ? ERR_NOT_FOUND : ERR_OK);
    }
}

/* Texts: one list is a longer one's beginning. */
static enum image_set_standing by_beginning(const void *stored, size_t stored_len, const void *sent,
                                            size_t sent_len, struct arena *arena)
{
    (void)arena;
    if (memcmp(stored, sent, stored_len < sent_len ? stored_len : sent_len) != 0)
        return IMAGE_SET_OTHER;
    return sent_len > stored_len ? IMAGE_SET_GROWN : IMAGE_SET_HELD;
}

static void define_set(struct suite *s, const char *name, const char *images, int day)
{
    static int number;
    char id[32];
    snprintf(id, sizeof(id), "set-%d", number++);
    struct suite_report r = {.id = id, .received_ms = SUITE_NOW + day * DAY};
    struct write_op *op = suite_batch(SUITE_APP, &r, 1);
    struct op_batch *b = &op->u.batches.items[0];
    b->image_set = name;
    b->image_set_data = images;
    b->image_set_len = strlen(images);
    b->image_set_compare = by_beginning;
    suite_apply(s, op);
}

static void check_set(struct suite *s, const char *name, const char *want)
{
    struct error err;
    const void *data = NULL;
    size_t len = 0;
    ck_assert_int_eq(read_image_set(s->reader, SUITE_APP, name, &s->arena, &data, &len, &err),
                     want ? ERR_OK : ERR_NOT_FOUND);
    if (want) {
        ck_assert_uint_eq(len, strlen(want));
        ck_assert_mem_eq(data, want, len);
    }
}

void suite_image_sets_of_two_devices(struct suite *s)
{
    define_set(s, "one", "ab", 0);
    define_set(s, "one", "abc", 0);
    define_set(s, "one", "a", 0);
    check_set(s, "one", "abc");

    define_set(s, "two", "ab", 0);
    define_set(s, "two", "xy", 0);
    check_set(s, "two", "");
    define_set(s, "two", "xy", 0);
    check_set(s, "two", "");
    define_set(s, "told", "ab", 0);
    define_set(s, "told", "", 0);
    check_set(s, "told", "");
    define_set(s, "new", "", 0);
    check_set(s, "new", "");
    if (strcmp(s->backend, "sqlite") == 0)
        suite_reopen(s);
    check_set(s, "one", "abc");
    check_set(s, "two", "");

    /* Whoever uses a name keeps its mark; unused, it goes as any other. */
    define_set(s, "two", "xy", 2);
    for (int i = 0; i < 2; i++) {
        struct write_op *op = write_op_new(WRITE_EXPIRE, 4096);
        op->u.expire = (struct op_expire){.now_ms = SUITE_NOW + 2 * DAY,
                                          .image_sets_before_ms = SUITE_NOW + (i ? 3 : 1) * DAY,
                                          .max_rows = 100};
        suite_apply(s, op);
        check_set(s, "two", i ? NULL : "");
        check_set(s, "told", NULL);
    }
    define_set(s, "two", "xy", 2);
    check_set(s, "two", "xy");
}

void suite_images_first_seen_wins(struct suite *s)
{
    struct error err;
    struct image_row row;
    const uint32_t file[] = {9};
    struct uuid u = suite_uuid(9);
    struct suite_report r = {.id = "a", .stack = 0};
    ck_assert_int_eq(read_image(s->reader, SUITE_APP, &u, &s->arena, &row, &err), ERR_NOT_FOUND);
    suite_index(s, file, 1, 1);
    /* A symbol file names an image that no report named. */
    ck_assert_int_eq(read_image(s->reader, SUITE_APP, &u, &s->arena, &row, &err), ERR_OK);
    ck_assert_str_eq(row.name, "File9");
    ck_assert_int_eq(row.class, IMAGE_CLASS_APP);

    struct write_op *op = suite_batch(SUITE_APP, &r, 1);
    struct op_image *image = suite_image(op, 9, IMAGE_UUID);
    image->name = "First";
    image->class = IMAGE_CLASS_UNKNOWN;
    image->arch = NULL;
    suite_apply(s, op);
    r.id = "b";
    op = suite_batch(SUITE_APP, &r, 1);
    image = suite_image(op, 9, IMAGE_UUID);
    image->name = "Second";
    image->class = IMAGE_CLASS_SYSTEM;
    suite_apply(s, op);
    ck_assert_int_eq(read_image(s->reader, SUITE_APP, &u, &s->arena, &row, &err), ERR_OK);
    ck_assert_str_eq(row.name, "First");
    ck_assert_ptr_null(row.arch);
    ck_assert_int_eq(row.class, IMAGE_CLASS_APP); /* because it was uploaded as one */
    ck_assert_int_eq(row.kind, IMAGE_UUID);
}

void suite_days_are_utc(struct suite *s)
{
    /* A millisecond before midnight UTC and midnight: two days, in any time zone of the host. */
    const struct suite_report reports[] = {
        {.id = "a", .stack = 0, .time_ms = (SUITE_DAY0 + 1) * DAY - 1},
        {.id = "b", .stack = 0, .time_ms = (SUITE_DAY0 + 1) * DAY}};
    struct error err;
    struct breakdown_row *rows;
    struct breakdown_scope scope;
    size_t count;
    suite_apply(s, suite_batch(SUITE_APP, reports, 2));
    ck_assert_int_eq(read_breakdown(s->reader, 0, NULL, BY_DAY, BY_NONE, 10, &s->arena, &rows,
                                    &count, &scope, &err),
                     ERR_OK);
    ck_assert_uint_eq(count, 2);
    ck_assert_str_eq(rows[0].value, "2026-01-01");
    ck_assert_str_eq(rows[1].value, "2026-01-02");
    suite_resolve(s);
    struct cluster_row c = suite_cluster(s, NULL);
    ck_assert_uint_eq(c.trend_count, 14);
    ck_assert_int_eq(c.trend[13].day, SUITE_DAY0 + 1);
    ck_assert_uint_eq(c.trend[13].count, 1);
    ck_assert_uint_eq(c.trend[12].count, 1);
    ck_assert_uint_eq(c.trend[11].count, 0);
    struct read_filter f;
    read_filter_init(&f);
    f.since_ms = (SUITE_DAY0 + 1) * DAY;
    ck_assert_int_eq(read_cluster(s->reader, c.id, &f, &s->arena, &c, &err), ERR_OK);
    ck_assert_uint_eq(c.figures.count, 1);
}
