/* The memory backend's ops on rules of clusters; see sqlite_write_merges.c and sqlite_write_epoch.c
 * for what they mean. */
#include <string.h>

#include "base/app_version.h"
#include "base/clock.h"
#include "storage/memory_read.h"

#define MERGES_MAX     64
#define UNDONE_KEPT_MS (90 * CLOCK_DAY_MS)
#define FORGET_ROWS    1000

/* --- shared ----------------------------------------------------------------------------------- */

static bool same(const uint8_t *a, const uint8_t *b)
{
    return memcmp(a, b, PART_KEY_SIZE) == 0;
}

static bool in_force(const struct mem_rule *r, enum cluster_rule_kind kind)
{
    return r->row.kind == kind && r->row.undone_ms == INT64_MIN;
}

struct mem_rule *mem_merge_of(const struct mem_state *s, size_t app,
                              const uint8_t key[PART_KEY_SIZE])
{
    for (size_t i = 0; i < s->rules_count; i++) {
        struct mem_rule *r = &s->rules[i];
        if (r->app == app && in_force(r, CLUSTER_RULE_MERGE) && same(r->row.from, key))
            return r;
    }
    return NULL;
}

const uint8_t *mem_key_root(const struct mem_state *s, size_t app, const uint8_t key[PART_KEY_SIZE])
{
    for (int i = 0; i < MERGES_MAX; i++) {
        const struct mem_rule *r = mem_merge_of(s, app, key);
        if (!r)
            break;
        key = r->row.into;
    }
    return key;
}

uint64_t mem_overlay_version(const struct mem_state *s, size_t app)
{
    for (size_t i = 0; i < s->overlays_count; i++) {
        if (s->overlays[i].app == app)
            return s->overlays[i].version;
    }
    return 0;
}

static const char *keep(struct mem_storage *m, const char *text)
{
    const char *copy = arena_strdup(&m->arena, text ? text : "");
    return copy ? copy : "";
}

static enum err add_rule(struct mem_storage *m, size_t app, const struct cluster_rule_row *row,
                         uint64_t *ret_id, struct error *err)
{
    struct mem_rule *r = mem_add(m->work, rules);
    if (!r)
        return mem_no_memory(err);
    r->app = app;
    r->row = *row;
    r->row.id = m->work->next_rule++;
    r->row.bundle_id = m->work->apps[app].bundle_id;
    r->row.undone_ms = INT64_MIN;
    r->row.from_title = keep(m, row->from_title);
    r->row.into_title = keep(m, row->into_title);
    if (ret_id)
        *ret_id = r->row.id;
    return ERR_OK;
}

static void merge_states(struct mem_state *s, size_t app, const uint8_t *from, const uint8_t *into)
{
    const struct mem_cluster *a = mem_cluster_of_key(s, app, from);
    struct mem_cluster *b = mem_cluster_of_key(s, app, into);
    const char *state = a && b ? cluster_state_merged(b->row.state, a->row.state) : NULL;
    if (!state)
        return;
    b->row.state = state;
    if (strcmp(state, "resolved") != 0) {
        b->row.resolved_in = b->row.resolved_build = NULL;
    } else if (app_release_order(a->row.resolved_in, a->row.resolved_build, b->row.resolved_in,
                                 b->row.resolved_build) > 0) {
        b->row.resolved_in = a->row.resolved_in;
        b->row.resolved_build = a->row.resolved_build;
    }
}

static enum err ask(struct mem_state *s, size_t app, enum cluster_work_kind kind,
                    enum cluster_work_phase phase, uint64_t cluster_id, int64_t now_ms,
                    struct error *err)
{
    struct cluster_work_row *row = NULL;
    for (size_t i = 0; i < s->works_count && !row; i++) {
        struct mem_work *w = &s->works[i];
        if (w->app == app && w->row.kind == kind && w->row.cluster_id == cluster_id &&
            w->row.finished_ms == INT64_MIN)
            row = &w->row;
    }
    if (row) {
        row->attempt++;
        row->phase = row->phase < phase ? row->phase : phase;
        row->after_id = row->seen = row->changed = row->total = 0;
        row->requested_ms = now_ms;
        row->started_ms = INT64_MIN;
        return ERR_OK;
    }
    struct mem_work *w = mem_add(s, works);
    if (!w)
        return mem_no_memory(err);
    w->app = app;
    w->row = (struct cluster_work_row){.id = s->next_work++,
                                       .bundle_id = s->apps[app].bundle_id,
                                       .kind = kind,
                                       .cluster_id = cluster_id,
                                       .phase = phase,
                                       .rules_version = "",
                                       .requested_ms = now_ms,
                                       .started_ms = INT64_MIN,
                                       .finished_ms = INT64_MIN};
    return ERR_OK;
}

