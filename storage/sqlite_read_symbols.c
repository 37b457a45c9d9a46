/* Reads about symbol files: uploads, slices, and what reports wait for. */
#include "storage/read_plan.h"
#include "storage/sqlite_read.h"

static enum err no_memory(struct error *err)
{
    return error_set(err, ERR_NO_MEMORY, "no memory for an answer");
}

/* Columns as every slice query gives them. */
static bool fill_slice(sqlite3_stmt *st, struct arena *arena, void *row)
{
    struct slice_row *x = row;
    bool failed = false;
    x->id = (uint64_t)sqlite3_column_int64(st, 0);
    x->upload_id = (uint64_t)sqlite3_column_int64(st, 1);
    sql_column_fixed(st, 2, &x->shelf, sizeof(x->shelf));
    x->name = sql_column_text(st, 3, arena, &failed);
    x->member = sql_column_text(st, 4, arena, &failed);
    x->arch = sql_column_text(st, 5, arena, &failed);
    x->reason = sql_column_text(st, 6, arena, &failed);
    x->indexed = sqlite3_column_int(st, 7);
    x->current = sqlite3_column_int(st, 8);
    x->has_dwarf = sqlite3_column_int(st, 9);
    x->functions = (uint64_t)sqlite3_column_int64(st, 10);
    x->lines = (uint64_t)sqlite3_column_int64(st, 11);
    x->inlines = (uint64_t)sqlite3_column_int64(st, 12);
    x->index_bytes = (uint64_t)sqlite3_column_int64(st, 13);
    x->text_vmaddr = (uint64_t)sqlite3_column_int64(st, 14);
    x->text_size = (uint64_t)sqlite3_column_int64(st, 15);
    sql_column_fixed(st, 16, x->object_sha256, sizeof(x->object_sha256));
    x->object_bytes = (uint64_t)sqlite3_column_int64(st, 17);
    x->created_ms = sqlite3_column_int64(st, 18);
    x->system = sqlite3_column_int(st, 19);
    x->bundle_id = sql_column_text(st, 20, arena, &failed);
    x->version = sql_column_text(st, 21, arena, &failed);
    x->build = sql_column_text(st, 22, arena, &failed);
    x->os_build = sql_column_text(st, 23, arena, &failed);
    x->lost = sqlite3_column_int(st, 24);
    x->object_kept = sqlite3_column_int(st, 25);
    x->bound = sqlite3_column_int(st, 26);
    sql_column_fixed(st, 27, &x->image, sizeof(x->image));
    return !failed;
}

enum err sqlite_read_upload(struct storage_reader *base, uint64_t id, struct arena *arena,
                            struct upload_row *ret, struct error *err)
{
    struct sql_conn *c = &sqlite_reader_of(base)->conn;
    bool row = false;
    bool failed = false;
    sqlite3_stmt *st = sql_start(c, SQL_UPLOAD_GET, err, sql_int((int64_t)id));
    enum err rc = st ? sql_step(c, st, &row, err) : err->code;
    if (rc)
        return rc;
    if (!row)
        return error_set(err, ERR_NOT_FOUND, "there is no upload %llu", (unsigned long long)id);
    struct upload_row u = {
        .id = id,
        .state = (enum upload_state)sqlite3_column_int(st, 0),
        .reason = sql_column_text(st, 1, arena, &failed),
        .spool_file = sql_column_text(st, 2, arena, &failed),
        .size = (uint64_t)sqlite3_column_int64(st, 4),
        .created_ms = sqlite3_column_int64(st, 5),
        .system = sqlite3_column_int(st, 6),
        .bundle_id = sql_column_text(st, 7, arena, &failed),
        .bound = sqlite3_column_int(st, 8),
    };
    sql_column_fixed(st, 3, u.sha256, sizeof(u.sha256));
    sql_end(st);
    if (failed)
        return no_memory(err);
    st = sql_start(c, SQL_UPLOAD_SLICES, err, sql_int((int64_t)id));
    rc = sqlite_row_array(c, st, fill_slice, arena, &u.slices, &u.slice_count, err);
    if (rc)
        return rc;
    *ret = u;
    return ERR_OK;
}

enum err sqlite_read_upload_by_sha256(struct storage_reader *base,
                                      const uint8_t sha256[SHA256_SIZE],
                                      const struct upload_origin *origin, struct arena *arena,
                                      struct upload_row *ret, struct error *err)
{
    int64_t id = 0;
    enum err rc =
        sql_get(&sqlite_reader_of(base)->conn, SQL_UPLOAD_BY_SHA256, 0, &id, err,
                sql_blob(sha256, SHA256_SIZE), sql_text(origin->bundle_id),
                sql_text(origin->version), sql_text(origin->build), sql_text(origin->os_build),
                sql_int(origin->system), sql_int(origin->bound));
    if (rc)
        return rc;
    if (id == 0)
        return error_set(err, ERR_NOT_FOUND, "this file was not indexed before");
    return sqlite_read_upload(base, (uint64_t)id, arena, ret, err);
}

