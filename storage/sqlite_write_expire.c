/*
 * WRITE_EXPIRE: retention.
 *
 * A stack without raw reports has nothing left that tells it from its cluster: its counters are
 * folded into the cluster's heaviest stack and it goes, so that clients cannot grow the database
 * for ever. The heaviest stack stays, whatever its age: it shows the frames.
 */
#include "base/clock.h"
#include "storage/sqlite_clusters.h"
#include "storage/sqlite_heft.h"
#include "storage/sqlite_ids.h"
#include "storage/sqlite_rollup.h"

#define DICT_DAYS_KEPT 2

struct id_list {
    struct arena *arena;
    int64_t *items;
    size_t count, cap;
};

static enum err id_list_add(struct id_list *l, int64_t id, struct error *err)
{
    if (l->count && l->items[l->count - 1] == id)
        return ERR_OK;
    if (!arena_room(l->arena, (void **)&l->items, l->count, &l->cap, sizeof(*l->items)))
        return error_set(err, ERR_NO_MEMORY, "no memory for retention");
    l->items[l->count++] = id;
    return ERR_OK;
}

static enum err id_row(void *ctx, sqlite3_stmt *st, struct error *err)
{
    return id_list_add(ctx, sqlite3_column_int64(st, 0), err);
}

/* First columns of a query's rows. */
static enum err id_list_query(struct sqlite_storage *s, struct id_list *l, enum sql_query q,
                              const struct sql_value *values, size_t count, struct error *err)
{
    return sqlite_each_row(&s->conn, sql_bind(&s->conn, q, values, count, err), id_row, l, err);
}

static enum err drop_stack(struct sqlite_storage *s, int64_t stack_id, struct error *err)
{
    enum err rc = sql_run(&s->conn, SQL_STACK_MISSING_FORGET, err, sql_int(stack_id));
    if (!rc)
        rc = sql_run(&s->conn, SQL_STACK_DELETE, err, sql_int(stack_id));
    return rc;
}

static enum err fold_stack_into(struct sqlite_storage *s, int64_t stack_id, int64_t heir,
                                struct error *err)
{
    static const enum sql_query folds[] = {
        SQL_COUNTERS_FOLD,
        SQL_WEEK_DEVICES_FOLD,
        SQL_WEEK_PAGES_FOLD,
        SQL_STACK_FOLD,
    };
    const struct sql_value pair[] = {sql_int(stack_id), sql_int(heir)};
    enum err rc = ERR_OK;
    for (size_t i = 0; i < sizeof(folds) / sizeof(folds[0]) && !rc; i++)
        rc = sql_run_values(&s->conn, folds[i], pair, 2, err);
    return rc;
}

/* Retires a stack that no raw row points to: a resolved one now, a pending one when it is resolved. */
static enum err retire_stack(struct sqlite_storage *s, int64_t stack_id, struct error *err)
{
    bool row = false;
    sqlite3_stmt *st = sql_start(&s->conn, SQL_STACK_HEIR, err, sql_int(stack_id));
    enum err rc = st ? sql_step(&s->conn, st, &row, err) : err->code;
    if (!rc && !row)
        rc = sql_run(&s->conn, SQL_STACK_LEFT, err, sql_int(stack_id));
    if (rc || !row)
        return rc;
    int64_t heir = sqlite3_column_int64(st, 0);
    int64_t cluster = sqlite3_column_int64(st, 1);
    int64_t heaviest = sqlite3_column_int64(st, 2);
    sql_end(st);
    if (heir != stack_id) {
        rc = fold_stack_into(s, stack_id, heir, err);
        if (!rc)
            rc = sqlite_heft_stack(s, heir, err);
        return rc ? rc : drop_stack(s, stack_id, err);
    }
    if (heaviest > 0)
        return ERR_OK;
    rc = drop_stack(s, stack_id, err);
    return rc ? rc : sqlite_cluster_reap(s, cluster, err);
}

