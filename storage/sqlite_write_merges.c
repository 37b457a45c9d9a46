/* WRITE_CLUSTER_RULE, WRITE_CLUSTER_RULE_UNDO and WRITE_CLUSTER_WORK: what people decide. */
#include <string.h>

#include "storage/sqlite_life.h"
#include "storage/sqlite_merges.h"
#include "storage/sqlite_rows.h"

struct cluster_facts {
    int64_t id, app_id;
    int64_t kind;
    bool provisional, hidden;
    uint8_t key[PART_KEY_SIZE];
    const char *title;
};

/* --- shared ----------------------------------------------------------------------------------- */

enum err sqlite_rule_insert(struct sqlite_storage *s, const struct rule_values *v, uint64_t *ret_id,
                            struct error *err)
{
    enum err rc = sql_run(
        &s->conn, SQL_RULE_INSERT, err, sql_int(v->app_id), sql_int(v->kind),
        sql_blob(v->from, PART_KEY_SIZE), v->into ? sql_blob(v->into, PART_KEY_SIZE) : sql_null(),
        sql_int(v->depth), sql_int(v->by_hand), sql_int(v->score), sql_int((int64_t)v->epoch),
        sql_int(v->now_ms), sql_text(v->from_title ? v->from_title : ""),
        sql_text(v->into_title ? v->into_title : ""));
    if (!rc && ret_id)
        *ret_id = (uint64_t)sqlite3_last_insert_rowid(s->conn.db);
    return rc;
}

/* NULL: there is no cluster of that key. */
static enum err state_of(struct sqlite_storage *s, int64_t app_id, const uint8_t *key,
                         const char **ret, struct error *err)
{
    bool row = false;
    bool failed = false;
    sqlite3_stmt *st =
        sql_start(&s->conn, SQL_CLUSTER_TITLE, err, sql_int(app_id), sql_blob(key, PART_KEY_SIZE));
    enum err rc = st ? sql_step(&s->conn, st, &row, err) : err->code;
    *ret = NULL;
    if (rc || !row)
        return rc;
    *ret = sql_column_text(st, 1, &s->scratch, &failed);
    sql_end(st);
    return failed ? error_set(err, ERR_NO_MEMORY, "no memory for a cluster") : ERR_OK;
}

enum err sqlite_merge_states(struct sqlite_storage *s, int64_t app_id, const uint8_t *from,
                             const uint8_t *into, struct error *err)
{
    const char *a = NULL;
    const char *b = NULL;
    enum err rc = state_of(s, app_id, into, &a, err);
    if (!rc)
        rc = state_of(s, app_id, from, &b, err);
    if (rc || !a || !b)
        return rc;
    rc = sql_run(&s->conn, SQL_CLUSTER_REOPEN, err, sql_int(app_id), sql_blob(into, PART_KEY_SIZE),
                 sql_text(cluster_state_merged(a, b)));
    return rc ? rc : sqlite_life_merged(s, app_id, from, into, err);
}

enum err sqlite_work_ask(struct sqlite_storage *s, int64_t app_id, enum cluster_work_kind kind,
                         enum cluster_work_phase phase, int64_t cluster_id, int64_t now_ms,
                         struct error *err)
{
    const struct sql_value values[] = {sql_int(app_id), sql_int(kind), sql_int(cluster_id),
                                       sql_int(now_ms), sql_int(phase)};
    enum err rc = sql_run_values(&s->conn, SQL_WORK_RESTART, values, 5, err);
    if (rc || sqlite3_changes(s->conn.db) > 0)
        return rc;
    return sql_run_values(&s->conn, SQL_WORK_INSERT, values, 5, err);
}

static enum err no_cluster(uint64_t id, struct error *err)
{
    return error_set(err, ERR_NOT_FOUND, "no such cluster %llu", (unsigned long long)id);
}

static enum err facts_of(struct sqlite_storage *s, uint64_t id, const char *bundle_id,
                         struct cluster_facts *ret, struct error *err)
{
    bool row = false;
    bool failed = false;
    sqlite3_stmt *st = sql_start(&s->conn, SQL_CLUSTER_FACTS, err, sql_int((int64_t)id));
    enum err rc = st ? sql_step(&s->conn, st, &row, err) : err->code;
    if (rc)
        return rc;
    if (!row)
        return no_cluster(id, err);
    *ret = (struct cluster_facts){.app_id = sqlite3_column_int64(st, 0),
                                  .kind = sqlite3_column_int64(st, 1),
                                  .provisional = sqlite3_column_int(st, 2),
                                  .hidden = sqlite3_column_int(st, 3),
                                  .title = sql_column_text(st, 5, &s->scratch, &failed),
                                  .id = sqlite3_column_int64(st, 7)};
    sql_column_fixed(st, 4, ret->key, sizeof(ret->key));
    const char *app = sql_column_text(st, 6, &s->scratch, &failed);
    sql_end(st);
    if (failed)
        return error_set(err, ERR_NO_MEMORY, "no memory for a cluster");
    return bundle_id && strcmp(bundle_id, app) != 0 ? no_cluster(id, err) : ERR_OK;
}

