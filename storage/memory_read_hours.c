/* Reports by the hour, from the facts. */
#include "base/clock.h"
#include "storage/memory_numbers.h"

enum err mem_read_hours(struct storage_reader *r, uint64_t cluster_id, const struct read_filter *f,
                        int64_t begin, size_t count, struct arena *arena, struct hour_row **ret,
                        int64_t *ret_known, struct error *err)
{
    const struct mem_state *s = mem_read_state(r);
    struct read_filter any_time = *f;
    const uint64_t id = cluster_id ? mem_living(s, cluster_id) : 0;
    struct hour_row *rows = arena_array(arena, count, sizeof(*rows));
    if (cluster_id && !id)
        return error_set(err, ERR_NOT_FOUND, "there is no cluster %llu",
                         (unsigned long long)cluster_id);
    if (!rows)
        return mem_no_memory(err);
    any_time.since_ms = any_time.until_ms = INT64_MIN;
    for (size_t i = 0; i < count; i++)
        rows[i].hour = begin + (int64_t)i;
    for (size_t i = 0; i < s->facts_count; i++) {
        const struct mem_fact *fact = &s->facts[i];
        const int64_t at = hours_number(fact->time_ms) - begin;
        if (at < 0 || at >= (int64_t)count || clock_day(fact->time_ms) < s->hours_from ||
            (id && mem_cluster_of_stack(s, fact->stack_id) != id) ||
            !mem_fact_matches(s, fact, &any_time))
            continue;
        rows[at].count++;
        rows[at].weighted += (double)fact->weighted / FIGURES_WEIGHT_ONE;
        rows[at].stall_ms += (uint64_t)figures_stall(fact->duration_ms);
        rows[at].weighted_stall_ms += (uint64_t)(figures_stall(fact->duration_ms) +
                                                 figures_above(fact->weighted, fact->duration_ms));
    }
    *ret = rows;
    *ret_known = s->hours_from == INT32_MIN ? INT64_MIN : (int64_t)s->hours_from * HOURS_A_DAY;
    return ERR_OK;
}
