/*
 * sqlite_rows - the rows of a statement, visited or as an array.
 *
 * Purpose: one loop for all queries: the caller says what is done with a row, or how one becomes a
 * struct.
 *
 * Invariants: after an error the statement is reset, so that no reader stays on an old state of the
 * database.
 *
 * Threads: those of the connection. Memory: rows, and what they point to, in the arena.
 */
#ifndef STALLSYM_STORAGE_SQLITE_ROWS_H
#define STALLSYM_STORAGE_SQLITE_ROWS_H

#include "storage/sqlite_stmt.h"

/* What is done with the row a statement is at; an error ends the rows. */
typedef enum err row_visit(void *ctx, sqlite3_stmt *st, struct error *err);
/* All rows of a statement that is bound (NULL: *err says why not). */
enum err sqlite_each_row(struct sql_conn *c, sqlite3_stmt *st, row_visit *visit, void *ctx,
                         struct error *err);

/* Rows of a result, growing in an arena. */
struct row_list {
    void *items;
    size_t count, cap, size;
    struct arena *arena;
};
void row_list_init(struct row_list *l, size_t row_size, struct arena *arena);
/* A zeroed row at the end; NULL (and *err) without memory. */
void *row_list_add(struct row_list *l, struct error *err);

/* The statement's row into its zeroed struct; false without memory. */
typedef bool row_fill(sqlite3_stmt *st, struct arena *arena, void *row);
/* Rows of one column: uint64_t or int64_t, const char *. */
bool sqlite_fill_int(sqlite3_stmt *st, struct arena *arena, void *row);
bool sqlite_fill_text(sqlite3_stmt *st, struct arena *arena, void *row);
/* All rows of a statement that is bound (NULL: *err says why not) behind those of the list. */
enum err sqlite_rows(struct sql_conn *c, sqlite3_stmt *st, row_fill *fill, struct row_list *rows,
                     struct error *err);

/* The same as an array of their own: `ret` is a `struct … **`, what it points to is the row. */
#define sqlite_row_array(c, st, fill, arena, ret, ret_count, err)                                  \
    sqlite_row_array_of((c), (st), (fill), sizeof(**(ret)), (arena), (ret), (ret_count), (err))
enum err sqlite_row_array_of(struct sql_conn *c, sqlite3_stmt *st, row_fill *fill, size_t row_size,
                             struct arena *arena, void *ret, size_t *ret_count, struct error *err);

#endif
