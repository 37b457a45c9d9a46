/* The list of apps. */
#include "storage/read_apps.h"
#include "storage/read_plan.h"
#include "storage/sqlite_read.h"

static bool fill_app(sqlite3_stmt *st, struct arena *arena, void *row)
{
    struct app_row *a = row;
    bool failed = false;
    a->id = (uint64_t)sqlite3_column_int64(st, 0);
    a->bundle_id = sql_column_text(st, 1, arena, &failed);
    a->reports = (uint64_t)sqlite3_column_int64(st, 2);
    a->first_seen_ms = a->reports ? sqlite3_column_int64(st, 3) : INT64_MIN;
    a->last_seen_ms = a->reports ? sqlite3_column_int64(st, 4) : INT64_MIN;
    a->recent = (uint64_t)sqlite3_column_int64(st, 5);
    return !failed;
}

enum err sqlite_read_apps(struct storage_reader *base, const char *bundle_id, int32_t since_day,
                          size_t limit, const char *cursor, struct arena *arena,
                          struct app_row **ret, size_t *ret_count, const char **ret_next,
                          struct error *err)
{
    struct sql_conn *c = &sqlite_reader_of(base)->conn;
    struct app_row *rows = NULL;
    size_t count = 0;
    int64_t after = 0;
    bool started = false;
    enum err rc = read_cursor_parse(cursor, 'a', &after, 1, &started, err);
    if (!rc)
        rc = sqlite_row_array(c,
                              sql_start(c, SQL_APPS_PAGE, err, sql_text(bundle_id), sql_int(after),
                                        sql_int(since_day), sql_int((int64_t)limit + 1)),
                              fill_app, arena, &rows, &count, err);
    if (rc)
        return rc;
    const bool more = count > limit;
    count = more ? limit : count;
    const int64_t last = count ? (int64_t)rows[count - 1].id : 0;
    *ret_next = more ? read_cursor_make(arena, 'a', &last, 1) : NULL;
    if (more && !*ret_next)
        return error_set(err, ERR_NO_MEMORY, "no memory for an answer");
    *ret = rows;
    *ret_count = count;
    return ERR_OK;
}
