/*
 * sqlite_stmt - one SQLite connection and its prepared statements.
 *
 * Purpose: statements are known by name (sql/sqlite/queries.sql, SQL_* of the generated header),
 * prepared once per connection, and bound with typed values:
 *     sql_run(c, SQL_TOKEN_DELETE, err, sql_int(id));
 *
 * Invariants: a statement is never left running: sql_run() resets on every path, sql_step() resets
 * as soon as it has no row to show, and who stops before that calls sql_end(). Foreign keys are on
 * in every connection. What SQLite says becomes one of our codes (sql_error).
 *
 * Threads: one at a time. Memory: sql_conn_open/sql_conn_close, in between it stays where it is;
 * bound values must live until the statement ends.
 */
#ifndef STALLSYM_STORAGE_SQLITE_STMT_H
#define STALLSYM_STORAGE_SQLITE_STMT_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/uuid.h"
#include "sql.h"
#include "storage/storage_health.h"

struct sql_given;

struct sql_conn {
    sqlite3 *db;
    struct storage_health *health; /* told of pages that are damaged or cannot be read; or NULL */
    sqlite3_stmt *stmts[SQL_QUERIES];
    struct sql_given *given; /* to the statement that runs, sqlite_ranges.h; or NULL */
};

struct sql_value {
    enum { VALUE_NULL, VALUE_INT, VALUE_TEXT, VALUE_BLOB } type;
    int64_t number; /* or length of the blob */
    const void *data;
};

static inline struct sql_value sql_int(int64_t v)
{
    return (struct sql_value){VALUE_INT, v, NULL};
}

/* NULL binds NULL. */
static inline struct sql_value sql_text(const char *s)
{
    return (struct sql_value){s ? VALUE_TEXT : VALUE_NULL, 0, s};
}

static inline struct sql_value sql_blob(const void *data, size_t len)
{
    return (struct sql_value){VALUE_BLOB, (int64_t)len, data};
}

static inline struct sql_value sql_uuid(const struct uuid *u)
{
    return sql_blob(u, sizeof(*u));
}

static inline struct sql_value sql_null(void)
{
    return (struct sql_value){VALUE_NULL, 0, NULL};
}

/* NULL when `v` is the value that stands for "not given". */
static inline struct sql_value sql_int_or_null(int64_t v, int64_t none)
{
    return v == none ? sql_null() : sql_int(v);
}

struct sql_conn_options {
    const char *path;
    bool create;
    uint32_t busy_ms;
    struct storage_health *health; /* or NULL */
};

/* Opens and sets what every connection has; `c` may be closed whatever happened. */
enum err sql_conn_open(struct sql_conn *c, const struct sql_conn_options *options,
                       struct error *err);
void sql_conn_close(struct sql_conn *c);

/* Turns SQLite's last error on this connection into ours: "context: text". */
enum err sql_error(struct sql_conn *c, int rc, const char *context, struct error *err);

/* Runs the statements of a block that sets something. SQLite obeys some PRAGMAs while it prepares
 * them, so these are never kept prepared. */
enum err sql_set(struct sql_conn *c, enum sql_query q, struct error *err);

/* Prepares every query: ERR_FORMAT when the schema lacks something. */
enum err sql_prepare_all(struct sql_conn *c, struct error *err);

/* The statement, bound and ready; NULL (and *err) on failure. Values past the last parameter that a
 * query has are left out: filters come whole. */
sqlite3_stmt *sql_bind(struct sql_conn *c, enum sql_query q, const struct sql_value *values,
                       size_t count, struct error *err);
/* *ret_row: there is a row to look at; else the statement has ended and is reset. */
enum err sql_step(struct sql_conn *c, sqlite3_stmt *st, bool *ret_row, struct error *err);
/* Ends a statement before its last row. NULL is allowed. */
void sql_end(sqlite3_stmt *st);
/* Binds and runs to the end; rows are ignored. */
enum err sql_run_values(struct sql_conn *c, enum sql_query q, const struct sql_value *values,
                        size_t count, struct error *err);
/* First column of the first row, or `none` when there is no row (or it is NULL). */
enum err sql_get_values(struct sql_conn *c, enum sql_query q, const struct sql_value *values,
                        size_t count, int64_t none, int64_t *ret, struct error *err);

/* The blob of exactly `size` bytes that is the first column of the only row of a statement that is bound
 * (NULL: *err says why not). *ret_row: false, there is no row, and nothing is set. */
enum err sql_get_fixed(struct sql_conn *c, sqlite3_stmt *st, void *ret, size_t size, bool *ret_row,
                       struct error *err);

#define SQL_VALUES(...)                                                                            \
    (const struct sql_value[]){__VA_ARGS__},                                                       \
        sizeof((const struct sql_value[]){__VA_ARGS__}) / sizeof(struct sql_value)
#define sql_start(c, q, err, ...) sql_bind(c, q, SQL_VALUES(__VA_ARGS__), err)
#define sql_run(c, q, err, ...)   sql_run_values(c, q, SQL_VALUES(__VA_ARGS__), err)
#define sql_get(c, q, none, ret, err, ...)                                                         \
    sql_get_values(c, q, SQL_VALUES(__VA_ARGS__), none, ret, err)
/* Without values. */
#define sql_run0(c, q, err) sql_run_values(c, q, NULL, 0, err)

/* Columns into an arena; NULL columns give NULL. ERR_NO_MEMORY shows as *failed. */
const char *sql_column_text(sqlite3_stmt *st, int column, struct arena *arena, bool *failed);
const void *sql_column_blob(sqlite3_stmt *st, int column, struct arena *arena, size_t *ret_len,
                            bool *failed);
/* A blob of exactly `size` bytes; anything else leaves zeros. */
void sql_column_fixed(sqlite3_stmt *st, int column, void *out, size_t size);
static inline bool sql_column_null(sqlite3_stmt *st, int column)
{
    return sqlite3_column_type(st, column) == SQLITE_NULL;
}

#endif
