#include "server/http/api.h"

#include <string.h>

#include "base/clock.h"
#include "server/http/api_common.h"

#define NAME_MAX_BYTES 128

struct token_request {
    char text[AUTH_TOKEN_SIZE];
    const char *name;
    const char *bundle_id; /* NULL */
    uint32_t scopes;
    uint64_t id;
};

static void print_scopes(struct jout *j, uint32_t scopes)
{
    jout_array(j, "scopes");
    for (uint32_t bit = SCOPE_INGEST; bit <= SCOPE_ADMIN; bit <<= 1) {
        if (scopes & bit)
            jout_string(j, NULL, auth_scope_name(bit));
    }
    jout_end_array(j);
}

static void print_token(struct jout *j, uint64_t id, const char *name, uint32_t scopes,
                        const char *bundle_id, int64_t created_ms)
{
    jout_uint(j, "id", id);
    jout_text(j, "name", name);
    print_scopes(j, scopes);
    jout_text(j, "bundle_id", bundle_id);
    jout_time(j, "created_at", created_ms);
}

enum err api_get_tokens(struct http_request *r, const struct read_tools *tools, struct error *err)
{
    struct token_row *rows = NULL;
    size_t count = 0;
    struct jout j;
    enum err rc = read_tokens(tools->storage, tools->arena, &rows, &count, err);
    if (rc != ERR_OK)
        return rc;
    api_items_begin(r, &j);
    for (size_t i = 0; i < count; i++) {
        jout_object(&j, NULL);
        print_token(&j, rows[i].id, rows[i].name, rows[i].scopes, rows[i].bundle_id,
                    rows[i].created_ms);
        jout_end_object(&j);
    }
    api_items_end(&j, NULL);
    return ERR_OK;
}

/* What changed is in force before it is answered for. */
static enum err reload(struct http_request *r, const struct read_tools *tools, struct error *err)
{
    struct token_row *rows = NULL;
    size_t count = 0;
    uint64_t begun = auth_begin_set(r->door->auth);
    enum err rc = read_tokens(tools->storage, tools->arena, &rows, &count, err);
    return rc == ERR_OK ? auth_set_tokens(r->door->auth, begun, rows, count, err) : rc;
}

/* --- POST ------------------------------------------------------------------------------------- */

static bool read_scopes(struct fields *f, json_t *array, uint32_t *ret)
{
    *ret = 0;
    for (size_t i = 0; i < json_array_size(array); i++) {
        const char *name = json_word(json_array_get(array, i));
        uint32_t bit = name ? auth_scope_parse(name) : 0;
        if (!bit)
            return fields_refuse(f, "not one of ingest, symbols, read, admin", "scopes[%zu]", i);
        *ret |= bit;
    }
    return *ret || fields_refuse(f, "at least one is needed", "%s", "scopes");
}

static bool read_token(struct http_request *r, json_t *body, struct token_request *t,
                       struct fields *f)
{
    const char *name = fields_text(f, body, "", "name", NAME_MAX_BYTES);
    const char *bundle_id = fields_text(f, body, "", "bundle_id", API_BUNDLE_MAX);
    json_t *scopes = fields_array(f, body, "", "scopes");
    /* A variable that was never set must not make a token for every app. */
    if (bundle_id && !*bundle_id)
        return fields_refuse(f, "empty; leave it out for a token that is bound to no app", "%s",
                             "bundle_id");
    if (f->failed || !read_scopes(f, scopes, &t->scopes))
        return false;
    t->name = arena_strdup(&r->arena, name ? name : "");
    t->bundle_id = bundle_id ? arena_strdup(&r->arena, bundle_id) : NULL;
    if (!t->name || (bundle_id && !t->bundle_id))
        return fields_refuse(f, "too large", "%s", "");
    return true;
}

static enum err reload_and_print(struct http_request *r, const struct read_tools *tools,
                                 struct error *err)
{
    const struct token_request *t = r->state;
    struct jout j;
    enum err rc = reload(r, tools, err);
    if (rc != ERR_OK)
        return rc;
    jout_init(&j, http_reply(r, 201, TYPE_JSON));
    jout_object(&j, NULL);
    print_token(&j, t->id, t->name, t->scopes, t->bundle_id, r->now_ms);
    jout_string(&j, "token", t->text);
    jout_end_object(&j);
    r->reply.location = arena_printf(&r->arena, "/v1/admin/tokens/%llu", (unsigned long long)t->id);
    return ERR_OK;
}

