/* Culprits and deadlocks: what moves with a report, and the queue it comes from. */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "storage/read_findings.h"
#include "tests/conformance/suite.h"

#define DAY ((int64_t)86400000)

static struct report_row report_of(struct suite *s, const char *id)
{
    struct error err;
    struct report_row r;
    ck_assert_int_eq(read_report(s->reader, SUITE_APP, id, &s->arena, &r, &err), ERR_OK);
    return r;
}

static uint64_t due(struct suite *s)
{
    struct error err;
    struct stats_row stats;
    ck_assert_int_eq(read_stats(s->reader, NULL, &stats, &err), ERR_OK);
    return stats.pending_findings;
}

static void send(struct suite *s, struct suite_report r)
{
    suite_apply(s, suite_batch(SUITE_APP, &r, 1));
}

static size_t breakdown_rows(struct suite *s, uint64_t cluster, enum breakdown_by by)
{
    struct error err;
    struct breakdown_row *rows;
    struct breakdown_scope scope;
    size_t n = 0;
    ck_assert_int_eq(read_breakdown(s->reader, cluster, NULL, by, BY_NONE, 50, &s->arena, &rows, &n,
                                    &scope, &err),
                     ERR_OK);
    return n;
}

/* Stacks 4 to 7 and 8 to 11: of functions f128() and f129() in images 1 to 4. Report "a" comes with
 * stack 4; its samples are of stacks 5, 6, 7, 8. */
void suite_finding_moves_the_counts(struct suite *s)
{
    static const uint32_t images[] = {1, 2, 3, 4};
    suite_index(s, images, 4, 1);
    send(s, (struct suite_report){.id = "other",
                                  .stack = 4,
                                  .time_ms = SUITE_NOW - DAY,
                                  .received_ms = SUITE_NOW,
                                  .version = "0.9",
                                  .duration_ms = 700});
    send(s, (struct suite_report){
                .id = "a", .stack = 4, .samples = 4, .duration_ms = 3000, .weight = 5});
    send(s, (struct suite_report){.id = "late",
                                  .stack = 4,
                                  .time_ms = SUITE_NOW + 5,
                                  .device = "iPad",
                                  .page = "Feed",
                                  .duration_ms = 900});
    ck_assert_uint_eq(due(s), 1);
    ck_assert_uint_eq(suite_resolve(s), 5);
    uint64_t before = report_of(s, "a").cluster_id;
    struct cluster_row c = suite_cluster(s, "f128()");
    ck_assert_uint_eq(c.id, before);
    ck_assert_uint_eq(c.figures.count, 3);

    ck_assert_uint_eq(suite_find(s), 1);
    struct report_row r = report_of(s, "a");
    ck_assert(r.finding.has_culprit);
    ck_assert_uint_eq(r.finding.sample, 3);
    ck_assert_int_eq(r.finding.stage_ms, 30);
    ck_assert_int_eq(r.finding.total_ms, 1000);
    ck_assert_double_eq_tol(r.finding.confidence, 4 / 7.0, 1e-6);
    ck_assert_ptr_null(r.finding.deadlock);
    ck_assert_uint_eq(r.stack.stack_id, r.samples[3].stack.stack_id);
    ck_assert_mem_eq(r.addresses, r.samples[3].addresses, 2 * sizeof(uint64_t));
    ck_assert_uint_ne(r.cluster_id, before);

    c = suite_cluster(s, "f128()");
    ck_assert_uint_eq(c.figures.count, 2);
    ck_assert_double_eq_tol(c.figures.weighted, 2, 1e-9);
    ck_assert_uint_eq(c.figures.stall_ms, 1600);
    ck_assert_int_le(c.figures.p99_ms, 920);
    ck_assert_int_eq(c.last_seen_ms, SUITE_NOW + 5);
    ck_assert_int_eq(c.first_seen_ms, SUITE_NOW - DAY);
    ck_assert_uint_eq(breakdown_rows(s, c.id, BY_DEVICE), 2);
    c = suite_cluster(s, "f129()");
    ck_assert_uint_eq(c.id, r.cluster_id);
    ck_assert_uint_eq(c.figures.count, 1);
    ck_assert_double_eq_tol(c.figures.weighted, 5, 1e-9);
    ck_assert_uint_eq(c.figures.stall_ms, 3000);
    ck_assert_int_eq(c.first_seen_ms, SUITE_NOW);
    ck_assert_int_eq(c.last_seen_ms, SUITE_NOW);
    ck_assert_uint_eq(breakdown_rows(s, c.id, BY_PAGE), 1);
    /* The app as a whole saw each report once. */
    ck_assert_uint_eq(breakdown_rows(s, 0, BY_VERSION), 2);
    ck_assert_uint_eq(suite_find(s), 0);
}

