/* Covers: server/http/http_workers.c */
#include "server/http/http_workers.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

#include "tests/support/unit.h"

/* Requests are only passed on: numbers will do. */
static struct http_request *number(uintptr_t n)
{
    return (struct http_request *)(n + 1);
}

static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
static atomic_size_t ran, sum;
static uintptr_t order[16];

static void wait_and_note(struct http_request *r)
{
    pthread_mutex_lock(&gate);
    size_t at = atomic_fetch_add(&ran, 1);
    if (at < 16)
        order[at] = (uintptr_t)r - 1;
    atomic_fetch_add(&sum, (uintptr_t)r - 1);
    pthread_mutex_unlock(&gate);
}

START_TEST(in_order_bounded_and_all_run)
{
    struct http_workers *w = NULL;
    struct error err;
    uintptr_t taken = 0;
    ck_assert_int_eq(http_workers_start(1, 4, wait_and_note, &w, &err), ERR_OK);
    pthread_mutex_lock(&gate);
    while (http_workers_submit(w, number(taken), &err) == ERR_OK)
        taken++;
    ck_assert_int_eq(err.code, ERR_BUSY);
    ck_assert(taken == 4 || taken == 5); /* one may be under way */
    pthread_mutex_unlock(&gate);
    http_workers_stop(w);
    ck_assert_uint_eq(atomic_load(&ran), taken);
    for (uintptr_t i = 0; i < taken; i++)
        ck_assert_uint_eq(order[i], i);
}
END_TEST

START_TEST(several_threads)
{
    struct http_workers *w = NULL;
    struct error err;
    ck_assert_int_eq(http_workers_start(3, 1000, wait_and_note, &w, &err), ERR_OK);
    for (uintptr_t i = 0; i < 1000; i++)
        ck_assert_int_eq(http_workers_submit(w, number(i), &err), ERR_OK);
    http_workers_stop(w);
    ck_assert_uint_eq(atomic_load(&ran), 1000);
    ck_assert_uint_eq(atomic_load(&sum), 999 * 1000 / 2);
    http_workers_stop(NULL);
}
END_TEST

UNIT_MAIN("http_workers", in_order_bounded_and_all_run, several_threads)
