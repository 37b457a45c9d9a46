/* WRITE_RESOLUTIONS, WRITE_REKEY and WRITE_GIVE_UP: frames of stacks, and where the stacks point to. */
#include <string.h>

#include "storage/frames_blob.h"
#include "storage/sqlite_clusters.h"
#include "storage/sqlite_dict.h"
#include "storage/sqlite_life.h"
#include "storage/sqlite_moves.h"

#define LOOKED_UP_MAX 32

/* Images of which it is known, within one op, whether an index serves the app: its stacks miss the same
 * few. */
struct looked_up {
    int64_t app_id[LOOKED_UP_MAX];
    struct uuid uuid[LOOKED_UP_MAX];
    bool present[LOOKED_UP_MAX];
    size_t count; /* all that were; the last ones are kept */
};

/* What the stacks of one op have in common. */
struct op_state {
    struct looked_up images;
    struct cluster_memo clusters;
    struct moves moves;
    int64_t *left; /* clusters that stacks left */
    size_t left_count;
    int64_t wanted_from, wanted;  /* between them no stack has samples or threads */
    int64_t overlay_app, overlay; /* the version of this app's; 0: of none yet */
};

static enum err op_state_init(struct op_state *o, struct sqlite_storage *s, size_t stacks,
                              struct error *err)
{
    memset(o, 0, sizeof(*o));
    moves_init(&o->moves, &s->scratch);
    o->left = arena_array(&s->scratch, stacks + 1, sizeof(*o->left));
    frames_memo_begin(s->frames);
    return o->left ? ERR_OK : error_set(err, ERR_NO_MEMORY, "no memory for resolutions");
}

static void note_left(struct op_state *o, int64_t cluster_id)
{
    for (size_t i = o->left_count; i > 0; i--) {
        if (o->left[i - 1] == cluster_id)
            return;
    }
    if (cluster_id)
        o->left[o->left_count++] = cluster_id;
}

/* Sums follow the stacks. Clusters at the end, so that one that a stack leaves and another one
 * joins lives on. */
static enum err op_state_end(struct op_state *o, struct sqlite_storage *s, enum err rc,
                             struct error *err)
{
    if (!rc)
        rc = moves_write(s, &o->moves, err);
    for (size_t i = 0; i < o->left_count && !rc; i++)
        rc = sqlite_cluster_reap(s, o->left[i], err);
    moves_done(&o->moves);
    return rc;
}

struct stack_facts {
    int64_t app_id, cluster_id;
    int64_t first_ms, last_ms;
    const struct uuid *missing; /* since the resolution before */
    size_t missing_count;
    /* In the state and of the generation that was answered, by the overlay of now. */
    bool answerable;
};

static enum err overlay_is(struct sqlite_storage *s, struct op_state *o, int64_t app_id,
                           uint64_t version, bool *ret, struct error *err)
{
    enum err rc = ERR_OK;
    if (app_id != o->overlay_app)
        rc = sql_get(&s->conn, SQL_OVERLAY_VERSION, 0, &o->overlay, err, sql_int(app_id));
    if (rc)
        return rc;
    o->overlay_app = app_id;
    *ret = (uint64_t)o->overlay == version;
    return ERR_OK;
}

static enum err facts_of(struct sqlite_storage *s, struct op_state *o,
                         const struct op_resolution *r, int64_t state, struct stack_facts *ret,
                         struct error *err)
{
    bool row = false;
    bool failed = false;
    size_t missing = 0;
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
    ret->missing = sql_column_blob(st, 6, &s->scratch, &missing, &failed);
    ret->missing_count = missing / sizeof(*ret->missing);
    sql_end(st);
    if (failed)
        return error_set(err, ERR_NO_MEMORY, "no memory for missing images");
    if (ret->answerable)
        rc = overlay_is(s, o, ret->app_id, r->overlay, &ret->answerable, err);
    return rc;
}

static enum err is_indexed(struct sqlite_storage *s, int64_t app_id, const struct uuid *uuid,
                           struct looked_up *seen, bool *ret, struct error *err)
{
    int64_t present = 0;
    for (size_t i = 0; i < seen->count && i < LOOKED_UP_MAX; i++) {
        if (app_id == seen->app_id[i] && uuid_equal(uuid, &seen->uuid[i])) {
            *ret = seen->present[i];
            return ERR_OK;
        }
    }
    enum err rc =
        sql_get(&s->conn, SQL_SYMBOL_SERVES_APP, 0, &present, err, sql_uuid(uuid), sql_int(app_id));
    if (rc)
        return rc;
    const size_t at = seen->count++ % LOOKED_UP_MAX;
    seen->app_id[at] = app_id;
    seen->uuid[at] = *uuid;
    *ret = seen->present[at] = present != 0;
    return ERR_OK;
}

