/* Remote configuration of the SDK: what a client gets, and who says so. */
#include <string.h>

#include "base/hash.h"
#include "server/http/api.h"
#include "server/http/api_common.h"
#include "server/http/config_json.h"
#include "storage/read_config.h"

#define NOTE_MAX_BYTES 1000
#define OP_ARENA       65536 /* what it points to is the request's */

/* --- what a client gets ----------------------------------------------------------------------- */

static enum err client_of(const struct http_request *r, const char *bundle_id,
                          struct config_client *ret, struct error *err)
{
    const struct query *q = &r->query;
    int64_t memory = 0;
    enum err rc = query_int(q, "memory_mb", 0, UINT32_MAX, &memory, err);
    if (rc != ERR_OK)
        return rc;
    *ret = (struct config_client){
        .bundle_id = bundle_id,
        .version = query_text(q, "version"),
        .build = query_text(q, "build"),
        .device = query_text(q, "device"),
        .os_version = query_text(q, "os_version"),
        .memory_mb = (uint32_t)memory,
        .id = query_text(q, "client"),
    };
    if (ret->id && strlen(ret->id) > CONFIG_CLIENT_MAX)
        return error_set(err, ERR_INVALID, "client: %d bytes at most", CONFIG_CLIENT_MAX);
    return ERR_OK;
}

static enum err newest(struct storage_reader *storage, const char *bundle_id, struct arena *arena,
                       struct config_row *ret_row, struct remote_config *ret, struct error *err)
{
    struct config_row row = {0};
    enum err rc = read_config(storage, bundle_id, 0, arena, &row, err);
    if (rc == ERR_NOT_FOUND) {
        *ret_row = row;
        *ret = (struct remote_config){0};
        return ERR_OK;
    }
    if (rc == ERR_OK)
        rc = config_json_parse(row.body, arena, ret, err);
    if (rc == ERR_INVALID || rc == ERR_FORMAT)
        rc = error_set(err, ERR_INTERNAL, "revision %u of the configuration cannot be read",
                       row.revision);
    if (rc == ERR_OK)
        *ret_row = row;
    return rc;
}

enum err api_get_config(struct http_request *r, const struct read_tools *tools, struct error *err)
{
    const char *bundle_id = NULL;
    struct config_client client;
    struct config_row row;
    struct remote_config config;
    struct config_values values;
    size_t rule = SIZE_MAX;
    struct jout j;
    enum err rc = api_app(r, &bundle_id, err);
    if (rc == ERR_OK)
        rc = client_of(r, bundle_id, &client, err);
    if (rc == ERR_OK)
        rc = newest(tools->storage, bundle_id, tools->arena, &row, &config, err);
    if (rc != ERR_OK)
        return rc;
    remote_config_of(&config, &client, &values, &rule);
    jout_init(&j, http_reply(r, 200, TYPE_JSON));
    jout_object(&j, NULL);
    jout_uint(&j, "revision", row.revision);
    jout_text(&j, "rule", rule == SIZE_MAX ? NULL : config.rules[rule].name);
    config_json_print(&j, &values);
    jout_end_object(&j);
    uint8_t digest[SHA256_SIZE];
    char text[SHA256_TEXT_SIZE];
    sha256_of(r->reply.body.data, r->reply.body.len, digest);
    r->reply.etag = arena_printf(&r->arena, "\"%.32s\"", sha256_format(digest, text));
    return ERR_OK;
}

/* --- what was said ---------------------------------------------------------------------------- */

static void print_revision(struct jout *j, const struct config_row *row)
{
    jout_uint(j, "revision", row->revision);
    jout_text(j, "note", row->note);
    jout_text(j, "author", row->author);
    jout_time(j, "created_at", row->created_ms);
}

static enum err revision_of(const struct http_request *r, uint32_t *ret, struct error *err)
{
    uint64_t number = 0;
    if (!r->params[1]) {
        *ret = 0;
        return ERR_OK;
    }
    enum err rc = api_id(r, 1, &number, err);
    if (rc == ERR_OK && (number == 0 || number > UINT32_MAX))
        rc = error_set(err, ERR_NOT_FOUND, "there is no such configuration");
    if (rc == ERR_OK)
        *ret = (uint32_t)number;
    return rc;
}

/* One revision, or the one in force. */
enum err api_get_config_revision(struct http_request *r, const struct read_tools *tools,
                                 struct error *err)
{
    const char *bundle_id = NULL;
    uint32_t revision = 0;
    struct config_row row;
    struct jout j;
    enum err rc = api_app(r, &bundle_id, err);
    if (rc == ERR_OK)
        rc = revision_of(r, &revision, err);
    if (rc == ERR_OK)
        rc = read_config(tools->storage, bundle_id, revision, tools->arena, &row, err);
    if (rc != ERR_OK)
        return rc;
    jout_init(&j, http_reply(r, 200, TYPE_JSON));
    jout_object(&j, NULL);
    print_revision(&j, &row);
    jout_raw(&j, "config", row.body);
    jout_end_object(&j);
    return ERR_OK;
}

enum err api_get_config_revisions(struct http_request *r, const struct read_tools *tools,
                                  struct error *err)
{
    const char *bundle_id = NULL;
    struct config_row *rows = NULL;
    size_t count = 0;
    struct jout j;
    enum err rc = api_app(r, &bundle_id, err);
    if (rc == ERR_OK)
        rc = read_config_history(tools->storage, bundle_id, tools->arena, &rows, &count, err);
    if (rc != ERR_OK)
        return rc;
    api_items_begin(r, &j);
    for (size_t i = 0; i < count; i++) {
        jout_object(&j, NULL);
        print_revision(&j, &rows[i]);
        jout_end_object(&j);
    }
    api_items_end(&j, NULL);
    return ERR_OK;
}

