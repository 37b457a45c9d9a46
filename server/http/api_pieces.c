/*
 * DESIGN. An upload in pieces:
 *
 *   POST /v1/symbols/uploads        says size, SHA-256 and build; answers an id, or that this content
 *                                   is indexed, or the upload of the same content that is open
 *   PUT  …/uploads/{id}?offset=N    appends a piece (piece.c); what is there already is passed over,
 *                                   a gap is 409; the last one is checked and becomes an ordinary
 *                                   upload, in one transaction
 *   GET, HEAD …/uploads/{id}        how far it is; what it became
 *   DELETE …/uploads/{id}           gives it up
 *
 * The id is 128 random bits; a token bound to an app sees what tokens bound to it opened alone, and
 * who opened it decides whom it will serve. What was answered for is synced and in the database, so
 * neither a broken connection nor a crash loses it.
 */
#include "server/http/api.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/file.h"
#include "base/log.h"
#include "server/http/api_common.h"
#include "server/http/piece.h"
#include "server/http/problem.h"
#include "server/http/symbols_json.h"
#include "server/http/upload.h"
#include "symbolizer/archive.h"

#define TEXT_MAX  256
#define APP_SHARE 4 /* a bound token's app has a quarter of what may be open */

/* --- answers ---------------------------------------------------------------------------------- */

static void print_open(struct http_request *r, int status, const uint8_t id[OPEN_UPLOAD_ID_SIZE],
                       uint64_t received, uint64_t size)
{
    struct jout j;
    jout_init(&j, http_reply(r, status, TYPE_JSON));
    jout_object(&j, NULL);
    jout_string(&j, "upload_id", piece_id_format(id, &r->arena));
    jout_string(&j, "state", "receiving");
    jout_uint(&j, "offset", received);
    jout_uint(&j, "size", size);
    jout_end_object(&j);
    piece_tell_offset(r, received);
}

static void remove_spool(struct http_request *r, const char *name)
{
    struct error err;
    char text[sizeof(err.text)];
    if (blob_store_remove_spool(r->services->blobs, name, &err) != ERR_OK)
        log_warn("spool file left behind", "error=%s", log_quote(err.text, text, sizeof(text)));
}

enum err api_get_open_upload(struct http_request *r, const struct read_tools *tools,
                             struct error *err)
{
    struct open_upload_row row;
    struct upload_row upload;
    struct jout j;
    uint8_t id[OPEN_UPLOAD_ID_SIZE] = {0};
    piece_id_parse(r->params[0], id);
    enum err rc = read_open_upload(tools->storage, id, tools->arena, &row, err);
    if (rc == ERR_OK && !piece_sees(r, &row))
        rc = error_set(err, ERR_NOT_FOUND, "no such upload");
    if (rc == ERR_OK && row.upload_id == 0)
        print_open(r, 200, id, row.received, row.size);
    if (rc != ERR_OK || row.upload_id == 0)
        return rc;
    rc = read_upload(tools->storage, row.upload_id, tools->arena, &upload, err);
    if (rc != ERR_OK)
        return rc;
    jout_init(&j, http_reply(r, 200, TYPE_JSON));
    jout_object(&j, NULL);
    symbols_json_upload(&j, &upload, 0, SYMBOLS_JSON_SLICES_MAX);
    jout_end_object(&j);
    piece_tell_offset(r, row.size);
    return ERR_OK;
}

/* --- POST: opening ---------------------------------------------------------------------------- */

struct opening {
    struct op_open_upload op;
    char spool_file[128];
    bool answered; /* indexed already, or refused */
};

static bool read_texts(struct http_request *r, struct fields *f, json_t *body, struct opening *o)
{
    const struct {
        const char *key;
        const char **place;
    } texts[] = {{"bundle_id", &o->op.bundle_id},
                 {"version", &o->op.version},
                 {"build", &o->op.build},
                 {"os_build", &o->op.os_build}};
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        const char *text = fields_text(f, body, "", texts[i].key, TEXT_MAX);
        *texts[i].place = arena_strdup(&r->arena, text ? text : "");
        if (!*texts[i].place)
            return fields_refuse(f, "too large", "%s", texts[i].key);
    }
    return !f->failed;
}

