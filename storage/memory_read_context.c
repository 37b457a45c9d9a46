/* What the newest reports tell of CPU, memory, pages and paths. */
#include "storage/context.h"
#include "storage/memory_numbers.h"

enum err mem_read_context(struct storage_reader *r, uint64_t cluster_id,
                          const struct read_filter *f, enum breakdown_by by, enum breakdown_by by2,
                          struct arena *arena, struct context *ret, struct error *err)
{
    const struct mem_state *s = mem_read_state(r);
    const uint64_t id = cluster_id ? mem_living(s, cluster_id) : 0;
    const int64_t newest = s->reports_count ? (int64_t)s->reports[s->reports_count - 1].id : 0;
    size_t n = 0;
    struct context_fact *facts = arena_array(arena, CONTEXT_REPORTS, sizeof(*facts));
    if (cluster_id && !id)
        return error_set(err, ERR_NOT_FOUND, "there is no cluster %llu",
                         (unsigned long long)cluster_id);
    if (!facts)
        return mem_no_memory(err);
    for (size_t i = s->reports_count; i > 0 && n < CONTEXT_REPORTS; i--) {
        const struct mem_report *m = &s->reports[i - 1];
        const struct mem_fact fact = mem_fact_of_report(m);
        if ((int64_t)m->id <= newest - CONTEXT_SPAN || !mem_report_matches(s, m, f) ||
            (id && mem_cluster_of_stack(s, m->stack_id) != id))
            continue;
        facts[n++] = (struct context_fact){mem_dimension(s, &fact, by, arena),
                                           mem_dimension(s, &fact, by2, arena),
                                           m->op->time_ms,
                                           m->op->cpu_usage < 0 ? -1 : m->op->cpu_usage,
                                           m->op->memory_usage < 0 ? -1 : m->op->memory_usage,
                                           m->op->page,
                                           m->op->path};
    }
    return context_make(facts, n, by != BY_NONE, arena, ret, err);
}