/* A cluster that stands for a cause, and the key that merges lead to from it. */
static enum err cause_of(struct sqlite_storage *s, uint64_t id, const char *bundle_id,
                         struct cluster_facts *ret, struct error *err)
{
    enum err rc = facts_of(s, id, bundle_id, ret, err);
    if (rc)
        return rc;
    if (ret->provisional)
        return error_set(err, ERR_CONFLICT,
                         "cluster %llu is provisional: its symbol file is not there yet",
                         (unsigned long long)id);
    if (ret->hidden || ret->kind >= CLUSTER_KINDS_OF_CAUSES)
        return error_set(err, ERR_CONFLICT,
                         "cluster %llu stands for no cause: its stacks are idle or in no image",
                         (unsigned long long)id);
    return sqlite_key_root(s, ret->app_id, ret->key, ret->key, err);
}

/* --- merge ------------------------------------------------------------------------------------ */

struct apart_pair {
    int64_t id;
    uint8_t keys[2][PART_KEY_SIZE];
};

static bool fill_apart(sqlite3_stmt *st, struct arena *arena, void *row)
{
    struct apart_pair *p = row;
    (void)arena;
    p->id = sqlite3_column_int64(st, 0);
    sql_column_fixed(st, 1, p->keys[0], PART_KEY_SIZE);
    sql_column_fixed(st, 2, p->keys[1], PART_KEY_SIZE);
    return true;
}

/* Rules that say that two causes which become one are two: the last word counts. */
static enum err forget_apart(struct sqlite_storage *s, int64_t app_id, const uint8_t *from,
                             const uint8_t *into, int64_t now_ms, struct error *err)
{
    struct apart_pair *pairs = NULL;
    size_t count = 0;
    enum err rc =
        sqlite_row_array(&s->conn, sql_start(&s->conn, SQL_RULES_APART, err, sql_int(app_id)),
                         fill_apart, &s->scratch, &pairs, &count, err);
    for (size_t i = 0; i < count && !rc; i++) {
        uint8_t roots[2][PART_KEY_SIZE] = {{0}};
        rc = sqlite_key_root(s, app_id, pairs[i].keys[0], roots[0], err);
        if (!rc)
            rc = sqlite_key_root(s, app_id, pairs[i].keys[1], roots[1], err);
        bool there = memcmp(roots[0], from, PART_KEY_SIZE) == 0 &&
                     memcmp(roots[1], into, PART_KEY_SIZE) == 0;
        bool back = memcmp(roots[1], from, PART_KEY_SIZE) == 0 &&
                    memcmp(roots[0], into, PART_KEY_SIZE) == 0;
        if (!rc && (there || back))
            rc = sql_run(&s->conn, SQL_RULE_UNDO, err, sql_int(pairs[i].id), sql_int(now_ms));
    }
    return rc;
}

static enum err merge_one(struct sqlite_storage *s, struct op_cluster_rule *o, size_t i,
                          const struct cluster_facts *into, struct error *err)
{
    struct cluster_facts from;
    enum err rc = cause_of(s, o->from[i], o->bundle_id, &from, err);
    if (rc)
        return rc;
    if (from.app_id != into->app_id)
        return error_set(err, ERR_CONFLICT, "clusters %llu and %llu are of different apps",
                         (unsigned long long)o->from[i], (unsigned long long)o->cluster_id);
    if (memcmp(from.key, into->key, PART_KEY_SIZE) == 0)
        return error_set(err, ERR_CONFLICT, "clusters %llu and %llu are one already",
                         (unsigned long long)o->from[i], (unsigned long long)o->cluster_id);
    const struct rule_values values = {.app_id = into->app_id,
                                       .kind = CLUSTER_RULE_MERGE,
                                       .from = from.key,
                                       .into = into->key,
                                       .by_hand = true,
                                       .now_ms = o->now_ms,
                                       .from_title = from.title,
                                       .into_title = into->title};
    rc = forget_apart(s, into->app_id, from.key, into->key, o->now_ms, err);
    if (!rc)
        rc = sqlite_merge_states(s, into->app_id, from.key, into->key, err);
    if (!rc)
        rc = sqlite_rule_insert(s, &values, &o->rule_ids[o->rule_count], err);
    if (!rc)
        rc = sqlite_work_ask(s, into->app_id, CLUSTER_WORK_ALIGN, CLUSTER_PHASE_ALIGN, from.id,
                             o->now_ms, err);
    o->rule_count += !rc;
    return rc;
}

