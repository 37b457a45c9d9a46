/* The memory backend's WRITE_RESOLUTIONS and WRITE_GIVE_UP. */
#include <stdlib.h>
#include <string.h>

#include "storage/cluster_face.h"
#include "storage/memory_life.h"

/* Copies; a failure shows as `failed`. */
struct keeper {
    struct arena *arena;
    bool failed;
};

static const char *keep(struct keeper *k, const char *text)
{
    const char *copy = text ? arena_strdup(k->arena, text) : NULL;
    k->failed |= text && !copy;
    return copy;
}

static const struct resolved_stack *keep_frames(struct keeper *k, const struct resolved_stack *s)
{
    struct resolved_stack *copy = arena_alloc(k->arena, sizeof(*copy));
    struct resolved_frame *frames = arena_array(k->arena, s->count + 1, sizeof(*frames));
    if (!copy || !frames) {
        k->failed = true;
        return NULL;
    }
    *copy = (struct resolved_stack){frames, s->count};
    for (size_t i = 0; i < s->count; i++) {
        frames[i] = s->frames[i];
        frames[i].image_name = keep(k, frames[i].image_name);
        frames[i].raw.symbol = keep(k, frames[i].raw.symbol);
        struct frame *inner = arena_array(k->arena, frames[i].frame_count + 1, sizeof(*inner));
        if (!inner) {
            k->failed = true;
            return NULL;
        }
        frames[i].frames = inner;
        for (size_t n = 0; n < frames[i].frame_count; n++) {
            inner[n] = s->frames[i].frames[n];
            inner[n].function = keep(k, inner[n].function);
            inner[n].mangled = keep(k, inner[n].mangled);
            inner[n].file = keep(k, inner[n].file);
        }
    }
    return copy;
}

static void fill_cluster(struct keeper *k, struct cluster_row *c, const struct op_resolution *r,
                         const char *rules_version)
{
    c->title = keep(k, r->title);
    c->function = keep(k, r->function);
    c->file = keep(k, r->file);
    c->image = keep(k, r->image);
    c->category = keep(k, r->category);
    c->owner = keep(k, r->owner);
    c->key_text = keep(k, r->key_text);
    c->rules_version = keep(k, rules_version);
    c->cluster_kind = r->cluster_kind;
    c->provisional = r->provisional;
    c->hidden = r->hidden;
}

static bool comes_first(const struct op_resolution *r, const struct cluster_row *c)
{
    const struct cluster_face theirs = cluster_face_of(r);
    const struct cluster_face ours = {.function = c->function,
                                      .file = c->file,
                                      .image = c->image,
                                      .title = c->title,
                                      .category = c->category,
                                      .owner = c->owner};
    return cluster_face_order(&theirs, &ours) < 0;
}

struct mem_cluster *mem_cluster_of_key(const struct mem_state *s, size_t app,
                                       const uint8_t key[PART_KEY_SIZE])
{
    for (size_t i = 0; i < s->clusters_count; i++) {
        if (s->clusters[i].app == app && memcmp(s->clusters[i].key, key, PART_KEY_SIZE) == 0)
            return &s->clusters[i];
    }
    return NULL;
}

/* The id that the key had before, or a new one. */
static uint64_t id_for(struct mem_state *s, size_t app, const uint8_t key[PART_KEY_SIZE])
{
    for (size_t i = 0; i < s->aliases_count; i++) {
        uint64_t id = s->aliases[i].alias;
        if (s->aliases[i].app == app && memcmp(s->aliases[i].key, key, PART_KEY_SIZE) == 0) {
            mem_remove(s, aliases, i);
            return id;
        }
    }
    return s->next_cluster++;
}

static int by_id(const void *a, const void *b)
{
    const struct mem_cluster *x = a;
    const struct mem_cluster *y = b;
    return (x->id > y->id) - (x->id < y->id);
}

/* As struct cluster_birth of the SQLite backend. */
struct birth {
    const char *rules_version;
    int64_t now_ms;
    uint64_t origin_id;
};

static enum err cluster_of(struct mem_storage *m, size_t app, const struct op_resolution *r,
                           const struct birth *birth, uint64_t *ret, struct error *err)
{
    const char *rules_version = birth->rules_version;
    struct mem_state *s = m->work;
    struct keeper k = {&m->arena, false};
    const uint8_t *root = mem_key_root(s, app, r->key);
    bool borrowed = memcmp(root, r->key, sizeof(r->key)) != 0;
    struct mem_cluster *c = mem_cluster_of_key(s, app, root);
    if (!c) {
        if (!(c = mem_add(s, clusters)))
            return mem_no_memory(err);
        c->id = id_for(s, app, root);
        c->app = app;
        c->borrowed = borrowed;
        memcpy(c->key, root, sizeof(c->key));
        c->row.bundle_id = s->apps[app].bundle_id;
        c->row.state = "open";
        c->row.regressed_ms = INT64_MIN;
        c->created_ms = birth->now_ms;
        c->origin_id = birth->origin_id;
        fill_cluster(&k, &c->row, r, rules_version);
        *ret = c->id;
        qsort(s->clusters, s->clusters_count, sizeof(*s->clusters), by_id);
        return k.failed ? mem_no_memory(err) : ERR_OK;
    }
    if (strcmp(c->row.rules_version, rules_version) != 0 || c->borrowed > borrowed ||
        (c->borrowed == borrowed && comes_first(r, &c->row))) {
        fill_cluster(&k, &c->row, r, rules_version);
        c->borrowed = borrowed;
    }
    *ret = c->id;
    return k.failed ? mem_no_memory(err) : ERR_OK;
}

