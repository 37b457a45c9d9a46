/*
 * The thread that keeps clusters up to date, over a real database, writer and resolver.
 *
 * Covers: server/jobs/epoch_align.c server/jobs/epoch_learn.c server/jobs/keyer.c server/jobs/overlays.c
 */
#include "server/jobs/epochs.c"

#include <sqlite3.h>
#include <stdio.h>
#include <unistd.h>

#include "tests/support/rig.h"
#include "tests/support/unit.h"

#define APP "com.example.shop"

static struct rig rig;
static struct rules *rules;
static struct rules *others;
static struct resolver *resolver;
static struct epochs *e;
static struct error err;
static struct uuid shop, libsystem;

static void start_epochs(void)
{
    const struct epochs_options options = {.stacks_max = 1000};
    ck_assert_msg(epochs_start(rig.storage, rig.writer, rules, &options, &e, &err) == ERR_OK, "%s",
                  err.text);
}

static void setup(void)
{
    static const char other[] = "group=all: *\n";
    const struct resolver_options options = {.workers = 1, .page = 64, .frame_cache_entries = 64};
    rig_start(&rig);
    memset(shop.bytes, 0x51, sizeof(shop.bytes));
    memset(libsystem.bytes, 0x52, sizeof(libsystem.bytes));
    ck_assert_int_eq(rules_new_default(&rules, &err), ERR_OK);
    ck_assert_int_eq(rules_new(other, sizeof(other) - 1, &others, &err), ERR_OK);
    ck_assert_int_eq(resolver_start(rig.storage, rig.writer, rig.cache, rules, &options,
                                    rig.metrics, &resolver, &err),
                     ERR_OK);
    atomic_store(&rig.resolver, resolver);
    start_epochs();
}

static void teardown(void)
{
    epochs_stop(e);
    atomic_store(&rig.resolver, NULL);
    resolver_stop(resolver);
    rules_free(rules);
    rules_free(others);
    rig_stop(&rig);
}

static void settle(void)
{
    struct stats_row stats = {.pending_stacks = 1};
    for (int i = 0; i < 5000 && stats.pending_stacks > 0; i++) {
        usleep(2000);
        ck_assert_int_eq(read_stats(rig.reader, NULL, &stats, &err), ERR_OK);
    }
    ck_assert_uint_eq(stats.pending_stacks, 0);
}

static void wait_for_work(void)
{
    struct cluster_work_row *rows = NULL;
    size_t count = 1;
    for (int i = 0; i < 5000 && count > 0; i++) {
        usleep(2000);
        ck_assert_int_eq(read_cluster_work(rig.reader, &rig.arena, &rows, &count, &err), ERR_OK);
    }
    ck_assert_uint_eq(count, 0);
}

/* A stack "a < b < c" of the app that reads a file, as a device names it. */
static void send(const char *id, const char *const *names, size_t count)
{
    struct raw_frame frames[8];
    const struct op_image images[] = {
        {.id = shop, .kind = IMAGE_UUID, .class = IMAGE_CLASS_APP, .name = "Shop"},
        {.id = libsystem,
         .kind = IMAGE_UUID,
         .class = IMAGE_CLASS_SYSTEM,
         .name = "libsystem_kernel.dylib"}};
    frames[0] = (struct raw_frame){libsystem, 0x10, IMAGE_UUID, FRAME_LEAF, "read"};
    for (size_t i = 0; i < count; i++)
        frames[i + 1] =
            (struct raw_frame){shop, 0x1000 + hash64(names[i], strlen(names[i]), 0) % 4096,
                               IMAGE_UUID, FRAME_RETURN, names[i]};
    rig_apply(&rig, ops_report(APP, id, frames, count + 1, images, 2));
}

