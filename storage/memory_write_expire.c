/* The memory backend's WRITE_EXPIRE; see sqlite_write_expire.c for what it means. */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "storage/memory_state.h"

#define DAYS_KEPT 2

static bool referred_to(const struct mem_state *s, uint64_t stack_id)
{
    for (size_t i = 0; i < s->reports_count; i++) {
        const struct mem_report *r = &s->reports[i];
        if (r->stack_id == stack_id)
            return true;
        for (size_t k = 0; k < r->op->sample_count; k++) {
            if (r->sample_stacks[k] == stack_id)
                return true;
        }
        for (size_t k = 0; k < r->op->thread_count; k++) {
            if (r->thread_stacks[k] == stack_id)
                return true;
        }
    }
    return false;
}

/* Within its part: what was merged can be taken apart again. */
static struct mem_stack *heaviest(struct mem_state *s, const struct mem_stack *of)
{
    struct mem_stack *best = NULL;
    int64_t weight = 0;
    for (size_t i = 0; i < s->stacks_count; i++) {
        struct mem_stack *k = &s->stacks[i];
        if (k->cluster_id != of->cluster_id || memcmp(k->part, of->part, sizeof(k->part)) != 0)
            continue;
        int64_t w = mem_stack_sums(s, k->id).weighted;
        if (!best || w > weight || (w == weight && memcmp(k->hash, best->hash, 16) < 0)) {
            best = k;
            weight = w;
        }
    }
    return best;
}

static bool keep_left(struct mem_state *s, uint64_t stack_id)
{
    for (size_t i = 0; i < s->lefts_count; i++) {
        if (s->lefts[i].stack_id == stack_id)
            return true;
    }
    struct mem_left *left = mem_add(s, lefts);
    if (left)
        left->stack_id = stack_id;
    return left != NULL;
}

/* False without memory. */
static bool retire(struct mem_state *s, uint64_t stack_id)
{
    struct mem_stack *k = mem_stack_of(s, stack_id);
    if (!k || referred_to(s, stack_id))
        return true;
    if (k->pending)
        return keep_left(s, stack_id);
    uint64_t cluster_id = k->cluster_id;
    uint64_t heir = heaviest(s, k)->id;
    if (heir == stack_id && mem_stack_sums(s, stack_id).count > 0)
        return true;
    for (size_t i = 0; i < s->facts_count; i++) {
        if (s->facts[i].stack_id == stack_id)
            s->facts[i].stack_id = heir;
    }
    mem_finding_forget_stack(s, stack_id);
    mem_remove(s, stacks, (size_t)(k - s->stacks));
    if (heir == stack_id)
        mem_reap(s, cluster_id);
    return true;
}

static int by_number(const void *a, const void *b);

static enum err retire_left(struct mem_state *s, const struct op_expire *o, struct error *err)
{
    size_t count = 0;
    uint64_t *ids = calloc(s->lefts_count + 1, sizeof(*ids));
    if (!ids)
        return mem_no_memory(err);
    for (size_t i = 0; i < s->lefts_count;) {
        const struct mem_stack *k = mem_stack_of(s, s->lefts[i].stack_id);
        if (k && k->pending) {
            i++;
            continue;
        }
        if (k)
            ids[count++] = k->id;
        mem_remove(s, lefts, i);
    }
    qsort(ids, count, sizeof(*ids), by_number);
    bool ok = true;
    for (size_t i = 0; i < count && ok; i++)
        ok = i < o->max_rows ? retire(s, ids[i]) : keep_left(s, ids[i]);
    free(ids);
    return ok ? ERR_OK : mem_no_memory(err);
}

static int by_number(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a;
    uint64_t y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* The stacks a report points to, ascending, each once; the list is the caller's. */
static uint64_t *stacks_of(const struct mem_report *r, size_t *ret_count)
{
    size_t n = 0;
    size_t kept = 0;
    uint64_t *ids = calloc(r->op->sample_count + r->op->thread_count + 1, sizeof(*ids));
    if (!ids)
        return NULL;
    if (r->stack_id)
        ids[n++] = r->stack_id;
    for (size_t i = 0; i < r->op->sample_count; i++)
        ids[n++] = r->sample_stacks[i];
    for (size_t i = 0; i < r->op->thread_count; i++) {
        if (r->thread_stacks[i])
            ids[n++] = r->thread_stacks[i];
    }
    qsort(ids, n, sizeof(*ids), by_number);
    for (size_t i = 0; i < n; i++) {
        if (i == 0 || ids[i] != ids[i - 1])
            ids[kept++] = ids[i];
    }
    *ret_count = kept;
    return ids;
}

static enum err expire_reports(struct mem_state *s, struct op_expire *o, struct error *err)
{
    size_t look = s->reports_count < o->max_rows ? s->reports_count : o->max_rows;
    size_t removed = 0;
    size_t at = 0;
    struct mem_report *gone = calloc(look + 1, sizeof(*gone));
    if (!gone)
        return mem_no_memory(err);
    for (size_t i = 0; i < look; i++) {
        if (s->reports[at].op->received_ms < o->reports_before_ms) {
            gone[removed++] = s->reports[at];
            mem_finding_forget_report(s, s->reports[at].id);
            mem_remove(s, reports, at);
        } else {
            at++;
        }
    }
    enum err rc = ERR_OK;
    for (size_t i = 0; i < removed && !rc; i++) {
        size_t count = 0;
        uint64_t *ids = stacks_of(&gone[i], &count);
        rc = ids ? ERR_OK : mem_no_memory(err);
        for (size_t k = 0; k < count && !rc; k++)
            rc = retire(s, ids[k]) ? ERR_OK : mem_no_memory(err);
        free(ids);
    }
    free(gone);
    o->more |= removed == o->max_rows;
    o->dropped = removed;
    return rc;
}

enum err mem_write_expire(struct mem_storage *m, struct write_op *op, struct error *err)
{
    struct mem_state *s = m->work;
    struct op_expire *o = &op->u.expire;
    size_t removed = 0;
    o->more = false;
    enum err rc = retire_left(s, o, err);
    if (!rc)
        rc = expire_reports(s, o, err);
    if (rc)
        return rc;
    int64_t oldest = s->reports_count ? s->reports[0].op->received_ms : INT64_MAX;
    int64_t before = o->report_ids_before_ms < oldest ? o->report_ids_before_ms : oldest;
    for (size_t i = 0; i < s->ids_count && removed < o->max_rows;) {
        if (s->ids[i].day < before / CLOCK_DAY_MS) {
            mem_remove(s, ids, i);
            removed++;
        } else {
            i++;
        }
    }
    o->more |= removed == o->max_rows;
    removed = 0;
    for (size_t i = 0; i < s->sets_count && removed < o->max_rows;) {
        if (s->sets[i].used_ms < o->image_sets_before_ms) {
            mem_remove(s, sets, i);
            removed++;
        } else {
            i++;
        }
    }
    o->more |= removed == o->max_rows;
    for (size_t i = 0; i < s->days_count;) {
        if (s->days[i].day < clock_day(o->now_ms) - DAYS_KEPT)
            mem_remove(s, days, i);
        else
            i++;
    }
    return ERR_OK;
}
