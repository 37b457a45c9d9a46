#include "server/http/http_request.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/hash.h"
#include "base/log.h"
#include "server/http/http_intake.h"
#include "server/http/problem.h"

#define PACK_BYTES_MIN 1024

static void make_id(struct http_request *r)
{
    uint64_t n = atomic_fetch_add(&r->door->id_next, 1);
    uint64_t a = hash64(&n, sizeof(n), r->door->id_seed);
    uint64_t b = hash64(&a, sizeof(a), r->door->id_seed + n);
    snprintf(r->id, sizeof(r->id), "%016" PRIx64 "%08" PRIx32, a, (uint32_t)b);
}

struct http_request *http_request_new(struct http_door *door, const char *target, void *connection)
{
    struct http_request *r = calloc(1, sizeof(*r));
    if (!r)
        return NULL;
    arena_init(&r->arena, REQUEST_ARENA_BYTES);
    r->door = http_door_ref(door);
    r->services = &door->services;
    r->connection = connection;
    r->now_ms = clock_wall_ms();
    r->started_mono = clock_mono_ms();
    r->reply.fd = -1;
    atomic_init(&r->refs, 1);
    pthread_mutex_init(&r->lock, NULL);
    buf_init(&r->body, door->options.body_bytes);
    buf_init(&r->reply.body, REPLY_BYTES_MAX);
    make_id(r);
    http_door_add(door, r);
    struct error err;
    enum err rc = query_parse(target, &r->arena, &r->query, &err);
    if (rc == ERR_LIMIT)
        http_problem(r, 404, "%s", err.text);
    else if (rc == ERR_NO_MEMORY)
        http_problem(r, 503, "%s", err.text);
    else if (rc != ERR_OK)
        http_problem(r, 400, "%s", err.text);
    return r;
}

static void unref(struct http_request *r)
{
    if (atomic_fetch_sub(&r->refs, 1) != 1)
        return;
    if (r->reply.fd >= 0)
        close(r->reply.fd);
    http_request_is_read(r);
    atomic_fetch_sub(&r->door->buffered, r->counted);
    inflate_free(r->inflate);
    free(r->window);
    buf_done(&r->body);
    buf_done(&r->reply.body);
    arena_done(&r->arena);
    http_door_unref(r->door);
    pthread_mutex_destroy(&r->lock);
    free(r);
}

static void count_answer(struct http_request *r)
{
    struct metrics *m = r->services->metrics;
    int status = r->aborted ? 503 : r->reply.status;
    metrics_add(m, METRIC_REQUESTS, 1);
    metrics_add(m, METRIC_BODY_BYTES, (int64_t)r->received);
    if (status >= 500)
        metrics_add(m, METRIC_REQUESTS_5XX, 1);
    else if (status >= 400)
        metrics_add(m, METRIC_REQUESTS_4XX, 1);
    if (status == 503 || status == 429)
        metrics_add(m, METRIC_REQUESTS_BUSY, 1);
    int64_t ms = clock_mono_ms() - r->started_mono;
    metrics_request_ms(m, ms);
    log_debug("request", "id=%s method=%s route=%s status=%d ms=%lld", r->id,
              r->route ? r->route->method : "-", r->route ? r->route->pattern : "-", status,
              (long long)ms);
}

void http_request_over(struct http_request *r)
{
    if (r->route && r->route->stream && !r->body_done)
        r->route->stream->abort(r);
    pthread_mutex_lock(&r->lock);
    r->connection = NULL;
    r->suspended = false;
    count_answer(r);
    pthread_mutex_unlock(&r->lock);
    http_door_remove(r->door, r);
    unref(r);
}

void http_request_is_read(struct http_request *r)
{
    atomic_fetch_sub(&r->door->unread, r->unread);
    r->unread = 0;
    if (r->streams)
        atomic_fetch_sub(&r->door->streams, 1);
    r->streams = false;
}

static void wake_locked(struct http_request *r)
{
    if (r->suspended) {
        r->suspended = false;
        r->door->io.resume(r->connection);
    }
}

