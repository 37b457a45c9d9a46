/*
 * DESIGN. libmicrohttpd runs a pool of threads, each with its own epoll set. For one request it
 * calls, on one thread: on_target (the request line is there), on_access once with the headers, then
 * with each piece of the body, then once more, and, after the answer or when the connection broke,
 * on_over. What is decided in between is http_intake's business; this file only translates.
 *
 * A suspended connection never times out and must not meet MHD_stop_daemon, therefore
 * http_server_stop: no new connections, no new requests; wait for the running ones; close the
 * door's gate; abort what still waits (which resumes it); give the answers a moment to leave; stop.
 */
#include "server/http/http_server.h"

#include <microhttpd.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "server/http/http_door.h"
#include "server/http/http_intake.h"
#include "server/http/http_request.h"
#include "server/http/http_slots.h"
#include "server/http/listen_socket.h"
#include "server/http/tls.h"

#define CONNECTION_MEMORY ((size_t)64 << 10) /* headers and read buffer of one connection */
#define LAST_ANSWERS_MS   1000

/* 0.9.75 and 1.0.1 name the option that makes them strict differently. */
#if MHD_VERSION >= 0x00097701
#define OPTION_STRICT MHD_OPTION_CLIENT_DISCIPLINE_LVL
#else
#define OPTION_STRICT MHD_OPTION_STRICT_FOR_CLIENT
#endif

struct http_server {
    struct http_door *door;
    struct MHD_Daemon *daemon;
    int listen_fd;
    uint16_t port;
    bool tls;
};

static const char ABORTED[] = "{\"type\":\"about:blank\",\"title\":\"Service Unavailable\","
                              "\"status\":503,\"detail\":\"the server is shutting down\"}";

static void io_suspend(void *connection)
{
    MHD_suspend_connection(connection);
}

static void io_resume(void *connection)
{
    MHD_resume_connection(connection);
}

/* --- answers -------------------------------------------------------------------------------- */

static void add(struct MHD_Response *response, const char *name, const char *value)
{
    if (value && MHD_add_response_header(response, name, value) != MHD_YES)
        log_warn("answer header left out", "name=%s", name);
}

static void add_cors(struct MHD_Response *response, const struct http_request *r)
{
    if (*r->door->options.cors_origins)
        add(response, "Vary", "Origin, Accept-Encoding");
    else
        add(response, "Vary", "Accept-Encoding");
    if (!r->origin)
        return;
    add(response, "Access-Control-Allow-Origin", r->origin);
    add(response, "Access-Control-Expose-Headers",
        "X-Request-Id, Retry-After, ETag, Location, Upload-Offset");
    if (r->reply.preflight) {
        add(response, "Access-Control-Allow-Methods", r->reply.allow);
        add(response, "Access-Control-Allow-Headers",
            "Authorization, Content-Type, Content-Encoding, X-Stallsym-Token, X-Request-Id, "
            "If-None-Match");
        add(response, "Access-Control-Max-Age", "600");
    }
}

static void add_headers(struct MHD_Response *response, const struct http_request *r)
{
    const struct http_reply *reply = &r->reply;
    char number[16];
    add(response, "X-Request-Id", r->id);
    add(response, "X-Content-Type-Options", "nosniff");
    add(response, "Content-Security-Policy",
        reply->policy ? reply->policy : "default-src 'none'; frame-ancestors 'none'");
    add(response, "Referrer-Policy", "no-referrer");
    add(response, "Cache-Control", reply->cacheable ? "no-cache" : "no-store");
    add_cors(response, r);
    add(response, "Content-Type", reply->content_type);
    add(response, "Content-Encoding", reply->gzipped ? "gzip" : NULL);
    add(response, "Content-Disposition", reply->disposition);
    add(response, "ETag", reply->etag);
    add(response, "Location", reply->location);
    add(response, "Upload-Offset", reply->upload_offset);
    add(response, "Allow", reply->allow);
    add(response, "WWW-Authenticate", reply->authenticate ? "Bearer realm=\"stallsym\"" : NULL);
    add(response, "Connection", reply->close ? "close" : NULL);
    if (reply->retry_after_s > 0) {
        snprintf(number, sizeof(number), "%u", reply->retry_after_s);
        add(response, "Retry-After", number);
    }
}

/* If-None-Match: the caller has these very bytes. */
static void answer_not_modified(struct http_request *r)
{
    struct http_reply *reply = &r->reply;
    const char *match = r->if_none_match;
    if (!match || !reply->etag || reply->status != 200)
        return;
    if (strcmp(match, "*") != 0 && !strstr(match, reply->etag))
        return;
    if (reply->fd >= 0)
        close(reply->fd);
    reply->fd = -1;
    http_reply(r, 304, NULL);
}

