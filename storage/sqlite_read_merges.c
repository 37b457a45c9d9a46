/* Reads of what clusters are made of: overlays, keys of stacks, rules, parts, work. */
#include <string.h>

#include "storage/read_plan.h"
#include "storage/sqlite_stacks.h"

#define RULE_COLUMNS 13 /* of the queries rules_page and parts_of_cluster */

static enum err no_memory(struct error *err)
{
    return error_set(err, ERR_NO_MEMORY, "no memory for an answer");
}

static int64_t time_or_none(sqlite3_stmt *st, int column)
{
    return sql_column_null(st, column) ? INT64_MIN : sqlite3_column_int64(st, column);
}

static bool fill_overlay(sqlite3_stmt *st, struct arena *arena, void *row)
{
    struct overlay_row *o = row;
    bool failed = false;
    o->app_id = (uint64_t)sqlite3_column_int64(st, 0);
    o->bundle_id = sql_column_text(st, 1, arena, &failed);
    o->version = (uint64_t)sqlite3_column_int64(st, 2);
    o->epoch = (uint64_t)sqlite3_column_int64(st, 3);
    o->data = sql_column_blob(st, 4, arena, &o->len, &failed);
    return !failed;
}

enum err sqlite_read_overlays(struct storage_reader *base, uint64_t after_version,
                              struct arena *arena, struct overlay_row **ret, size_t *ret_count,
                              struct error *err)
{
    struct sql_conn *c = &sqlite_reader_of(base)->conn;
    sqlite3_stmt *st = sql_start(c, SQL_OVERLAYS_AFTER, err, sql_int((int64_t)after_version));
    return sqlite_row_array(c, st, fill_overlay, arena, ret, ret_count, err);
}

/* --- stacks ----------------------------------------------------------------------------------- */

static enum err fill_keyed(struct sqlite_reader *r, sqlite3_stmt *st, struct arena *arena,
                           struct keyed_stack *k, struct error *err)
{
    bool failed = false;
    size_t raw_len = 0;
    size_t frames_len = 0;
    struct raw_stack raw;
    k->stack_id = (uint64_t)sqlite3_column_int64(st, 0);
    k->app_id = (uint64_t)sqlite3_column_int64(st, 1);
    k->generation = (uint32_t)sqlite3_column_int64(st, 2);
    k->give_up = sqlite3_column_int(st, 3);
    k->provisional = sqlite3_column_int(st, 4);
    k->weighted = sqlite3_column_int64(st, 5);
    sql_column_fixed(st, 6, k->hash, sizeof(k->hash));
    sql_column_fixed(st, 7, k->part, sizeof(k->part));
    sql_column_fixed(st, 8, k->cluster, sizeof(k->cluster));
    k->rules_version = sql_column_text(st, 9, arena, &failed);
    const void *data = sql_column_blob(st, 10, arena, &raw_len, &failed);
    const void *frames = sql_column_blob(st, 11, arena, &frames_len, &failed);
    if (failed)
        return no_memory(err);
    enum err rc = raw_stack_decode(data, raw_len, arena, &raw, err);
    if (!rc)
        rc = sqlite_frames_decode(r, &raw, frames, frames_len, arena, &k->resolved, err);
    k->damaged = rc == ERR_FORMAT;
    if (k->damaged)
        k->resolved = (struct resolved_stack){.count = 0};
    return k->damaged ? ERR_OK : rc;
}

enum err sqlite_read_keyed_stacks(struct storage_reader *base, const char *bundle_id,
                                  uint64_t cluster_id, uint64_t after_id, size_t limit,
                                  struct arena *arena, struct keyed_stack **ret, size_t *ret_count,
                                  struct error *err)
{
    struct sqlite_reader *r = sqlite_reader_of(base);
    struct row_list rows;
    bool row = false;
    enum err rc;
    row_list_init(&rows, sizeof(**ret), arena);
    sqlite3_stmt *st = sql_start(&r->conn, cluster_id ? SQL_KEYED_OF_CLUSTER : SQL_KEYED_OF_APP,
                                 err, sql_text(bundle_id), sql_int((int64_t)after_id),
                                 sql_int((int64_t)limit), sql_int((int64_t)cluster_id));
    if (!st)
        return err->code;
    while (!(rc = sql_step(&r->conn, st, &row, err)) && row) {
        struct keyed_stack *k = row_list_add(&rows, err);
        rc = k ? fill_keyed(r, st, arena, k, err) : ERR_NO_MEMORY;
        if (rc) {
            sql_end(st);
            return rc;
        }
    }
    if (rc)
        return rc;
    *ret = rows.items;
    *ret_count = rows.count;
    return ERR_OK;
}

