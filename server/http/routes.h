/*
 * routes - which handler answers which method and path.
 *
 * Purpose: one table, ROUTES; the only place that names a path. tests/unit/test_routes.c holds it
 * against server/openapi.yaml.
 *
 * Invariants: patterns begin with a slash; "{name}" matches one non-empty segment. Of two patterns
 * that match the earlier row wins. HEAD is answered by the GET row, OPTIONS by the door itself.
 *
 * Threads: read-only. Memory: static.
 */
#ifndef STALLSYM_HTTP_ROUTES_H
#define STALLSYM_HTTP_ROUTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"
#include "server/http/query.h"
#include "server/jobs/readers.h"

#define ROUTE_PARAMS_MAX 2

struct http_request;

/* On a reader's thread: prints the reply of `r`. */
typedef enum err (*http_read_fn)(struct http_request *r, const struct read_tools *tools,
                                 struct error *err);

enum body_kind {
    BODY_NONE,
    BODY_BUFFERED, /* whole and inflated in r->body before the handler runs */
    BODY_STREAMED, /* handed to the route's stream piece by piece, inflated */
};

/* Where a streamed body goes. All on the door's thread. */
struct body_stream {
    /* Takes up to `len` bytes. Fewer: the request sleeps until http_wake(). An error becomes the
     * reply, the rest of the body is thrown away. */
    enum err (*data)(struct http_request *r, const void *data, size_t len, size_t *ret_taken,
                     struct error *err);
    /* The client broke off, or the reply is fixed already. NULL-safe on r->state. */
    void (*abort)(struct http_request *r);
};

struct route {
    const char *method;
    const char *pattern;
    uint32_t scopes;   /* a token needs one of them; 0: open */
    bool open_metrics; /* open when the configuration says so */
    bool unbound;      /* not for tokens bound to an app */
    bool writes;       /* refused while the writer has too much to do */
    enum body_kind body;
    const char *query; /* names of parameters; NULL: any, not looked at */
    void (*handle)(struct http_request *r);
    http_read_fn read; /* instead of `handle` */
    const struct body_stream *stream;
};

extern const struct route ROUTES[];
extern const size_t ROUTE_COUNT;

/* ERR_NOT_FOUND: no such path. ERR_UNSUPPORTED: the path is there with other methods. */
enum err route_find(const char *method, const struct query *query, const struct route **ret,
                    const char *ret_params[ROUTE_PARAMS_MAX]);
/* "GET, HEAD, OPTIONS": what the path answers; false when it is not there. */
bool route_allow(const struct query *query, struct buf *out);

#endif