/* --- by hand ---------------------------------------------------------------------------------- */

static enum err cause_of(const struct mem_state *s, uint64_t id, const char *bundle_id,
                         const struct mem_cluster **ret, const uint8_t **ret_root,
                         struct error *err)
{
    const struct mem_cluster *c = mem_cluster_of(s, mem_living(s, id));
    if (!c || (bundle_id && strcmp(bundle_id, s->apps[c->app].bundle_id) != 0))
        return error_set(err, ERR_NOT_FOUND, "no such cluster");
    if (c->row.provisional || c->row.hidden || c->row.cluster_kind >= CLUSTER_KINDS_OF_CAUSES)
        return error_set(err, ERR_CONFLICT, "stands for no cause");
    *ret = c;
    *ret_root = mem_key_root(s, c->app, c->key);
    return ERR_OK;
}

static enum err merge_one(struct mem_storage *m, struct op_cluster_rule *o, size_t index,
                          struct error *err)
{
    struct mem_state *s = m->work;
    const struct mem_cluster *into = NULL;
    const struct mem_cluster *from = NULL;
    const uint8_t *into_root = NULL;
    const uint8_t *from_root = NULL;
    enum err rc = cause_of(s, o->cluster_id, o->bundle_id, &into, &into_root, err);
    if (!rc)
        rc = cause_of(s, o->from[index], o->bundle_id, &from, &from_root, err);
    if (rc)
        return rc;
    if (from->app != into->app || same(from_root, into_root))
        return error_set(err, ERR_CONFLICT, "other app, or one already");
    for (size_t i = 0; i < s->rules_count; i++) {
        struct mem_rule *r = &s->rules[i];
        if (r->app != into->app || !in_force(r, CLUSTER_RULE_APART))
            continue;
        const uint8_t *a = mem_key_root(s, r->app, r->row.from);
        const uint8_t *b = mem_key_root(s, r->app, r->row.into);
        if ((same(a, from_root) && same(b, into_root)) ||
            (same(b, from_root) && same(a, into_root)))
            r->row.undone_ms = o->now_ms;
    }
    struct cluster_rule_row row = {.kind = CLUSTER_RULE_MERGE,
                                   .by_hand = true,
                                   .created_ms = o->now_ms,
                                   .from_title = from->row.title,
                                   .into_title = into->row.title};
    memcpy(row.from, from_root, PART_KEY_SIZE);
    memcpy(row.into, into_root, PART_KEY_SIZE);
    merge_states(s, into->app, row.from, row.into);
    rc = add_rule(m, into->app, &row, &o->rule_ids[o->rule_count], err);
    if (!rc)
        rc = ask(s, into->app, CLUSTER_WORK_ALIGN, CLUSTER_PHASE_ALIGN, from->id, o->now_ms, err);
    o->rule_count += !rc;
    return rc;
}

static enum err set_apart(struct mem_storage *m, size_t app, const uint8_t *part, int64_t now_ms,
                          uint64_t *ret_id, struct error *err)
{
    struct mem_rule *r = mem_merge_of(m->work, app, part);
    if (!r)
        return error_set(err, ERR_CONFLICT, "no merge to take back");
    r->row.undone_ms = now_ms;
    struct cluster_rule_row row = r->row;
    row.kind = CLUSTER_RULE_APART;
    row.by_hand = true;
    row.created_ms = now_ms;
    row.score = 0;
    row.epoch = 0;
    return add_rule(m, app, &row, ret_id, err);
}

static enum err set_depth(struct mem_storage *m, const struct op_cluster_rule *o,
                          const struct mem_cluster *c, const uint8_t *part, uint64_t *ret_id,
                          struct error *err)
{
    struct mem_state *s = m->work;
    for (size_t i = 0; i < s->rules_count; i++) {
        struct mem_rule *r = &s->rules[i];
        if (r->app == c->app && in_force(r, CLUSTER_RULE_DEPTH) && same(r->row.from, part))
            r->row.undone_ms = o->now_ms;
    }
    struct cluster_rule_row row = {.kind = CLUSTER_RULE_DEPTH,
                                   .depth = o->depth,
                                   .by_hand = true,
                                   .created_ms = o->now_ms,
                                   .from_title = c->row.title};
    memcpy(row.from, part, PART_KEY_SIZE);
    return add_rule(m, c->app, &row, ret_id, err);
}