/* Unrelated stacks, and one cause seen in two ways: with a helper on top and without. */
static void send_all(void)
{
    for (int i = 0; i < 30; i++) {
        char a[32], b[32], id[16];
        snprintf(a, sizeof(a), "N%d.a()", i);
        snprintf(b, sizeof(b), "M%d.b()", i);
        snprintf(id, sizeof(id), "n%d", i);
        send(id, (const char *const[]){a, b, "App.go()"}, 3);
    }
    send("long", (const char *const[]){"Helper.run()", "Feed.load()", "Feed.show()", "App.go()"},
         4);
    send("short", (const char *const[]){"Feed.load()", "Feed.show()", "App.go()"}, 3);
    settle();
}

static uint64_t cluster_of(const char *id)
{
    struct report_row r;
    ck_assert_msg(read_report(rig.reader, APP, id, &rig.arena, &r, &err) == ERR_OK, "%s: %s", id,
                  err.text);
    return r.cluster_id;
}

static void ask_for(enum cluster_work_kind kind)
{
    struct write_op *op = write_op_new(WRITE_CLUSTER_WORK, 4096);
    op->u.cluster_work = (struct op_cluster_work){.kind = kind, .now_ms = clock_wall_ms()};
    rig_apply(&rig, op);
    epochs_ring(e);
    wait_for_work();
}

static struct cluster_work_row last_work(void)
{
    struct cluster_work_row *rows = NULL;
    size_t count = 0;
    ck_assert_int_eq(read_cluster_work_last(rig.reader, NULL, &rig.arena, &rows, &count, &err),
                     ERR_OK);
    ck_assert_uint_eq(count, 1);
    return rows[0];
}

START_TEST(one_cause_seen_in_two_ways)
{
    send_all();
    uint64_t longer = cluster_of("long"), shorter = cluster_of("short");
    ck_assert_uint_ne(longer, shorter);
    ask_for(CLUSTER_WORK_EPOCH);
    ck_assert_uint_eq(cluster_of("long"), cluster_of("short"));
    ck_assert_uint_ne(cluster_of("n1"), cluster_of("n2"));
    ck_assert_uint_eq(last_work().changed, 1);
    ck_assert_uint_eq(last_work().seen, 32);
    /* A second one with nothing new. */
    ask_for(CLUSTER_WORK_EPOCH);
    ck_assert_uint_eq(last_work().changed, 0);
    /* A new stack of the key that was merged lands there at once. */
    uint64_t there = cluster_of("short");
    send("later", (const char *const[]){"Feed.load()", "Feed.other()", "App.go()"}, 3);
    settle();
    ck_assert_uint_eq(cluster_of("later"), there);
}
END_TEST

START_TEST(other_rules_and_back)
{
    send_all();
    uint64_t before[30];
    for (int i = 0; i < 30; i++) {
        char id[16];
        snprintf(id, sizeof(id), "n%d", i);
        before[i] = cluster_of(id);
    }
    resolver_set_rules(resolver, others);
    epochs_set_rules(e, others);
    ask_for(CLUSTER_WORK_RECLUSTER);
    ck_assert_uint_eq(cluster_of("n1"), cluster_of("n2"));
    ck_assert_str_eq(last_work().rules_version, rules_version(others));
    for (int i = 0; i < 100 && epochs_outdated(e); i++)
        usleep(10000);
    ck_assert(!epochs_outdated(e));
    resolver_set_rules(resolver, rules);
    epochs_set_rules(e, rules);
    for (int i = 0; i < 100 && !epochs_outdated(e); i++)
        usleep(10000);
    ck_assert(epochs_outdated(e)); /* until somebody asks */
    ask_for(CLUSTER_WORK_RECLUSTER);
    for (int i = 0; i < 30; i++) {
        char id[16];
        snprintf(id, sizeof(id), "n%d", i);
        ck_assert_uint_eq(cluster_of(id), before[i]);
    }
}
END_TEST

