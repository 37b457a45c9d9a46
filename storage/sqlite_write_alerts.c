/* WRITE_ALERT_RULES, WRITE_ALERTS and WRITE_DELIVERY. */
#include <string.h>

#include "storage/sqlite_alerts.h"

enum err sqlite_write_alert_rules(struct sqlite_storage *s, struct write_op *op, struct error *err)
{
    struct op_alert_rules *o = &op->u.alert_rules;
    int64_t revision = 0;
    enum err rc = sql_get_values(&s->conn, SQL_ALERT_RULES_GET, NULL, 0, 0, &revision, err);
    if (rc)
        return rc;
    if (o->expected_revision >= 0 && o->expected_revision != revision)
        return error_set(err, ERR_CONFLICT, "the rules are at revision %lld by now",
                         (long long)revision);
    o->revision = revision + 1;
    return sql_run(&s->conn, SQL_ALERT_RULES_SET, err, sql_int(o->revision), sql_text(o->document),
                   sql_int(o->now_ms), sql_text(o->who));
}

/* Whether this cause has had its alert. */
static enum err was_made(struct sqlite_storage *s, const struct op_alert *a, int64_t app_id,
                         int64_t now_ms, bool *ret, struct error *err)
{
    int64_t at = 0;
    enum err rc = sql_get(&s->conn, SQL_ALERT_LATEST, INT64_MIN, &at, err, sql_int(a->kind),
                          sql_int(app_id), sql_int((int64_t)a->cluster_id), sql_text(a->subject));
    *ret = at != INT64_MIN && (a->window_ms == ALERT_ONCE || at > now_ms - a->window_ms);
    return rc;
}

static enum err make_alert(struct sqlite_storage *s, struct op_alert *a, int64_t now_ms,
                           struct error *err)
{
    int64_t app_id = 0;
    int64_t cluster_id = 0;
    bool made = false;
    a->id = 0;
    enum err rc = ERR_OK;
    if (*a->bundle_id)
        rc = sql_get(&s->conn, SQL_APP_GET, 0, &app_id, err, sql_text(a->bundle_id));
    if (!rc && a->cluster_id)
        rc = sql_get(&s->conn, SQL_CLUSTER_LIVING, 0, &cluster_id, err,
                     sql_int((int64_t)a->cluster_id));
    if (rc || (*a->bundle_id && !app_id) || (a->cluster_id && !cluster_id))
        return rc;
    a->cluster_id = (uint64_t)cluster_id;
    rc = was_made(s, a, app_id, now_ms, &made, err);
    if (rc || made)
        return rc;
    rc = sql_run(&s->conn, SQL_ALERT_INSERT, err, sql_int(a->kind), sql_int(app_id),
                 sql_int(cluster_id), sql_text(a->subject), sql_text(a->body), sql_int(now_ms));
    int64_t id = sqlite3_last_insert_rowid(s->conn.db);
    for (size_t i = 0; i < a->target_count && !rc; i++)
        rc = sql_run(&s->conn, SQL_DELIVERY_INSERT, err, sql_int(id), sql_text(a->targets[i]),
                     sql_int(now_ms));
    if (!rc && a->kind == ALERT_NEW_CLUSTER)
        rc = sql_run(&s->conn, SQL_ALERT_ANNOUNCED, err, sql_int(cluster_id), sql_int(now_ms));
    a->id = rc ? 0 : (uint64_t)id;
    return rc;
}

enum err sqlite_write_alerts(struct sqlite_storage *s, struct write_op *op, struct error *err)
{
    struct op_alerts *o = &op->u.alerts;
    enum err rc = ERR_OK;
    o->made = 0;
    for (size_t i = 0; i < o->count && !rc; i++) {
        rc = make_alert(s, &o->items[i], o->now_ms, err);
        o->made += o->items[i].id != 0;
    }
    if (!rc && o->regressions_seen)
        rc = sql_run(&s->conn, SQL_SEQUENCE_SET, err, sql_text("alert_regressions"),
                     sql_int((int64_t)o->regressions_seen));
    if (!rc)
        rc = sql_run(&s->conn, SQL_ALERTS_EXPIRE, err, sql_int(o->expire_before_ms));
    return rc;
}

enum err sqlite_write_delivery(struct sqlite_storage *s, struct write_op *op, struct error *err)
{
    const struct op_delivery *o = &op->u.delivery;
    return sql_run(&s->conn, SQL_DELIVERY_SET, err, sql_int((int64_t)o->id), sql_int(o->state),
                   sql_int(o->attempted), sql_int(o->next_ms), sql_int(o->status),
                   sql_text(o->error),
                   o->state == DELIVERY_PENDING ? sql_null() : sql_int(o->now_ms));
}
