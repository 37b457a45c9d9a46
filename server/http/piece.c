#include "server/http/piece.h"

#include <inttypes.h>
#include <string.h>

#include "base/log.h"
#include "server/http/api_common.h"

bool piece_id_parse(const char *text, uint8_t id[OPEN_UPLOAD_ID_SIZE])
{
    static const char digits[] = "0123456789abcdef";
    if (strlen(text) != 2 * (size_t)OPEN_UPLOAD_ID_SIZE ||
        strspn(text, digits) != 2 * (size_t)OPEN_UPLOAD_ID_SIZE)
        return false;
    for (size_t i = 0; id && i < 2 * (size_t)OPEN_UPLOAD_ID_SIZE; i++)
        id[i / 2] = (uint8_t)(id[i / 2] << 4 | (strchr(digits, text[i]) - digits));
    return true;
}

const char *piece_id_format(const uint8_t id[OPEN_UPLOAD_ID_SIZE], struct arena *arena)
{
    return arena_printf(arena, "%02x%02x%02x%02x%02x%02x%02x%02x%02x%02x%02x%02x%02x%02x%02x%02x",
                        id[0], id[1], id[2], id[3], id[4], id[5], id[6], id[7], id[8], id[9],
                        id[10], id[11], id[12], id[13], id[14], id[15]);
}

void piece_tell_offset(struct http_request *r, uint64_t offset)
{
    r->reply.upload_offset = arena_printf(&r->arena, "%" PRIu64, offset);
}

void piece_give(struct piece *p)
{
    pthread_mutex_lock(&p->lock);
    bool locked = p->locked;
    p->locked = false;
    pthread_mutex_unlock(&p->lock);
    if (locked)
        piece_locks_give(p->r->services->piece_locks, p->row.id);
}

/* --- looking for the row; a reader's thread --------------------------------------------------- */

/* Where the piece shall go, against how far the upload is. */
static enum err check_place(const struct piece *p, struct error *err)
{
    const struct open_upload_row *row = &p->row;
    if (row->upload_id != 0)
        return ERR_OK; /* whole already; the answer says what it became */
    if (p->offset > row->received)
        return error_set(err, ERR_CONFLICT, "the upload has %" PRIu64 " bytes; go on from there",
                         row->received);
    if (p->r->declared > row->size - p->offset)
        return error_set(err, ERR_LIMIT,
                         "the piece ends behind the %" PRIu64 " bytes that were announced",
                         row->size);
    return ERR_OK;
}

bool piece_sees(const struct http_request *r, const struct open_upload_row *row)
{
    const char *bound = r->identity.bundle_id;
    return !bound || (row->bound && strcmp(row->bundle_id, bound) == 0);
}

static enum err read_row(struct piece *p, const struct read_tools *tools, struct error *err)
{
    struct open_upload_row row;
    enum err rc = read_open_upload(tools->storage, p->row.id, tools->arena, &row, err);
    if (rc == ERR_OK && !piece_sees(p->r, &row))
        rc = ERR_NOT_FOUND;
    if (rc == ERR_NOT_FOUND)
        return error_set(err, ERR_NOT_FOUND, "no such upload");
    if (rc != ERR_OK)
        return rc;
    if (row.hash_state && row.hash_state_len == sizeof(p->sha)) {
        memcpy(&p->sha, row.hash_state, sizeof(p->sha));
    } else {
        sha256_init(&p->sha);
        row.received = row.upload_id ? row.received : 0; /* of another version: once more */
    }
    row.hash_state = NULL;
    /* Made on this thread alone: the door's sleeps. */
    row.spool_file = arena_strdup(&p->r->arena, row.spool_file);
    row.bundle_id = arena_strdup(&p->r->arena, row.bundle_id);
    row.version = arena_strdup(&p->r->arena, row.version);
    row.build = arena_strdup(&p->r->arena, row.build);
    row.os_build = arena_strdup(&p->r->arena, row.os_build);
    if (!row.spool_file || !row.bundle_id || !row.version || !row.build || !row.os_build)
        return error_set(err, ERR_NO_MEMORY, "no memory for an upload");
    p->row = row;
    return check_place(p, err);
}

static enum err job_run(struct read_job *job, const struct read_tools *tools, struct error *err)
{
    struct piece *p = job->user;
    if (!http_door_enter(p->r->door))
        return error_set(err, ERR_BUSY, "the server is shutting down");
    enum err rc = read_row(p, tools, err);
    http_door_leave(p->r->door);
    return rc;
}