enum err sqlite_read_stack_floor(struct storage_reader *base, const char *bundle_id,
                                 size_t heaviest, struct stack_floor *ret, uint64_t *ret_total,
                                 struct error *err)
{
    struct sql_conn *c = &sqlite_reader_of(base)->conn;
    struct stack_floor floor = {.weighted = INT64_MIN};
    int64_t total = 0;
    bool row = false;
    memset(floor.hash, 0xff, sizeof(floor.hash));
    enum err rc = sql_get(c, SQL_STACK_TOTAL, 0, &total, err, sql_text(bundle_id));
    if (!rc && heaviest > 0 && (uint64_t)total > heaviest) {
        sqlite3_stmt *st =
            sql_start(c, SQL_STACK_FLOOR, err, sql_text(bundle_id), sql_int((int64_t)heaviest - 1));
        rc = st ? sql_step(c, st, &row, err) : err->code;
        if (!rc && row) {
            floor.weighted = sqlite3_column_int64(st, 0);
            sql_column_fixed(st, 1, floor.hash, sizeof(floor.hash));
            sql_end(st);
        }
    }
    if (rc)
        return rc;
    *ret = floor;
    *ret_total = (uint64_t)total;
    return ERR_OK;
}

/* --- rules and parts -------------------------------------------------------------------------- */

/* Columns from `at` on. */
static bool fill_rule_at(sqlite3_stmt *st, int at, struct arena *arena, struct cluster_rule_row *r)
{
    bool failed = false;
    r->id = (uint64_t)sqlite3_column_int64(st, at);
    r->bundle_id = sql_column_text(st, at + 1, arena, &failed);
    r->kind = (enum cluster_rule_kind)sqlite3_column_int(st, at + 2);
    sql_column_fixed(st, at + 3, r->from, sizeof(r->from));
    sql_column_fixed(st, at + 4, r->into, sizeof(r->into));
    r->depth = (uint32_t)sqlite3_column_int64(st, at + 5);
    r->by_hand = sqlite3_column_int(st, at + 6);
    r->score = sqlite3_column_int64(st, at + 7);
    r->epoch = (uint64_t)sqlite3_column_int64(st, at + 8);
    r->created_ms = sqlite3_column_int64(st, at + 9);
    r->undone_ms = time_or_none(st, at + 10);
    r->from_title = sql_column_text(st, at + 11, arena, &failed);
    r->into_title = sql_column_text(st, at + 12, arena, &failed);
    return !failed;
}

static bool fill_rule(sqlite3_stmt *st, struct arena *arena, void *row)
{
    struct cluster_rule_row *r = row;
    r->cluster_id = (uint64_t)sqlite3_column_int64(st, RULE_COLUMNS);
    return fill_rule_at(st, 0, arena, r);
}

enum err sqlite_read_cluster_rules(struct storage_reader *base, const char *bundle_id, bool undone,
                                   size_t limit, const char *cursor, struct arena *arena,
                                   struct cluster_rule_row **ret, size_t *ret_count,
                                   const char **ret_next, struct error *err)
{
    struct sql_conn *c = &sqlite_reader_of(base)->conn;
    struct row_list rows;
    int64_t before = INT64_MAX;
    bool started = false;
    enum err rc = read_cursor_parse(cursor, 'm', &before, 1, &started, err);
    if (rc)
        return rc;
    row_list_init(&rows, sizeof(**ret), arena);
    sqlite3_stmt *st = sql_start(c, SQL_RULES_PAGE, err, sql_text(bundle_id),
                                 sql_int(started ? before : INT64_MAX), sql_int(undone),
                                 sql_int((int64_t)limit + 1));
    rc = sqlite_rows(c, st, fill_rule, &rows, err);
    if (rc)
        return rc;
    *ret = rows.items;
    *ret_count = rows.count < limit ? rows.count : limit;
    *ret_next = NULL;
    if (rows.count > limit) {
        const int64_t last = (int64_t)(*ret)[limit - 1].id;
        if (!(*ret_next = read_cursor_make(arena, 'm', &last, 1)))
            return no_memory(err);
    }
    return ERR_OK;
}

static bool fill_part(sqlite3_stmt *st, struct arena *arena, void *row)
{
    struct cluster_part *p = row;
    bool failed = false;
    sql_column_fixed(st, 0, p->key, sizeof(p->key));
    p->own = sqlite3_column_int(st, 1);
    p->stacks = (uint64_t)sqlite3_column_int64(st, 2);
    p->count = (uint64_t)sqlite3_column_int64(st, 3);
    const char *title = sql_column_text(st, 4, arena, &failed);
    if (!fill_rule_at(st, 5, arena, &p->merge) || failed)
        return false;
    if (p->merge.id)
        p->title = p->merge.from_title;
    else if (p->own)
        p->title = title;
    return true;
}

