/*
 * DESIGN. DELETE of a UUID, or of one upload:
 *
 *   reader    is it there, and may the token?                   look     -> looked
 *   writer    rows go, UUIDs are queued for a new choice         written
 *   indexer   chooses the next best object's index (or removes   waited
 *             the files), turns stacks back to pending
 *
 * The queue is in the database: after a crash in between the indexer goes on. Object files that no row
 * stands for any more go with retention's next look.
 */
#include "server/http/api.h"

#include <string.h>

#include "server/http/api_common.h"
#include "server/http/piece.h"
#include "storage/read_shelves.h"

struct deletion {
    struct uuid *shelves; /* of DELETE /v1/symbols/{uuid}, in the request's arena */
    size_t shelf_count;
    uint64_t upload_id; /* of the other one, else 0 */
};

/* --- the end ---------------------------------------------------------------------------------- */

/* The rows are gone. `settled`: files and stacks, too; else they follow, the queue is on disk. */
static void reply_gone(struct http_request *r, bool settled)
{
    struct jout j;
    if (settled) {
        http_reply(r, 204, NULL);
        return;
    }
    jout_init(&j, http_reply(r, 202, TYPE_JSON));
    jout_object(&j, NULL);
    jout_string(&j, "state", "queued");
    jout_end_object(&j);
}

static void waited(void *ctx, enum err rc)
{
    struct http_request *r = ctx;
    if (!http_enter(r))
        return;
    struct http_door *door = http_door_ref(r->door);
    reply_gone(r, rc == ERR_OK);
    http_finish(r);
    http_door_leave(door);
    http_door_unref(door);
}

static void written(struct http_request *r, struct write_op *op, enum err rc,
                    const struct error *err)
{
    struct error own;
    bool gone = op->kind == WRITE_UPLOAD_DELETE && !op->u.upload_delete.existed;
    if (rc == ERR_OK && gone)
        rc = error_set(&own, ERR_NOT_FOUND, "no such upload");
    else if (rc != ERR_OK)
        own = *err;
    if (rc == ERR_CONFLICT)
        http_problem(r, 409, "%s", own.text);
    else if (rc != ERR_OK)
        http_reply_failure(r, &own);
    if (rc != ERR_OK) {
        http_finish(r);
        return;
    }
    indexer_ring(r->services->indexer);
    if (indexer_wait_refits(r->services->indexer, waited, r, &own) == ERR_OK)
        return;
    reply_gone(r, false);
    http_finish(r);
}

static void looked(struct http_request *r, enum err rc, const struct error *err)
{
    const struct deletion *d = r->state;
    struct write_op *op =
        api_op(r, rc, err, d->upload_id ? WRITE_UPLOAD_DELETE : WRITE_SYMBOL_DELETE);
    if (!op)
        return;
    if (d->upload_id)
        op->u.upload_delete.id = d->upload_id;
    else
        op->u.symbol_delete = (struct op_symbol_delete){
            .shelf = d->shelves[0], .others = d->shelves + 1, .other_count = d->shelf_count - 1};
    http_write(r, op, written);
}

/* --- one UUID --------------------------------------------------------------------------------- */

/* A token bound to one app deletes what its app owns, if that is anything; else what serves all, where
 * it was uploaded for that app alone. */
static enum err may_delete(const struct http_request *r, struct slice_row *rows, size_t *count,
                           struct error *err)
{
    const char *bound = r->identity.bundle_id;
    size_t own = 0;
    for (size_t i = 0; bound && i < *count; i++) {
        if (rows[i].bound)
            rows[own++] = rows[i];
    }
    for (size_t i = 0; bound && own == 0 && i < *count; i++) {
        if (strcmp(rows[i].bundle_id, bound) != 0)
            return error_set(err, ERR_DENIED, "the symbol file is not of the token's app alone");
    }
    *count = own ? own : *count;
    return ERR_OK;
}

static enum err note_shelves(struct http_request *r, const struct slice_row *rows, size_t count,
                             struct error *err)
{
    struct deletion *d = r->state;
    d->shelves = arena_array(&r->arena, count, sizeof(*d->shelves));
    if (!d->shelves)
        return error_set(err, ERR_NO_MEMORY, "no memory to delete a symbol file");
    for (size_t i = 0; i < count; i++) {
        if (!uuid_is_in(d->shelves, d->shelf_count, &rows[i].shelf))
            d->shelves[d->shelf_count++] = rows[i].shelf;
    }
    return ERR_OK;
}

static enum err look_at_symbol(struct http_request *r, const struct read_tools *tools,
                               struct error *err)
{
    struct slice_row *rows = NULL;
    struct uuid uuid;
    size_t count = 0;
    enum err rc = api_uuid(r, 0, &uuid, err);
    if (rc == ERR_OK)
        rc = read_symbol_files(tools->storage, r->identity.bundle_id, &uuid, tools->arena, &rows,
                               &count, err);
    if (rc == ERR_NOT_FOUND)
        return error_set(err, rc, "no symbol file with this UUID");
    if (rc == ERR_OK)
        rc = may_delete(r, rows, &count, err);
    return rc == ERR_OK ? note_shelves(r, rows, count, err) : rc;
}

/* --- one upload ------------------------------------------------------------------------------- */

static enum err look_at_upload(struct http_request *r, const struct read_tools *tools,
                               struct error *err)
{
    struct deletion *d = r->state;
    struct upload_row row;
    const char *bound = r->identity.bundle_id;
    enum err rc = api_id(r, 0, &d->upload_id, err);
    if (rc == ERR_OK)
        rc = read_upload(tools->storage, d->upload_id, tools->arena, &row, err);
    if (rc == ERR_NOT_FOUND || (rc == ERR_OK && !api_sees(r, row.bundle_id)))
        return error_set(err, ERR_NOT_FOUND, "no such upload");
    if (rc == ERR_OK && bound && strcmp(row.bundle_id, bound) != 0)
        return error_set(err, ERR_DENIED, "the upload is not of the token's app");
    if (rc == ERR_OK && !(r->identity.scopes & SCOPE_ADMIN))
        return error_set(err, ERR_DENIED, "an upload that is whole is deleted with scope admin");
    return rc;
}

static void begin(struct http_request *r, http_read_fn look)
{
    if (api_state(r, sizeof(struct deletion)))
        http_read(r, look, looked);
}

void api_delete_symbol(struct http_request *r)
{
    begin(r, look_at_symbol);
}

void api_delete_upload(struct http_request *r)
{
    if (piece_id_parse(r->params[0], NULL))
        api_delete_open_upload(r);
    else
        begin(r, look_at_upload);
}
