/* WRITE_RESOLUTIONS, WRITE_REKEY and WRITE_GIVE_UP: frames of stacks, and where the stacks point to. */
#include <string.h>

#include "storage/frames_blob.h"
#include "storage/sqlite_clusters.h"
#include "storage/sqlite_counters.h"
#include "storage/sqlite_dict.h"
#include "storage/sqlite_life.h"
#include "storage/sqlite_rollup.h"
#include "storage/sqlite_tally.h"

#define LOOKED_UP_MAX 32

struct stack_facts {
    int64_t app_id, cluster_id;
    int64_t first_ms, last_ms;
    uint8_t part[PART_KEY_SIZE];
    bool
        answerable; /* in the state and of the generation that was answered, by the overlay of now */
};

static enum err overlay_is(struct sqlite_storage *s, int64_t app_id, uint64_t version, bool *ret,
                           struct error *err)
{
    int64_t now = 0;
    enum err rc = sql_get(&s->conn, SQL_OVERLAY_VERSION, 0, &now, err, sql_int(app_id));
    if (!rc)
        *ret = (uint64_t)now == version;
    return rc;
}

static enum err facts_of(struct sqlite_storage *s, const struct op_resolution *r, int64_t state,
                         struct stack_facts *ret, struct error *err)
{
    bool row = false;
    memset(ret, 0, sizeof(*ret));
    sqlite3_stmt *st = sql_start(&s->conn, SQL_STACK_FACTS, err, sql_int((int64_t)r->stack_id));
    enum err rc = st ? sql_step(&s->conn, st, &row, err) : err->code;
    if (rc || !row)
        return rc;
    ret->app_id = sqlite3_column_int64(st, 0);
    ret->answerable = sqlite3_column_int64(st, 1) == state &&
                      sqlite3_column_int64(st, 2) == (int64_t)r->generation;
    ret->cluster_id = sqlite3_column_int64(st, 3);
    ret->first_ms = sqlite3_column_int64(st, 4);
    ret->last_ms = sqlite3_column_int64(st, 5);
    sql_column_fixed(st, 6, ret->part, sizeof(ret->part));
    sql_end(st);
    if (ret->answerable)
        rc = overlay_is(s, ret->app_id, r->overlay, &ret->answerable, err);
    return rc;
}

/* Images of which it is known, within one op, whether there is an index: the stacks of an app miss
 * the same few. */
struct looked_up {
    struct uuid uuid[LOOKED_UP_MAX];
    bool present[LOOKED_UP_MAX];
    size_t count; /* all that were; the last ones are kept */
};

static enum err is_indexed(struct sqlite_storage *s, const struct uuid *uuid,
                           struct looked_up *seen, bool *ret, struct error *err)
{
    int64_t present = 0;
    for (size_t i = 0; i < seen->count && i < LOOKED_UP_MAX; i++) {
        if (uuid_equal(uuid, &seen->uuid[i])) {
            *ret = seen->present[i];
            return ERR_OK;
        }
    }
    enum err rc =
        sql_get(&s->conn, SQL_SYMBOL_PRESENT, 0, &present, err, sql_blob(uuid, sizeof(*uuid)));
    if (rc)
        return rc;
    const size_t at = seen->count++ % LOOKED_UP_MAX;
    seen->uuid[at] = *uuid;
    *ret = seen->present[at] = present != 0;
    return ERR_OK;
}

/* An image that was missing has an index by now: the answer is out of date. */
static enum err any_indexed(struct sqlite_storage *s, const struct op_resolution *r,
                            struct looked_up *seen, bool *ret, struct error *err)
{
    enum err rc = ERR_OK;
    *ret = false;
    for (size_t i = 0; i < r->missing_count - r->gone_count && !*ret && !rc; i++)
        rc = is_indexed(s, &r->missing[i], seen, ret, err);
    return rc;
}

static bool is_missing(const struct uuid *u, const struct uuid *list, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (uuid_equal(u, &list[i]))
            return true;
    }
    return false;
}

static int64_t frames_in(const struct resolved_stack *s, const struct uuid *image)
{
    int64_t n = 0;
    for (size_t i = 0; i < s->count; i++)
        n += uuid_equal(&s->frames[i].raw.image, image) || uuid_equal(&s->frames[i].image, image);
    return n;
}

/* Rows of stack_missing become those of `r->missing`. */
static enum err replace_missing(struct sqlite_storage *s, const struct op_resolution *r,
                                struct error *err)
{
    struct uuid *old = NULL;
    size_t len = 0;
    bool row = false;
    bool failed = false;
    sqlite3_stmt *st =
        sql_start(&s->conn, SQL_STACK_MISSING_OLD, err, sql_int((int64_t)r->stack_id));
    enum err rc = st ? sql_step(&s->conn, st, &row, err) : err->code;
    if (rc)
        return rc;
    if (row) {
        old = (struct uuid *)sql_column_blob(st, 0, &s->scratch, &len, &failed);
        sql_end(st);
    }
    if (failed)
        return error_set(err, ERR_NO_MEMORY, "no memory for missing images");
    size_t old_count = len / sizeof(*old);
    for (size_t i = 0; i < old_count && !rc; i++) {
        if (!is_missing(&old[i], r->missing, r->missing_count))
            rc = sql_run(&s->conn, SQL_STACK_MISSING_DELETE, err, sql_blob(&old[i], sizeof(old[i])),
                         sql_int((int64_t)r->stack_id));
    }
    for (size_t i = 0; i < r->missing_count && !rc; i++)
        rc = sql_run(&s->conn, SQL_STACK_MISSING_INSERT, err,
                     sql_blob(&r->missing[i], sizeof(r->missing[i])), sql_int((int64_t)r->stack_id),
                     sql_int(frames_in(r->stack, &r->missing[i])));
    return rc;
}

