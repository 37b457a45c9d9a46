/* Uploads of symbol files and their slices, tokens, and turning stacks back to pending. */
#include <string.h>

#include "storage/sqlite_images.h"

enum err sqlite_write_upload(struct sqlite_storage *s, struct write_op *op, struct error *err)
{
    struct op_upload *u = &op->u.upload;
    enum err rc =
        sql_run(&s->conn, SQL_UPLOAD_INSERT, err, sql_blob(u->sha256, sizeof(u->sha256)),
                sql_int((int64_t)u->size), sql_text(u->spool_file), sql_text(u->bundle_id),
                sql_text(u->version), sql_text(u->build), sql_text(u->os_build), sql_int(u->system),
                sql_int(UPLOAD_QUEUED), sql_int(u->now_ms), sql_int(u->bound));
    if (rc)
        return rc;
    u->id = (uint64_t)sqlite3_last_insert_rowid(s->conn.db);
    if (u->open_id) {
        rc = sql_run(&s->conn, SQL_OPEN_UPLOAD_END, err, sql_blob(u->open_id, OPEN_UPLOAD_ID_SIZE),
                     sql_int((int64_t)u->id));
        if (!rc && sqlite3_changes(s->conn.db) == 0)
            rc = error_set(err, ERR_CONFLICT, "the upload is not open any more");
    }
    if (!rc && u->protect)
        rc = sqlite_protect(s, u->bundle_id, u->version, u->build, u->os_build, u->now_ms, err);
    return rc;
}

static const char *or_empty(const char *s)
{
    return s ? s : "";
}

static enum err insert_slice(struct sqlite_storage *s, const struct op_upload_state *u,
                             const struct op_slice *x, struct error *err)
{
    return sql_run(&s->conn, SQL_SLICE_INSERT, err, sql_int((int64_t)u->id), sql_uuid(&x->shelf),
                   sql_text(or_empty(x->name)), sql_text(or_empty(x->member)),
                   sql_text(or_empty(x->arch)), sql_text(x->reason), sql_int(x->indexed),
                   sql_int(x->indexed && x->installed), sql_int(x->has_dwarf),
                   sql_int((int64_t)x->functions), sql_int((int64_t)x->lines),
                   sql_int((int64_t)x->inlines), sql_int((int64_t)x->index_bytes),
                   sql_int((int64_t)x->text_vmaddr), sql_int((int64_t)x->text_size),
                   sql_blob(x->object_sha256, sizeof(x->object_sha256)),
                   sql_int((int64_t)x->object_bytes), sql_int(u->now_ms));
}

/* An object that came, and other slices of it: their index is there again. */
static enum err note_object(struct sqlite_storage *s, const struct op_upload_state *u,
                            const struct op_slice *x, struct error *err)
{
    const struct sql_value sha = sql_blob(x->object_sha256, sizeof(x->object_sha256));
    enum err rc = ERR_OK;
    if (x->object_kept)
        rc = sql_run(&s->conn, SQL_OBJECT_NOTE, err, sha, sql_int((int64_t)x->object_bytes),
                     sql_int((int64_t)u->id), sql_int(u->now_ms));
    if (!rc && x->indexed)
        rc = sql_run(&s->conn, SQL_SLICES_FOUND, err, sql_uuid(&x->shelf), sha);
    return rc;
}

struct slice_news {
    struct uuid_list installed; /* and slide groups a place of which is new */
    struct uuid_list replaced;  /* had another index before */
};

