/*
 * Writing: groups, savepoints, and which function applies which op.
 *
 * DESIGN: a group is one transaction (BEGIN IMMEDIATE, so that waiting for a lock happens where
 * SQLite does wait), an op is one savepoint in it. Row ids of reports and stacks are counted here
 * and written back once a group: an id is never used twice, even when its row was deleted, without
 * paying for AUTOINCREMENT on every insert. When anything is rolled back all caches are emptied.
 * A commit that failed leaves SQLite's connection in a state nobody should reason about: it is
 * closed, and opened again before the next group.
 *
 * Which table is written by what: sqlite_write_batch.c (reports), sqlite_ids.c (their ids),
 * sqlite_counters.c (all sums), sqlite_moves.c, sqlite_rollup.c (sums of clusters),
 * sqlite_images.c (images, layouts, slide groups), sqlite_write_resolve.c (frames, clusters),
 * sqlite_write_merges.c (what clusters are made of), sqlite_write_epoch.c (the second stage),
 * sqlite_life.c (states of clusters), sqlite_write_findings.c (culprits, deadlocks),
 * sqlite_write_symbols.c (uploads, repending), sqlite_write_store.c (objects, refits, pieces),
 * sqlite_write_alerts.c (alerts, the outbox), sqlite_write_usage.c (foreground time, launches),
 * sqlite_config.c, sqlite_quota.c (control), sqlite_write_hours.c, sqlite_write_expire.c
 * (retention).
 */
#include <stdio.h>
#include <string.h>

#include "storage/sqlite_alerts.h"
#include "storage/sqlite_config.h"
#include "storage/sqlite_counters.h"
#include "storage/sqlite_ids.h"
#include "storage/sqlite_quota.h"
#include "storage/sqlite_rollup.h"
#include "storage/sqlite_seen.h"

typedef enum err apply_function(struct sqlite_storage *s, struct write_op *op, struct error *err);

static apply_function *const apply_functions[] = {
    [WRITE_BATCHES] = sqlite_write_batches,
    [WRITE_RESOLUTIONS] = sqlite_write_resolutions,
    [WRITE_UPLOAD] = sqlite_write_upload,
    [WRITE_UPLOAD_STATE] = sqlite_write_upload_state,
    [WRITE_REPEND] = sqlite_write_repend,
    [WRITE_SYMBOL_DELETE] = sqlite_write_symbol_delete,
    [WRITE_TOKEN] = sqlite_write_token,
    [WRITE_TOKEN_REVOKE] = sqlite_write_token_revoke,
    [WRITE_EXPIRE] = sqlite_write_expire,
    [WRITE_GIVE_UP] = sqlite_write_give_up,
    [WRITE_HOURS_EXPIRE] = sqlite_write_hours_expire,
    [WRITE_REKEY] = sqlite_write_rekey,
    [WRITE_CLUSTER_RULE] = sqlite_write_cluster_rule,
    [WRITE_CLUSTER_RULE_UNDO] = sqlite_write_cluster_rule_undo,
    [WRITE_EPOCH] = sqlite_write_epoch,
    [WRITE_CLUSTER_CARRY] = sqlite_write_cluster_carry,
    [WRITE_CLUSTER_WORK] = sqlite_write_cluster_work,
    [WRITE_CONFIG] = sqlite_write_config,
    [WRITE_QUOTA] = sqlite_write_quota,
    [WRITE_UPLOAD_DELETE] = sqlite_write_upload_delete,
    [WRITE_REFIT] = sqlite_write_refit,
    [WRITE_REFITTED] = sqlite_write_refitted,
    [WRITE_OBJECTS] = sqlite_write_objects,
    [WRITE_PROTECT] = sqlite_write_protect,
    [WRITE_OPEN_UPLOAD] = sqlite_write_open_upload,
    [WRITE_PIECE] = sqlite_write_piece,
    [WRITE_OPEN_DROP] = sqlite_write_open_drop,
    [WRITE_USAGE] = sqlite_write_usage,
    [WRITE_FINDINGS] = sqlite_write_findings,
    [WRITE_CLUSTER_STATE] = sqlite_write_cluster_state,
    [WRITE_ALERT_RULES] = sqlite_write_alert_rules,
    [WRITE_ALERTS] = sqlite_write_alerts,
    [WRITE_DELIVERY] = sqlite_write_delivery,
    [WRITE_STAND_IN] = sqlite_write_stand_in,
};