static struct MHD_Response *response_of(struct http_request *r)
{
    struct http_reply *reply = &r->reply;
    if (reply->body.failed)
        http_problem(r, 500, "the answer is too large");
    answer_not_modified(r);
    if (reply->fd >= 0) {
        struct MHD_Response *response = MHD_create_response_from_fd64(reply->fd_size, reply->fd);
        if (response)
            reply->fd = -1; /* the response closes it */
        return response;
    }
    if (reply->borrowed)
        return MHD_create_response_from_buffer(
            reply->borrowed_len, (void *)(uintptr_t)reply->borrowed, MHD_RESPMEM_PERSISTENT);
    http_reply_pack(r);
    /* The bytes stay in the request, which outlives its answer. */
    return MHD_create_response_from_buffer(reply->body.len, reply->body.data,
                                           MHD_RESPMEM_PERSISTENT);
}

static enum MHD_Result answer(struct MHD_Connection *connection, struct http_request *r)
{
    bool aborted = http_request_aborted(r);
    struct MHD_Response *response =
        aborted ? MHD_create_response_from_buffer(sizeof(ABORTED) - 1, (void *)(uintptr_t)ABORTED,
                                                  MHD_RESPMEM_PERSISTENT)
                : response_of(r);
    if (!response)
        return MHD_NO;
    if (aborted) {
        add(response, "Content-Type", "application/problem+json");
        add(response, "X-Request-Id", r->id);
        add(response, "Retry-After", "5");
        add(response, "Connection", "close");
    } else {
        add_headers(response, r);
    }
    enum MHD_Result queued = MHD_queue_response(
        connection, aborted ? MHD_HTTP_SERVICE_UNAVAILABLE : (unsigned)r->reply.status, response);
    MHD_destroy_response(response);
    return queued;
}

/* --- what the library calls ----------------------------------------------------------------- */

struct header_ctx {
    struct MHD_Connection *connection;
    const char *name;
    size_t count;
    const char *last;
};

static const char *find_header(void *ctx, const char *name)
{
    struct header_ctx *h = ctx;
    return MHD_lookup_connection_value(h->connection, MHD_HEADER_KIND, name);
}

static enum MHD_Result count_one(void *ctx, enum MHD_ValueKind kind, const char *key,
                                 const char *value)
{
    struct header_ctx *h = ctx;
    (void)kind;
    if (strcasecmp(key, h->name) == 0) {
        h->count++;
        h->last = value;
    }
    return MHD_YES;
}

static size_t count_header(void *ctx, const char *name)
{
    struct header_ctx *h = ctx;
    h->name = name;
    h->count = 0;
    MHD_get_connection_values(h->connection, MHD_HEADER_KIND, count_one, h);
    return h->count;
}

static const char *find_last_header(void *ctx, const char *name)
{
    struct header_ctx *h = ctx;
    h->last = NULL;
    count_header(ctx, name);
    return h->last;
}

/* "Content-Length : 5" is a length to some and nothing to others (RFC 9112, 5.1). */
static enum MHD_Result look_at_name(void *ctx, enum MHD_ValueKind kind, const char *key,
                                    const char *value)
{
    struct http_head *head = ctx;
    (void)kind;
    head->blank_in_name |= key[strcspn(key, " \t\r\n")] != 0;
    head->bytes += strlen(key) + (value ? strlen(value) : 0) + 4;
    return MHD_YES;
}

static enum http_step head_of(struct MHD_Connection *connection, struct http_request *r,
                              const char *method)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    struct header_ctx ctx = {.connection = connection};
    struct http_head head = {
        .method = method,
        .header = find_header,
        .last = find_last_header,
        .count = count_header,
        .ctx = &ctx,
        .peer = info ? info->client_addr : NULL,
    };
    MHD_get_connection_values(connection, MHD_HEADER_KIND, look_at_name, &head);
    r->head_seen = true;
    return http_intake_head(r, &head);
}

static struct http_slot *slot_of(struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return info ? info->socket_context : NULL;
}

static void move_slot(struct MHD_Connection *connection, enum slot_state state, uint64_t bytes)
{
    http_slot_move(slot_of(connection), state, bytes, clock_mono_ms());
}

/* The head was read. An upload is not cut off for others: there are few. */
static void tell_slot_head(struct MHD_Connection *connection, const struct http_request *r)
{
    if (r->body_state == BODY_DISCARDED)
        move_slot(connection, SLOT_REFUSED, 0);
    else if (r->has_body)
        move_slot(connection, r->streams ? SLOT_WORKING : SLOT_READING, 0);
}

/* Whether the client has closed before its body was whole. The library misses an end of file that
 * arrives together with the last bytes: it reads on when epoll reports an edge, and there is none
 * any more. A body in chunks may be whole in the library's buffer, so nothing is said of those. */
