/* The reports of two versions, from the roll-ups of clusters; from the counters when those cannot
 * tell. */
#include <stdlib.h>
#include <string.h>

#include "storage/sqlite_dict.h"
#include "storage/sqlite_numbers.h"
#include "storage/sqlite_rolled.h"

/* Sums of a cell while it is added up. */
struct day_sums {
    int side;
    int32_t day;
    int64_t count, weighted, stall_ms, above_ms;
};

/* What is compared. */
struct cells {
    struct row_list rows;
    struct row_list hidden; /* ids of clusters that are left out, ascending */
};

struct collector {
    struct cells *cells;
    struct row_list second; /* rows of dict of the second version */
    uint64_t cluster_id;    /* that `days` are of */
    struct day_sums *days;
    size_t count, cap;
    struct arena *arena;
};

static int by_id(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static enum err add_cell(struct cells *cells, uint64_t cluster_id, const struct day_sums *d,
                         struct error *err)
{
    if (cells->hidden.count &&
        bsearch(&cluster_id, cells->hidden.items, cells->hidden.count, sizeof(cluster_id), by_id))
        return ERR_OK;
    struct compare_cell *c =
        cells->rows.count < COMPARE_CELLS_MAX ? row_list_add(&cells->rows, err) : NULL;
    if (!c)
        return error_set(err, ERR_LIMIT, "too many clusters and days for a comparison");
    *c = (struct compare_cell){
        .cluster_id = cluster_id,
        .side = d->side,
        .day = d->day,
        .count = (uint64_t)d->count,
        .weighted = (double)d->weighted / FIGURES_WEIGHT_ONE,
        .stall_ms = (uint64_t)d->stall_ms,
        .weighted_stall_ms = (uint64_t)(d->stall_ms + d->above_ms),
    };
    return ERR_OK;
}

static enum err cell_row(void *ctx, sqlite3_stmt *st, struct error *err)
{
    const struct day_sums d = {
        .side = sqlite3_column_int(st, 1),
        .day = sqlite3_column_int(st, 2),
        .count = sqlite3_column_int64(st, 3),
        .weighted = sqlite3_column_int64(st, 4),
        .stall_ms = sqlite3_column_int64(st, 5),
        .above_ms = sqlite3_column_int64(st, 6),
    };
    return add_cell(ctx, (uint64_t)sqlite3_column_int64(st, 0), &d, err);
}

static enum err add_cells(struct sqlite_reader *r, enum sql_query query,
                          const struct sql_value *values, struct cells *cells, struct error *err)
{
    return sqlite_each_row(&r->conn, sql_bind(&r->conn, query, values, FILTER_VALUES + 2, err),
                           cell_row, cells, err);
}

/* --- from roll-ups ---------------------------------------------------------------------------- */

static int by_side_and_day(const void *a, const void *b)
{
    const struct day_sums *x = a;
    const struct day_sums *y = b;
    if (x->side != y->side)
        return x->side - y->side;
    return (x->day > y->day) - (x->day < y->day);
}

/* The days of the cluster become cells. */
static enum err end_cluster(struct collector *c, struct error *err)
{
    enum err rc = ERR_OK;
    bool sorted = true;
    for (size_t i = 1; i < c->count && sorted; i++)
        sorted = by_side_and_day(&c->days[i - 1], &c->days[i]) < 0;
    if (!sorted)
        qsort(c->days, c->count, sizeof(*c->days), by_side_and_day);
    for (size_t i = 0, end; i < c->count && !rc; i = end) {
        struct day_sums d = c->days[i];
        for (end = i + 1; end < c->count && by_side_and_day(&d, &c->days[end]) == 0; end++) {
            d.count += c->days[end].count;
            d.weighted += c->days[end].weighted;
            d.stall_ms += c->days[end].stall_ms;
            d.above_ms += c->days[end].above_ms;
        }
        rc = add_cell(c->cells, c->cluster_id, &d, err);
    }
    c->count = 0;
    return rc;
}

static bool is_among(const struct row_list *builds, int64_t id)
{
    const int64_t *items = builds->items;
    for (size_t i = 0; i < builds->count; i++) {
        if (items[i] == id)
            return true;
    }
    return false;
}

static enum err take_row(void *ctx, uint64_t cluster_id, const struct cube_row *row,
                         struct error *err)
{
    struct collector *c = ctx;
    enum err rc = c->cluster_id == cluster_id ? ERR_OK : end_cluster(c, err);
    c->cluster_id = cluster_id;
    if (rc)
        return rc;
    const struct day_sums d = {is_among(&c->second, row->build_id),
                               row->day,
                               row->count,
                               row->weighted,
                               row->stall_ms,
                               row->above_ms};
    if (!arena_room(c->arena, (void **)&c->days, c->count, &c->cap, sizeof(*c->days)))
        return error_set(err, ERR_NO_MEMORY, "no memory for a comparison");
    c->days[c->count++] = d;
    return ERR_OK;
}

/* *ret_known false: the cells are as they were. */
static enum err compare_rolled(struct sqlite_reader *r, const struct read_filter *f,
                               const char *const versions[2], struct arena *arena,
                               struct cells *cells, bool *ret_known, struct error *err)
{
    struct collector c = {.cells = cells, .arena = arena};
    struct row_list builds; /* of both */
    const size_t before = cells->rows.count;
    enum err rc = ERR_OK;
    row_list_init(&builds, sizeof(int64_t), arena);
    row_list_init(&c.second, sizeof(int64_t), arena);
    for (int side = 0; side < 2 && !rc; side++)
        rc = sqlite_dict_named(r, DICT_BUILD, f->bundle_id, versions[side], NULL, &builds, err);
    if (!rc)
        rc = sqlite_dict_named(r, DICT_BUILD, f->bundle_id, versions[1], NULL, &c.second, err);
    const struct cube_scan scan = {
        .filter = f, .builds = &builds, .days = true, .visit = take_row, .ctx = &c};
    if (!rc)
        rc = sqlite_scan_cubes(r, &scan, ret_known, err);
    if (!rc && *ret_known)
        rc = end_cluster(&c, err);
    if (!rc && !*ret_known)
        cells->rows.count = before;
    return rc;
}

enum err sqlite_read_compare(struct storage_reader *base, const struct read_filter *f,
                             const char *const versions[2], struct arena *arena,
                             struct compare_cell **ret, size_t *ret_count, struct error *err)
{
    struct sqlite_reader *r = sqlite_reader_of(base);
    struct sql_value values[FILTER_VALUES + 2];
    struct read_filter sides = {0};
    struct cells cells;
    bool known = false;
    read_filter_init(&sides);
    sides.bundle_id = f->bundle_id;
    sides.kind = f->kind;
    sides.since_ms = f->since_ms;
    sides.until_ms = f->until_ms;
    row_list_init(&cells.rows, sizeof(struct compare_cell), arena);
    row_list_init(&cells.hidden, sizeof(uint64_t), arena);
    enum err rc = sqlite_filter_values(r, f, READ_COUNTERS, values, err);
    if (!rc)
        rc = sqlite_rows(&r->conn,
                         sql_start(&r->conn, SQL_CLUSTERS_HIDDEN, err, sql_text(f->bundle_id)),
                         sqlite_fill_int, &cells.hidden, err);
    if (rc)
        return rc;
    values[FILTER_VALUES] = sql_text(versions[0]);
    values[FILTER_VALUES + 1] = sql_text(versions[1]);
    rc = add_cells(r, SQL_COMPARE_APP, values, &cells, err);
    if (!rc)
        rc = compare_rolled(r, &sides, versions, arena, &cells, &known, err);
    if (!rc && !known)
        rc = add_cells(r, SQL_COMPARE_CLUSTERS, values, &cells, err);
    if (rc)
        return rc;
    *ret = cells.rows.items;
    *ret_count = cells.rows.count;
    return ERR_OK;
}