void http_request_abort(struct http_request *r)
{
    pthread_mutex_lock(&r->lock);
    if (!r->answered) {
        r->aborted = true;
        wake_locked(r);
    }
    pthread_mutex_unlock(&r->lock);
}

void http_request_charge(struct http_request *r, size_t bytes)
{
    atomic_fetch_add(&r->door->buffered, bytes);
    r->counted += bytes;
}

bool http_request_aborted(struct http_request *r)
{
    pthread_mutex_lock(&r->lock);
    bool aborted = r->aborted;
    pthread_mutex_unlock(&r->lock);
    return aborted;
}

struct buf *http_reply(struct http_request *r, int status, const char *content_type)
{
    r->reply.status = status;
    r->reply.content_type = content_type;
    r->reply.gzipped = false;
    r->reply.borrowed = NULL;
    buf_clear(&r->reply.body);
    return &r->reply.body;
}

static void reply_problem(struct http_request *r, int status, const char *detail,
                          const struct problem_place *place)
{
    problem_print(http_reply(r, status, PROBLEM_TYPE), status, detail, place);
    if (status == 503 && r->reply.retry_after_s == 0)
        r->reply.retry_after_s = 1;
}

void http_problem(struct http_request *r, int status, const char *fmt, ...)
{
    char detail[600];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(detail, sizeof(detail), fmt, ap);
    va_end(ap);
    reply_problem(r, status, detail, NULL);
}

void http_refuse_shape(struct http_request *r, const char *path, const char *reason)
{
    char detail[600];
    struct problem_place place = {.path = path, .reason = reason};
    snprintf(detail, sizeof(detail), "%s%s%s", path, *path ? ": " : "", reason);
    reply_problem(r, 422, detail, &place);
}

void http_reply_error(struct http_request *r, const struct error *err)
{
    const char *detail;
    bool log;
    int status = problem_from_error(err, &detail, &log);
    if (log) {
        char text[sizeof(err->text)];
        log_error("request failed", "id=%s route=%s code=%s error=%s", r->id,
                  r->route ? r->route->pattern : "-", err_name(err->code),
                  log_quote(err->text, text, sizeof(text)));
    }
    struct problem_place place = {.line = status < 500 ? err->line : 0, .reason = detail};
    reply_problem(r, status, detail, &place);
}

void http_reply_failure(struct http_request *r, const struct error *err)
{
    struct error own = *err;
    bool as_it_is = err->code == ERR_BUSY || err->code == ERR_NO_MEMORY || err->code == ERR_IO ||
                    err->code == ERR_NOT_FOUND || err->code == ERR_DENIED;
    if (!as_it_is)
        own.code = ERR_INTERNAL;
    http_reply_error(r, &own);
}

void http_reply_pack(struct http_request *r)
{
    struct http_reply *reply = &r->reply;
    if (reply->gzipped || !r->accepts_gzip || reply->body.failed ||
        reply->body.len < PACK_BYTES_MIN)
        return;
    struct buf packed;
    buf_init(&packed, REPLY_BYTES_MAX);
    if (deflate_gzip(reply->body.data, reply->body.len, &packed) && packed.len < reply->body.len) {
        buf_done(&reply->body);
        reply->body = packed;
        reply->gzipped = true;
    } else {
        buf_done(&packed);
    }
}

void http_defer(struct http_request *r)
{
    atomic_fetch_add(&r->refs, 1);
    r->deferred = true;
    pthread_mutex_lock(&r->lock);
    if (!r->aborted) { /* else the door answers right after the handler */
        r->suspended = true;
        r->door->io.suspend(r->connection);
    }
    pthread_mutex_unlock(&r->lock);
}

void http_finish(struct http_request *r)
{
    pthread_mutex_lock(&r->lock);
    if (!r->aborted) {
        r->answered = true;
        wake_locked(r);
    }
    pthread_mutex_unlock(&r->lock);
    unref(r);
}

void http_hold(struct http_request *r)
{
    atomic_fetch_add(&r->refs, 1);
}

void http_drop(struct http_request *r)
{
    unref(r);
}