static void job_done(struct read_job *job, enum err rc, const struct error *err)
{
    struct piece *p = job->user;
    struct http_request *r = p->r;
    pthread_mutex_lock(&p->lock);
    p->rc = rc;
    if (rc != ERR_OK)
        p->error = *err;
    p->state = rc == ERR_OK ? PIECE_OPEN : PIECE_REFUSED;
    bool give = rc != ERR_OK || p->broken;
    pthread_mutex_unlock(&p->lock);
    if (give)
        piece_give(p);
    http_wake(r);
    http_drop(r);
}

/* With its query read and the upload's lock taken. */
static enum err make_piece(struct http_request *r, struct piece **ret, struct error *err)
{
    int64_t offset = 0;
    struct piece *p = arena_alloc(&r->arena, sizeof(*p));
    if (!p)
        return error_set(err, ERR_NO_MEMORY, "no memory for an upload");
    if (!piece_id_parse(r->params[0], p->row.id))
        return error_set(err, ERR_NOT_FOUND, "no such upload");
    enum err rc = query_int(&r->query, "offset", 0, INT64_MAX, &offset, err);
    if (rc == ERR_OK)
        rc = query_bool(&r->query, "wait", &p->wait, err);
    if (rc != ERR_OK)
        return rc;
    p->r = r;
    p->offset = (uint64_t)offset;
    pthread_mutex_init(&p->lock, NULL);
    if (!piece_locks_take(r->services->piece_locks, p->row.id)) {
        r->reply.retry_after_s = 1;
        return error_set(err, ERR_CONFLICT, "another request sends to this upload");
    }
    p->locked = true;
    *ret = p;
    return ERR_OK;
}

static enum err piece_new(struct http_request *r, struct piece **ret, struct error *err)
{
    struct piece *p = NULL;
    enum err rc = make_piece(r, &p, err);
    if (rc != ERR_OK)
        return rc;
    p->job = (struct read_job){.run = job_run, .done = job_done, .user = p};
    http_hold(r);
    rc = readers_submit(r->services->readers, &p->job, err);
    if (rc != ERR_OK) {
        piece_give(p);
        http_drop(r);
        return rc;
    }
    r->state = p;
    *ret = p;
    return ERR_OK;
}

/* --- the body --------------------------------------------------------------------------------- */

static void drained(void *ctx)
{
    struct piece *p = ctx;
    http_wake(p->r);
}

static void finished(void *ctx, const struct spool_result *result, enum err rc,
                     const struct error *err);

static enum err open_spool(struct piece *p, struct error *err)
{
    const struct spool_more more = {.name = p->row.spool_file,
                                    .offset = p->row.received,
                                    .sha = p->sha,
                                    .limit = p->row.size - p->row.received};
    const struct spool_callbacks callbacks = {drained, finished, p};
    return spool_append(p->r->services->spooler, &callbacks, &more, &p->spool, err);
}

/* How much of `len` bytes is there already. */
static size_t to_pass(const struct piece *p, size_t len)
{
    uint64_t have = p->row.received - p->offset;
    if (p->row.upload_id != 0)
        return len;
    if (have <= p->passed)
        return 0;
    return have - p->passed < len ? (size_t)(have - p->passed) : len;
}

/* Fewer than given are taken only when `drained` is owed. */
static enum err take(struct piece *p, const uint8_t *data, size_t len, size_t *ret_taken,
                     struct error *err)
{
    enum err rc = ERR_OK;
    size_t passed = to_pass(p, len);
    size_t written = 0;
    if (passed < len && !p->spool)
        rc = open_spool(p, err);
    if (rc == ERR_OK && passed < len)
        rc = spool_write(p->spool, data + passed, len - passed, &written, err);
    if (rc == ERR_BUSY && p->spool)
        rc = ERR_OK;
    if (rc == ERR_OK)
        p->passed += passed + written;
    *ret_taken = passed + written;
    return rc;
}

enum err piece_data(struct http_request *r, const void *data, size_t len, size_t *ret_taken,
                    struct error *err)
{
    struct piece *p = r->state;
    enum err rc = p ? ERR_OK : piece_new(r, &p, err);
    *ret_taken = 0;
    if (rc != ERR_OK)
        return rc;
    pthread_mutex_lock(&p->lock);
    enum piece_state state = p->state;
    pthread_mutex_unlock(&p->lock);
    if (state == PIECE_LOOKING)
        return ERR_OK;
    if (state == PIECE_OPEN)
        return take(p, data, len, ret_taken, err);
    if (p->rc == ERR_CONFLICT)
        piece_tell_offset(r, p->row.received);
    return error_set(err, p->rc, "%s", p->error.text);
}

