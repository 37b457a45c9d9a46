/* WRITE_RESOLUTIONS, WRITE_REKEY and WRITE_GIVE_UP: frames of stacks, and where the stacks point to. */
#include <stdlib.h>
#include <string.h>

#include "storage/frames_blob.h"
#include "storage/sqlite_clusters.h"
#include "storage/sqlite_dict.h"
#include "storage/sqlite_life.h"
#include "storage/sqlite_moves.h"
#include "storage/sqlite_ranges.h"

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
    bool there;
    int64_t app_id, state, generation, cluster_id;
    int64_t first_ms, last_ms;
    const struct uuid *missing; /* since the resolution before */
    size_t missing_count;
};

struct facts_reading {
    struct arena *arena;
    struct stack_facts *items;
};

static enum err fill_facts(void *ctx, size_t at, sqlite3_stmt *st, struct error *err)
{
    const struct facts_reading *reading = ctx;
    struct stack_facts *f = &reading->items[at];
    bool failed = false;
    size_t missing = 0;
    *f = (struct stack_facts){
        .there = true,
        .app_id = sqlite3_column_int64(st, 1),
        .state = sqlite3_column_int64(st, 2),
        .generation = sqlite3_column_int64(st, 3),
        .cluster_id = sqlite3_column_int64(st, 4),
        .first_ms = sqlite3_column_int64(st, 5),
        .last_ms = sqlite3_column_int64(st, 6),
        .missing = sql_column_blob(st, 7, reading->arena, &missing, &failed),
    };
    f->missing_count = missing / sizeof(*f->missing);
    return failed ? error_set(err, ERR_NO_MEMORY, "no memory for missing images") : ERR_OK;
}

/* `ret`: zeroed, as many as there are ids. */
static enum err read_facts(struct sqlite_storage *s, const struct sql_ids *ids,
                           struct stack_facts *ret, struct error *err)
{
    struct facts_reading reading = {&s->scratch, ret};
    return sqlite_read_ids(&s->conn, SQL_STACKS_FACTS, ids, fill_facts, &reading, err);
}

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