static void damage(const char *what, const char *report)
{
    char sql[200], path[600];
    struct report_row r;
    sqlite3 *db = NULL;
    ck_assert_int_eq(read_report(rig.reader, APP, report, &rig.arena, &r, &err), ERR_OK);
    snprintf(path, sizeof(path), "%s/test.db", rig.dir);
    snprintf(sql, sizeof(sql), "UPDATE %s WHERE stack_id = %llu", what,
             (unsigned long long)r.stack.stack_id);
    ck_assert_int_eq(sqlite3_open(path, &db), SQLITE_OK);
    ck_assert_int_eq(sqlite3_busy_timeout(db, 5000), SQLITE_OK);
    ck_assert_msg(sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK, "%s", sqlite3_errmsg(db));
    ck_assert_int_eq(sqlite3_changes(db), 1);
    sqlite3_close(db);
}

/* The work would never end. */
START_TEST(damaged_stacks_hold_nothing_up)
{
    send_all();
    const uint64_t before = cluster_of("n1");
    damage("counters SET hist = x'ffffff'", "n1");
    damage("stack_data SET resolved = x'ffffff'", "n2");
    resolver_set_rules(resolver, others);
    epochs_set_rules(e, others);
    ask_for(CLUSTER_WORK_RECLUSTER);
    ck_assert_uint_eq(last_work().seen, 32);
    ck_assert_uint_eq(cluster_of("n1"), before);
    ck_assert_uint_ne(cluster_of("n3"), before);
    ck_assert_uint_eq(cluster_of("n3"), cluster_of("n4"));
}
END_TEST

/* A fault of the database, not of stacks: nothing is taken for done. */
START_TEST(where_all_are_refused_the_work_stays)
{
    struct cluster_work_row *rows = NULL;
    size_t count = 0;
    char path[600];
    sqlite3 *db = NULL;
    send_all();
    snprintf(path, sizeof(path), "%s/test.db", rig.dir);
    ck_assert_int_eq(sqlite3_open(path, &db), SQLITE_OK);
    ck_assert_int_eq(sqlite3_busy_timeout(db, 5000), SQLITE_OK);
    ck_assert_int_eq(sqlite3_exec(db, "UPDATE counters SET hist = x'ffffff'", NULL, NULL, NULL),
                     SQLITE_OK);
    sqlite3_close(db);
    resolver_set_rules(resolver, others);
    epochs_set_rules(e, others);
    struct write_op *op = write_op_new(WRITE_CLUSTER_WORK, 4096);
    op->u.cluster_work =
        (struct op_cluster_work){.kind = CLUSTER_WORK_RECLUSTER, .now_ms = clock_wall_ms()};
    rig_apply(&rig, op);
    const int64_t failed = metrics_get(rig.metrics, METRIC_OPS_FAILED);
    epochs_ring(e);
    for (int i = 0; i < 5000 && metrics_get(rig.metrics, METRIC_OPS_FAILED) < failed + 32; i++)
        usleep(2000);
    usleep(100000);
    ck_assert_int_eq(read_cluster_work(rig.reader, &rig.arena, &rows, &count, &err), ERR_OK);
    ck_assert_uint_eq(count, 1);
}
END_TEST

START_TEST(a_stop_leaves_the_rest_for_later)
{
    send_all();
    struct write_op *op = write_op_new(WRITE_CLUSTER_WORK, 4096);
    op->u.cluster_work = (struct op_cluster_work){.kind = CLUSTER_WORK_RECLUSTER, .now_ms = 1};
    epochs_stop(e);
    rig_apply(&rig, op);
    start_epochs(); /* nobody rings: it looks at its start */
    wait_for_work();
    ck_assert_uint_eq(cluster_of("long"), cluster_of("short"));
}
END_TEST

