/*
 * upload - the body of POST /v1/symbols on its way to the spool.
 *
 * Purpose: one upload request: the whole body, or each file part of a form, into one spool each;
 * its first bytes are looked at before the rest is written.
 *
 * Invariants: upload_data() never blocks. A part that is neither archive nor object ends the
 * upload with ERR_FORMAT as soon as its head is there. However the request ends, each spool is
 * finished or aborted once, and files nobody took over are removed.
 *
 * Threads: the door's for upload_data, upload_end, upload_abort; the spooler's calls back inside.
 * Memory: in the request's arena.
 */
#ifndef STALLSYM_HTTP_UPLOAD_H
#define STALLSYM_HTTP_UPLOAD_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hash.h"
#include "server/http/http_request.h"
#include "server/http/multipart.h"
#include "storage/storage_read.h"

#define UPLOAD_PARTS_MAX 64
#define UPLOAD_HEAD_SIZE 512

struct upload_part {
    struct upload *owner;
    struct spool *spool; /* while open */
    uint8_t head[UPLOAD_HEAD_SIZE];
    size_t head_len;
    bool head_seen;
    /* Once finished: */
    char name[128]; /* spool file, "" when there is none (any more) */
    uint64_t size;
    uint8_t sha256[SHA256_SIZE];
    /* Once known: */
    uint64_t id;
    bool known; /* was indexed before */
};

struct upload {
    struct http_request *r;
    struct multipart *form; /* NULL: the body is the file */
    bool skipping;          /* a part of the form that is no file */
    struct upload_part *parts[UPLOAD_PARTS_MAX];
    size_t count;
    void (*spooled)(struct http_request *r, enum err rc, const struct error *err);

    pthread_mutex_t lock; /* of everything below, and of the parts' names */
    bool broken;          /* given up: files are removed as they come */
    size_t open;          /* parts that are not finished, and one for the body */
    enum err rc;          /* the first failure of a spool */
    struct error error;
};

enum err upload_new(struct http_request *r, struct upload **ret, struct error *err);
enum err upload_data(struct http_request *r, const void *data, size_t len, size_t *ret_taken,
                     struct error *err);
/* The body is whole: `spooled` is called (inside the gate) when all parts are on disk. Call after
 * http_defer(). */
void upload_end(struct upload *u,
                void (*spooled)(struct http_request *r, enum err rc, const struct error *err));
/* Answers with the state of an upload that is in the database, after its end if `wait`; one that is
 * new (not `known`) and not waited for is queued, whatever became of it meanwhile. Call deferred,
 * inside the gate; r->state is its own from then on. */
void upload_answer(struct http_request *r, uint64_t id, bool known, bool wait);
/* Whether every index that the upload gave is whole: what sent it again would not mend. */
bool upload_is_sound(const struct http_request *r, const struct upload_row *row);
/* Safe at any time, also twice, also when there is no upload. */
void upload_abort(struct http_request *r);
/* Removes a part's spool file, if it still has one. */
void upload_remove_file(struct upload *u, struct upload_part *p);

#endif
