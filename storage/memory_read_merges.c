/* The memory backend's reads of what clusters are made of. */
#include <stdlib.h>
#include <string.h>

#include "storage/memory_read.h"

static bool same(const uint8_t *a, const uint8_t *b)
{
    return memcmp(a, b, PART_KEY_SIZE) == 0;
}

static int by_version(const void *a, const void *b)
{
    const struct overlay_row *x = a;
    const struct overlay_row *y = b;
    return (x->version > y->version) - (x->version < y->version);
}

enum err mem_read_overlays(struct storage_reader *r, uint64_t after_version, struct arena *arena,
                           struct overlay_row **ret, size_t *ret_count, struct error *err)
{
    const struct mem_state *s = mem_read_state(r);
    size_t n = 0;
    struct overlay_row *rows = arena_array(arena, s->overlays_count + 1, sizeof(*rows));
    if (!rows)
        return mem_no_memory(err);
    for (size_t i = 0; i < s->overlays_count; i++) {
        const struct mem_overlay *o = &s->overlays[i];
        if (o->version > after_version)
            rows[n++] = (struct overlay_row){
                o->app + 1, s->apps[o->app].bundle_id, o->version, o->epoch, o->data, o->len};
    }
    qsort(rows, n, sizeof(*rows), by_version);
    *ret = rows;
    *ret_count = n;
    return ERR_OK;
}

enum err mem_read_keyed_stacks(struct storage_reader *r, const char *bundle_id, uint64_t cluster_id,
                               uint64_t after_id, size_t limit, struct arena *arena,
                               struct keyed_stack **ret, size_t *ret_count, struct error *err)
{
    const struct mem_state *s = mem_read_state(r);
    size_t app = mem_app_of(s, bundle_id);
    size_t n = 0;
    struct keyed_stack *rows = arena_array(arena, limit, sizeof(*rows));
    if (!rows)
        return mem_no_memory(err);
    for (size_t i = 0; i < s->stacks_count && n < limit; i++) {
        const struct mem_stack *k = &s->stacks[i];
        const struct mem_cluster *c = mem_cluster_of(s, k->cluster_id);
        if (k->app != app || k->pending || k->id <= after_id || !c ||
            (cluster_id && k->cluster_id != cluster_id))
            continue;
        struct keyed_stack *row = &rows[n++];
        row->stack_id = k->id;
        row->app_id = app + 1;
        row->generation = k->generation;
        row->give_up = k->give_up;
        row->provisional = k->provisional;
        row->weighted = mem_stack_sums(s, k->id).weighted;
        memcpy(row->hash, k->hash, sizeof(row->hash));
        memcpy(row->part, k->part, sizeof(row->part));
        memcpy(row->cluster, c->key, sizeof(row->cluster));
        row->rules_version = c->row.rules_version;
        row->resolved = *k->resolved;
    }
    *ret = rows;
    *ret_count = n;
    return ERR_OK;
}

static int by_weight(const void *a, const void *b)
{
    const struct stack_floor *x = a;
    const struct stack_floor *y = b;
    if (x->weighted != y->weighted)
        return x->weighted > y->weighted ? -1 : 1;
    return memcmp(x->hash, y->hash, sizeof(x->hash));
}

enum err mem_read_stack_floor(struct storage_reader *r, const char *bundle_id, size_t heaviest,
                              struct stack_floor *ret, uint64_t *ret_total, struct error *err)
{
    const struct mem_state *s = mem_read_state(r);
    size_t app = mem_app_of(s, bundle_id);
    size_t n = 0;
    struct stack_floor *all = calloc(s->stacks_count + 1, sizeof(*all));
    if (!all)
        return mem_no_memory(err);
    for (size_t i = 0; i < s->stacks_count; i++) {
        const struct mem_stack *k = &s->stacks[i];
        if (k->app != app || k->pending)
            continue;
        all[n].weighted = mem_stack_sums(s, k->id).weighted;
        memcpy(all[n++].hash, k->hash, STACK_HASH_SIZE);
    }
    qsort(all, n, sizeof(*all), by_weight);
    *ret = (struct stack_floor){.weighted = INT64_MIN};
    memset(ret->hash, 0xff, sizeof(ret->hash));
    if (heaviest > 0 && n > heaviest)
        *ret = all[heaviest - 1];
    *ret_total = n;
    free(all);
    return ERR_OK;
}

/* Of the oldest stack of the part. */
static uint64_t cluster_of_part(const struct mem_state *s, size_t app, const uint8_t *part)
{
    for (size_t i = 0; i < s->stacks_count; i++) {
        const struct mem_stack *k = &s->stacks[i];
        if (k->app == app && k->cluster_id && same(k->part, part))
            return k->cluster_id;
    }
    return 0;
}