static enum err add_move(struct mem_state *s, uint64_t from, uint64_t to, int64_t weighted,
                         int64_t count, struct error *err)
{
    for (size_t i = 0; i < s->moves_count; i++) {
        if (s->moves[i].from == from && s->moves[i].to == to) {
            s->moves[i].weighted += weighted;
            s->moves[i].count += count;
            return ERR_OK;
        }
    }
    struct mem_move *move = mem_add(s, moves);
    if (!move)
        return mem_no_memory(err);
    *move = (struct mem_move){from, to, weighted, count};
    return ERR_OK;
}

static uint64_t heir_of(const struct mem_state *s, uint64_t cluster_id)
{
    const struct mem_move *best = NULL;
    for (size_t i = 0; i < s->moves_count; i++) {
        const struct mem_move *m = &s->moves[i];
        if (m->from != cluster_id)
            continue;
        if (!best || m->weighted > best->weighted ||
            (m->weighted == best->weighted &&
             (m->count > best->count || (m->count == best->count && m->to < best->to))))
            best = m;
    }
    return best ? best->to : 0;
}

/* Weight that went to a cluster that is no more counts as gone to its heir. */
static void redirect_moves(struct mem_state *s, uint64_t cluster_id, uint64_t heir)
{
    struct error ignored;
    for (size_t i = 0; i < s->moves_count;) {
        const struct mem_move m = s->moves[i];
        if (m.from != cluster_id && m.to != cluster_id) {
            i++;
            continue;
        }
        mem_remove(s, moves, i);
        /* There is room: a row was just removed. */
        if (m.to == cluster_id && heir && m.from != heir && m.from != cluster_id)
            (void)add_move(s, m.from, heir, m.weighted, m.count, &ignored);
    }
}

void mem_reap(struct mem_state *s, uint64_t cluster_id)
{
    for (size_t i = 0; i < s->stacks_count; i++) {
        if (s->stacks[i].cluster_id == cluster_id)
            return;
    }
    struct mem_cluster *c = mem_cluster_of(s, cluster_id);
    if (!c)
        return;
    uint64_t heir = heir_of(s, cluster_id);
    mem_life_inherit(s, cluster_id, heir);
    redirect_moves(s, cluster_id, heir);
    for (size_t i = 0; i < s->aliases_count;) {
        if (s->aliases[i].cluster_id != cluster_id) {
            i++;
        } else if (heir) {
            s->aliases[i++].cluster_id = heir;
        } else {
            mem_remove(s, aliases, i);
        }
    }
    if (heir) {
        struct mem_alias *alias = mem_add(s, aliases);
        if (alias)
            *alias = (struct mem_alias){.alias = cluster_id, .cluster_id = heir, .app = c->app};
        if (alias)
            memcpy(alias->key, c->key, sizeof(alias->key));
    }
    mem_remove(s, clusters, (size_t)(c - s->clusters));
}

static enum err point_to(struct mem_storage *m, struct mem_stack *k, const struct op_resolution *r,
                         uint64_t cluster_id, int64_t now_ms, uint64_t *ret_left, struct error *err)
{
    struct mem_state *s = m->work;
    k->provisional = r->provisional;
    if (r->stack)
        k->approximate = r->approximate;
    memcpy(k->part, r->key, sizeof(k->part));
    if (k->cluster_id == cluster_id)
        return ERR_OK;
    *ret_left = k->cluster_id;
    k->cluster_id = cluster_id;
    struct mem_sums sums = mem_stack_sums(s, k->id);
    enum err rc = mem_life_joined(m, k->id, cluster_id, now_ms, err);
    if (!rc && *ret_left)
        rc = add_move(s, *ret_left, cluster_id, sums.weighted, sums.count, err);
    return rc;
}

