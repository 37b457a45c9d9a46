/* Against the SQLite backend: what is claimed about commits has to hold on a disk. */
#include "server/jobs/writer.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "storage/storage_read.h"
#include "tests/support/ops.h"
#include "tests/support/temp_dir.h"
#include "tests/support/unit.h"

static char *dir;
static struct storage *storage;
static struct metrics *metrics;
static struct writer *writer;
static struct ops_tally tally;
static atomic_int rings;
static atomic_int layouts_told;

static void on_bell(void *ctx)
{
    ck_assert_ptr_eq(ctx, &rings);
    atomic_fetch_add(&rings, 1);
}

static void on_layout(void *ctx, const char *bundle_id, const struct uuid *uuid, uint64_t vmaddr)
{
    ck_assert_str_eq(bundle_id, "com.example.shop");
    (void)ctx;
    ck_assert(!uuid_is_nil(uuid));
    atomic_fetch_add(&layouts_told, (int)(vmaddr >> 32));
}

static struct writer_options options_default(void)
{
    return (struct writer_options){.queue_capacity = 1000,
                                   .high_mark = 100,
                                   .group_ops = 512,
                                   .group_ms = 10000,
                                   .wal_high_bytes = 1 << 30,
                                   .pending_bell = on_bell,
                                   .layout_claimed = on_layout,
                                   .bell_ctx = &rings};
}

static void setup_with(const struct writer_options *o)
{
    char path[512];
    struct error err;
    dir = temp_dir_new();
    snprintf(path, sizeof(path), "%s/test.db", dir);
    struct storage_options so = {.backend = "sqlite",
                                 .path = path,
                                 .synchronous_full = true,
                                 .busy_ms = 1000,
                                 .retry_days = 3,
                                 .daily_values = 1000,
                                 .migrate = true};
    ck_assert_msg(storage_open(&so, &storage, &err) == ERR_OK, "%s", err.text);
    metrics = metrics_new();
    ops_tally_init(&tally);
    ck_assert_msg(writer_start(storage, o, metrics, &writer, &err) == ERR_OK, "%s", err.text);
}

static void setup(void)
{
    struct writer_options o = options_default();
    setup_with(&o);
}

static void teardown(void)
{
    writer_stop(writer);
    storage_close(storage);
    metrics_free(metrics);
    temp_dir_free(dir);
}

static size_t tokens_stored(void)
{
    struct storage_reader *reader;
    struct token_row *rows;
    struct arena arena;
    struct error err;
    size_t count = 0;
    arena_init(&arena, 64 << 20);
    ck_assert_msg(storage_reader_open(storage, &reader, &err) == ERR_OK, "%s", err.text);
    ck_assert_msg(read_tokens(reader, &arena, &rows, &count, &err) == ERR_OK, "%s", err.text);
    storage_reader_close(reader);
    arena_done(&arena);
    return count;
}

static void submit(struct write_op *op)
{
    struct error err;
    op->done = ops_tally_done;
    op->user = &tally;
    ck_assert_msg(writer_submit(writer, op, &err) == ERR_OK, "%s", err.text);
}

/* --- holding the writer's thread, so that a group is what the test says ----------------------- */

struct gate {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool entered, open;
};
static struct gate gate = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, false, false};

static void gate_done(struct write_op *op, enum err rc, const struct error *err)
{
    (void)rc;
    (void)err;
    pthread_mutex_lock(&gate.lock);
    gate.entered = true;
    pthread_cond_broadcast(&gate.changed);
    while (!gate.open)
        pthread_cond_wait(&gate.changed, &gate.lock);
    pthread_mutex_unlock(&gate.lock);
    write_op_free(op);
}

static void close_gate(void)
{
    struct write_op *op = ops_token(0);
    struct error err;
    op->done = gate_done;
    ck_assert_int_eq(writer_submit(writer, op, &err), ERR_OK);
    pthread_mutex_lock(&gate.lock);
    while (!gate.entered)
        pthread_cond_wait(&gate.changed, &gate.lock);
    pthread_mutex_unlock(&gate.lock);
}

static void open_gate(void)
{
    pthread_mutex_lock(&gate.lock);
    gate.open = true;
    pthread_cond_broadcast(&gate.changed);
    pthread_mutex_unlock(&gate.lock);
}

/* ---------------------------------------------------------------------------------------------- */

START_TEST(an_answer_means_it_is_stored)
{
    struct error err;
    setup();
    for (uint32_t i = 1; i <= 20; i++) {
        struct write_op *op = ops_token(i);
        ck_assert_msg(writer_call(writer, op, &err) == ERR_OK, "%s", err.text);
        ck_assert_uint_ne(op->u.token.id, 0);
        write_op_free(op);
        ck_assert_uint_eq(tokens_stored(), i);
    }
    ck_assert_int_eq(metrics_get(metrics, METRIC_OPS), 20);
    ck_assert_int_eq(metrics_get(metrics, METRIC_OPS_FAILED), 0);
    ck_assert_int_eq(metrics_get(metrics, METRIC_COMMITS), 20);
    teardown();
}
END_TEST

