/*
 * DESIGN. A POST /v1/symbols goes through these hands, one after another:
 *
 *   door      body to the spool (upload.c)                      upload_end -> spooled
 *   reader    is a body with this SHA-256 indexed, for this     look_up    -> looked_up
 *             build, and are its indexes whole? (sent again is how they are mended)
 *   writer    one WRITE_UPLOAD for each part that is new        write_next -> written
 *   indexer   with wait=1: each new upload in turn              wait_next  -> waited
 *   reader    the state of every part, printed                  print_state
 *
 * Once a part's row is committed its spool file is the indexer's; before that it is removed
 * whatever happens.
 */
#include "server/http/api.h"

#include <string.h>

#include "server/http/api_common.h"
#include "server/http/piece.h"
#include "server/http/problem.h"
#include "server/http/symbols_json.h"
#include "server/http/upload.h"
#include "server/jobs/index_install.h"

/* What the query said, beside the upload itself. */
struct upload_request {
    struct upload *upload;
    const char *bundle_id, *version, *build, *os_build;
    bool system;
    bool protect;
    bool wait;
    const char *no_room; /* why there are to be no more indexes */
    size_t at;           /* the part whose turn it is */
};

static void remove_files(struct http_request *r)
{
    struct upload *u = ((struct upload_request *)r->state)->upload;
    for (size_t i = 0; i < u->count; i++)
        upload_remove_file(u, u->parts[i]);
}

static void fail(struct http_request *r, const struct error *err)
{
    remove_files(r);
    http_reply_failure(r, err);
    http_finish(r);
}

static void refuse(struct http_request *r, unsigned status, const char *words)
{
    remove_files(r);
    http_problem(r, status, "%s", words);
    http_finish(r);
}

/* --- the answer ------------------------------------------------------------------------------- */

/* What could not be done, and why where there is one reason. */
static const char *failure_of(struct arena *arena, const struct upload_row *rows, size_t count)
{
    static const char none[] = "no symbol file of the upload could be indexed";
    size_t failed = 0;
    const char *text = none;
    for (size_t i = 0; i < count; i++)
        failed += rows[i].state == UPLOAD_FAILED;
    if (count > 1)
        text = arena_printf(arena, "%zu of %zu files could not be indexed", failed, count);
    else if (rows[0].reason)
        text = arena_printf(arena, "%s: %s", none, rows[0].reason);
    return text ? text : none;
}

static int status_of(const struct upload_row *rows, size_t count)
{
    int status = 200;
    for (size_t i = 0; i < count; i++) {
        if (rows[i].state == UPLOAD_FAILED)
            return 422;
        if (rows[i].state != UPLOAD_INDEXED)
            status = 202;
    }
    return status;
}

static void print_rows(struct jout *j, const struct upload_row *rows, size_t count)
{
    if (count == 1) {
        symbols_json_upload(j, &rows[0], 0, SYMBOLS_JSON_SLICES_MAX);
        return;
    }
    jout_array(j, "uploads");
    for (size_t i = 0; i < count; i++) {
        jout_object(j, NULL);
        symbols_json_upload(j, &rows[i], 0, SYMBOLS_JSON_SLICES_MAX);
        jout_end_object(j);
    }
    jout_end_array(j);
}

static enum err print_state(struct http_request *r, const struct read_tools *tools,
                            struct error *err)
{
    const struct upload_request *q = r->state;
    const struct upload *u = q->upload;
    struct upload_row *rows = arena_array(tools->arena, u->count, sizeof(*rows));
    struct jout j;
    enum err rc = rows ? ERR_OK : error_set(err, ERR_NO_MEMORY, "no memory for the answer");
    for (size_t i = 0; rc == ERR_OK && i < u->count; i++) {
        rc = read_upload(tools->storage, u->parts[i]->id, tools->arena, &rows[i], err);
        if (rc == ERR_OK && !q->wait && !u->parts[i]->known)
            rows[i].state = UPLOAD_QUEUED; /* what it was when it was answered for */
    }
    if (rc != ERR_OK)
        return rc;
    int status = status_of(rows, u->count);
    jout_init(&j, http_reply(r, status, status == 422 ? PROBLEM_TYPE : TYPE_JSON));
    if (status == 422)
        problem_begin(&j, 422, failure_of(tools->arena, rows, u->count));
    else
        jout_object(&j, NULL);
    print_rows(&j, rows, u->count);
    jout_end_object(&j);
    return ERR_OK;
}

/* --- the indexer ------------------------------------------------------------------------------ */

static void wait_next(struct http_request *r);

static void waited(void *ctx, enum err rc)
{
    struct http_request *r = ctx;
    (void)rc; /* indexed, failed, or the indexer stops: print_state tells which */
    if (!http_enter(r))
        return;
    struct http_door *door = http_door_ref(r->door);
    wait_next(r);
    http_door_leave(door);
    http_door_unref(door);
}

