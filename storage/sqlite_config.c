/* Remote configurations: revisions of text. */
#include "storage/sqlite_config.h"

#include "storage/sqlite_read.h"

enum err sqlite_write_config(struct sqlite_storage *s, struct write_op *op, struct error *err)
{
    struct op_config *c = &op->u.config;
    struct sql_value app = sql_text(c->bundle_id);
    int64_t newest = 0;
    enum err rc = sql_get(&s->conn, SQL_CONFIG_NEWEST, 0, &newest, err, app);
    if (rc)
        return rc;
    c->conflict = c->has_based_on && newest != (int64_t)c->based_on;
    c->revision = (uint32_t)newest;
    if (c->conflict)
        return ERR_OK;
    rc = sql_run(&s->conn, SQL_CONFIG_INSERT, err, app, sql_int(newest + 1), sql_text(c->body),
                 sql_text(c->note), sql_int((int64_t)c->token_id), sql_int(c->now_ms));
    if (!rc)
        rc = sql_run(&s->conn, SQL_CONFIG_PRUNE, err, app,
                     sql_int(newest + 1 - CONFIG_REVISIONS_KEPT));
    if (!rc)
        c->revision = (uint32_t)(newest + 1);
    return rc;
}

static bool fill_config(sqlite3_stmt *st, struct arena *arena, void *row)
{
    bool failed = false;
    *(struct config_row *)row = (struct config_row){
        .revision = (uint32_t)sqlite3_column_int64(st, 0),
        .body = sql_column_text(st, 1, arena, &failed),
        .note = sql_column_text(st, 2, arena, &failed),
        .author = sql_column_text(st, 3, arena, &failed),
        .created_ms = sqlite3_column_int64(st, 4),
    };
    return !failed;
}

enum err sqlite_read_config(struct storage_reader *base, const char *bundle_id, uint32_t revision,
                            struct arena *arena, struct config_row *ret, struct error *err)
{
    struct sql_conn *c = &sqlite_reader_of(base)->conn;
    struct row_list rows;
    row_list_init(&rows, sizeof(*ret), arena);
    enum err rc =
        sqlite_rows(c, sql_start(c, SQL_CONFIG_GET, err, sql_text(bundle_id), sql_int(revision)),
                    fill_config, &rows, err);
    if (rc)
        return rc;
    if (rows.count == 0)
        return error_set(err, ERR_NOT_FOUND, "there is no such configuration");
    *ret = *(const struct config_row *)rows.items;
    return ERR_OK;
}

enum err sqlite_read_config_history(struct storage_reader *base, const char *bundle_id,
                                    struct arena *arena, struct config_row **ret, size_t *ret_count,
                                    struct error *err)
{
    struct sql_conn *c = &sqlite_reader_of(base)->conn;
    sqlite3_stmt *st = sql_start(c, SQL_CONFIG_HISTORY, err, sql_text(bundle_id));
    return sqlite_row_array(c, st, fill_config, arena, ret, ret_count, err);
}
