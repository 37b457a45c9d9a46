/*
 * queue - a bounded queue of pointers between threads.
 *
 * Purpose: every hand-over between threads of the daemon.
 *
 * Invariants: first in, first out; never more than `capacity` items. After queue_close() pushes
 * fail, pops drain what is there and then say ERR_NOT_FOUND.
 *
 * Threads: any number on both sides. Memory: queue_push() takes ownership on ERR_OK and only then;
 * queue_pop() gives it on. queue_free() needs an empty queue or an owner who drained it.
 */
#ifndef STALLSYM_BASE_QUEUE_H
#define STALLSYM_BASE_QUEUE_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct queue;

struct queue *queue_new(size_t capacity);
void queue_free(struct queue *q);

/* ERR_BUSY when full or closed: never blocks. */
enum err queue_push(struct queue *q, void *item, struct error *err);
/* Blocks until an item is there (ERR_OK), the queue is closed and empty (ERR_NOT_FOUND), or
 * `deadline_mono_ms` has passed (ERR_BUSY; INT64_MAX waits for ever, 0 does not wait). */
enum err queue_pop(struct queue *q, void **ret, int64_t deadline_mono_ms);
void queue_close(struct queue *q);
/* A snapshot, for admission and metrics. */
size_t queue_length(struct queue *q);

#endif
