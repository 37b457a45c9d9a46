#include "base/parallel.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/thread.h"

#define WORKERS_MAX 256

struct pool {
    struct parallel_for face;
    pthread_mutex_t lock;
    pthread_cond_t wake;     /* there is something to do, or the pool ends */
    pthread_cond_t finished; /* the last helper left the run, or the work beside is done */
    unsigned long run;       /* number of the run */
    bool running;
    size_t busy; /* helpers inside the run */
    bool stop;
    atomic_size_t next;
    size_t count;
    void (*work)(void *ctx, size_t i, size_t worker);
    void *ctx;
    void (*beside)(void *ctx); /* NULL: none, or it is at work */
    void *beside_ctx;
    bool beside_open; /* started and not finished */
    size_t helper_count;
    struct helper {
        struct pool *pool;
        size_t worker;
        struct thread thread;
    } helpers[];
};

static void take_pieces(struct pool *p, size_t worker)
{
    for (;;) {
        size_t i = atomic_fetch_add(&p->next, 1);
        if (i >= p->count)
            return;
        p->work(p->ctx, i, worker);
    }
}

/* With the lock held, which it gives up while it works. */
static void do_beside(struct pool *p)
{
    void (*work)(void *ctx) = p->beside;
    p->beside = NULL;
    pthread_mutex_unlock(&p->lock);
    work(p->beside_ctx);
    pthread_mutex_lock(&p->lock);
    p->beside_open = false;
    pthread_cond_broadcast(&p->finished);
}

static void *helper_main(void *arg)
{
    struct helper *h = arg;
    struct pool *p = h->pool;
    unsigned long seen = 0;
    pthread_mutex_lock(&p->lock);
    for (;;) {
        while (!p->stop && !p->beside && !(p->running && p->run != seen))
            pthread_cond_wait(&p->wake, &p->lock);
        if (p->stop)
            break;
        if (p->beside) {
            do_beside(p);
            continue;
        }
        /* A run that is entered late is entered only while it lasts: pool_run() waits for `busy`. */
        seen = p->run;
        p->busy++;
        pthread_mutex_unlock(&p->lock);
        take_pieces(p, h->worker);
        pthread_mutex_lock(&p->lock);
        if (--p->busy == 0)
            pthread_cond_broadcast(&p->finished);
    }
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

static void pool_run(void *self, size_t count, void (*work)(void *ctx, size_t i, size_t worker),
                     void *ctx)
{
    struct pool *p = self;
    pthread_mutex_lock(&p->lock);
    p->work = work;
    p->ctx = ctx;
    p->count = count;
    atomic_store(&p->next, 0);
    p->run++;
    p->running = true;
    pthread_cond_broadcast(&p->wake);
    pthread_mutex_unlock(&p->lock);
    take_pieces(p, 0);
    pthread_mutex_lock(&p->lock);
    p->running = false;
    while (p->busy > 0)
        pthread_cond_wait(&p->finished, &p->lock);
    pthread_mutex_unlock(&p->lock);
}

static bool pool_beside(void *self, void (*work)(void *ctx), void *ctx)
{
    struct pool *p = self;
    if (p->helper_count == 0)
        return false;
    pthread_mutex_lock(&p->lock);
    bool free = !p->beside_open;
    if (free) {
        p->beside = work;
        p->beside_ctx = ctx;
        p->beside_open = true;
        pthread_cond_signal(&p->wake);
    }
    pthread_mutex_unlock(&p->lock);
    return free;
}

static void pool_wait(void *self)
{
    struct pool *p = self;
    pthread_mutex_lock(&p->lock);
    while (p->beside_open)
        pthread_cond_wait(&p->finished, &p->lock);
    pthread_mutex_unlock(&p->lock);
}

struct parallel_for *parallel_new(size_t workers)
{
    if (workers == 0 || workers > WORKERS_MAX)
        return NULL;
    struct pool *p = calloc(1, sizeof(*p) + (workers - 1) * sizeof(p->helpers[0]));
    if (!p)
        return NULL;
    p->face = (struct parallel_for){
        .run = pool_run, .beside = pool_beside, .wait = pool_wait, .self = p, .workers = workers};
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->wake, NULL);
    pthread_cond_init(&p->finished, NULL);
    for (size_t i = 0; i + 1 < workers; i++) {
        p->helpers[i].pool = p;
        p->helpers[i].worker = i + 1;
        if (thread_start(&p->helpers[i].thread, "parallel", helper_main, &p->helpers[i], NULL) !=
            ERR_OK) {
            parallel_free(&p->face);
            return NULL;
        }
        p->helper_count++;
    }
    return &p->face;
}

void parallel_free(struct parallel_for *p)
{
    if (!p)
        return;
    struct pool *pool = p->self;
    pool_wait(pool);
    pthread_mutex_lock(&pool->lock);
    pool->stop = true;
    pthread_cond_broadcast(&pool->wake);
    pthread_mutex_unlock(&pool->lock);
    for (size_t i = 0; i < pool->helper_count; i++)
        thread_join(&pool->helpers[i].thread);
    pthread_cond_destroy(&pool->finished);
    pthread_cond_destroy(&pool->wake);
    pthread_mutex_destroy(&pool->lock);
    free(pool);
}

void parallel_run(const struct parallel_for *p, size_t count,
                  void (*work)(void *ctx, size_t i, size_t worker), void *ctx)
{
    if (p) {
        p->run(p->self, count, work, ctx);
        return;
    }
    for (size_t i = 0; i < count; i++)
        work(ctx, i, 0);
}

bool parallel_beside(const struct parallel_for *p, void (*work)(void *ctx), void *ctx)
{
    return p && p->beside && p->beside(p->self, work, ctx);
}

void parallel_wait(const struct parallel_for *p)
{
    if (p && p->wait)
        p->wait(p->self);
}