bool http_sleep(struct http_request *r)
{
    pthread_mutex_lock(&r->lock);
    bool sleeps = !r->woken && !r->aborted;
    if (sleeps) {
        r->suspended = true;
        r->door->io.suspend(r->connection);
    }
    r->woken = false;
    pthread_mutex_unlock(&r->lock);
    return sleeps;
}

void http_wake(struct http_request *r)
{
    pthread_mutex_lock(&r->lock);
    if (r->suspended)
        wake_locked(r);
    else
        r->woken = true;
    pthread_mutex_unlock(&r->lock);
}

bool http_enter(struct http_request *r)
{
    if (http_door_enter(r->door))
        return true;
    http_drop(r);
    return false;
}

static enum err job_run(struct read_job *job, const struct read_tools *tools, struct error *err)
{
    struct http_request *r = job->user;
    if (!http_door_enter(r->door))
        return error_set(err, ERR_BUSY, "the server is shutting down");
    enum err rc = r->read(r, tools, err);
    http_door_leave(r->door);
    return rc;
}

/* The end of a read that nothing follows. */
static void read_over(struct http_request *r, enum err rc, const struct error *err)
{
    if (rc == ERR_LIMIT)
        http_problem(r, 503, "the question took too long or its answer is too large; narrow it");
    else if (rc == ERR_INVALID) /* of the query: a cursor, a parameter */
        http_reply_error(r, err);
    else if (rc != ERR_OK)
        http_reply_failure(r, err);
    http_reply_pack(r);
    http_request_charge(r, r->reply.body.cap);
    http_finish(r);
}

static void job_done(struct read_job *job, enum err rc, const struct error *err)
{
    struct http_request *r = job->user;
    struct error late;
    if (!http_enter(r))
        return;
    /* To whoever goes on, a limit is one of what the client wants. */
    if (job->late && r->then) {
        rc = error_set(&late, ERR_BUSY, "the question before it took too long; try again later");
        err = &late;
    }
    /* The last word on `r` may free it; the gate is the door's. */
    struct http_door *door = http_door_ref(r->door);
    (r->then ? r->then : read_over)(r, rc, err);
    http_door_leave(door);
    http_door_unref(door);
}

void http_read(struct http_request *r, http_read_fn read, http_then_fn then)
{
    struct error err;
    if (!r->deferred)
        http_defer(r);
    r->handed = true;
    r->read = read;
    r->then = then;
    r->job = (struct read_job){.run = job_run, .done = job_done, .user = r};
    enum err rc = readers_submit(r->services->readers, &r->job, &err);
    if (rc != ERR_OK)
        (then ? then : read_over)(r, rc, &err);
}

static void op_done(struct write_op *op, enum err rc, const struct error *err)
{
    struct http_request *r = op->user;
    if (http_enter(r)) {
        struct http_door *door = http_door_ref(r->door);
        r->written(r, op, rc, err);
        http_door_leave(door);
        http_door_unref(door);
    }
    write_op_free(op);
}

void http_write(struct http_request *r, struct write_op *op, http_written_fn written)
{
    struct error err;
    if (!r->deferred)
        http_defer(r);
    r->handed = true;
    r->written = written;
    op->done = op_done;
    op->user = r;
    enum err rc = writer_submit(r->services->writer, op, &err);
    if (rc != ERR_OK) {
        written(r, op, rc, &err);
        write_op_free(op);
    }
}

void http_work_run(struct http_request *r)
{
    if (!http_enter(r))
        return;
    struct http_door *door = http_door_ref(r->door);
    http_hold(r);
    r->handed = false;
    http_intake_work(r);
    if (!r->handed)
        http_finish(r);
    http_drop(r);
    http_door_leave(door);
    http_door_unref(door);
}

void http_work(struct http_request *r, struct http_workers *workers)
{
    struct error err;
    http_defer(r);
    if (http_workers_submit(workers, r, &err) != ERR_OK) {
        http_problem(r, 503, "too many bodies wait to be read; try again");
        r->reply.retry_after_s = 2;
        http_finish(r);
    }
}