static bool read_content(struct fields *f, json_t *body, struct opening *o)
{
    int64_t size = 0;
    const char *kind = fields_text(f, body, "", "kind", TEXT_MAX);
    const char *sha = fields_text(f, body, "", "sha256", SHA256_TEXT_SIZE);
    fields_bool(f, body, "", "protect", &o->op.protect);
    if (!fields_int(f, body, "", "size", 1, INT64_MAX, &size) && !f->failed)
        fields_refuse(f, "the number of bytes is expected", "%s", "size");
    if (!f->failed && (!sha || !sha256_parse(sha, o->op.sha256)))
        fields_refuse(f, "64 hexadecimal digits, in lower case, are expected", "%s", "sha256");
    if (!f->failed && kind && strcmp(kind, "app") != 0 && strcmp(kind, "system") != 0)
        fields_refuse(f, "app or system is expected", "%s", "kind");
    o->op.system = kind && strcmp(kind, "system") == 0;
    o->op.size = (uint64_t)size;
    return !f->failed;
}

static bool read_opening(struct http_request *r, json_t *body, struct opening *o, struct fields *f)
{
    if (!read_texts(r, f, body, o) || !read_content(f, body, o))
        return false;
    if (o->op.protect && !*o->op.bundle_id && !*o->op.version && !*o->op.build && !*o->op.os_build)
        return fields_refuse(f, "needs to know the build: bundle_id, version, build or os_build",
                             "%s", "protect");
    return true;
}

/* Answers when there is none. */
static enum err has_index_room(struct http_request *r, const struct read_tools *tools,
                               struct opening *o, struct error *err)
{
    const uint8_t *sha256 = o->op.sha256;
    const struct index_wish wish = {&sha256, 1, o->op.bundle_id, o->op.system,
                                    r->identity.bundle_id != NULL};
    const char *refusal = NULL;
    enum err rc = index_room_check(tools->storage, &r->services->index_caps, &wish, tools->arena,
                                   &refusal, err);
    if (rc != ERR_OK || !refusal)
        return rc;
    o->answered = true;
    metrics_add(r->services->metrics, METRIC_UPLOADS_NO_ROOM, 1);
    http_problem(r, 507, "%s", refusal);
    return ERR_OK;
}

/* Is the content indexed? If not the upload's file is made. */
static enum err look_up(struct http_request *r, const struct read_tools *tools, struct error *err)
{
    struct opening *o = r->state;
    struct upload_row row;
    struct jout j;
    int fd = -1;
    const struct upload_origin origin = {o->op.bundle_id, o->op.version,
                                         o->op.build,     o->op.os_build,
                                         o->op.system,    r->identity.bundle_id != NULL};
    enum err rc =
        read_upload_by_sha256(tools->storage, o->op.sha256, &origin, tools->arena, &row, err);
    if (rc != ERR_OK && rc != ERR_NOT_FOUND)
        return rc;
    if (rc == ERR_OK && api_sees(r, row.bundle_id) && row.size == o->op.size && !o->op.protect &&
        upload_is_sound(r, &row)) {
        o->answered = true;
        jout_init(&j, http_reply(r, 200, TYPE_JSON));
        jout_object(&j, NULL);
        symbols_json_upload(&j, &row, 0, SYMBOLS_JSON_SLICES_MAX);
        jout_end_object(&j);
        return ERR_OK;
    }
    rc = has_index_room(r, tools, o, err);
    if (rc != ERR_OK || o->answered)
        return rc;
    if (getrandom(o->op.id, sizeof(o->op.id), 0) != (ssize_t)sizeof(o->op.id))
        return error_set(err, ERR_IO, "no random numbers");
    rc =
        blob_store_spool_create(r->services->blobs, o->spool_file, sizeof(o->spool_file), &fd, err);
    if (fd >= 0)
        close(fd);
    return rc;
}

