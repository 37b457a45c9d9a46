/* The SQLite backend: what is wrong with the file, and a look at all of it. */
#include <string.h>

#include "storage/sqlite_storage.h"

#define LOOK_OPCODES 4000 /* virtual machine instructions between two questions whether to go on */

struct check {
    bool (*go_on)(void *ctx);
    void *ctx;
};

enum storage_trouble sqlite_trouble(struct storage *base, char *text, size_t size)
{
    return storage_health_get(&sqlite_of(base)->health, text, size);
}

static int on_progress(void *arg)
{
    const struct check *c = arg;
    return !c->go_on(c->ctx);
}

static enum err run_check(struct sqlite_storage *s, struct sql_conn *c, struct error *err)
{
    bool row = false;
    sqlite3_stmt *st = sql_bind(c, SQL_QUICK_CHECK, NULL, 0, err);
    enum err rc = st ? sql_step(c, st, &row, err) : err->code;
    const char *said = rc == ERR_OK && row ? (const char *)sqlite3_column_text(st, 0) : NULL;
    if (rc == ERR_OK && !said)
        rc = error_set(err, ERR_NO_MEMORY, "no memory to check the database");
    if (rc == ERR_OK && strcmp(said, "ok") != 0) {
        rc = error_set(err, ERR_FORMAT, "the database file is damaged: %s", said);
        storage_health_note(&s->health, STORAGE_DAMAGED, err->text);
    }
    sql_end(st);
    return rc;
}

/* On a connection of its own: what others have in memory is not what is in the file. */
enum err sqlite_check(struct storage *base, bool (*go_on)(void *ctx), void *ctx, struct error *err)
{
    struct sqlite_storage *s = sqlite_of(base);
    struct check check = {go_on, ctx};
    struct sql_conn conn;
    const uint64_t mark = storage_health_mark(&s->health);
    enum err rc = sql_conn_open(&conn, &s->conn_options, err);
    if (!rc) {
        sqlite3_progress_handler(conn.db, LOOK_OPCODES, on_progress, &check);
        rc = run_check(s, &conn, err);
    }
    sql_conn_close(&conn);
    if (!rc)
        storage_health_clear(&s->health, mark);
    return rc;
}