/* --- the end ---------------------------------------------------------------------------------- */

static struct write_op *progress_op(struct piece *p, const struct spool_result *result)
{
    struct write_op *op = write_op_new(WRITE_PIECE, 4096);
    if (!op)
        return NULL;
    op->u.piece =
        (struct op_piece){.before = p->row.received,
                          .received = p->row.received + result->size,
                          .hash_state = arena_memdup(op->arena, &result->sha, sizeof(result->sha)),
                          .hash_state_len = sizeof(result->sha),
                          .now_ms = p->r->now_ms};
    memcpy(op->u.piece.id, p->row.id, sizeof(p->row.id));
    return op;
}

/* The client is gone: what came counts all the same. Gives back the request's hold. */
static void broken_written(struct write_op *op, enum err rc, const struct error *err)
{
    struct piece *p = op->user;
    (void)err; /* the writer logs it; the client asks how far the upload is */
    (void)rc;
    write_op_free(op);
    piece_give(p);
    http_drop(p->r);
}

static void keep_broken(struct piece *p, struct write_op *op)
{
    struct error err;
    if (op) {
        op->done = broken_written;
        op->user = p;
        if (writer_submit(p->r->services->writer, op, &err) == ERR_OK)
            return;
        write_op_free(op);
    }
    piece_give(p);
    http_drop(p->r);
}

static void piece_written(struct http_request *r, struct write_op *op, enum err rc,
                          const struct error *err)
{
    struct piece *p = r->state;
    if (rc == ERR_OK) {
        p->row.received = op->u.piece.received;
        memcpy(&p->sha, op->u.piece.hash_state, sizeof(p->sha));
    }
    p->written(p, rc, err);
}

/* On the spooler's thread. */
static void finished(void *ctx, const struct spool_result *result, enum err rc,
                     const struct error *err)
{
    struct piece *p = ctx;
    struct http_request *r = p->r;
    struct error own;
    if (!http_enter(r))
        return; /* the server stops: what is behind `received` is cut off later */
    struct http_door *door = http_door_ref(r->door);
    pthread_mutex_lock(&p->lock);
    bool broken = p->broken;
    pthread_mutex_unlock(&p->lock);
    struct write_op *op = rc == ERR_OK ? progress_op(p, result) : NULL;
    if (rc == ERR_OK && p->row.received == 0) {
        memcpy(p->head, result->head, result->head_len);
        p->head_len = result->head_len;
    }
    if (broken) {
        keep_broken(p, op);
    } else if (op) {
        http_write(r, op, piece_written);
    } else {
        if (rc == ERR_OK)
            rc = error_set(&own, ERR_NO_MEMORY, "no memory for a write");
        else
            own = *err;
        p->written(p, rc, &own);
    }
    http_door_leave(door);
    http_door_unref(door);
}

void piece_abort(struct http_request *r)
{
    struct piece *p = r->state;
    if (!p)
        return;
    pthread_mutex_lock(&p->lock);
    bool first = !p->broken;
    bool looking = p->state == PIECE_LOOKING;
    p->broken = true;
    pthread_mutex_unlock(&p->lock);
    struct spool *spool = p->spool;
    p->spool = NULL;
    if (spool) {
        http_hold(r);
        spool_finish(spool);
    } else if (first && !looking) {
        piece_give(p);
    }
}

void piece_end(struct http_request *r,
               void (*written)(struct piece *p, enum err rc, const struct error *err))
{
    struct piece *p = r->state;
    struct spool *spool = p->spool;
    p->written = written;
    p->spool = NULL;
    if (spool)
        spool_finish(spool);
    else
        written(p, ERR_OK, NULL);
}

static enum err look_empty(struct http_request *r, const struct read_tools *tools,
                           struct error *err)
{
    return read_row(r->state, tools, err);
}

static void looked_empty(struct http_request *r, enum err rc, const struct error *err)
{
    struct piece *p = r->state;
    p->written(p, rc, err);
}

void piece_end_empty(struct http_request *r,
                     void (*written)(struct piece *p, enum err rc, const struct error *err))
{
    struct piece *p = NULL;
    struct error err;
    if (make_piece(r, &p, &err) != ERR_OK) {
        http_reply_error(r, &err);
        return;
    }
    p->written = written;
    r->state = p;
    http_read(r, look_empty, looked_empty);
}