static bool fill_waiting(sqlite3_stmt *st, struct arena *arena, void *row)
{
    bool failed = false;
    struct upload_waiting *w = row;
    w->id = (uint64_t)sqlite3_column_int64(st, 0);
    w->bundle_id = sql_column_text(st, 1, arena, &failed);
    return !failed;
}

enum err sqlite_read_uploads_waiting(struct storage_reader *base, struct arena *arena,
                                     struct upload_waiting **ret, size_t *ret_count,
                                     struct error *err)
{
    struct sql_conn *c = &sqlite_reader_of(base)->conn;
    return sqlite_row_array(c, sql_bind(c, SQL_UPLOADS_WAITING, NULL, 0, err), fill_waiting, arena,
                            ret, ret_count, err);
}

enum err sqlite_read_symbols_present(struct storage_reader *base, const char *bundle_id,
                                     const struct uuid *uuids, size_t count, bool *present,
                                     struct error *err)
{
    for (size_t i = 0; i < count; i++) {
        int64_t found = 0;
        enum err rc = sql_get(&sqlite_reader_of(base)->conn, SQL_SYMBOL_SERVES, 0, &found, err,
                              sql_uuid(&uuids[i]), sql_text(bundle_id));
        if (rc)
            return rc;
        present[i] = found != 0;
    }
    return ERR_OK;
}

enum err sqlite_read_symbols(struct storage_reader *base, const char *bundle_id, size_t limit,
                             const char *cursor, struct arena *arena, struct slice_row **ret,
                             size_t *ret_count, const char **ret_next, struct error *err)
{
    struct sql_conn *c = &sqlite_reader_of(base)->conn;
    struct slice_row *rows = NULL;
    size_t count = 0;
    bool started = false;
    int64_t before = INT64_MAX;
    int64_t last = 0;
    int64_t more = 0;
    const char *next = NULL;
    enum err rc = read_cursor_parse(cursor, 's', &before, 1, &started, err);
    if (rc)
        return rc;
    sqlite3_stmt *st = sql_start(c, SQL_SYMBOLS_PAGE, err, sql_text(bundle_id),
                                 sql_int(started ? before : INT64_MAX), sql_int((int64_t)limit));
    rc = sqlite_row_array(c, st, fill_slice, arena, &rows, &count, err);
    if (!rc && count > 0)
        last = (int64_t)rows[count - 1].id;
    if (!rc && count == limit)
        rc = sql_get(c, SQL_SYMBOLS_MORE, 0, &more, err, sql_text(bundle_id), sql_int(last));
    if (!rc && more && !(next = read_cursor_make(arena, 's', &last, 1)))
        rc = no_memory(err);
    if (rc)
        return rc;
    *ret = rows;
    *ret_count = count;
    *ret_next = next;
    return ERR_OK;
}

/* Slices of a UUID. */
static enum err read_slices(struct storage_reader *base, sqlite3_stmt *st, struct arena *arena,
                            struct slice_row **ret, size_t *ret_count, struct error *err)
{
    struct slice_row *rows = NULL;
    size_t count = 0;
    enum err rc =
        sqlite_row_array(&sqlite_reader_of(base)->conn, st, fill_slice, arena, &rows, &count, err);
    if (rc)
        return rc;
    if (count == 0)
        return error_set(err, ERR_NOT_FOUND, "no symbol file of this UUID was ever indexed");
    *ret = rows;
    *ret_count = count;
    return ERR_OK;
}

enum err sqlite_read_symbol(struct storage_reader *base, const struct uuid *uuid,
                            struct arena *arena, struct slice_row **ret, size_t *ret_count,
                            struct error *err)
{
    return read_slices(
        base, sql_start(&sqlite_reader_of(base)->conn, SQL_SYMBOL_GET, err, sql_uuid(uuid)), arena,
        ret, ret_count, err);
}

enum err sqlite_read_symbol_files(struct storage_reader *base, const char *bundle_id,
                                  const struct uuid *image, struct arena *arena,
                                  struct slice_row **ret, size_t *ret_count, struct error *err)
{
    return read_slices(base,
                       sql_start(&sqlite_reader_of(base)->conn, SQL_SYMBOL_FILES, err,
                                 sql_uuid(image), sql_text(bundle_id)),
                       arena, ret, ret_count, err);
}

static bool fill_object(sqlite3_stmt *st, struct arena *arena, void *row)
{
    struct known_object *x = row;
    (void)arena;
    sql_column_fixed(st, 0, &x->uuid, sizeof(x->uuid));
    sql_column_fixed(st, 1, x->sha256, sizeof(x->sha256));
    return true;
}

enum err sqlite_read_known_objects(struct storage_reader *base, struct arena *arena,
                                   struct known_object **ret, size_t *ret_count, struct error *err)
{
    struct sql_conn *c = &sqlite_reader_of(base)->conn;
    sqlite3_stmt *st = sql_start(c, SQL_OBJECTS_KNOWN, err, sql_int((int64_t)KNOWN_OBJECTS_MAX));
    return sqlite_row_array(c, st, fill_object, arena, ret, ret_count, err);
}