/* --- split ------------------------------------------------------------------------------------ */

/* Takes back that the part was merged, and remembers that it is another cause. */
static enum err set_apart(struct sqlite_storage *s, int64_t app_id, const uint8_t *part,
                          int64_t now_ms, uint64_t *ret_id, struct error *err)
{
    bool row = false;
    sqlite3_stmt *st =
        sql_start(&s->conn, SQL_RULE_OF_PART, err, sql_int(app_id), sql_blob(part, PART_KEY_SIZE));
    enum err rc = st ? sql_step(&s->conn, st, &row, err) : err->code;
    if (rc)
        return rc;
    if (!row)
        return error_set(err, ERR_CONFLICT,
                         "this is the cluster's own part: there is no merge to take back");
    uint8_t into[PART_KEY_SIZE];
    int64_t id = sqlite3_column_int64(st, 0);
    bool failed = false;
    sql_column_fixed(st, 2, into, sizeof(into));
    const char *from_title = sql_column_text(st, 3, &s->scratch, &failed);
    const char *into_title = sql_column_text(st, 4, &s->scratch, &failed);
    sql_end(st);
    if (failed)
        return error_set(err, ERR_NO_MEMORY, "no memory for a rule");
    const struct rule_values values = {.app_id = app_id,
                                       .kind = CLUSTER_RULE_APART,
                                       .from = part,
                                       .into = into,
                                       .by_hand = true,
                                       .now_ms = now_ms,
                                       .from_title = from_title,
                                       .into_title = into_title};
    rc = sql_run(&s->conn, SQL_RULE_UNDO, err, sql_int(id), sql_int(now_ms));
    return rc ? rc : sqlite_rule_insert(s, &values, ret_id, err);
}

static enum err set_depth(struct sqlite_storage *s, const struct op_cluster_rule *o,
                          const struct cluster_facts *c, const uint8_t *part, uint64_t *ret_id,
                          struct error *err)
{
    const struct rule_values values = {.app_id = c->app_id,
                                       .kind = CLUSTER_RULE_DEPTH,
                                       .from = part,
                                       .depth = o->depth,
                                       .by_hand = true,
                                       .now_ms = o->now_ms,
                                       .from_title = c->title};
    enum err rc = sql_run(&s->conn, SQL_RULES_UNDO_DEPTH, err, sql_int(c->app_id),
                          sql_blob(part, PART_KEY_SIZE), sql_int(o->now_ms));
    return rc ? rc : sqlite_rule_insert(s, &values, ret_id, err);
}

static enum err split(struct sqlite_storage *s, struct op_cluster_rule *o, struct error *err)
{
    struct cluster_facts c;
    uint8_t root[PART_KEY_SIZE];
    int64_t known = 0;
    enum err rc = cause_of(s, o->cluster_id, o->bundle_id, &c, err);
    const uint8_t *part = o->has_part ? o->part : c.key;
    if (!rc)
        rc = sqlite_key_root(s, c.app_id, part, root, err);
    if (!rc)
        rc = sql_get(&s->conn, SQL_PART_APP, 0, &known, err, sql_int(c.app_id),
                     sql_blob(part, PART_KEY_SIZE));
    if (rc)
        return rc;
    if (!known || memcmp(root, c.key, sizeof(root)) != 0)
        return error_set(err, ERR_NOT_FOUND, "cluster %llu has no such part",
                         (unsigned long long)o->cluster_id);
    if (o->kind == CLUSTER_RULE_APART)
        rc = set_apart(s, c.app_id, part, o->now_ms, &o->rule_ids[0], err);
    else
        rc = set_depth(s, o, &c, part, &o->rule_ids[0], err);
    if (!rc)
        rc = sqlite_work_ask(s, c.app_id, CLUSTER_WORK_ALIGN,
                             o->kind == CLUSTER_RULE_DEPTH ? CLUSTER_PHASE_LEARN
                                                           : CLUSTER_PHASE_ALIGN,
                             c.id, o->now_ms, err);
    o->rule_count = !rc;
    return rc;
}

enum err sqlite_write_cluster_rule(struct sqlite_storage *s, struct write_op *op, struct error *err)
{
    struct op_cluster_rule *o = &op->u.cluster_rule;
    struct cluster_facts into;
    o->rule_count = 0;
    if (o->kind != CLUSTER_RULE_MERGE)
        return split(s, o, err);
    enum err rc = cause_of(s, o->cluster_id, o->bundle_id, &into, err);
    for (size_t i = 0; i < o->from_count && i < CLUSTER_FROM_MAX && !rc; i++)
        rc = merge_one(s, o, i, &into, err);
    return rc;
}

/* --- undo ------------------------------------------------------------------------------------- */

