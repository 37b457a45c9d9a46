/* WRITE_CLUSTER_CARRY: decisions about keys that are no more. */
#include <string.h>

#include "storage/sqlite_merges.h"

struct rule {
    int64_t app_id;
    enum cluster_rule_kind kind;
    uint8_t from[PART_KEY_SIZE], into[PART_KEY_SIZE];
    bool stands; /* in force, and by hand */
};

static bool same(const uint8_t *a, const uint8_t *b)
{
    return memcmp(a, b, PART_KEY_SIZE) == 0;
}

static enum err rule_of(struct sqlite_storage *s, uint64_t id, struct rule *ret, struct error *err)
{
    bool row = false;
    sqlite3_stmt *st = sql_start(&s->conn, SQL_RULE_GET, err, sql_int((int64_t)id));
    enum err rc = st ? sql_step(&s->conn, st, &row, err) : err->code;
    *ret = (struct rule){.stands = false};
    if (rc || !row)
        return rc;
    ret->app_id = sqlite3_column_int64(st, 0);
    ret->kind = (enum cluster_rule_kind)sqlite3_column_int(st, 1);
    sql_column_fixed(st, 2, ret->from, PART_KEY_SIZE);
    sql_column_fixed(st, 3, ret->into, PART_KEY_SIZE);
    ret->stands = sqlite3_column_int(st, 4) && !sqlite3_column_int(st, 5);
    sql_end(st);
    return ERR_OK;
}

/* May the merge lead away from there? One of an epoch's makes room. */
static enum err make_way(struct sqlite_storage *s, const struct op_carried *c,
                         const struct rule *rule, int64_t now_ms, bool *ret, struct error *err)
{
    uint8_t root[PART_KEY_SIZE];
    bool row = false;
    sqlite3_stmt *st = sql_start(&s->conn, SQL_RULE_OF_PART, err, sql_int(rule->app_id),
                                 sql_blob(c->from, PART_KEY_SIZE));
    enum err rc = st ? sql_step(&s->conn, st, &row, err) : err->code;
    if (rc)
        return rc;
    int64_t id = row ? sqlite3_column_int64(st, 0) : 0;
    bool by_hand = row && sqlite3_column_int(st, 1);
    if (row)
        sql_end(st);
    *ret = !by_hand;
    if (row && !by_hand)
        rc = sql_run(&s->conn, SQL_RULE_UNDO, err, sql_int(id), sql_int(now_ms));
    if (!rc)
        rc = sqlite_key_root(s, rule->app_id, c->into, root, err);
    *ret = *ret && !same(root, c->from);
    return rc;
}

static enum err carry(struct sqlite_storage *s, const struct op_carried *c, int64_t app_id,
                      int64_t now_ms, struct error *err)
{
    struct rule rule;
    bool stays = true;
    enum err rc = rule_of(s, c->rule_id, &rule, err);
    bool depth = rule.kind == CLUSTER_RULE_DEPTH;
    if (rc || !rule.stands || rule.app_id != app_id)
        return rc;
    if (!c->again && same(rule.from, c->from) && (depth || same(rule.into, c->into)))
        return ERR_OK; /* done before */
    if (rule.kind == CLUSTER_RULE_MERGE)
        rc = make_way(s, c, &rule, now_ms, &stays, err);
    else if (depth)
        rc = sql_run(&s->conn, SQL_RULES_UNDO_DEPTH, err, sql_int(app_id),
                     sql_blob(c->from, PART_KEY_SIZE), sql_int(now_ms));
    else
        stays = !same(c->from, c->into);
    if (rc)
        return rc;
    /* The id that stood for the key stands for the new one: it comes back when the rule is undone. */
    if (stays && !c->again)
        rc = sql_run(&s->conn, SQL_ALIAS_CARRY, err, sql_int(app_id),
                     sql_blob(rule.from, PART_KEY_SIZE), sql_blob(c->from, PART_KEY_SIZE));
    if (rc)
        return rc;
    if (stays)
        return sql_run(&s->conn, c->again ? SQL_RULE_CARRY_AGAIN : SQL_RULE_CARRY, err,
                       sql_int((int64_t)c->rule_id), sql_blob(c->from, PART_KEY_SIZE),
                       depth ? sql_null() : sql_blob(c->into, PART_KEY_SIZE));
    return c->again ? ERR_OK
                    : sql_run(&s->conn, SQL_RULE_UNDO, err, sql_int((int64_t)c->rule_id),
                              sql_int(now_ms));
}

enum err sqlite_write_cluster_carry(struct sqlite_storage *s, struct write_op *op,
                                    struct error *err)
{
    const struct op_cluster_carry *o = &op->u.cluster_carry;
    int64_t app_id = 0;
    enum err rc = sql_get(&s->conn, SQL_APP_GET, 0, &app_id, err, sql_text(o->bundle_id));
    for (size_t i = 0; i < o->count && !rc; i++)
        rc = carry(s, &o->items[i], app_id, o->now_ms, err);
    return rc;
}