START_TEST(what_waits_is_one_group)
{
    setup();
    close_gate();
    for (uint32_t i = 1; i <= 200; i++)
        submit(ops_token(i));
    int64_t before = metrics_get(metrics, METRIC_COMMITS);
    open_gate();
    ops_tally_wait(&tally, 200);
    ck_assert_int_eq(metrics_get(metrics, METRIC_COMMITS), before + 1);
    ck_assert_uint_eq(tally.failed, 0);
    ck_assert_uint_eq(tokens_stored(), 201);
    teardown();
}
END_TEST

START_TEST(groups_have_a_cap)
{
    struct writer_options o = options_default();
    o.group_ops = 10;
    setup_with(&o);
    close_gate();
    for (uint32_t i = 1; i <= 95; i++)
        submit(ops_token(i));
    int64_t before = metrics_get(metrics, METRIC_COMMITS);
    open_gate();
    ops_tally_wait(&tally, 95);
    ck_assert_int_eq(metrics_get(metrics, METRIC_COMMITS), before + 10);
    teardown();
}
END_TEST

/* No time to gather: each op is a group of its own, and nothing is lost by it. */
START_TEST(groups_have_a_time)
{
    struct writer_options o = options_default();
    o.group_ms = 0;
    setup_with(&o);
    close_gate();
    for (uint32_t i = 1; i <= 5; i++)
        submit(ops_token(i));
    int64_t before = metrics_get(metrics, METRIC_COMMITS);
    open_gate();
    ops_tally_wait(&tally, 5);
    ck_assert_int_eq(metrics_get(metrics, METRIC_COMMITS), before + 5);
    teardown();
}
END_TEST

START_TEST(a_bad_op_fails_alone)
{
    setup();
    close_gate();
    for (uint32_t i = 1; i <= 30; i++)
        submit(i % 3 == 0 ? ops_refused() : ops_token(i));
    int64_t before = metrics_get(metrics, METRIC_COMMITS);
    open_gate();
    ops_tally_wait(&tally, 30);
    ck_assert_uint_eq(tally.failed, 10);
    ck_assert_int_eq(tally.last.code, ERR_NOT_FOUND);
    ck_assert_int_eq(metrics_get(metrics, METRIC_COMMITS), before + 1);
    ck_assert_int_eq(metrics_get(metrics, METRIC_OPS_FAILED), 10);
    ck_assert_uint_eq(tokens_stored(), 21);
    char problem[256];
    writer_problem(writer, problem, sizeof(problem));
    ck_assert_str_eq(problem, "");
    teardown();
}
END_TEST

START_TEST(a_full_queue_says_busy)
{
    struct error err;
    struct writer_options o = options_default();
    o.queue_capacity = 8;
    o.high_mark = 5;
    setup_with(&o);
    close_gate();
    for (uint32_t i = 1; i <= 8; i++) {
        ck_assert_int_eq(writer_is_busy(writer), i > 5);
        submit(ops_token(i));
    }
    ck_assert(writer_is_busy(writer));
    struct write_op *op = ops_token(9);
    ck_assert_int_eq(writer_submit(writer, op, &err), ERR_BUSY);
    ck_assert_int_eq(writer_call(writer, op, &err), ERR_BUSY);
    write_op_free(op);
    open_gate();
    ops_tally_wait(&tally, 8);
    ck_assert(!writer_is_busy(writer));
    ck_assert_uint_eq(tokens_stored(), 9);
    teardown();
}
END_TEST

/* A cap on the size of files stands for a full disk: the log cannot grow. */
START_TEST(a_failed_commit_fails_its_whole_group)
{
    struct error err;
    char problem[256];
    signal(SIGXFSZ, SIG_IGN);
    setup();
    close_gate();
    for (uint32_t i = 1; i <= 50; i++)
        submit(ops_token(i));
    struct rlimit limit = {.rlim_cur = 4096, .rlim_max = RLIM_INFINITY};
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
    open_gate();
    ops_tally_wait(&tally, 50);
    ck_assert_uint_eq(tally.failed, 50);
    ck_assert_int_eq(tally.last.code, ERR_IO);
    writer_problem(writer, problem, sizeof(problem));
    ck_assert_str_ne(problem, "");
    ck_assert_int_ge(metrics_get(metrics, METRIC_COMMIT_FAILURES), 1);

    struct write_op *op = ops_token(77);
    ck_assert_int_eq(writer_call(writer, op, &err), ERR_IO);
    limit.rlim_cur = RLIM_INFINITY;
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
    ck_assert_msg(writer_call(writer, op, &err) == ERR_OK, "%s", err.text);
    write_op_free(op);
    writer_problem(writer, problem, sizeof(problem));
    ck_assert_str_eq(problem, "");
    ck_assert_uint_eq(tokens_stored(), 2); /* the gate's and the last: nothing of what failed */
    teardown();
}
END_TEST

