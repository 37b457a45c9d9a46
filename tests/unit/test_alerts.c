/* Which clusters make alerts: none that is provisional or approximate, of each kind. */
/* Covers: server/jobs/alerts.c */
#include "server/jobs/alerts.h"

#include <stdio.h>
#include <string.h>

#include "storage/read_alerts.h"
#include "tests/conformance/suite.h"
#include "tests/support/unit.h"

#define MINUTE ((int64_t)60000)
#define HOUR   (60 * MINUTE)
#define DAY    (24 * HOUR)
#define STACK  8 /* its own frame lies in image 1 */
#define OTHER  31

static struct suite world;
static struct writer *writer;
static struct metrics *metrics;
static struct alerts *alerts;
static unsigned sent;

static void start(void)
{
    const struct writer_options o = {
        .queue_capacity = 16, .high_mark = 8, .group_ops = 1, .wal_high_bytes = (uint64_t)1 << 30};
    const struct alerts_options a = {.keep_ms = 90 * DAY, .slow_ms = 1};
    struct error err = {0};
    struct write_op *rules = write_op_new(WRITE_ALERT_RULES, 4096);
    rules->u.alert_rules = (struct op_alert_rules){
        .document = "{\"targets\":[{\"name\":\"t\",\"url\":\"https://h.example/x\"}],"
                    "\"rules\":[{\"to\":[\"t\"]}]}",
        .expected_revision = 0,
        .now_ms = SUITE_NOW - HOUR};
    suite_open(&world, "sqlite");
    suite_apply(&world, rules);
    suite_index(&world, (const uint32_t[]){SUITE_SYSTEM}, 1, 1);
    metrics = metrics_new();
    ck_assert_int_eq(writer_start(world.storage, &o, metrics, &writer, &err), ERR_OK);
    ck_assert_int_eq(alerts_new(world.storage, writer, &a, NULL, metrics, &alerts, &err), ERR_OK);
}

static void stop(void)
{
    alerts_free(alerts);
    writer_stop(writer);
    metrics_free(metrics);
    suite_close(&world);
}

/* The suite writes between two looks: the writer's thread sleeps then. */
static void look(int64_t now_ms)
{
    struct error err = {0};
    ck_assert_msg(alerts_look(alerts, now_ms, &err) == ERR_OK, "%s", err.text);
}

/* How many there are of a kind; all of a cluster's kinds name one. */
static size_t count_of(enum alert_kind kind)
{
    struct error err = {0};
    struct delivery_row *rows = NULL;
    const struct delivery_filter all = {.state = -1};
    const char *next = NULL;
    size_t count = 0, n = 0;
    ck_assert_int_eq(
        read_deliveries(world.reader, &all, 100, NULL, &world.arena, &rows, &count, &next, &err),
        ERR_OK);
    for (size_t i = 0; i < count; i++) {
        bool of_cluster =
            kind == ALERT_NEW_CLUSTER || kind == ALERT_SPIKE || kind == ALERT_REGRESSION;
        n += rows[i].kind == kind;
        if (rows[i].kind == kind)
            ck_assert_int_eq(rows[i].cluster_id != 0, of_cluster);
    }
    return n;
}

static void post(uint32_t stack, const char *version, int64_t at_ms)
{
    char id[16];
    snprintf(id, sizeof(id), "r%u", sent++);
    const struct suite_report r = {.id = id, .stack = stack, .version = version, .time_ms = at_ms};
    struct write_op *op = suite_batch(SUITE_APP, &r, 1);
    suite_image(op, 1 + stack % SUITE_IMAGES, IMAGE_UUID);
    suite_apply(&world, op);
}

/* Of the same name, by another UUID. */
static void index_another_build(void)
{
    const uint32_t images[] = {OTHER};
    struct write_op *up = suite_upload(7, SUITE_NOW);
    suite_apply_keep(&world, up);
    struct write_op *op = suite_indexed(up->u.upload.id, images, 1, 1);
    ((struct op_slice *)op->u.upload_state.slices)->name = "Image1";
    suite_apply(&world, op);
    write_op_free(up);
}

static void stand_in(void)
{
    struct write_op *op = write_op_new(WRITE_STAND_IN, 4096);
    op->u.stand_in = (struct op_stand_in){.uuid = suite_uuid(1),
                                          .stand_in = suite_uuid(OTHER),
                                          .bundle_id = "",
                                          .on = true,
                                          .by_hand = true,
                                          .now_ms = SUITE_NOW};
    suite_apply(&world, op);
}

static void resolve_by_hand(uint64_t cluster_id, int64_t now_ms)
{
    struct write_op *op = write_op_new(WRITE_CLUSTER_STATE, 4096);
    op->u.cluster_state = (struct op_cluster_state){.id = cluster_id,
                                                    .set_state = true,
                                                    .state = CLUSTER_RESOLVED,
                                                    .resolved_in = "1.5",
                                                    .now_ms = now_ms};
    suite_apply(&world, op);
}