/* Of the smallest alias that stood for the key. */
static uint64_t cluster_of_alias(const struct mem_state *s, size_t app, const uint8_t *key)
{
    const struct mem_alias *best = NULL;
    for (size_t i = 0; i < s->aliases_count; i++) {
        const struct mem_alias *a = &s->aliases[i];
        if (a->app == app && same(a->key, key) && (!best || a->alias < best->alias))
            best = a;
    }
    return best ? best->cluster_id : 0;
}

enum err mem_read_cluster_rules(struct storage_reader *r, const char *bundle_id, bool undone,
                                size_t limit, const char *cursor, struct arena *arena,
                                struct cluster_rule_row **ret, size_t *ret_count,
                                const char **ret_next, struct error *err)
{
    const struct mem_state *s = mem_read_state(r);
    int64_t before = INT64_MAX;
    bool started = false;
    size_t n = 0;
    enum err rc = read_cursor_parse(cursor, 'm', &before, 1, &started, err);
    if (rc)
        return rc;
    struct cluster_rule_row *rows = arena_array(arena, limit + 1, sizeof(*rows));
    if (!rows)
        return mem_no_memory(err);
    for (size_t i = s->rules_count; i-- > 0 && n <= limit;) {
        const struct mem_rule *rule = &s->rules[i];
        if ((started && (int64_t)rule->row.id >= before) ||
            (bundle_id && strcmp(bundle_id, s->apps[rule->app].bundle_id) != 0) ||
            (!undone && rule->row.undone_ms != INT64_MIN))
            continue;
        rows[n] = rule->row;
        rows[n].cluster_id = cluster_of_part(s, rule->app, rule->row.from);
        if (!rows[n].cluster_id && rule->row.kind == CLUSTER_RULE_DEPTH)
            rows[n].cluster_id = cluster_of_alias(s, rule->app, rule->row.from);
        n++;
    }
    *ret = rows;
    *ret_count = n < limit ? n : limit;
    *ret_next = NULL;
    if (n > limit) {
        const int64_t last = (int64_t)rows[limit - 1].id;
        if (!(*ret_next = read_cursor_make(arena, 'm', &last, 1)))
            return mem_no_memory(err);
    }
    return ERR_OK;
}

static int by_count(const void *a, const void *b)
{
    const struct cluster_part *x = a;
    const struct cluster_part *y = b;
    if (x->count != y->count)
        return x->count > y->count ? -1 : 1;
    return memcmp(x->key, y->key, PART_KEY_SIZE);
}

enum err mem_read_cluster_parts(struct storage_reader *r, uint64_t cluster_id, size_t limit,
                                struct arena *arena, struct cluster_part **ret, size_t *ret_count,
                                struct error *err)
{
    const struct mem_state *s = mem_read_state(r);
    const struct mem_cluster *c = mem_cluster_of(s, cluster_id);
    size_t n = 0;
    struct cluster_part *rows = arena_array(arena, s->stacks_count + 1, sizeof(*rows));
    if (!rows)
        return mem_no_memory(err);
    for (size_t i = 0; i < s->stacks_count && c; i++) {
        const struct mem_stack *k = &s->stacks[i];
        size_t at = 0;
        if (k->cluster_id != cluster_id)
            continue;
        while (at < n && !same(rows[at].key, k->part))
            at++;
        if (at == n) {
            const struct mem_rule *rule = mem_merge_of(s, c->app, k->part);
            memcpy(rows[n].key, k->part, PART_KEY_SIZE);
            rows[n].own = same(k->part, c->key);
            if (rule) {
                rows[n].merge = rule->row;
                rows[n].merge.cluster_id = cluster_id;
            }
            rows[n].title = rule ? rule->row.from_title : rows[n].own ? c->row.title : NULL;
            n++;
        }
        const uint64_t count = (uint64_t)mem_stack_sums(s, k->id).count;
        rows[at].stacks += count > 0;
        rows[at].count += count;
    }
    qsort(rows, n, sizeof(*rows), by_count);
    *ret = rows;
    *ret_count = n < limit ? n : limit;
    return ERR_OK;
}

static int by_keys(const void *a, const void *b)
{
    const struct related_row *x = a;
    const struct related_row *y = b;
    int c = memcmp(x->key, y->key, PART_KEY_SIZE);
    return c ? c : memcmp(x->other, y->other, PART_KEY_SIZE);
}

