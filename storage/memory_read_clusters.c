/* The memory backend's reads of clusters, and breakdowns. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/clock.h"
#include "storage/breakdown.h"
#include "storage/cluster_face.h"
#include "storage/memory_read.h"

static bool asked(const char *want, const char *is)
{
    return !want || strcmp(want, is) == 0;
}

bool mem_fact_matches(const struct mem_state *s, const struct mem_fact *f,
                      const struct read_filter *q)
{
    return asked(q->bundle_id, s->apps[f->app].bundle_id) && asked(q->version, f->version) &&
           asked(q->build, f->build) && asked(q->device, f->device) &&
           asked(q->os_version, f->os_version) && asked(q->page, f->page) &&
           (q->kind < 0 || q->kind == (int)f->kind) && f->time_ms >= q->since_ms &&
           (q->until_ms == INT64_MIN || f->time_ms < q->until_ms) &&
           (q->min_duration_ms < 0 || f->duration_ms >= q->min_duration_ms);
}

struct mem_fact mem_fact_of_report(const struct mem_report *r)
{
    return (struct mem_fact){
        .app = r->app,
        .report_id = r->id,
        .stack_id = r->stack_id,
        .time_ms = r->op->time_ms,
        .kind = r->op->kind,
        .version = r->op->version,
        .build = r->op->build,
        .device = r->op->device,
        .os_version = r->op->os_version,
        .page = r->op->page,
        .weighted = figures_weight(r->op->weight),
        .duration_ms = r->op->duration_ms,
    };
}

bool mem_report_matches(const struct mem_state *s, const struct mem_report *r,
                        const struct read_filter *q)
{
    struct mem_fact f = mem_fact_of_report(r);
    return mem_fact_matches(s, &f, q);
}

uint64_t mem_cluster_of_stack(const struct mem_state *s, uint64_t stack_id)
{
    const struct mem_stack *k = stack_id ? mem_stack_of(s, stack_id) : NULL;
    return k ? k->cluster_id : 0;
}

uint64_t mem_living(const struct mem_state *s, uint64_t cluster_id)
{
    if (mem_cluster_of(s, cluster_id))
        return cluster_id;
    for (size_t i = 0; i < s->aliases_count; i++) {
        if (s->aliases[i].alias == cluster_id)
            return s->aliases[i].cluster_id;
    }
    return 0;
}

size_t mem_source_count(const struct mem_state *s, enum read_source source)
{
    return source == READ_REPORTS ? s->reports_count : s->facts_count;
}

struct mem_fact mem_source_at(const struct mem_state *s, enum read_source source, size_t i)
{
    return source == READ_REPORTS ? mem_fact_of_report(&s->reports[i]) : s->facts[i];
}

static enum err sum_cluster(const struct mem_state *s, uint64_t id, const struct read_filter *f,
                            struct figures *ret, struct error *err)
{
    enum read_source source = read_plan_clusters(f);
    for (size_t i = 0; i < mem_source_count(s, source); i++) {
        struct mem_fact fact = mem_source_at(s, source, i);
        if (mem_cluster_of_stack(s, fact.stack_id) == id && mem_fact_matches(s, &fact, f) &&
            !figures_add(ret, fact.weighted, fact.duration_ms))
            return mem_no_memory(err);
    }
    return ERR_OK;
}

/* Distinct texts, "" left out. */
static enum err count_distinct(const struct mem_state *s, uint64_t id, bool devices,
                               struct arena *arena, uint64_t *ret, struct error *err)
{
    size_t count = 0;
    const char **seen = arena_array(arena, s->facts_count + 1, sizeof(const char *));
    if (!seen)
        return mem_no_memory(err);
    for (size_t i = 0; i < s->facts_count; i++) {
        const char *text = devices ? s->facts[i].device : s->facts[i].version;
        size_t at = 0;
        if (*text == 0 || mem_cluster_of_stack(s, s->facts[i].stack_id) != id)
            continue;
        while (at < count && strcmp(seen[at], text) != 0)
            at++;
        if (at == count)
            seen[count++] = text;
    }
    *ret = count;
    return ERR_OK;
}

static void fill_trend(const struct mem_state *s, const struct mem_cluster *c,
                       struct cluster_row *row)
{
    int64_t newest = INT64_MIN;
    for (size_t i = 0; i < s->facts_count; i++) {
        if (s->facts[i].app == c->app && s->facts[i].time_ms > newest)
            newest = s->facts[i].time_ms;
    }
    int32_t last = clock_day(newest);
    row->trend_count = TREND_DAYS;
    for (int d = 0; d < TREND_DAYS; d++) {
        row->trend[d].day = last - TREND_DAYS + 1 + d;
        for (size_t i = 0; i < s->facts_count; i++)
            row->trend[d].count += clock_day(s->facts[i].time_ms) == row->trend[d].day &&
                                   mem_cluster_of_stack(s, s->facts[i].stack_id) == c->id;
    }
}

