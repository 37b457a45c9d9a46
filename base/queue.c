#include "base/queue.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/thread.h"

struct queue {
    pthread_mutex_t lock;
    pthread_cond_t filled;
    size_t capacity;
    size_t first;
    size_t count;
    bool closed;
    void *items[];
};

struct queue *queue_new(size_t capacity)
{
    struct queue *q = calloc(1, sizeof(*q) + capacity * sizeof(q->items[0]));
    if (!q)
        return NULL;
    pthread_mutex_init(&q->lock, NULL);
    thread_cond_init(&q->filled);
    q->capacity = capacity;
    return q;
}

void queue_free(struct queue *q)
{
    if (!q)
        return;
    pthread_cond_destroy(&q->filled);
    pthread_mutex_destroy(&q->lock);
    free(q);
}

enum err queue_push(struct queue *q, void *item, struct error *err)
{
    enum err rc = ERR_OK;
    pthread_mutex_lock(&q->lock);
    if (q->closed) {
        rc = error_set(err, ERR_BUSY, "queue is closed");
    } else if (q->count == q->capacity) {
        rc = error_set(err, ERR_BUSY, "queue is full (%zu items)", q->capacity);
    } else {
        q->items[(q->first + q->count) % q->capacity] = item;
        q->count++;
        pthread_cond_signal(&q->filled);
    }
    pthread_mutex_unlock(&q->lock);
    return rc;
}

enum err queue_pop(struct queue *q, void **ret, int64_t deadline_mono_ms)
{
    enum err rc = ERR_OK;
    pthread_mutex_lock(&q->lock);
    while (q->count == 0 && rc == ERR_OK) {
        if (q->closed)
            rc = ERR_NOT_FOUND;
        else if (deadline_mono_ms == INT64_MAX)
            pthread_cond_wait(&q->filled, &q->lock);
        else if (deadline_mono_ms == 0 ||
                 !thread_cond_wait_until(&q->filled, &q->lock, deadline_mono_ms))
            rc = q->count ? ERR_OK : ERR_BUSY;
    }
    if (rc == ERR_OK) {
        *ret = q->items[q->first];
        q->first = (q->first + 1) % q->capacity;
        q->count--;
    }
    pthread_mutex_unlock(&q->lock);
    return rc;
}

void queue_close(struct queue *q)
{
    pthread_mutex_lock(&q->lock);
    q->closed = true;
    pthread_cond_broadcast(&q->filled);
    pthread_mutex_unlock(&q->lock);
}

size_t queue_length(struct queue *q)
{
    pthread_mutex_lock(&q->lock);
    size_t n = q->count;
    pthread_mutex_unlock(&q->lock);
    return n;
}
