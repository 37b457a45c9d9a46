/* The memory backend's states of clusters. */
#include "storage/memory_life.h"

#include <string.h>

#include "base/app_version.h"
#include "base/text.h"
#include "storage/memory_read.h"

static bool is_resolved(const struct mem_cluster *c)
{
    return c && strcmp(c->row.state, cluster_state_name(CLUSTER_RESOLVED)) == 0;
}

static enum err record(struct mem_state *s, uint64_t cluster_id,
                       const struct cluster_change *change, struct error *err)
{
    size_t count = 0;
    struct mem_change *row = mem_add(s, changes);
    if (!row)
        return mem_no_memory(err);
    row->cluster_id = cluster_id;
    row->row = *change;
    row->row.id = s->next_change++;
    for (size_t i = s->changes_count; i > 0; i--) {
        if (s->changes[i - 1].cluster_id == cluster_id && ++count > CLUSTER_HISTORY_MAX)
            mem_remove(s, changes, i - 1);
    }
    return ERR_OK;
}

static enum err regress(struct mem_state *s, struct mem_cluster *c, const char *version,
                        const char *build, int64_t at_ms, struct error *err)
{
    const struct cluster_change change = {
        .at_ms = at_ms,
        .regression = true,
        .from_state = c->row.state,
        .to_state = cluster_state_name(CLUSTER_OPEN),
        .resolved_in = c->row.resolved_in,
        .resolved_build = c->row.resolved_build,
        .version = version,
        .build = build,
    };
    c->row.state = change.to_state;
    c->row.resolved_in = c->row.resolved_build = NULL;
    c->row.regressed_ms = at_ms;
    c->row.regressed_in = version;
    c->row.regressed_build = build;
    return record(s, c->id, &change, err);
}

enum err mem_life_report(struct mem_storage *m, uint64_t cluster_id, const char *version,
                         const char *build, int64_t at_ms, struct error *err)
{
    struct mem_cluster *c = cluster_id ? mem_cluster_of(m->work, cluster_id) : NULL;
    if (!is_resolved(c) ||
        !app_release_newer(version, build, c->row.resolved_in, c->row.resolved_build))
        return ERR_OK;
    return regress(m->work, c, version, build, at_ms, err);
}

/* The newest release among facts of a stack. */
static const struct mem_fact *newest_fact(const struct mem_state *s, uint64_t stack_id)
{
    const struct mem_fact *best = NULL;
    for (size_t i = 0; i < s->facts_count; i++) {
        const struct mem_fact *f = &s->facts[i];
        if (f->stack_id == stack_id && app_version_known(f->version) &&
            (!best || app_release_pick(f->version, f->build, best->version, best->build) > 0))
            best = f;
    }
    return best;
}

enum err mem_life_joined(struct mem_storage *m, uint64_t stack_id, uint64_t cluster_id,
                         int64_t at_ms, struct error *err)
{
    const struct mem_fact *f = newest_fact(m->work, stack_id);
    return f ? mem_life_report(m, cluster_id, f->version, f->build, at_ms, err) : ERR_OK;
}

/* The newest release the app ever named. */
static const struct mem_value *newest_value(const struct mem_state *s, size_t app)
{
    const struct mem_value *best = NULL;
    for (size_t i = 0; i < s->values_count; i++) {
        const struct mem_value *v = &s->values[i];
        if (v->app == app && v->kind == MEM_BUILD && app_version_known(v->value) &&
            (!best || app_release_pick(v->value, v->value2, best->value, best->value2) > 0))
            best = v;
    }
    return best;
}

static const char *keep(struct mem_storage *m, const char *text, bool *failed)
{
    const char *copy = text ? arena_strdup(&m->arena, text) : NULL;
    *failed |= text && !copy;
    return copy;
}

static enum err apply_state(struct mem_storage *m, struct mem_cluster *c,
                            struct op_cluster_state *o, struct error *err)
{
    bool failed = false;
    bool resolve = o->set_state && o->state == CLUSTER_RESOLVED;
    const char *version = resolve ? keep(m, o->resolved_in, &failed) : NULL;
    const char *build = resolve && o->resolved_in ? keep(m, o->resolved_build, &failed) : NULL;
    const char *note = keep(m, o->note, &failed);
    const char *who = keep(m, o->who, &failed);
    struct cluster_change change = {.at_ms = o->now_ms, .who = who, .from_state = c->row.state};
    change.to_state = o->set_state ? cluster_state_name(o->state) : c->row.state;
    if (failed)
        return mem_no_memory(err);
    if (resolve && !version) {
        const struct mem_value *v = newest_value(m->work, c->app);
        if (!v)
            return error_set(err, ERR_CONFLICT,
                             "no version of this app is known; name one in \"resolved_in\"");
        version = v->value;
        build = v->value2;
    }
    bool moved = o->set_state && (strcmp(change.to_state, c->row.state) != 0 ||
                                  !text_same(version, c->row.resolved_in) ||
                                  !text_same(build, c->row.resolved_build));
    bool noted = o->set_note && !text_same(note, c->row.note);
    o->changed = moved || noted;
    if (!o->changed)
        return ERR_OK;
    if (noted) {
        c->row.note = note;
        change.note = note ? note : "";
    }
    if (moved) {
        c->row.state = change.to_state;
        c->row.resolved_in = version;
        c->row.resolved_build = build;
        c->row.regressed_ms = INT64_MIN;
        c->row.regressed_in = c->row.regressed_build = NULL;
    }
    c->decided = true;
    change.resolved_in = c->row.resolved_in;
    change.resolved_build = c->row.resolved_build;
    return record(m->work, c->id, &change, err);
}

