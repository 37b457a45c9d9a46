/*
 * http_request - one request, from its first line until the library says that it is over.
 *
 * Purpose: what handlers see: route, parameters, body in; reply out; and the two ways to work
 * elsewhere, http_read() (a reader's thread) and http_write() (the writer's), which put the
 * connection to sleep meanwhile.
 *
 * Invariants: a handler either fills `reply` before it returns, or has deferred the request
 * (http_read, http_write, http_defer); a deferred one is ended by http_finish() or http_drop(),
 * once. A connection is suspended before the work is handed over and resumed at most once. When the
 * server stops, a waiting request is aborted: its connection gets a fixed 503, `reply` is not looked
 * at any more, and the work's late end only lets go of the request.
 *
 * Threads: one at a time by construction: the door's until deferred, then whoever works. `lock`
 * guards the meeting of the two. Memory: counted: the connection holds one, a deferral holds one.
 */
#ifndef STALLSYM_HTTP_HTTP_REQUEST_H
#define STALLSYM_HTTP_HTTP_REQUEST_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"
#include "server/http/auth.h"
#include "server/http/http_door.h"
#include "server/http/inflate.h"
#include "server/http/query.h"
#include "server/http/routes.h"
#include "server/jobs/readers.h"
#include "storage/write_op.h"

#define REQUEST_ID_SIZE     129
#define REQUEST_ARENA_BYTES ((size_t)4 << 20)
#define REPLY_BYTES_MAX     ((size_t)64 << 20)

#define TYPE_JSON "application/json"

struct http_reply {
    int status; /* 0: none yet */
    const char *content_type;
    struct buf body;
    const char *borrowed; /* instead of the body: static bytes; NULL */
    size_t borrowed_len;
    int fd; /* the body is this file; -1 */
    uint64_t fd_size;
    const char *etag;          /* quoted */
    const char *policy;        /* Content-Security-Policy; NULL: nothing of it may run */
    const char *location;      /* of what was made */
    const char *upload_offset; /* how far an upload in pieces is */
    const char *disposition;   /* Content-Disposition */
    const char *allow;         /* 405, OPTIONS */
    uint32_t retry_after_s;
    bool authenticate; /* WWW-Authenticate */
    bool close;
    bool cacheable; /* a static asset */
    bool gzipped;
    bool preflight; /* answer of a CORS preflight */
};

typedef void (*http_then_fn)(struct http_request *r, enum err rc, const struct error *err);
typedef void (*http_written_fn)(struct http_request *r, struct write_op *op, enum err rc,
                                const struct error *err);

enum http_body_state {
    BODY_EXPECTED, /* or none there */
    BODY_DISCARDED /* the answer is fixed; what comes is thrown away */
};

struct http_request {
    struct http_door *door;
    const struct services *services;
    const struct route *route;
    struct auth_identity identity;
    struct query query;
    const char *params[ROUTE_PARAMS_MAX]; /* what stood in the pattern's braces, in order */
    char id[REQUEST_ID_SIZE];
    struct arena arena;
    int64_t now_ms;       /* wall clock at its start */
    int64_t started_mono; /* the other one */

    /* What the headers said. */
    bool head_seen;
    bool head_only;
    bool has_body;
    bool expects_continue;
    bool accepts_gzip;
    bool chunked;
    uint64_t declared; /* Content-Length */
    enum coding coding;
    const char *content_type; /* NULL */
    const char *origin;       /* allowed by configuration, NULL */
    const char *if_none_match;

    /* The body so far. */
    enum http_body_state body_state;
    uint64_t received;
    uint64_t body_cap; /* as received and inflated */
    struct inflate *inflate;
    uint8_t *window; /* of a body that is inflated: bytes that its sink has not taken yet */
    size_t window_at, window_len;
    struct buf body;
    size_t counted; /* bytes of it, and of what it became, that door->buffered knows about */
    size_t unread;  /* the same of door->unread */
    bool streams;   /* one of door->streams */
    bool body_done;
    bool whole;  /* the library has said so */
    void *state; /* the route's own, in the arena */

    struct http_reply reply;

    /* Waiting. */
    pthread_mutex_t lock;
    void *connection; /* NULL once it is over */
    bool suspended;
    bool woken;    /* http_wake() came before the connection slept */
    bool deferred; /* read by the door's thread only */
    bool handed;   /* to a reader or the writer, who will end it */
    bool answered;
    bool aborted;
    atomic_uint refs;
    struct read_job job;
    http_read_fn read;
    http_then_fn then;
    http_written_fn written;

    struct http_request *next, *previous; /* the door's list */
};

/* NULL without memory. `target` is the raw request target. */
struct http_request *http_request_new(struct http_door *door, const char *target, void *connection);
/* The library is done with it: nothing is resumed any more. Takes the connection's hold. */
void http_request_over(struct http_request *r);
/* The server stops (called under the door's lock). */
void http_request_abort(struct http_request *r);
/* Counts memory that the request holds until its end; above [http] buffered_bytes new bodies are
 * refused. */
void http_request_charge(struct http_request *r, size_t bytes);
bool http_request_aborted(struct http_request *r);

/* --- replies -------------------------------------------------------------------------------- */

/* An empty reply of that type, to be printed into. */
struct buf *http_reply(struct http_request *r, int status, const char *content_type);
void http_problem(struct http_request *r, int status, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* 422: JSON, but wrong at `path` ("": as a whole). */
void http_refuse_shape(struct http_request *r, const char *path, const char *reason);
/* What an error code becomes; errors of the server are logged with the request's id. */
void http_reply_error(struct http_request *r, const struct error *err);
/* The same for what a part of ours could not do: whatever a client cannot be at fault for is an
 * error of the server. */
void http_reply_failure(struct http_request *r, const struct error *err);
/* Compresses the body when that is allowed and worth it. Idempotent. */
void http_reply_pack(struct http_request *r);

/* --- work elsewhere ------------------------------------------------------------------------- */

/* Puts the connection to sleep until http_finish(). On the door's thread. */
void http_defer(struct http_request *r);
/* `reply` is filled: wakes the connection and lets go of the request. Any thread. */
void http_finish(struct http_request *r);
/* One more hold on a request, for work that ends by itself; http_drop() gives one back. */
void http_hold(struct http_request *r);
void http_drop(struct http_request *r);
/* Sleeps until http_wake(), which may come first: then false, go on at once. Door's thread. */
bool http_sleep(struct http_request *r);
void http_wake(struct http_request *r);

/* Runs the handler on one of these workers (defers the request); 503 when too many wait. */
void http_work(struct http_request *r, struct http_workers *workers);
/* What the workers do with it. */
void http_work_run(struct http_request *r);
/* The body is read, and weighs on the door no more. */
void http_request_is_read(struct http_request *r);

/* Entering the door's gate (http_door_leave() is the way out) on behalf of a deferred request; false:
 * it was dropped, touch nothing. */
bool http_enter(struct http_request *r);

/* Runs `read` on a reader's thread; then `then` there, inside the gate; NULL replies with the error
 * if there was one, and finishes. Defers the request if it is not yet. */
void http_read(struct http_request *r, http_read_fn read, http_then_fn then);
/* Hands `op` to the writer (defers the request if it is not yet); `written` is called on the
 * writer's thread, inside the gate, or here with ERR_BUSY; the op is freed after it. */
void http_write(struct http_request *r, struct write_op *op, http_written_fn written);

#endif
