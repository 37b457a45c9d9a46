/* The memory backend's WRITE_FINDINGS; see sqlite_write_findings.c for what it means. */
#include <stdlib.h>
#include <string.h>

#include "storage/memory_life.h"

static struct mem_report *report_of(struct mem_state *s, uint64_t id)
{
    for (size_t i = 0; i < s->reports_count; i++) {
        if (s->reports[i].id == id)
            return &s->reports[i];
    }
    return NULL;
}

static struct mem_due *due_of(struct mem_state *s, uint64_t report_id)
{
    for (size_t i = 0; i < s->dues_count; i++) {
        if (s->dues[i].report_id == report_id)
            return &s->dues[i];
    }
    return NULL;
}

static bool refers_to(const struct mem_report *r, uint64_t stack_id)
{
    for (size_t i = 0; i < r->op->sample_count; i++) {
        if (r->sample_stacks[i] == stack_id)
            return true;
    }
    for (size_t i = 0; i < r->op->thread_count; i++) {
        if (r->thread_stacks[i] == stack_id)
            return true;
    }
    return false;
}

enum err mem_finding_due(struct mem_state *s, uint64_t report_id, struct error *err)
{
    struct mem_due *due = due_of(s, report_id);
    if (due) {
        due->generation++;
        return ERR_OK;
    }
    if (!(due = mem_add(s, dues)))
        return mem_no_memory(err);
    *due = (struct mem_due){report_id, 1};
    return ERR_OK;
}

enum err mem_finding_stack_due(struct mem_state *s, uint64_t stack_id, bool *ret_due,
                               struct error *err)
{
    *ret_due = false;
    for (size_t i = 0; i < s->reports_count && !*ret_due; i++)
        *ret_due = refers_to(&s->reports[i], stack_id);
    if (!*ret_due)
        return ERR_OK;
    mem_finding_forget_stack(s, stack_id);
    struct mem_due_stack *due = mem_add(s, due_stacks);
    if (!due)
        return mem_no_memory(err);
    *due = (struct mem_due_stack){stack_id, 0};
    return ERR_OK;
}

void mem_finding_forget_stack(struct mem_state *s, uint64_t stack_id)
{
    for (size_t i = 0; i < s->due_stacks_count;) {
        if (s->due_stacks[i].stack_id == stack_id)
            mem_remove(s, due_stacks, i);
        else
            i++;
    }
}

static void forget_finding(struct mem_state *s, uint64_t report_id)
{
    for (size_t i = 0; i < s->findings_count;) {
        if (s->findings[i].report_id == report_id)
            mem_remove(s, findings, i);
        else
            i++;
    }
}

void mem_finding_forget_report(struct mem_state *s, uint64_t report_id)
{
    struct mem_due *due = due_of(s, report_id);
    if (due)
        mem_remove(s, dues, (size_t)(due - s->dues));
    forget_finding(s, report_id);
}

static enum err move_report(struct mem_storage *m, struct mem_report *r, struct op_finding *f,
                            int64_t now_ms, struct error *err)
{
    struct op_report *copy = arena_memdup(&m->arena, r->op, sizeof(*copy));
    if (!copy)
        return mem_no_memory(err);
    copy->addresses = r->op->samples[f->sample].addresses;
    copy->addresses_len = r->op->samples[f->sample].addresses_len;
    r->op = copy;
    r->stack_id = r->sample_stacks[f->sample];
    for (size_t i = 0; i < m->work->facts_count; i++) {
        if (m->work->facts[i].report_id == r->id)
            m->work->facts[i].stack_id = r->stack_id;
    }
    f->moved = true;
    const struct mem_stack *k = mem_stack_of(m->work, r->stack_id);
    return mem_life_report(m, k ? k->cluster_id : 0, r->op->version, r->op->build, now_ms, err);
}

static enum err store(struct mem_storage *m, const struct op_finding *f, struct error *err)
{
    forget_finding(m->work, f->report_id);
    if (!f->has_culprit && !f->deadlock)
        return ERR_OK;
    struct mem_finding *row = mem_add(m->work, findings);
    const char *deadlock = f->deadlock ? arena_strdup(&m->arena, f->deadlock) : NULL;
    if (!row || (f->deadlock && !deadlock))
        return mem_no_memory(err);
    row->report_id = f->report_id;
    row->row.deadlock = deadlock;
    if (!f->has_culprit)
        return ERR_OK;
    row->row.has_culprit = true;
    row->row.sample = f->sample;
    row->row.stage_ms = f->stage_ms;
    row->row.total_ms = f->total_ms;
    row->row.confidence = (double)figures_confidence(f->confidence) / FIGURES_WEIGHT_ONE;
    return ERR_OK;
}

static enum err answer(struct mem_storage *m, struct op_finding *f, int64_t now_ms,
                       struct error *err)
{
    struct mem_state *s = m->work;
    struct mem_due *due = due_of(s, f->report_id);
    f->applied = f->moved = false;
    if (!due || due->generation != f->generation)
        return ERR_OK;
    mem_remove(s, dues, (size_t)(due - s->dues));
    struct mem_report *r = f->unknown ? NULL : report_of(s, f->report_id);
    if (!r)
        return ERR_OK;
    if (f->has_culprit && f->sample >= r->op->sample_count)
        return error_set(err, ERR_INVALID, "report %llu has no sample %u",
                         (unsigned long long)f->report_id, f->sample);
    enum err rc = ERR_OK;
    if (f->has_culprit && r->sample_stacks[f->sample] != r->stack_id)
        rc = move_report(m, r, f, now_ms, err);
    if (!rc)
        rc = store(m, f, err);
    f->applied = !rc;
    return rc;
}

/* The stack of the smallest id whose reports are to become due; NULL: none. */
static struct mem_due_stack *next_stack(struct mem_state *s)
{
    struct mem_due_stack *best = NULL;
    for (size_t i = 0; i < s->due_stacks_count; i++) {
        if (!best || s->due_stacks[i].stack_id < best->stack_id)
            best = &s->due_stacks[i];
    }
    return best;
}

/* Looks at `left` reports at most; how many are left to look at. */
static enum err refill_stack(struct mem_state *s, struct mem_due_stack *d, uint32_t *left,
                             struct error *err)
{
    enum err rc = ERR_OK;
    for (size_t i = 0; i < s->reports_count && !rc; i++) {
        const struct mem_report *r = &s->reports[i];
        if (r->id <= d->after_id || !refers_to(r, d->stack_id))
            continue;
        d->after_id = r->id;
        if (op_report_wants_finding(r->op))
            rc = mem_finding_due(s, r->id, err);
        if (--*left == 0)
            return rc;
    }
    --*left;
    mem_finding_forget_stack(s, d->stack_id);
    return rc;
}

enum err mem_write_findings(struct mem_storage *m, struct write_op *op, struct error *err)
{
    struct op_findings *o = &op->u.findings;
    struct mem_due_stack *d;
    enum err rc = ERR_OK;
    uint32_t left = o->refill;
    for (size_t i = 0; i < o->count && !rc; i++)
        rc = answer(m, &o->items[i], o->now_ms, err);
    while (!rc && left > 0 && (d = next_stack(m->work)))
        rc = refill_stack(m->work, d, &left, err);
    o->more = m->work->dues_count > 0 || m->work->due_stacks_count > 0;
    return rc;
}