static enum err resolve(struct mem_storage *m, struct op_resolution *r,
                        const struct op_resolutions *o, uint64_t *ret_left, bool *ret_due,
                        struct error *err)
{
    struct mem_state *s = m->work;
    struct keeper keeper = {&m->arena, false};
    uint64_t cluster_id = 0;
    r->applied = false;
    *ret_left = 0;
    *ret_due = false;
    struct mem_stack *k = mem_stack_of(s, r->stack_id);
    if (!k || !k->pending || k->generation != r->generation ||
        mem_overlay_version(s, k->app) != r->overlay)
        return ERR_OK;
    for (size_t i = 0; i < r->missing_count - r->gone_count; i++) {
        if (mem_serving_slice(s, s->apps[k->app].bundle_id, false, &r->missing[i]))
            return ERR_OK;
    }
    const struct birth birth = {o->rules_version, o->now_ms, k->cluster_id};
    enum err rc = cluster_of(m, k->app, r, &birth, &cluster_id, err);
    if (rc)
        return rc;
    k->resolved = keep_frames(&keeper, r->stack);
    k->missing = arena_memdup(&m->arena, r->missing_count ? (const void *)r->missing : "",
                              r->missing_count * sizeof(*r->missing) + 1 - (r->missing_count > 0));
    k->missing_count = r->missing_count;
    if (keeper.failed || !k->missing)
        return mem_no_memory(err);
    for (size_t i = 0; i < r->gone_count; i++) {
        if ((rc = mem_queue_gone(m, k->app, &r->missing[r->missing_count - 1 - i], err)))
            return rc;
    }
    k->pending = false;
    r->applied = true;
    rc = mem_finding_stack_due(s, k->id, ret_due, err);
    return rc ? rc : point_to(m, k, r, cluster_id, o->now_ms, ret_left, err);
}

enum err mem_write_resolutions(struct mem_storage *m, struct write_op *op, struct error *err)
{
    struct op_resolutions *o = &op->u.resolutions;
    enum err rc = ERR_OK;
    uint64_t *left = calloc(o->count + 1, sizeof(*left));
    if (!left)
        return mem_no_memory(err);
    o->findings_due = false;
    for (size_t i = 0; i < o->count && !rc; i++) {
        bool due = false;
        rc = resolve(m, &o->items[i], o, &left[i], &due, err);
        o->findings_due |= due;
    }
    for (size_t i = 0; i < o->count && !rc; i++) {
        if (left[i])
            mem_reap(m->work, left[i]);
    }
    free(left);
    return rc;
}

static enum err rekey(struct mem_storage *m, struct op_rekey *o, struct op_resolution *r,
                      uint64_t *ret_left, struct error *err)
{
    struct mem_state *s = m->work;
    struct keeper keeper = {&m->arena, false};
    uint64_t cluster_id = 0;
    r->applied = false;
    struct mem_stack *k = mem_stack_of(s, r->stack_id);
    if (!k || k->pending || k->generation != r->generation ||
        mem_overlay_version(s, k->app) != r->overlay)
        return ERR_OK;
    const struct birth birth = {o->rules_version, o->now_ms, k->cluster_id};
    enum err rc = cluster_of(m, k->app, r, &birth, &cluster_id, err);
    if (rc)
        return rc;
    if (r->stack)
        k->resolved = keep_frames(&keeper, r->stack);
    if (keeper.failed)
        return mem_no_memory(err);
    r->applied = true;
    bool due = false;
    bool other_part = memcmp(k->part, r->key, sizeof(k->part)) != 0;
    o->changed += k->cluster_id != cluster_id || other_part;
    if (other_part || r->stack)
        rc = mem_finding_stack_due(s, k->id, &due, err);
    o->findings_due |= due;
    return rc ? rc : point_to(m, k, r, cluster_id, o->now_ms, ret_left, err);
}

enum err mem_write_rekey(struct mem_storage *m, struct write_op *op, struct error *err)
{
    struct mem_state *s = m->work;
    struct op_rekey *o = &op->u.rekey;
    enum err rc = ERR_OK;
    uint64_t *left = calloc(o->count + 1, sizeof(*left));
    if (!left)
        return mem_no_memory(err);
    o->changed = 0;
    o->findings_due = false;
    for (size_t i = 0; i < o->count && !rc; i++)
        rc = rekey(m, o, &o->items[i], &left[i], err);
    for (size_t i = 0; i < o->count && !rc; i++) {
        if (left[i])
            mem_reap(s, left[i]);
    }
    free(left);
    for (size_t i = 0; i < s->works_count && !rc; i++) {
        struct cluster_work_row *w = &s->works[i].row;
        if (w->id != o->work_id || w->attempt != o->work_attempt || w->finished_ms != INT64_MIN)
            continue;
        w->after_id = o->after_id;
        w->seen += o->seen;
        w->changed += o->changed;
    }
    return rc;
}

enum err mem_write_give_up(struct mem_storage *m, struct write_op *op, struct error *err)
{
    struct op_give_up *o = &op->u.give_up;
    (void)err;
    o->count = 0;
    for (size_t i = 0; i < m->work->stacks_count; i++) {
        struct mem_stack *k = &m->work->stacks[i];
        if (k->provisional && !k->give_up && k->created_ms < o->before_ms) {
            k->give_up = true;
            mem_repend_stack(k);
            o->count++;
        }
    }
    return ERR_OK;
}