static void opened(struct http_request *r, struct write_op *op, enum err rc,
                   const struct error *err)
{
    const struct opening *o = r->state;
    const struct op_open_upload *u = &op->u.open_upload;
    if (rc != ERR_OK || u->resumed)
        remove_spool(r, o->spool_file);
    if (rc == ERR_LIMIT) {
        http_problem(r, 503, "%s; try again later", err->text);
        r->reply.retry_after_s = 60;
    } else if (rc != ERR_OK) {
        http_reply_failure(r, err);
    } else {
        print_open(r, u->resumed ? 200 : 201, u->id, u->received, u->size);
        r->reply.location =
            arena_printf(&r->arena, "/v1/symbols/uploads/%s", piece_id_format(u->id, &r->arena));
    }
    http_finish(r);
}

static void looked_up(struct http_request *r, enum err rc, const struct error *err)
{
    struct opening *o = r->state;
    if (rc == ERR_OK && o->answered) {
        http_finish(r);
        return;
    }
    struct write_op *op = api_op(r, rc, err, WRITE_OPEN_UPLOAD);
    if (!op)
        return;
    op->u.open_upload = o->op;
    op->u.open_upload.spool_file = o->spool_file;
    http_write(r, op, opened);
}

/* A bound token uploads for its app. */
static bool bind_to_app(struct http_request *r, struct opening *o)
{
    const char *bound = r->identity.bundle_id;
    if (bound && !*o->op.bundle_id)
        o->op.bundle_id = bound;
    if (bound && o->op.system) {
        http_problem(r, 403, "system libraries come with tokens that are bound to no app");
        return false;
    }
    if (!bound || strcmp(bound, o->op.bundle_id) == 0)
        return true;
    http_problem(r, 403, "the token is bound to another app");
    return false;
}

/* One app's token leaves room for the others; one upload it may always have. */
static void cap_app(struct op_open_upload *op, uint64_t upload_bytes)
{
    op->max_open_app = op->max_open / APP_SHARE + (op->max_open < APP_SHARE);
    op->max_bytes_app = op->max_bytes / APP_SHARE;
    if (op->max_bytes_app < upload_bytes)
        op->max_bytes_app = upload_bytes;
}

void api_post_open_upload(struct http_request *r)
{
    static const char *const MEMBERS[] = {"size",     "sha256", "bundle_id", "version", "build",
                                          "os_build", "kind",   "protect",   NULL};
    struct fields f;
    struct opening *o = api_state(r, sizeof(*o));
    json_t *body = o ? api_body(r, MEMBERS, &f) : NULL;
    if (!body)
        return;
    bool good = read_opening(r, body, o, &f);
    json_decref(body);
    if (!good) {
        http_refuse_shape(r, f.path, f.reason);
        return;
    }
    if (o->op.size > r->door->options.upload_bytes) {
        http_problem(r, 413, "the upload is larger than %llu bytes",
                     (unsigned long long)r->door->options.upload_bytes);
        return;
    }
    if (!bind_to_app(r, o))
        return;
    o->op.bound = r->identity.bundle_id != NULL;
    o->op.now_ms = r->now_ms;
    o->op.max_open = r->services->open_uploads;
    o->op.max_bytes = r->services->open_upload_bytes;
    if (r->identity.bundle_id)
        cap_app(&o->op, r->door->options.upload_bytes);
    http_read(r, look_up, looked_up);
}

/* --- PUT: the last piece ---------------------------------------------------------------------- */

static void answer_failure(struct piece *p, enum err rc, const struct error *err)
{
    struct http_request *r = p->r;
    struct error own = *err;
    piece_give(p);
    if (rc == ERR_CONFLICT)
        piece_tell_offset(r, p->row.received);
    if (rc == ERR_LIMIT &&
        p->row.received == p->row.size) /* whole; its build cannot be protected */
        http_problem(r, 409, "%s", own.text);
    else if (rc == ERR_CONFLICT || rc == ERR_LIMIT)
        http_reply_error(r, &own);
    else
        http_reply_failure(r, &own);
    http_finish(r);
}

