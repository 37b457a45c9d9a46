/* With real parts all round: database, writer, index files, analysis. */
#include "server/jobs/resolver.h"

#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "tests/support/rig.h"
#include "tests/support/unit.h"

#define APP "com.example.shop"

static struct rig rig;
static struct rules *rules;
static struct resolver *resolver;
static struct uuid shop, feed;

static void start_resolver(size_t workers, size_t page)
{
    struct error err;
    struct resolver_options options = {
        .workers = workers, .page = page, .frame_cache_entries = 256};
    ck_assert_msg(resolver_start(rig.storage, rig.writer, rig.cache, rules, &options, rig.metrics,
                                 &resolver, &err) == ERR_OK,
                  "%s", err.text);
    atomic_store(&rig.resolver, resolver);
}

static void stop_resolver(void)
{
    atomic_store(&rig.resolver, NULL);
    resolver_stop(resolver);
    resolver = NULL;
}

static void setup(void)
{
    struct error err;
    memset(shop.bytes, 0x51, sizeof(shop.bytes));
    memset(feed.bytes, 0x52, sizeof(feed.bytes));
    rig_start(&rig);
    ck_assert_msg(rules_new_default(&rules, &err) == ERR_OK, "%s", err.text);
}

static void teardown(void)
{
    stop_resolver();
    rules_free(rules);
    rig_stop(&rig);
}

static struct raw_frame frame_of(const struct uuid *image, uint64_t offset, enum frame_kind kind)
{
    return (struct raw_frame){
        .image = *image, .offset = offset, .image_kind = IMAGE_UUID, .kind = kind};
}

/* A report of one frame in Shop at `offset`, and one in Feed. */
static struct write_op *report(const char *id, uint64_t offset)
{
    struct raw_frame frames[2] = {frame_of(&shop, offset, FRAME_LEAF),
                                  frame_of(&feed, 0x1010, FRAME_RETURN)};
    struct op_image images[2] = {
        {.id = shop, .kind = IMAGE_UUID, .class = IMAGE_CLASS_APP, .name = "Shop"},
        {.id = feed, .kind = IMAGE_UUID, .class = IMAGE_CLASS_APP, .name = "Feed"}};
    return ops_report(APP, id, frames, 2, images, 2);
}

static size_t pending(void)
{
    struct pending_stack *stacks;
    struct error err;
    size_t count = 0;
    arena_reset(&rig.arena);
    ck_assert_msg(read_pending(rig.reader, 0, 100000, &rig.arena, &stacks, &count, &err) == ERR_OK,
                  "%s", err.text);
    return count;
}

/* The database is asked until it has nothing pending. */
static void wait_resolved(void)
{
    while (pending() > 0)
        usleep(500);
}

/* Counted at the end of a pass, a moment after the commit. */
static void wait_metric(enum metric_id id, int64_t at_least)
{
    while (metrics_get(rig.metrics, id) < at_least)
        usleep(500);
}

static struct report_row report_row(const char *id)
{
    struct report_row row;
    struct error err;
    arena_reset(&rig.arena);
    ck_assert_msg(read_report(rig.reader, APP, id, &rig.arena, &row, &err) == ERR_OK, "%s",
                  err.text);
    return row;
}

static struct cluster_row cluster_row(uint64_t id)
{
    struct cluster_row row;
    struct read_filter all;
    struct error err;
    read_filter_init(&all);
    all.include_hidden = true;
    ck_assert_msg(read_cluster(rig.reader, id, &all, &rig.arena, &row, &err) == ERR_OK, "%s",
                  err.text);
    return row;
}

/* As the indexer does it: the file, then the database. */
static void index_arrives(const struct uuid *uuid, const char *function)
{
    rig_put_index(&rig, uuid, function);
    struct write_op *op = write_op_new(WRITE_REPEND, 4096);
    op->u.repend.uuid = *uuid;
    rig_apply(&rig, op);
}