static void token_written(struct http_request *r, struct write_op *op, enum err rc,
                          const struct error *err)
{
    struct token_request *t = r->state;
    if (rc == ERR_OK) {
        t->id = op->u.token.id;
        http_read(r, reload_and_print, NULL);
        return;
    }
    http_reply_failure(r, err);
    http_finish(r);
}

static void make_token(struct http_request *r, struct token_request *t)
{
    struct error err;
    enum err rc = auth_token_make(t->text, &err);
    struct write_op *op = rc == ERR_OK ? write_op_new(WRITE_TOKEN, 65536) : NULL;
    if (rc == ERR_OK && !op)
        error_set(&err, ERR_NO_MEMORY, "no memory for a write");
    if (!op) {
        http_reply_error(r, &err);
        return;
    }
    op->u.token = (struct op_token){
        .scopes = t->scopes, .name = t->name, .bundle_id = t->bundle_id, .now_ms = r->now_ms};
    sha256_of(t->text, strlen(t->text), op->u.token.hash);
    http_write(r, op, token_written);
}

void api_post_tokens(struct http_request *r)
{
    static const char *const MEMBERS[] = {"name", "bundle_id", "scopes", NULL};
    struct fields f;
    struct token_request *t = api_state(r, sizeof(*t));
    if (!t)
        return;
    if (auth_token_count(r->door->auth) >= AUTH_TOKENS_MAX - AUTH_TOKENS_SPARE) {
        http_problem(r, 409, "there are %d tokens; revoke some first",
                     AUTH_TOKENS_MAX - AUTH_TOKENS_SPARE);
        return;
    }
    json_t *body = api_body(r, MEMBERS, &f);
    if (!body)
        return;
    bool good = read_token(r, body, t, &f);
    json_decref(body);
    if (good)
        make_token(r, t);
    else
        http_refuse_shape(r, f.path, f.reason);
}

/* --- DELETE ----------------------------------------------------------------------------------- */

/* The last token that can make others stays. */
static enum err may_revoke(struct http_request *r, const struct read_tools *tools,
                           struct error *err)
{
    struct token_request *t = r->state;
    struct token_row *rows = NULL;
    size_t count = 0, admins = 0;
    bool found = false, is_admin = false;
    enum err rc = api_id(r, 0, &t->id, err);
    if (rc == ERR_OK)
        rc = read_tokens(tools->storage, tools->arena, &rows, &count, err);
    if (rc != ERR_OK)
        return rc;
    for (size_t i = 0; i < count; i++) {
        bool admin = (rows[i].scopes & SCOPE_ADMIN) && !rows[i].bundle_id;
        admins += admin;
        if (rows[i].id == t->id) {
            found = true;
            is_admin = admin;
        }
    }
    if (!found)
        return error_set(err, ERR_NOT_FOUND, "no such token");
    if (is_admin && admins == 1)
        return error_set(err, ERR_CONFLICT, "this is the last admin token; make another one first");
    return ERR_OK;
}

static enum err reload_after_revoke(struct http_request *r, const struct read_tools *tools,
                                    struct error *err)
{
    enum err rc = reload(r, tools, err);
    if (rc == ERR_OK)
        http_reply(r, 204, NULL);
    return rc;
}

static void token_revoked(struct http_request *r, struct write_op *op, enum err rc,
                          const struct error *err)
{
    (void)op;
    if (rc == ERR_OK) {
        http_read(r, reload_after_revoke, NULL);
        return;
    }
    http_reply_failure(r, err);
    http_finish(r);
}

static void revoke(struct http_request *r, enum err rc, const struct error *err)
{
    const struct token_request *t = r->state;
    struct write_op *op = api_op(r, rc, err, WRITE_TOKEN_REVOKE);
    if (!op)
        return;
    op->u.token.id = t->id;
    http_write(r, op, token_revoked);
}

void api_delete_token(struct http_request *r)
{
    if (api_state(r, sizeof(struct token_request)))
        http_read(r, may_revoke, revoke);
}
