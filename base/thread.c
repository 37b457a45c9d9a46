#include "base/thread.h"

#include <errno.h>
#include <signal.h>
#include <time.h>

enum err thread_start(struct thread *t, const char *name, void *(*run)(void *arg), void *arg,
                      struct error *err)
{
    sigset_t all, before;
    sigfillset(&all);
    /* What an instruction of the thread raises itself: blocked, it would kill without a handler. */
    static const int own[] = {SIGBUS, SIGSEGV, SIGFPE, SIGILL, SIGTRAP};
    for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
        sigdelset(&all, own[i]);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int rc = pthread_create(&t->id, NULL, run, arg);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (rc != 0)
        return error_errno(err, rc, "cannot start thread %s", name);
    t->started = true;
    (void)pthread_setname_np(t->id, name);
    return ERR_OK;
}

void thread_join(struct thread *t)
{
    if (!t->started)
        return;
    pthread_join(t->id, NULL);
    t->started = false;
}

void thread_cond_init(pthread_cond_t *cond)
{
    pthread_condattr_t attr;
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(cond, &attr);
    pthread_condattr_destroy(&attr);
}

bool thread_cond_wait_until(pthread_cond_t *cond, pthread_mutex_t *lock, int64_t deadline_mono_ms)
{
    struct timespec ts = {.tv_sec = deadline_mono_ms / 1000,
                          .tv_nsec = deadline_mono_ms % 1000 * 1000000};
    return pthread_cond_timedwait(cond, lock, &ts) != ETIMEDOUT;
}
