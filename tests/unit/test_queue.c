#include "base/queue.h"

#include <stdatomic.h>

#include "base/clock.h"
#include "base/thread.h"
#include "tests/support/unit.h"

START_TEST(first_in_first_out_and_bounded)
{
    int items[4];
    void *out = NULL;
    struct error err;
    struct queue *q = queue_new(3);
    for (int round = 0; round < 5; round++) {
        for (int i = 0; i < 3; i++)
            ck_assert_int_eq(queue_push(q, &items[i], &err), ERR_OK);
        ck_assert_int_eq(queue_push(q, &items[3], &err), ERR_BUSY);
        ck_assert_uint_eq(queue_length(q), 3);
        for (int i = 0; i < 3; i++) {
            ck_assert_int_eq(queue_pop(q, &out, 0), ERR_OK);
            ck_assert_ptr_eq(out, &items[i]);
        }
        ck_assert_int_eq(queue_pop(q, &out, 0), ERR_BUSY);
    }
    queue_free(q);
    queue_free(NULL);
}
END_TEST

START_TEST(closing_drains)
{
    int item;
    void *out = NULL;
    struct error err;
    struct queue *q = queue_new(2);
    queue_push(q, &item, &err);
    queue_close(q);
    ck_assert_int_eq(queue_push(q, &item, &err), ERR_BUSY);
    ck_assert_int_eq(queue_pop(q, &out, INT64_MAX), ERR_OK);
    ck_assert_int_eq(queue_pop(q, &out, INT64_MAX), ERR_NOT_FOUND);
    queue_free(q);
}
END_TEST

START_TEST(past_deadlines_do_not_wait)
{
    void *out = NULL;
    struct queue *q = queue_new(1);
    ck_assert_int_eq(queue_pop(q, &out, clock_mono_ms() - 5), ERR_BUSY);
    ck_assert_int_eq(queue_pop(q, &out, clock_mono_ms() + 2), ERR_BUSY);
    queue_free(q);
}
END_TEST

enum { PRODUCERS = 3, EACH = 5000 };
static struct queue *shared;
static atomic_long taken, sum;

static void *produce(void *arg)
{
    for (long i = 1; i <= EACH;) {
        if (queue_push(shared, (void *)i, NULL) == ERR_OK)
            i++;
    }
    return arg;
}

static void *consume(void *arg)
{
    void *out;
    while (queue_pop(shared, &out, INT64_MAX) == ERR_OK) {
        atomic_fetch_add(&taken, 1);
        atomic_fetch_add(&sum, (long)out);
    }
    return arg;
}

START_TEST(many_threads)
{
    struct thread producers[PRODUCERS] = {0}, consumers[2] = {0};
    struct error err;
    shared = queue_new(16);
    for (int i = 0; i < 2; i++)
        ck_assert_int_eq(thread_start(&consumers[i], "consume", consume, NULL, &err), ERR_OK);
    for (int i = 0; i < PRODUCERS; i++)
        ck_assert_int_eq(thread_start(&producers[i], "produce", produce, NULL, &err), ERR_OK);
    for (int i = 0; i < PRODUCERS; i++)
        thread_join(&producers[i]);
    queue_close(shared);
    for (int i = 0; i < 2; i++)
        thread_join(&consumers[i]);
    thread_join(&consumers[0]); /* joining twice is harmless */
    ck_assert_int_eq(atomic_load(&taken), PRODUCERS * EACH);
    ck_assert_int_eq(atomic_load(&sum), (long)PRODUCERS * EACH * (EACH + 1) / 2);
    queue_free(shared);
}
END_TEST

UNIT_MAIN("queue", first_in_first_out_and_bounded, closing_drains, past_deadlines_do_not_wait,
          many_threads)