static void became_upload(struct http_request *r, struct write_op *op, enum err rc,
                          const struct error *err)
{
    struct piece *p = r->state;
    bool wait = p->wait;
    if (rc != ERR_OK) {
        answer_failure(p, rc, err);
        return;
    }
    metrics_add(r->services->metrics, METRIC_UPLOADS, 1);
    piece_give(p);
    piece_tell_offset(r, p->row.size);
    indexer_ring(r->services->indexer);
    upload_answer(r, op->u.upload.id, false, wait);
}

static void dropped(struct http_request *r, struct write_op *op, enum err rc,
                    const struct error *err)
{
    struct piece *p = r->state;
    (void)op;
    (void)err; /* it expires, then */
    if (rc == ERR_OK)
        remove_spool(r, p->row.spool_file);
    piece_give(p);
    http_finish(r);
}

/* What came is of no use: the upload is over. The reply is there. */
static void drop(struct piece *p)
{
    struct write_op *op = write_op_new(WRITE_OPEN_DROP, 4096);
    if (!op) {
        piece_give(p);
        http_finish(p->r);
        return;
    }
    memcpy(op->u.open_drop.id, p->row.id, sizeof(p->row.id));
    http_write(p->r, op, dropped);
}

/* Is it anything that can be indexed? On a reader's thread. */
static enum err look_at_head(struct http_request *r, const struct read_tools *tools,
                             struct error *err)
{
    struct piece *p = r->state;
    char path[4096];
    (void)tools;
    if (!blob_store_spool_path(r->services->blobs, p->row.spool_file, path, sizeof(path)))
        return error_set(err, ERR_INTERNAL, "not a name of a spool file");
    FILE *f = fopen(path, "rbe");
    if (!f)
        return error_set(err, ERR_IO, "cannot read the upload");
    p->head_len = fread(p->head, 1, sizeof(p->head), f);
    fclose(f);
    return ERR_OK;
}

static void looked_at_head(struct http_request *r, enum err rc, const struct error *err)
{
    struct piece *p = r->state;
    if (rc != ERR_OK) {
        answer_failure(p, rc, err);
        return;
    }
    if (!archive_recognize(p->head, p->head_len)) {
        http_problem(r, 400, ARCHIVE_NOT_RECOGNIZED);
        drop(p);
        return;
    }
    struct error own;
    struct write_op *op = write_op_new(WRITE_UPLOAD, 65536);
    if (!op) {
        answer_failure(p, error_set(&own, ERR_NO_MEMORY, "no memory for a write"), &own);
        return;
    }
    op->u.upload = (struct op_upload){.size = p->row.size,
                                      .spool_file = p->row.spool_file,
                                      .bundle_id = p->row.bundle_id,
                                      .version = p->row.version,
                                      .build = p->row.build,
                                      .os_build = p->row.os_build,
                                      .system = p->row.system,
                                      .bound = p->row.bound,
                                      .protect = p->row.protect,
                                      .open_id = p->row.id,
                                      .now_ms = r->now_ms};
    memcpy(op->u.upload.sha256, p->row.sha256, SHA256_SIZE);
    http_write(r, op, became_upload);
}

/* All of it is there: is it what was announced? */
static void complete(struct piece *p)
{
    struct sha256 sha = p->sha;
    uint8_t digest[SHA256_SIZE];
    char text[SHA256_TEXT_SIZE];
    sha256_final(&sha, digest);
    if (memcmp(digest, p->row.sha256, SHA256_SIZE) == 0) {
        http_read(p->r, look_at_head, looked_at_head);
        return;
    }
    http_problem(p->r, 422, "what was received is not what was announced: its SHA-256 is %s",
                 sha256_format(digest, text));
    drop(p);
}

