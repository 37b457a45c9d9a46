/* Stand-ins: WRITE_STAND_IN, and what ends or disturbs one. */
#include "storage/sqlite_images.h"
#include "storage/sqlite_read.h"

enum err sqlite_stand_in_end(struct sqlite_storage *s, const struct uuid *uuid, struct error *err)
{
    return sql_run(&s->conn, SQL_STAND_IN_END, err, sql_uuid(uuid));
}

enum err sqlite_stand_in_changed(struct sqlite_storage *s, const struct uuid *uuid,
                                 struct error *err)
{
    return sql_run(&s->conn, SQL_STAND_IN_USERS_REPEND, err, sql_uuid(uuid));
}

/* Stacks of the UUID are resolved anew, those under way, too. */
static enum err turn_back(struct sqlite_storage *s, const struct op_stand_in *o, struct error *err)
{
    enum err rc =
        sql_run(&s->conn, SQL_STAND_IN_REPEND, err, sql_uuid(&o->uuid), sql_text(o->bundle_id));
    return rc ? rc : sqlite_disturb_pending(s, &o->uuid, err);
}

static enum err check(struct sqlite_storage *s, const struct op_stand_in *o, struct error *err)
{
    int64_t there = 0;
    int64_t wanted = 0;
    int64_t differs = 0;
    int64_t count = 0;
    const struct sql_value app = sql_text(o->bundle_id);
    enum err rc = sql_get(&s->conn, SQL_SYMBOL_SERVES, 0, &wanted, err, sql_uuid(&o->uuid), app);
    if (!rc)
        rc = sql_get(&s->conn, SQL_STAND_IN_INDEXED, 0, &there, err, sql_uuid(&o->stand_in), app);
    if (!rc)
        rc = sql_get(&s->conn, SQL_STAND_IN_DIFFERS, 0, &differs, err, sql_uuid(&o->stand_in), app,
                     sql_uuid(&o->uuid));
    if (!rc)
        rc = sql_get_values(&s->conn, SQL_STAND_IN_COUNT, NULL, 0, 0, &count, err);
    if (rc)
        return rc;
    if (wanted)
        return error_set(err, ERR_CONFLICT, "its own symbol file is here");
    if (!there)
        return error_set(err, ERR_NOT_FOUND, "no symbol file with the UUID of the stand-in");
    if (differs)
        return error_set(err, ERR_CONFLICT,
                         "the stand-in is of another image name or architecture");
    return count < STAND_INS_MAX
               ? ERR_OK
               : error_set(err, ERR_LIMIT, "there are %d stand-ins already", STAND_INS_MAX);
}

/* Whether there are any that the op is about, and whether it says what is so already. */
static enum err look(struct sqlite_storage *s, const struct op_stand_in *o, bool *ret_existed,
                     bool *ret_same, struct error *err)
{
    bool row = false;
    int64_t kept = 0;
    if (o->on && !o->by_hand) {
        enum err rc = sql_get(&s->conn, SQL_STAND_IN_THERE, 0, &kept, err, sql_uuid(&o->uuid),
                              sql_text(o->bundle_id));
        *ret_existed = kept != 0;
        return rc;
    }
    sqlite3_stmt *st = sql_start(&s->conn, SQL_STAND_INS_AT, err, sql_uuid(&o->uuid),
                                 sql_text(o->bundle_id), sql_uuid(&o->stand_in));
    enum err rc = st ? sql_step(&s->conn, st, &row, err) : err->code;
    if (rc || !row)
        return rc;
    const int64_t count = sqlite3_column_int64(st, 0);
    *ret_existed = count > 0;
    *ret_same = count == 1 && sqlite3_column_int(st, 1) == 1;
    sql_end(st);
    return ERR_OK;
}

enum err sqlite_write_stand_in(struct sqlite_storage *s, struct write_op *op, struct error *err)
{
    struct op_stand_in *o = &op->u.stand_in;
    const struct sql_value app = sql_text(o->bundle_id);
    bool same = false;
    o->existed = o->changed = false;
    enum err rc = look(s, o, &o->existed, &same, err);
    if (rc || (!o->on && !o->existed) || (o->on && o->existed && !o->by_hand))
        return rc;
    if (o->on && uuid_equal(&o->uuid, &o->stand_in))
        return error_set(err, ERR_CONFLICT, "a symbol file cannot stand in for itself");
    if (o->on)
        rc = check(s, o, err);
    if (!rc)
        rc = sql_run(&s->conn, SQL_STAND_IN_DELETE, err, sql_uuid(&o->uuid), app);
    if (!rc && o->on)
        rc = sql_run(&s->conn, SQL_STAND_IN_SET, err, sql_uuid(&o->uuid), app,
                     sql_uuid(&o->stand_in), sql_int(o->by_hand), sql_int(o->now_ms));
    if (rc)
        return rc;
    o->changed = !o->on || !same;
    return o->changed ? turn_back(s, o, err) : ERR_OK;
}

static bool fill_stand_in(sqlite3_stmt *st, struct arena *arena, void *row)
{
    struct stand_in_row *x = row;
    bool failed = false;
    sql_column_fixed(st, 0, &x->uuid, sizeof(x->uuid));
    x->bundle_id = sql_column_text(st, 1, arena, &failed);
    sql_column_fixed(st, 2, &x->stand_in, sizeof(x->stand_in));
    x->by_hand = sqlite3_column_int(st, 3);
    x->created_ms = sqlite3_column_int64(st, 4);
    return !failed;
}

enum err sqlite_read_stand_ins(struct storage_reader *base, const struct uuid *uuid,
                               struct arena *arena, struct stand_in_row **ret, size_t *ret_count,
                               struct error *err)
{
    struct sql_conn *c = &sqlite_reader_of(base)->conn;
    sqlite3_stmt *st = sql_start(c, SQL_STAND_INS_ALL, err, uuid ? sql_uuid(uuid) : sql_null());
    return sqlite_row_array(c, st, fill_stand_in, arena, ret, ret_count, err);
}