/* The last report leaves: nothing is left but the stack. */
static void empty_cluster(struct suite *s)
{
    struct error err;
    struct cluster_row *rows;
    size_t n = 0;
    const char *next;
    struct read_filter f;
    read_filter_init(&f);
    f.include_hidden = true;
    ck_assert_int_eq(
        read_clusters(s->reader, &f, SORT_COUNT, 100, NULL, &s->arena, &rows, &n, &next, &err),
        ERR_OK);
    for (size_t i = 0; i < n; i++)
        ck_assert_str_ne(rows[i].title, "f128()");
}

void suite_finding_of_another_generation(struct suite *s)
{
    static const uint32_t images[] = {1, 2, 3, 4};
    send(s, (struct suite_report){.id = "a", .stack = 4, .samples = 4});
    suite_resolve(s);
    struct write_op *first = suite_findings(s, 50, 50);
    first->u.findings.items[0].confidence = 0.25;
    suite_apply(s, first);
    suite_index(s, images, 4, 1);
    suite_resolve(s);
    struct write_op *op = suite_findings(s, 50, 0);
    ck_assert_uint_eq(op->u.findings.count, 1);
    struct write_op *again = suite_findings(s, 50, 0);

    /* Newer frames come between the look and the answer. */
    suite_index(s, images, 4, 2);
    suite_resolve(s);
    struct write_op *refill = write_op_new(WRITE_FINDINGS, 4096);
    refill->u.findings = (struct op_findings){.refill = 50};
    suite_apply_keep(s, refill);
    ck_assert(refill->u.findings.more);
    write_op_free(refill);
    suite_apply_keep(s, op);
    ck_assert(!op->u.findings.items[0].applied);
    ck_assert(op->u.findings.more);
    write_op_free(op);
    ck_assert_double_eq_tol(report_of(s, "a").finding.confidence, 0.25, 1e-9);
    suite_find(s);
    ck_assert_double_eq_tol(report_of(s, "a").finding.confidence, 4 / 7.0, 1e-6);
    ck_assert_uint_eq(report_of(s, "a").finding.sample, 3);
    empty_cluster(s);
    suite_apply_keep(s, again); /* to nobody who asked */
    ck_assert(!again->u.findings.items[0].applied);
    ck_assert(!again->u.findings.more);
    write_op_free(again);

    /* There is no such sample: nothing of the op is kept. */
    struct error err = {0};
    send(s, (struct suite_report){.id = "b", .stack = 4, .samples = 2});
    op = suite_findings(s, 50, 0);
    op->u.findings.items[0].sample = 2;
    ck_assert_int_eq(suite_try(s, op, &err), ERR_INVALID);
    write_op_free(op);
    ck_assert_uint_eq(due(s), 1);
    ck_assert_uint_eq(suite_find(s), 1);
}

void suite_finding_queue_is_refilled(struct suite *s)
{
    static const uint32_t images[] = {1, 2, 3, 4};
    char ids[40][8];
    for (uint32_t i = 0; i < 40; i++) {
        snprintf(ids[i], sizeof(ids[i]), "r%u", i);
        send(s, (struct suite_report){.id = ids[i],
                                      .stack = 4,
                                      .samples = i % 4 ? 4 : 1, /* one in four: a single sample */
                                      .time_ms = SUITE_NOW + i});
    }
    ck_assert_uint_eq(due(s), 30);
    suite_resolve(s);
    suite_find(s);
    suite_index(s, images, 4, 1);
    suite_resolve(s);
    ck_assert_uint_eq(due(s), 4); /* the stacks that changed: 5, 6, 7, 8 */
    size_t before = 0;
    for (int looks = 0; looks < 100; looks++) {
        struct write_op *op = suite_findings(s, 50, 7);
        if (!op)
            break;
        ck_assert_uint_le(op->u.findings.count, 7);
        before += op->u.findings.count;
        suite_apply(s, op);
        if (strcmp(s->backend, "sqlite") == 0)
            suite_reopen(s);
    }
    ck_assert_uint_eq(due(s), 0);
    ck_assert_uint_ge(before, 30);
    for (uint32_t i = 0; i < 40; i++)
        ck_assert_uint_eq(report_of(s, ids[i]).finding.has_culprit, i % 4 != 0);
    ck_assert_uint_eq(suite_cluster(s, "f129()").figures.count, 30);
    ck_assert_uint_eq(suite_cluster(s, "f128()").figures.count, 10);
    ck_assert_int_eq(suite_cluster(s, "f128()").last_seen_ms, SUITE_NOW + 36);
    ck_assert_int_eq(suite_cluster(s, "f129()").first_seen_ms, SUITE_NOW + 1);
}