enum err mem_write_cluster_state(struct mem_storage *m, struct write_op *op, struct error *err)
{
    struct op_cluster_state *o = &op->u.cluster_state;
    uint64_t id = mem_living(m->work, o->id);
    struct mem_cluster *c = id ? mem_cluster_of(m->work, id) : NULL;
    o->changed = false;
    if (!c || (o->bundle_id && strcmp(m->work->apps[c->app].bundle_id, o->bundle_id) != 0))
        return error_set(err, ERR_NOT_FOUND, "there is no cluster %llu", (unsigned long long)o->id);
    return apply_state(m, c, o, err);
}

static bool other_sources(const struct mem_state *s, uint64_t heir, uint64_t from)
{
    for (size_t i = 0; i < s->moves_count; i++) {
        const struct mem_move *v = &s->moves[i];
        const struct mem_cluster *c =
            v->to == heir && v->from != from ? mem_cluster_of(s, v->from) : NULL;
        if (c && !c->row.provisional && strcmp(c->row.state, cluster_state_name(CLUSTER_OPEN)) == 0)
            return true;
    }
    return false;
}

static void take_over(struct mem_cluster *to, const struct mem_cluster *from)
{
    to->row.state = from->row.state;
    to->row.resolved_in = from->row.resolved_in;
    to->row.resolved_build = from->row.resolved_build;
    to->row.note = from->row.note;
    to->row.regressed_ms = from->row.regressed_ms;
    to->row.regressed_in = from->row.regressed_in;
    to->row.regressed_build = from->row.regressed_build;
    to->decided = from->decided;
}

void mem_life_inherit(struct mem_state *s, uint64_t from, uint64_t heir)
{
    const struct mem_cluster *gone = mem_cluster_of(s, from);
    struct mem_cluster *next = heir ? mem_cluster_of(s, heir) : NULL;
    if (gone && next && gone->decided && !next->decided && next->origin_id == from &&
        !other_sources(s, heir, from))
        take_over(next, gone);
    if (gone && next && !gone->row.provisional) {
        next->created_ms =
            gone->created_ms < next->created_ms ? gone->created_ms : next->created_ms;
        next->announced_ms = next->announced_ms ? next->announced_ms : gone->announced_ms;
    }
    for (size_t i = 0; i < s->alerts_count && heir; i++) {
        if (s->alerts[i].cluster_id == from)
            s->alerts[i].cluster_id = heir;
    }
    for (size_t i = 0; i < s->changes_count;) {
        if (s->changes[i].cluster_id == from && !heir) {
            mem_remove(s, changes, i);
            continue;
        }
        if (s->changes[i].cluster_id == from)
            s->changes[i].cluster_id = heir;
        i++;
    }
}

enum err mem_read_cluster_history(struct storage_reader *base, uint64_t id, size_t limit,
                                  const char *cursor, struct arena *arena,
                                  struct cluster_change **ret, size_t *ret_count,
                                  const char **ret_next, struct error *err)
{
    const struct mem_state *s = mem_read_state(base);
    uint64_t living = mem_living(s, id);
    int64_t below = INT64_MAX;
    size_t count = 0;
    bool started = false;
    bool more = false;
    enum err rc = read_cursor_parse(cursor, 'h', &below, 1, &started, err);
    if (rc)
        return rc;
    if (!living)
        return error_set(err, ERR_NOT_FOUND, "there is no cluster %llu", (unsigned long long)id);
    struct cluster_change *rows = arena_array(arena, s->changes_count + 1, sizeof(*rows));
    if (!rows)
        return mem_no_memory(err);
    for (size_t i = s->changes_count; i > 0 && !more; i--) {
        const struct mem_change *c = &s->changes[i - 1];
        if (c->cluster_id != living || (started && (int64_t)c->row.id >= below))
            continue;
        more = count == limit;
        if (!more)
            rows[count++] = c->row;
    }
    const int64_t last = count ? (int64_t)rows[count - 1].id : 0;
    *ret_next = more ? read_cursor_make(arena, 'h', &last, 1) : NULL;
    if (more && !*ret_next)
        return mem_no_memory(err);
    *ret = rows;
    *ret_count = count;
    return ERR_OK;
}