static bool broke_off(struct MHD_Connection *connection, const struct http_request *r)
{
    char byte;
    if (r->chunked || r->received >= r->declared)
        return false;
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    return info && recv(info->connect_fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0;
}

/* A connection that is suspended while the library still means to read from it is read when it
 * wakes, and a client that has shut down its sending side is then gone, answer or not. After one
 * more round the library knows that the request is whole, and reads no more. */
static bool goes_round(struct http_request *r)
{
    bool first = !r->whole;
    r->whole = true;
    return first && r->reply.status == 0 && (r->route->read || r->route->writes);
}

static void *on_target(void *cls, const char *target, struct MHD_Connection *connection)
{
    struct http_server *s = cls;
    return http_request_new(s->door, target, connection);
}

static enum MHD_Result on_access(void *cls, struct MHD_Connection *connection, const char *url,
                                 const char *method, const char *version, const char *upload_data,
                                 size_t *upload_data_size, void **con_cls)
{
    const struct http_server *s = cls;
    struct http_request *r = *con_cls;
    enum http_step step;
    size_t used = 0;
    (void)url;
    (void)version;
    if (!r)
        return MHD_NO; /* no memory */
    if (!r->head_seen) {
        step = head_of(connection, r, method);
        tell_slot_head(connection, r);
    } else if (*upload_data_size > 0) {
        step = http_intake_body(r, upload_data, *upload_data_size, &used);
        *upload_data_size -= used;
        http_slot_hold(slot_of(connection), r->counted);
        /* With TLS what is left of the body may be in its buffers. */
        if (step == STEP_READ && *upload_data_size == 0 && !s->tls && broke_off(connection, r))
            step = STEP_CLOSE;
    } else if (goes_round(r)) {
        return MHD_YES;
    } else {
        step = http_intake_end(r);
        if (step == STEP_WAIT)
            move_slot(connection, SLOT_WORKING, 0);
    }
    if (step == STEP_CLOSE)
        return MHD_NO;
    if (step != STEP_ANSWER)
        return MHD_YES;
    uint64_t bytes = 0;
    if (!http_request_aborted(r)) {
        bytes = r->reply.fd >= 0 ? r->reply.fd_size : r->reply.body.len + r->reply.borrowed_len;
        http_slot_hold(slot_of(connection), r->counted);
    }
    move_slot(connection, SLOT_ANSWERED, bytes);
    return answer(connection, r);
}

static void on_over(void *cls, struct MHD_Connection *connection, void **con_cls,
                    enum MHD_RequestTerminationCode code)
{
    (void)cls;
    (void)code;
    move_slot(connection, SLOT_IDLE, 0);
    if (*con_cls)
        http_request_over(*con_cls);
    *con_cls = NULL;
}

static void on_connection(void *cls, struct MHD_Connection *connection, void **socket_ctx,
                          enum MHD_ConnectionNotificationCode code)
{
    struct http_server *s = cls;
    bool started = code == MHD_CONNECTION_NOTIFY_STARTED;
    /* One answer at a time: what is asked for next may stand in the same place. */
    const union MHD_ConnectionInfo *info =
        started && s->tls ? MHD_get_connection_info(connection, MHD_CONNECTION_INFO_GNUTLS_SESSION)
                          : NULL;
    if (info)
        tls_watch(info->tls_session);
    info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    metrics_add(s->door->services.metrics, METRIC_CONNECTIONS, started ? 1 : -1);
    if (started && info) {
        *socket_ctx = http_slots_open(s->door->slots, info->connect_fd, clock_mono_ms());
    } else {
        http_slot_close(*socket_ctx);
        *socket_ctx = NULL;
    }
}

__attribute__((format(printf, 2, 0))) static void on_log(void *cls, const char *fmt, va_list ap)
{
    char text[512], quoted[600];
    (void)cls;
    vsnprintf(text, sizeof(text), fmt, ap);
    text[strcspn(text, "\r\n")] = 0;
    log_debug("libmicrohttpd", "text=%s", log_quote(text, quoted, sizeof(quoted)));
}

/* --- start and stop ------------------------------------------------------------------------- */

static enum err start_tls(struct http_server *s, const struct http_options *o, struct error *err)
{
    enum err rc =
        tls_start(o->tls_certificate, o->tls_key, o->tls_priorities, clock_wall_ms(), &s->tls, err);
    if (s->tls && MHD_is_feature_supported(MHD_FEATURE_TLS) != MHD_YES)
        return error_set(err, ERR_UNSUPPORTED, "this libmicrohttpd was built without TLS");
    return rc;
}

static enum err start_daemon(struct http_server *s, const struct http_options *o, struct error *err)
{
    unsigned flags = MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ERROR_LOG;
    intptr_t pool = o->threads > 1 ? (intptr_t)o->threads : 0; /* 0: no pool */
    const char *priorities =
        o->tls_priorities && *o->tls_priorities ? o->tls_priorities : TLS_PRIORITIES;
    if (s->tls)
        flags |= MHD_USE_TLS;
    struct MHD_OptionItem items[] = {
        {MHD_OPTION_EXTERNAL_LOGGER, (intptr_t)on_log, NULL},
        {MHD_OPTION_LISTEN_SOCKET, s->listen_fd, NULL},
        {MHD_OPTION_CONNECTION_LIMIT, (intptr_t)o->connections, NULL},
        {MHD_OPTION_PER_IP_CONNECTION_LIMIT, (intptr_t)o->connections_per_client, NULL},
        {MHD_OPTION_CONNECTION_TIMEOUT, (intptr_t)o->timeout_s, NULL},
        {MHD_OPTION_CONNECTION_MEMORY_LIMIT, (intptr_t)CONNECTION_MEMORY, NULL},
        {OPTION_STRICT, 1, NULL},
        {MHD_OPTION_URI_LOG_CALLBACK, (intptr_t)on_target, s},
        {MHD_OPTION_NOTIFY_COMPLETED, (intptr_t)on_over, s},
        {MHD_OPTION_NOTIFY_CONNECTION, (intptr_t)on_connection, s},
        {MHD_OPTION_THREAD_POOL_SIZE, pool, NULL},
        /* The last two are looked at only when there is TLS. */
        {s->tls ? MHD_OPTION_HTTPS_PRIORITIES : MHD_OPTION_END, 0, (void *)(uintptr_t)priorities},
        {MHD_OPTION_HTTPS_CERT_CALLBACK, 0, tls_callback()},
        {MHD_OPTION_END, 0, NULL},
    };
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    s->daemon = MHD_start_daemon(flags, 0, NULL, NULL, on_access, s, MHD_OPTION_ARRAY, items,
                                 MHD_OPTION_END);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (!s->daemon)
        return error_set(err, ERR_IO, "libmicrohttpd does not start (threads or descriptors?)");
    return ERR_OK;
}

enum err http_server_start(const struct http_options *options, const struct services *services,
                           struct http_server **ret, struct error *err)
{
    static const struct http_io io = {.suspend = io_suspend, .resume = io_resume};
    struct http_server *s = calloc(1, sizeof(*s));
    if (!s) {
        close(options->listen_fd);
        return error_set(err, ERR_NO_MEMORY, "no memory for the HTTP server");
    }
    s->listen_fd = options->listen_fd;
    enum err rc = start_tls(s, options, err);
    if (rc == ERR_OK)
        rc = http_door_new(options, services, &io, &s->door, err);
    if (rc == ERR_OK)
        rc = listen_socket_open(s->listen_fd, &s->port, err);
    if (rc == ERR_OK)
        rc = start_daemon(s, options, err);
    if (rc == ERR_OK) {
        *ret = s;
        return ERR_OK;
    }
    close(s->listen_fd);
    if (s->door)
        http_door_close_readers(s->door);
    http_door_unref(s->door);
    if (s->tls)
        tls_stop();
    free(s);
    return rc;
}

uint16_t http_server_port(const struct http_server *s)
{
    return s->port;
}

void http_server_quiesce(struct http_server *s)
{
    atomic_store(&s->door->quiesced, true);
}

enum err http_server_reload_tokens(struct http_server *s, struct error *err)
{
    return http_door_reload_tokens(s->door, err);
}

enum err http_server_reload_tls(struct http_server *s, struct error *err)
{
    return s->tls ? tls_reload(clock_wall_ms(), clock_mono_ms(), err) : ERR_OK;
}

void http_server_stop(struct http_server *s, int64_t wait_ms)
{
    if (!s)
        return;
    atomic_store(&s->door->quiesced, true);
    atomic_store(&s->door->stopping, true);
    MHD_socket fd = MHD_quiesce_daemon(s->daemon);
    if (fd != MHD_INVALID_SOCKET)
        close(fd);
    bool idle = http_door_wait_idle(s->door, clock_mono_ms() + wait_ms);
    http_door_close(s->door);
    if (!idle && !http_door_wait_idle(s->door, clock_mono_ms() + LAST_ANSWERS_MS))
        log_warn("requests were cut off", "after_ms=%lld", (long long)(wait_ms + LAST_ANSWERS_MS));
    MHD_stop_daemon(s->daemon);
    if (s->tls)
        tls_stop();
    http_door_close_readers(s->door);
    http_door_unref(s->door);
    free(s);
}