/* In the state and of the generation that was answered, by the overlay of now. */
static enum err is_answerable(struct sqlite_storage *s, struct op_state *o,
                              const struct op_resolution *r, int64_t state,
                              const struct stack_facts *facts, bool *ret, struct error *err)
{
    *ret = facts->there && facts->state == state && facts->generation == (int64_t)r->generation;
    return *ret ? overlay_is(s, o, facts->app_id, r->overlay, ret, err) : ERR_OK;
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

/* --- rows of stacks -------------------------------------------------------------------------- */

enum { STACK_VALUES = 6, DATA_VALUES = 3 }; /* of SQL_STACKS_RESOLVE, of SQL_STACKS_DATA_RESOLVE */

/* A stack no longer misses an image. */
struct found {
    struct uuid image;
    int64_t stack_id;
};

/* What stacks become, in ascending order of ids. */
struct writes {
    int64_t *ids;
    struct sql_value *stacks, *data;
    size_t count;
    struct row_list found;
};

static enum err writes_init(struct writes *w, struct arena *arena, size_t stacks, struct error *err)
{
    *w = (struct writes){arena_array(arena, stacks, sizeof(*w->ids)),
                         arena_array(arena, stacks, STACK_VALUES * sizeof(*w->stacks)),
                         arena_array(arena, stacks, DATA_VALUES * sizeof(*w->data)),
                         0,
                         {0}};
    row_list_init(&w->found, sizeof(struct found), arena);
    return w->ids && w->stacks && w->data
               ? ERR_OK
               : error_set(err, ERR_NO_MEMORY, "no memory for resolutions");
}

static int by_image(const void *a, const void *b)
{
    const struct found *x = a;
    const struct found *y = b;
    const int order = memcmp(&x->image, &y->image, sizeof(x->image));
    return order ? order : (x->stack_id > y->stack_id) - (x->stack_id < y->stack_id);
}

static enum err write_found(struct sqlite_storage *s, struct writes *w, struct error *err)
{
    struct found *all = w->found.items;
    int64_t *ids = arena_array(&s->scratch, w->found.count + 1, sizeof(*ids));
    enum err rc = ids ? ERR_OK : error_set(err, ERR_NO_MEMORY, "no memory for missing images");
    if (w->found.count)
        qsort(all, w->found.count, sizeof(*all), by_image);
    for (size_t at = 0, end; at < w->found.count && !rc; at = end) {
        for (end = at; end < w->found.count && uuid_equal(&all[end].image, &all[at].image); end++)
            ids[end - at] = all[end].stack_id;
        struct sql_given given = {.list = {ids, end - at}};
        rc = sqlite_write_ids(&s->conn, SQL_STACKS_MISSING_DELETE, &given, sql_uuid(&all[at].image),
                              err);
    }
    return rc;
}

static enum err write_rows(struct sqlite_storage *s, struct writes *w, struct error *err)
{
    struct sql_given data = {{w->ids, w->count}, w->data, DATA_VALUES, 0};
    struct sql_given stacks = {{w->ids, w->count}, w->stacks, STACK_VALUES, 0};
    enum err rc = write_found(s, w, err);
    if (!rc)
        rc = sqlite_write_ids(&s->conn, SQL_STACKS_DATA_RESOLVE, &data, sql_null(), err);
    return rc ? rc : sqlite_write_ids(&s->conn, SQL_STACKS_RESOLVE, &stacks, sql_null(), err);
}

/* Rows of stack_missing become those of `r->missing`. */
static enum err replace_missing(struct sqlite_storage *s, struct writes *w,
                                const struct op_resolution *r, const struct stack_facts *facts,
                                struct error *err)
{
    const int64_t id = (int64_t)r->stack_id;
    const bool stay = facts->missing_count > 0 && frames_stay(r->stack);
    enum err rc = ERR_OK;
    for (size_t i = 0; i < facts->missing_count && !rc; i++) {
        const struct uuid *old = &facts->missing[i];
        if (uuid_is_in(r->missing, r->missing_count, old))
            continue;
        struct found *found = row_list_add(&w->found, err);
        if (!found)
            return ERR_NO_MEMORY;
        *found = (struct found){*old, id};
    }
    for (size_t i = 0; i < r->missing_count && !rc; i++) {
        const struct uuid *now = &r->missing[i];
        if (!stay || !uuid_is_in(facts->missing, facts->missing_count, now))
            rc = sql_run(&s->conn, SQL_STACK_MISSING_INSERT, err, sql_uuid(now), sql_int(id),
                         sql_int(frames_in(r->stack, now)));
    }
    return rc;
}

static enum err name_id(void *ctx, const char *name, int64_t *ret, struct error *err)
{
    return sqlite_name(ctx, name, ret, err);
}

/* NULL: the cluster's own. */
static struct sql_value part_of(const struct op_resolution *r, const struct cluster_found *cluster)
{
    return cluster->merged ? sql_blob(r->key, sizeof(r->key)) : sql_null();
}

static void stack_values(const struct op_resolution *r, const struct cluster_found *cluster,
                         struct sql_value *ret)
{
    uint32_t app = 0;
    uint32_t named = 0;
    frames_count_app(r->stack, &app, &named);
    const struct sql_value values[STACK_VALUES] = {sql_int(cluster->id),    sql_int(r->provisional),
                                                   sql_int(r->approximate), sql_int(app),
                                                   sql_int(named),          part_of(r, cluster)};
    memcpy(ret, values, sizeof(values));
}

/* Into s->blob. */
static enum err encode_frames(struct sqlite_storage *s, const struct op_resolution *r,
                              struct error *err)
{
    buf_clear(&s->blob);
    return frames_blob_encode(r->stack, name_id, s, s->frames, &s->blob, err);
}

static enum err data_values(struct sqlite_storage *s, const struct op_resolution *r,
                            struct sql_value *ret, struct error *err)
{
    enum err rc = encode_frames(s, r, err);
    if (rc)
        return rc;
    const uint8_t *frames = arena_memdup(&s->scratch, s->blob.data, s->blob.len);
    if (!frames)
        return error_set(err, ERR_NO_MEMORY, "no memory for frames");
    const struct sql_value values[DATA_VALUES] = {
        sql_blob(frames, s->blob.len),
        r->missing_count ? sql_blob(r->missing, r->missing_count * sizeof(*r->missing))
                         : sql_null(),
        sql_blob(r->variant, sizeof(r->variant))};
    memcpy(ret, values, sizeof(values));
    return ERR_OK;
}

static enum err add_rows(struct sqlite_storage *s, struct writes *w, const struct op_resolution *r,
                         const struct cluster_found *cluster, struct error *err)
{
    const size_t at = w->count++;
    w->ids[at] = (int64_t)r->stack_id;
    stack_values(r, cluster, &w->stacks[at * STACK_VALUES]);
    return data_values(s, r, &w->data[at * DATA_VALUES], err);
}

/* --- resolutions ------------------------------------------------------------------------------ */

/* The stack's row points to its cluster before the op ends: its sums are to follow, and the state of a
 * cluster that it joins may end. */
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
                        const struct stack_facts *facts, struct writes *w, struct op_state *state,
                        struct error *err)
{
    bool answerable = false;
    bool late = false;
    struct cluster_found cluster;
    r->applied = false;
    enum err rc = is_answerable(s, state, r, STACK_PENDING, facts, &answerable, err);
    if (!rc && answerable)
        rc = any_indexed(s, facts->app_id, r, &state->images, &late, err);
    if (rc || !answerable || late)
        return rc;
    const struct cluster_birth birth = {o->rules_version, o->now_ms, facts->cluster_id};
    rc = sqlite_cluster_of(s, facts->app_id, r, &birth, &state->clusters, &cluster, err);
    if (!rc)
        rc = replace_missing(s, w, r, facts, err);
    if (!rc)
        rc = add_rows(s, w, r, &cluster, err);
    if (!rc)
        rc = move(s, state, r, facts, cluster.id, o->now_ms, err);
    /* The indexer looks after what the database knows and nobody could open. */
    for (size_t i = 0; i < r->gone_count && !rc; i++)
        rc = sqlite_queue_gone(s, facts->app_id, &r->missing[r->missing_count - 1 - i], err);
    if (rc)
        return rc;
    r->applied = true;
    return findings_due(s, state, r, &o->findings_due, err);
}

