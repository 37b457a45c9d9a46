#include "storage/sqlite_rows.h"

#include <string.h>

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

enum err sqlite_rows(struct sql_conn *c, sqlite3_stmt *st, row_fill *fill, struct row_list *rows,
                     struct error *err)
{
    bool row = true;
    if (!st)
        return err->code;
    for (;;) {
        enum err rc = sql_step(c, st, &row, err);
        if (rc || !row)
            return rc;
        void *item = row_list_add(rows, err);
        if (!item || !fill(st, rows->arena, item)) {
            sql_end(st);
            return error_set(err, ERR_NO_MEMORY, "no memory for an answer");
        }
    }
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