/* Steps: 0 reports, 1 symbols; the resolver and the job of findings run in between, or do not. */
static void live_through(struct suite *s, int order)
{
    static const uint32_t images[] = {1, 2, 3, 4};
    const bool symbols_first = order & 1;
    if (symbols_first)
        suite_index(s, images, 4, 1);
    for (uint32_t i = 0; i < 12; i++) {
        char id[8];
        snprintf(id, sizeof(id), "r%u", order & 2 ? 11 - i : i);
        uint32_t k = order & 2 ? 11 - i : i;
        send(s, (struct suite_report){.id = id,
                                      .stack = k % 5 * 3,
                                      .samples = k % 4,
                                      .threads = k % 3,
                                      .time_ms = SUITE_NOW + k * 1000,
                                      .duration_ms = 100 + k * 10});
        if (order & 4)
            suite_resolve(s);
        if (order & 8)
            suite_find(s);
    }
    suite_resolve(s);
    if (!(order & 4))
        suite_find(s);
    if (!symbols_first)
        suite_index(s, images, 4, 1);
    suite_resolve(s);
    suite_find(s);
}

static void describe(struct suite *s, char *out, size_t size)
{
    struct error err;
    struct cluster_row *rows;
    struct read_filter f;
    size_t n = 0, at = 0;
    const char *next;
    char lines[32][160];
    read_filter_init(&f);
    f.include_hidden = true;
    ck_assert_int_eq(
        read_clusters(s->reader, &f, SORT_COUNT, 100, NULL, &s->arena, &rows, &n, &next, &err),
        ERR_OK);
    ck_assert_uint_le(n, 32);
    for (size_t i = 0; i < n; i++) {
        struct cluster_findings c;
        ck_assert_int_eq(read_cluster_findings(s->reader, rows[i].id, &c, &err), ERR_OK);
        snprintf(lines[i], sizeof(lines[i]), "%s %llu %llu %lld-%lld %llu %.6f %llu\n",
                 rows[i].title, (unsigned long long)rows[i].figures.count,
                 (unsigned long long)rows[i].figures.stall_ms, (long long)rows[i].first_seen_ms,
                 (long long)rows[i].last_seen_ms, (unsigned long long)c.culprits,
                 isnan(c.mean_confidence) ? -1 : c.mean_confidence,
                 (unsigned long long)c.deadlocks);
    }
    qsort(lines, n, sizeof(lines[0]), (int (*)(const void *, const void *))strcmp);
    for (size_t i = 0; i < n; i++)
        at += (size_t)snprintf(out + at, size - at, "%s", lines[i]);
    for (uint32_t i = 0; i < 12; i++) {
        char id[8];
        snprintf(id, sizeof(id), "r%u", i);
        struct report_row r = report_of(s, id);
        at += (size_t)snprintf(out + at, size - at, "%s %d %u %s\n", id, r.finding.has_culprit,
                               r.finding.sample, r.finding.deadlock ? r.finding.deadlock : "-");
    }
}

void suite_findings_in_any_order(struct suite *s)
{
    char first[8192], other[8192];
    const char *backend = s->backend;
    live_through(s, 0);
    describe(s, first, sizeof(first));
    ck_assert_ptr_nonnull(strstr(first, "f129()"));
    for (int order = 1; order < 16; order++) {
        struct suite again;
        suite_open(&again, backend);
        live_through(&again, order);
        describe(&again, other, sizeof(other));
        ck_assert_msg(strcmp(first, other) == 0, "order %d:\n%s\nbut\n%s", order, first, other);
        suite_close(&again);
    }
}

