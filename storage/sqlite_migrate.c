#include "storage/sqlite_migrate.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

#define APPLICATION_ID 1400139628

static enum err sync_path(const char *path, struct error *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    int failed = fd < 0 || fsync(fd) ? errno : 0;
    if (fd >= 0)
        close(fd);
    return failed ? error_errno(err, failed, "cannot sync %s", path) : ERR_OK;
}

static enum err copy_before(struct sql_conn *c, const char *path, int to, char *copy, size_t size,
                            struct error *err)
{
    char tmp[PATH_MAX];
    int n = snprintf(copy, size, "%s.before-%d", path, to);
    int m = snprintf(tmp, sizeof(tmp), "%s.before-%d.tmp", path, to);
    if (n < 0 || m < 0 || (size_t)n >= size || (size_t)m >= sizeof(tmp))
        return error_set(err, ERR_INVALID, "the path of the database is too long");
    (void)unlink(tmp);
    enum err rc = sql_run(c, SQL_COPY_TO, err, sql_text(tmp));
    if (!rc)
        rc = sync_path(tmp, err);
    if (!rc && rename(tmp, copy))
        rc = error_errno(err, errno, "cannot rename to %s", copy);
    if (rc) {
        (void)unlink(tmp);
        return error_prefix(err, "copy before migration %d", to);
    }
    return ERR_OK;
}

static enum err run_text(struct sql_conn *c, const char *text, int to, struct error *err)
{
    char context[32];
    snprintf(context, sizeof(context), "migration %d", to);
    int rc = sqlite3_exec(c->db, text, NULL, NULL, NULL);
    return rc ? sql_error(c, rc, context, err) : ERR_OK;
}

/* One step inside its transaction. Another process may have been faster: then it is done. */
static enum err migrate_to(struct sql_conn *c, const struct sqlite_migrations *m, int to,
                           struct error *err)
{
    int64_t version = 0;
    int64_t broken = 0;
    enum err rc = sql_run0(c, SQL_BEGIN, err);
    if (rc)
        return rc;
    if ((rc = sql_get_values(c, SQL_USER_VERSION, NULL, 0, 0, &version, err)))
        goto out;
    if (version < to) {
        if ((rc = run_text(c, m->texts[to - 1], to, err)))
            goto out;
        if ((rc = sql_get_values(c, SQL_USER_VERSION, NULL, 0, 0, &version, err)))
            goto out;
        if (version != to) {
            rc = error_set(err, ERR_INTERNAL, "migration %d leaves schema %d", to, (int)version);
            goto out;
        }
        if ((rc = sql_get_values(c, SQL_FOREIGN_KEY_CHECK, NULL, 0, 0, &broken, err)))
            goto out;
        if (broken) {
            rc = error_set(err, ERR_FORMAT, "migration %d: rows point to nothing", to);
            goto out;
        }
    }
    rc = sql_run0(c, SQL_COMMIT, err);
out:
    if (rc && !sqlite3_get_autocommit(c->db))
        (void)sql_run0(c, SQL_ROLLBACK, NULL);
    return rc;
}

static enum err look(struct sql_conn *c, const struct sqlite_migrations *m, int64_t *ret_version,
                     bool *ret_empty, struct error *err)
{
    int64_t tables = 0;
    int64_t application = 0;
    int64_t version = 0;
    enum err rc = sql_get_values(c, SQL_SCHEMA_TABLES, NULL, 0, 0, &tables, err);
    if (!rc)
        rc = sql_get_values(c, SQL_APPLICATION_ID, NULL, 0, 0, &application, err);
    if (!rc)
        rc = sql_get_values(c, SQL_USER_VERSION, NULL, 0, 0, &version, err);
    if (rc)
        return rc;
    if ((tables > 0 || application != 0) && application != APPLICATION_ID)
        return error_set(err, ERR_FORMAT, "a database, but not one of this program");
    if (tables > 0 && version == 0)
        return error_set(err, ERR_FORMAT, "a database without a schema number");
    if (version > m->count)
        return error_set(err, ERR_UNSUPPORTED,
                         "written by a newer program: it has schema %d, this one knows up to %d",
                         (int)version, m->count);
    *ret_version = version;
    *ret_empty = tables == 0;
    return ERR_OK;
}

enum err sqlite_migrate(struct sql_conn *c, const char *path, const struct sqlite_migrations *m,
                        struct storage_upgrade *ret, struct error *err)
{
    struct storage_upgrade done = {.to = m->count};
    int64_t version = 0;
    bool empty = false;
    enum err rc = look(c, m, &version, &empty, err);
    if (!rc && !empty && version < m->count && !m->allowed)
        rc = error_set(err, ERR_CONFLICT, "it has schema %d and needs a migration to %d",
                       (int)version, m->count);
    if (!rc)
        rc = sql_set(c, SQL_JOURNAL_WAL, err);
    if (!rc && version < m->count)
        rc = sql_set(c, SQL_FOREIGN_KEYS_OFF, err);
    if (!rc && !empty && version < m->count)
        rc = copy_before(c, path, (int)version + 1, done.copy, sizeof(done.copy), err);
    for (int to = (int)version + 1; !rc && to <= m->count; to++)
        rc = migrate_to(c, m, to, err);
    if (!rc && version < m->count)
        rc = sql_set(c, SQL_FOREIGN_KEYS_ON, err);
    if (rc)
        return error_prefix(err, "%s", path);
    done.from = (int)version;
    *ret = done;
    return ERR_OK;
}