static void wait_next(struct http_request *r)
{
    struct upload_request *q = r->state;
    struct upload *u = q->upload;
    struct error err;
    while (q->at < u->count && u->parts[q->at]->known)
        q->at++;
    if (q->at == u->count || !q->wait) {
        http_read(r, print_state, NULL);
        return;
    }
    uint64_t id = u->parts[q->at++]->id;
    if (indexer_wait(r->services->indexer, id, waited, r, &err) != ERR_OK)
        http_read(r, print_state, NULL); /* it is queued all the same */
}

void upload_answer(struct http_request *r, uint64_t id, bool known, bool wait)
{
    struct upload_request *q = arena_alloc(&r->arena, sizeof(*q));
    struct upload *u = arena_alloc(&r->arena, sizeof(*u));
    struct upload_part *p = arena_alloc(&r->arena, sizeof(*p));
    if (!q || !u || !p) {
        http_problem(r, 503, "no memory to spare; the upload is queued");
        http_finish(r);
        return;
    }
    p->id = id;
    p->known = known && !wait;
    u->r = r;
    u->parts[u->count++] = p;
    q->upload = u;
    q->wait = wait;
    r->state = q;
    wait_next(r);
}

/* --- the writer ------------------------------------------------------------------------------- */

static void write_next(struct http_request *r);

static void written(struct http_request *r, struct write_op *op, enum err rc,
                    const struct error *err)
{
    struct upload_request *q = r->state;
    struct upload_part *p = q->upload->parts[q->at];
    if (rc == ERR_LIMIT) { /* of builds that are protected */
        refuse(r, 409, err->text);
        return;
    }
    if (rc != ERR_OK) {
        fail(r, err);
        return;
    }
    metrics_add(r->services->metrics, METRIC_UPLOADS, 1);
    p->id = op->u.upload.id;
    pthread_mutex_lock(&q->upload->lock);
    p->name[0] = 0; /* the indexer's now */
    pthread_mutex_unlock(&q->upload->lock);
    indexer_ring(r->services->indexer);
    q->at++;
    write_next(r);
}

static void write_next(struct http_request *r)
{
    struct upload_request *q = r->state;
    struct upload *u = q->upload;
    struct error err;
    while (q->at < u->count && u->parts[q->at]->known)
        q->at++;
    if (q->at == u->count) {
        q->at = 0;
        wait_next(r);
        return;
    }
    const struct upload_part *p = u->parts[q->at];
    struct write_op *op = write_op_new(WRITE_UPLOAD, 65536);
    if (!op) {
        error_set(&err, ERR_NO_MEMORY, "no memory for a write");
        fail(r, &err);
        return;
    }
    op->u.upload = (struct op_upload){
        .size = p->size,
        .spool_file = p->name,
        .bundle_id = q->bundle_id,
        .version = q->version,
        .build = q->build,
        .os_build = q->os_build,
        .system = q->system,
        .bound = r->identity.bundle_id != NULL,
        .protect = q->protect,
        .now_ms = r->now_ms,
    };
    memcpy(op->u.upload.sha256, p->sha256, SHA256_SIZE);
    http_write(r, op, written);
}

/* --- known already? --------------------------------------------------------------------------- */

/* Whichever object made the index of a slice's UUID. */
bool upload_is_sound(const struct http_request *r, const struct upload_row *row)
{
    for (size_t i = 0; i < row->slice_count; i++) {
        const struct slice_row *s = &row->slices[i];
        if (s->indexed && !index_is_sound(r->services->blobs, &s->shelf, &s->image))
            return false;
    }
    return true;
}

static enum err check_room(struct http_request *r, const struct read_tools *tools,
                           struct upload_request *q, struct error *err)
{
    const struct upload *u = q->upload;
    const uint8_t *sha256[UPLOAD_PARTS_MAX];
    struct index_wish wish = {sha256, 0, q->bundle_id, q->system, r->identity.bundle_id != NULL};
    for (size_t i = 0; i < u->count; i++) {
        if (!u->parts[i]->known)
            sha256[wish.count++] = u->parts[i]->sha256;
    }
    return index_room_check(tools->storage, &r->services->index_caps, &wish, tools->arena,
                            &q->no_room, err);
}

/* What shall be protected is written down once more; what another app's token sent is not told. */
static enum err look_up(struct http_request *r, const struct read_tools *tools, struct error *err)
{
    struct upload_request *q = r->state;
    const struct upload_origin origin = {q->bundle_id, q->version, q->build,
                                         q->os_build,  q->system,  r->identity.bundle_id != NULL};
    struct upload *u = q->upload;
    for (size_t i = 0; i < u->count && !q->protect; i++) {
        struct upload_part *p = u->parts[i];
        struct upload_row row;
        enum err rc =
            read_upload_by_sha256(tools->storage, p->sha256, &origin, tools->arena, &row, err);
        if (rc != ERR_OK && rc != ERR_NOT_FOUND)
            return rc;
        if (rc == ERR_NOT_FOUND || !api_sees(r, row.bundle_id) || !upload_is_sound(r, &row))
            continue;
        p->id = row.id;
        p->known = true;
        upload_remove_file(u, p);
    }
    return check_room(r, tools, q, err);
}