/* An image that was missing has an index by now: the answer is out of date. */
static enum err any_indexed(struct sqlite_storage *s, int64_t app_id, const struct op_resolution *r,
                            struct looked_up *seen, bool *ret, struct error *err)
{
    enum err rc = ERR_OK;
    *ret = false;
    for (size_t i = 0; i < r->missing_count - r->gone_count && !*ret && !rc; i++)
        rc = is_indexed(s, app_id, &r->missing[i], seen, ret, err);
    return rc;
}

static int64_t frames_in(const struct resolved_stack *s, const struct uuid *image)
{
    int64_t n = 0;
    for (size_t i = 0; i < s->count; i++)
        n += uuid_equal(&s->frames[i].raw.image, image) || uuid_equal(&s->frames[i].image, image);
    return n;
}

/* The frames of a UUID that the stack names are for ever so many; slide groups find their images by
 * and by. */
static bool frames_stay(const struct resolved_stack *s)
{
    for (size_t i = 0; i < s->count; i++) {
        if (s->frames[i].raw.image_kind == IMAGE_GROUP)
            return false;
    }
    return true;
}

/* Rows of stack_missing become those of `r->missing`. */
static enum err replace_missing(struct sqlite_storage *s, const struct op_resolution *r,
                                const struct stack_facts *facts, struct error *err)
{
    const struct sql_value id = sql_int((int64_t)r->stack_id);
    const bool stay = facts->missing_count > 0 && frames_stay(r->stack);
    enum err rc = ERR_OK;
    for (size_t i = 0; i < facts->missing_count && !rc; i++) {
        const struct uuid *old = &facts->missing[i];
        if (!uuid_is_in(r->missing, r->missing_count, old))
            rc = sql_run(&s->conn, SQL_STACK_MISSING_DELETE, err, sql_uuid(old), id);
    }
    for (size_t i = 0; i < r->missing_count && !rc; i++) {
        const struct uuid *now = &r->missing[i];
        if (!stay || !uuid_is_in(facts->missing, facts->missing_count, now))
            rc = sql_run(&s->conn, SQL_STACK_MISSING_INSERT, err, sql_uuid(now), id,
                         sql_int(frames_in(r->stack, now)));
    }
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
    enum err rc = frames_blob_encode(r->stack, name_id, s, s->frames, &s->blob, err);
    if (rc)
        return rc;
    return sql_run(&s->conn, SQL_STACK_DATA_RESOLVE, err, sql_int((int64_t)r->stack_id),
                   sql_blob(s->blob.data, s->blob.len),
                   r->missing_count ? sql_blob(r->missing, r->missing_count * sizeof(*r->missing))
                                    : sql_null(),
                   sql_blob(r->variant, sizeof(r->variant)));
}

/* NULL: the cluster's own. */
static struct sql_value part_of(const struct op_resolution *r, const struct cluster_found *cluster)
{
    return cluster->merged ? sql_blob(r->key, sizeof(r->key)) : sql_null();
}

static enum err set_resolved(struct sqlite_storage *s, const struct op_resolution *r,
                             const struct cluster_found *cluster, struct error *err)
{
    uint32_t app = 0;
    uint32_t named = 0;
    frames_count_app(r->stack, &app, &named);
    return sql_run(&s->conn, SQL_STACK_RESOLVE, err, sql_int((int64_t)r->stack_id),
                   sql_int(cluster->id), sql_int(r->provisional), sql_int(r->approximate),
                   sql_int(app), sql_int(named), part_of(r, cluster));
}

/* The stack's row points to its cluster already: its sums are to follow, and the state of a cluster
 * that it joins may end. */
static enum err move(struct sqlite_storage *s, struct op_state *o, const struct op_resolution *r,
                     const struct stack_facts *facts, int64_t cluster_id, int64_t now_ms,
                     struct error *err)
{
    const struct stack_move stack = {(int64_t)r->stack_id, facts->cluster_id, cluster_id,
                                     facts->first_ms, facts->last_ms};
    if (stack.from == stack.to)
        return ERR_OK;
    note_left(o, stack.from);
    enum err rc = moves_add(&o->moves, &stack, err);
    return rc ? rc : sqlite_life_joined(s, stack.stack_id, cluster_id, now_ms, err);
}

/* Findings of reports with samples or threads of this stack are to be made anew. */
static enum err findings_due(struct sqlite_storage *s, struct op_state *o,
                             const struct op_resolution *r, bool *ret_due, struct error *err)
{
    const int64_t id = (int64_t)r->stack_id;
    enum err rc = ERR_OK;
    if (id < o->wanted_from || id > o->wanted) {
        rc = sql_get(&s->conn, SQL_FINDING_STACK_WANTED, INT64_MAX, &o->wanted, err, sql_int(id));
        o->wanted_from = id;
    }
    if (rc || id != o->wanted)
        return rc;
    *ret_due = true;
    return sql_run(&s->conn, SQL_FINDING_STACK_DUE, err, sql_int(id));
}

