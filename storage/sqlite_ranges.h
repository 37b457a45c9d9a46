/*
 * sqlite_ranges - rows of many ids, read or written by few statements.
 *
 * Purpose: to bind, begin and end a statement and to find a row costs more than the row. Ids that lie
 * close together are therefore one range of one statement. What is to be written is given to it:
 *     UPDATE t SET a = given(id, 1), b = given(id, 2) WHERE id BETWEEN ?1 AND ?2 AND given(id, 0)
 * given(id, 0) says whether the row is one of those: the others of a range stay as they are.
 *
 * Invariants: ids ascend, none is there twice. Outside of sqlite_write_ids() nothing is given.
 *
 * Threads: those of the connection. Memory: ids and values are the caller's, and live until the call
 * returns.
 */
#ifndef STALLSYM_STORAGE_SQLITE_RANGES_H
#define STALLSYM_STORAGE_SQLITE_RANGES_H

#include "storage/sqlite_stmt.h"

struct sql_ids {
    const int64_t *ids;
    size_t count;
};

/* The row of ids[at] that the statement is at; an error ends the rows. */
typedef enum err id_visit(void *ctx, size_t at, sqlite3_stmt *st, struct error *err);
/* Rows in order of ids of a query with two parameters, first and last id; its first column is the id. */
enum err sqlite_read_ids(struct sql_conn *c, enum sql_query q, const struct sql_ids *ids,
                         id_visit *visit, void *ctx, struct error *err);

struct sql_given {
    struct sql_ids list;
    const struct sql_value *values; /* `width` of each id */
    size_t width;
    size_t at; /* that was asked for last */
};
/* A query with parameters first id, last id and, if it has three, `third`. */
enum err sqlite_write_ids(struct sql_conn *c, enum sql_query q, struct sql_given *given,
                          struct sql_value third, struct error *err);

/* given(id, column) in SQL. An SQLite result code. */
int sqlite_given_functions(struct sql_conn *c);

#endif