static void looked_up(struct http_request *r, enum err rc, const struct error *err)
{
    const struct upload_request *q = r->state;
    if (rc == ERR_OK && q->no_room)
        metrics_add(r->services->metrics, METRIC_UPLOADS_NO_ROOM, 1);
    if (rc != ERR_OK)
        fail(r, err);
    else if (q->no_room)
        refuse(r, 507, q->no_room);
    else
        write_next(r);
}

static void spooled(struct http_request *r, enum err rc, const struct error *err)
{
    if (rc == ERR_OK) {
        http_read(r, look_up, looked_up);
        return;
    }
    remove_files(r);
    http_reply_error(r, err); /* the client may be at fault: too large, no archive */
    http_finish(r);
}

/* --- the door --------------------------------------------------------------------------------- */

static const char *or_empty(const char *text)
{
    return text ? text : "";
}

static enum err read_request(struct http_request *r, struct upload_request *q, struct error *err)
{
    static const char *const kinds[] = {"app", "system"};
    size_t kind = 0;
    const char *bundle_id = NULL;
    enum err rc = query_word(&r->query, "kind", kinds, 2, &kind, err);
    if (rc == ERR_OK)
        rc = query_bool(&r->query, "wait", &q->wait, err);
    if (rc == ERR_OK)
        rc = query_bool(&r->query, "protect", &q->protect, err);
    if (rc == ERR_OK)
        rc = api_bundle(r, &bundle_id, err);
    if (rc == ERR_OK && kind == 1 && r->identity.bundle_id)
        rc = error_set(err, ERR_DENIED,
                       "system libraries come with tokens that are bound to no app");
    q->system = kind == 1;
    q->bundle_id = or_empty(bundle_id);
    q->version = or_empty(query_text(&r->query, "version"));
    q->build = or_empty(query_text(&r->query, "build"));
    q->os_build = or_empty(query_text(&r->query, "os_build"));
    if (rc == ERR_OK && q->protect && !*q->bundle_id && !*q->version && !*q->build && !*q->os_build)
        return error_set(err, ERR_INVALID,
                         "protect needs to know the build: bundle_id, version, "
                         "build or os_build");
    return rc;
}

void api_post_symbols(struct http_request *r)
{
    struct upload *u = r->state; /* NULL: there was no body */
    struct upload_request *q = arena_alloc(&r->arena, sizeof(*q));
    struct error err;
    enum err rc = q ? ERR_OK : error_set(&err, ERR_NO_MEMORY, "no memory for an upload");
    if (rc == ERR_OK && !u)
        rc = upload_new(r, &u, &err);
    if (rc == ERR_OK)
        rc = read_request(r, q, &err);
    if (rc != ERR_OK) {
        upload_abort(r);
        http_reply_error(r, &err);
        return;
    }
    q->upload = u;
    r->state = q;
    http_defer(r);
    upload_end(u, spooled);
}

static enum err upload_piece(struct http_request *r, const void *data, size_t len,
                             size_t *ret_taken, struct error *err)
{
    struct upload_request ignored = {.wait = false};
    /* A wrong query is found before the first byte is written. */
    if (!r->state) {
        enum err rc = read_request(r, &ignored, err);
        if (rc != ERR_OK)
            return rc;
    }
    return upload_data(r, data, len, ret_taken, err);
}

const struct body_stream api_symbols_stream = {.data = upload_piece, .abort = upload_abort};

/* A page of an upload's slices; all that one answer takes, unless it is asked otherwise. */
static enum err read_page(const struct http_request *r, size_t *ret_limit, uint64_t *ret_after,
                          struct error *err)
{
    const char *cursor = NULL;
    size_t limit = 0;
    int64_t after = 0;
    enum err rc = query_page(&r->query, &limit, &cursor, err);
    if (rc != ERR_OK)
        return rc;
    if (cursor && (!query_parse_int(cursor, &after) || after < 0))
        return error_set(err, ERR_INVALID, "this is not a cursor of this list");
    if (query_text(&r->query, "limit"))
        *ret_limit = limit;
    *ret_after = (uint64_t)after;
    return ERR_OK;
}

enum err api_get_upload(struct http_request *r, const struct read_tools *tools, struct error *err)
{
    struct upload_row row;
    uint64_t id = 0, after = 0;
    size_t limit = SYMBOLS_JSON_SLICES_MAX;
    struct jout j;
    if (piece_id_parse(r->params[0], NULL))
        return api_get_open_upload(r, tools, err);
    enum err rc = api_id(r, 0, &id, err);
    if (rc == ERR_OK)
        rc = read_page(r, &limit, &after, err);
    if (rc == ERR_OK)
        rc = read_upload(tools->storage, id, tools->arena, &row, err);
    if (rc == ERR_NOT_FOUND || (rc == ERR_OK && !api_sees(r, row.bundle_id)))
        return error_set(err, ERR_NOT_FOUND, "no such upload");
    if (rc != ERR_OK)
        return rc;
    jout_init(&j, http_reply(r, 200, TYPE_JSON));
    jout_object(&j, NULL);
    symbols_json_upload(&j, &row, after, limit);
    jout_end_object(&j);
    return ERR_OK;
}
