#include "storage/sqlite_stack_rows.h"

#include "storage/sqlite_rows.h"

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

struct counting {
    enum fold_table table;
    fold_row_visit *visit;
    void *ctx;
};

static enum err visit_row(void *ctx, sqlite3_stmt *st, struct error *err)
{
    const struct counting *c = ctx;
    struct fold_row counts;
    fill(st, c->table, &counts);
    return c->visit(c->ctx, &counts, err);
}

enum err sqlite_stack_rows(struct sqlite_storage *s, enum fold_table table, int64_t stack_id,
                           fold_row_visit *visit, void *ctx, struct error *err)
{
    static const enum sql_query queries[] = {[FOLD_COUNTERS] = SQL_STACK_COUNTERS,
                                             [FOLD_DEVICES] = SQL_STACK_DEVICES,
                                             [FOLD_PAGES] = SQL_STACK_PAGES};
    struct counting c = {table, visit, ctx};
    return sqlite_each_row(&s->conn, sql_start(&s->conn, queries[table], err, sql_int(stack_id)),
                           visit_row, &c, err);
}
