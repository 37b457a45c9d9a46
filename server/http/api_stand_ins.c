/* /v1/symbols/{uuid}/stand-in: the symbol file of another build for one that never came. */
#include "server/http/api.h"

#include <string.h>

#include "server/http/api_common.h"
#include "storage/op_stand_ins.h"
#include "storage/read_shelves.h"

static void written(struct http_request *r, struct write_op *op, enum err rc,
                    const struct error *err)
{
    const struct op_stand_in *o = &op->u.stand_in;
    if (rc == ERR_CONFLICT || rc == ERR_LIMIT)
        http_problem(r, 409, "%s", err->text);
    else if (rc == ERR_NOT_FOUND)
        http_reply_error(r, err);
    else if (rc != ERR_OK)
        http_reply_failure(r, err);
    else if (!o->on && !o->existed)
        http_problem(r, 404, "this UUID has no stand-in");
    else
        http_reply(r, 204, NULL);
    http_finish(r);
}

static void looked(struct http_request *r, enum err rc, const struct error *err)
{
    struct write_op *op = api_op(r, rc, err, WRITE_STAND_IN);
    if (!op)
        return;
    op->u.stand_in = *(const struct op_stand_in *)r->state;
    http_write(r, op, written);
}

/* A token that is bound to an app decides for that app, about that app's symbol files alone. */
static enum err look(struct http_request *r, const struct read_tools *tools, struct error *err)
{
    struct op_stand_in *o = r->state;
    const char *bound = r->identity.bundle_id;
    struct slice_row *rows = NULL;
    size_t count = 0;
    enum err rc = api_uuid(r, 0, &o->uuid, err);
    o->bundle_id = bound ? bound : "";
    if (rc != ERR_OK || !bound || !o->on)
        return rc;
    rc = read_symbol_files(tools->storage, bound, &o->stand_in, tools->arena, &rows, &count, err);
    if (rc == ERR_NOT_FOUND)
        return error_set(err, rc, "no symbol file with the UUID of the stand-in");
    for (size_t i = 0; rc == ERR_OK && i < count; i++) {
        if (strcmp(rows[i].bundle_id, bound) != 0)
            rc = error_set(err, ERR_DENIED, "the symbol file is not of the token's app alone");
    }
    return rc;
}

static bool read_body(struct http_request *r, struct uuid *ret)
{
    static const char *const MEMBERS[] = {"uuid", NULL};
    struct fields f;
    json_t *body = api_body(r, MEMBERS, &f);
    if (!body)
        return false;
    const json_t *member = json_object_get(body, "uuid");
    const char *text = json_string_value(member);
    bool good = text && uuid_parse(text, json_string_length(member), ret);
    json_decref(body);
    if (!good)
        http_refuse_shape(r, "uuid", "the UUID of the symbol file that stands in is expected");
    return good;
}

static void begin(struct http_request *r, const struct op_stand_in *o)
{
    r->state = arena_memdup(&r->arena, o, sizeof(*o));
    if (r->state)
        http_read(r, look, looked);
    else
        http_problem(r, 503, "no memory to spare; try again");
}

void api_put_stand_in(struct http_request *r)
{
    struct op_stand_in o = {.on = true, .by_hand = true, .now_ms = r->now_ms};
    if (read_body(r, &o.stand_in))
        begin(r, &o);
}

void api_delete_stand_in(struct http_request *r)
{
    const struct op_stand_in o = {.by_hand = true, .now_ms = r->now_ms};
    begin(r, &o);
}
