#include "storage/sqlite_stack_rows.h"

static void fill(sqlite3_stmt *st, enum fold_table table, struct fold_row *row)
{
    *row = (struct fold_row){
        .table = table,
        .key = {sqlite3_column_int64(st, 0), sqlite3_column_int64(st, 1),
                sqlite3_column_int64(st, 2)},
        .sums = {sqlite3_column_int64(st, 3), sqlite3_column_int64(st, 4),
                 sqlite3_column_int64(st, 5), sqlite3_column_int64(st, 6)},
    };
    row->hist = sqlite3_column_blob(st, 7);
    row->hist_len = (size_t)sqlite3_column_bytes(st, 7);
    if (table != FOLD_COUNTERS)
        return;
    row->hours = sqlite3_column_blob(st, 8);
    row->hours_len = (size_t)sqlite3_column_bytes(st, 8);
}

enum err sqlite_stack_rows(struct sqlite_storage *s, enum fold_table table, int64_t stack_id,
                           fold_row_visit *visit, void *ctx, struct error *err)
{
    static const enum sql_query queries[] = {[FOLD_COUNTERS] = SQL_STACK_COUNTERS,
                                             [FOLD_DEVICES] = SQL_STACK_DEVICES,
                                             [FOLD_PAGES] = SQL_STACK_PAGES};
    sqlite3_stmt *st = sql_start(&s->conn, queries[table], err, sql_int(stack_id));
    if (!st)
        return err->code;
    for (bool row = true;;) {
        struct fold_row counts;
        enum err rc = sql_step(&s->conn, st, &row, err);
        if (rc || !row)
            return rc;
        fill(st, table, &counts);
        rc = visit(ctx, &counts, err);
        if (rc) {
            sql_end(st);
            return rc;
        }
    }
}
