#include "server/jobs/readers.h"

#include <stdatomic.h>
#include <string.h>

#include "base/clock.h"
#include "tests/support/rig.h"
#include "tests/support/unit.h"

static struct rig rig;
static struct readers *readers;

static void setup_with(size_t threads, size_t capacity, int64_t deadline_ms)
{
    struct error err;
    struct readers_options options = {.threads = threads,
                                      .queue_capacity = capacity,
                                      .deadline_ms = deadline_ms,
                                      .frame_cache_entries = 64,
                                      .arena_limit = 1 << 20};
    rig_start(&rig);
    ck_assert_msg(readers_start(rig.storage, rig.cache, &options, rig.metrics, &readers, &err) ==
                      ERR_OK,
                  "%s", err.text);
}

static void teardown(void)
{
    readers_stop(readers);
    rig_stop(&rig);
}

/* A job of the tests: what it shall do, and what became of it. */
struct job {
    struct read_job base;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool hold;    /* stay in run() until let go */
    bool running; /* inside run() */
    int done;
    enum err rc;
    struct error error;
    size_t tokens;
    int order;
};
static atomic_int next_order;

static enum err run_job(struct read_job *base, const struct read_tools *tools, struct error *err)
{
    struct job *j = (struct job *)base;
    struct token_row *rows;
    pthread_mutex_lock(&j->lock);
    j->running = true;
    j->order = atomic_fetch_add(&next_order, 1);
    pthread_cond_broadcast(&j->changed);
    while (j->hold)
        pthread_cond_wait(&j->changed, &j->lock);
    pthread_mutex_unlock(&j->lock);
    ck_assert_uint_eq(tools->arena->used, 0);
    ck_assert_ptr_nonnull(tools->symbolizer);
    ck_assert_ptr_nonnull(arena_alloc(tools->arena, 1000));
    return read_tokens(tools->storage, tools->arena, &rows, &j->tokens, err);
}

static void job_done(struct read_job *base, enum err rc, const struct error *err)
{
    struct job *j = (struct job *)base;
    pthread_mutex_lock(&j->lock);
    j->done++;
    j->rc = rc;
    j->error = *err;
    pthread_cond_broadcast(&j->changed);
    pthread_mutex_unlock(&j->lock);
}

static void job_init(struct job *j, bool hold)
{
    memset(j, 0, sizeof(*j));
    pthread_mutex_init(&j->lock, NULL);
    pthread_cond_init(&j->changed, NULL);
    j->base.run = run_job;
    j->base.done = job_done;
    j->hold = hold;
}

static void submit(struct job *j)
{
    struct error err;
    ck_assert_msg(readers_submit(readers, &j->base, &err) == ERR_OK, "%s", err.text);
}

static void wait_running(struct job *j)
{
    pthread_mutex_lock(&j->lock);
    while (!j->running)
        pthread_cond_wait(&j->changed, &j->lock);
    pthread_mutex_unlock(&j->lock);
}

static void let_go(struct job *j)
{
    pthread_mutex_lock(&j->lock);
    j->hold = false;
    pthread_cond_broadcast(&j->changed);
    pthread_mutex_unlock(&j->lock);
}

static void wait_done(struct job *j)
{
    pthread_mutex_lock(&j->lock);
    while (!j->done)
        pthread_cond_wait(&j->changed, &j->lock);
    pthread_mutex_unlock(&j->lock);
}

START_TEST(reads_what_was_committed)
{
    struct job jobs[5];
    setup_with(1, 10, 10000);
    for (uint32_t i = 0; i < 5; i++) {
        job_init(&jobs[i], false);
        rig_apply(&rig, ops_token(i + 1));
        submit(&jobs[i]);
        wait_done(&jobs[i]);
        ck_assert_msg(jobs[i].rc == ERR_OK, "%s", jobs[i].error.text);
        ck_assert_uint_eq(jobs[i].tokens, i + 1);
    }
    ck_assert_int_eq(metrics_get(rig.metrics, METRIC_READS), 5);
    ck_assert_int_eq(metrics_get(rig.metrics, METRIC_READS_TIMED_OUT), 0);
    teardown();
}
END_TEST

