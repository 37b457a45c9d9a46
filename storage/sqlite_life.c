/* States of clusters; WRITE_CLUSTER_STATE. */
#include "storage/sqlite_life.h"

#include <string.h>

#include "base/app_version.h"
#include "base/text.h"
#include "storage/read_life.h"
#include "storage/sqlite_dict.h"

struct life {
    const char *state, *resolved_in, *resolved_build, *note;
    int64_t app_id;
    bool decided;
    int64_t origin_id;
};

struct release {
    const char *version, *build;
};

/* --- the set of resolved clusters ------------------------------------------------------------ */

static enum err fill_set(struct sqlite_storage *s, struct error *err)
{
    struct resolved_set *set = &s->resolved;
    bool failed = false;
    bool row = true;
    arena_reset(&set->arena);
    set->items = NULL;
    set->count = set->room = 0;
    sqlite3_stmt *st = sql_bind(&s->conn, SQL_LIFE_RESOLVED, NULL, 0, err);
    if (!st)
        return err->code;
    for (;;) {
        enum err rc = sql_step(&s->conn, st, &row, err);
        if (rc)
            return rc;
        if (!row)
            break;
        if (!arena_room(&set->arena, (void **)&set->items, set->count, &set->room,
                        sizeof(*set->items))) {
            failed = true;
        } else {
            struct resolved_cluster *c = &set->items[set->count++];
            c->id = sqlite3_column_int64(st, 0);
            c->version = sql_column_text(st, 1, &set->arena, &failed);
            c->build = sql_column_text(st, 2, &set->arena, &failed);
        }
        if (failed) {
            sql_end(st);
            return error_set(err, ERR_NO_MEMORY, "no memory for resolved clusters");
        }
    }
    set->known = true;
    return ERR_OK;
}

/* *ret NULL: it is not resolved. */
static enum err find_resolved(struct sqlite_storage *s, int64_t cluster_id,
                              const struct resolved_cluster **ret, struct error *err)
{
    *ret = NULL;
    if (!s->resolved.known) {
        enum err rc = fill_set(s, err);
        if (rc)
            return rc;
    }
    size_t from = 0;
    size_t to = s->resolved.count;
    while (from < to) {
        size_t mid = from + (to - from) / 2;
        if (s->resolved.items[mid].id < cluster_id)
            from = mid + 1;
        else
            to = mid;
    }
    if (from < s->resolved.count && s->resolved.items[from].id == cluster_id)
        *ret = &s->resolved.items[from];
    return ERR_OK;
}

/* --- history --------------------------------------------------------------------------------- */

static enum err record(struct sqlite_storage *s, int64_t cluster_id,
                       const struct cluster_change *change, struct error *err)
{
    enum err rc = sql_run(
        &s->conn, SQL_LIFE_RECORD, err, sql_int(cluster_id), sql_int(change->at_ms),
        sql_text(change->who), sql_int(change->regression), sql_text(change->from_state),
        sql_text(change->to_state), sql_text(change->resolved_in), sql_text(change->resolved_build),
        sql_text(change->note), sql_text(change->version), sql_text(change->build));
    if (!rc)
        rc = sql_run(&s->conn, SQL_LIFE_HISTORY_TRIM, err, sql_int(cluster_id),
                     sql_int(CLUSTER_HISTORY_MAX));
    return rc;
}

/* --- regressions ----------------------------------------------------------------------------- */

static enum err regress(struct sqlite_storage *s, const struct resolved_cluster *c,
                        const struct release *by, int64_t at_ms, struct error *err)
{
    const struct cluster_change change = {
        .at_ms = at_ms,
        .regression = true,
        .from_state = cluster_state_name(CLUSTER_RESOLVED),
        .to_state = cluster_state_name(CLUSTER_OPEN),
        .resolved_in = c->version,
        .resolved_build = c->build,
        .version = by->version,
        .build = by->build,
    };
    enum err rc = record(s, c->id, &change, err);
    if (!rc)
        rc = sql_run(&s->conn, SQL_LIFE_REGRESS, err, sql_int(c->id), sql_int(at_ms),
                     sql_text(by->version), sql_text(by->build));
    s->resolved.known = false;
    return rc;
}

