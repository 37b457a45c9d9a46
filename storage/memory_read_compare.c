/* The reports of two versions, from facts. */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "storage/memory_numbers.h"

static int by_place(const void *a, const void *b)
{
    const struct compare_cell *x = a;
    const struct compare_cell *y = b;
    if (x->cluster_id != y->cluster_id)
        return x->cluster_id < y->cluster_id ? -1 : 1;
    if (x->side != y->side)
        return x->side < y->side ? -1 : 1;
    return (x->day > y->day) - (x->day < y->day);
}

static void add(struct compare_cell *cells, size_t *count, uint64_t cluster_id, int side,
                const struct mem_fact *fact)
{
    struct compare_cell key = {.cluster_id = cluster_id, .side = side};
    key.day = clock_day(fact->time_ms);
    size_t i = 0;
    while (i < *count && by_place(&cells[i], &key) != 0)
        i++;
    if (i == *count)
        cells[(*count)++] = key;
    cells[i].count++;
    cells[i].weighted += (double)fact->weighted / FIGURES_WEIGHT_ONE;
    cells[i].stall_ms += (uint64_t)figures_stall(fact->duration_ms);
    cells[i].weighted_stall_ms += (uint64_t)(figures_stall(fact->duration_ms) +
                                             figures_above(fact->weighted, fact->duration_ms));
}

/* 0: none, or a hidden one. */
static uint64_t shown_cluster(const struct mem_state *s, uint64_t stack_id)
{
    const struct mem_cluster *c = mem_cluster_of(s, mem_cluster_of_stack(s, stack_id));
    return c && !c->row.hidden ? c->id : 0;
}

enum err mem_read_compare(struct storage_reader *r, const struct read_filter *f,
                          const char *const versions[2], struct arena *arena,
                          struct compare_cell **ret, size_t *ret_count, struct error *err)
{
    const struct mem_state *s = mem_read_state(r);
    const struct read_span days = read_plan_days(f);
    size_t count = 0;
    struct compare_cell *cells = arena_array(arena, 2 * s->facts_count + 1, sizeof(*cells));
    if (!cells)
        return mem_no_memory(err);
    for (size_t i = 0; i < s->facts_count; i++) {
        const struct mem_fact *fact = &s->facts[i];
        const int64_t day = clock_day(fact->time_ms);
        const uint64_t id = shown_cluster(s, fact->stack_id);
        if (strcmp(s->apps[fact->app].bundle_id, f->bundle_id) != 0 || day < days.begin ||
            day >= days.end || (f->kind >= 0 && (int)fact->kind != f->kind))
            continue;
        for (int side = 0; side < 2; side++) {
            if (strcmp(fact->version, versions[side]) != 0)
                continue;
            add(cells, &count, 0, side, fact);
            if (id)
                add(cells, &count, id, side, fact);
        }
    }
    qsort(cells, count, sizeof(*cells), by_place);
    *ret = cells;
    *ret_count = count;
    return ERR_OK;
}
