/* Alerts: rules, causes, the outbox. */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "storage/read_alerts.h"
#include "tests/conformance/suite.h"

#define HOUR ((int64_t)3600000)

static const char *const targets[] = {"a", "b"};

static uint64_t make_one(struct suite *s, const struct op_alert *alert, int64_t now_ms)
{
    struct op_alert item = *alert;
    struct write_op *op = write_op_new(WRITE_ALERTS, 4096);
    item.targets = targets;
    item.target_count = 2;
    op->u.alerts = (struct op_alerts){
        .items = &item, .count = 1, .now_ms = now_ms, .expire_before_ms = INT64_MIN};
    suite_apply_keep(s, op);
    ck_assert_uint_eq(op->u.alerts.made, item.id != 0);
    write_op_free(op);
    return item.id;
}

static size_t due(struct suite *s, int64_t now_ms, struct delivery_due **ret, uint64_t *ret_pending)
{
    struct error err = {0};
    size_t count = 0;
    int64_t next = 0;
    enum err rc = read_deliveries_due(s->reader, now_ms, 10, &s->arena, ret, &count, &next,
                                      ret_pending, &err);
    ck_assert_msg(rc == ERR_OK, "%s", err.text);
    return count;
}

void suite_alerts_once_a_window(struct suite *s)
{
    const struct suite_report r = {.id = "a", .stack = 0};
    struct delivery_due *rows = NULL;
    uint64_t pending = 0;
    suite_apply(s, suite_batch(SUITE_APP, &r, 1));
    suite_resolve(s);
    struct op_alert spike = {.kind = ALERT_SPIKE,
                             .bundle_id = SUITE_APP,
                             .cluster_id = suite_cluster(s, NULL).id,
                             .subject = "",
                             .body = "{}",
                             .window_ms = 24 * HOUR};
    ck_assert_uint_eq(make_one(s, &spike, SUITE_NOW), 1);
    ck_assert_uint_eq(make_one(s, &spike, SUITE_NOW + 23 * HOUR), 0);
    /* The cause follows its cluster to where its symbols bring it. */
    suite_index(s, (const uint32_t[]){1, 2, 3, 4}, 4, 1);
    suite_resolve(s);
    ck_assert_uint_ne(suite_cluster(s, NULL).id, spike.cluster_id);
    ck_assert_uint_eq(make_one(s, &spike, SUITE_NOW + 23 * HOUR), 0);
    ck_assert_uint_eq(make_one(s, &spike, SUITE_NOW + 24 * HOUR), 2);
    struct op_alert missing = {.kind = ALERT_MISSING_SYMBOLS,
                               .bundle_id = SUITE_APP,
                               .subject = "u1",
                               .body = "{}",
                               .window_ms = ALERT_ONCE};
    ck_assert_uint_eq(make_one(s, &missing, SUITE_NOW), 3);
    ck_assert_uint_eq(make_one(s, &missing, SUITE_NOW + 9000 * HOUR), 0);
    missing.subject = "u2";
    ck_assert_uint_eq(make_one(s, &missing, SUITE_NOW), 4);
    missing.bundle_id = "com.example.unknown";
    ck_assert_uint_eq(make_one(s, &missing, SUITE_NOW), 0);
    ck_assert_uint_eq(due(s, SUITE_NOW, &rows, &pending), 6);
    ck_assert_uint_eq(pending, 8);
}