/* What expired keeps what was found; what moves afterwards knows when the others were. */
void suite_findings_and_retention(struct suite *s)
{
    static const uint32_t images[] = {1, 2, 3, 4};
    const int64_t old = SUITE_NOW - 20 * DAY;
    suite_index(s, images, 4, 1);
    send(s, (struct suite_report){.id = "old", .stack = 4, .samples = 4, .time_ms = old});
    send(s, (struct suite_report){.id = "plain", .stack = 4, .time_ms = old + 3});
    suite_resolve(s);
    suite_find(s);
    send(s, (struct suite_report){.id = "new", .stack = 4, .samples = 4, .time_ms = SUITE_NOW});
    ck_assert_uint_eq(suite_cluster(s, "f128()").figures.count, 2);
    struct write_op *op = write_op_new(WRITE_EXPIRE, 4096);
    op->u.expire = (struct op_expire){
        .now_ms = SUITE_NOW, .reports_before_ms = SUITE_NOW - DAY, .max_rows = 100};
    suite_apply(s, op);
    ck_assert_uint_eq(due(s), 1); /* that of "new" alone */
    ck_assert_uint_eq(suite_find(s), 1);
    struct cluster_row c = suite_cluster(s, "f128()");
    ck_assert_uint_eq(c.figures.count, 1);
    ck_assert_int_eq(c.first_seen_ms, old + 3);
    ck_assert_int_eq(c.last_seen_ms, old + 3);
    c = suite_cluster(s, "f129()");
    ck_assert_uint_eq(c.figures.count, 2);
    ck_assert_int_eq(c.first_seen_ms, old);
    ck_assert_int_eq(c.last_seen_ms, SUITE_NOW);
    /* A report that is due and expires leaves the queue. */
    send(s, (struct suite_report){.id = "due", .stack = 4, .samples = 4, .time_ms = old});
    ck_assert_uint_eq(due(s), 1);
    op = write_op_new(WRITE_EXPIRE, 4096);
    op->u.expire = (struct op_expire){
        .now_ms = SUITE_NOW + 9 * DAY, .reports_before_ms = SUITE_NOW + DAY, .max_rows = 100};
    suite_apply(s, op);
    ck_assert_uint_eq(due(s), 0);
}

void suite_deadlocks_are_listed(struct suite *s)
{
    static const uint32_t images[] = {1, 2, 3, 4};
    struct error err;
    struct report_row *rows;
    struct cluster_findings found;
    size_t n = 0;
    const char *next;
    suite_index(s, images, 4, 1);
    send(s, (struct suite_report){.id = "plain", .stack = 4});
    send(s, (struct suite_report){.id = "stuck", .stack = 4, .threads = 3});
    send(s, (struct suite_report){.id = "stuck2", .stack = 4, .threads = 3, .version = "2.0"});
    suite_resolve(s);
    ck_assert_uint_eq(suite_find(s), 0);
    struct report_row r = report_of(s, "stuck");
    ck_assert(!r.finding.has_culprit);
    ck_assert_str_eq(r.finding.deadlock, "[0,2]");
    ck_assert_ptr_null(report_of(s, "plain").finding.deadlock);
    struct read_filter f;
    read_filter_init(&f);
    f.deadlock = true;
    uint64_t id = suite_cluster(s, "f128()").id;
    ck_assert_int_eq(
        read_cluster_reports(s->reader, id, &f, 1, NULL, &s->arena, &rows, &n, &next, &err),
        ERR_OK);
    ck_assert_uint_eq(n, 1);
    ck_assert_str_eq(rows[0].id, "stuck2");
    ck_assert_str_eq(rows[0].finding.deadlock, "[0,2]");
    ck_assert_int_eq(
        read_cluster_reports(s->reader, id, &f, 1, next, &s->arena, &rows, &n, &next, &err),
        ERR_OK);
    ck_assert_uint_eq(n, 1);
    ck_assert_str_eq(rows[0].id, "stuck");
    ck_assert_ptr_null(next);
    f.version = "2.0";
    ck_assert_int_eq(
        read_cluster_reports(s->reader, id, &f, 9, NULL, &s->arena, &rows, &n, &next, &err),
        ERR_OK);
    ck_assert_uint_eq(n, 1);
    ck_assert_int_eq(read_cluster_findings(s->reader, id, &found, &err), ERR_OK);
    ck_assert_uint_eq(found.deadlocks, 2);
    ck_assert_uint_eq(found.culprits, 0);
    ck_assert(isnan(found.mean_confidence));
}
