#include "server/http/http_intake.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/clock.h"
#include "base/utf8.h"

#define WINDOW_BYTES ((size_t)64 << 10)
#define ROOM_SHARE   8 /* of the memory, so many-th is made free at a time */

/* What a thread of the door reads itself, in plain and in compressed bytes: some milliseconds of
 * work. Not even that much once the bodies of all that wait for it come to UNREAD_BYTES; a
 * compressed byte counts PACKED_WEIGHT. */
#define AT_ONCE_BYTES        ((size_t)256 << 10)
#define AT_ONCE_PACKED_BYTES ((size_t)64 << 10)
#define UNREAD_BYTES         ((size_t)2 << 20)
#define PACKED_WEIGHT        8

#define HEAD_BYTES_MAX ((size_t)32 << 10)

static const char *copy(struct http_request *r, const char *text)
{
    return text ? arena_strdup(&r->arena, text) : NULL;
}

/* A request id is kept when it can stand in a header, a log line and a shell without harm. */
static void keep_id(struct http_request *r, const char *given)
{
    static const char allowed[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.:+/=@";
    size_t len = given ? strlen(given) : 0;
    if (len > 0 && len < sizeof(r->id) && strspn(given, allowed) == len)
        memcpy(r->id, given, len + 1);
}

static bool origin_allowed(const char *list, const char *origin)
{
    size_t len = strlen(origin);
    for (const char *p = list; *(p += strspn(p, " \t"));) {
        size_t n = strcspn(p, " \t");
        if ((n == 1 && *p == '*') || (n == len && strncasecmp(p, origin, n) == 0))
            return true;
        p += n;
    }
    return false;
}

/* Two ways to say where a body ends are two requests to somebody: refused (request smuggling). */
static bool framing_is_sound(struct http_request *r, const struct http_head *head)
{
    size_t lengths = head->count(head->ctx, "Content-Length");
    size_t codings = head->count(head->ctx, "Transfer-Encoding");
    const char *length = head->header(head->ctx, "Content-Length");
    const char *coding = head->header(head->ctx, "Transfer-Encoding");
    r->chunked = codings > 0;
    r->has_body = r->chunked;
    if (head->bytes > HEAD_BYTES_MAX)
        http_problem(r, 431, "the request's head is larger than %zu bytes", HEAD_BYTES_MAX);
    else if (head->blank_in_name)
        http_problem(r, 400, "a header's name has a blank in it");
    else if (lengths > 1 || codings > 1 || (lengths && codings))
        http_problem(r, 400, "the request says twice how long its body is");
    else if (coding && strcasecmp(coding, "chunked") != 0)
        http_problem(r, 400, "Transfer-Encoding other than chunked is not read");
    else if (head->count(head->ctx, "Host") > 1)
        http_problem(r, 400, "more than one Host header");
    else if (length && (strlen(length) > 19 || strspn(length, "0123456789") != strlen(length)))
        http_problem(r, 400, "Content-Length is no number");
    else if (length)
        r->declared = strtoull(length, NULL, 10);
    r->has_body |= r->declared > 0;
    return r->reply.status == 0;
}

static void read_head(struct http_request *r, const struct http_head *head)
{
    const char *expect = head->header(head->ctx, "Expect");
    const char *origin = head->header(head->ctx, "Origin");
    r->head_only = strcmp(head->method, "HEAD") == 0;
    r->expects_continue = expect && strcasecmp(expect, "100-continue") == 0;
    r->accepts_gzip = coding_accepts_gzip(head->header(head->ctx, "Accept-Encoding"));
    r->content_type = copy(r, head->header(head->ctx, "Content-Type"));
    r->if_none_match = copy(r, head->header(head->ctx, "If-None-Match"));
    if (origin && origin_allowed(r->door->options.cors_origins, origin))
        r->origin = copy(r, origin);
}

static bool find_route(struct http_request *r, const struct http_head *head)
{
    const char *method = r->head_only ? "GET" : head->method;
    enum err rc = route_find(method, &r->query, &r->route, r->params);
    if (rc == ERR_OK)
        return true;
    if (rc == ERR_NOT_FOUND) {
        http_problem(r, 404, "no such resource; /openapi.json names those there are");
        return false;
    }
    struct buf allow;
    buf_init(&allow, 256);
    route_allow(&r->query, &allow);
    r->reply.allow = copy(r, allow.data);
    buf_done(&allow);
    if (strcmp(head->method, "OPTIONS") == 0) {
        http_reply(r, 204, NULL);
        r->reply.preflight =
            r->origin && head->header(head->ctx, "Access-Control-Request-Method") != NULL;
    } else {
        http_problem(r, 405, "this resource answers %s", r->reply.allow ? r->reply.allow : "");
    }
    return false;
}

static bool authorize(struct http_request *r, const struct http_head *head)
{
    const struct http_door *d = r->door;
    if (r->route->scopes == 0 || (r->route->open_metrics && d->options.metrics_open))
        return true;
    struct client_addr peer = client_addr_of_peer(head->peer);
    struct client_addr client =
        client_addr_find(d->proxies, &peer, head->last(head->ctx, "X-Forwarded-For"));
    enum auth_result result = auth_check(d->auth, head->header(head->ctx, "Authorization"),
                                         head->header(head->ctx, "X-Stallsym-Token"), &client,
                                         r->started_mono, &r->arena, &r->identity);
    if (result == AUTH_WRONG)
        metrics_add(r->services->metrics, METRIC_AUTH_FAILURES, 1);
    if (result == AUTH_THROTTLED) {
        http_problem(r, 429, "too many wrong tokens from this address");
        r->reply.retry_after_s = AUTH_FAILURE_MS / 1000;
    } else if (result != AUTH_OK) {
        http_problem(r, 401, "%s",
                     result == AUTH_MISSING ? "a token is needed: Authorization: Bearer TOKEN"
                                            : "the token is not known");
        r->reply.authenticate = true;
    } else if (!(r->identity.scopes & r->route->scopes)) {
        char names[64];
        http_problem(r, 403, "a token with the scope %s is needed",
                     auth_scope_names(r->route->scopes, names, sizeof(names)));
    } else if (r->identity.bundle_id && r->route->unbound) {
        http_problem(r, 403, "a token that is bound to no app is needed");
    }
    return r->reply.status == 0;
}

static bool check_query(struct http_request *r)
{
    struct error err;
    if (!r->route->query || query_only(&r->query, r->route->query, &err) == ERR_OK)
        return true;
    http_problem(r, 400, "%s", err.text);
    return false;
}

/* Whether `more` bytes are too many; slow clients go then, and the next one that asks finds room. For what
 * is more than there ever is nobody goes. */
static bool lacks_memory(const struct http_door *d, uint64_t more)
{
    uint64_t all = more + atomic_load(&d->buffered), cap = d->options.buffered_bytes;
    if (all > cap && more <= cap)
        http_slots_relieve(d->slots, all - cap + cap / ROOM_SHARE, clock_mono_ms());
    return all > cap;
}

/* What answers at once from memory is never refused. */
static bool is_overloaded(const struct http_request *r)
{
    const struct http_door *d = r->door;
    bool buffers = r->route->body == BODY_BUFFERED || r->route->read;
    bool waits = r->route->writes || r->route->read || r->route->body != BODY_NONE;
    if (r->route->writes && r->route->body != BODY_NONE && writer_is_busy(r->services->writer))
        return true;
    if (buffers && lacks_memory(d, r->declared))
        return true;
    return waits && http_slots_full(d->slots);
}

static void refuse_for_load(struct http_request *r)
{
    http_problem(r, 503, "the server has more work than it can take; try again");
    r->reply.retry_after_s = 2;
}

static bool may_stream(struct http_request *r)
{
    r->streams = true;
    if (atomic_fetch_add(&r->door->streams, 1) < r->door->options.uploads)
        return true;
    http_request_is_read(r);
    return false;
}

/* Size, coding and load, before the first byte of the body. */
static bool admit_body(struct http_request *r, const struct http_head *head)
{
    const struct http_options *o = &r->door->options;
    uint64_t cap = r->route->body == BODY_STREAMED ? o->upload_bytes : o->body_bytes;
    struct error err;
    if (r->route->body == BODY_NONE) {
        if (r->has_body)
            r->body_state = BODY_DISCARDED;
        if (r->declared > DRAIN_BYTES)
            http_problem(r, 413, "this request takes no body");
        else if (is_overloaded(r))
            refuse_for_load(r);
        return r->reply.status == 0;
    }
    r->body_cap = cap;
    if (!coding_parse(head->header(head->ctx, "Content-Encoding"), &r->coding)) {
        http_problem(r, 415, "Content-Encoding: gzip and zstd are read, nothing else");
    } else if (r->declared > cap) {
        http_problem(r, 413, "the body is larger than %llu bytes", (unsigned long long)cap);
    } else if (is_overloaded(r)) {
        refuse_for_load(r);
    } else if (r->route->body == BODY_STREAMED && r->has_body && !may_stream(r)) {
        http_problem(r, 503, "%zu uploads are being received; try again", o->uploads);
        r->reply.retry_after_s = 5;
    } else if (r->route->body == BODY_STREAMED && r->coding != CODING_NONE && r->has_body &&
               inflate_new(r->coding, cap, &r->inflate, &err) != ERR_OK) {
        http_reply_error(r, &err);
    }
    return r->reply.status == 0;
}

/* The reply is fixed before the body came. */
static enum http_step refuse(struct http_request *r)
{
    r->body_state = BODY_DISCARDED;
    if (!r->has_body) /* answered once the request is read, or the library ends the connection */
        return STEP_READ;
    if (r->chunked || r->expects_continue || r->declared > DRAIN_BYTES) {
        r->reply.close = true;
        return STEP_ANSWER;
    }
    return STEP_READ;
}

enum http_step http_intake_head(struct http_request *r, const struct http_head *head)
{
    keep_id(r, head->header(head->ctx, "X-Request-Id"));
    read_head(r, head);
    if (!framing_is_sound(r, head)) {
        r->reply.close = true;
        r->body_state = BODY_DISCARDED;
        return STEP_ANSWER;
    }
    if (r->reply.status == 0 && atomic_load(&r->door->stopping)) {
        http_problem(r, 503, "the server is shutting down");
        r->reply.close = true;
    }
    if (r->reply.status != 0 || !find_route(r, head) || !authorize(r, head) || !check_query(r) ||
        !admit_body(r, head))
        return refuse(r);
    return STEP_READ;
}

/* From now on the body is only thrown away. */
static void give_up(struct http_request *r, const struct error *err)
{
    http_reply_error(r, err);
    r->body_state = BODY_DISCARDED;
    buf_done(&r->body);
    if (r->route->stream)
        r->route->stream->abort(r);
}

static bool is_packed(const struct http_request *r)
{
    return r->route->body == BODY_BUFFERED && r->coding != CODING_NONE && r->has_body;
}

/* More than a thread of the door reads itself. */
static bool is_large(const struct http_request *r)
{
    return r->body.len > (is_packed(r) ? AT_ONCE_PACKED_BYTES : AT_ONCE_BYTES);
}

/* What the door's threads will have to read. A large body is not for them. */
static void weigh(struct http_request *r, size_t len)
{
    size_t weight = r->coding == CODING_NONE ? len : len * PACKED_WEIGHT;
    if (is_large(r)) {
        http_request_is_read(r);
        return;
    }
    atomic_fetch_add(&r->door->unread, weight);
    r->unread += weight;
}

static enum err keep(struct http_request *r, const void *data, size_t len, struct error *err)
{
    size_t cap_before = r->body.cap;
    if (!buf_put(&r->body, data, len)) {
        if (r->body.len + len > r->body.limit)
            return error_set(err, ERR_LIMIT, "the body is larger than %zu bytes", r->body.limit);
        return error_set(err, ERR_NO_MEMORY, "no memory for a body");
    }
    if (!r->body_done)
        weigh(r, len);
    size_t grown = r->body.cap - cap_before;
    if (grown == 0)
        return ERR_OK;
    size_t all = atomic_fetch_add(&r->door->buffered, grown) + grown;
    r->counted += grown;
    /* One body alone may always be read: its own cap holds it. */
    if (all > r->door->options.buffered_bytes && all > r->counted && lacks_memory(r->door, 0))
        return error_set(err, ERR_BUSY, "too many bytes are buffered");
    return ERR_OK;
}

/* One piece of plain body to where the route wants it. Sets `ret_taken`. */
static enum err deliver(struct http_request *r, const void *data, size_t len, size_t *ret_taken,
                        struct error *err)
{
    if (r->route->body == BODY_STREAMED)
        return r->route->stream->data(r, data, len, ret_taken, err);
    enum err rc = keep(r, data, len, err);
    *ret_taken = rc == ERR_OK ? len : 0;
    return rc;
}

/* Hands on what was inflated before; true when nothing is left of it. */
static bool flush_window(struct http_request *r, enum err *ret_rc, struct error *err)
{
    while (r->window_at < r->window_len) {
        size_t taken = 0;
        *ret_rc = deliver(r, r->window + r->window_at, r->window_len - r->window_at, &taken, err);
        if (*ret_rc != ERR_OK)
            return false;
        r->window_at += taken;
        if (taken == 0)
            return false;
    }
    r->window_at = r->window_len = 0;
    return true;
}

static enum err take_inflated(struct http_request *r, const uint8_t *data, size_t len,
                              size_t *ret_used, struct error *err)
{
    size_t used = 0;
    bool full = true; /* the window was filled: more may come without more input */
    if (!r->window && !(r->window = malloc(WINDOW_BYTES)))
        return error_set(err, ERR_NO_MEMORY, "no memory to inflate a body");
    while (used < len || full) {
        enum err rc = ERR_OK;
        if (!flush_window(r, &rc, err)) {
            *ret_used = used;
            return rc;
        }
        size_t in = 0, out = 0;
        rc = inflate_step(r->inflate, data + used, len - used, &in, r->window, WINDOW_BYTES, &out,
                          err);
        if (rc != ERR_OK)
            return rc;
        used += in;
        r->window_len = out;
        full = out == WINDOW_BYTES;
        if (in == 0 && out == 0)
            break;
    }
    *ret_used = used;
    enum err rc = ERR_OK;
    flush_window(r, &rc, err);
    return rc;
}

static bool is_too_slow(const struct http_request *r)
{
    int64_t allowed = (int64_t)r->door->options.timeout_s * 1000 +
                      (int64_t)(r->received / (SLOT_BYTES_PER_S / 1000));
    return clock_mono_ms() - r->started_mono > allowed;
}

/* As much of the piece as can go anywhere now. */
static void take_piece(struct http_request *r, const uint8_t *data, size_t len, size_t *ret_used)
{
    struct error err;
    enum err rc = ERR_OK;
    size_t used = 0;
    if (r->received + len > r->body_cap)
        rc = error_set(&err, ERR_LIMIT, "the body is larger than %llu bytes",
                       (unsigned long long)r->body_cap);
    else if (r->inflate)
        rc = take_inflated(r, data, len, &used, &err);
    else
        rc = deliver(r, data, len, &used, &err);
    if (rc != ERR_OK) {
        give_up(r, &err);
        used = len;
    }
    r->received += used;
    *ret_used = used;
}

enum http_step http_intake_body(struct http_request *r, const void *data, size_t len,
                                size_t *ret_used)
{
    size_t done = 0;
    *ret_used = 0;
    if (is_too_slow(r))
        return STEP_CLOSE;
    if (r->body_state == BODY_DISCARDED) {
        uint64_t cap = r->body_cap > DRAIN_BYTES ? r->body_cap : DRAIN_BYTES;
        r->received += len;
        *ret_used = len;
        return r->received > cap ? STEP_CLOSE : STEP_READ;
    }
    while (done < len) {
        size_t used = 0;
        if (http_request_aborted(r))
            return STEP_CLOSE;
        take_piece(r, (const uint8_t *)data + done, len - done, &used);
        done += used;
        *ret_used = done;
        if (done < len && http_sleep(r))
            return STEP_WAIT;
    }
    return STEP_READ;
}

/* What is still in the window goes to the sink; false while it cannot. */
static bool body_is_out(struct http_request *r, enum http_step *ret)
{
    struct error err;
    enum err rc = ERR_OK;
    size_t used;
    while (r->inflate && r->window_len > 0) {
        if (!flush_window(r, &rc, &err) && rc == ERR_OK) {
            if (http_sleep(r)) {
                *ret = STEP_WAIT;
                return false;
            }
            continue;
        }
        if (rc == ERR_OK)
            rc = take_inflated(r, NULL, 0, &used, &err);
        if (rc != ERR_OK) {
            give_up(r, &err);
            return true;
        }
    }
    if (r->inflate && r->has_body && (rc = inflate_end(r->inflate, &err)) != ERR_OK)
        give_up(r, &err);
    return true;
}

enum unpacked { UNPACK_DONE, UNPACK_REFUSED, UNPACK_LARGE };

/* Inflates the body, to `room` bytes when it is less than the route's cap: UNPACK_LARGE then, and
 * the body is as it was. */
static enum unpacked unpack(struct http_request *r, size_t room)
{
    struct error err;
    struct buf packed = r->body;
    size_t used = 0;
    if (!is_packed(r))
        return UNPACK_DONE;
    bool all = room >= packed.limit;
    buf_init(&r->body, all ? packed.limit : room);
    enum err rc = inflate_new(r->coding, packed.limit, &r->inflate, &err);
    if (rc == ERR_OK)
        rc = take_inflated(r, (const uint8_t *)packed.data, packed.len, &used, &err);
    if (rc == ERR_OK)
        rc = inflate_end(r->inflate, &err);
    inflate_free(r->inflate);
    r->inflate = NULL;
    if (rc == ERR_LIMIT && !all) {
        atomic_fetch_sub(&r->door->buffered, r->body.cap);
        r->counted -= r->body.cap;
        buf_done(&r->body);
        r->body = packed;
        r->window_at = r->window_len = 0;
        return UNPACK_LARGE;
    }
    atomic_fetch_sub(&r->door->buffered, packed.cap);
    r->counted -= packed.cap;
    buf_done(&packed);
    if (rc != ERR_OK) {
        give_up(r, &err);
        return UNPACK_REFUSED;
    }
    r->body.limit = r->body_cap;
    return UNPACK_DONE;
}

static void dispatch(struct http_request *r)
{
    http_request_is_read(r);
    if (r->reply.status != 0)
        return;
    if (r->route->handle)
        r->route->handle(r);
    else
        http_read(r, r->route->read, NULL);
}

void http_intake_work(struct http_request *r)
{
    (void)unpack(r, SIZE_MAX);
    dispatch(r);
}

enum http_step http_intake_end(struct http_request *r)
{
    enum http_step step = STEP_ANSWER;
    if (http_request_aborted(r))
        return STEP_ANSWER;
    if (r->deferred)
        return r->answered ? STEP_ANSWER : STEP_WAIT;
    if (r->reply.status == 0 && !body_is_out(r, &step))
        return step;
    if (r->reply.status != 0)
        return STEP_ANSWER;
    bool large = is_large(r), many = atomic_load(&r->door->unread) > UNREAD_BYTES;
    bool reads = r->body.len > 0 && (r->route->handle || is_packed(r));
    r->body_done = true;
    if (reads && !large && many)
        http_work(r, r->door->light);
    else if ((reads && large) || unpack(r, AT_ONCE_BYTES) == UNPACK_LARGE)
        http_work(r, r->door->heavy);
    else
        dispatch(r);
    return r->deferred && !http_request_aborted(r) ? STEP_WAIT : STEP_ANSWER;
}
