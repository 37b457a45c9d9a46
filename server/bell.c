#include "server/bell.h"

#include <stddef.h>

void bell_init(struct bell *b)
{
    pthread_mutex_init(&b->lock, NULL);
    b->ring = NULL;
    b->who = NULL;
}

void bell_done(struct bell *b)
{
    pthread_mutex_destroy(&b->lock);
}

void bell_hang(struct bell *b, void (*ring)(void *who), void *who)
{
    pthread_mutex_lock(&b->lock);
    b->ring = ring;
    b->who = who;
    pthread_mutex_unlock(&b->lock);
}

void bell_cut(struct bell *b)
{
    bell_hang(b, NULL, NULL);
}

void bell_ring(struct bell *b)
{
    pthread_mutex_lock(&b->lock);
    if (b->ring)
        b->ring(b->who);
    pthread_mutex_unlock(&b->lock);
}
