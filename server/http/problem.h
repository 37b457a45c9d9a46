/*
 * problem - errors as application/problem+json (RFC 9457).
 *
 * Purpose: one table of the statuses this program answers with, their titles, and what an error
 * code of ours becomes.
 *
 * Invariants: `detail` is written for the caller: never a path of the server, an SQL text or a
 * stack trace (error codes that could carry one get a fixed text, see problem_from_error).
 *
 * Threads, memory: none.
 */
#ifndef STALLSYM_HTTP_PROBLEM_H
#define STALLSYM_HTTP_PROBLEM_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/error.h"
#include "server/http/jout.h"

#define PROBLEM_TYPE "application/problem+json"

/* The reason phrase; "" for a status that is not in the table. */
const char *problem_title(int status);

/* Opens the object and prints type, title, status, detail; the caller adds members and closes. */
void problem_begin(struct jout *j, int status, const char *detail);
/* The whole object. `errors` says where a body is at fault: by `path`, or by `line` (NULL and 0:
 * not at all), and why. */
struct problem_place {
    const char *path;
    unsigned line;
    const char *reason;
};
void problem_print(struct buf *out, int status, const char *detail,
                   const struct problem_place *place);

/* The status an error is answered with, and whether its text may be shown; when not, `ret_detail`
 * is a fixed text and the caller logs the error. */
int problem_from_error(const struct error *err, const char **ret_detail, bool *ret_log);

#endif
