#include "server/jobs/waiters.h"

#include "tests/support/unit.h"

static int calls;
static enum err last;

static void on_end(void *ctx, enum err rc)
{
    calls += *(int *)ctx;
    last = rc;
}

START_TEST(each_is_called_once)
{
    struct waiters w;
    struct error err;
    const struct waiter *a = NULL, *b = NULL, *c = NULL;
    int one = 1, ten = 10, hundred = 100;
    calls = 0;
    waiters_init(&w);
    ck_assert_int_eq(waiters_add(&w, 7, on_end, &one, &a, &err), ERR_OK);
    ck_assert_int_eq(waiters_add(&w, 8, on_end, &ten, &b, &err), ERR_OK);
    ck_assert_int_eq(waiters_add(&w, 7, on_end, &hundred, &c, &err), ERR_OK);
    ck_assert(waiters_remove(&w, c));
    ck_assert(!waiters_remove(&w, c));
    waiters_call(&w, 9, ERR_OK);
    ck_assert_int_eq(calls, 0);
    waiters_call(&w, 7, ERR_OK);
    waiters_call(&w, 7, ERR_OK);
    ck_assert_int_eq(calls, 1);
    ck_assert(!waiters_remove(&w, a));
    waiters_close(&w);
    ck_assert_int_eq(waiters_add(&w, 7, on_end, &one, &a, &err), ERR_BUSY);
    waiters_call(&w, WAITERS_ALL, ERR_BUSY);
    ck_assert_int_eq(calls, 11);
    ck_assert_int_eq(last, ERR_BUSY);
    waiters_done(&w);
}
END_TEST

START_TEST(their_number_is_capped)
{
    struct waiters w;
    struct error err;
    const struct waiter *a = NULL;
    int one = 1;
    waiters_init(&w);
    for (size_t i = 0; i < WAITERS_MAX; i++)
        ck_assert_int_eq(waiters_add(&w, i + 1, on_end, &one, &a, &err), ERR_OK);
    ck_assert_int_eq(waiters_add(&w, 1, on_end, &one, &a, &err), ERR_BUSY);
    waiters_call(&w, 1, ERR_OK);
    ck_assert_int_eq(waiters_add(&w, 1, on_end, &one, &a, &err), ERR_OK);
    waiters_done(&w); /* those that are left are not called */
}
END_TEST

UNIT_MAIN("waiters", each_is_called_once, their_number_is_capped)