/* The slice comes into use. Whom it serves may have used what lies on its shelf, or on another one. */
static enum err install_slice(struct sqlite_storage *s, const struct op_slice *x,
                              const struct uuid *image, struct slice_news *news, struct error *err)
{
    int64_t rival = 0;
    const struct sql_value shelf = sql_uuid(&x->shelf);
    enum err rc = sql_run(&s->conn, SQL_SLICES_NOT_CURRENT, err, shelf);
    bool replaced = !rc && sqlite3_changes(s->conn.db) > 0;
    if (!rc)
        rc = sql_get(&s->conn, SQL_SYMBOL_RIVAL, 0, &rival, err, sql_uuid(image), shelf);
    if (!rc && (replaced || rival))
        rc = uuid_list_add(&news->replaced, &s->scratch, &x->shelf, err);
    if (!rc)
        rc = uuid_list_add(&news->installed, &s->scratch, &x->shelf, err);
    return rc ? rc : sqlite_stand_in_end(s, &x->shelf, err);
}

/* A shelf that is not the image's own is an app's. */
static enum err note_shelf(struct sqlite_storage *s, const struct op_upload_state *u,
                           const struct op_slice *x, const struct uuid *image, struct error *err)
{
    if (uuid_equal(&x->shelf, image))
        return ERR_OK;
    return sql_run(&s->conn, SQL_SHELF_NOTE, err, sql_uuid(&x->shelf), sql_uuid(image),
                   sql_int((int64_t)u->id));
}

static enum err store_slice(struct sqlite_storage *s, const struct op_upload_state *u,
                            const struct op_slice *x, struct slice_news *news, struct error *err)
{
    const struct uuid *image = op_slice_image(x);
    bool placed = false;
    enum err rc = note_shelf(s, u, x, image, err);
    if (!rc && x->indexed && x->installed)
        rc = install_slice(s, x, image, news, err);
    if (!rc)
        rc = insert_slice(s, u, x, err);
    if (!rc)
        rc = note_object(s, u, x, err);
    if (!rc && x->indexed)
        rc = sqlite_layout_learn(s, &x->shelf, x->text_vmaddr, x->text_size, &placed, err);
    if (!rc && placed) {
        struct uuid_list groups = {0};
        rc = sqlite_groups_of(s, &x->shelf, &groups, err);
        for (size_t i = 0; i < groups.count && !rc; i++) {
            rc = sqlite_disturb_pending(s, &groups.items[i], err);
            if (!rc)
                rc = uuid_list_add(&news->installed, &s->scratch, &groups.items[i], err);
        }
    }
    return rc;
}

static enum err note_rest(struct sqlite_storage *s, const struct repend *r, struct error *err)
{
    enum err rc = ERR_OK;
    for (size_t i = 0; i < r->uuids->count && r->more && !rc; i++)
        rc = sqlite_queue_turn_back(s, &r->uuids->items[i], r->all_users, err);
    return rc;
}

enum err sqlite_write_upload_state(struct sqlite_storage *s, struct write_op *op, struct error *err)
{
    const struct op_upload_state *u = &op->u.upload_state;
    struct slice_news news = {0};
    bool ended = u->state == UPLOAD_INDEXED || u->state == UPLOAD_FAILED;
    enum err rc =
        sql_run(&s->conn, SQL_UPLOAD_STATE_SET, err, sql_int((int64_t)u->id), sql_int(u->state),
                sql_text(u->reason), sql_int(ended ? (int64_t)u->slice_count : 0));
    if (rc)
        return rc;
    if (sqlite3_changes(s->conn.db) == 0)
        return error_set(err, ERR_NOT_FOUND, "there is no upload %llu", (unsigned long long)u->id);
    if (!ended)
        return ERR_OK;
    rc = sql_run(&s->conn, SQL_UPLOAD_OBJECTS_ORPHAN, err, sql_int((int64_t)u->id));
    if (!rc)
        rc = sql_run(&s->conn, SQL_UPLOAD_SLICES_DELETE, err, sql_int((int64_t)u->id));
    for (size_t i = 0; i < u->slice_count && !rc; i++)
        rc = store_slice(s, u, &u->slices[i], &news, err);
    struct repend missing = {.uuids = &news.installed};
    struct repend users = {.uuids = &news.replaced, .all_users = true};
    if (!rc && news.installed.count)
        rc = sqlite_repend(s, &missing, err);
    if (!rc && news.replaced.count)
        rc = sqlite_repend(s, &users, err);
    if (!rc)
        rc = note_rest(s, &missing, err);
    return rc ? rc : note_rest(s, &users, err);
}

