#include "storage/sqlite_stack_rows.h"

#include "storage/sqlite_rows.h"

#define GAP_MAX 4 /* of ids in one range */

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

/* Ids from `at` on, close together. */
struct run {
    const int64_t *ids;
    size_t at;
    enum fold_table table;
    stack_row_visit *visit;
    void *ctx;
};

static enum err visit_row(void *ctx, sqlite3_stmt *st, struct error *err)
{
    struct run *r = ctx;
    struct fold_row row;
    const int64_t id = sqlite3_column_int64(st, 0);
    while (r->ids[r->at] < id) /* none is beyond the last of the run */
        r->at++;
    if (r->ids[r->at] != id)
        return ERR_OK;
    fill(st, r->table, &row);
    return r->visit(r->ctx, r->at, &row, err);
}

enum err sqlite_stack_rows(struct sqlite_storage *s, enum fold_table table,
                           const struct stack_ids *stacks, stack_row_visit *visit, void *ctx,
                           struct error *err)
{
    static const enum sql_query queries[] = {[FOLD_COUNTERS] = SQL_STACK_COUNTERS,
                                             [FOLD_DEVICES] = SQL_STACK_DEVICES,
                                             [FOLD_PAGES] = SQL_STACK_PAGES};
    const int64_t *ids = stacks->ids;
    enum err rc = ERR_OK;
    for (size_t at = 0, end; at < stacks->count && !rc; at = end) {
        struct run run = {ids, at, table, visit, ctx};
        for (end = at + 1; end < stacks->count && ids[end] - ids[end - 1] <= GAP_MAX;)
            end++;
        rc = sqlite_each_row(
            &s->conn,
            sql_start(&s->conn, queries[table], err, sql_int(ids[at]), sql_int(ids[end - 1])),
            visit_row, &run, err);
    }
    return rc;
}
