/* The symbol store: deleted uploads, refits, objects, protected builds, uploads in pieces. */
#include <string.h>

#include "storage/sqlite_images.h"

enum err sqlite_queue_refit(struct sqlite_storage *s, const struct uuid *uuid, bool deleted,
                            struct error *err)
{
    return sql_run(&s->conn, SQL_REFIT_QUEUE, err, sql_uuid(uuid), sql_int(deleted));
}

enum err sqlite_queue_gone(struct sqlite_storage *s, int64_t app_id, const struct uuid *image,
                           struct error *err)
{
    int64_t shared = 1;
    enum err rc = sql_run(&s->conn, SQL_SHELF_REFIT, err, sql_uuid(image), sql_int(app_id));
    if (!rc && sqlite3_changes(s->conn.db) > 0)
        rc = sql_get(&s->conn, SQL_SYMBOL_PRESENT, 0, &shared, err, sql_uuid(image));
    return rc || !shared ? rc : sqlite_queue_refit(s, image, false, err);
}

enum err sqlite_queue_turn_back(struct sqlite_storage *s, const struct uuid *uuid, bool all_users,
                                struct error *err)
{
    return sql_run(&s->conn, SQL_TURN_BACK_QUEUE, err, sql_uuid(uuid), sql_int(all_users));
}

enum err sqlite_protect(struct sqlite_storage *s, const char *bundle_id, const char *version,
                        const char *build, const char *os_build, int64_t now_ms, struct error *err)
{
    int64_t there = 1;
    enum err rc =
        sql_run(&s->conn, SQL_PROTECT, err, sql_text(bundle_id), sql_text(version), sql_text(build),
                sql_text(os_build), sql_int(now_ms), sql_int(PROTECTED_MAX));
    if (!rc && sqlite3_changes(s->conn.db) == 0)
        rc = sql_get(&s->conn, SQL_PROTECTED_THERE, 0, &there, err, sql_text(bundle_id),
                     sql_text(version), sql_text(build), sql_text(os_build));
    if (!rc && there == 0)
        rc = error_set(err, ERR_LIMIT, "%d builds are protected already", PROTECTED_MAX);
    return rc;
}

/* --- uploads and their indexes ---------------------------------------------------------------- */

enum err sqlite_write_upload_delete(struct sqlite_storage *s, struct write_op *op,
                                    struct error *err)
{
    static const enum sql_query steps[] = {SQL_UPLOAD_OBJECTS_ORPHAN, SQL_UPLOAD_HEIRS,
                                           SQL_UPLOAD_REFITS,         SQL_UPLOAD_SLICES_DELETE,
                                           SQL_OPEN_UPLOADS_OF,       SQL_UPLOAD_DELETE};
    struct op_upload_delete *o = &op->u.upload_delete;
    const struct sql_value id = sql_int((int64_t)o->id);
    int64_t state = -1;
    enum err rc = sql_get(&s->conn, SQL_UPLOAD_STATE_OF, -1, &state, err, id);
    if (rc)
        return rc;
    o->existed = state >= 0;
    if (o->existed && state < UPLOAD_INDEXED)
        return error_set(err, ERR_CONFLICT, "the upload is not indexed yet");
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]) && o->existed && !rc; i++)
        rc = sql_run(&s->conn, steps[i], err, id);
    return rc;
}

enum err sqlite_write_refit(struct sqlite_storage *s, struct write_op *op, struct error *err)
{
    const struct op_refit *o = &op->u.refit;
    enum err rc = ERR_OK;
    for (size_t i = 0; i < o->count && !rc; i++)
        rc = sqlite_queue_refit(s, &o->shelves[i], o->all_users, err);
    return rc;
}

enum err sqlite_write_refitted(struct sqlite_storage *s, struct write_op *op, struct error *err)
{
    const struct op_refitted *o = &op->u.refitted;
    const struct sql_value uuid = sql_uuid(&o->shelf);
    enum err rc = ERR_OK;
    for (size_t i = 0; i < o->lost_count && !rc; i++)
        rc = sql_run(&s->conn, SQL_SLICE_LOST, err, sql_int((int64_t)o->lost[i]), uuid);
    if (!rc)
        rc = sql_run(&s->conn, SQL_SLICES_NOT_CURRENT, err, uuid);
    if (!rc && o->slice_id != 0) {
        rc = sql_run(&s->conn, SQL_SLICE_USE, err, sql_int((int64_t)o->slice_id), uuid,
                     sql_int((int64_t)o->index_bytes), sql_int((int64_t)o->functions));
        /* Deleted meanwhile: that queued the UUID anew. */
        if (rc || sqlite3_changes(s->conn.db) == 0)
            return rc;
        rc = sqlite_stand_in_end(s, &o->shelf, err);
    }
    if (!rc)
        rc = sql_run(&s->conn, SQL_REFIT_DONE, err, uuid);
    return rc ? rc : sqlite_queue_turn_back(s, &o->shelf, o->all_users, err);
}

/* --- objects ---------------------------------------------------------------------------------- */

enum err sqlite_write_objects(struct sqlite_storage *s, struct write_op *op, struct error *err)
{
    const struct op_objects *o = &op->u.objects;
    enum err rc = ERR_OK;
    for (size_t i = 0; i < o->used_count && !rc; i++)
        rc = sql_run(&s->conn, SQL_OBJECT_USED, err, sql_uuid(&o->used[i]), sql_int(o->now_ms));
    for (size_t i = 0; i < o->dropped_count && !rc; i++)
        rc = sql_run(&s->conn, SQL_OBJECT_DROP, err, sql_blob(o->dropped[i], SHA256_SIZE));
    return rc;
}

