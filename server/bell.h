/*
 * bell - wakes who may not be there.
 *
 * Purpose: the writer starts before those whom its commits wake, and stops after them: it rings a
 * bell, which somebody hangs up and cuts again.
 *
 * Invariants: after bell_cut nobody is in `ring` any more, so that `who` can be freed.
 *
 * Threads: any. The bell's lock is held while `ring` runs, which takes its own: the one place where
 * two locks meet, and always in this order. Memory: bell_init/bell_done, in place.
 */
#ifndef STALLSYM_SERVER_BELL_H
#define STALLSYM_SERVER_BELL_H

#include <pthread.h>

struct bell {
    pthread_mutex_t lock;
    void (*ring)(void *who); /* NULL: nobody hears it */
    void *who;
};

void bell_init(struct bell *b);
void bell_done(struct bell *b);
void bell_hang(struct bell *b, void (*ring)(void *who), void *who);
void bell_cut(struct bell *b);
void bell_ring(struct bell *b);

#endif