/* The last chunk was looked for. */
static enum err settle(struct sqlite_storage *s, const struct op_repend *o, struct error *err)
{
    enum err rc = ERR_OK;
    for (size_t i = 0; i <= o->other_count && !rc; i++) {
        const struct uuid *uuid = i ? &o->others[i - 1] : &o->uuid;
        rc = sql_run(&s->conn, SQL_TURN_BACK_DONE, err, sql_uuid(uuid), sql_int(o->all_users));
        if (!rc)
            rc = sql_run(&s->conn, SQL_SHELF_END, err, sql_uuid(uuid));
    }
    return rc;
}

enum err sqlite_write_repend(struct sqlite_storage *s, struct write_op *op, struct error *err)
{
    struct op_repend *o = &op->u.repend;
    struct uuid_list uuids = {0};
    enum err rc = uuid_list_add(&uuids, &s->scratch, &o->uuid, err);
    if (!rc)
        rc = sqlite_groups_of(s, &o->uuid, &uuids, err);
    for (size_t i = 0; i < o->other_count && !rc; i++) {
        rc = uuid_list_add(&uuids, &s->scratch, &o->others[i], err);
        if (!rc)
            rc = sqlite_groups_of(s, &o->others[i], &uuids, err);
    }
    struct repend r = {.uuids = &uuids, .all_users = o->all_users, .after_id = o->after_id};
    if (!rc)
        rc = sqlite_repend(s, &r, err);
    if (rc)
        return rc;
    o->after_id = r.after_id;
    o->more = r.more;
    o->count = r.count;
    return o->settles && !o->more ? settle(s, o, err) : ERR_OK;
}

static enum err delete_shelf(struct sqlite_storage *s, const struct uuid *shelf, bool *ret_existed,
                             struct error *err)
{
    const struct sql_value uuid = sql_uuid(shelf);
    enum err rc = sql_run(&s->conn, SQL_SYMBOL_OBJECTS_ORPHAN, err, uuid);
    if (!rc)
        rc = sql_run(&s->conn, SQL_SYMBOL_DELETE, err, uuid);
    if (rc || sqlite3_changes(s->conn.db) == 0)
        return rc;
    *ret_existed = true;
    return sqlite_queue_refit(s, shelf, true, err);
}

enum err sqlite_write_symbol_delete(struct sqlite_storage *s, struct write_op *op,
                                    struct error *err)
{
    struct op_symbol_delete *o = &op->u.symbol_delete;
    o->existed = false;
    enum err rc = delete_shelf(s, &o->shelf, &o->existed, err);
    for (size_t i = 0; i < o->other_count && !rc; i++)
        rc = delete_shelf(s, &o->others[i], &o->existed, err);
    return rc;
}

enum err sqlite_write_token(struct sqlite_storage *s, struct write_op *op, struct error *err)
{
    struct op_token *t = &op->u.token;
    int64_t id = 0;
    struct sql_value hash = sql_blob(t->hash, sizeof(t->hash));
    enum err rc = sql_run(&s->conn, SQL_TOKEN_INSERT, err, hash, sql_int(t->scopes),
                          sql_text(or_empty(t->name)), sql_text(t->bundle_id), sql_int(t->now_ms));
    if (!rc)
        rc = sql_get(&s->conn, SQL_TOKEN_FIND, 0, &id, err, hash);
    if (!rc)
        t->id = (uint64_t)id;
    return rc;
}

enum err sqlite_write_token_revoke(struct sqlite_storage *s, struct write_op *op, struct error *err)
{
    struct op_token *t = &op->u.token;
    enum err rc = sql_run(&s->conn, SQL_TOKEN_DELETE, err, sql_int((int64_t)t->id));
    if (!rc)
        t->existed = sqlite3_changes(s->conn.db) > 0;
    return rc;
}