void suite_deliveries_end(struct suite *s)
{
    struct error err = {0};
    struct delivery_due *rows = NULL;
    struct delivery_row *all = NULL;
    uint64_t pending = 0;
    size_t count = 0;
    const char *next = NULL;
    const struct op_alert test = {.kind = ALERT_TEST, .bundle_id = "", .subject = "", .body = "{}"};
    ck_assert_uint_eq(make_one(s, &test, SUITE_NOW), 1);
    ck_assert_uint_eq(make_one(s, &test, SUITE_NOW), 2); /* a test has no window */
    ck_assert_uint_eq(due(s, SUITE_NOW, &rows, &pending), 4);
    const struct op_delivery outcomes[] = {
        {.id = 1, .state = DELIVERY_SENT, .attempted = true, .status = 200, .now_ms = SUITE_NOW},
        {.id = 2, .next_ms = SUITE_NOW + HOUR, .attempted = true, .status = 500, .error = "x"},
        {.id = 3, .state = DELIVERY_FAILED, .error = "no target", .now_ms = SUITE_NOW},
        {.id = 1, .state = DELIVERY_FAILED, .attempted = true}, /* it was sent: nothing changes */
    };
    for (size_t i = 0; i < 4; i++) {
        struct write_op *op = write_op_new(WRITE_DELIVERY, 4096);
        op->u.delivery = outcomes[i];
        suite_apply(s, op);
    }
    ck_assert_uint_eq(due(s, SUITE_NOW, &rows, &pending), 1);
    ck_assert_uint_eq(rows[0].id, 4);
    ck_assert_uint_eq(pending, 2);
    ck_assert_uint_eq(due(s, SUITE_NOW + HOUR, &rows, &pending), 2);
    const struct delivery_filter f = {.state = -1};
    ck_assert_int_eq(read_deliveries(s->reader, &f, 3, NULL, &s->arena, &all, &count, &next, &err),
                     ERR_OK);
    ck_assert_uint_eq(count, 3);
    ck_assert_ptr_nonnull(next);
    ck_assert_uint_eq(all[1].id, 3);
    ck_assert_int_eq(all[1].state, DELIVERY_FAILED);
    ck_assert_uint_eq(all[1].attempts, 0);
    ck_assert_str_eq(all[2].error, "x");
    ck_assert_int_eq(all[2].status, 500);
    ck_assert_uint_eq(all[2].attempts, 1);
    ck_assert_int_eq(all[2].done_ms, INT64_MIN);
    ck_assert_int_eq(read_deliveries(s->reader, &f, 3, next, &s->arena, &all, &count, &next, &err),
                     ERR_OK);
    ck_assert_uint_eq(count, 1);
    ck_assert_int_eq(all[0].state, DELIVERY_SENT);
    ck_assert_int_eq(all[0].done_ms, SUITE_NOW);
}

