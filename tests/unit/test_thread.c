#include "base/thread.h"

#include <signal.h>

#include "base/clock.h"
#include "tests/support/unit.h"

static void *signals_of(void *arg)
{
    pthread_sigmask(SIG_BLOCK, NULL, arg);
    return NULL;
}

START_TEST(threads_have_signals_blocked)
{
    struct thread t = {0};
    struct error err;
    sigset_t inside, before, after;
    pthread_sigmask(SIG_BLOCK, NULL, &before);
    sigemptyset(&inside);
    ck_assert_int_eq(thread_start(&t, "a-name", signals_of, &inside, &err), ERR_OK);
    thread_join(&t);
    pthread_sigmask(SIG_BLOCK, NULL, &after);
    ck_assert(sigismember(&inside, SIGTERM));
    ck_assert(sigismember(&inside, SIGINT));
    ck_assert_int_eq(sigismember(&before, SIGTERM), sigismember(&after, SIGTERM));
}
END_TEST

START_TEST(waiting_ends_at_the_deadline)
{
    pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_cond_t cond;
    thread_cond_init(&cond);
    pthread_mutex_lock(&lock);
    int64_t deadline = clock_mono_ms() + 3;
    while (thread_cond_wait_until(&cond, &lock, deadline)) {
    }
    ck_assert_int_ge(clock_mono_ms(), deadline);
    pthread_mutex_unlock(&lock);
    pthread_cond_destroy(&cond);
}
END_TEST

UNIT_MAIN("thread", threads_have_signals_blocked, waiting_ends_at_the_deadline)
