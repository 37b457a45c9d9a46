#include "server/jobs/waiters.h"

#include <stdlib.h>

struct waiter {
    struct waiter *next;
    uint64_t key;
    void (*done)(void *ctx, enum err rc);
    void *ctx;
};

void waiters_init(struct waiters *w)
{
    *w = (struct waiters){.first = NULL};
    pthread_mutex_init(&w->lock, NULL);
}

void waiters_done(struct waiters *w)
{
    while (w->first) {
        struct waiter *next = w->first->next;
        free(w->first);
        w->first = next;
    }
    pthread_mutex_destroy(&w->lock);
}

enum err waiters_add(struct waiters *w, uint64_t key, void (*done)(void *ctx, enum err rc),
                     void *ctx, const struct waiter **ret, struct error *err)
{
    struct waiter *fresh = malloc(sizeof(*fresh));
    enum err rc = ERR_OK;
    if (!fresh)
        return error_set(err, ERR_NO_MEMORY, "no memory to wait for an upload");
    *fresh = (struct waiter){.key = key, .done = done, .ctx = ctx};
    pthread_mutex_lock(&w->lock);
    if (w->closed) {
        rc = error_set(err, ERR_BUSY, "the daemon is stopping");
    } else if (w->count == WAITERS_MAX) {
        rc = error_set(err, ERR_BUSY, "too many requests wait for uploads");
    } else {
        fresh->next = w->first;
        w->first = fresh;
        w->count++;
    }
    pthread_mutex_unlock(&w->lock);
    if (rc == ERR_OK)
        *ret = fresh;
    else
        free(fresh);
    return rc;
}

/* Takes those that `wanted` names, or have the key, out of the list. */
static struct waiter *take(struct waiters *w, const struct waiter *wanted, uint64_t key)
{
    struct waiter *taken = NULL;
    pthread_mutex_lock(&w->lock);
    for (struct waiter **link = &w->first; *link;) {
        struct waiter *x = *link;
        if (wanted ? x != wanted : key != WAITERS_ALL && x->key != key) {
            link = &x->next;
            continue;
        }
        *link = x->next;
        x->next = taken;
        taken = x;
        w->count--;
    }
    pthread_mutex_unlock(&w->lock);
    return taken;
}

bool waiters_remove(struct waiters *w, const struct waiter *which)
{
    struct waiter *mine = take(w, which, WAITERS_ALL);
    free(mine);
    return mine != NULL;
}

void waiters_call(struct waiters *w, uint64_t key, enum err rc)
{
    struct waiter *list = take(w, NULL, key);
    while (list) {
        struct waiter *next = list->next;
        list->done(list->ctx, rc);
        free(list);
        list = next;
    }
}

void waiters_close(struct waiters *w)
{
    pthread_mutex_lock(&w->lock);
    w->closed = true;
    pthread_mutex_unlock(&w->lock);
}
