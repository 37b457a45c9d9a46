#include "storage/sqlite_stack_rows.h"

static void fill(sqlite3_stmt *st, enum fold_table table, struct fold_row *row)
{
    *row = (struct fold_row){
        .table = table,
        .key = {sqlite3_column_int64(st, 1), sqlite3_column_int64(st, 2),
                sqlite3_column_int64(st, 3)},
        .sums = {sqlite3_column_int64(st, 4), sqlite3_column_int64(st, 5),
                 sqlite3_column_int64(st, 6), sqlite3_column_int64(st, 7)},
    };
    row->hist = sqlite3_column_blob(st, 8);
    row->hist_len = (size_t)sqlite3_column_bytes(st, 8);
    if (table != FOLD_COUNTERS)
        return;
    row->hours = sqlite3_column_blob(st, 9);
    row->hours_len = (size_t)sqlite3_column_bytes(st, 9);
}

struct reading {
    enum fold_table table;
    stack_row_visit *visit;
    void *ctx;
};

static enum err visit_row(void *ctx, size_t at, sqlite3_stmt *st, struct error *err)
{
    const struct reading *r = ctx;
    struct fold_row row;
    fill(st, r->table, &row);
    return r->visit(r->ctx, at, &row, err);
}

enum err sqlite_stack_rows(struct sqlite_storage *s, enum fold_table table,
                           const struct sql_ids *stacks, stack_row_visit *visit, void *ctx,
                           struct error *err)
{
    static const enum sql_query queries[] = {[FOLD_COUNTERS] = SQL_STACK_COUNTERS,
                                             [FOLD_DEVICES] = SQL_STACK_DEVICES,
                                             [FOLD_PAGES] = SQL_STACK_PAGES};
    struct reading r = {table, visit, ctx};
    return sqlite_read_ids(&s->conn, queries[table], stacks, visit_row, &r, err);
}
