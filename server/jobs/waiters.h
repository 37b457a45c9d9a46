/*
 * waiters - who waits for the end of something that has a number.
 *
 * Purpose: a bounded list of callbacks by key; the indexer calls those of an upload once it has ended.
 *
 * Invariants: each callback is called once, by waiters_call(), or never, once waiters_remove() said
 * true. At most WAITERS_MAX wait. After waiters_close() nobody is added any more.
 *
 * Threads: any; callbacks run on the thread of waiters_call(), with no lock held. Memory:
 * waiters_init/waiters_done.
 */
#ifndef STALLSYM_JOBS_WAITERS_H
#define STALLSYM_JOBS_WAITERS_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

#define WAITERS_MAX 4096
#define WAITERS_ALL 0 /* no key */

struct waiter;

struct waiters {
    pthread_mutex_t lock;
    struct waiter *first;
    size_t count;
    bool closed;
};

void waiters_init(struct waiters *w);
void waiters_done(struct waiters *w);
/* ERR_BUSY: closed, or too many. `ret` is good for waiters_remove() alone. */
enum err waiters_add(struct waiters *w, uint64_t key, void (*done)(void *ctx, enum err rc),
                     void *ctx, const struct waiter **ret, struct error *err);
/* False: it was called, or is being called. */
bool waiters_remove(struct waiters *w, const struct waiter *which);
/* Calls and forgets those of one key, or all. */
void waiters_call(struct waiters *w, uint64_t key, enum err rc);
void waiters_close(struct waiters *w);

#endif
