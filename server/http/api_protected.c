/* /v1/symbols/protected: builds whose objects retention leaves alone. */
#include "server/http/api.h"

#include "server/http/api_common.h"

struct build {
    const char *bundle_id, *version, *build, *os_build;
    bool on;
};

enum err api_get_protected(struct http_request *r, const struct read_tools *tools,
                           struct error *err)
{
    const char *bundle_id = NULL;
    struct protected_row *rows = NULL;
    size_t count = 0;
    struct jout j;
    enum err rc = api_bundle(r, &bundle_id, err);
    if (rc == ERR_OK)
        rc = read_protected(tools->storage, bundle_id, tools->arena, &rows, &count, err);
    if (rc != ERR_OK)
        return rc;
    api_items_begin(r, &j);
    for (size_t i = 0; i < count; i++) {
        jout_object(&j, NULL);
        jout_text(&j, "bundle_id", rows[i].bundle_id);
        jout_text(&j, "version", rows[i].version);
        jout_text(&j, "build", rows[i].build);
        jout_text(&j, "os_build", rows[i].os_build);
        jout_time(&j, "created_at", rows[i].created_ms);
        jout_end_object(&j);
    }
    api_items_end(&j, NULL);
    return ERR_OK;
}

static const char *or_empty(const char *text)
{
    return text ? text : "";
}

static enum err read_build(const struct http_request *r, struct build *b, struct error *err)
{
    const char *bundle_id = NULL;
    enum err rc = api_bundle(r, &bundle_id, err);
    b->bundle_id = or_empty(bundle_id);
    b->version = or_empty(query_text(&r->query, "version"));
    b->build = or_empty(query_text(&r->query, "build"));
    b->os_build = or_empty(query_text(&r->query, "os_build"));
    if (rc == ERR_OK && !*b->bundle_id && !*b->version && !*b->build && !*b->os_build)
        return error_set(err, ERR_INVALID,
                         "which build? bundle_id, version, build or os_build is needed");
    return rc;
}

static void written(struct http_request *r, struct write_op *op, enum err rc,
                    const struct error *err)
{
    const struct op_protect *o = &op->u.protect;
    if (rc == ERR_LIMIT)
        http_problem(r, 409, "%s", err->text);
    else if (rc != ERR_OK)
        http_reply_failure(r, err);
    else if (!o->on && !o->existed)
        http_problem(r, 404, "this build is not protected");
    else
        http_reply(r, 204, NULL);
    http_finish(r);
}

static void set(struct http_request *r, bool on)
{
    struct build b = {.on = on};
    struct error err;
    enum err rc = read_build(r, &b, &err);
    struct write_op *op = rc == ERR_OK ? write_op_new(WRITE_PROTECT, 4096) : NULL;
    if (rc == ERR_OK && !op)
        error_set(&err, ERR_NO_MEMORY, "no memory for a write");
    if (!op) {
        http_reply_error(r, &err);
        return;
    }
    op->u.protect = (struct op_protect){.bundle_id = b.bundle_id,
                                        .version = b.version,
                                        .build = b.build,
                                        .os_build = b.os_build,
                                        .on = on,
                                        .now_ms = r->now_ms};
    http_write(r, op, written);
}

void api_put_protected(struct http_request *r)
{
    set(r, true);
}

void api_delete_protected(struct http_request *r)
{
    set(r, false);
}