/* Two an hour for three days; then resolved, reported by a newer version, and a spike. */
static int64_t live_a_while(void)
{
    int64_t now = SUITE_NOW;
    post(STACK, "1.0", now);
    suite_resolve(&world);
    for (int hour = 0; hour < 72; hour++, now += HOUR) {
        post(STACK, "1.0", now + 5 * MINUTE);
        post(STACK, "1.0", now + 35 * MINUTE);
    }
    look(now);
    resolve_by_hand(suite_cluster(&world, NULL).id, now);
    post(STACK, "2.0", now + 1);
    ck_assert_str_eq(suite_cluster(&world, NULL).state, "open");
    look(now + 2);
    for (int i = 0; i < 12; i++)
        post(STACK, "2.0", now + i * 30000);
    look(now + 8 * MINUTE);
    return now + 8 * MINUTE;
}

START_TEST(exact_ones_make_all)
{
    start();
    suite_index(&world, (const uint32_t[]){1}, 1, 1);
    int64_t now = live_a_while();
    ck_assert_uint_eq(count_of(ALERT_NEW_CLUSTER), 1);
    ck_assert_uint_eq(count_of(ALERT_REGRESSION), 1);
    ck_assert_uint_eq(count_of(ALERT_SPIKE), 1);
    ck_assert_uint_eq(count_of(ALERT_MISSING_SYMBOLS), 0);
    ck_assert_uint_eq(count_of(ALERT_SYMBOLICATION_RATE), 0);
    /* Once. */
    look(now + MINUTE);
    ck_assert_uint_eq(
        count_of(ALERT_NEW_CLUSTER) + count_of(ALERT_REGRESSION) + count_of(ALERT_SPIKE), 3);
    stop();
}
END_TEST

/* The image is missing, of its cluster nothing is said. */
static void expect_the_image_alone(void)
{
    ck_assert_uint_eq(count_of(ALERT_NEW_CLUSTER), 0);
    ck_assert_uint_eq(count_of(ALERT_REGRESSION), 0);
    ck_assert_uint_eq(count_of(ALERT_SPIKE), 0);
    ck_assert_uint_eq(count_of(ALERT_MISSING_SYMBOLS), 1);
    ck_assert_uint_eq(count_of(ALERT_SYMBOLICATION_RATE), 0);
}

START_TEST(provisional_ones_make_none)
{
    start();
    int64_t now = live_a_while();
    ck_assert(suite_cluster(&world, NULL).provisional);
    expect_the_image_alone();
    /* Its symbols come: it is new now; the old regression and spike are no news. */
    suite_index(&world, (const uint32_t[]){1}, 1, 1);
    suite_resolve(&world);
    ck_assert(!suite_cluster(&world, NULL).provisional);
    look(now + 4 * HOUR);
    ck_assert_uint_eq(count_of(ALERT_NEW_CLUSTER), 1);
    ck_assert_uint_eq(count_of(ALERT_REGRESSION), 0);
    ck_assert_uint_eq(count_of(ALERT_SPIKE), 0);
    stop();
}
END_TEST

START_TEST(approximate_ones_make_none)
{
    start();
    index_another_build();
    post(STACK, "1.0", SUITE_NOW);
    suite_resolve(&world);
    stand_in();
    suite_resolve(&world);
    live_a_while();
    ck_assert(suite_cluster(&world, NULL).approximate && !suite_cluster(&world, NULL).provisional);
    expect_the_image_alone();
    stop();
}
END_TEST

/* The rate is the app's: frames without a name lower it, whatever clusters they are in. */
START_TEST(a_falling_rate_is_the_app_s)
{
    int64_t now = SUITE_NOW;
    start();
    suite_index(&world, (const uint32_t[]){1}, 1, 1);
    post(STACK, "1.0", now);
    suite_resolve(&world);
    for (int i = 0; i < 120; i++)
        post(STACK, "1.0", now + i * MINUTE);
    now += DAY;
    for (int i = 0; i < 99; i++)
        post(STACK + 2, "2.0", now + i * MINUTE);
    suite_resolve(&world);
    look(now + 3 * HOUR);
    ck_assert_uint_eq(count_of(ALERT_SYMBOLICATION_RATE), 0); /* of few reports nothing is said */
    post(STACK + 2, "2.0", now + 3 * HOUR);
    look(now + 3 * HOUR + 1);
    ck_assert_uint_eq(count_of(ALERT_SYMBOLICATION_RATE), 1);
    ck_assert_uint_eq(count_of(ALERT_NEW_CLUSTER), 1); /* that of the named ones */
    ck_assert_uint_eq(count_of(ALERT_SPIKE), 0);
    stop();
}
END_TEST

UNIT_MAIN("alerts", exact_ones_make_all, provisional_ones_make_none, approximate_ones_make_none,
          a_falling_rate_is_the_app_s)