static bool has_part(const struct mem_state *s, size_t app, const uint8_t *part)
{
    for (size_t i = 0; i < s->stacks_count; i++) {
        if (s->stacks[i].app == app && s->stacks[i].cluster_id && same(s->stacks[i].part, part))
            return true;
    }
    return false;
}

static enum err split(struct mem_storage *m, struct op_cluster_rule *o, struct error *err)
{
    struct mem_state *s = m->work;
    const struct mem_cluster *c = NULL;
    const uint8_t *root = NULL;
    enum err rc = cause_of(s, o->cluster_id, o->bundle_id, &c, &root, err);
    if (rc)
        return rc;
    const uint8_t *part = o->has_part ? o->part : root;
    if (!has_part(s, c->app, part) || !same(mem_key_root(s, c->app, part), root))
        return error_set(err, ERR_NOT_FOUND, "no such part");
    bool depth = o->kind == CLUSTER_RULE_DEPTH;
    if (depth)
        rc = set_depth(m, o, c, part, &o->rule_ids[0], err);
    else
        rc = set_apart(m, c->app, part, o->now_ms, &o->rule_ids[0], err);
    if (!rc)
        rc = ask(s, c->app, CLUSTER_WORK_ALIGN, depth ? CLUSTER_PHASE_LEARN : CLUSTER_PHASE_ALIGN,
                 c->id, o->now_ms, err);
    o->rule_count = !rc;
    return rc;
}

enum err mem_write_cluster_rule(struct mem_storage *m, struct write_op *op, struct error *err)
{
    struct op_cluster_rule *o = &op->u.cluster_rule;
    const struct mem_cluster *c = NULL;
    const uint8_t *root = NULL;
    o->rule_count = 0;
    if (o->kind != CLUSTER_RULE_MERGE)
        return split(m, o, err);
    enum err rc = cause_of(m->work, o->cluster_id, o->bundle_id, &c, &root, err);
    for (size_t i = 0; i < o->from_count && i < CLUSTER_FROM_MAX && !rc; i++)
        rc = merge_one(m, o, i, err);
    return rc;
}

enum err mem_write_cluster_rule_undo(struct mem_storage *m, struct write_op *op, struct error *err)
{
    struct mem_state *s = m->work;
    const struct op_cluster_rule_undo *o = &op->u.cluster_rule_undo;
    struct mem_rule *r = NULL;
    for (size_t i = 0; i < s->rules_count && !r; i++) {
        if (s->rules[i].row.id == o->rule_id)
            r = &s->rules[i];
    }
    if (!r || (o->bundle_id && strcmp(o->bundle_id, s->apps[r->app].bundle_id) != 0))
        return error_set(err, ERR_NOT_FOUND, "no such rule");
    if (r->row.undone_ms != INT64_MIN)
        return error_set(err, ERR_CONFLICT, "this rule was undone before");
    size_t app = r->app;
    enum cluster_rule_kind kind = r->row.kind;
    const struct mem_cluster *c =
        kind == CLUSTER_RULE_MERGE ? mem_cluster_of_key(s, app, mem_key_root(s, app, r->row.from))
                                   : NULL;
    uint64_t cluster_id = c ? c->id : 0;
    enum err rc = ERR_OK;
    if (kind == CLUSTER_RULE_MERGE && !r->row.by_hand)
        rc = set_apart(m, app, r->row.from, o->now_ms, NULL, err);
    else
        r->row.undone_ms = o->now_ms;
    if (rc || kind == CLUSTER_RULE_APART)
        return rc;
    return ask(s, app, CLUSTER_WORK_ALIGN,
               kind == CLUSTER_RULE_DEPTH ? CLUSTER_PHASE_LEARN : CLUSTER_PHASE_ALIGN, cluster_id,
               o->now_ms, err);
}

/* --- epochs ----------------------------------------------------------------------------------- */

static bool said_to_be_two(const struct mem_state *s, size_t app, const uint8_t *a,
                           const uint8_t *b)
{
    for (size_t i = 0; i < s->rules_count; i++) {
        const struct mem_rule *r = &s->rules[i];
        if (r->app == app && in_force(r, CLUSTER_RULE_APART) &&
            ((same(r->row.from, a) && same(r->row.into, b)) ||
             (same(r->row.from, b) && same(r->row.into, a))))
            return true;
    }
    return false;
}

