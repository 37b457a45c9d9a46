/* What stacks weigh, from the facts. */
#include <string.h>

#include "storage/memory_numbers.h"
#include "storage/read_plan.h"
#include "storage/stack_weights.h"

/* What the filter says of the stack itself: its cluster, and what that one is. */
static bool stack_matches(const struct mem_state *s, uint64_t stack_id, uint64_t cluster_id,
                          const struct read_filter *f)
{
    uint64_t of = stack_id ? mem_cluster_of_stack(s, stack_id) : 0;
    const struct mem_cluster *c = of ? mem_cluster_of(s, of) : NULL;
    if (!stack_id || (cluster_id && of != cluster_id))
        return false;
    return (!f->category || (c && strcmp(c->row.category, f->category) == 0)) &&
           (!f->state || (c && strcmp(c->row.state, f->state) == 0));
}

static enum err add_facts(const struct mem_state *s, uint64_t cluster_id,
                          const struct read_filter *f, size_t filter, struct stack_weights *w,
                          struct error *err)
{
    const bool reports = read_plan_source(f, BY_NONE, BY_NONE) == READ_REPORTS;
    const size_t count = reports ? s->reports_count : s->facts_count;
    for (size_t i = 0; i < count; i++) {
        const struct mem_fact fact = reports ? mem_fact_of_report(&s->reports[i]) : s->facts[i];
        if (!mem_fact_matches(s, &fact, f) || !stack_matches(s, fact.stack_id, cluster_id, f))
            continue;
        struct stack_weights_entry *e = stack_weights_at(w, fact.stack_id, err);
        if (!e)
            return err->code;
        e->weights[filter].count++;
        e->weights[filter].weighted += fact.weighted;
        e->weights[filter].stall_ms +=
            figures_stall(fact.duration_ms) + figures_above(fact.weighted, fact.duration_ms);
    }
    return ERR_OK;
}

static enum err spread(const struct mem_state *s, uint64_t cluster_id, const struct read_filter *f,
                       size_t filter, struct arena *arena, struct stack_weights *w,
                       struct error *err)
{
    enum err rc = ERR_OK;
    for (size_t i = 0; i < s->reports_count && !rc; i++) {
        const struct mem_report *r = &s->reports[i];
        const size_t count = r->op->sample_count;
        if (count == 0 || !mem_report_matches(s, r, f) ||
            !stack_matches(s, r->stack_id, cluster_id, f))
            continue;
        struct weight_sample *items = arena_array(arena, count, sizeof(*items));
        if (!items)
            return mem_no_memory(err);
        for (size_t k = 0; k < count; k++)
            items[k] = (struct weight_sample){r->sample_stacks[k], r->op->samples[k].offset_ms,
                                              r->op->samples[k].repeat_count};
        const struct weight_samples of = {r->stack_id, r->op->duration_ms,
                                          figures_weight(r->op->weight), items, count};
        rc = stack_weights_spread(w, filter, &of, err);
    }
    return rc;
}

static enum err visit_one(const struct mem_state *s, const struct stack_weights_entry *e,
                          struct arena *arena, stack_weight_visit *visit, void *ctx,
                          struct error *err)
{
    static const struct resolved_stack none = {NULL, 0};
    const struct mem_stack *k = mem_stack_of(s, e->stack_id);
    struct raw_stack raw;
    if (!k)
        return error_set(err, ERR_INTERNAL, "a fact is of a stack that is not there");
    struct weighed_stack out = {.stack_id = e->stack_id, .raw = k->raw, .raw_len = k->raw_len};
    memcpy(out.weights, e->weights, sizeof(out.weights));
    enum err rc = raw_stack_decode(k->raw, k->raw_len, arena, &raw, err);
    if (!rc)
        rc = stack_weights_frames(&out, &raw, k->resolved ? k->resolved : &none, arena, err);
    return rc ? rc : visit(ctx, &out, err);
}

static void scope_of(const struct mem_state *s, const struct read_filter *f,
                     struct breakdown_scope *ret)
{
    *ret = (struct breakdown_scope){"counters", INT64_MIN};
    if (read_plan_source(f, BY_NONE, BY_NONE) != READ_REPORTS)
        return;
    ret->source = "reports";
    if (s->reports_count)
        ret->since_ms = s->reports[0].op->received_ms;
}

enum err mem_read_stack_weights(struct storage_reader *r, uint64_t cluster_id,
                                const struct read_filter *filters, size_t filter_count,
                                struct arena *arena, stack_weight_visit *visit, void *ctx,
                                struct breakdown_scope *ret_scopes, struct error *err)
{
    const struct mem_state *s = mem_read_state(r);
    struct stack_weights w = {.count = 0};
    const uint64_t living = cluster_id ? mem_living(s, cluster_id) : 0;
    enum err rc = ERR_OK;
    if (cluster_id && !living)
        return error_set(err, ERR_NOT_FOUND, "there is no cluster %llu",
                         (unsigned long long)cluster_id);
    for (size_t i = 0; i < filter_count && !rc; i++) {
        rc = add_facts(s, living, &filters[i], i, &w, err);
        if (!rc)
            rc = spread(s, living, &filters[i], i, arena, &w, err);
    }
    stack_weights_sort(&w);
    for (size_t i = 0; i < w.count && !rc; i++) {
        const struct stack_weight *e = w.entries[i].weights;
        if (e[0].weighted || e[0].stall_ms ||
            (filter_count > 1 && (e[1].weighted || e[1].stall_ms)))
            rc = visit_one(s, &w.entries[i], arena, visit, ctx, err);
    }
    stack_weights_done(&w);
    for (size_t i = 0; i < filter_count && !rc; i++)
        scope_of(s, &filters[i], &ret_scopes[i]);
    return rc;
}
