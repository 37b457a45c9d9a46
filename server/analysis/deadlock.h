/*
 * deadlock - threads of one report that wait for one another.
 *
 * Purpose: design/clustering.md section 6. Nodes are threads; an edge goes from a thread that waits to
 * the one that holds what it waits for: its owner by thread id, or the one thread that drains
 * the queue it waits for. A cycle is a deadlock; a thread that waits for itself is a cycle of one.
 *
 * Invariants: pure. A thread waits when its innermost frame is a wait by the rules (`drop=wait`,
 * `drop=port`), or, where that frame has no name, when the report says so. Each thread waits for one
 * other at most, so the search is a walk.
 *
 * Threads: any. Memory: the caller's arena; names are borrowed.
 */
#ifndef STALLSYM_ANALYSIS_DEADLOCK_H
#define STALLSYM_ANALYSIS_DEADLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/stack.h"
#include "server/analysis/cluster_key.h"
#include "server/analysis/rules.h"

#define DEADLOCK_THREADS_MAX 4096

struct deadlock_thread {
    int64_t tid;
    bool says_waiting; /* the report's word: a state, or what it waits for */
    bool has_owner;    /* of what it waits for: owner_tid */
    int64_t owner_tid;
    const char *waits_queue;               /* label of the queue it waits for, NULL */
    const char *drains_queue;              /* label of the queue it works for, NULL */
    const struct resolved_stack *stack;    /* NULL: none */
    const struct cluster_verdict *verdict; /* of the stack, NULL */
};

struct deadlock_member {
    size_t thread;       /* index in the input */
    const char *culprit; /* title of its app frame, NULL when it has none */
};

struct deadlock {
    bool found;
    bool stalled_inside; /* the stalled thread is part of the cycle; else it waits for it, or not */
    bool stalled_behind; /* the stalled thread waits for the cycle from outside */
    const struct deadlock_member *members; /* each waits for the next, the last for the first */
    size_t member_count;
};

/* Of several cycles the one that holds up `stalled` (an index; SIZE_MAX: none is), else the first. */
enum err deadlock_of(const struct rules *rules, const struct deadlock_thread *threads, size_t count,
                     size_t stalled, struct arena *arena, struct deadlock *ret, struct error *err);

#endif
