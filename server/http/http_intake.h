/*
 * http_intake - the way of a request from its headers to its handler.
 *
 * Purpose: what http_server calls at the three moments the library knows: headers are there, a
 * piece of body came, the body is over.
 *
 * Invariants: refusals come as early as they can: framing, target, route, token, parameters, coding,
 * declared size, load; only then is the body read. A body that takes long to read is read by a
 * worker: a thread of the door is busy for some milliseconds at most. A refused body of at most
 * DRAIN_BYTES is thrown away and the connection lives on; a larger one ends it. A body slower than
 * SLOT_BYTES_PER_S (after the connection's time-out) ends it, too.
 *
 * Threads: the door's. Memory: none of its own.
 */
#ifndef STALLSYM_HTTP_HTTP_INTAKE_H
#define STALLSYM_HTTP_HTTP_INTAKE_H

#include <stddef.h>

#include "server/http/http_request.h"

#define DRAIN_BYTES ((uint64_t)1 << 20)

/* How headers are asked for. */
struct http_head {
    bool blank_in_name; /* of a header */
    size_t bytes;       /* of names and values */
    const char *method;
    const char *(*header)(void *ctx, const char *name); /* the first of that name, NULL */
    const char *(*last)(void *ctx, const char *name);   /* the last one, which no client wrote when
                                                           a proxy adds its own */
    size_t (*count)(void *ctx, const char *name);
    void *ctx;
    const struct sockaddr *peer;
};

enum http_step {
    STEP_READ,   /* go on reading */
    STEP_ANSWER, /* r->reply (or, aborted, the fixed 503) goes out now */
    STEP_WAIT,   /* the connection sleeps */
    STEP_CLOSE,
};

enum http_step http_intake_head(struct http_request *r, const struct http_head *head);
/* `ret_used` of the `len` bytes were taken. */
enum http_step http_intake_body(struct http_request *r, const void *data, size_t len,
                                size_t *ret_used);
/* The whole request is there; called again when the connection was woken. */
enum http_step http_intake_end(struct http_request *r);
/* The rest of it, on a worker: the body is whole. Replies, or hands the request on. */
void http_intake_work(struct http_request *r);

#endif
