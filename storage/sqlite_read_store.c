/* Reads about the symbol store: refits, stacks to turn back, idle objects, protected builds,
 * uploads in pieces. */
#include "storage/sqlite_read.h"

static bool fill_refit(sqlite3_stmt *st, struct arena *arena, void *row)
{
    struct refit_row *x = row;
    (void)arena;
    sql_column_fixed(st, 0, &x->shelf, sizeof(x->shelf));
    x->deleted = sqlite3_column_int(st, 1);
    return true;
}

enum err sqlite_read_refits(struct storage_reader *r, size_t limit, struct arena *arena,
                            struct refit_row **ret, size_t *ret_count, struct error *err)
{
    struct sql_conn *c = &sqlite_reader_of(r)->conn;
    sqlite3_stmt *st = sql_start(c, SQL_REFITS, err, sql_int((int64_t)limit));
    return sqlite_row_array(c, st, fill_refit, arena, ret, ret_count, err);
}

static bool fill_turn_back(sqlite3_stmt *st, struct arena *arena, void *row)
{
    struct turn_back_row *x = row;
    (void)arena;
    sql_column_fixed(st, 0, &x->uuid, sizeof(x->uuid));
    x->all_users = sqlite3_column_int(st, 1);
    return true;
}

enum err sqlite_read_turn_backs(struct storage_reader *r, size_t limit, struct arena *arena,
                                struct turn_back_row **ret, size_t *ret_count, struct error *err)
{
    struct sql_conn *c = &sqlite_reader_of(r)->conn;
    sqlite3_stmt *st = sql_start(c, SQL_TURN_BACKS, err, sql_int((int64_t)limit));
    return sqlite_row_array(c, st, fill_turn_back, arena, ret, ret_count, err);
}

static bool fill_object(sqlite3_stmt *st, struct arena *arena, void *row)
{
    struct object_row *x = row;
    (void)arena;
    sql_column_fixed(st, 0, x->sha256, sizeof(x->sha256));
    x->bytes = (uint64_t)sqlite3_column_int64(st, 1);
    x->used_ms = sqlite3_column_int64(st, 2);
    return true;
}

enum err sqlite_read_idle_objects(struct storage_reader *r, int64_t app_before_ms,
                                  int64_t system_before_ms, size_t limit, struct arena *arena,
                                  struct object_row **ret, size_t *ret_count, struct error *err)
{
    struct sql_conn *c = &sqlite_reader_of(r)->conn;
    sqlite3_stmt *st = sql_start(c, SQL_OBJECTS_IDLE, err, sql_int(app_before_ms),
                                 sql_int(system_before_ms), sql_int((int64_t)limit));
    return sqlite_row_array(c, st, fill_object, arena, ret, ret_count, err);
}

static bool fill_holder(sqlite3_stmt *st, struct arena *arena, void *row)
{
    struct object_holder_row *x = row;
    bool failed = false;
    x->bundle_id = sql_column_text(st, 0, arena, &failed);
    x->bytes = (uint64_t)sqlite3_column_int64(st, 1);
    x->fixed = (uint64_t)sqlite3_column_int64(st, 2);
    return !failed;
}

enum err sqlite_read_object_holders(struct storage_reader *r, struct arena *arena,
                                    struct object_holder_row **ret, size_t *ret_count,
                                    struct error *err)
{
    struct sql_conn *c = &sqlite_reader_of(r)->conn;
    sqlite3_stmt *st = sql_bind(c, SQL_OBJECT_HOLDERS, NULL, 0, err);
    return sqlite_row_array(c, st, fill_holder, arena, ret, ret_count, err);
}

enum err sqlite_read_held_objects(struct storage_reader *r, const char *holder, size_t limit,
                                  struct arena *arena, struct object_row **ret, size_t *ret_count,
                                  struct error *err)
{
    struct sql_conn *c = &sqlite_reader_of(r)->conn;
    sqlite3_stmt *st =
        sql_start(c, SQL_OBJECTS_HELD, err, sql_text(holder), sql_int((int64_t)limit));
    return sqlite_row_array(c, st, fill_object, arena, ret, ret_count, err);
}