enum err sqlite_write_protect(struct sqlite_storage *s, struct write_op *op, struct error *err)
{
    struct op_protect *o = &op->u.protect;
    enum err rc =
        o->on ? sqlite_protect(s, o->bundle_id, o->version, o->build, o->os_build, o->now_ms, err)
              : sql_run(&s->conn, SQL_UNPROTECT, err, sql_text(o->bundle_id), sql_text(o->version),
                        sql_text(o->build), sql_text(o->os_build));
    if (!rc)
        o->existed = (sqlite3_changes(s->conn.db) > 0) != o->on;
    return rc;
}

/* --- uploads in pieces ------------------------------------------------------------------------ */

static enum err find_open(struct sqlite_storage *s, struct op_open_upload *o,
                          const struct sql_value *what, struct error *err)
{
    bool row = false;
    sqlite3_stmt *st = sql_bind(&s->conn, SQL_OPEN_UPLOAD_FIND, what, 9, err);
    enum err rc = st ? sql_step(&s->conn, st, &row, err) : err->code;
    if (rc || !row)
        return rc;
    sql_column_fixed(st, 0, o->id, sizeof(o->id));
    o->received = (uint64_t)sqlite3_column_int64(st, 1);
    o->resumed = true;
    sql_end(st);
    return sql_run(&s->conn, SQL_OPEN_UPLOAD_TOUCH, err, sql_blob(o->id, sizeof(o->id)),
                   sql_int(o->now_ms));
}

static enum err check_room(struct sqlite_storage *s, const struct op_open_upload *o,
                           struct error *err)
{
    bool row = false;
    const struct sql_value of = sql_text(o->bundle_id);
    sqlite3_stmt *st = sql_bind(&s->conn, SQL_OPEN_UPLOAD_SUMS, &of, 1, err);
    enum err rc = st ? sql_step(&s->conn, st, &row, err) : err->code;
    if (rc)
        return rc;
    uint64_t sums[4] = {0};
    for (int i = 0; row && i < 4; i++)
        sums[i] = (uint64_t)sqlite3_column_int64(st, i);
    sql_end(st);
    if (o->max_open_app && sums[2] >= o->max_open_app)
        return error_set(err, ERR_LIMIT, "too many uploads of this app are open");
    if (o->max_bytes_app && (sums[3] > o->max_bytes_app || o->size > o->max_bytes_app - sums[3]))
        return error_set(err, ERR_LIMIT,
                         "uploads of this app that are open are too large together");
    if (sums[0] >= o->max_open)
        return error_set(err, ERR_LIMIT, "too many uploads are open");
    if (sums[1] > o->max_bytes || o->size > o->max_bytes - sums[1])
        return error_set(err, ERR_LIMIT, "uploads that are open are too large together");
    return ERR_OK;
}

enum err sqlite_write_open_upload(struct sqlite_storage *s, struct write_op *op, struct error *err)
{
    struct op_open_upload *o = &op->u.open_upload;
    const struct sql_value row[] = {sql_blob(o->sha256, sizeof(o->sha256)),
                                    sql_int((int64_t)o->size),
                                    sql_text(o->bundle_id),
                                    sql_text(o->version),
                                    sql_text(o->build),
                                    sql_text(o->os_build),
                                    sql_int(o->system),
                                    sql_int(o->protect),
                                    sql_int(o->bound),
                                    sql_blob(o->id, sizeof(o->id)),
                                    sql_text(o->spool_file),
                                    sql_int(o->now_ms)};
    o->resumed = false;
    o->received = 0;
    enum err rc = find_open(s, o, row, err);
    if (rc || o->resumed)
        return rc;
    int64_t taken = 0;
    rc = check_room(s, o, err);
    if (!rc)
        rc = sql_get(&s->conn, SQL_OPEN_UPLOAD_THERE, 0, &taken, err,
                     sql_blob(o->id, sizeof(o->id)));
    if (!rc && taken)
        return error_set(err, ERR_CONFLICT, "the id is taken");
    if (!rc)
        rc = sql_run_values(&s->conn, SQL_OPEN_UPLOAD_INSERT, row, sizeof(row) / sizeof(row[0]),
                            err);
    return rc;
}

enum err sqlite_write_piece(struct sqlite_storage *s, struct write_op *op, struct error *err)
{
    const struct op_piece *o = &op->u.piece;
    const struct sql_value id = sql_blob(o->id, sizeof(o->id));
    int64_t there = 0;
    enum err rc = sql_run(&s->conn, SQL_OPEN_UPLOAD_PIECE, err, id, sql_int((int64_t)o->before),
                          sql_int((int64_t)o->received),
                          o->hash_state ? sql_blob(o->hash_state, o->hash_state_len) : sql_null(),
                          sql_int(o->now_ms));
    if (rc || sqlite3_changes(s->conn.db) > 0)
        return rc;
    rc = sql_get(&s->conn, SQL_OPEN_UPLOAD_THERE, 0, &there, err, id);
    if (rc)
        return rc;
    return there ? error_set(err, ERR_CONFLICT, "another piece came first")
                 : error_set(err, ERR_NOT_FOUND, "no such upload");
}

enum err sqlite_write_open_drop(struct sqlite_storage *s, struct write_op *op, struct error *err)
{
    struct op_open_drop *o = &op->u.open_drop;
    enum err rc = sql_run(&s->conn, SQL_OPEN_UPLOAD_DROP, err, sql_blob(o->id, sizeof(o->id)));
    if (!rc)
        o->existed = sqlite3_changes(s->conn.db) > 0;
    return rc;
}