/* The newest release of the rows, ties by text; false in *ret_any: there is none. */
static enum err newest_release(struct sqlite_storage *s, enum sql_query q, int64_t id,
                               struct release *ret, bool *ret_any, struct error *err)
{
    bool failed = false;
    bool row = true;
    *ret_any = false;
    sqlite3_stmt *st = sql_start(&s->conn, q, err, sql_int(id));
    if (!st)
        return err->code;
    for (;;) {
        enum err rc = sql_step(&s->conn, st, &row, err);
        if (rc || !row)
            return rc;
        const struct release it = {sql_column_text(st, 0, &s->scratch, &failed),
                                   sql_column_text(st, 1, &s->scratch, &failed)};
        if (failed) {
            sql_end(st);
            return error_set(err, ERR_NO_MEMORY, "no memory for versions");
        }
        if (!app_version_known(it.version))
            continue;
        if (!*ret_any || app_release_pick(it.version, it.build, ret->version, ret->build) > 0)
            *ret = it;
        *ret_any = true;
    }
}

enum err sqlite_life_report(struct sqlite_storage *s, int64_t cluster_id, int64_t build_id,
                            int64_t at_ms, struct error *err)
{
    const struct resolved_cluster *c = NULL;
    bool failed = false;
    bool row = false;
    enum err rc = find_resolved(s, cluster_id, &c, err);
    if (rc || !c)
        return rc;
    sqlite3_stmt *st = sql_start(&s->conn, SQL_DICT_TEXT, err, sql_int(build_id));
    rc = st ? sql_step(&s->conn, st, &row, err) : err->code;
    if (rc || !row)
        return rc;
    const struct release by = {sql_column_text(st, 0, &s->scratch, &failed),
                               sql_column_text(st, 1, &s->scratch, &failed)};
    sql_end(st);
    if (failed)
        return error_set(err, ERR_NO_MEMORY, "no memory for versions");
    if (!app_release_newer(by.version, by.build, c->version, c->build))
        return ERR_OK;
    return regress(s, c, &by, at_ms, err);
}

enum err sqlite_life_joined(struct sqlite_storage *s, int64_t stack_id, int64_t cluster_id,
                            int64_t at_ms, struct error *err)
{
    const struct resolved_cluster *c = NULL;
    struct release by = {NULL, NULL};
    bool any = false;
    enum err rc = find_resolved(s, cluster_id, &c, err);
    if (rc || !c)
        return rc;
    rc = newest_release(s, SQL_LIFE_STACK_RELEASES, stack_id, &by, &any, err);
    if (rc || !any || !app_release_newer(by.version, by.build, c->version, c->build))
        return rc;
    return regress(s, c, &by, at_ms, err);
}

/* --- decisions ------------------------------------------------------------------------------- */

static enum err life_of(struct sqlite_storage *s, int64_t cluster_id, struct life *ret,
                        bool *ret_row, struct error *err)
{
    bool failed = false;
    sqlite3_stmt *st = sql_start(&s->conn, SQL_LIFE_CLUSTER, err, sql_int(cluster_id));
    enum err rc = st ? sql_step(&s->conn, st, ret_row, err) : err->code;
    if (rc || !*ret_row)
        return rc;
    *ret = (struct life){
        .state = sql_column_text(st, 0, &s->scratch, &failed),
        .resolved_in = sql_column_text(st, 1, &s->scratch, &failed),
        .resolved_build = sql_column_text(st, 2, &s->scratch, &failed),
        .note = sql_column_text(st, 3, &s->scratch, &failed),
        .app_id = sqlite3_column_int64(st, 4),
        .decided = sqlite3_column_int(st, 5),
        .origin_id = sqlite3_column_int64(st, 6),
    };
    sql_end(st);
    return failed ? error_set(err, ERR_NO_MEMORY, "no memory for a cluster") : ERR_OK;
}

/* Which release "resolved" means when none was named. */
static enum err choose_release(struct sqlite_storage *s, int64_t app_id, struct release *ret,
                               struct error *err)
{
    bool any = false;
    enum err rc = newest_release(s, SQL_LIFE_APP_RELEASES, app_id, ret, &any, err);
    if (!rc && !any)
        return error_set(err, ERR_CONFLICT,
                         "no version of this app is known; name one in \"resolved_in\"");
    return rc;
}

static enum err apply_state(struct sqlite_storage *s, int64_t id, struct op_cluster_state *o,
                            const struct life *old, struct error *err)
{
    struct release in = {NULL, NULL};
    enum err rc = ERR_OK;
    struct cluster_change change = {.at_ms = o->now_ms, .who = o->who, .from_state = old->state};
    change.to_state = o->set_state ? cluster_state_name(o->state) : old->state;
    if (o->set_state && o->state == CLUSTER_RESOLVED)
        in = (struct release){o->resolved_in, o->resolved_build};
    if (o->set_state && o->state == CLUSTER_RESOLVED && !o->resolved_in)
        rc = choose_release(s, old->app_id, &in, err);
    if (rc)
        return rc;
    bool moved = o->set_state && (strcmp(change.to_state, old->state) != 0 ||
                                  !text_same(in.version, old->resolved_in) ||
                                  !text_same(in.build, old->resolved_build));
    bool noted = o->set_note && !text_same(o->note, old->note);
    const char *note = noted ? o->note : old->note;
    o->changed = moved || noted;
    if (!o->changed)
        return ERR_OK;
    change.resolved_in = moved ? in.version : old->resolved_in;
    change.resolved_build = moved ? in.build : old->resolved_build;
    if (noted)
        change.note = note ? note : "";
    rc = moved ? sql_run(&s->conn, SQL_LIFE_SET, err, sql_int(id), sql_text(change.to_state),
                         sql_text(in.version), sql_text(in.build), sql_text(note))
               : sql_run(&s->conn, SQL_LIFE_SET_NOTE, err, sql_int(id), sql_text(note));
    s->resolved.known = false;
    return rc ? rc : record(s, id, &change, err);
}