static enum err resolve(struct sqlite_storage *s, struct op_resolution *r, struct op_resolutions *o,
                        struct op_state *state, struct error *err)
{
    struct stack_facts facts;
    bool late = false;
    struct cluster_found cluster;
    r->applied = false;
    enum err rc = facts_of(s, state, r, STACK_PENDING, &facts, err);
    if (!rc && facts.answerable)
        rc = any_indexed(s, facts.app_id, r, &state->images, &late, err);
    if (rc || !facts.answerable || late)
        return rc;
    const struct cluster_birth birth = {o->rules_version, o->now_ms, facts.cluster_id};
    rc = sqlite_cluster_of(s, facts.app_id, r, &birth, &state->clusters, &cluster, err);
    if (!rc)
        rc = replace_missing(s, r, &facts, err);
    if (!rc)
        rc = store_frames(s, r, err);
    if (!rc)
        rc = set_resolved(s, r, &cluster, err);
    if (!rc)
        rc = move(s, state, r, &facts, cluster.id, o->now_ms, err);
    /* The indexer looks after what the database knows and nobody could open. */
    for (size_t i = 0; i < r->gone_count && !rc; i++)
        rc = sqlite_queue_gone(s, facts.app_id, &r->missing[r->missing_count - 1 - i], err);
    if (rc)
        return rc;
    r->applied = true;
    return findings_due(s, state, r, &o->findings_due, err);
}

enum err sqlite_write_resolutions(struct sqlite_storage *s, struct write_op *op, struct error *err)
{
    struct op_resolutions *o = &op->u.resolutions;
    struct op_state state;
    enum err rc = op_state_init(&state, s, o->count, err);
    o->findings_due = false;
    for (size_t i = 0; i < o->count && !rc; i++)
        rc = resolve(s, &o->items[i], o, &state, err);
    return op_state_end(&state, s, rc, err);
}

/* --- keys of resolved stacks ----------------------------------------------------------------- */

/* What the rules of now say of the frames, where that is not what they said before. */
static enum err replace_frames(struct sqlite_storage *s, const struct op_resolution *r,
                               const struct cluster_found *cluster, struct error *err)
{
    buf_clear(&s->blob);
    enum err rc = frames_blob_encode(r->stack, name_id, s, s->frames, &s->blob, err);
    if (!rc)
        rc = sql_run(&s->conn, SQL_STACK_FRAMES, err, sql_int((int64_t)r->stack_id),
                     sql_blob(s->blob.data, s->blob.len));
    return rc ? rc : set_resolved(s, r, cluster, err);
}

static enum err rekey(struct sqlite_storage *s, struct op_rekey *o, struct op_resolution *r,
                      struct op_state *state, struct error *err)
{
    struct stack_facts facts;
    struct cluster_found cluster;
    int64_t same_part = 0;
    r->applied = false;
    enum err rc = facts_of(s, state, r, STACK_RESOLVED, &facts, err);
    if (rc || !facts.answerable)
        return rc;
    const struct cluster_birth birth = {o->rules_version, o->now_ms, facts.cluster_id};
    rc = sqlite_cluster_of(s, facts.app_id, r, &birth, &state->clusters, &cluster, err);
    if (!rc)
        rc = sql_get(&s->conn, SQL_STACK_PART, 0, &same_part, err, sql_int((int64_t)r->stack_id),
                     sql_blob(r->key, sizeof(r->key)));
    if (!rc)
        rc = sql_run(&s->conn, SQL_STACK_REKEY, err, sql_int((int64_t)r->stack_id),
                     sql_int(cluster.id), part_of(r, &cluster), sql_int(r->provisional));
    if (!rc)
        rc = sql_run(&s->conn, SQL_STACK_VARIANT, err, sql_int((int64_t)r->stack_id),
                     sql_blob(r->variant, sizeof(r->variant)));
    if (!rc && r->stack)
        rc = replace_frames(s, r, &cluster, err);
    if (!rc)
        rc = move(s, state, r, &facts, cluster.id, o->now_ms, err);
    if (rc)
        return rc;
    r->applied = true;
    o->changed += facts.cluster_id != cluster.id || !same_part;
    return !same_part || r->stack ? findings_due(s, state, r, &o->findings_due, err) : ERR_OK;
}

enum err sqlite_write_rekey(struct sqlite_storage *s, struct write_op *op, struct error *err)
{
    struct op_rekey *o = &op->u.rekey;
    struct op_state state;
    enum err rc = op_state_init(&state, s, o->count, err);
    o->changed = 0;
    o->findings_due = false;
    for (size_t i = 0; i < o->count && !rc; i++)
        rc = rekey(s, o, &o->items[i], &state, err);
    rc = op_state_end(&state, s, rc, err);
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
