/* The memory backend's reads of findings. */
#include <math.h>

#include "storage/memory_read.h"

const struct mem_finding *mem_finding_of(const struct mem_state *s, uint64_t report_id)
{
    for (size_t i = 0; i < s->findings_count; i++) {
        if (s->findings[i].report_id == report_id)
            return &s->findings[i];
    }
    return NULL;
}

static const struct mem_due *due_of(const struct mem_state *s, uint64_t report_id)
{
    for (size_t i = 0; i < s->dues_count; i++) {
        if (s->dues[i].report_id == report_id)
            return &s->dues[i];
    }
    return NULL;
}

/* Reports are in the order of their ids. */
enum err mem_read_findings_due(struct storage_reader *r, size_t limit, struct arena *arena,
                               struct finding_due **ret, size_t *ret_count, struct error *err)
{
    const struct mem_state *s = mem_read_state(r);
    struct finding_due *rows = arena_array(arena, limit, sizeof(*rows));
    size_t count = 0;
    if (!rows)
        return mem_no_memory(err);
    for (size_t i = 0; i < s->reports_count && count < limit; i++) {
        const struct mem_due *due = due_of(s, s->reports[i].id);
        if (!due)
            continue;
        rows[count] = (struct finding_due){due->report_id, due->generation, false, {0}};
        enum err rc = mem_show_report(s, &s->reports[i], arena, &rows[count++].report, err);
        if (rc)
            return rc;
    }
    *ret = rows;
    *ret_count = count;
    return ERR_OK;
}

enum err mem_read_cluster_findings(struct storage_reader *r, uint64_t cluster_id,
                                   struct cluster_findings *ret, struct error *err)
{
    const struct mem_state *s = mem_read_state(r);
    struct cluster_findings c = {.mean_confidence = 0};
    int64_t sum = 0; /* whole millionths: in any order the same */
    (void)err;
    for (size_t i = 0; i < s->reports_count; i++) {
        const struct mem_finding *f = mem_finding_of(s, s->reports[i].id);
        if (!f || mem_cluster_of_stack(s, s->reports[i].stack_id) != cluster_id)
            continue;
        c.deadlocks += f->row.deadlock != NULL;
        c.culprits += f->row.has_culprit;
        sum += f->row.has_culprit ? figures_confidence(f->row.confidence) : 0;
    }
    c.mean_confidence =
        c.culprits ? (double)sum / (double)c.culprits / FIGURES_WEIGHT_ONE : (double)NAN;
    *ret = c;
    return ERR_OK;
}
