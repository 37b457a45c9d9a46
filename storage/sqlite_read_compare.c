/* The reports of two versions, from the counters. */
#include "storage/sqlite_figures.h"
#include "storage/sqlite_numbers.h"

static enum err add_cells(struct sqlite_reader *r, enum sql_query query,
                          const struct sql_value *values, struct row_list *cells, struct error *err)
{
    bool row = true;
    sqlite3_stmt *st = sql_bind(&r->conn, query, values, FILTER_VALUES + 2, err);
    if (!st)
        return err->code;
    for (;;) {
        enum err rc = sql_step(&r->conn, st, &row, err);
        if (rc || !row)
            return rc;
        struct compare_cell *c = cells->count < COMPARE_CELLS_MAX ? row_list_add(cells, err) : NULL;
        if (!c) {
            sql_end(st);
            return error_set(err, ERR_LIMIT, "too many clusters and days for a comparison");
        }
        *c = (struct compare_cell){
            .cluster_id = (uint64_t)sqlite3_column_int64(st, 0),
            .side = sqlite3_column_int(st, 1),
            .day = sqlite3_column_int(st, 2),
            .count = (uint64_t)sqlite3_column_int64(st, 3),
            .weighted = (double)sqlite3_column_int64(st, 4) / FIGURES_WEIGHT_ONE,
            .stall_ms = (uint64_t)sqlite3_column_int64(st, 5),
            .weighted_stall_ms =
                (uint64_t)(sqlite3_column_int64(st, 5) + sqlite3_column_int64(st, 6)),
        };
    }
}

enum err sqlite_read_compare(struct storage_reader *base, const struct read_filter *f,
                             const char *const versions[2], struct arena *arena,
                             struct compare_cell **ret, size_t *ret_count, struct error *err)
{
    struct sqlite_reader *r = sqlite_reader_of(base);
    struct sql_value values[FILTER_VALUES + 2];
    struct row_list cells;
    row_list_init(&cells, sizeof(struct compare_cell), arena);
    enum err rc = sqlite_filter_values(r, f, READ_COUNTERS, values, err);
    if (rc)
        return rc;
    values[FILTER_VALUES] = sql_text(versions[0]);
    values[FILTER_VALUES + 1] = sql_text(versions[1]);
    rc = add_cells(r, SQL_COMPARE_APP, values, &cells, err);
    if (!rc)
        rc = add_cells(r, SQL_COMPARE_CLUSTERS, values, &cells, err);
    if (rc)
        return rc;
    *ret = cells.items;
    *ret_count = cells.count;
    return ERR_OK;
}
