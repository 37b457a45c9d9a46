/* The history of clusters. */
#include "storage/read_life.h"
#include "storage/read_plan.h"
#include "storage/sqlite_read.h"

static bool fill_change(sqlite3_stmt *st, struct arena *arena, void *row)
{
    bool failed = false;
    *(struct cluster_change *)row = (struct cluster_change){
        .id = (uint64_t)sqlite3_column_int64(st, 0),
        .at_ms = sqlite3_column_int64(st, 1),
        .who = sql_column_text(st, 2, arena, &failed),
        .regression = sqlite3_column_int(st, 3) == 1,
        .from_state = sql_column_text(st, 4, arena, &failed),
        .to_state = sql_column_text(st, 5, arena, &failed),
        .resolved_in = sql_column_text(st, 6, arena, &failed),
        .resolved_build = sql_column_text(st, 7, arena, &failed),
        .note = sql_column_text(st, 8, arena, &failed),
        .version = sql_column_text(st, 9, arena, &failed),
        .build = sql_column_text(st, 10, arena, &failed),
    };
    return !failed;
}

enum err sqlite_read_cluster_history(struct storage_reader *base, uint64_t id, size_t limit,
                                     const char *cursor, struct arena *arena,
                                     struct cluster_change **ret, size_t *ret_count,
                                     const char **ret_next, struct error *err)
{
    struct sqlite_reader *r = sqlite_reader_of(base);
    struct row_list rows;
    int64_t living = 0;
    int64_t below = INT64_MAX;
    bool started = false;
    row_list_init(&rows, sizeof(**ret), arena);
    enum err rc = read_cursor_parse(cursor, 'h', &below, 1, &started, err);
    if (!rc)
        rc = sql_get(&r->conn, SQL_CLUSTER_LIVING, 0, &living, err, sql_int((int64_t)id));
    if (!rc && !living)
        return error_set(err, ERR_NOT_FOUND, "there is no cluster %llu", (unsigned long long)id);
    if (!rc)
        rc = sqlite_rows(&r->conn,
                         sql_start(&r->conn, SQL_CLUSTER_HISTORY_OF, err, sql_int(living),
                                   sql_int(started ? below : INT64_MAX),
                                   sql_int((int64_t)limit + 1)),
                         fill_change, &rows, err);
    if (rc)
        return rc;
    bool more = rows.count > limit;
    const struct cluster_change *all = rows.items;
    const int64_t last = more ? (int64_t)all[limit - 1].id : 0;
    const char *next = more ? read_cursor_make(arena, 'h', &last, 1) : NULL;
    if (more && !next)
        return error_set(err, ERR_NO_MEMORY, "no memory for a history");
    *ret = rows.items;
    *ret_count = more ? limit : rows.count;
    *ret_next = next;
    return ERR_OK;
}