START_TEST(names_and_clusters)
{
    setup();
    start_resolver(2, 512);
    rig_put_index(&rig, &shop, "shop_load");
    rig_put_index(&rig, &feed, "feed_main");
    rig_apply(&rig, report("r1", 0x1000));
    wait_resolved();
    struct report_row r = report_row("r1");
    ck_assert(r.has_stack);
    ck_assert_uint_eq(r.stack.resolved.count, 2);
    ck_assert_int_eq(r.stack.resolved.frames[0].status, FRAME_RESOLVED);
    ck_assert_str_eq(r.stack.resolved.frames[0].frames[0].function, "shop_load");
    ck_assert_str_eq(r.stack.resolved.frames[1].frames[0].function, "feed_main");
    ck_assert_str_eq(r.stack.resolved.frames[1].image_name, "Feed");
    ck_assert_uint_ne(r.cluster_id, 0);
    struct cluster_row c = cluster_row(r.cluster_id);
    ck_assert_str_eq(c.function, "shop_load");
    ck_assert_str_eq(c.image, "Shop");
    ck_assert_uint_eq(c.figures.count, 1);
    ck_assert(!c.provisional);
    wait_metric(METRIC_STACKS_RESOLVED, 1);
    wait_metric(METRIC_FRAMES_RESOLVED, 2);
    teardown();
}
END_TEST

START_TEST(images_without_a_class_are_known_by_name)
{
    setup();
    start_resolver(1, 512);
    rig_put_index(&rig, &shop, "CTLineDraw");
    rig_put_index(&rig, &feed, "feed_main");
    struct raw_frame frames[2] = {frame_of(&shop, 0x1000, FRAME_LEAF),
                                  frame_of(&feed, 0x1010, FRAME_RETURN)};
    struct op_image images[2] = {{.id = shop, .kind = IMAGE_UUID, .name = "CoreText"},
                                 {.id = feed, .kind = IMAGE_UUID, .name = "Feed"}};
    rig_apply(&rig, ops_report(APP, "r1", frames, 2, images, 2));
    wait_resolved();
    struct report_row r = report_row("r1");
    ck_assert(!r.stack.resolved.frames[0].in_app);
    ck_assert(r.stack.resolved.frames[1].in_app);
    ck_assert_str_eq(cluster_row(r.cluster_id).function, "feed_main");
    teardown();
}
END_TEST

/* Accepts, or takes back. */
static void stand_in(const struct uuid *uuid, const struct uuid *other, bool on)
{
    struct write_op *op = write_op_new(WRITE_STAND_IN, 4096);
    op->u.stand_in = (struct op_stand_in){
        .uuid = *uuid, .stand_in = *other, .bundle_id = "", .on = on, .by_hand = true, .now_ms = 1};
    rig_apply(&rig, op);
}

/* The database knows of the index, as after an upload. */
static void knows_index(const struct uuid *uuid, const char *name)
{
    struct write_op *op = write_op_new(WRITE_UPLOAD, 4096);
    op->u.upload = (struct op_upload){.spool_file = "x",
                                      .bundle_id = APP,
                                      .version = "1.0",
                                      .build = "1",
                                      .os_build = "",
                                      .now_ms = 1};
    rig_apply(&rig, op);
    struct op_slice slice = {.shelf = *uuid,
                             .name = name,
                             .member = name,
                             .arch = "arm64",
                             .indexed = true,
                             .installed = true,
                             .text_vmaddr = 0x100000000,
                             .text_size = 0x4000};
    static uint64_t uploads;
    op = write_op_new(WRITE_UPLOAD_STATE, 4096);
    op->u.upload_state = (struct op_upload_state){
        .id = ++uploads, .state = UPLOAD_INDEXED, .slices = &slice, .slice_count = 1, .now_ms = 1};
    rig_apply(&rig, op);
}

START_TEST(a_stand_in_names_frames_until_the_true_file_comes)
{
    struct uuid other;
    setup();
    memset(other.bytes, 0x5a, sizeof(other.bytes));
    start_resolver(2, 512);
    rig_put_index(&rig, &other, "shop_load");
    rig_apply(&rig, report("r1", 0x1000));
    wait_resolved();
    ck_assert(cluster_row(report_row("r1").cluster_id).provisional);
    knows_index(&other, "Shop");
    stand_in(&shop, &other, true);
    wait_resolved();
    struct report_row r = report_row("r1");
    const struct resolved_frame *f = r.stack.resolved.frames;
    ck_assert(f[0].approximate && !f[1].approximate);
    ck_assert_int_eq(f[0].status, FRAME_RESOLVED);
    ck_assert_str_eq(f[0].frames[0].function, "shop_load");
    ck_assert(cluster_row(r.cluster_id).approximate);
    uint64_t before = r.cluster_id;
    /* Those that come later, too. */
    rig_apply(&rig, report("r2", 0x1004));
    wait_resolved();
    ck_assert_uint_eq(report_row("r2").cluster_id, before);
    /* Taken back, and given again. */
    stand_in(&shop, &other, false);
    wait_resolved();
    ck_assert(cluster_row(report_row("r1").cluster_id).provisional);
    stand_in(&shop, &other, true);
    wait_resolved();
    ck_assert(cluster_row(report_row("r1").cluster_id).approximate);
    rig_put_index(&rig, &shop, "shop_load");
    knows_index(&shop, "Shop");
    wait_resolved();
    r = report_row("r1");
    ck_assert(!r.stack.resolved.frames[0].approximate);
    ck_assert(!cluster_row(r.cluster_id).approximate);
    ck_assert_uint_eq(cluster_row(r.cluster_id).figures.count, 2);
    teardown();
}
END_TEST