/* Stacks in ascending order of ids: what their rows say is read and written for all of them at once. */
static enum err resolve_ascending(struct sqlite_storage *s, struct op_resolutions *o, size_t from,
                                  size_t count, struct op_state *state, struct error *err)
{
    struct op_resolution *items = o->items + from;
    struct stack_facts *facts = arena_array(&s->scratch, count, sizeof(*facts));
    int64_t *ids = arena_array(&s->scratch, count, sizeof(*ids));
    struct writes writes;
    if (!facts || !ids)
        return error_set(err, ERR_NO_MEMORY, "no memory for resolutions");
    for (size_t i = 0; i < count; i++)
        ids[i] = (int64_t)items[i].stack_id;
    const struct sql_ids list = {ids, count};
    enum err rc = writes_init(&writes, &s->scratch, count, err);
    if (!rc)
        rc = read_facts(s, &list, facts, err);
    for (size_t i = 0; i < count && !rc; i++)
        rc = resolve(s, &items[i], o, &facts[i], &writes, state, err);
    return rc ? rc : write_rows(s, &writes, err);
}

/* The resolver's pages ascend as a whole. */
enum err sqlite_write_resolutions(struct sqlite_storage *s, struct write_op *op, struct error *err)
{
    struct op_resolutions *o = &op->u.resolutions;
    struct op_state state;
    enum err rc = op_state_init(&state, s, o->count, err);
    o->findings_due = false;
    for (size_t at = 0, end; at < o->count && !rc; at = end) {
        for (end = at + 1; end < o->count && o->items[end - 1].stack_id < o->items[end].stack_id;)
            end++;
        rc = resolve_ascending(s, o, at, end - at, &state, err);
    }
    return op_state_end(&state, s, rc, err);
}

/* --- keys of resolved stacks ----------------------------------------------------------------- */

/* What the rules of now say of the frames, where that is not what they said before. */
static enum err replace_frames(struct sqlite_storage *s, const struct op_resolution *r,
                               const struct cluster_found *cluster, struct error *err)
{
    const int64_t id = (int64_t)r->stack_id;
    struct sql_value values[STACK_VALUES];
    struct sql_given stack = {{&id, 1}, values, STACK_VALUES, 0};
    enum err rc = encode_frames(s, r, err);
    if (!rc)
        rc = sql_run(&s->conn, SQL_STACK_FRAMES, err, sql_int(id),
                     sql_blob(s->blob.data, s->blob.len));
    stack_values(r, cluster, values);
    return rc ? rc : sqlite_write_ids(&s->conn, SQL_STACKS_RESOLVE, &stack, sql_null(), err);
}

static enum err rekey(struct sqlite_storage *s, struct op_rekey *o, struct op_resolution *r,
                      struct op_state *state, struct error *err)
{
    const int64_t id = (int64_t)r->stack_id;
    const struct sql_ids list = {&id, 1};
    struct stack_facts facts = {.there = false};
    struct cluster_found cluster;
    bool answerable = false;
    int64_t same_part = 0;
    r->applied = false;
    enum err rc = read_facts(s, &list, &facts, err);
    if (!rc)
        rc = is_answerable(s, state, r, STACK_RESOLVED, &facts, &answerable, err);
    if (rc || !answerable)
        return rc;
    const struct cluster_birth birth = {o->rules_version, o->now_ms, facts.cluster_id};
    rc = sqlite_cluster_of(s, facts.app_id, r, &birth, &state->clusters, &cluster, err);
    if (!rc)
        rc = sql_get(&s->conn, SQL_STACK_PART, 0, &same_part, err, sql_int(id),
                     sql_blob(r->key, sizeof(r->key)));
    if (!rc)
        rc = sql_run(&s->conn, SQL_STACK_REKEY, err, sql_int(id), sql_int(cluster.id),
                     part_of(r, &cluster), sql_int(r->provisional));
    if (!rc)
        rc = sql_run(&s->conn, SQL_STACK_VARIANT, err, sql_int(id),
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