static enum err epoch_merge(struct mem_storage *m, size_t app, const struct op_epoch *o,
                            const struct op_epoch_merge *e, struct error *err)
{
    struct mem_state *s = m->work;
    struct mem_rule *r = mem_merge_of(s, app, e->from);
    if (r) {
        if (!r->row.by_hand && same(r->row.into, e->into))
            r->row.score = e->score;
        return ERR_OK;
    }
    if (same(mem_key_root(s, app, e->into), e->from) || said_to_be_two(s, app, e->from, e->into))
        return ERR_OK;
    struct cluster_rule_row row = {.kind = CLUSTER_RULE_MERGE,
                                   .score = e->score,
                                   .epoch = o->epoch,
                                   .created_ms = o->now_ms,
                                   .from_title = e->from_title,
                                   .into_title = e->into_title};
    memcpy(row.from, e->from, PART_KEY_SIZE);
    memcpy(row.into, e->into, PART_KEY_SIZE);
    merge_states(s, app, e->from, e->into);
    return add_rule(m, app, &row, NULL, err);
}

static enum err put_overlay(struct mem_storage *m, size_t app, const struct op_epoch *o,
                            struct error *err)
{
    struct mem_state *s = m->work;
    struct mem_overlay *mine = NULL;
    uint64_t last = 0;
    for (size_t i = 0; i < s->overlays_count; i++) {
        if (s->overlays[i].app == app)
            mine = &s->overlays[i];
        last = s->overlays[i].version > last ? s->overlays[i].version : last;
    }
    if (!o->overlay) {
        if (mine)
            mine->epoch = o->epoch;
        return ERR_OK;
    }
    if (!mine && !(mine = mem_add(s, overlays)))
        return mem_no_memory(err);
    void *data = arena_memdup(&m->arena, o->overlay, o->overlay_len + (o->overlay_len == 0));
    if (!data)
        return mem_no_memory(err);
    *mine = (struct mem_overlay){app, last + 1, o->epoch, data, o->overlay_len};
    return ERR_OK;
}

static enum err replace_related(struct mem_state *s, size_t app, const struct op_epoch *o,
                                struct error *err)
{
    for (size_t i = 0; i < s->related_count;) {
        if (s->related[i].app == app)
            mem_remove(s, related, i);
        else
            i++;
    }
    for (size_t i = 0; i < o->related_count; i++) {
        struct mem_related *r = NULL;
        for (size_t k = 0; k < s->related_count && !r; k++) {
            struct mem_related *k_row = &s->related[k];
            if (k_row->app == app && same(k_row->row.key, o->related[i].key) &&
                same(k_row->row.other, o->related[i].other))
                r = k_row;
        }
        if (!r && !(r = mem_add(s, related)))
            return mem_no_memory(err);
        int64_t score = r->row.score > o->related[i].score ? r->row.score : o->related[i].score;
        *r = (struct mem_related){app, o->related[i]};
        r->row.score = score;
    }
    return ERR_OK;
}

static void forget_undone(struct mem_state *s, int64_t before_ms)
{
    size_t gone = 0;
    for (size_t i = 0; i < s->rules_count && gone < FORGET_ROWS;) {
        int64_t undone = s->rules[i].row.undone_ms;
        if (undone != INT64_MIN && undone < before_ms) {
            mem_remove(s, rules, i);
            gone++;
        } else {
            i++;
        }
    }
}

enum err mem_write_epoch(struct mem_storage *m, struct write_op *op, struct error *err)
{
    struct mem_state *s = m->work;
    const struct op_epoch *o = &op->u.epoch;
    size_t app = mem_app_of(s, o->bundle_id);
    if (app == SIZE_MAX)
        return error_set(err, ERR_NOT_FOUND, "no such app");
    for (size_t i = 0; i < o->undo_count; i++) {
        for (size_t k = 0; k < s->rules_count; k++) {
            struct mem_rule *r = &s->rules[k];
            if (r->row.id == o->undo[i] && in_force(r, CLUSTER_RULE_MERGE) && !r->row.by_hand)
                r->row.undone_ms = o->now_ms;
        }
    }
    enum err rc = ERR_OK;
    for (size_t i = 0; i < o->merge_count && !rc; i++)
        rc = epoch_merge(m, app, o, &o->merges[i], err);
    if (!rc)
        rc = put_overlay(m, app, o, err);
    if (!rc && o->replaces_related)
        rc = replace_related(s, app, o, err);
    forget_undone(s, o->now_ms - UNDONE_KEPT_MS);
    return rc;
}

/* --- carried -----------------------------------------------------------------------------------*/

static struct mem_rule *rule_of(struct mem_state *s, uint64_t id)
{
    for (size_t i = 0; i < s->rules_count; i++) {
        if (s->rules[i].row.id == id)
            return &s->rules[i];
    }
    return NULL;
}