START_TEST(the_device_knows_better_than_a_stand_in)
{
    struct uuid other;
    setup();
    memset(other.bytes, 0x5a, sizeof(other.bytes));
    start_resolver(1, 512);
    rig_put_index(&rig, &other, "of_another_build");
    struct raw_frame frame = frame_of(&shop, 0x1000, FRAME_LEAF);
    frame.symbol = "from_the_device";
    struct op_image image = {
        .id = shop, .kind = IMAGE_UUID, .class = IMAGE_CLASS_APP, .name = "Shop"};
    rig_apply(&rig, ops_report(APP, "r1", &frame, 1, &image, 1));
    knows_index(&other, "Shop");
    stand_in(&shop, &other, true);
    wait_resolved();
    struct report_row r = report_row("r1");
    ck_assert(!r.stack.resolved.frames[0].approximate);
    ck_assert_str_eq(r.stack.resolved.frames[0].frames[0].function, "from_the_device");
    ck_assert(!cluster_row(r.cluster_id).approximate);
    teardown();
}
END_TEST

START_TEST(a_late_index_moves_its_stacks)
{
    setup();
    start_resolver(2, 512);
    rig_apply(&rig, report("r1", 0x1000));
    rig_apply(&rig, report("r2", 0x1080));
    wait_resolved();
    struct report_row r = report_row("r1");
    uint64_t before = r.cluster_id;
    ck_assert_uint_ne(before, 0);
    ck_assert_int_eq(r.stack.resolved.frames[0].status, FRAME_NO_SYMBOLS);
    ck_assert(cluster_row(before).provisional);
    ck_assert_uint_ne(report_row("r2").cluster_id, before);

    index_arrives(&shop, "shop_load");
    wait_resolved();
    r = report_row("r1");
    ck_assert_str_eq(r.stack.resolved.frames[0].frames[0].function, "shop_load");
    uint64_t after = r.cluster_id;
    ck_assert_uint_eq(report_row("r2").cluster_id, after);
    struct cluster_row c = cluster_row(after);
    ck_assert(!c.provisional);
    ck_assert_uint_eq(c.figures.count, 2);
    ck_assert_uint_eq(cluster_row(before).id, after); /* its id lives on as an alias */
    teardown();
}
END_TEST

/* What was pending when the daemon went down is taken without anybody ringing. */
START_TEST(takes_up_what_waits_at_start)
{
    char id[32];
    setup();
    rig_put_index(&rig, &shop, "shop_load");
    for (int i = 0; i < 100; i++) {
        snprintf(id, sizeof(id), "r%d", i);
        rig_apply(&rig, report(id, 0x1000 + (uint64_t)i));
    }
    ck_assert_uint_eq(pending(), 100);
    start_resolver(1, 7);
    wait_resolved();
    wait_metric(METRIC_STACKS_RESOLVED, 100);
    teardown();
}
END_TEST

START_TEST(many_pages_many_workers)
{
    enum { COUNT = 1500 };
    struct ops_tally tally;
    struct error err;
    char id[32];
    setup();
    ops_tally_init(&tally);
    rig_put_index(&rig, &shop, "shop_load");
    rig_put_index(&rig, &feed, "feed_main");
    start_resolver(4, 200);
    for (int i = 0; i < COUNT; i++) {
        snprintf(id, sizeof(id), "r%d", i);
        struct write_op *op =
            report(id, 0x1000 + (uint64_t)i % 0x100 + (uint64_t)(i / 0x100) * 0x1000);
        op->done = ops_tally_done;
        op->user = &tally;
        while (writer_submit(rig.writer, op, &err) != ERR_OK)
            usleep(500);
    }
    ops_tally_wait(&tally, COUNT);
    ck_assert_uint_eq(tally.failed, 0);
    wait_resolved();
    wait_metric(METRIC_STACKS_RESOLVED, COUNT);
    ck_assert_int_eq(metrics_get(rig.metrics, METRIC_STACKS_LATE), 0);
    teardown();
}
END_TEST

