/* The history of clusters. */
#include "storage/read_life.h"
#include "storage/read_plan.h"
#include "storage/sqlite_read.h"

static bool fill_change(sqlite3_stmt *st, struct arena *arena, struct cluster_change *c)
{
    bool failed = false;
    *c = (struct cluster_change){
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

static enum err read_changes(struct sqlite_reader *r, int64_t cluster_id, int64_t below,
                             size_t limit, struct row_list *rows, struct error *err)
{
    bool row = true;
    sqlite3_stmt *st = sql_start(&r->conn, SQL_CLUSTER_HISTORY_OF, err, sql_int(cluster_id),
                                 sql_int(below), sql_int((int64_t)limit));
    if (!st)
        return err->code;
    for (;;) {
        enum err rc = sql_step(&r->conn, st, &row, err);
        if (rc || !row)
            return rc;
        struct cluster_change *c = row_list_add(rows, err);
        if (!c || !fill_change(st, rows->arena, c)) {
            sql_end(st);
            return error_set(err, ERR_NO_MEMORY, "no memory for a history");
        }
    }
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
    row_list_init(&rows, sizeof(struct cluster_change), arena);
    enum err rc = read_cursor_parse(cursor, 'h', &below, 1, &started, err);
    if (!rc)
        rc = sql_get(&r->conn, SQL_CLUSTER_LIVING, 0, &living, err, sql_int((int64_t)id));
    if (!rc && !living)
        return error_set(err, ERR_NOT_FOUND, "there is no cluster %llu", (unsigned long long)id);
    if (!rc)
        rc = read_changes(r, living, started ? below : INT64_MAX, limit + 1, &rows, err);
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
