/* The SQLite backend's snapshots: a read transaction held open, and SQLite's own backup over it. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "storage/snapshot.h"
#include "storage/sqlite_storage.h"

/* So much is synced at a time, else the last sync holds up those of the writer for long. */
#define SYNC_EVERY_BYTES ((int64_t)32 << 20)

struct sqlite_snapshot {
    struct snapshot base;
    struct sql_conn conn; /* in a read transaction: SQLite's backup then sees that instant only */
    int64_t page_size;
    int64_t pages;
};

/* Everything about one copy that has to be given back. */
struct copy {
    struct sql_conn conn;
    sqlite3_backup *backup;
    int fd; /* for syncing; closed last, since closing it drops SQLite's own locks on the file */
};

void sqlite_snapshot_close(struct snapshot *base)
{
    struct sqlite_snapshot *s = (struct sqlite_snapshot *)base;
    sql_conn_close(&s->conn); /* ends the transaction */
    free(s);
}

enum err sqlite_snapshot_open(struct storage *base, struct snapshot **ret, struct error *err)
{
    struct sqlite_storage *storage = sqlite_of(base);
    struct sqlite_snapshot *s = calloc(1, sizeof(*s));
    if (!s)
        return error_set(err, ERR_NO_MEMORY, "no memory for a snapshot");
    s->base.backend = &storage_backend_sqlite;
    enum err rc = sql_conn_open(&s->conn, &storage->conn_options, err);
    if (!rc)
        rc = sql_run0(&s->conn, SQL_BEGIN_READ, err);
    if (!rc)
        rc = sql_get_values(&s->conn, SQL_PAGE_SIZE, NULL, 0, 4096, &s->page_size, err);
    if (!rc) /* reads the file: from here on the instant is fixed */
        rc = sql_get_values(&s->conn, SQL_PAGE_COUNT, NULL, 0, 0, &s->pages, err);
    if (rc) {
        sqlite_snapshot_close(&s->base);
        return rc;
    }
    *ret = &s->base;
    return ERR_OK;
}

uint64_t sqlite_snapshot_bytes(const struct snapshot *base)
{
    const struct sqlite_snapshot *s = (const struct sqlite_snapshot *)base;
    return (uint64_t)(s->pages * s->page_size);
}

static enum err copy_begin(struct copy *c, struct sqlite_snapshot *s, const char *path,
                           struct error *err)
{
    const struct sql_conn_options options = {.path = path, .create = true};
    c->fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0640);
    if (c->fd < 0)
        return error_errno(err, errno, "cannot make %s", path);
    enum err rc = sql_conn_open(&c->conn, &options, err);
    if (!rc)
        rc = sql_set(&c->conn, SQL_COPY_SETTINGS, err);
    if (rc)
        return rc;
    c->backup = sqlite3_backup_init(c->conn.db, "main", s->conn.db, "main");
    return c->backup ? ERR_OK : sql_error(&c->conn, sqlite3_errcode(c->conn.db), "copy", err);
}

static enum err copy_pages(struct copy *c, struct sqlite_snapshot *s,
                           const struct snapshot_watch *watch, struct error *err)
{
    int step = (int)(SNAPSHOT_STEP_BYTES / s->page_size);
    int64_t since_sync = 0;
    int rc;
    while ((rc = sqlite3_backup_step(c->backup, step)) == SQLITE_OK) {
        int64_t done = s->pages - sqlite3_backup_remaining(c->backup);
        since_sync += SNAPSHOT_STEP_BYTES;
        if (watch && !watch->go_on(watch->ctx, (uint64_t)(done * s->page_size),
                                   (uint64_t)(s->pages * s->page_size)))
            return error_set(err, ERR_BUSY, "the copy was given up");
        if (since_sync >= SYNC_EVERY_BYTES) {
            if (fdatasync(c->fd))
                return error_errno(err, errno, "cannot sync the copy");
            since_sync = 0;
        }
    }
    int finished = sqlite3_backup_finish(c->backup);
    c->backup = NULL;
    if (rc == SQLITE_DONE && !finished)
        return ERR_OK;
    return sql_error(&c->conn, finished ? finished : rc, "copy", err);
}

enum err sqlite_snapshot_write(struct snapshot *base, const char *path,
                               const struct snapshot_watch *watch, struct error *err)
{
    struct sqlite_snapshot *s = (struct sqlite_snapshot *)base;
    struct copy c = {.fd = -1};
    enum err rc = copy_begin(&c, s, path, err);
    if (!rc)
        rc = copy_pages(&c, s, watch, err);
    if (c.backup)
        (void)sqlite3_backup_finish(c.backup);
    sql_conn_close(&c.conn);
    if (!rc && fsync(c.fd))
        rc = error_errno(err, errno, "cannot sync %s", path);
    if (c.fd >= 0) {
        close(c.fd);
        if (rc)
            (void)unlink(path);
    }
    return rc;
}
