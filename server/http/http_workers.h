/*
 * http_workers - threads for bodies that take long to read.
 *
 * Purpose: reading megabytes of JSON, or inflating them, takes a tenth of a second; done on a
 * thread of the door everybody else's request would wait for it, /healthz too. The door hands such a
 * request here; its handler runs as it would there.
 *
 * Invariants: every request accepted is run once, in order of arrival, also while it is being
 * stopped (its gate is closed then, which ends it).
 *
 * Threads: http_workers_submit from any. Memory: the request is held by who submits it; accepted,
 * `run` gives that hold back.
 */
#ifndef STALLSYM_HTTP_HTTP_WORKERS_H
#define STALLSYM_HTTP_HTTP_WORKERS_H

#include <stddef.h>

#include "base/error.h"

struct http_request;
struct http_workers;

enum err http_workers_start(size_t threads, size_t queue, void (*run)(struct http_request *r),
                            struct http_workers **ret, struct error *err);
/* Waits for all that was accepted. NULL-safe. */
void http_workers_stop(struct http_workers *w);
/* ERR_BUSY: too many wait. */
enum err http_workers_submit(struct http_workers *w, struct http_request *r, struct error *err);

#endif