static bool may_stay(struct mem_state *s, size_t app, enum cluster_rule_kind kind,
                     const struct op_carried *c, int64_t now_ms)
{
    if (kind == CLUSTER_RULE_APART)
        return !same(c->from, c->into);
    for (size_t i = 0; i < s->rules_count; i++) {
        struct mem_rule *r = &s->rules[i];
        if (r->app != app || !in_force(r, kind) || !same(r->row.from, c->from))
            continue;
        if (kind == CLUSTER_RULE_MERGE && r->row.by_hand)
            return false;
        r->row.undone_ms = now_ms;
    }
    return kind == CLUSTER_RULE_DEPTH || !same(mem_key_root(s, app, c->into), c->from);
}

static enum err carry(struct mem_storage *m, size_t app, const struct op_carried *c, int64_t now_ms,
                      struct error *err)
{
    struct mem_state *s = m->work;
    struct mem_rule *r = rule_of(s, c->rule_id);
    if (!r || r->app != app || !r->row.by_hand || r->row.undone_ms != INT64_MIN)
        return ERR_OK;
    bool depth = r->row.kind == CLUSTER_RULE_DEPTH;
    if (!c->again && same(r->row.from, c->from) && (depth || same(r->row.into, c->into)))
        return ERR_OK;
    if (!may_stay(s, app, r->row.kind, c, now_ms)) {
        r->row.undone_ms = c->again ? r->row.undone_ms : now_ms;
        return ERR_OK;
    }
    struct cluster_rule_row row = r->row;
    memcpy(row.from, c->from, PART_KEY_SIZE);
    if (!depth)
        memcpy(row.into, c->into, PART_KEY_SIZE);
    if (c->again)
        return add_rule(m, app, &row, NULL, err);
    for (size_t i = 0; i < s->aliases_count; i++) {
        if (s->aliases[i].app == app && same(s->aliases[i].key, r->row.from))
            memcpy(s->aliases[i].key, c->from, PART_KEY_SIZE);
    }
    r->row = row;
    return ERR_OK;
}

enum err mem_write_cluster_carry(struct mem_storage *m, struct write_op *op, struct error *err)
{
    const struct op_cluster_carry *o = &op->u.cluster_carry;
    size_t app = mem_app_of(m->work, o->bundle_id);
    enum err rc = ERR_OK;
    for (size_t i = 0; i < o->count && !rc; i++)
        rc = carry(m, app, &o->items[i], o->now_ms, err);
    return rc;
}

/* --- work ------------------------------------------------------------------------------------- */

static bool forgotten(const struct mem_state *s, const struct mem_work *w)
{
    if (w->row.finished_ms == INT64_MIN)
        return false;
    for (size_t i = 0; i < s->works_count; i++) {
        const struct mem_work *n = &s->works[i];
        if (n->app == w->app && n->row.kind == w->row.kind && n->row.id > w->row.id &&
            n->row.finished_ms != INT64_MIN)
            return true;
    }
    return w->row.kind == CLUSTER_WORK_ALIGN;
}

enum err mem_write_cluster_work(struct mem_storage *m, struct write_op *op, struct error *err)
{
    struct mem_state *s = m->work;
    struct op_cluster_work *o = &op->u.cluster_work;
    enum err rc = ERR_OK;
    if (o->id == 0)
        o->count = 0;
    for (size_t i = 0; o->id == 0 && i < s->apps_count && !rc; i++) {
        if (o->bundle_id && strcmp(o->bundle_id, s->apps[i].bundle_id) != 0)
            continue;
        rc = ask(s, i, o->kind, CLUSTER_PHASE_LEARN, 0, o->now_ms, err);
        o->count++;
    }
    for (size_t i = 0; i < s->works_count && o->id; i++) {
        struct cluster_work_row *w = &s->works[i].row;
        if (w->id != o->id || w->attempt != o->attempt || w->finished_ms != INT64_MIN)
            continue;
        w->phase = o->phase;
        w->after_id = o->after_id;
        w->seen = o->seen;
        w->changed = o->changed;
        w->total = o->total;
        w->rules_version = keep(m, o->rules_version);
        w->started_ms = w->started_ms == INT64_MIN ? o->now_ms : w->started_ms;
        w->finished_ms = o->finished ? o->now_ms : INT64_MIN;
    }
    for (size_t i = 0; i < s->works_count && o->id && o->finished;) {
        if (forgotten(s, &s->works[i]))
            mem_remove(s, works, i);
        else
            i++;
    }
    return rc;
}