static int on_commit(void *arg, sqlite3 *db, const char *schema, int pages)
{
    struct sqlite_storage *s = arg;
    (void)db;
    (void)schema;
    sqlite_log_pages_committed(&s->log_pages, s->log_mark, pages);
    return SQLITE_OK;
}

static enum err read_sequences(struct sqlite_storage *s, struct error *err)
{
    enum err rc =
        sql_get(&s->conn, SQL_SEQUENCE_GET, 1, &s->stored_report, err, sql_text("report"));
    if (!rc)
        rc = sql_get(&s->conn, SQL_SEQUENCE_GET, 1, &s->stored_stack, err, sql_text("stack"));
    if (rc)
        return rc;
    s->next_report = s->stored_report;
    s->next_stack = s->stored_stack;
    return ERR_OK;
}

static enum err write_sequences(struct sqlite_storage *s, struct error *err)
{
    enum err rc = ERR_OK;
    if (s->next_report != s->stored_report)
        rc = sql_run(&s->conn, SQL_SEQUENCE_SET, err, sql_text("report"), sql_int(s->next_report));
    if (!rc && s->next_stack != s->stored_stack)
        rc = sql_run(&s->conn, SQL_SEQUENCE_SET, err, sql_text("stack"), sql_int(s->next_stack));
    return rc;
}

static void forget_ids(struct sqlite_storage *s)
{
    id_cache_clear(&s->values);
    id_cache_clear(&s->names);
    memset(s->frames, 0, sizeof(*s->frames));
    s->resolved.known = false;
    sqlite_seen_forget(s);
}

/* Settings of the writer's connection; the file is there and migrated. */
static enum err set_up(struct sqlite_storage *s, struct error *err)
{
    sqlite3_wal_hook(s->conn.db, on_commit, s);
    enum err rc =
        sql_set(&s->conn, s->synchronous_full ? SQL_SYNCHRONOUS_FULL : SQL_SYNCHRONOUS_NORMAL, err);
    if (!rc)
        rc = sql_set(&s->conn, SQL_WRITER_CACHE, err);
    if (!rc)
        rc = read_sequences(s, err);
    if (!rc)
        rc = sqlite_ids_days(s, err);
    return rc;
}

enum err sqlite_writer_open(struct sqlite_storage *s, struct error *err)
{
    enum err rc = ERR_OK;
    if (!s->conn.db)
        rc = sql_conn_open(&s->conn, &s->conn_options, err);
    if (!rc)
        rc = set_up(s, err);
    if (rc)
        sql_conn_close(&s->conn);
    return rc;
}

enum err sqlite_begin(struct storage *base, struct error *err)
{
    struct sqlite_storage *s = sqlite_of(base);
    if (s->in_group)
        return error_set(err, ERR_INTERNAL, "a group is open already");
    enum err rc = sqlite_look_at_files(s, err);
    if (rc)
        return rc;
    if (!s->conn.db)
        rc = sqlite_writer_open(s, err);
    if (!rc)
        rc = sql_run0(&s->conn, SQL_BEGIN, err);
    if (rc) {
        /* A connection made while the file could not be written stays one for reading. */
        if (rc != ERR_BUSY)
            sql_conn_close(&s->conn);
        return rc;
    }
    s->in_group = true;
    s->group_lost = false;
    return ERR_OK;
}

