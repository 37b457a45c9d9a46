/* Breakdowns, from facts. */
#include <string.h>

#include "base/clock.h"
#include "base/hash.h"
#include "storage/breakdown.h"
#include "storage/memory_numbers.h"

bool mem_fact_is_of(const struct mem_state *s, const struct mem_fact *fact, uint64_t cluster_id,
                    const struct read_filter *filter, bool clustered)
{
    const uint64_t id = mem_cluster_of_stack(s, fact->stack_id);
    if (cluster_id)
        return id == cluster_id;
    if (!clustered && !filter->category && !filter->state)
        return true;
    const struct mem_cluster *c = id ? mem_cluster_of(s, id) : NULL;
    return c && (!filter->category || strcmp(filter->category, c->row.category) == 0) &&
           (!filter->state || strcmp(filter->state, c->row.state) == 0);
}

/* Facts have texts where the breakdown wants numbers: a text's number is its hash. */
const char *mem_dimension(const struct mem_state *s, const struct mem_fact *f, enum breakdown_by by,
                          struct arena *arena)
{
    char day[CLOCK_TEXT_SIZE];
    const struct mem_cluster *c;
    switch (by) {
    case BY_VERSION:
        return f->version;
    case BY_BUILD:
        return f->build;
    case BY_DEVICE:
        return f->device;
    case BY_OS_VERSION:
        return f->os_version;
    case BY_PAGE:
        return f->page;
    case BY_DAY:
        return arena_strdup(arena, clock_format_day(clock_day(f->time_ms), day));
    case BY_KIND:
        return report_kind_name(f->kind);
    case BY_CATEGORY:
        c = mem_cluster_of(s, mem_cluster_of_stack(s, f->stack_id));
        return c ? c->row.category : "";
    case BY_NONE:
        break;
    }
    return NULL;
}

int64_t mem_text_number(const char *text)
{
    return text ? (int64_t)hash64(text, strlen(text), 1) : 0;
}

struct mem_fact mem_fact_of_usage(const struct mem_usage *u)
{
    return (struct mem_fact){.app = u->app,
                             .time_ms = u->day * CLOCK_DAY_MS,
                             .version = u->version,
                             .build = u->build,
                             .device = u->device,
                             .os_version = u->os_version,
                             .page = u->page,
                             .weighted = u->launches,
                             .duration_ms = -1};
}

struct read_filter mem_usage_filter(const struct mem_state *s, enum read_source beside,
                                    const struct read_filter *f)
{
    const bool gone = beside == READ_REPORTS && s->reports_count && s->reports[0].id > 1;
    return read_plan_usage_filter(f, gone ? s->reports[0].op->received_ms : INT64_MIN);
}

struct split {
    const struct mem_state *s;
    enum breakdown_by by, by2;
    struct arena *arena;
    struct breakdown sums;
};

static struct breakdown_entry *entry_of(struct split *x, const struct mem_fact *fact)
{
    const char *value = mem_dimension(x->s, fact, x->by, x->arena);
    const char *value2 = mem_dimension(x->s, fact, x->by2, x->arena);
    struct breakdown_entry *e =
        breakdown_entry_at(&x->sums, mem_text_number(value), mem_text_number(value2));
    if (e) {
        e->value = value;
        e->value2 = value2;
    }
    return e;
}

static enum err split(struct split *x, enum read_source source, uint64_t cluster_id,
                      const struct read_filter *f, struct error *err)
{
    const bool clustered = x->by == BY_CATEGORY || x->by2 == BY_CATEGORY;
    for (size_t i = 0; i < mem_source_count(x->s, source); i++) {
        const struct mem_fact fact = mem_source_at(x->s, source, i);
        if (!mem_fact_matches(x->s, &fact, f) ||
            !mem_fact_is_of(x->s, &fact, cluster_id, f, clustered))
            continue;
        struct breakdown_entry *e = entry_of(x, &fact);
        if (!e || !figures_add(&e->figures, fact.weighted, fact.duration_ms))
            return mem_no_memory(err);
    }
    return ERR_OK;
}

static enum err split_usage(struct split *x, enum read_source beside, const struct read_filter *f,
                            struct error *err)
{
    const struct read_filter of_usage = mem_usage_filter(x->s, beside, f);
    for (size_t i = 0; i < x->s->usages_count; i++) {
        const struct mem_fact fact = mem_fact_of_usage(&x->s->usages[i]);
        if (!mem_fact_matches(x->s, &fact, &of_usage))
            continue;
        struct breakdown_entry *e = entry_of(x, &fact);
        if (!e)
            return mem_no_memory(err);
        e->figures.stall_ms = figures_sum(e->figures.stall_ms, x->s->usages[i].foreground_ms);
        e->figures.weighted = figures_sum(e->figures.weighted, x->s->usages[i].launches);
    }
    return ERR_OK;
}

static void set_scope(const struct mem_state *s, enum read_source source,
                      struct breakdown_scope *ret)
{
    *ret = (struct breakdown_scope){"counters", INT64_MIN};
    if (source != READ_REPORTS)
        return;
    ret->source = "reports";
    if (s->reports_count)
        ret->since_ms = s->reports[0].op->received_ms;
}

enum err mem_read_breakdown(struct storage_reader *r, uint64_t cluster_id,
                            const struct read_filter *f, enum breakdown_by by,
                            enum breakdown_by by2, size_t limit, struct arena *arena,
                            struct breakdown_row **ret, size_t *ret_count,
                            struct breakdown_scope *ret_scope, struct error *err)
{
    const struct mem_state *s = mem_read_state(r);
    const enum read_source source = read_plan_source(f, by, by2);
    const enum usage_source usage = read_plan_usage(f, by, by2);
    struct split cluster = {s, by, by2, arena, {0}};
    struct split app = cluster;
    struct split used = {s, read_plan_usage_by(by), read_plan_usage_by(by2), arena, {0}};
    struct read_filter of_app = *f;
    struct cluster_row c = {0};
    enum err rc = ERR_OK;
    if (cluster_id) {
        rc = mem_read_cluster(r, cluster_id, f, arena, &c, err);
        of_app.bundle_id = c.bundle_id;
        if (!rc)
            rc = split(&cluster, source, c.id, f, err);
    }
    if (!rc)
        rc = split(&app, source, 0, &of_app, err);
    if (!rc && usage != USAGE_UNKNOWN)
        rc = split_usage(&used, source, &of_app, err);
    const struct breakdown_parts parts = {
        .sums = cluster_id ? &cluster.sums : &app.sums,
        .app = cluster_id ? &app.sums : NULL,
        .usage = usage == USAGE_UNKNOWN ? NULL : &used.sums,
        .usage_by = used.by != BY_NONE,
        .usage_by2 = used.by2 != BY_NONE,
        .usage_of_all = used.by == by && used.by2 == by2,
    };
    if (!rc)
        rc = breakdown_rows(&parts, limit, arena, ret, ret_count, err);
    breakdown_done(&cluster.sums);
    breakdown_done(&app.sums);
    breakdown_done(&used.sums);
    if (!rc)
        set_scope(s, source, ret_scope);
    return rc;
}
