#include "server/http/http_workers.h"

#include <stdint.h>
#include <stdlib.h>

#include "base/queue.h"
#include "base/thread.h"

struct http_workers {
    struct queue *queue;
    void (*run)(struct http_request *r);
    struct thread *threads;
    size_t count;
};

static void *work(void *arg)
{
    struct http_workers *w = arg;
    void *item = NULL;
    while (queue_pop(w->queue, &item, INT64_MAX) == ERR_OK)
        w->run(item);
    return NULL;
}

enum err http_workers_start(size_t threads, size_t queue, void (*run)(struct http_request *r),
                            struct http_workers **ret, struct error *err)
{
    struct http_workers *w = calloc(1, sizeof(*w));
    if (!w)
        return error_set(err, ERR_NO_MEMORY, "no memory for the door's workers");
    enum err rc = ERR_OK;
    w->run = run;
    w->queue = queue_new(queue);
    w->threads = calloc(threads, sizeof(w->threads[0]));
    if (!w->queue || !w->threads)
        rc = error_set(err, ERR_NO_MEMORY, "no memory for the door's workers");
    while (rc == ERR_OK && w->count < threads) {
        rc = thread_start(&w->threads[w->count], "door-worker", work, w, err);
        w->count += rc == ERR_OK;
    }
    if (rc == ERR_OK)
        *ret = w;
    else
        http_workers_stop(w);
    return rc;
}

void http_workers_stop(struct http_workers *w)
{
    if (!w)
        return;
    if (w->queue)
        queue_close(w->queue);
    for (size_t i = 0; i < w->count; i++)
        thread_join(&w->threads[i]);
    queue_free(w->queue);
    free(w->threads);
    free(w);
}

enum err http_workers_submit(struct http_workers *w, struct http_request *r, struct error *err)
{
    return queue_push(w->queue, r, err);
}