static enum err delete_report(struct sqlite_storage *s, int64_t id, struct id_list *stacks,
                              struct error *err)
{
    const struct sql_value value = sql_int(id);
    enum err rc = id_list_query(s, stacks, SQL_REPORT_STACKS, &value, 1, err);
    if (!rc)
        rc = sql_run(&s->conn, SQL_STACK_GONE, err, value);
    if (!rc)
        rc = sql_run(&s->conn, SQL_REPORT_DELETE, err, value);
    return rc;
}

/* Those that were pending when their last report went, and are resolved by now. */
static enum err retire_left(struct sqlite_storage *s, const struct op_expire *o, struct error *err)
{
    struct id_list stacks = {.arena = &s->scratch};
    const struct sql_value limit = sql_int(o->max_rows);
    enum err rc = id_list_query(s, &stacks, SQL_STACKS_LEFT, &limit, 1, err);
    for (size_t i = 0; i < stacks.count && !rc; i++) {
        rc = sql_run(&s->conn, SQL_STACK_LEFT_DONE, err, sql_int(stacks.items[i]));
        if (!rc)
            rc = retire_stack(s, stacks.items[i], err);
    }
    return rc;
}

/* Reports are in order of receipt; the oldest ones go. */
static enum err expire_reports(struct sqlite_storage *s, struct op_expire *o, struct error *err)
{
    struct id_list reports = {.arena = &s->scratch};
    struct id_list stacks = {.arena = &s->scratch};
    const struct sql_value range[] = {sql_int(o->reports_before_ms), sql_int(o->max_rows)};
    enum err rc = id_list_query(s, &reports, SQL_REPORTS_OLD, range, 2, err);
    if (!rc && reports.count)
        rc = sqlite_rollup(s, err);
    for (size_t i = 0; i < reports.count && !rc; i++)
        rc = delete_report(s, reports.items[i], &stacks, err);
    for (size_t i = 0; i < stacks.count && !rc; i++)
        rc = retire_stack(s, stacks.items[i], err);
    o->more |= reports.count == o->max_rows;
    o->dropped = reports.count;
    return rc;
}

enum err sqlite_write_expire(struct sqlite_storage *s, struct write_op *op, struct error *err)
{
    struct op_expire *o = &op->u.expire;
    int64_t oldest = INT64_MAX;
    bool days = false;
    o->more = false;
    enum err rc = retire_left(s, o, err);
    if (!rc)
        rc = expire_reports(s, o, err);
    /* Ids answer for reports that are still there (read_report), too. */
    if (!rc)
        rc = sql_get(&s->conn, SQL_REPORT_RECEIVED, INT64_MAX, &oldest, err, sql_int(0));
    const int64_t ids_before = o->report_ids_before_ms < oldest ? o->report_ids_before_ms : oldest;
    const struct {
        enum sql_query query;
        int64_t before;
    } tables[] = {
        {SQL_REPORT_IDS_EXPIRE, ids_before / CLOCK_DAY_MS},
        {SQL_NEW_IDS_EXPIRE, ids_before / CLOCK_DAY_MS},
        {SQL_IMAGE_SETS_EXPIRE, o->image_sets_before_ms},
        {SQL_DICT_DAYS_EXPIRE, clock_day(o->now_ms) - DICT_DAYS_KEPT},
    };
    /* A day is forgotten after its last report, else filters by time would skip what is left. */
    if (!rc && !o->more)
        rc = sql_run(&s->conn, SQL_REPORT_DAYS_EXPIRE, err,
                     sql_int(o->reports_before_ms / CLOCK_DAY_MS));
    for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]) && !rc; i++) {
        rc = sql_run(&s->conn, tables[i].query, err, sql_int(tables[i].before),
                     sql_int(o->max_rows));
        int64_t gone = rc ? 0 : sqlite3_changes64(s->conn.db);
        o->more |= gone == (int64_t)o->max_rows;
        days = days || (gone > 0 && tables[i].query == SQL_REPORT_IDS_EXPIRE);
        if (gone > 0 && tables[i].query == SQL_NEW_IDS_EXPIRE)
            sqlite_ids_forget(s);
    }
    return !rc && days ? sqlite_ids_days(s, err) : rc;
}
