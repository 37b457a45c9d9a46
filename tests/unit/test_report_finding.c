#include "server/jobs/report_finding.h"

#include <string.h>

#include "tests/support/stacks.h"
#include "tests/support/unit.h"

#define LOOP "CoreFoundation __CFRunLoopRun\nUIKitCore UIApplicationMain\nShop!main\ndyld start\n"
#define IDLE                                                                                       \
    "libsystem_kernel.dylib mach_msg2_trap\nCoreFoundation __CFRunLoopServiceMachPort\n" LOOP
#define LOCK    "libsystem_kernel.dylib __psynch_mutexwait\n"
#define ROWS    16
#define PENDING NULL

static struct arena arena;
static struct rules *rules;
static struct report_row report;
static struct sample_row samples[ROWS];
static struct thread_row threads[ROWS];
static struct report_finding found;

static void start(void)
{
    arena_init(&arena, 8 << 20);
    ck_assert_int_eq(rules_new_default(&rules, NULL), ERR_OK);
    report = (struct report_row){.samples = samples, .threads = threads, .duration_ms = -1};
}

static void done(void)
{
    rules_free(rules);
    arena_done(&arena);
}

/* As storage gives a stack that was resolved; equal texts are one stack. */
static struct stack_row stack_of(const char *text)
{
    struct stack_row s = {.bundle_id = "app", .pending = !text, .stack_id = 1};
    struct cluster_verdict v;
    for (const char *p = text ? text : ""; *p; p++)
        s.stack_id = s.stack_id * 31 + (uint8_t)*p;
    if (!text)
        return s;
    s.resolved = stack_from_text(text, &arena);
    struct raw_frame *raw = arena_array(&arena, s.resolved.count + 1, sizeof(*raw));
    for (size_t i = 0; i < s.resolved.count; i++)
        raw[i] = s.resolved.frames[i].raw;
    s.raw = (struct raw_stack){raw, s.resolved.count};
    ck_assert_int_eq(cluster_key_of(rules, NULL, "app", &s.resolved, &arena, &v, NULL), ERR_OK);
    memcpy(s.part, v.key, sizeof(s.part));
    s.cluster_kind = (uint8_t)v.kind;
    s.provisional = v.kind == CLUSTER_PROVISIONAL;
    return s;
}

static void sample(int32_t offset_ms, uint32_t repeats, const char *text)
{
    samples[report.sample_count++] = (struct sample_row){
        .offset_ms = offset_ms, .repeat_count = repeats, .stack = stack_of(text)};
}

static struct thread_row *thread(int64_t tid, int64_t owner_tid, const char *text)
{
    struct thread_row *t = &threads[report.thread_count++];
    *t = (struct thread_row){.tid = tid, .owner_tid = owner_tid, .has_stack = text != NULL};
    t->waits_kind = owner_tid >= 0 ? "mutex" : NULL;
    if (text)
        t->stack = stack_of(text);
    return t;
}

static void find(bool names)
{
    struct error err = {0};
    enum err e = report_finding_of(rules, &report, names, &arena, &found, &err);
    ck_assert_msg(e == ERR_OK, "%s", err.text);
}

START_TEST(stages_by_key_whatever_is_on_top)
{
    start();
    report.duration_ms = 1240;
    sample(0, 1, "Shop!Feed.reload()\n" LOOP);
    sample(200, 1,
           "libsystem_platform.dylib _platform_memmove\nShop!Feed.decode()\n"
           "Shop!Feed.reload()\n" LOOP);
    sample(700, 1, "Shop!Feed.decode()\nShop!Feed.reload()\n" LOOP);
    sample(1200, 1, IDLE);
    find(false);
    ck_assert(found.has_culprit && !found.unknown);
    ck_assert_uint_eq(found.culprit.stage_count, 3);
    ck_assert_uint_eq(found.culprit.sample, 2);
    ck_assert_int_eq(found.culprit.stages[1].length_ms, 1000);
    ck_assert_double_eq_tol(found.culprit.confidence, 1000 / 1240.0, 1e-9);
    find(true);
    ck_assert_uint_eq(found.culprit.sample, 2);
    ck_assert_str_eq(found.titles[2], "Feed.decode()");
    ck_assert_uint_eq(found.sample_names[2].count, 2);
    ck_assert_str_eq(found.sample_names[2].names[1], "Feed.reload()");
    ck_assert_str_eq(found.culprit.nodes[0].name, "Feed.reload()");
    ck_assert_int_eq(found.culprit.nodes[0].length_ms, 1200);
    ck_assert_str_eq(found.culprit.nodes[1].name, "Feed.decode()");
    ck_assert_uint_eq(found.culprit.nodes[1].parent, 0);
    done();
}
END_TEST

START_TEST(an_idle_app_only_when_there_is_nothing_else)
{
    start();
    report.duration_ms = 5000;
    sample(0, 1, "Shop!Feed.decode()\n" LOOP);
    sample(100, 1, IDLE);
    find(false);
    ck_assert_uint_eq(found.culprit.sample, 0);
    report.sample_count = 0;
    sample(0, 1, IDLE);
    sample(100, 1, IDLE);
    find(false);
    ck_assert_uint_eq(found.culprit.sample, 1);
    done();
}
END_TEST

