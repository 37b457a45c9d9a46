/* Reads about shelves: where indexes lie, and whom they serve. */
#include "storage/shelf.h"
#include "storage/sqlite_read.h"

enum err sqlite_read_shelf(struct storage_reader *base, const char *own, const struct uuid *image,
                           struct uuid *ret, struct error *err)
{
    struct sql_conn *c = &sqlite_reader_of(base)->conn;
    uint8_t secret[SHA256_SIZE] = {0};
    bool row = false;
    enum err rc = sql_get_fixed(c, sql_bind(c, SQL_SHELF_SECRET, NULL, 0, err), secret,
                                sizeof(secret), &row, err);
    if (rc)
        return rc;
    if (!row)
        return error_set(err, ERR_FORMAT, "the database has lost the secret of its shelves");
    *ret = shelf_of(secret, own, image);
    return ERR_OK;
}

enum err sqlite_read_shelf_image(struct storage_reader *base, const struct uuid *shelf,
                                 struct arena *arena, struct uuid *ret, const char **ret_own,
                                 struct error *err)
{
    struct sql_conn *c = &sqlite_reader_of(base)->conn;
    bool row = false, failed = false;
    const char *own = "";
    sqlite3_stmt *st = sql_start(c, SQL_SHELF_IMAGE, err, sql_uuid(shelf));
    enum err rc = st ? sql_step(c, st, &row, err) : err->code;
    *ret = *shelf;
    if (!rc && row)
        sql_column_fixed(st, 0, ret, sizeof(*ret));
    if (!rc && row && ret_own)
        own = sql_column_text(st, 1, arena, &failed);
    sql_end(st);
    if (failed)
        return error_set(err, ERR_NO_MEMORY, "no memory for the name of an app");
    if (!rc && ret_own)
        *ret_own = own;
    return rc;
}

enum err sqlite_read_shelf_for(struct storage_reader *base, const char *bundle_id,
                               const struct uuid *image, struct uuid *ret, struct error *err)
{
    struct sql_conn *c = &sqlite_reader_of(base)->conn;
    bool row = false;
    sqlite3_stmt *st = bundle_id
                           ? sql_start(c, SQL_SHELF_FOR, err, sql_uuid(image), sql_text(bundle_id))
                           : sql_start(c, SQL_SHELF_FOR_ANY, err, sql_uuid(image));
    *ret = *image;
    return sql_get_fixed(c, st, ret, sizeof(*ret), &row, err);
}

enum err sqlite_read_owns_shelves(struct storage_reader *base, const char *bundle_id, bool *ret,
                                  struct error *err)
{
    int64_t found = 0;
    enum err rc = sql_get(&sqlite_reader_of(base)->conn, SQL_SHELVES_OWNED, 0, &found, err,
                          sql_text(bundle_id));
    *ret = !rc && found != 0;
    return rc;
}
