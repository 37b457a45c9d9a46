#define SQL_TEXTS
#include "storage/sqlite_stmt.h"

#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/histogram.h"
#include "storage/hours.h"
#include "storage/sqlite_heft.h"
#include "storage/sqlite_log_file.h"
#include "storage/sqlite_memory.h"
#include "storage/sqlite_ranges.h"
#include "storage/sqlite_rollup.h"
#include "storage/sqlite_tally.h"

#define HISTOGRAM_BYTES (64u << 10)
#define HOURS_ARGUMENTS 5

static const struct {
    int sqlite; /* primary result code */
    enum err code;
    const char *words; /* said before SQLite's own text */
} codes[] = {
    {SQLITE_FULL, ERR_IO, "the disk is full"},
    {SQLITE_IOERR, ERR_IO, "the disk failed"},
    {SQLITE_CANTOPEN, ERR_IO, "cannot open the file"},
    {SQLITE_READONLY, ERR_IO, "the file cannot be written"},
    {SQLITE_PERM, ERR_IO, "no permission"},
    {SQLITE_NOTADB, ERR_FORMAT, "this is no SQLite database"},
    {SQLITE_CORRUPT, ERR_FORMAT, "the database file is damaged"},
    {SQLITE_BUSY, ERR_BUSY, "another program holds the database"},
    {SQLITE_LOCKED, ERR_BUSY, "the database is locked"},
    {SQLITE_NOMEM, ERR_NO_MEMORY, "no memory"},
    {SQLITE_TOOBIG, ERR_LIMIT, "a value is too large"},
    {SQLITE_INTERRUPT, ERR_LIMIT, "query took too long"},
};

/* A write that the disk refuses is seen at the next commit; a page that it does not give is not. */
static enum storage_trouble trouble_of(int rc)
{
    switch (rc) {
    case SQLITE_IOERR_READ:
    case SQLITE_IOERR_SHORT_READ:
        return STORAGE_UNREADABLE;
    case SQLITE_IOERR_CORRUPTFS:
        return STORAGE_DAMAGED;
    default:
        return (rc & 0xff) == SQLITE_CORRUPT || (rc & 0xff) == SQLITE_NOTADB ? STORAGE_DAMAGED
                                                                             : STORAGE_SOUND;
    }
}

static void note_trouble(const struct sql_conn *c, int rc, const char *context)
{
    char text[512];
    enum storage_trouble trouble = trouble_of(rc);
    if (!c->health || trouble == STORAGE_SOUND)
        return;
    snprintf(text, sizeof(text), "%s: %s", context,
             c->db ? sqlite3_errmsg(c->db) : sqlite3_errstr(rc));
    storage_health_note(c->health, trouble, text);
}

enum err sql_error(struct sql_conn *c, int rc, const char *context, struct error *err)
{
    note_trouble(c, rc, context);
    for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++) {
        if (codes[i].sqlite == (rc & 0xff))
            return error_set(err, codes[i].code, "%s: %s (%s)", context, codes[i].words,
                             c->db ? sqlite3_errmsg(c->db) : sqlite3_errstr(rc));
    }
    return error_set(err, ERR_INTERNAL, "%s: %s", context,
                     c->db ? sqlite3_errmsg(c->db) : sqlite3_errstr(rc));
}

/* histogram_merge(a, b): both encoded. */
static void merge_function(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
    struct histogram h;
    struct buf out;
    bool ok = true;
    histogram_init(&h);
    buf_init(&out, HISTOGRAM_BYTES);
    for (int i = 0; i < argc && ok; i++) {
        const void *data = sqlite3_value_blob(argv[i]);
        ok = histogram_add_encoded(&h, data, (size_t)sqlite3_value_bytes(argv[i]));
    }
    if (ok && histogram_encode(&h, &out))
        sqlite3_result_blob(ctx, out.len ? out.data : "", (int)out.len, SQLITE_TRANSIENT);
    else
        sqlite3_result_error(ctx, "a histogram is damaged", -1);
    buf_done(&out);
    histogram_done(&h);
}

/* hours_merge(…), hours_take(…): two sets of hours, count, weighted, stall_ms, above_ms. */
static void hours_function(sqlite3_context *ctx, sqlite3_value **argv, bool take)
{
    struct hours h[2] = {0};
    bool ok = true;
    struct buf out;
    buf_init(&out, HISTOGRAM_BYTES);
    for (int i = 0; i < 2 && ok; i++) {
        sqlite3_value **v = argv + (ptrdiff_t)i * HOURS_ARGUMENTS;
        const struct hour_sums day = {sqlite3_value_int64(v[1]), sqlite3_value_int64(v[2]),
                                      sqlite3_value_int64(v[3]), sqlite3_value_int64(v[4])};
        const void *data = sqlite3_value_blob(v[0]);
        ok = hours_add_encoded(&h[i], data, (size_t)sqlite3_value_bytes(v[0]), &day);
    }
    if (!take)
        hours_merge(&h[0], &h[1]);
    else if (sqlite3_value_bytes(argv[0]) > 0) /* else they were dropped */
        hours_subtract(&h[0], &h[1]);
    for (int i = 0; i < HOURS_A_DAY; i++) {
        if (h[0].at[i].count < 0) /* came back after they were dropped */
            h[0].at[i] = (struct hour_sums){0};
    }
    if (ok && hours_encode(&h[0], &out))
        sqlite3_result_blob(ctx, out.len ? out.data : "", (int)out.len, SQLITE_TRANSIENT);
    else
        sqlite3_result_error(ctx, "the hours of a day are damaged", -1);
    buf_done(&out);
}