START_TEST(in_order_of_arrival)
{
    struct job first, jobs[20];
    setup_with(1, 100, 10000);
    job_init(&first, true);
    submit(&first);
    wait_running(&first);
    for (int i = 0; i < 20; i++) {
        job_init(&jobs[i], false);
        submit(&jobs[i]);
    }
    let_go(&first);
    for (int i = 0; i < 20; i++) {
        wait_done(&jobs[i]);
        ck_assert_int_eq(jobs[i].order, first.order + 1 + i);
    }
    teardown();
}
END_TEST

START_TEST(a_query_has_a_deadline)
{
    struct job j;
    setup_with(1, 10, -1); /* over before it began */
    job_init(&j, false);
    submit(&j);
    wait_done(&j);
    ck_assert_int_eq(j.rc, ERR_LIMIT);
    ck_assert_str_eq(j.error.text, "query took too long");
    ck_assert_int_eq(metrics_get(rig.metrics, METRIC_READS_TIMED_OUT), 1);
    teardown();
}
END_TEST

START_TEST(a_full_queue_says_busy)
{
    struct job running, waiting[2], refused;
    struct error err;
    setup_with(1, 2, 10000);
    job_init(&running, true);
    job_init(&refused, false);
    submit(&running);
    wait_running(&running);
    for (int i = 0; i < 2; i++) {
        job_init(&waiting[i], false);
        submit(&waiting[i]);
    }
    ck_assert_int_eq(readers_submit(readers, &refused.base, &err), ERR_BUSY);
    let_go(&running);
    for (int i = 0; i < 2; i++)
        wait_done(&waiting[i]);
    ck_assert_int_eq(refused.done, 0);
    teardown();
}
END_TEST

static void *stop_readers(void *arg)
{
    readers_stop(arg);
    return NULL;
}

/* What runs is finished, what waits is told so; each exactly once. */
START_TEST(stop_answers_everything)
{
    struct job running, waiting[10];
    pthread_t stopper;
    struct error err;
    setup_with(1, 10, 10000);
    job_init(&running, true);
    submit(&running);
    wait_running(&running);
    for (int i = 0; i < 10; i++) {
        job_init(&waiting[i], false);
        submit(&waiting[i]);
    }
    ck_assert_int_eq(pthread_create(&stopper, NULL, stop_readers, readers), 0);
    struct job late;
    do { /* until the stop is seen: the queue is closed after the flag is set */
        job_init(&late, false);
    } while (readers_submit(readers, &late.base, &err) != ERR_BUSY || strstr(err.text, "full"));
    let_go(&running);
    pthread_join(stopper, NULL);
    readers = NULL;
    ck_assert_int_eq(running.done, 1);
    ck_assert_int_eq(running.rc, ERR_OK);
    for (int i = 0; i < 10; i++) {
        ck_assert_int_eq(waiting[i].done, 1);
        ck_assert_int_eq(waiting[i].rc, ERR_BUSY);
        ck_assert(!waiting[i].running);
    }
    teardown();
}
END_TEST

START_TEST(several_threads)
{
    static struct job jobs[200];
    setup_with(4, 200, 10000);
    rig_apply(&rig, ops_token(1));
    for (int i = 0; i < 200; i++) {
        job_init(&jobs[i], false);
        submit(&jobs[i]);
    }
    for (int i = 0; i < 200; i++) {
        wait_done(&jobs[i]);
        ck_assert_int_eq(jobs[i].rc, ERR_OK);
        ck_assert_uint_eq(jobs[i].tokens, 1);
    }
    teardown();
}
END_TEST

UNIT_MAIN("readers", reads_what_was_committed, in_order_of_arrival, a_query_has_a_deadline,
          a_full_queue_says_busy, stop_answers_everything, several_threads)
