/*
 * http_door - what all requests share.
 *
 * Purpose: options, services, tokens, storage readers for the door's threads, the count of buffered
 * bytes, and the list of requests under way, without knowing libmicrohttpd.
 *
 * Invariants: the gate: work for a request that runs on other threads (readers, writer, spooler,
 * indexer) enters it before it touches a service and leaves it afterwards. Once the gate is closed
 * nothing gets in, and http_door_close() has waited for what was inside: after that the services
 * may go, however late a callback comes. Lock order: door before request, never both otherwise.
 *
 * Threads: any. Memory: counted; http_server holds one, every request holds one.
 */
#ifndef STALLSYM_HTTP_HTTP_DOOR_H
#define STALLSYM_HTTP_HTTP_DOOR_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "server/http/auth.h"
#include "server/http/client_addr.h"
#include "server/http/http_server.h"
#include "server/http/http_slots.h"
#include "server/http/http_workers.h"
#include "server/http/services.h"

struct http_request;

/* How a connection is put to sleep and woken; the library's own two calls. */
struct http_io {
    void (*suspend)(void *connection);
    void (*resume)(void *connection);
};

struct http_door {
    struct http_options options; /* texts are copies */
    struct services services;
    struct http_io io;
    struct auth *auth;
    struct proxy_list *proxies;
    struct http_slots *slots;
    struct http_workers *heavy; /* for large bodies, */
    struct http_workers *light; /* and for small ones while many wait */
    atomic_bool quiesced;       /* readyz says no */
    atomic_bool stopping;       /* new requests are refused */
    atomic_size_t buffered;     /* bytes of bodies, of what they became, and of answers */
    atomic_size_t unread;       /* bytes of bodies that no handler has seen yet */
    atomic_size_t streams;      /* uploads that are being received */
    atomic_uint refs;
    uint64_t id_seed;
    atomic_uint_fast64_t id_next;

    pthread_mutex_t lock; /* of everything below */
    pthread_cond_t changed;
    bool gate_closed;
    size_t inside;
    struct http_request *first; /* requests under way */
    size_t requests;
    struct storage_reader **readers; /* idle ones */
    size_t reader_count;
    size_t reader_room;
};

enum err http_door_new(const struct http_options *options, const struct services *services,
                       const struct http_io *io, struct http_door **ret, struct error *err);
struct http_door *http_door_ref(struct http_door *d);
void http_door_unref(struct http_door *d);

enum err http_door_reload_tokens(struct http_door *d, struct error *err);

/* A storage reader for a short look-up on the door's own thread. */
enum err http_door_reader_take(struct http_door *d, struct storage_reader **ret, struct error *err);
void http_door_reader_give(struct http_door *d, struct storage_reader *reader);

bool http_door_enter(struct http_door *d);
void http_door_leave(struct http_door *d);

/* Waits until no request is under way or the deadline has passed. */
bool http_door_wait_idle(struct http_door *d, int64_t deadline_mono_ms);
/* Closes the gate, waits for what is inside, ends every request that still waits for an answer
 * with "shutting down". */
void http_door_close(struct http_door *d);
/* After the door's threads are gone: ends the workers, closes the storage readers. */
void http_door_close_readers(struct http_door *d);

/* Called by http_request. */
void http_door_add(struct http_door *d, struct http_request *r);
void http_door_remove(struct http_door *d, struct http_request *r);

#endif