enum err sqlite_write_cluster_state(struct sqlite_storage *s, struct write_op *op,
                                    struct error *err)
{
    struct op_cluster_state *o = &op->u.cluster_state;
    struct life old;
    struct dict_app app = {0};
    int64_t id = 0;
    bool row = false;
    o->changed = false;
    enum err rc = sql_get(&s->conn, SQL_CLUSTER_LIVING, 0, &id, err, sql_int((int64_t)o->id));
    if (!rc && id)
        rc = life_of(s, id, &old, &row, err);
    if (!rc && row && o->bundle_id)
        rc = sql_get(&s->conn, SQL_APP_GET, 0, &app.id, err, sql_text(o->bundle_id));
    if (rc)
        return rc;
    if (!row || (o->bundle_id && app.id != old.app_id))
        return error_set(err, ERR_NOT_FOUND, "there is no cluster %llu", (unsigned long long)o->id);
    return apply_state(s, id, o, &old, err);
}

static bool is_resolved(const struct life *l)
{
    return strcmp(l->state, cluster_state_name(CLUSTER_RESOLVED)) == 0;
}

enum err sqlite_life_merged(struct sqlite_storage *s, int64_t app_id, const uint8_t *from,
                            const uint8_t *into, struct error *err)
{
    const uint8_t *const keys[] = {from, into};
    int64_t ids[2] = {0, 0};
    struct life lives[2] = {{0}, {0}};
    bool rows[2] = {false, false};
    enum err rc = ERR_OK;
    s->resolved.known = false;
    for (size_t i = 0; i < 2 && !rc; i++) {
        rc = sql_get(&s->conn, SQL_CLUSTER_FIND, 0, &ids[i], err, sql_int(app_id),
                     sql_blob(keys[i], 16));
        if (!rc)
            rc = life_of(s, ids[i], &lives[i], &rows[i], err);
    }
    if (rc || !rows[0] || !rows[1] || !is_resolved(&lives[0]) || !is_resolved(&lives[1]) ||
        app_release_order(lives[0].resolved_in, lives[0].resolved_build, lives[1].resolved_in,
                          lives[1].resolved_build) <= 0)
        return rc;
    return sql_run(&s->conn, SQL_LIFE_SET_RELEASE, err, sql_int(ids[1]),
                   sql_text(lives[0].resolved_in), sql_text(lives[0].resolved_build));
}

/* --- heirs ----------------------------------------------------------------------------------- */

enum err sqlite_life_inherit(struct sqlite_storage *s, int64_t from, int64_t heir,
                             struct error *err)
{
    const struct sql_value pair[] = {sql_int(from), sql_int(heir)};
    struct life gone = {0};
    struct life next = {0};
    int64_t others = 0;
    bool rows[2] = {false, false};
    s->resolved.known = false;
    if (!heir)
        return sql_run_values(&s->conn, SQL_LIFE_HISTORY_DROP, pair, 1, err);
    enum err rc = life_of(s, from, &gone, &rows[0], err);
    if (!rc)
        rc = life_of(s, heir, &next, &rows[1], err);
    if (!rc && rows[0] && rows[1] && gone.decided && !next.decided && next.origin_id == from)
        rc = sql_get(&s->conn, SQL_LIFE_OTHER_SOURCES, 0, &others, err, sql_int(heir),
                     sql_int(from));
    else
        others = 1;
    if (!rc && !others)
        rc = sql_run_values(&s->conn, SQL_LIFE_INHERIT, pair, 2, err);
    if (!rc)
        rc = sql_run_values(&s->conn, SQL_LIFE_INHERIT_AGE, pair, 2, err);
    if (!rc)
        rc = sql_run_values(&s->conn, SQL_LIFE_HISTORY_MOVE, pair, 2, err);
    if (!rc)
        rc = sql_run_values(&s->conn, SQL_ALERTS_MOVE, pair, 2, err);
    return rc;
}
