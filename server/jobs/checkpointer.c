#include "server/jobs/checkpointer.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/thread.h"

#define SHORT_MS   20
#define BUSY_MS    10
#define PASSES_MAX 5

enum state { RESTS, WORKS, HAS_ENDED };

struct checkpointer {
    struct storage *storage;
    struct thread thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    enum state state;
    bool stopping;
};

/* Waits while another checkpoint is under way. False: it is to stop. */
static bool may_go_on(struct checkpointer *c, bool busy)
{
    const int64_t until_ms = clock_mono_ms() + (busy ? BUSY_MS : 0);
    pthread_mutex_lock(&c->lock);
    while (!c->stopping && busy)
        busy = thread_cond_wait_until(&c->changed, &c->lock, until_ms);
    const bool stopping = c->stopping;
    pthread_mutex_unlock(&c->lock);
    return !stopping;
}

/* A failing disk is told by housekeeping: the storage knows how the last one ended. */
static void copy(struct checkpointer *c)
{
    struct error ignored;
    uint64_t left = 0;
    enum err rc = ERR_OK;
    for (int passes = 0; passes < PASSES_MAX && may_go_on(c, rc == ERR_BUSY);) {
        const int64_t started_ms = clock_mono_ms();
        rc = storage_checkpoint(c->storage, false, &left, &ignored);
        if (rc == ERR_BUSY)
            continue;
        if (rc != ERR_OK || clock_mono_ms() - started_ms <= SHORT_MS)
            return;
        passes++;
    }
}

static void *run(void *arg)
{
    struct checkpointer *c = arg;
    pthread_mutex_lock(&c->lock);
    while (!c->stopping) {
        if (c->state != WORKS) {
            pthread_cond_wait(&c->changed, &c->lock);
            continue;
        }
        pthread_mutex_unlock(&c->lock);
        copy(c);
        pthread_mutex_lock(&c->lock);
        c->state = HAS_ENDED;
    }
    pthread_mutex_unlock(&c->lock);
    return NULL;
}

static void dispose(struct checkpointer *c)
{
    pthread_cond_destroy(&c->changed);
    pthread_mutex_destroy(&c->lock);
    free(c);
}

enum err checkpointer_start(struct storage *storage, struct checkpointer **ret, struct error *err)
{
    struct checkpointer *c = calloc(1, sizeof(*c));
    if (!c)
        return error_set(err, ERR_NO_MEMORY, "no memory for checkpoints");
    pthread_mutex_init(&c->lock, NULL);
    thread_cond_init(&c->changed);
    c->storage = storage;
    enum err rc = thread_start(&c->thread, "checkpointer", run, c, err);
    if (rc != ERR_OK) {
        dispose(c);
        return rc;
    }
    *ret = c;
    return ERR_OK;
}

void checkpointer_stop(struct checkpointer *c)
{
    if (!c)
        return;
    pthread_mutex_lock(&c->lock);
    c->stopping = true;
    pthread_cond_signal(&c->changed);
    pthread_mutex_unlock(&c->lock);
    thread_join(&c->thread);
    dispose(c);
}

bool checkpointer_ask(struct checkpointer *c)
{
    pthread_mutex_lock(&c->lock);
    const bool ended = c->state == HAS_ENDED;
    if (ended) {
        c->state = RESTS;
    } else if (c->state == RESTS) {
        c->state = WORKS;
        pthread_cond_signal(&c->changed);
    }
    pthread_mutex_unlock(&c->lock);
    return ended;
}

void checkpointer_forget(struct checkpointer *c)
{
    pthread_mutex_lock(&c->lock);
    if (c->state == HAS_ENDED)
        c->state = RESTS;
    pthread_mutex_unlock(&c->lock);
}
