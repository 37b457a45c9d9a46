/* Trends and totals, from facts. */
#include "base/clock.h"
#include "storage/memory_numbers.h"
#include "storage/trend.h"

struct collector {
    const struct mem_state *s;
    const struct trend_query *q;
    enum breakdown_by by;
    struct arena *arena;
    struct trend_parts parts;
};

static enum err add(struct collector *c, const struct mem_fact *fact, const struct figures *sums,
                    struct error *err)
{
    const int64_t point = trend_number(c->q->step, fact->time_ms) - c->q->begin;
    if (point < 0 || point >= (int64_t)c->q->points)
        return ERR_OK;
    const char *value = mem_dimension(c->s, fact, c->by, c->arena);
    struct breakdown_entry *e = trend_add(&c->parts, mem_text_number(value), point, sums);
    if (!e)
        return mem_no_memory(err);
    e->value = value;
    return ERR_OK;
}

static enum err add_facts(struct collector *c, enum read_source source, uint64_t cluster_id,
                          const struct read_filter *f, struct error *err)
{
    const bool hours = c->q->step == TREND_HOUR && source == READ_COUNTERS;
    for (size_t i = 0; i < mem_source_count(c->s, source); i++) {
        const struct mem_fact fact = mem_source_at(c->s, source, i);
        const struct figures one = {.count = 1,
                                    .weighted = fact.weighted,
                                    .stall_ms = figures_stall(fact.duration_ms),
                                    .above_ms = figures_above(fact.weighted, fact.duration_ms)};
        if (!mem_fact_matches(c->s, &fact, f) ||
            !mem_fact_is_of(c->s, &fact, cluster_id, f, c->by == BY_CATEGORY) ||
            (hours && clock_day(fact.time_ms) < c->s->hours_from))
            continue;
        enum err rc = add(c, &fact, &one, err);
        if (rc)
            return rc;
    }
    return ERR_OK;
}

static enum err add_usage(struct collector *c, enum read_source beside, const struct read_filter *f,
                          struct error *err)
{
    const struct read_filter of_usage = mem_usage_filter(c->s, beside, f);
    for (size_t i = 0; i < c->s->usages_count; i++) {
        const struct mem_fact fact = mem_fact_of_usage(&c->s->usages[i]);
        const struct figures one = {.stall_ms = c->s->usages[i].foreground_ms};
        enum err rc = ERR_OK;
        if (mem_fact_matches(c->s, &fact, &of_usage))
            rc = add(c, &fact, &one, err);
        if (rc)
            return rc;
    }
    return ERR_OK;
}

static struct breakdown_scope scope_of(const struct mem_state *s, enum read_source source,
                                       enum trend_step step)
{
    struct breakdown_scope scope = {"counters", INT64_MIN};
    if (source == READ_REPORTS) {
        scope.source = "reports";
        if (s->reports_count)
            scope.since_ms = s->reports[0].op->received_ms;
    } else if (step == TREND_HOUR && s->hours_from != INT32_MIN) {
        scope.since_ms = s->hours_from * CLOCK_DAY_MS;
    }
    return scope;
}

enum err mem_read_trend(struct storage_reader *r, const struct read_filter *f,
                        const struct trend_query *q, struct arena *arena, struct trend *ret,
                        struct error *err)
{
    const struct mem_state *s = mem_read_state(r);
    const enum read_source source = read_plan_trend(f, q->step, q->group);
    const enum usage_source usage = read_plan_usage(f, q->group, BY_NONE);
    struct read_filter filter = *f;
    struct collector sums = {s, q, q->group, arena, {{0}, {0}}};
    struct collector used = {s, q, read_plan_usage_by(q->group), arena, {{0}, {0}}};
    struct cluster_row c = {0};
    enum err rc = ERR_OK;
    if (q->cluster_id && !(rc = mem_read_cluster(r, q->cluster_id, f, arena, &c, err)))
        filter.bundle_id = c.bundle_id;
    if (!rc)
        rc = add_facts(&sums, source, c.id, &filter, err);
    if (!rc && usage != USAGE_UNKNOWN)
        rc = add_usage(&used, source, &filter, err);
    if (!rc)
        rc = trend_make(q, &sums.parts, usage == USAGE_UNKNOWN ? NULL : &used.parts,
                        used.by != BY_NONE, arena, ret, err);
    if (!rc)
        ret->scope = scope_of(s, source, q->step);
    trend_parts_done(&sums.parts);
    trend_parts_done(&used.parts);
    return rc;
}

enum err mem_read_totals(struct storage_reader *r, const struct read_filter *f,
                         struct totals_row *ret, struct error *err)
{
    const struct mem_state *s = mem_read_state(r);
    const enum read_source source = read_plan_clusters(f);
    const struct read_filter of_usage = mem_usage_filter(s, source, f);
    struct figures figures = {0};
    bool ok = true;
    ret->usage =
        (struct usage_figures){.known = read_plan_usage(f, BY_NONE, BY_NONE) != USAGE_UNKNOWN};
    for (size_t i = 0; i < mem_source_count(s, source); i++) {
        const struct mem_fact fact = mem_source_at(s, source, i);
        if (mem_fact_matches(s, &fact, f))
            ok &= figures_add(&figures, fact.weighted, fact.duration_ms);
    }
    for (size_t i = 0; i < s->usages_count && ret->usage.known; i++) {
        const struct mem_fact fact = mem_fact_of_usage(&s->usages[i]);
        if (!mem_fact_matches(s, &fact, &of_usage))
            continue;
        ret->usage.foreground_ms =
            (uint64_t)figures_sum((int64_t)ret->usage.foreground_ms, s->usages[i].foreground_ms);
        ret->usage.launches += (double)s->usages[i].launches / FIGURES_WEIGHT_ONE;
    }
    figures_show(&figures, &ret->figures);
    figures_done(&figures);
    return ok ? ERR_OK : mem_no_memory(err);
}
