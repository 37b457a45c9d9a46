/*
 * sigbus_guard - survives a mapped file that loses its pages.
 *
 * Purpose: reading a mapping past the end of a file that was cut, or from a disk that fails, raises
 * SIGBUS. Around such reads:
 *
 *     struct sigbus_guard guard;
 *     if (sigbus_guard_enter(&guard) == 0) {
 *         … read; call nothing that takes a lock or allocates …
 *         sigbus_guard_leave(&guard);
 *     } else {
 *         … the mapping failed; the guard is left already …
 *     }
 *
 * Invariants: a SIGBUS on a thread without a guard does what it always did. Guards nest. Locals
 * changed inside the guard and read after a failure are volatile.
 *
 * Threads: each has its own guards; the handler is installed once, by the program
 * (sigbus_guard_install). Without it guards do nothing. Memory: none.
 */
#ifndef STALLSYM_SYMBOLIZER_SIGBUS_GUARD_H
#define STALLSYM_SYMBOLIZER_SIGBUS_GUARD_H

#include <setjmp.h>

#include "base/error.h"

struct sigbus_guard {
    sigjmp_buf env;
    struct sigbus_guard *outer;
};

/* Installs the handler; may be called again. */
enum err sigbus_guard_install(struct error *err);

void sigbus_guard_push(struct sigbus_guard *g);
void sigbus_guard_leave(struct sigbus_guard *g);

/* A macro, because sigsetjmp must be called from the frame that is returned to. The signal mask is
 * not saved (that would be a system call): the handler runs with SIGBUS unblocked. */
#define sigbus_guard_enter(g) (sigbus_guard_push(g), sigsetjmp((g)->env, 0))

#endif