static void piece_is_written(struct piece *p, enum err rc, const struct error *err)
{
    struct http_request *r = p->r;
    if (rc == ERR_NOT_FOUND && p->row.spool_file) { /* the disk has less than the row says: lost */
        char quoted[256];
        log_warn("upload in pieces dropped", "file=%s error=%s", p->row.spool_file,
                 log_quote(err->text, quoted, sizeof(quoted)));
        http_problem(r, 404, "%s; open it again", err->text);
        drop(p);
        return;
    }
    if (rc != ERR_OK) {
        answer_failure(p, rc, err);
        return;
    }
    if (p->row.upload_id != 0) { /* sent once more */
        piece_give(p);
        piece_tell_offset(r, p->row.size);
        upload_answer(r, p->row.upload_id, true, p->wait);
        return;
    }
    if (p->row.received == p->row.size) {
        complete(p);
        return;
    }
    print_open(r, 200, p->row.id, p->row.received, p->row.size);
    piece_give(p);
    http_finish(r);
}

void api_put_piece(struct http_request *r)
{
    if (!r->state) { /* no body */
        piece_end_empty(r, piece_is_written);
        return;
    }
    http_defer(r);
    piece_end(r, piece_is_written);
}

/* --- DELETE ----------------------------------------------------------------------------------- */

/* The row, while its lock is held. */
struct giving_up {
    struct open_upload_row row;
    const char *spool_file;
};

static void end_giving_up(struct http_request *r)
{
    struct giving_up *g = r->state;
    piece_locks_give(r->services->piece_locks, g->row.id);
    http_finish(r);
}

static enum err look_at_open(struct http_request *r, const struct read_tools *tools,
                             struct error *err)
{
    struct giving_up *g = r->state;
    struct open_upload_row row;
    enum err rc = read_open_upload(tools->storage, g->row.id, tools->arena, &row, err);
    if (rc == ERR_NOT_FOUND || (rc == ERR_OK && !piece_sees(r, &row)))
        return error_set(err, ERR_NOT_FOUND, "no such upload");
    if (rc == ERR_OK && row.upload_id != 0)
        return error_set(err, ERR_CONFLICT, "it is whole, and became upload %" PRIu64,
                         row.upload_id);
    if (rc != ERR_OK)
        return rc;
    g->spool_file = arena_strdup(&r->arena, row.spool_file);
    return g->spool_file ? ERR_OK : error_set(err, ERR_NO_MEMORY, "no memory for an upload");
}

static void given_up(struct http_request *r, struct write_op *op, enum err rc,
                     const struct error *err)
{
    const struct giving_up *g = r->state;
    (void)op;
    if (rc == ERR_OK) {
        remove_spool(r, g->spool_file);
        http_reply(r, 204, NULL);
    } else {
        http_reply_failure(r, err);
    }
    end_giving_up(r);
}

static void looked_at_open(struct http_request *r, enum err rc, const struct error *err)
{
    const struct giving_up *g = r->state;
    struct write_op *op = rc == ERR_OK ? write_op_new(WRITE_OPEN_DROP, 4096) : NULL;
    if (op) {
        memcpy(op->u.open_drop.id, g->row.id, sizeof(g->row.id));
        http_write(r, op, given_up);
        return;
    }
    if (rc == ERR_OK)
        http_problem(r, 503, "no memory to spare; try again");
    else if (rc == ERR_CONFLICT || rc == ERR_NOT_FOUND)
        http_reply_error(r, err);
    else
        http_reply_failure(r, err);
    end_giving_up(r);
}

void api_delete_open_upload(struct http_request *r)
{
    struct giving_up *g = api_state(r, sizeof(*g));
    if (!g)
        return;
    piece_id_parse(r->params[0], g->row.id);
    if (!piece_locks_take(r->services->piece_locks, g->row.id)) {
        http_problem(r, 409, "another request sends to this upload");
        r->reply.retry_after_s = 1;
        return;
    }
    http_read(r, look_at_open, looked_at_open);
}

const struct body_stream api_piece_stream = {.data = piece_data, .abort = piece_abort};