static void hours_merge_function(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
    (void)argc;
    hours_function(ctx, argv, false);
}

static void hours_take_function(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
    (void)argc;
    hours_function(ctx, argv, true);
}

/* histogram_take(a, b): `a` without `b`, both encoded. */
static void take_function(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
    struct histogram parts[2];
    struct buf out;
    bool ok = argc == 2;
    buf_init(&out, HISTOGRAM_BYTES);
    for (int i = 0; i < 2; i++) {
        histogram_init(&parts[i]);
        const void *data = ok ? sqlite3_value_blob(argv[i]) : NULL;
        ok = ok && histogram_add_encoded(&parts[i], data, (size_t)sqlite3_value_bytes(argv[i]));
    }
    if (ok)
        histogram_subtract(&parts[0], &parts[1]);
    if (ok && histogram_encode(&parts[0], &out))
        sqlite3_result_blob(ctx, out.len ? out.data : "", (int)out.len, SQLITE_TRANSIENT);
    else
        sqlite3_result_error(ctx, "a histogram is damaged", -1);
    buf_done(&out);
    histogram_done(&parts[0]);
    histogram_done(&parts[1]);
}

static int add_functions(struct sql_conn *c)
{
    sqlite3 *db = c->db;
    static const struct {
        const char *name;
        int arguments;
        void (*run)(sqlite3_context *, int, sqlite3_value **);
    } functions[] = {
        {"histogram_merge", 2, merge_function},
        {"histogram_take", 2, take_function},
        {"hours_merge", 2 * HOURS_ARGUMENTS, hours_merge_function},
        {"hours_take", 2 * HOURS_ARGUMENTS, hours_take_function},
    };
    int rc = SQLITE_OK;
    for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]) && !rc; i++)
        rc = sqlite3_create_function_v2(db, functions[i].name, functions[i].arguments,
                                        SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_DIRECTONLY,
                                        NULL, functions[i].run, NULL, NULL, NULL);
    if (!rc)
        rc = sqlite_tally_functions(db);
    if (!rc)
        rc = sqlite_cube_functions(db);
    if (!rc)
        rc = sqlite_heft_functions(db);
    return rc ? rc : sqlite_given_functions(c);
}

