/*
 * piece - the body of PUT /v1/symbols/uploads/{id} on its way to the upload's file.
 *
 * Purpose: one piece: takes the upload's lock, finds out how far it is, passes over what is there
 * already, appends the rest, syncs it, and tells the database how far it is now. What came before a
 * connection broke counts, too.
 *
 * Invariants: nothing blocks the door: while the row is looked up, or the spool is full, the request
 * sleeps. Once the database says `received`, these bytes are synced. The lock is given back after
 * that, however the request ends.
 *
 * Threads: the door's for piece_data, piece_abort, piece_end; a reader's, the spooler's and the writer's
 * call back inside. Memory: in the request's arena, which the work under way holds.
 */
#ifndef STALLSYM_HTTP_PIECE_H
#define STALLSYM_HTTP_PIECE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "server/http/http_request.h"
#include "server/jobs/spooler.h"
#include "storage/storage_read.h"

enum piece_state {
    PIECE_LOOKING, /* for the row */
    PIECE_OPEN,
    PIECE_REFUSED, /* rc, error; `row` may be known */
};

struct piece {
    struct http_request *r;
    struct read_job job;
    uint64_t offset; /* as the query gave it */
    bool wait;
    uint64_t passed;     /* of the body: passed over or handed on; the door's own */
    struct spool *spool; /* while it is written; the door's own */
    void (*written)(struct piece *p, enum err rc, const struct error *err);

    pthread_mutex_t lock; /* of everything below */
    enum piece_state state;
    bool locked; /* the upload's lock is held */
    bool broken; /* nobody waits for an answer any more */
    enum err rc;
    struct error error;
    struct open_upload_row row; /* `received` follows */
    struct sha256 sha;          /* of what was received */
    uint8_t head[512];          /* its first bytes, if they came now */
    size_t head_len;
};

/* Whether it is there for the request's token. */
bool piece_sees(const struct http_request *r, const struct open_upload_row *row);
/* 32 hexadecimal digits; `id` may be NULL. */
bool piece_id_parse(const char *text, uint8_t id[OPEN_UPLOAD_ID_SIZE]);
const char *piece_id_format(const uint8_t id[OPEN_UPLOAD_ID_SIZE], struct arena *arena);

enum err piece_data(struct http_request *r, const void *data, size_t len, size_t *ret_taken,
                    struct error *err);
void piece_abort(struct http_request *r);
/* The body is whole. `written` is called (inside the gate, the request deferred) once all that came is
 * committed, or with the reason why not; the lock is still held, piece_give() gives it back. */
void piece_end(struct http_request *r,
               void (*written)(struct piece *p, enum err rc, const struct error *err));
/* The same for a request without a body; its query may be refused at once (then it is answered). */
void piece_end_empty(struct http_request *r,
                     void (*written)(struct piece *p, enum err rc, const struct error *err));
void piece_give(struct piece *p);
/* Upload-Offset of the reply. */
void piece_tell_offset(struct http_request *r, uint64_t offset);

#endif