static enum err name_id(void *ctx, const char *name, int64_t *ret, struct error *err)
{
    return sqlite_name(ctx, name, ret, err);
}

static enum err store_frames(struct sqlite_storage *s, const struct op_resolution *r,
                             struct error *err)
{
    buf_clear(&s->blob);
    enum err rc = frames_blob_encode(r->stack, name_id, s, &s->blob, err);
    if (rc)
        return rc;
    return sql_run(&s->conn, SQL_STACK_DATA_RESOLVE, err, sql_int((int64_t)r->stack_id),
                   sql_blob(s->blob.data, s->blob.len),
                   r->missing_count ? sql_blob(r->missing, r->missing_count * sizeof(*r->missing))
                                    : sql_null(),
                   sql_blob(r->variant, sizeof(r->variant)));
}

static enum err set_resolved(struct sqlite_storage *s, const struct op_resolution *r,
                             int64_t cluster_id, struct error *err)
{
    uint32_t app = 0;
    uint32_t named = 0;
    frames_count_app(r->stack, &app, &named);
    return sql_run(&s->conn, SQL_STACK_RESOLVE, err, sql_int((int64_t)r->stack_id),
                   sql_int(cluster_id), sql_int(r->provisional), sql_int(r->approximate),
                   sql_int(app), sql_int(named), sql_blob(r->key, sizeof(r->key)));
}

/* The stack's row points to its cluster already: lets the sums follow. */
static enum err move_sums(struct sqlite_storage *s, const struct op_resolution *r,
                          const struct stack_facts *facts, int64_t cluster_id, struct error *err)
{
    struct figures figures = {0};
    struct tally tally = {0};
    if (facts->cluster_id == cluster_id)
        return ERR_OK;
    enum err rc = sqlite_stack_figures(s, (int64_t)r->stack_id, &figures, err);
    const struct cluster_move move = {facts->cluster_id, cluster_id,    &figures, &tally,
                                      facts->first_ms,   facts->last_ms};
    if (!rc && figures.count)
        rc = sqlite_stack_tally(s, (int64_t)r->stack_id, &tally, err);
    if (!rc)
        rc = sqlite_cluster_move(s, &move, err);
    if (!rc && figures.count)
        rc = sqlite_rollup_move(s, (int64_t)r->stack_id, move.from, move.to, err);
    figures_done(&figures);
    tally_done(&tally);
    return rc;
}

static enum err resolve(struct sqlite_storage *s, struct op_resolution *r,
                        const struct op_resolutions *o, struct looked_up *seen, int64_t *ret_left,
                        struct error *err)
{
    struct stack_facts facts;
    bool late = false;
    int64_t cluster_id = 0;
    r->applied = false;
    *ret_left = 0;
    enum err rc = facts_of(s, r, STACK_PENDING, &facts, err);
    if (!rc && facts.answerable)
        rc = any_indexed(s, r, seen, &late, err);
    if (rc || !facts.answerable || late)
        return rc;
    const struct cluster_birth birth = {o->rules_version, o->now_ms, facts.cluster_id};
    rc = sqlite_cluster_of(s, facts.app_id, r, &birth, &cluster_id, err);
    if (!rc)
        rc = replace_missing(s, r, err);
    if (!rc)
        rc = store_frames(s, r, err);
    if (!rc)
        rc = set_resolved(s, r, cluster_id, err);
    if (!rc)
        rc = move_sums(s, r, &facts, cluster_id, err);
    if (!rc && facts.cluster_id != cluster_id)
        rc = sqlite_life_joined(s, (int64_t)r->stack_id, cluster_id, o->now_ms, err);
    if (rc)
        return rc;
    /* The indexer looks after what the database knows and nobody could open. */
    for (size_t i = 0; i < r->gone_count && !rc; i++)
        rc = sqlite_queue_refit(s, &r->missing[r->missing_count - 1 - i], false, err);
    if (rc)
        return rc;
    r->applied = true;
    if (facts.cluster_id != cluster_id)
        *ret_left = facts.cluster_id;
    return sql_run(&s->conn, SQL_FINDING_STACK_DUE, err, sql_int((int64_t)r->stack_id));
}

