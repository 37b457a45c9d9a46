/*
 * thread - starting and joining threads; nothing else is wrapped.
 *
 * Purpose: names threads (for ps and gdb), blocks signals in them, reports failure as an error.
 * Locks and conditions are plain pthreads.
 *
 * Threads: any. Memory: the struct is the caller's.
 */
#ifndef STALLSYM_BASE_THREAD_H
#define STALLSYM_BASE_THREAD_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

struct thread {
    pthread_t id;
    bool started;
};

/* `name` at most 15 characters. Signals are blocked in the new thread, those aside that its
 * own instructions raise (SIGBUS and the like). */
enum err thread_start(struct thread *t, const char *name, void *(*run)(void *arg), void *arg,
                      struct error *err);
/* Waits for its end; does nothing for a thread that never started or is joined already. */
void thread_join(struct thread *t);

/* Waits on `cond` (made by thread_cond_init) until `deadline_mono_ms`; false on time-out. */
bool thread_cond_wait_until(pthread_cond_t *cond, pthread_mutex_t *lock, int64_t deadline_mono_ms);
/* A condition on the monotonic clock. */
void thread_cond_init(pthread_cond_t *cond);

#endif