enum err sqlite_read_object_totals(struct storage_reader *r, const char *bundle_id,
                                   struct object_totals *ret, struct error *err)
{
    struct sql_conn *c = &sqlite_reader_of(r)->conn;
    bool row = false;
    sqlite3_stmt *st = sql_start(c, SQL_OBJECT_TOTALS, err, sql_text(bundle_id));
    enum err rc = st ? sql_step(c, st, &row, err) : err->code;
    if (rc || !row)
        return rc;
    *ret = (struct object_totals){.files = (uint64_t)sqlite3_column_int64(st, 0),
                                  .bytes = (uint64_t)sqlite3_column_int64(st, 1),
                                  .system_files = (uint64_t)sqlite3_column_int64(st, 2),
                                  .system_bytes = (uint64_t)sqlite3_column_int64(st, 3),
                                  .index_bytes = (uint64_t)sqlite3_column_int64(st, 4)};
    sql_end(st);
    return ERR_OK;
}

enum err sqlite_read_kept_index_bytes(struct storage_reader *r, const char *bundle_id,
                                      uint64_t *ret, struct error *err)
{
    int64_t bytes = 0;
    enum err rc = sql_get(&sqlite_reader_of(r)->conn, SQL_KEPT_INDEX_BYTES, 0, &bytes, err,
                          sql_text(bundle_id));
    *ret = (uint64_t)bytes;
    return rc;
}

static bool fill_protected(sqlite3_stmt *st, struct arena *arena, void *row)
{
    struct protected_row *x = row;
    bool failed = false;
    x->bundle_id = sql_column_text(st, 0, arena, &failed);
    x->version = sql_column_text(st, 1, arena, &failed);
    x->build = sql_column_text(st, 2, arena, &failed);
    x->os_build = sql_column_text(st, 3, arena, &failed);
    x->created_ms = sqlite3_column_int64(st, 4);
    return !failed;
}

enum err sqlite_read_protected(struct storage_reader *r, const char *bundle_id, struct arena *arena,
                               struct protected_row **ret, size_t *ret_count, struct error *err)
{
    struct sql_conn *c = &sqlite_reader_of(r)->conn;
    sqlite3_stmt *st = sql_start(c, SQL_PROTECTED_ALL, err, sql_text(bundle_id));
    return sqlite_row_array(c, st, fill_protected, arena, ret, ret_count, err);
}

static bool fill_open(sqlite3_stmt *st, struct arena *arena, void *row)
{
    struct open_upload_row *x = row;
    bool failed = false;
    sql_column_fixed(st, 0, x->id, sizeof(x->id));
    sql_column_fixed(st, 1, x->sha256, sizeof(x->sha256));
    x->size = (uint64_t)sqlite3_column_int64(st, 2);
    x->received = (uint64_t)sqlite3_column_int64(st, 3);
    x->spool_file = sql_column_text(st, 4, arena, &failed);
    x->bundle_id = sql_column_text(st, 5, arena, &failed);
    x->version = sql_column_text(st, 6, arena, &failed);
    x->build = sql_column_text(st, 7, arena, &failed);
    x->os_build = sql_column_text(st, 8, arena, &failed);
    x->system = sqlite3_column_int(st, 9);
    x->protect = sqlite3_column_int(st, 10);
    x->hash_state = sql_column_blob(st, 11, arena, &x->hash_state_len, &failed);
    x->touched_ms = sqlite3_column_int64(st, 12);
    x->upload_id = (uint64_t)sqlite3_column_int64(st, 13);
    x->bound = sqlite3_column_int(st, 14);
    return !failed;
}

enum err sqlite_read_open_upload(struct storage_reader *r, const uint8_t id[OPEN_UPLOAD_ID_SIZE],
                                 struct arena *arena, struct open_upload_row *ret,
                                 struct error *err)
{
    struct sql_conn *c = &sqlite_reader_of(r)->conn;
    struct open_upload_row *rows = NULL;
    size_t count = 0;
    sqlite3_stmt *st = sql_start(c, SQL_OPEN_UPLOAD_GET, err, sql_blob(id, OPEN_UPLOAD_ID_SIZE));
    enum err rc = sqlite_row_array(c, st, fill_open, arena, &rows, &count, err);
    if (!rc && count == 0)
        return error_set(err, ERR_NOT_FOUND, "no such upload");
    if (!rc)
        *ret = rows[0];
    return rc;
}

enum err sqlite_read_open_uploads(struct storage_reader *r, const uint8_t *after, int64_t before_ms,
                                  size_t limit, struct arena *arena, struct open_upload_row **ret,
                                  size_t *ret_count, struct error *err)
{
    struct sql_conn *c = &sqlite_reader_of(r)->conn;
    sqlite3_stmt *st =
        sql_start(c, SQL_OPEN_UPLOADS_BEFORE, err, sql_int(before_ms), sql_int((int64_t)limit),
                  after ? sql_blob(after, OPEN_UPLOAD_ID_SIZE) : sql_null());
    return sqlite_row_array(c, st, fill_open, arena, ret, ret_count, err);
}
