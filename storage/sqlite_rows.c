#include "storage/sqlite_rows.h"

#include <string.h>

enum err sqlite_each_row(struct sql_conn *c, sqlite3_stmt *st, row_visit *visit, void *ctx,
                         struct error *err)
{
    bool row = true;
    if (!st)
        return err->code;
    for (;;) {
        enum err rc = sql_step(c, st, &row, err);
        if (rc || !row)
            return rc;
        rc = visit(ctx, st, err);
        if (rc) {
            sql_end(st);
            return rc;
        }
    }
}

void row_list_init(struct row_list *l, size_t row_size, struct arena *arena)
{
    *l = (struct row_list){.size = row_size, .arena = arena};
}

void *row_list_add(struct row_list *l, struct error *err)
{
    if (!arena_room(l->arena, &l->items, l->count, &l->cap, l->size)) {
        error_set(err, ERR_NO_MEMORY, "no memory for an answer");
        return NULL;
    }
    return (char *)l->items + l->count++ * l->size;
}

bool sqlite_fill_int(sqlite3_stmt *st, struct arena *arena, void *row)
{
    (void)arena;
    *(int64_t *)row = sqlite3_column_int64(st, 0);
    return true;
}

bool sqlite_fill_text(sqlite3_stmt *st, struct arena *arena, void *row)
{
    bool failed = false;
    *(const char **)row = sql_column_text(st, 0, arena, &failed);
    return !failed;
}

struct listing {
    row_fill *fill;
    struct row_list *rows;
};

static enum err list_row(void *ctx, sqlite3_stmt *st, struct error *err)
{
    const struct listing *l = ctx;
    void *item = row_list_add(l->rows, err);
    return item && l->fill(st, l->rows->arena, item)
               ? ERR_OK
               : error_set(err, ERR_NO_MEMORY, "no memory for an answer");
}

enum err sqlite_rows(struct sql_conn *c, sqlite3_stmt *st, row_fill *fill, struct row_list *rows,
                     struct error *err)
{
    struct listing l = {fill, rows};
    return sqlite_each_row(c, st, list_row, &l, err);
}

enum err sqlite_row_array_of(struct sql_conn *c, sqlite3_stmt *st, row_fill *fill, size_t row_size,
                             struct arena *arena, void *ret, size_t *ret_count, struct error *err)
{
    struct row_list rows;
    row_list_init(&rows, row_size, arena);
    enum err rc = sqlite_rows(c, st, fill, &rows, err);
    if (rc)
        return rc;
    memcpy(ret, &rows.items, sizeof(rows.items));
    *ret_count = rows.count;
    return ERR_OK;
}
