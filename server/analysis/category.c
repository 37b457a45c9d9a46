#include "server/analysis/category.h"

#include <string.h>

/* Runtime calls are part of the code that made them. */
static bool of_the_compiler(const struct fated_frame *f)
{
    static const char *const REASONS[] = {"runtime", "memory", "artefact", "sdk"};
    for (size_t i = 0; f->drop && i < sizeof(REASONS) / sizeof(REASONS[0]); i++) {
        if (strcmp(f->drop, REASONS[i]) == 0)
            return true;
    }
    return false;
}

static bool own_code_runs(const struct fated_stack *stack)
{
    for (size_t i = 0; i < stack->count && !stack->frames[i].beyond; i++) {
        const struct fated_frame *f = &stack->frames[i];
        if (!of_the_compiler(f))
            return (f->in_app || f->vendor) && !f->drop;
    }
    return false;
}

const char *category_of(const struct fated_stack *stack, enum cluster_kind kind)
{
    const struct rule_match *best = NULL;
    if (kind == CLUSTER_IDLE)
        return "idle";
    if (kind == CLUSTER_UNMAPPABLE)
        return "unknown";
    for (size_t i = 0; i < stack->count && !stack->frames[i].beyond; i++) {
        const struct frame_decision *d = stack->frames[i].rules;
        const struct rule_match *m = &d->category;
        if (d->special && m->action && (!best || m->order < best->order))
            best = m;
    }
    if (best)
        return best->action->text;
    return own_code_runs(stack) ? "cpu" : "unknown";
}
