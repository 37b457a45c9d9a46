#include "storage/sqlite_ranges.h"

#include "storage/sqlite_rows.h"

#define GAP_MAX 4 /* of ids in one range */

static size_t range_end(const struct sql_ids *list, size_t at)
{
    size_t end = at + 1;
    while (end < list->count && list->ids[end] - list->ids[end - 1] <= GAP_MAX)
        end++;
    return end;
}

/* --- reading ---------------------------------------------------------------------------------- */

struct reading {
    const int64_t *ids;
    size_t at;
    id_visit *visit;
    void *ctx;
};

static enum err visit_row(void *ctx, sqlite3_stmt *st, struct error *err)
{
    struct reading *r = ctx;
    const int64_t id = sqlite3_column_int64(st, 0);
    while (r->ids[r->at] < id) /* none is beyond the last one of the range */
        r->at++;
    return r->ids[r->at] == id ? r->visit(r->ctx, r->at, st, err) : ERR_OK;
}

enum err sqlite_read_ids(struct sql_conn *c, enum sql_query q, const struct sql_ids *ids,
                         id_visit *visit, void *ctx, struct error *err)
{
    enum err rc = ERR_OK;
    for (size_t at = 0, end; at < ids->count && !rc; at = end) {
        struct reading r = {ids->ids, at, visit, ctx};
        end = range_end(ids, at);
        rc = sqlite_each_row(
            c, sql_start(c, q, err, sql_int(ids->ids[at]), sql_int(ids->ids[end - 1])), visit_row,
            &r, err);
    }
    return rc;
}

/* --- writing ---------------------------------------------------------------------------------- */

/* Most often the one that was asked for before, or the one behind it. */
static bool find(struct sql_given *g, int64_t id)
{
    const int64_t *ids = g->list.ids;
    size_t low = 0;
    size_t high = g->list.count;
    if (g->at < high && ids[g->at] == id)
        return true;
    if (g->at + 1 < high && ids[g->at + 1] == id) {
        g->at++;
        return true;
    }
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (ids[middle] < id)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == g->list.count || ids[low] != id)
        return false;
    g->at = low;
    return true;
}

static void answer(sqlite3_context *ctx, const struct sql_value *v)
{
    switch (v->type) {
    case VALUE_INT:
        sqlite3_result_int64(ctx, v->number);
        break;
    case VALUE_TEXT:
        sqlite3_result_text(ctx, v->data, -1, SQLITE_STATIC);
        break;
    case VALUE_BLOB:
        sqlite3_result_blob64(ctx, v->number ? v->data : "", (uint64_t)v->number, SQLITE_STATIC);
        break;
    case VALUE_NULL:
        sqlite3_result_null(ctx);
        break;
    }
}

static void given_function(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
    const struct sql_conn *c = sqlite3_user_data(ctx);
    struct sql_given *g = c->given;
    const bool there = g && argc == 2 && find(g, sqlite3_value_int64(argv[0]));
    const size_t column = there ? (size_t)sqlite3_value_int64(argv[1]) : 0;
    if (column == 0)
        sqlite3_result_int(ctx, there);
    else if (column > g->width)
        sqlite3_result_error(ctx, "no such value is given", -1);
    else
        answer(ctx, &g->values[g->at * g->width + column - 1]);
}

enum err sqlite_write_ids(struct sql_conn *c, enum sql_query q, struct sql_given *given,
                          struct sql_value third, struct error *err)
{
    const struct sql_ids *list = &given->list;
    enum err rc = ERR_OK;
    c->given = given;
    for (size_t at = 0, end; at < list->count && !rc; at = end) {
        end = range_end(list, at);
        rc = sql_run(c, q, err, sql_int(list->ids[at]), sql_int(list->ids[end - 1]), third);
    }
    c->given = NULL;
    return rc;
}

int sqlite_given_functions(struct sql_conn *c)
{
    return sqlite3_create_function_v2(c->db, "given", 2, SQLITE_UTF8 | SQLITE_DIRECTONLY, c,
                                      given_function, NULL, NULL, NULL);
}