enum err sql_conn_open(struct sql_conn *c, const struct sql_conn_options *options,
                       struct error *err)
{
    memset(c, 0, sizeof(*c));
    c->health = options->health;
    sqlite_memory_set();
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE |
                (options->create ? SQLITE_OPEN_CREATE : 0);
    int rc = sqlite3_open_v2(options->path, &c->db, flags, sqlite_log_vfs());
    if (!rc)
        rc = sqlite3_busy_timeout(c->db, (int)options->busy_ms);
    if (!rc)
        rc = add_functions(c);
    if (!rc)
        rc = sqlite3_db_config(c->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    if (rc)
        return sql_error(c, rc, options->path, err);
    return sql_set(c, SQL_CONNECTION, err);
}

enum err sql_set(struct sql_conn *c, enum sql_query q, struct error *err)
{
    int rc = sqlite3_exec(c->db, sql_query_texts[q], NULL, NULL, NULL);
    return rc ? sql_error(c, rc, sql_query_names[q], err) : ERR_OK;
}

void sql_conn_close(struct sql_conn *c)
{
    for (size_t i = 0; i < SQL_QUERIES; i++) {
        sqlite3_finalize(c->stmts[i]);
        c->stmts[i] = NULL;
    }
    sqlite3_close(c->db);
    c->db = NULL;
}

static sqlite3_stmt *prepared(struct sql_conn *c, enum sql_query q, struct error *err)
{
    if (c->stmts[q])
        return c->stmts[q];
    int rc = sqlite3_prepare_v3(c->db, sql_query_texts[q], -1, SQLITE_PREPARE_PERSISTENT,
                                &c->stmts[q], NULL);
    if (rc) {
        sql_error(c, rc, sql_query_names[q], err);
        return NULL;
    }
    return c->stmts[q];
}

enum err sql_prepare_all(struct sql_conn *c, struct error *err)
{
    for (size_t q = 0; q < SQL_QUERIES; q++) {
        struct error why;
        bool sets = strncmp(sql_query_texts[q], "PRAGMA", 6) == 0;
        if (sets || prepared(c, (enum sql_query)q, &why))
            continue;
        if (why.code == ERR_INTERNAL)
            return error_set(err, ERR_FORMAT, "the schema is damaged: %s", why.text);
        return error_set(err, why.code, "%s", why.text);
    }
    return ERR_OK;
}

static int bind_value(sqlite3_stmt *st, int at, const struct sql_value *v)
{
    switch (v->type) {
    case VALUE_INT:
        return sqlite3_bind_int64(st, at, v->number);
    case VALUE_TEXT:
        return sqlite3_bind_text(st, at, v->data, -1, SQLITE_STATIC);
    case VALUE_BLOB:
        return sqlite3_bind_blob64(st, at, v->number ? v->data : "", (uint64_t)v->number,
                                   SQLITE_STATIC);
    case VALUE_NULL:
        break;
    }
    return sqlite3_bind_null(st, at);
}

sqlite3_stmt *sql_bind(struct sql_conn *c, enum sql_query q, const struct sql_value *values,
                       size_t count, struct error *err)
{
    sqlite3_stmt *st = prepared(c, q, err);
    size_t parameters = st ? (size_t)sqlite3_bind_parameter_count(st) : 0;
    for (size_t i = 0; i < count && i < parameters; i++) {
        int rc = bind_value(st, (int)i + 1, &values[i]);
        if (rc) {
            sql_error(c, rc, sql_query_names[q], err);
            return NULL;
        }
    }
    return st;
}

void sql_end(sqlite3_stmt *st)
{
    if (st)
        (void)sqlite3_reset(st);
}

enum err sql_step(struct sql_conn *c, sqlite3_stmt *st, bool *ret_row, struct error *err)
{
    int rc = sqlite3_step(st);
    if (rc == SQLITE_ROW) {
        *ret_row = true;
        return ERR_OK;
    }
    enum err code = ERR_OK;
    if (rc != SQLITE_DONE)
        code = sql_error(c, rc, "database", err);
    sql_end(st);
    if (code == ERR_OK)
        *ret_row = false;
    return code;
}

enum err sql_run_values(struct sql_conn *c, enum sql_query q, const struct sql_value *values,
                        size_t count, struct error *err)
{
    sqlite3_stmt *st = sql_bind(c, q, values, count, err);
    bool row = true;
    enum err rc = ERR_OK;
    if (!st)
        return err ? err->code : ERR_INTERNAL;
    while (row && !rc)
        rc = sql_step(c, st, &row, err);
    return rc;
}

enum err sql_get_values(struct sql_conn *c, enum sql_query q, const struct sql_value *values,
                        size_t count, int64_t none, int64_t *ret, struct error *err)
{
    sqlite3_stmt *st = sql_bind(c, q, values, count, err);
    bool row = false;
    if (!st)
        return err ? err->code : ERR_INTERNAL;
    enum err rc = sql_step(c, st, &row, err);
    if (rc)
        return rc;
    *ret = row && !sql_column_null(st, 0) ? sqlite3_column_int64(st, 0) : none;
    sql_end(st);
    return ERR_OK;
}

const char *sql_column_text(sqlite3_stmt *st, int column, struct arena *arena, bool *failed)
{
    const char *text = (const char *)sqlite3_column_text(st, column);
    if (!text)
        return NULL;
    const char *copy = arena_strndup(arena, text, (size_t)sqlite3_column_bytes(st, column));
    if (!copy)
        *failed = true;
    return copy;
}

const void *sql_column_blob(sqlite3_stmt *st, int column, struct arena *arena, size_t *ret_len,
                            bool *failed)
{
    *ret_len = 0;
    if (sql_column_null(st, column))
        return NULL;
    const void *data = sqlite3_column_blob(st, column);
    size_t len = (size_t)sqlite3_column_bytes(st, column);
    void *copy = arena_memdup(arena, len ? data : "", len ? len : 1);
    if (!copy)
        *failed = true;
    else
        *ret_len = len;
    return copy;
}

void sql_column_fixed(sqlite3_stmt *st, int column, void *out, size_t size)
{
    const void *data = sqlite3_column_blob(st, column);
    memset(out, 0, size);
    if (data && (size_t)sqlite3_column_bytes(st, column) == size)
        memcpy(out, data, size);
}

enum err sql_get_fixed(struct sql_conn *c, sqlite3_stmt *st, void *ret, size_t size, bool *ret_row,
                       struct error *err)
{
    *ret_row = false;
    enum err rc = st ? sql_step(c, st, ret_row, err) : err->code;
    if (rc || !*ret_row)
        return rc;
    sql_column_fixed(st, 0, ret, size);
    sql_end(st);
    return ERR_OK;
}