enum err sqlite_read_cluster_parts(struct storage_reader *base, uint64_t cluster_id, size_t limit,
                                   struct arena *arena, struct cluster_part **ret,
                                   size_t *ret_count, struct error *err)
{
    struct sql_conn *c = &sqlite_reader_of(base)->conn;
    struct cluster_part *parts = NULL;
    size_t count = 0;
    sqlite3_stmt *st = sql_start(c, SQL_PARTS_OF_CLUSTER, err, sql_int((int64_t)cluster_id),
                                 sql_int((int64_t)limit));
    enum err rc = sqlite_row_array(c, st, fill_part, arena, &parts, &count, err);
    if (rc)
        return rc;
    for (size_t i = 0; i < count; i++)
        parts[i].merge.cluster_id = parts[i].merge.id ? cluster_id : 0;
    *ret = parts;
    *ret_count = count;
    return ERR_OK;
}

static bool fill_related(sqlite3_stmt *st, struct arena *arena, void *row)
{
    struct related_row *r = row;
    bool failed = false;
    sql_column_fixed(st, 0, r->key, sizeof(r->key));
    sql_column_fixed(st, 1, r->other, sizeof(r->other));
    r->score = sqlite3_column_int64(st, 2);
    r->cluster_id = (uint64_t)sqlite3_column_int64(st, 3);
    r->title = sql_column_text(st, 4, arena, &failed);
    return !failed;
}

enum err sqlite_read_related(struct storage_reader *base, const char *bundle_id,
                             uint64_t cluster_id, struct arena *arena, struct related_row **ret,
                             size_t *ret_count, struct error *err)
{
    struct sql_conn *c = &sqlite_reader_of(base)->conn;
    sqlite3_stmt *st =
        sql_start(c, SQL_RELATED_PAGE, err, sql_text(bundle_id), sql_int((int64_t)cluster_id));
    return sqlite_row_array(c, st, fill_related, arena, ret, ret_count, err);
}

/* --- work ------------------------------------------------------------------------------------- */

static bool fill_work(sqlite3_stmt *st, struct arena *arena, void *row)
{
    struct cluster_work_row *w = row;
    bool failed = false;
    w->id = (uint64_t)sqlite3_column_int64(st, 0);
    w->bundle_id = sql_column_text(st, 1, arena, &failed);
    w->kind = (enum cluster_work_kind)sqlite3_column_int(st, 2);
    w->cluster_id = (uint64_t)sqlite3_column_int64(st, 3);
    w->phase = (enum cluster_work_phase)sqlite3_column_int(st, 4);
    w->after_id = (uint64_t)sqlite3_column_int64(st, 5);
    w->seen = (uint64_t)sqlite3_column_int64(st, 6);
    w->changed = (uint64_t)sqlite3_column_int64(st, 7);
    w->total = (uint64_t)sqlite3_column_int64(st, 8);
    w->rules_version = sql_column_text(st, 9, arena, &failed);
    w->requested_ms = sqlite3_column_int64(st, 10);
    w->started_ms = time_or_none(st, 11);
    w->finished_ms = time_or_none(st, 12);
    w->attempt = (uint32_t)sqlite3_column_int64(st, 13);
    return !failed;
}

enum err sqlite_read_cluster_work(struct storage_reader *base, struct arena *arena,
                                  struct cluster_work_row **ret, size_t *ret_count,
                                  struct error *err)
{
    struct sql_conn *c = &sqlite_reader_of(base)->conn;
    sqlite3_stmt *st = sql_bind(c, SQL_WORK_OPEN, NULL, 0, err);
    return sqlite_row_array(c, st, fill_work, arena, ret, ret_count, err);
}

enum err sqlite_read_cluster_work_last(struct storage_reader *base, const char *bundle_id,
                                       struct arena *arena, struct cluster_work_row **ret,
                                       size_t *ret_count, struct error *err)
{
    struct sql_conn *c = &sqlite_reader_of(base)->conn;
    sqlite3_stmt *st = sql_start(c, SQL_WORK_LAST, err, sql_text(bundle_id));
    return sqlite_row_array(c, st, fill_work, arena, ret, ret_count, err);
}

static bool fill_app(sqlite3_stmt *st, struct arena *arena, void *row)
{
    struct cluster_app_row *a = row;
    bool failed = false;
    a->bundle_id = sql_column_text(st, 0, arena, &failed);
    a->epoch_ms = time_or_none(st, 1);
    a->outdated = sqlite3_column_int(st, 2);
    return !failed;
}

enum err sqlite_read_cluster_apps(struct storage_reader *base, const char *rules_version,
                                  struct arena *arena, struct cluster_app_row **ret,
                                  size_t *ret_count, struct error *err)
{
    struct sql_conn *c = &sqlite_reader_of(base)->conn;
    sqlite3_stmt *st = sql_start(c, SQL_CLUSTER_APPS, err, sql_text(rules_version));
    return sqlite_row_array(c, st, fill_app, arena, ret, ret_count, err);
}