START_TEST(a_damaged_stack_holds_nothing_up)
{
    setup();
    rig_put_index(&rig, &shop, "shop_load");
    struct write_op *bad = report("bad", 0x1001);
    struct op_stack *s = bad->u.batches.items[0].stacks;
    s->raw = "\xff\xff\xff damaged";
    s->raw_len = 11;
    rig_apply(&rig, report("r1", 0x1000));
    rig_apply(&rig, bad);
    rig_apply(&rig, report("r2", 0x1002));
    start_resolver(1, 512);
    wait_resolved();
    wait_metric(METRIC_STACKS_RESOLVED, 3);
    ck_assert_str_eq(cluster_row(report_row("r2").cluster_id).function, "shop_load");
    teardown();
}
END_TEST

static void damage_counters(const char *report)
{
    char sql[200], path[600];
    sqlite3 *db = NULL;
    snprintf(path, sizeof(path), "%s/test.db", rig.dir);
    snprintf(sql, sizeof(sql), "UPDATE counters SET hist = x'ffffff' WHERE stack_id = %llu",
             (unsigned long long)report_row(report).stack.stack_id);
    ck_assert_int_eq(sqlite3_open(path, &db), SQLITE_OK);
    ck_assert_int_eq(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    ck_assert_int_eq(sqlite3_changes(db), 1);
    sqlite3_close(db);
}

/* Those of its op were never resolved, nor were those that came later. */
START_TEST(a_stack_that_the_writer_refuses_holds_nothing_up)
{
    char id[8];
    setup();
    rig_put_index(&rig, &shop, "shop_load");
    for (uint64_t i = 0; i < 6; i++) {
        snprintf(id, sizeof(id), "r%d", (int)i);
        rig_apply(&rig, report(id, 0x1000 + i));
    }
    damage_counters("r3");
    start_resolver(2, 512);
    for (int n = 0; n < 20000 && pending() > 1; n++)
        usleep(500);
    ck_assert_uint_eq(pending(), 1);
    rig_apply(&rig, report("later", 0x1010));
    for (int n = 0; n < 20000 && pending() > 1; n++)
        usleep(500);
    ck_assert_uint_eq(pending(), 1);
    ck_assert_str_eq(cluster_row(report_row("later").cluster_id).function, "shop_load");
    ck_assert_uint_eq(report_row("r3").cluster_id, 0);
    teardown();
}
END_TEST

static void upload_indexed(const struct uuid *uuid, const char *name, uint64_t vmaddr,
                           uint64_t size)
{
    struct op_slice slice = {.shelf = *uuid,
                             .name = name,
                             .member = "",
                             .arch = "arm64",
                             .indexed = true,
                             .installed = true,
                             .functions = 1,
                             .text_vmaddr = vmaddr,
                             .text_size = size};
    struct write_op *op = write_op_new(WRITE_UPLOAD, 4096);
    struct error err;
    op->u.upload = (struct op_upload){.spool_file = "1-x.part",
                                      .bundle_id = "",
                                      .version = "",
                                      .build = "",
                                      .os_build = "",
                                      .now_ms = OPS_TIME_MS};
    ck_assert_msg(rig_call(&rig, op, &err) == ERR_OK, "%s", err.text);
    uint64_t id = op->u.upload.id;
    write_op_free(op);
    op = write_op_new(WRITE_UPLOAD_STATE, 4096);
    op->u.upload_state = (struct op_upload_state){.id = id,
                                                  .state = UPLOAD_INDEXED,
                                                  .slices = &slice,
                                                  .slice_count = 1,
                                                  .now_ms = OPS_TIME_MS};
    rig_apply(&rig, op);
}

/* The database says there is an index, the folder says no: the stack must not go round for ever. */
START_TEST(an_index_that_is_gone_is_not_waited_for)
{
    setup();
    start_resolver(1, 512);
    upload_indexed(&shop, "Shop", 0x100000000, 0x10000);
    rig_apply(&rig, report("r1", 0x1000));
    wait_resolved();
    wait_metric(METRIC_STACKS_LATE, 1);
    ck_assert_uint_ne(report_row("r1").cluster_id, 0);
    ck_assert(cluster_row(report_row("r1").cluster_id).provisional);
    /* Nor is the stack forgotten when the index is put back. */
    rig_put_index(&rig, &shop, "shop_load");
    upload_indexed(&shop, "Shop", 0x100000000, 0x10000);
    wait_resolved();
    ck_assert_str_eq(report_row("r1").stack.resolved.frames[0].frames[0].function, "shop_load");
    ck_assert(!cluster_row(report_row("r1").cluster_id).provisional);
    teardown();
}
END_TEST

/* Slide alone: the frame waits in its group until a member's place is known. */
START_TEST(slide_groups_are_placed)
{
    setup();
    struct uuid group = image_group_id("20G75", "arm64");
    struct raw_frame frames[1] = {{.image = group,
                                   .image_kind = IMAGE_GROUP,
                                   .kind = FRAME_LEAF,
                                   .offset = UINT64_C(0x180001010)}};
    struct op_image images[2] = {{.id = feed,
                                  .kind = IMAGE_UUID,
                                  .class = IMAGE_CLASS_SYSTEM,
                                  .name = "libfeed.dylib",
                                  .in_group = true,
                                  .group = group},
                                 {.id = group, .kind = IMAGE_GROUP, .name = ""}};
    start_resolver(1, 512);
    rig_apply(&rig, ops_report(APP, "r1", frames, 1, images, 2));
    wait_resolved();
    struct report_row r = report_row("r1");
    ck_assert_uint_eq(r.stack.resolved.frames[0].frame_count, 0);

    rig_put_index(&rig, &feed, "feed_main"); /* its functions lie at 0x100001000 + */
    upload_indexed(&feed, "libfeed.dylib", UINT64_C(0x180000000), 0x10000);
    wait_resolved();
    r = report_row("r1");
    ck_assert(uuid_equal(&r.stack.resolved.frames[0].image, &feed));
    ck_assert_uint_eq(r.stack.resolved.frames[0].offset, 0x1010);
    teardown();
}
END_TEST

START_TEST(waiting_ends_after_a_time)
{
    struct error err;
    setup();
    start_resolver(1, 512);
    rig_put_index(&rig, &feed, "feed_main");
    rig_apply(&rig, report("r1", 0x1000));
    wait_resolved();
    ck_assert(cluster_row(report_row("r1").cluster_id).provisional);
    struct write_op *op = write_op_new(WRITE_GIVE_UP, 4096);
    op->u.give_up.before_ms = INT64_MAX;
    ck_assert_int_eq(rig_call(&rig, op, &err), ERR_OK);
    ck_assert_uint_eq(op->u.give_up.count, 1);
    write_op_free(op);
    wait_resolved();
    struct cluster_row c = cluster_row(report_row("r1").cluster_id);
    ck_assert(!c.provisional);
    ck_assert_str_eq(c.function, "feed_main");
    teardown();
}
END_TEST

/* A commit that fails costs a second, not a stack. */
START_TEST(a_failed_commit_is_tried_again)
{
    struct rlimit limit = {.rlim_cur = 4096, .rlim_max = RLIM_INFINITY};
    signal(SIGXFSZ, SIG_IGN);
    setup();
    rig_put_index(&rig, &shop, "shop_load");
    rig_apply(&rig, report("r1", 0x1000));
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
    start_resolver(1, 512);
    while (metrics_get(rig.metrics, METRIC_COMMIT_FAILURES) == 0)
        usleep(500);
    ck_assert_uint_eq(pending(), 1);
    limit.rlim_cur = RLIM_INFINITY;
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
    wait_resolved();
    wait_metric(METRIC_STACKS_RESOLVED, 1);
    teardown();
}
END_TEST

START_TEST(stops_at_once_whatever_is_pending)
{
    char id[32];
    setup();
    for (int i = 0; i < 300; i++) {
        snprintf(id, sizeof(id), "r%d", i);
        rig_apply(&rig, report(id, 0x1000 + (uint64_t)i));
    }
    for (int i = 0; i < 5; i++) {
        start_resolver(2, 3);
        stop_resolver();
    }
    start_resolver(2, 100);
    wait_resolved();
    ck_assert_int_eq(metrics_get(rig.metrics, METRIC_STACKS_LATE), 0);
    teardown();
}
END_TEST

UNIT_MAIN("resolver", a_stand_in_names_frames_until_the_true_file_comes,
          the_device_knows_better_than_a_stand_in, names_and_clusters,
          images_without_a_class_are_known_by_name, a_late_index_moves_its_stacks,
          takes_up_what_waits_at_start, many_pages_many_workers, a_damaged_stack_holds_nothing_up,
          a_stack_that_the_writer_refuses_holds_nothing_up, an_index_that_is_gone_is_not_waited_for,
          slide_groups_are_placed, waiting_ends_after_a_time, a_failed_commit_is_tried_again,
          stops_at_once_whatever_is_pending)