START_TEST(stop_answers_everything)
{
    setup();
    close_gate();
    for (uint32_t i = 1; i <= 700; i++)
        submit(ops_token(i));
    open_gate();
    writer_stop(writer);
    writer = NULL;
    ck_assert_uint_eq(tally.done, 700);
    ck_assert_uint_eq(tally.failed, 0);
    ck_assert_uint_eq(tokens_stored(), 701);
    teardown();
}
END_TEST

static void *call_many(void *arg)
{
    uint32_t base = *(uint32_t *)arg;
    struct error err;
    for (uint32_t i = 0; i < 100; i++) {
        struct write_op *op = i % 10 == 9 ? ops_refused() : ops_token(base + i);
        enum err rc = writer_call(writer, op, &err);
        ck_assert_int_eq(rc, i % 10 == 9 ? ERR_NOT_FOUND : ERR_OK);
        write_op_free(op);
    }
    return NULL;
}

START_TEST(many_callers)
{
    pthread_t threads[8];
    uint32_t bases[8];
    setup();
    for (uint32_t i = 0; i < 8; i++) {
        bases[i] = 1000 * (i + 1);
        ck_assert_int_eq(pthread_create(&threads[i], NULL, call_many, &bases[i]), 0);
    }
    for (int i = 0; i < 8; i++)
        pthread_join(threads[i], NULL);
    ck_assert_uint_eq(tokens_stored(), 720);
    ck_assert_int_eq(metrics_get(metrics, METRIC_OPS), 720);
    ck_assert_int_eq(metrics_get(metrics, METRIC_OPS_FAILED), 80);
    teardown();
}
END_TEST

START_TEST(the_bell_rings_for_new_stacks_only)
{
    struct error err;
    struct raw_frame frames[2] = {{.image_kind = IMAGE_UUID, .offset = 0x1000, .kind = FRAME_LEAF},
                                  {.image_kind = IMAGE_UUID, .offset = 64, .kind = FRAME_RETURN}};
    struct op_image image = {.kind = IMAGE_UUID, .name = "Shop", .has_vmaddr = false};
    memset(frames[0].image.bytes, 0x11, 16);
    frames[1].image = image.id = frames[0].image;
    setup();
    struct write_op *op = ops_token(1);
    ck_assert_int_eq(writer_call(writer, op, &err), ERR_OK);
    write_op_free(op);
    ck_assert_int_eq(atomic_load(&rings), 0);

    op = ops_report("com.example.shop", "r1", frames, 2, &image, 1);
    ck_assert_msg(writer_call(writer, op, &err) == ERR_OK, "%s", err.text);
    ck_assert_uint_ne(op->u.batches.items[0].stacks[0].added_id, 0);
    write_op_free(op);
    op = ops_token(2); /* bells ring after the answers: one more round and it has rung */
    ck_assert_int_eq(writer_call(writer, op, &err), ERR_OK);
    write_op_free(op);
    ck_assert_int_eq(atomic_load(&rings), 1);
    ck_assert_int_eq(atomic_load(&layouts_told), 0);

    image.has_vmaddr = true;
    image.vmaddr = (uint64_t)3 << 32;
    op = ops_report("com.example.shop", "r2", frames, 2, &image, 1);
    ck_assert_msg(writer_call(writer, op, &err) == ERR_OK, "%s", err.text);
    ck_assert_uint_eq(op->u.batches.items[0].stacks[0].added_id, 0);
    write_op_free(op);
    ck_assert_int_eq(atomic_load(&layouts_told), 3);
    ck_assert_int_eq(atomic_load(&rings), 1); /* it places no frame of a stack that waits */
    teardown();
}
END_TEST

START_TEST(the_log_is_kept_short)
{
    struct error err;
    struct writer_options o = options_default();
    o.wal_high_bytes = 256 * 1024;
    setup_with(&o);
    for (uint32_t i = 1; i <= 300; i++) {
        struct write_op *op = ops_token(i);
        ck_assert_int_eq(writer_call(writer, op, &err), ERR_OK);
        write_op_free(op);
        ck_assert(!writer_is_busy(writer));
    }
    /* 300 commits of several pages each are far more than the mark. */
    ck_assert_uint_lt(storage_wal_bytes(storage), o.wal_high_bytes);
    teardown();
}
END_TEST

UNIT_MAIN("writer", an_answer_means_it_is_stored, what_waits_is_one_group, groups_have_a_cap,
          groups_have_a_time, a_bad_op_fails_alone, a_full_queue_says_busy,
          a_failed_commit_fails_its_whole_group, stop_answers_everything, many_callers,
          the_bell_rings_for_new_stacks_only, the_log_is_kept_short)