struct rule_facts {
    int64_t app_id;
    enum cluster_rule_kind kind;
    uint8_t from[PART_KEY_SIZE], into[PART_KEY_SIZE];
    bool by_hand, undone;
};

static enum err rule_facts_of(struct sqlite_storage *s, const struct op_cluster_rule_undo *o,
                              struct rule_facts *ret, struct error *err)
{
    bool row = false;
    bool failed = false;
    sqlite3_stmt *st = sql_start(&s->conn, SQL_RULE_GET, err, sql_int((int64_t)o->rule_id));
    enum err rc = st ? sql_step(&s->conn, st, &row, err) : err->code;
    if (rc)
        return rc;
    const char *app = row ? sql_column_text(st, 6, &s->scratch, &failed) : NULL;
    if (row) {
        *ret = (struct rule_facts){.app_id = sqlite3_column_int64(st, 0),
                                   .kind = (enum cluster_rule_kind)sqlite3_column_int(st, 1),
                                   .by_hand = sqlite3_column_int(st, 4),
                                   .undone = sqlite3_column_int(st, 5)};
        sql_column_fixed(st, 2, ret->from, PART_KEY_SIZE);
        sql_column_fixed(st, 3, ret->into, PART_KEY_SIZE);
        sql_end(st);
    }
    if (failed)
        return error_set(err, ERR_NO_MEMORY, "no memory for a rule");
    if (!app || (o->bundle_id && strcmp(o->bundle_id, app) != 0))
        return error_set(err, ERR_NOT_FOUND, "no such rule");
    if (ret->undone)
        return error_set(err, ERR_CONFLICT, "this rule was undone before");
    return ERR_OK;
}

enum err sqlite_write_cluster_rule_undo(struct sqlite_storage *s, struct write_op *op,
                                        struct error *err)
{
    const struct op_cluster_rule_undo *o = &op->u.cluster_rule_undo;
    struct rule_facts r;
    uint8_t root[PART_KEY_SIZE];
    int64_t cluster_id = 0;
    enum err rc = rule_facts_of(s, o, &r, err);
    if (!rc)
        rc = sqlite_key_root(s, r.app_id, r.from, root, err);
    if (!rc && r.kind == CLUSTER_RULE_MERGE)
        rc = sql_get(&s->conn, SQL_CLUSTER_FIND, 0, &cluster_id, err, sql_int(r.app_id),
                     sql_blob(root, sizeof(root)));
    if (rc)
        return rc;
    if (r.kind == CLUSTER_RULE_MERGE && !r.by_hand)
        rc = set_apart(s, r.app_id, r.from, o->now_ms, NULL, err);
    else
        rc =
            sql_run(&s->conn, SQL_RULE_UNDO, err, sql_int((int64_t)o->rule_id), sql_int(o->now_ms));
    /* That two causes may be one again is for the next epoch to decide. */
    if (rc || r.kind == CLUSTER_RULE_APART)
        return rc;
    return sqlite_work_ask(s, r.app_id, CLUSTER_WORK_ALIGN,
                           r.kind == CLUSTER_RULE_DEPTH ? CLUSTER_PHASE_LEARN : CLUSTER_PHASE_ALIGN,
                           cluster_id, o->now_ms, err);
}

/* --- work ------------------------------------------------------------------------------------- */

static enum err ask_for_work(struct sqlite_storage *s, struct op_cluster_work *o, struct error *err)
{
    int64_t *apps = NULL;
    size_t count = 0;
    enum err rc =
        sqlite_row_array(&s->conn, sql_start(&s->conn, SQL_WORK_APPS, err, sql_text(o->bundle_id)),
                         sqlite_fill_int, &s->scratch, &apps, &count, err);
    for (size_t i = 0; i < count && !rc; i++)
        rc = sqlite_work_ask(s, apps[i], o->kind, CLUSTER_PHASE_LEARN, 0, o->now_ms, err);
    o->count = count;
    return rc;
}

enum err sqlite_write_cluster_work(struct sqlite_storage *s, struct write_op *op, struct error *err)
{
    struct op_cluster_work *o = &op->u.cluster_work;
    if (o->id == 0)
        return ask_for_work(s, o, err);
    enum err rc = sql_run(&s->conn, SQL_WORK_PROGRESS, err, sql_int((int64_t)o->id),
                          sql_int(o->phase), sql_int((int64_t)o->after_id),
                          sql_int((int64_t)o->seen), sql_int((int64_t)o->changed),
                          sql_int((int64_t)o->total), sql_text(o->rules_version),
                          sql_int(o->now_ms), sql_int(o->finished), sql_int(o->attempt));
    if (!rc && o->finished)
        rc = sql_run0(&s->conn, SQL_WORK_FORGET, err);
    return rc;
}