enum err mem_read_related(struct storage_reader *r, const char *bundle_id, uint64_t cluster_id,
                          struct arena *arena, struct related_row **ret, size_t *ret_count,
                          struct error *err)
{
    const struct mem_state *s = mem_read_state(r);
    const struct mem_cluster *of = mem_cluster_of(s, cluster_id);
    size_t app = mem_app_of(s, bundle_id);
    size_t n = 0;
    struct related_row *rows = arena_array(arena, s->related_count + 1, sizeof(*rows));
    if (!rows)
        return mem_no_memory(err);
    for (size_t i = 0; i < s->related_count; i++) {
        const struct mem_related *x = &s->related[i];
        if (x->app != app || (cluster_id && (!of || !same(of->key, x->row.key))))
            continue;
        const struct mem_cluster *other = mem_cluster_of_key(s, app, x->row.other);
        memcpy(rows[n].key, x->row.key, PART_KEY_SIZE);
        memcpy(rows[n].other, x->row.other, PART_KEY_SIZE);
        rows[n].score = x->row.score;
        rows[n].cluster_id = other ? other->id : 0;
        rows[n++].title = other ? other->row.title : NULL;
    }
    qsort(rows, n, sizeof(*rows), by_keys);
    *ret = rows;
    *ret_count = n;
    return ERR_OK;
}

enum err mem_read_cluster_work(struct storage_reader *r, struct arena *arena,
                               struct cluster_work_row **ret, size_t *ret_count, struct error *err)
{
    const struct mem_state *s = mem_read_state(r);
    size_t n = 0;
    struct cluster_work_row *rows = arena_array(arena, s->works_count + 1, sizeof(*rows));
    if (!rows)
        return mem_no_memory(err);
    for (size_t i = 0; i < s->works_count; i++) {
        if (s->works[i].row.finished_ms == INT64_MIN)
            rows[n++] = s->works[i].row;
    }
    *ret = rows;
    *ret_count = n;
    return ERR_OK;
}

static int by_app(const void *a, const void *b)
{
    const struct cluster_work_row *x = a;
    const struct cluster_work_row *y = b;
    int c = strcmp(x->bundle_id, y->bundle_id);
    return c ? c : (int)x->kind - (int)y->kind;
}

enum err mem_read_cluster_work_last(struct storage_reader *r, const char *bundle_id,
                                    struct arena *arena, struct cluster_work_row **ret,
                                    size_t *ret_count, struct error *err)
{
    const struct mem_state *s = mem_read_state(r);
    size_t n = 0;
    struct cluster_work_row *rows = arena_array(arena, s->works_count + 1, sizeof(*rows));
    if (!rows)
        return mem_no_memory(err);
    for (size_t i = 0; i < s->works_count; i++) {
        const struct mem_work *w = &s->works[i];
        bool last = w->row.kind != CLUSTER_WORK_ALIGN &&
                    (!bundle_id || strcmp(bundle_id, w->row.bundle_id) == 0);
        for (size_t k = i + 1; k < s->works_count && last; k++)
            last = s->works[k].app != w->app || s->works[k].row.kind != w->row.kind;
        if (last)
            rows[n++] = w->row;
    }
    qsort(rows, n, sizeof(*rows), by_app);
    *ret = rows;
    *ret_count = n;
    return ERR_OK;
}

static int by_bundle(const void *a, const void *b)
{
    const struct cluster_app_row *x = a;
    const struct cluster_app_row *y = b;
    return strcmp(x->bundle_id, y->bundle_id);
}

enum err mem_read_cluster_apps(struct storage_reader *r, const char *rules_version,
                               struct arena *arena, struct cluster_app_row **ret, size_t *ret_count,
                               struct error *err)
{
    const struct mem_state *s = mem_read_state(r);
    struct cluster_app_row *rows = arena_array(arena, s->apps_count + 1, sizeof(*rows));
    if (!rows)
        return mem_no_memory(err);
    for (size_t i = 0; i < s->apps_count; i++) {
        struct cluster_app_row *a = &rows[i];
        *a = (struct cluster_app_row){.bundle_id = s->apps[i].bundle_id, .epoch_ms = INT64_MIN};
        for (size_t k = 0; k < s->works_count; k++) {
            const struct mem_work *w = &s->works[k];
            if (w->app == i && w->row.kind != CLUSTER_WORK_ALIGN &&
                w->row.finished_ms > a->epoch_ms)
                a->epoch_ms = w->row.finished_ms;
        }
        for (size_t k = 0; k < s->clusters_count; k++)
            a->outdated |= s->clusters[k].app == i &&
                           strcmp(s->clusters[k].row.rules_version, rules_version) != 0;
    }
    qsort(rows, s->apps_count, sizeof(*rows), by_bundle);
    *ret = rows;
    *ret_count = s->apps_count;
    return ERR_OK;
}
