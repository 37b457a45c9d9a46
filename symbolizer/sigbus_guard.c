#include "symbolizer/sigbus_guard.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>

static __thread struct sigbus_guard *volatile innermost;

static void on_sigbus(int signal_number)
{
    struct sigbus_guard *g = innermost;
    if (g) {
        innermost = g->outer;
        siglongjmp(g->env, 1);
    }
    /* Not ours: the faulting instruction runs again and does what it does without a handler. One
     * that was sent by somebody (kill) has no instruction to run again. */
    signal(signal_number, SIG_DFL);
    raise(signal_number);
}

enum err sigbus_guard_install(struct error *err)
{
    struct sigaction action = {.sa_handler = on_sigbus, .sa_flags = SA_NODEFER};
    sigemptyset(&action.sa_mask);
    if (sigaction(SIGBUS, &action, NULL) != 0)
        return error_errno(err, errno, "cannot handle SIGBUS");
    return ERR_OK;
}

void sigbus_guard_push(struct sigbus_guard *g)
{
    g->outer = innermost;
    innermost = g;
}

void sigbus_guard_leave(struct sigbus_guard *g)
{
    innermost = g->outer;
}