START_TEST(every_night_once)
{
    const int64_t day = 20000 * CLOCK_DAY_MS;
    struct cluster_app_row app = {.bundle_id = APP, .epoch_ms = INT64_MIN};
    struct epochs look = {.options = {.nightly = true, .hour = 3, .stacks_min = 32},
                          .reader = rig.reader,
                          .tools = {.writer = rig.writer, .pause = wait_ms}};
    struct cluster_work_row *rows = NULL;
    size_t count = 0;
    pthread_mutex_init(&look.lock, NULL);
    thread_cond_init(&look.changed);
    look.tools.ctx = &look;
    ck_assert_int_eq(last_hour(&look, day + 3 * HOUR_MS), day + 3 * HOUR_MS);
    ck_assert_int_eq(last_hour(&look, day + 3 * HOUR_MS - 1), day - 21 * HOUR_MS);
    send_all();
    epochs_stop(e);
    e = NULL;
    const struct {
        int64_t started, epoch, now;
        uint64_t stacks_min;
        bool due;
    } cases[] = {
        {day, INT64_MIN, day + 2 * HOUR_MS, 32, false},
        {day, INT64_MIN, day + 3 * HOUR_MS, 33, false}, /* too few stacks */
        {day, day + 3 * HOUR_MS + 1, day + 20 * HOUR_MS, 32, false},
        {day + 4 * HOUR_MS, INT64_MIN, day + 20 * HOUR_MS, 32, false},
        {day, INT64_MIN, day + 3 * HOUR_MS, 32, true},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        look.started_ms = cases[i].started;
        look.options.stacks_min = cases[i].stacks_min;
        app.epoch_ms = cases[i].epoch;
        ck_assert_int_eq(ask_if_due(&look, &app, cases[i].now, &err), ERR_OK);
        ck_assert_int_eq(read_cluster_work(rig.reader, &rig.arena, &rows, &count, &err), ERR_OK);
        ck_assert_msg((count == 1) == cases[i].due, "case %zu", i);
    }
    ck_assert_int_eq(rows[0].kind, CLUSTER_WORK_EPOCH);
    pthread_cond_destroy(&look.changed);
    pthread_mutex_destroy(&look.lock);
}
END_TEST

START_TEST(of_many_the_heaviest_are_compared)
{
    struct keyer *keyer;
    struct epoch_figures f;
    send_all();
    epochs_stop(e);
    e = NULL;
    keyer = keyer_new(rig.reader, rules);
    struct epochs quiet = {.stopping = false};
    pthread_mutex_init(&quiet.lock, NULL);
    thread_cond_init(&quiet.changed);
    struct epoch_tools tools = {.reader = rig.reader,
                                .writer = rig.writer,
                                .keyer = keyer,
                                .stacks_max = 10,
                                .pause = wait_ms,
                                .ctx = &quiet};
    ck_assert_int_eq(keyer_begin(keyer, rules, &err), ERR_OK);
    ck_assert_int_eq(epoch_learn(&tools, APP, 1, &f, &err), ERR_OK);
    ck_assert_uint_eq(f.stacks, 10);
    ck_assert_int_eq(epoch_learn(&tools, "com.example.nobody", 1, &f, &err), ERR_OK);
    ck_assert_uint_eq(f.stacks, 0);
    quiet.stopping = true;
    ck_assert_int_eq(epoch_learn(&tools, APP, 1, &f, &err), ERR_BUSY);
    keyer_free(keyer);
    pthread_cond_destroy(&quiet.changed);
    pthread_mutex_destroy(&quiet.lock);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        one_cause_seen_in_two_ways,           other_rules_and_back,
        a_stop_leaves_the_rest_for_later,     damaged_stacks_hold_nothing_up,
        where_all_are_refused_the_work_stays, every_night_once,
        of_many_the_heaviest_are_compared};
    Suite *suite = suite_create("epochs");
    TCase *tcase = tcase_create("epochs");
    tcase_set_timeout(tcase, 60);
    tcase_add_checked_fixture(tcase, setup, teardown);
    for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); i++)
        tcase_add_test(tcase, tests[i]);
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