enum err sqlite_write_resolutions(struct sqlite_storage *s, struct write_op *op, struct error *err)
{
    struct op_resolutions *o = &op->u.resolutions;
    struct looked_up seen = {.count = 0};
    size_t left_count = 0;
    enum err rc = ERR_OK;
    int64_t *left = arena_array(&s->scratch, o->count + 1, sizeof(*left));
    o->findings_due = false;
    if (!left)
        return error_set(err, ERR_NO_MEMORY, "no memory for resolutions");
    for (size_t i = 0; i < o->count && !rc; i++) {
        rc = resolve(s, &o->items[i], o, &seen, &left[left_count], err);
        o->findings_due |= !rc && o->items[i].applied && sqlite3_changes64(s->conn.db) > 0;
        left_count += !rc && left[left_count] != 0;
    }
    /* At the end, so that a cluster that one stack leaves and another one joins lives on. */
    for (size_t i = 0; i < left_count && !rc; i++)
        rc = sqlite_cluster_reap(s, left[i], err);
    return rc;
}

/* --- keys of resolved stacks ----------------------------------------------------------------- */

/* What the rules of now say of the frames, where that is not what they said before. */
static enum err replace_frames(struct sqlite_storage *s, const struct op_resolution *r,
                               int64_t cluster_id, struct error *err)
{
    buf_clear(&s->blob);
    enum err rc = frames_blob_encode(r->stack, name_id, s, &s->blob, err);
    if (!rc)
        rc = sql_run(&s->conn, SQL_STACK_FRAMES, err, sql_int((int64_t)r->stack_id),
                     sql_blob(s->blob.data, s->blob.len));
    return rc ? rc : set_resolved(s, r, cluster_id, err);
}

static enum err rekey(struct sqlite_storage *s, struct op_rekey *o, struct op_resolution *r,
                      int64_t *ret_left, struct error *err)
{
    struct stack_facts facts;
    int64_t cluster_id = 0;
    r->applied = false;
    enum err rc = facts_of(s, r, STACK_RESOLVED, &facts, err);
    if (rc || !facts.answerable)
        return rc;
    const struct cluster_birth birth = {o->rules_version, o->now_ms, facts.cluster_id};
    rc = sqlite_cluster_of(s, facts.app_id, r, &birth, &cluster_id, err);
    if (!rc)
        rc =
            sql_run(&s->conn, SQL_STACK_REKEY, err, sql_int((int64_t)r->stack_id),
                    sql_int(cluster_id), sql_blob(r->key, sizeof(r->key)), sql_int(r->provisional));
    if (!rc)
        rc = sql_run(&s->conn, SQL_STACK_VARIANT, err, sql_int((int64_t)r->stack_id),
                     sql_blob(r->variant, sizeof(r->variant)));
    if (!rc && r->stack)
        rc = replace_frames(s, r, cluster_id, err);
    if (!rc)
        rc = move_sums(s, r, &facts, cluster_id, err);
    if (!rc && facts.cluster_id != cluster_id)
        rc = sqlite_life_joined(s, (int64_t)r->stack_id, cluster_id, o->now_ms, err);
    if (rc)
        return rc;
    r->applied = true;
    bool moved = facts.cluster_id != cluster_id;
    bool other_part = memcmp(facts.part, r->key, sizeof(facts.part)) != 0;
    o->changed += moved || other_part;
    if (moved)
        *ret_left = facts.cluster_id;
    if (!other_part && !r->stack)
        return ERR_OK;
    rc = sql_run(&s->conn, SQL_FINDING_STACK_DUE, err, sql_int((int64_t)r->stack_id));
    o->findings_due |= !rc && sqlite3_changes64(s->conn.db) > 0;
    return rc;
}

enum err sqlite_write_rekey(struct sqlite_storage *s, struct write_op *op, struct error *err)
{
    struct op_rekey *o = &op->u.rekey;
    size_t left_count = 0;
    enum err rc = ERR_OK;
    int64_t *left = arena_array(&s->scratch, o->count + 1, sizeof(*left));
    if (!left)
        return error_set(err, ERR_NO_MEMORY, "no memory for keys");
    o->changed = 0;
    o->findings_due = false;
    for (size_t i = 0; i < o->count && !rc; i++) {
        rc = rekey(s, o, &o->items[i], &left[left_count], err);
        left_count += !rc && left[left_count] != 0;
    }
    for (size_t i = 0; i < left_count && !rc; i++)
        rc = sqlite_cluster_reap(s, left[i], err);
    if (!rc && o->work_id)
        rc = sql_run(&s->conn, SQL_WORK_STEP, err, sql_int((int64_t)o->work_id),
                     sql_int((int64_t)o->after_id), sql_int((int64_t)o->seen),
                     sql_int((int64_t)o->changed), sql_int(o->work_attempt));
    return rc;
}

enum err sqlite_write_give_up(struct sqlite_storage *s, struct write_op *op, struct error *err)
{
    struct op_give_up *o = &op->u.give_up;
    enum err rc = sql_run(&s->conn, SQL_STACKS_GIVE_UP, err, sql_int(o->before_ms));
    if (!rc)
        o->count = (uint64_t)sqlite3_changes64(s->conn.db);
    return rc;
}