/* --- saying it -------------------------------------------------------------------------------- */

struct config_request {
    const char *bundle_id;
    const char *body;
    const char *note;
    bool has_based_on;
    uint32_t based_on;
    uint32_t from; /* of a roll-back: the revision to go back to */
};

static void config_written(struct http_request *r, struct write_op *op, enum err rc,
                           const struct error *err)
{
    const struct op_config *c = &op->u.config;
    struct jout j;
    if (rc != ERR_OK) {
        http_reply_failure(r, err);
    } else if (c->conflict) {
        http_problem(r, 409, "revision %u is in force by now, this was made from %u", c->revision,
                     c->based_on);
    } else {
        jout_init(&j, http_reply(r, 200, TYPE_JSON));
        jout_object(&j, NULL);
        jout_uint(&j, "revision", c->revision);
        jout_end_object(&j);
    }
    http_finish(r);
}

static void write_config(struct http_request *r, struct write_op *op)
{
    const struct config_request *c = r->state;
    op->u.config = (struct op_config){.bundle_id = c->bundle_id,
                                      .body = c->body,
                                      .note = c->note,
                                      .token_id = r->identity.token_id,
                                      .has_based_on = c->has_based_on,
                                      .based_on = c->based_on,
                                      .now_ms = r->now_ms};
    http_write(r, op, config_written);
}

/* note and based_on. */
static bool read_request(struct http_request *r, json_t *body, struct config_request *c,
                         struct fields *f)
{
    int64_t based_on = 0;
    const char *note = fields_prose(f, body, "", "note", NOTE_MAX_BYTES);
    c->has_based_on = fields_int(f, body, "", "based_on", 0, UINT32_MAX, &based_on);
    c->based_on = (uint32_t)based_on;
    c->note = note ? arena_strdup(&r->arena, note) : "";
    if (!c->note)
        return fields_refuse(f, "too large", "%s", "");
    return !f->failed;
}

/* The body, and r->state with the app; NULL: answered. */
static json_t *begin(struct http_request *r, const char *const *members, struct fields *f)
{
    struct error err;
    struct config_request *c = api_state(r, sizeof(*c));
    if (!c)
        return NULL;
    if (api_app(r, &c->bundle_id, &err) != ERR_OK) {
        http_reply_error(r, &err);
        return NULL;
    }
    return api_body(r, members, f);
}

/* A place and a reason as one text ("rules[2].if.version: …"). */
static void refuse(struct http_request *r, const struct error *err)
{
    const char *reason = strstr(err->text, ": ");
    const char *place =
        reason ? arena_printf(&r->arena, "%.*s", (int)(reason - err->text), err->text) : "";
    http_refuse_shape(r, place ? place : "", reason ? reason + 2 : err->text);
}

void api_put_config(struct http_request *r)
{
    static const char *const MEMBERS[] = {"defaults", "rules", "note", "based_on", NULL};
    struct fields f;
    struct error err;
    struct remote_config config;
    struct write_op *op;
    json_t *body = begin(r, MEMBERS, &f);
    struct config_request *c = r->state;
    if (!body)
        return;
    bool good = read_request(r, body, c, &f);
    enum err rc = good ? config_json_refuse_empty(body, &err) : ERR_OK;
    if (good && rc == ERR_OK)
        rc = config_json_read(body, &r->arena, &config, &err);
    c->body = good && rc == ERR_OK ? config_json_store(body, &r->arena) : NULL;
    json_decref(body);
    if (!good)
        http_refuse_shape(r, f.path, f.reason);
    else if (rc == ERR_INVALID)
        refuse(r, &err);
    else if (rc != ERR_OK)
        http_reply_error(r, &err);
    else if (!c->body)
        http_problem(r, 413, "a configuration takes %zu kB at most", CONFIG_JSON_MAX >> 10);
    else if (!(op = write_op_new(WRITE_CONFIG, OP_ARENA)))
        http_problem(r, 503, "no memory to spare; try again");
    else
        write_config(r, op);
}

static enum err read_old(struct http_request *r, const struct read_tools *tools, struct error *err)
{
    struct config_request *c = r->state;
    struct config_row row;
    enum err rc = read_config(tools->storage, c->bundle_id, c->from, tools->arena, &row, err);
    if (rc != ERR_OK)
        return rc;
    c->body = arena_strdup(&r->arena, row.body);
    if (c->body && !*c->note)
        c->note = arena_printf(&r->arena, "back to revision %u", c->from);
    return c->body && c->note ? ERR_OK
                              : error_set(err, ERR_NO_MEMORY, "no memory for a configuration");
}

static void write_old(struct http_request *r, enum err rc, const struct error *err)
{
    struct write_op *op = api_op(r, rc, err, WRITE_CONFIG);
    if (op)
        write_config(r, op);
}

void api_post_config_rollback(struct http_request *r)
{
    static const char *const MEMBERS[] = {"revision", "note", "based_on", NULL};
    struct fields f;
    int64_t from = 0;
    json_t *body = begin(r, MEMBERS, &f);
    struct config_request *c = r->state;
    if (!body)
        return;
    bool good = read_request(r, body, c, &f);
    if (good && !fields_int(&f, body, "", "revision", 1, UINT32_MAX, &from) && !f.failed)
        (void)fields_refuse(&f, "is needed", "%s", "revision");
    json_decref(body);
    c->from = (uint32_t)from;
    if (f.failed)
        http_refuse_shape(r, f.path, f.reason);
    else
        http_read(r, read_old, write_old);
}
