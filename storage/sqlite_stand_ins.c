/* Stand-ins: WRITE_STAND_IN, and what ends or disturbs one. */
#include "storage/sqlite_images.h"
#include "storage/sqlite_read.h"

static struct sql_value uuid_value(const struct uuid *u)
{
    return sql_blob(u->bytes, sizeof(u->bytes));
}

enum err sqlite_stand_in_end(struct sqlite_storage *s, const struct uuid *uuid, struct error *err)
{
    return sql_run(&s->conn, SQL_STAND_IN_DELETE, err, uuid_value(uuid));
}

enum err sqlite_stand_in_changed(struct sqlite_storage *s, const struct uuid *uuid,
                                 struct error *err)
{
    return sql_run(&s->conn, SQL_STAND_IN_USERS_REPEND, err, uuid_value(uuid));
}

/* Stacks of the UUID are resolved anew, those under way, too. */
static enum err turn_back(struct sqlite_storage *s, const struct uuid *uuid, struct error *err)
{
    enum err rc = sql_run(&s->conn, SQL_STAND_IN_REPEND, err, uuid_value(uuid));
    return rc ? rc : sqlite_disturb_pending(s, uuid, err);
}

static enum err check(struct sqlite_storage *s, const struct op_stand_in *o, struct error *err)
{
    int64_t there = 0;
    int64_t wanted = 0;
    int64_t differs = 0;
    int64_t count = 0;
    enum err rc = sql_get(&s->conn, SQL_SYMBOL_PRESENT, 0, &wanted, err, uuid_value(&o->uuid));
    if (!rc)
        rc = sql_get(&s->conn, SQL_SYMBOL_ANYWHERE, 0, &there, err, uuid_value(&o->stand_in));
    if (!rc)
        rc = sql_get(&s->conn, SQL_STAND_IN_DIFFERS, 0, &differs, err, uuid_value(&o->uuid),
                     uuid_value(&o->stand_in));
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

/* Which one there is. */
static enum err old_one(struct sqlite_storage *s, const struct uuid *uuid, bool *ret_existed,
                        struct uuid *ret, bool *ret_by_hand, struct error *err)
{
    bool row = false;
    sqlite3_stmt *st = sql_start(&s->conn, SQL_STAND_IN_GET, err, uuid_value(uuid));
    enum err rc = st ? sql_step(&s->conn, st, &row, err) : err->code;
    if (rc || !row)
        return rc;
    *ret_existed = true;
    sql_column_fixed(st, 0, ret, sizeof(*ret));
    *ret_by_hand = sqlite3_column_int(st, 1);
    sql_end(st);
    return ERR_OK;
}

enum err sqlite_write_stand_in(struct sqlite_storage *s, struct write_op *op, struct error *err)
{
    struct op_stand_in *o = &op->u.stand_in;
    struct uuid old = {{0}};
    bool by_hand = false;
    o->existed = o->changed = false;
    enum err rc = old_one(s, &o->uuid, &o->existed, &old, &by_hand, err);
    if (rc || (!o->on && !o->existed) || (o->on && o->existed && !o->by_hand))
        return rc;
    if (!o->on)
        rc = sqlite_stand_in_end(s, &o->uuid, err);
    else if (uuid_equal(&o->uuid, &o->stand_in))
        return error_set(err, ERR_CONFLICT, "a symbol file cannot stand in for itself");
    else if (!(rc = check(s, o, err)))
        rc = sql_run(&s->conn, SQL_STAND_IN_SET, err, uuid_value(&o->uuid),
                     uuid_value(&o->stand_in), sql_int(o->by_hand), sql_int(o->now_ms));
    if (rc)
        return rc;
    o->changed = !o->on || !o->existed || !uuid_equal(&old, &o->stand_in);
    return o->changed ? turn_back(s, &o->uuid, err) : ERR_OK;
}

static bool fill_stand_in(sqlite3_stmt *st, struct arena *arena, void *row)
{
    struct stand_in_row *x = row;
    (void)arena;
    sql_column_fixed(st, 0, &x->uuid, sizeof(x->uuid));
    sql_column_fixed(st, 1, &x->stand_in, sizeof(x->stand_in));
    x->by_hand = sqlite3_column_int(st, 2);
    x->created_ms = sqlite3_column_int64(st, 3);
    return true;
}

enum err sqlite_read_stand_ins(struct storage_reader *base, const struct uuid *uuid,
                               struct arena *arena, struct stand_in_row **ret, size_t *ret_count,
                               struct error *err)
{
    struct sql_conn *c = &sqlite_reader_of(base)->conn;
    sqlite3_stmt *st = sql_start(c, SQL_STAND_INS_ALL, err, uuid ? uuid_value(uuid) : sql_null());
    return sqlite_row_array(c, st, fill_stand_in, arena, ret, ret_count, err);
}