bool mem_is_approximate(const struct mem_state *s, uint64_t cluster_id)
{
    size_t stacks = 0;
    for (size_t i = 0; i < s->stacks_count; i++) {
        if (s->stacks[i].cluster_id != cluster_id)
            continue;
        if (!s->stacks[i].approximate)
            return false;
        stacks++;
    }
    return stacks > 0;
}

static enum err fill_row(const struct mem_state *s, const struct mem_cluster *c,
                         const struct read_filter *f, struct arena *arena, struct cluster_row *row,
                         struct error *err)
{
    struct figures figures = {0};
    *row = c->row;
    row->approximate = mem_is_approximate(s, c->id);
    row->id = c->id;
    row->first_seen_ms = INT64_MAX;
    row->last_seen_ms = INT64_MIN;
    for (size_t i = 0; i < s->stacks_count; i++) {
        if (s->stacks[i].cluster_id != c->id)
            continue;
        struct mem_sums sums = mem_stack_sums(s, s->stacks[i].id);
        row->stacks += sums.count > 0;
        if (sums.first_ms < row->first_seen_ms)
            row->first_seen_ms = sums.first_ms;
        if (sums.last_ms > row->last_seen_ms)
            row->last_seen_ms = sums.last_ms;
    }
    for (size_t i = 0; i < s->facts_count; i++) {
        if (*s->facts[i].version && mem_cluster_of_stack(s, s->facts[i].stack_id) == c->id)
            cluster_release(row, s->facts[i].version, s->facts[i].build);
    }
    enum err rc = sum_cluster(s, c->id, f, &figures, err);
    if (!rc) {
        figures_show(&figures, &row->figures);
        rc = count_distinct(s, c->id, true, arena, &row->devices, err);
    }
    if (!rc)
        rc = count_distinct(s, c->id, false, arena, &row->versions, err);
    if (!rc)
        fill_trend(s, c, row);
    figures_done(&figures);
    return rc;
}

static bool has_text(const char *in, const char *text)
{
    return in && strcasestr(in, text) != NULL;
}

static bool cluster_matches(const struct mem_state *s, const struct mem_cluster *c,
                            const struct read_filter *f)
{
    return asked(f->bundle_id, s->apps[c->app].bundle_id) && asked(f->category, c->row.category) &&
           asked(f->state, c->row.state) && (f->include_hidden || !c->row.hidden) &&
           (!f->text || has_text(c->row.title, f->text) || has_text(c->row.function, f->text) ||
            has_text(c->row.file, f->text));
}

static int64_t sort_value(const struct cluster_row *c, enum cluster_sort sort)
{
    switch (sort) {
    case SORT_COUNT:
        return llround(c->figures.weighted * FIGURES_WEIGHT_ONE);
    case SORT_STALL_MS:
        return (int64_t)c->figures.weighted_stall_ms;
    case SORT_LAST_SEEN:
        return c->last_seen_ms;
    case SORT_FIRST_SEEN:
        return c->first_seen_ms;
    case SORT_P90:
        break;
    }
    return c->figures.p90_ms;
}

/* Small lists: insertion keeps the order. */
static void insert_sorted(struct cluster_row *rows, size_t *count, const struct cluster_row *c,
                          enum cluster_sort sort)
{
    size_t at = (*count)++;
    while (at > 0 && read_order(sort_value(&rows[at - 1], sort), rows[at - 1].id,
                                sort_value(c, sort), c->id) > 0) {
        rows[at] = rows[at - 1];
        at--;
    }
    rows[at] = *c;
}

