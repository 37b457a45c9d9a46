/* Life of clusters: PATCH /v1/clusters/{id}, and what became of them. */
#include "server/http/api.h"

#include <string.h>

#include "base/app_version.h"
#include "server/http/api_common.h"
#include "storage/read_life.h"

#define NOTE_BYTES    4000
#define VERSION_BYTES 64

static const char *const MEMBERS[] = {"state", "resolved_in", "resolved_in_build", "note", NULL};

/* --- printing --------------------------------------------------------------------------------- */

static void print_change(struct jout *j, const struct cluster_change *c)
{
    jout_object(j, NULL);
    jout_uint(j, "id", c->id);
    jout_time(j, "at", c->at_ms);
    jout_text(j, "who", c->who);
    jout_string(j, "what", c->regression ? "regression" : "change");
    jout_string(j, "from_state", c->from_state);
    jout_string(j, "to_state", c->to_state);
    jout_string(j, "resolved_in", c->resolved_in);
    jout_text(j, "resolved_in_build", c->resolved_build);
    jout_string(j, "note", c->note);
    jout_string(j, "version", c->version);
    jout_text(j, "build", c->build);
    jout_end_object(j);
}

enum err api_print_history(struct jout *j, const struct read_tools *tools, uint64_t cluster_id,
                           size_t limit, struct error *err)
{
    struct cluster_change *rows = NULL;
    size_t count = 0;
    const char *next = NULL;
    enum err rc = read_cluster_history(tools->storage, cluster_id, limit, NULL, tools->arena, &rows,
                                       &count, &next, err);
    if (rc != ERR_OK)
        return rc;
    jout_array(j, "history");
    for (size_t i = 0; i < count; i++)
        print_change(j, &rows[i]);
    jout_end_array(j);
    return ERR_OK;
}

enum err api_get_cluster_history(struct http_request *r, const struct read_tools *tools,
                                 struct error *err)
{
    struct cluster_row c;
    struct cluster_change *rows = NULL;
    uint64_t id = 0;
    size_t count = 0, limit = 0;
    const char *cursor = NULL, *next = NULL;
    struct jout j;
    enum err rc = query_page(&r->query, &limit, &cursor, err);
    if (rc == ERR_OK)
        rc = api_id(r, 0, &id, err);
    if (rc == ERR_OK)
        rc = read_cluster(tools->storage, id, NULL, tools->arena, &c, err);
    if (rc == ERR_NOT_FOUND || (rc == ERR_OK && !api_sees(r, c.bundle_id)))
        return error_set(err, ERR_NOT_FOUND, "no such cluster");
    if (rc == ERR_OK)
        rc = read_cluster_history(tools->storage, c.id, limit, cursor, tools->arena, &rows, &count,
                                  &next, err);
    if (rc != ERR_OK)
        return rc;
    api_items_begin(r, &j);
    for (size_t i = 0; i < count; i++)
        print_change(&j, &rows[i]);
    api_items_end(&j, next);
    return ERR_OK;
}

/* --- PATCH ------------------------------------------------------------------------------------ */

/* "7.3.0 (7310)", as versions are shown, is a version and a build. */
static bool split_build(struct http_request *r, struct op_cluster_state *o)
{
    size_t len = strlen(o->resolved_in);
    const char *open = strrchr(o->resolved_in, '(');
    if (!open || open == o->resolved_in || o->resolved_in[len - 1] != ')')
        return true;
    const char *build = arena_strndup(&r->arena, open + 1, strlen(open + 1) - 1);
    size_t end = (size_t)(open - o->resolved_in);
    while (end > 0 && o->resolved_in[end - 1] == ' ')
        end--;
    o->resolved_in = arena_strndup(&r->arena, o->resolved_in, end);
    if (!o->resolved_build)
        o->resolved_build = build;
    return o->resolved_in && build;
}

static bool read_release(struct http_request *r, json_t *body, struct op_cluster_state *o,
                         struct fields *f)
{
    const char *version = fields_text(f, body, "", "resolved_in", VERSION_BYTES);
    const char *build = fields_text(f, body, "", "resolved_in_build", VERSION_BYTES);
    if (f->failed)
        return false;
    if ((version || build) && !(o->set_state && o->state == CLUSTER_RESOLVED))
        return fields_refuse(f, "only together with \"state\": \"resolved\"", "%s",
                             version ? "resolved_in" : "resolved_in_build");
    if (build && !version)
        return fields_refuse(f, "only together with \"resolved_in\"", "%s", "resolved_in_build");
    o->resolved_in = version ? arena_strdup(&r->arena, version) : NULL;
    o->resolved_build = build && *build ? arena_strdup(&r->arena, build) : NULL;
    if ((version && !o->resolved_in) || (build && *build && !o->resolved_build))
        return fields_refuse(f, "too large", "%s", "");
    if (version && !split_build(r, o))
        return fields_refuse(f, "too large", "%s", "");
    if (version && !app_version_known(o->resolved_in))
        return fields_refuse(f, "not a version: it begins with no number", "%s", "resolved_in");
    return true;
}

static bool read_note(struct http_request *r, json_t *body, struct op_cluster_state *o,
                      struct fields *f)
{
    const char *note = fields_prose(f, body, "", "note", NOTE_BYTES);
    o->set_note = json_object_get(body, "note") != NULL;
    if (f->failed)
        return false;
    o->note = note && *note ? arena_strdup(&r->arena, note) : NULL;
    return !(note && *note) || o->note || fields_refuse(f, "too large", "%s", "note");
}

static bool read_patch(struct http_request *r, json_t *body, struct op_cluster_state *o,
                       struct fields *f)
{
    const char *state = fields_text(f, body, "", "state", VERSION_BYTES);
    if (f->failed)
        return false;
    if (state && !cluster_state_parse(state, &o->state))
        return fields_refuse(f, "not one of open, resolved, ignored", "%s", "state");
    o->set_state = state != NULL;
    if (!read_release(r, body, o, f) || !read_note(r, body, o, f))
        return false;
    return o->set_state || o->set_note ||
           fields_refuse(f, "nothing to change: neither state nor note", "%s", "");
}

static void state_written(struct http_request *r, struct write_op *op, enum err rc,
                          const struct error *err)
{
    (void)op;
    if (rc == ERR_OK) {
        http_read(r, api_get_cluster, NULL);
        return;
    }
    if (rc == ERR_NOT_FOUND || rc == ERR_CONFLICT)
        http_reply_error(r, err);
    else
        http_reply_failure(r, err);
    http_finish(r);
}

static void write_state(struct http_request *r, enum err rc, const struct error *err)
{
    const struct op_cluster_state *o = r->state;
    struct write_op *op = api_op(r, rc, err, WRITE_CLUSTER_STATE);
    if (!op)
        return;
    op->u.cluster_state = *o;
    http_write(r, op, state_written);
}

static enum err find_who(struct http_request *r, const struct read_tools *tools, struct error *err)
{
    struct op_cluster_state *o = r->state;
    enum err rc = api_id(r, 0, &o->id, err);
    return rc == ERR_OK ? api_who(r, tools, &o->who, err) : rc;
}

void api_patch_cluster(struct http_request *r)
{
    struct fields f;
    struct op_cluster_state *o = api_state(r, sizeof(*o));
    json_t *body = o ? api_body(r, MEMBERS, &f) : NULL;
    if (!body)
        return;
    bool good = read_patch(r, body, o, &f);
    json_decref(body);
    o->bundle_id = r->identity.bundle_id;
    o->now_ms = r->now_ms;
    if (good)
        http_read(r, find_who, write_state);
    else
        http_refuse_shape(r, f.path, f.reason);
}