START_TEST(samples_without_times_or_with_repeats)
{
    start();
    sample(0, 5, "Shop!a\n");
    sample(0, 2, "Shop!b\n");
    find(false);
    ck_assert_uint_eq(found.culprit.sample, 0);
    ck_assert_double_eq_tol(found.culprit.confidence, 5 / 7.0, 1e-9);
    ck_assert_int_eq(found.culprit.total_ms, 0);
    report.duration_ms = 700; /* which they share */
    find(false);
    ck_assert_uint_eq(found.culprit.sample, 0);
    ck_assert_int_eq(found.culprit.total_ms, 700);
    ck_assert_int_eq(found.culprit.stages[1].start_ms, 500);
    /* The last one repeats: so long as the usual one, so many times. */
    report.sample_count = 0;
    report.duration_ms = -1;
    sample(0, 1, "Shop!a\n");
    sample(50, 3, "Shop!b\n");
    find(false);
    ck_assert_uint_eq(found.culprit.sample, 1);
    ck_assert_int_eq(found.culprit.stages[1].length_ms, 150);
    /* In any order. */
    report.sample_count = 0;
    report.duration_ms = 300;
    sample(200, 1, "Shop!b\n");
    sample(0, 1, "Shop!a\n");
    sample(100, 1, "Shop!a\n");
    find(false);
    ck_assert_uint_eq(found.culprit.sample, 2);
    /* One alone. */
    report.sample_count = 0;
    sample(100, 1, "Shop!a\n");
    find(true);
    ck_assert(found.has_culprit);
    ck_assert_double_eq_tol(found.culprit.confidence, 1, 1e-9);
    ck_assert_int_eq(found.culprit.total_ms, 200);
    done();
}
END_TEST

START_TEST(without_symbols_the_frames_below_the_leaf_tell)
{
    start();
    report.duration_ms = 400;
    sample(0, 1, "Shop!?10\nShop!?200\n");
    sample(100, 1, "Shop!?18\nShop!?200\n");
    sample(200, 1, "Shop!?10\nShop!?300\n");
    find(true);
    ck_assert_uint_eq(found.culprit.stage_count, 2);
    ck_assert_uint_eq(found.culprit.sample, 2); /* equally long: the most recent */
    ck_assert_str_eq(found.culprit.nodes[0].name, "Shop+0x200");
    /* Frames of no image at all are one stage. */
    report.sample_count = 0;
    sample(0, 1, "-\n-\n");
    sample(100, 1, "-\n-\n-\n");
    sample(200, 1, "Shop!a\n");
    find(false);
    ck_assert_uint_eq(found.culprit.stage_count, 2);
    done();
}
END_TEST

START_TEST(what_is_pending_is_not_told)
{
    start();
    sample(0, 1, "Shop!a\n");
    sample(100, 1, PENDING);
    find(false);
    ck_assert(found.unknown);
    ck_assert(!found.has_culprit);
    find(true); /* to be shown: as far as it is known */
    ck_assert(found.unknown);
    ck_assert(found.has_culprit);
    report.sample_count = 0;
    thread(1, 2, LOCK "Shop!a\n");
    thread(2, -1, LOCK "Shop!b\n")->stack.pending = true;
    find(false);
    ck_assert(found.unknown);
    threads[0].waits_kind = NULL; /* nobody waits: nothing to find */
    find(false);
    ck_assert(!found.unknown && !found.has_culprit && !found.deadlock.found);
    done();
}
END_TEST

START_TEST(owners_and_queues)
{
    start();
    thread(771, 9012, LOCK "Shop!Feed.save()\n")->stalled = true;
    thread(9012, 771, LOCK "Shop!Store.sync()\n");
    find(true);
    ck_assert(found.deadlock.found && found.deadlock.stalled_inside);
    ck_assert_str_eq(found.deadlock.members[1].culprit, "Store.sync()");
    /* The main thread waits for a queue, whose thread waits for the main queue. */
    report.thread_count = 0;
    struct thread_row *main = thread(1, -1, LOCK "Shop!a\n");
    struct thread_row *db = thread(2, -1, LOCK "Shop!b\n");
    main->name = "main";
    main->waits_kind = db->waits_kind = "dispatch_sync";
    main->waits_queue = "com.shop.db";
    db->waits_queue = "com.apple.main-thread";
    db->queue = "com.shop.db";
    find(false);
    ck_assert(found.deadlock.found);
    ck_assert_uint_eq(found.deadlock.member_count, 2);
    db->queue = NULL;
    db->name = "com.shop.db"; /* a thread named after its queue */
    find(false);
    ck_assert(found.deadlock.found);
    db->name = "com.shop.other";
    find(false);
    ck_assert(!found.deadlock.found);
    /* dispatch_sync onto the own queue. */
    main->waits_queue = "com.apple.main-thread";
    find(true);
    ck_assert_uint_eq(found.deadlock.member_count, 1);
    ck_assert_str_eq(found.deadlock.members[0].culprit, "a");
    /* Its innermost frame says that it runs. */
    main->stack = stack_of("Shop!a\n");
    find(false);
    ck_assert(!found.deadlock.found);
    /* No stack at all: the report's word. */
    main->has_stack = false;
    find(true);
    ck_assert_uint_eq(found.deadlock.member_count, 1);
    ck_assert_ptr_null(found.deadlock.members[0].culprit);
    done();
}
END_TEST

UNIT_MAIN("report_finding", stages_by_key_whatever_is_on_top,
          an_idle_app_only_when_there_is_nothing_else, samples_without_times_or_with_repeats,
          without_symbols_the_frames_below_the_leaf_tell, what_is_pending_is_not_told,
          owners_and_queues)
