/*
 * parallel - spreading independent pieces of work over threads that the caller chose.
 *
 * Purpose: libraries have no threads of their own; where work can be spread they take a
 * `struct parallel_for`. parallel_new() makes one over a fixed set of threads.
 *
 * Invariants: run(self, count, work, ctx) calls work(ctx, i, worker) once for each i below count,
 * in any order, perhaps at once, and returns when all are done. `worker` is below `workers`; no
 * two calls at one time share a worker. beside(self, work, ctx) starts one piece of work that goes on
 * beside what follows, runs included; it says false, and does nothing, where no thread is to spare.
 * wait(self) returns when that piece is done, at once when there is none.
 *
 * Threads: one run() at a time per object, and one beside(); all from one thread. Memory:
 * parallel_new/parallel_free.
 */
#ifndef STALLSYM_BASE_PARALLEL_H
#define STALLSYM_BASE_PARALLEL_H

#include <stdbool.h>
#include <stddef.h>

struct parallel_for {
    void (*run)(void *self, size_t count, void (*work)(void *ctx, size_t i, size_t worker),
                void *ctx);
    bool (*beside)(void *self, void (*work)(void *ctx), void *ctx);
    void (*wait)(void *self);
    void *self;
    size_t workers;
};

/* `workers` threads, the calling one counted; 1 starts none. NULL when threads cannot be had. */
struct parallel_for *parallel_new(size_t workers);
void parallel_free(struct parallel_for *p);

/* Runs on `p`, or in place when `p` is NULL. */
void parallel_run(const struct parallel_for *p, size_t count,
                  void (*work)(void *ctx, size_t i, size_t worker), void *ctx);

/* beside() of `p`; false when `p` is NULL. */
bool parallel_beside(const struct parallel_for *p, void (*work)(void *ctx), void *ctx);
void parallel_wait(const struct parallel_for *p);

#endif
