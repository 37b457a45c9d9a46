#include "server/http/http_door.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/thread.h"
#include "server/http/http_request.h"

#define TOKEN_ARENA_BYTES ((size_t)8 << 20)
#define WORK_QUEUE        1024 /* bodies that may wait for each kind of worker */

static enum err copy_options(struct http_options *to, const struct http_options *from,
                             struct error *err)
{
    *to = *from;
    to->cors_origins = strdup(from->cors_origins ? from->cors_origins : "");
    to->trusted_proxies = strdup(from->trusted_proxies ? from->trusted_proxies : "");
    if (!to->cors_origins || !to->trusted_proxies)
        return error_set(err, ERR_NO_MEMORY, "no memory for the door");
    return ERR_OK;
}

static size_t worker_count(const struct http_door *d)
{
    return d->options.threads ? d->options.threads : 1;
}

static enum err open_readers(struct http_door *d, struct error *err)
{
    size_t room = 3 * worker_count(d); /* theirs and the workers' */
    d->readers = calloc(room, sizeof(struct storage_reader *));
    if (!d->readers)
        return error_set(err, ERR_NO_MEMORY, "no memory for the door");
    d->reader_room = room;
    while (d->reader_count < room) {
        enum err rc = storage_reader_open(d->services.storage, &d->readers[d->reader_count], err);
        if (rc != ERR_OK)
            return rc;
        d->reader_count++;
    }
    return ERR_OK;
}

void http_door_close_readers(struct http_door *d)
{
    http_workers_stop(d->heavy);
    http_workers_stop(d->light);
    http_slots_free(d->slots); /* its clock counts in the metrics */
    d->heavy = d->light = NULL;
    d->slots = NULL;
    while (d->reader_count > 0)
        storage_reader_close(d->readers[--d->reader_count]);
}

enum err http_door_new(const struct http_options *options, const struct services *services,
                       const struct http_io *io, struct http_door **ret, struct error *err)
{
    struct http_door *d = calloc(1, sizeof(*d));
    if (!d)
        return error_set(err, ERR_NO_MEMORY, "no memory for the door");
    atomic_init(&d->refs, 1);
    pthread_mutex_init(&d->lock, NULL);
    thread_cond_init(&d->changed);
    d->services = *services;
    d->io = *io;
    if (getrandom(&d->id_seed, sizeof(d->id_seed), GRND_NONBLOCK) < 0)
        d->id_seed = (uint64_t)(uintptr_t)d;
    enum err rc = copy_options(&d->options, options, err);
    if (rc == ERR_OK)
        rc = proxy_list_new(options->trusted_proxies, &d->proxies, err);
    if (rc == ERR_OK && !(d->auth = auth_new()))
        rc = error_set(err, ERR_NO_MEMORY, "no memory for the tokens");
    if (rc == ERR_OK)
        rc = open_readers(d, err);
    if (rc == ERR_OK)
        rc = http_door_reload_tokens(d, err);
    if (rc == ERR_OK)
        rc = http_slots_new(options->connections, options->timeout_s, services->metrics, &d->slots,
                            err);
    if (rc == ERR_OK)
        rc = http_workers_start(worker_count(d), WORK_QUEUE, http_work_run, &d->heavy, err);
    if (rc == ERR_OK)
        rc = http_workers_start(worker_count(d), WORK_QUEUE, http_work_run, &d->light, err);
    if (rc == ERR_OK) {
        *ret = d;
    } else {
        http_door_close_readers(d);
        http_door_unref(d);
    }
    return rc;
}

struct http_door *http_door_ref(struct http_door *d)
{
    atomic_fetch_add(&d->refs, 1);
    return d;
}

void http_door_unref(struct http_door *d)
{
    if (!d || atomic_fetch_sub(&d->refs, 1) != 1)
        return;
    auth_free(d->auth);
    proxy_list_free(d->proxies);
    free((char *)d->options.cors_origins);
    free((char *)d->options.trusted_proxies);
    free(d->readers);
    pthread_cond_destroy(&d->changed);
    pthread_mutex_destroy(&d->lock);
    free(d);
}

enum err http_door_reload_tokens(struct http_door *d, struct error *err)
{
    struct arena arena;
    struct storage_reader *reader = NULL;
    struct token_row *tokens = NULL;
    size_t count = 0;
    arena_init(&arena, TOKEN_ARENA_BYTES);
    uint64_t begun = auth_begin_set(d->auth);
    enum err rc = http_door_reader_take(d, &reader, err);
    if (rc == ERR_OK)
        rc = read_tokens(reader, &arena, &tokens, &count, err);
    if (rc == ERR_OK)
        rc = auth_set_tokens(d->auth, begun, tokens, count, err);
    if (reader)
        http_door_reader_give(d, reader);
    arena_done(&arena);
    return rc;
}

enum err http_door_reader_take(struct http_door *d, struct storage_reader **ret, struct error *err)
{
    struct storage_reader *reader = NULL;
    pthread_mutex_lock(&d->lock);
    if (d->reader_count > 0)
        reader = d->readers[--d->reader_count];
    pthread_mutex_unlock(&d->lock);
    if (!reader) /* more at a time than the door has threads: a reload of tokens */
        return storage_reader_open(d->services.storage, ret, err);
    *ret = reader;
    return ERR_OK;
}

void http_door_reader_give(struct http_door *d, struct storage_reader *reader)
{
    pthread_mutex_lock(&d->lock);
    if (d->reader_count < d->reader_room) {
        d->readers[d->reader_count++] = reader;
        reader = NULL;
    }
    pthread_mutex_unlock(&d->lock);
    if (reader)
        storage_reader_close(reader);
}

bool http_door_enter(struct http_door *d)
{
    pthread_mutex_lock(&d->lock);
    bool in = !d->gate_closed;
    d->inside += in;
    pthread_mutex_unlock(&d->lock);
    return in;
}

void http_door_leave(struct http_door *d)
{
    pthread_mutex_lock(&d->lock);
    d->inside--;
    pthread_cond_broadcast(&d->changed);
    pthread_mutex_unlock(&d->lock);
}

bool http_door_wait_idle(struct http_door *d, int64_t deadline_mono_ms)
{
    pthread_mutex_lock(&d->lock);
    while (d->requests > 0 && thread_cond_wait_until(&d->changed, &d->lock, deadline_mono_ms))
        ;
    bool idle = d->requests == 0;
    pthread_mutex_unlock(&d->lock);
    return idle;
}

void http_door_close(struct http_door *d)
{
    pthread_mutex_lock(&d->lock);
    d->gate_closed = true;
    while (d->inside > 0)
        pthread_cond_wait(&d->changed, &d->lock);
    for (struct http_request *r = d->first; r; r = r->next)
        http_request_abort(r);
    pthread_mutex_unlock(&d->lock);
}

void http_door_add(struct http_door *d, struct http_request *r)
{
    pthread_mutex_lock(&d->lock);
    r->next = d->first;
    r->previous = NULL;
    if (d->first)
        d->first->previous = r;
    d->first = r;
    d->requests++;
    pthread_mutex_unlock(&d->lock);
}

void http_door_remove(struct http_door *d, struct http_request *r)
{
    pthread_mutex_lock(&d->lock);
    if (r->previous)
        r->previous->next = r->next;
    else
        d->first = r->next;
    if (r->next)
        r->next->previous = r->previous;
    r->next = r->previous = NULL;
    d->requests--;
    pthread_cond_broadcast(&d->changed);
    pthread_mutex_unlock(&d->lock);
}