void suite_causes_of_alerts(struct suite *s)
{
    struct error err = {0};
    struct alert_cluster *fresh = NULL;
    struct alert_minute *minutes = NULL;
    struct alert_rate *rates = NULL;
    struct alert_settings settings;
    size_t count = 0;
    const struct suite_report r[] = {{.id = "a", .stack = 0},
                                     {.id = "b", .stack = 0},
                                     {.id = "c", .stack = 0, .time_ms = SUITE_NOW + 60000},
                                     {.id = "d", .stack = 30}};
    suite_index(s, (const uint32_t[]){1}, 1, 1);
    suite_apply(s, suite_batch(SUITE_APP, r, 4));
    suite_resolve(s);
    uint64_t id = suite_cluster(s, "f128()").id;
    /* The other one is provisional. */
    ck_assert_int_eq(
        read_alert_new_clusters(s->reader, SUITE_NOW, 0, 1, 10, &s->arena, &fresh, &count, &err),
        ERR_OK);
    ck_assert_uint_eq(count, 1);
    ck_assert_uint_eq(fresh[0].id, id);
    ck_assert_uint_eq(fresh[0].count, 3);
    ck_assert_int_eq(fresh[0].created_ms, SUITE_NOW);
    ck_assert_int_eq(
        read_alert_new_clusters(s->reader, SUITE_NOW, id, 1, 10, &s->arena, &fresh, &count, &err),
        ERR_OK);
    ck_assert_uint_eq(count, 0);
    ck_assert_int_eq(read_alert_new_clusters(s->reader, SUITE_NOW - 1, id, 1, 10, &s->arena, &fresh,
                                             &count, &err),
                     ERR_OK);
    ck_assert_uint_eq(count, 1);
    ck_assert_int_eq(
        read_alert_new_clusters(s->reader, SUITE_NOW, 0, 4, 10, &s->arena, &fresh, &count, &err),
        ERR_OK);
    ck_assert_uint_eq(count, 0);
    ck_assert_int_eq(read_alert_minutes(s->reader, SUITE_NOW - HOUR, SUITE_NOW + HOUR, 1000,
                                        &s->arena, &minutes, &count, &err),
                     ERR_OK);
    ck_assert_uint_eq(count, 2);
    ck_assert_uint_eq(minutes[0].count, 2);
    ck_assert_int_eq(minutes[1].minute, minutes[0].minute + 1);
    ck_assert_int_eq(read_alert_rates(s->reader, 0, &s->arena, &rates, &count, &err), ERR_OK);
    ck_assert_uint_eq(count, 1);
    ck_assert_uint_eq(rates[0].reports, 4);
    ck_assert_uint_eq(rates[0].frames, 4);
    ck_assert_uint_eq(rates[0].named, 3);
    /* Announced, it is new no more. */
    const struct op_alert alert = {.kind = ALERT_NEW_CLUSTER,
                                   .bundle_id = SUITE_APP,
                                   .cluster_id = id,
                                   .subject = "",
                                   .body = "{}",
                                   .window_ms = ALERT_ONCE};
    ck_assert_uint_ne(make_one(s, &alert, SUITE_NOW), 0);
    ck_assert_int_eq(
        read_alert_new_clusters(s->reader, SUITE_NOW, 0, 1, 10, &s->arena, &fresh, &count, &err),
        ERR_OK);
    ck_assert_uint_eq(count, 0);

    /* Rules: revisions. */
    struct write_op *op = write_op_new(WRITE_ALERT_RULES, 4096);
    op->u.alert_rules = (struct op_alert_rules){
        .document = "{}", .expected_revision = 1, .who = "ann", .now_ms = SUITE_NOW};
    ck_assert_int_eq(suite_try(s, op, &err), ERR_CONFLICT);
    op->u.alert_rules.expected_revision = 0;
    ck_assert_int_eq(suite_try(s, op, &err), ERR_OK);
    op->u.alert_rules.expected_revision = -1;
    op->u.alert_rules.now_ms = SUITE_NOW + 1;
    ck_assert_int_eq(suite_try(s, op, &err), ERR_OK);
    write_op_free(op);
    ck_assert_int_eq(read_alert_settings(s->reader, &s->arena, &settings, &err), ERR_OK);
    ck_assert_int_eq(settings.revision, 2);
    ck_assert_int_eq(settings.since_ms, SUITE_NOW);
    ck_assert_str_eq(settings.who, "ann");
}

/* An app that floods takes its share, no more: what came before it is still seen. */
void suite_a_flood_hides_no_spike(struct suite *s)
{
    static char ids[200][8];
    struct suite_report flood[200];
    struct error err = {0};
    struct alert_minute *minutes = NULL;
    size_t count = 0;
    uint64_t of_flood = 0, of_others = 0;
    const struct suite_report r[] = {{.id = "a", .stack = 0},
                                     {.id = "b", .stack = 0},
                                     {.id = "c", .stack = 0, .time_ms = SUITE_NOW + 60000}};
    for (size_t i = 0; i < 200; i++) {
        snprintf(ids[i], sizeof(ids[i]), "f%zu", i);
        flood[i] = (struct suite_report){.id = ids[i], .stack = 0};
    }
    suite_index(s, (const uint32_t[]){1}, 1, 1);
    suite_apply(s, suite_batch(SUITE_APP, r, 3));
    suite_resolve(s);
    const uint64_t id = suite_cluster(s, "f128()").id;
    suite_apply(s, suite_batch("com.flood", flood, 200));
    suite_resolve(s);
    ck_assert_int_eq(read_alert_minutes(s->reader, SUITE_NOW - HOUR, SUITE_NOW + HOUR, 100,
                                        &s->arena, &minutes, &count, &err),
                     ERR_OK);
    for (size_t i = 0; i < count; i++) {
        uint64_t *sum = minutes[i].cluster_id == id ? &of_others : &of_flood;
        *sum += minutes[i].count;
        ck_assert(i == 0 || minutes[i].cluster_id > minutes[i - 1].cluster_id ||
                  minutes[i].minute > minutes[i - 1].minute);
    }
    ck_assert_uint_eq(of_others, 3);
    ck_assert_uint_ge(of_flood, 100);
    ck_assert_uint_le(of_flood, 150);
}