enum err mem_read_clusters(struct storage_reader *r, const struct read_filter *f,
                           enum cluster_sort sort, size_t limit, const char *cursor,
                           struct arena *arena, struct cluster_row **ret, size_t *ret_count,
                           const char **ret_next, struct error *err)
{
    const struct mem_state *s = mem_read_state(r);
    int64_t after[3];
    bool started = false;
    size_t count = 0;
    size_t first = 0;
    enum err rc = read_cursor_parse(cursor, 'c', after, 3, &started, err);
    if (rc)
        return rc;
    if (started && after[0] != (int64_t)sort)
        return error_set(err, ERR_INVALID, "this cursor belongs to a list in another order");
    struct cluster_row *rows = arena_array(arena, s->clusters_count + 1, sizeof(*rows));
    if (!rows)
        return mem_no_memory(err);
    for (size_t i = 0; i < s->clusters_count; i++) {
        struct cluster_row c = {0};
        if (!cluster_matches(s, &s->clusters[i], f))
            continue;
        if ((rc = fill_row(s, &s->clusters[i], f, arena, &c, err)))
            return rc;
        if (c.figures.count)
            insert_sorted(rows, &count, &c, sort);
    }
    while (started && first < count &&
           read_order(sort_value(&rows[first], sort), rows[first].id, after[1],
                      (uint64_t)after[2]) <= 0)
        first++;
    *ret = rows + first;
    *ret_count = count - first < limit ? count - first : limit;
    *ret_next = NULL;
    if (*ret_count && first + *ret_count < count) {
        const struct cluster_row *last = &rows[first + *ret_count - 1];
        const int64_t values[] = {(int64_t)sort, sort_value(last, sort), (int64_t)last->id};
        if (!(*ret_next = read_cursor_make(arena, 'c', values, 3)))
            return mem_no_memory(err);
    }
    return ERR_OK;
}

enum err mem_read_cluster(struct storage_reader *r, uint64_t id, const struct read_filter *f,
                          struct arena *arena, struct cluster_row *ret, struct error *err)
{
    const struct mem_state *s = mem_read_state(r);
    const struct mem_cluster *c = mem_cluster_of(s, mem_living(s, id));
    if (!c || !asked(f->bundle_id, s->apps[c->app].bundle_id))
        return error_set(err, ERR_NOT_FOUND, "there is no cluster %llu", (unsigned long long)id);
    return fill_row(s, c, f, arena, ret, err);
}

static int by_number(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a;
    uint64_t y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

enum err mem_read_cluster_aliases(struct storage_reader *r, uint64_t id, struct arena *arena,
                                  uint64_t **ret, size_t *ret_count, struct error *err)
{
    const struct mem_state *s = mem_read_state(r);
    uint64_t now = mem_living(s, id);
    size_t count = 0;
    if (!now)
        return error_set(err, ERR_NOT_FOUND, "there is no cluster %llu", (unsigned long long)id);
    uint64_t *ids = arena_array(arena, s->aliases_count + 1, sizeof(*ids));
    if (!ids)
        return mem_no_memory(err);
    for (size_t i = 0; i < s->aliases_count; i++) {
        if (s->aliases[i].cluster_id == now)
            ids[count++] = s->aliases[i].alias;
    }
    qsort(ids, count, sizeof(*ids), by_number);
    *ret = ids;
    *ret_count = count;
    return ERR_OK;
}

struct weighed {
    const struct mem_stack *stack;
    int64_t weighted;
};

static int by_weight(const void *a, const void *b)
{
    const struct weighed *x = a;
    const struct weighed *y = b;
    if (x->weighted != y->weighted)
        return x->weighted > y->weighted ? -1 : 1;
    return (x->stack->id > y->stack->id) - (x->stack->id < y->stack->id);
}

enum err mem_read_cluster_stacks(struct storage_reader *r, uint64_t id, size_t limit,
                                 struct arena *arena, struct stack_row **ret, size_t *ret_count,
                                 struct error *err)
{
    const struct mem_state *s = mem_read_state(r);
    uint64_t now = mem_living(s, id);
    size_t count = 0;
    enum err rc = ERR_OK;
    if (!now)
        return error_set(err, ERR_NOT_FOUND, "there is no cluster %llu", (unsigned long long)id);
    struct weighed *all = arena_array(arena, s->stacks_count + 1, sizeof(*all));
    struct stack_row *rows = arena_array(arena, s->stacks_count + 1, sizeof(*rows));
    if (!all || !rows)
        return mem_no_memory(err);
    for (size_t i = 0; i < s->stacks_count; i++) {
        struct mem_sums sums = mem_stack_sums(s, s->stacks[i].id);
        if (s->stacks[i].cluster_id == now && sums.count)
            all[count++] = (struct weighed){&s->stacks[i], sums.weighted};
    }
    qsort(all, count, sizeof(*all), by_weight);
    if (count > limit)
        count = limit;
    for (size_t i = 0; i < count && !rc; i++)
        rc = mem_fill_stack(s, all[i].stack, arena, &rows[i], err);
    if (rc)
        return rc;
    *ret = rows;
    *ret_count = count;
    return ERR_OK;
}
