#include "server/jobs/piece_locks.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct piece_locks {
    pthread_mutex_t lock;
    size_t count;
    uint8_t ids[PIECE_LOCKS_MAX][OPEN_UPLOAD_ID_SIZE];
};

struct piece_locks *piece_locks_new(void)
{
    struct piece_locks *l = calloc(1, sizeof(*l));
    if (l)
        pthread_mutex_init(&l->lock, NULL);
    return l;
}

void piece_locks_free(struct piece_locks *l)
{
    if (!l)
        return;
    pthread_mutex_destroy(&l->lock);
    free(l);
}

static size_t find(const struct piece_locks *l, const uint8_t id[OPEN_UPLOAD_ID_SIZE])
{
    size_t i = 0;
    while (i < l->count && memcmp(l->ids[i], id, OPEN_UPLOAD_ID_SIZE) != 0)
        i++;
    return i;
}

bool piece_locks_take(struct piece_locks *l, const uint8_t id[OPEN_UPLOAD_ID_SIZE])
{
    pthread_mutex_lock(&l->lock);
    bool taken = find(l, id) == l->count && l->count < PIECE_LOCKS_MAX;
    if (taken)
        memcpy(l->ids[l->count++], id, OPEN_UPLOAD_ID_SIZE);
    pthread_mutex_unlock(&l->lock);
    return taken;
}

void piece_locks_give(struct piece_locks *l, const uint8_t id[OPEN_UPLOAD_ID_SIZE])
{
    pthread_mutex_lock(&l->lock);
    size_t i = find(l, id);
    if (i < l->count)
        memmove(l->ids[i], l->ids[--l->count], OPEN_UPLOAD_ID_SIZE);
    pthread_mutex_unlock(&l->lock);
}
