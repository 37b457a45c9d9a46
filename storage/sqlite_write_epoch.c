/* WRITE_EPOCH: what the second stage found. */
#include <string.h>

#include "base/clock.h"
#include "storage/sqlite_merges.h"

#define UNDONE_KEPT_MS (90 * CLOCK_DAY_MS)
#define FORGET_ROWS    1000

/* Is it said that what becomes one by this merge is two? */
static enum err may_merge(struct sqlite_storage *s, int64_t app_id, const struct op_epoch_merge *m,
                          bool *ret, struct error *err)
{
    uint8_t root[PART_KEY_SIZE];
    int64_t taken = 0;
    enum err rc = sql_get(&s->conn, SQL_RULE_OF_PART, 0, &taken, err, sql_int(app_id),
                          sql_blob(m->from, PART_KEY_SIZE));
    if (!rc)
        rc = sqlite_key_root(s, app_id, m->into, root, err);
    if (rc)
        return rc;
    *ret = !taken && memcmp(root, m->from, sizeof(root)) != 0;
    bool row = *ret;
    sqlite3_stmt *st = *ret ? sql_start(&s->conn, SQL_RULES_APART, err, sql_int(app_id)) : NULL;
    if (!st)
        return *ret ? err->code : ERR_OK;
    while (!(rc = sql_step(&s->conn, st, &row, err)) && row) {
        uint8_t a[PART_KEY_SIZE], b[PART_KEY_SIZE];
        sql_column_fixed(st, 1, a, sizeof(a));
        sql_column_fixed(st, 2, b, sizeof(b));
        bool there = memcmp(a, m->from, sizeof(a)) == 0 && memcmp(b, m->into, sizeof(b)) == 0;
        bool back = memcmp(b, m->from, sizeof(b)) == 0 && memcmp(a, m->into, sizeof(a)) == 0;
        *ret = *ret && !there && !back;
    }
    return rc;
}

static enum err merge(struct sqlite_storage *s, int64_t app_id, const struct op_epoch *o,
                      const struct op_epoch_merge *m, struct error *err)
{
    bool allowed = false;
    enum err rc =
        sql_run(&s->conn, SQL_RULE_SCORE, err, sql_int(app_id), sql_blob(m->from, PART_KEY_SIZE),
                sql_blob(m->into, PART_KEY_SIZE), sql_int(m->score));
    if (rc || sqlite3_changes(s->conn.db) > 0)
        return rc;
    rc = may_merge(s, app_id, m, &allowed, err);
    if (rc || !allowed)
        return rc;
    const struct rule_values values = {.app_id = app_id,
                                       .kind = CLUSTER_RULE_MERGE,
                                       .from = m->from,
                                       .into = m->into,
                                       .score = m->score,
                                       .epoch = o->epoch,
                                       .now_ms = o->now_ms,
                                       .from_title = m->from_title,
                                       .into_title = m->into_title};
    rc = sqlite_merge_states(s, app_id, m->from, m->into, err);
    return rc ? rc : sqlite_rule_insert(s, &values, NULL, err);
}

static enum err put_overlay(struct sqlite_storage *s, int64_t app_id, const struct op_epoch *o,
                            struct error *err)
{
    if (!o->overlay)
        return sql_run(&s->conn, SQL_OVERLAY_EPOCH, err, sql_int(app_id),
                       sql_int((int64_t)o->epoch));
    return sql_run(&s->conn, SQL_OVERLAY_PUT, err, sql_int(app_id), sql_int((int64_t)o->epoch),
                   sql_blob(o->overlay, o->overlay_len));
}

static enum err replace_related(struct sqlite_storage *s, int64_t app_id, const struct op_epoch *o,
                                struct error *err)
{
    enum err rc = sql_run(&s->conn, SQL_RELATED_DROP, err, sql_int(app_id));
    for (size_t i = 0; i < o->related_count && !rc; i++)
        rc = sql_run(&s->conn, SQL_RELATED_INSERT, err, sql_int(app_id),
                     sql_blob(o->related[i].key, PART_KEY_SIZE),
                     sql_blob(o->related[i].other, PART_KEY_SIZE), sql_int(o->related[i].score));
    return rc;
}

enum err sqlite_write_epoch(struct sqlite_storage *s, struct write_op *op, struct error *err)
{
    const struct op_epoch *o = &op->u.epoch;
    int64_t app_id = 0;
    enum err rc = sql_get(&s->conn, SQL_APP_GET, 0, &app_id, err, sql_text(o->bundle_id));
    if (!rc && !app_id)
        rc = error_set(err, ERR_NOT_FOUND, "no such app");
    for (size_t i = 0; i < o->undo_count && !rc; i++)
        rc = sql_run(&s->conn, SQL_RULE_UNDO_EPOCHS, err, sql_int((int64_t)o->undo[i]),
                     sql_int(o->now_ms));
    for (size_t i = 0; i < o->merge_count && !rc; i++)
        rc = merge(s, app_id, o, &o->merges[i], err);
    if (!rc)
        rc = put_overlay(s, app_id, o, err);
    if (!rc && o->replaces_related)
        rc = replace_related(s, app_id, o, err);
    if (!rc)
        rc = sql_run(&s->conn, SQL_RULES_FORGET, err, sql_int(o->now_ms - UNDONE_KEPT_MS),
                     sql_int(FORGET_ROWS));
    return rc;
}