/* Writes the sums of the batches so far; a failure is the end of the group. */
static enum err flush(struct sqlite_storage *s, struct error *err)
{
    struct error why = {0};
    enum err rc = sqlite_fold_flush(s, &why);
    if (rc) {
        s->group_lost = true;
        s->group_error = why;
        return error_set(err, rc, "%s", why.text);
    }
    return ERR_OK;
}

/* It changes when stacks were seen, and where they point, only in ways that sqlite_seen.h is told. */
static bool seen_holds(const struct write_op *op)
{
    return op->kind == WRITE_BATCHES || op->kind == WRITE_RESOLUTIONS || op->kind == WRITE_REKEY;
}

enum err sqlite_apply(struct storage *base, struct write_op *op, struct error *err)
{
    struct sqlite_storage *s = sqlite_of(base);
    struct error why = {0};
    if (!s->in_group)
        return error_set(err, ERR_INTERNAL, "no group is open");
    if (s->group_lost)
        return error_set(err, s->group_error.code, "%s", s->group_error.text);
    if (op->kind != WRITE_BATCHES && flush(s, err))
        return s->group_error.code;
    if (!seen_holds(op))
        sqlite_seen_forget(s);
    arena_reset(&s->scratch);
    const int64_t next_report = s->next_report;
    const int64_t next_stack = s->next_stack;
    const int64_t next_id = s->ids.next_seq;
    enum err rc = sql_run0(&s->conn, SQL_SAVEPOINT, &why);
    if (!rc) {
        rc = apply_functions[op->kind](s, op, &why);
        if (!rc)
            rc = sql_run0(&s->conn, SQL_RELEASE, &why);
    }
    if (!seen_holds(op))
        sqlite_seen_forget(s);
    if (!rc)
        return ERR_OK;
    forget_ids(s);
    if (s->ids.next_seq != next_id)
        sqlite_ids_forget(s);
    s->next_report = next_report;
    s->next_stack = next_stack;
    if (!sqlite3_get_autocommit(s->conn.db) && !sql_run0(&s->conn, SQL_ROLLBACK_TO, NULL) &&
        !sql_run0(&s->conn, SQL_RELEASE, NULL))
        return error_set(err, rc, "%s", why.text);
    /* The disk is full, or worse: SQLite gave the whole group up. */
    s->group_lost = true;
    s->group_error = why;
    return error_set(err, rc, "%s", why.text);
}

enum err sqlite_commit(struct storage *base, struct error *err)
{
    struct sqlite_storage *s = sqlite_of(base);
    if (!s->in_group)
        return error_set(err, ERR_INTERNAL, "no group is open");
    struct error why = {0};
    if (!s->group_lost)
        (void)flush(s, &why);
    if (s->group_lost)
        why = s->group_error;
    enum err rc = s->group_lost ? why.code : sqlite_rollup_due(s, &why);
    if (!rc)
        rc = sqlite_ids_put_away(s, &why);
    if (!rc)
        rc = write_sequences(s, &why);
    if (!rc)
        rc = sqlite_look_at_files(s, &why);
    s->log_mark = sqlite_log_pages_mark(&s->log_pages);
    if (!rc)
        rc = sql_run0(&s->conn, SQL_COMMIT, &why);
    if (!rc) {
        s->in_group = false;
        s->stored_report = s->next_report;
        s->stored_stack = s->next_stack;
        sqlite_ids_learn(s);
        return ERR_OK;
    }
    sqlite_rollback(base);
    sql_conn_close(&s->conn);
    return error_set(err, rc, "%s", why.text);
}

void sqlite_rollback(struct storage *base)
{
    struct sqlite_storage *s = sqlite_of(base);
    if (s->conn.db && !sqlite3_get_autocommit(s->conn.db) && sql_run0(&s->conn, SQL_ROLLBACK, NULL))
        sql_conn_close(&s->conn);
    forget_ids(s);
    sqlite_ids_forget(s);
    sqlite_fold_forget(s);
    s->next_report = s->stored_report;
    s->next_stack = s->stored_stack;
    s->in_group = false;
}
