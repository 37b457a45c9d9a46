#include "storage/stack_budget.h"

static bool let_in(struct stack_budget *b, uint32_t stack)
{
    if (b->standing[stack] == STACK_KNOWN)
        return true;
    if (b->left <= 0)
        return false;
    b->left--;
    b->standing[stack] = STACK_KNOWN;
    return true;
}

static bool let_samples_in(struct stack_budget *b, const struct op_report *r)
{
    int64_t wanted = 0;
    for (size_t i = 0; i < r->sample_count; i++) {
        enum stack_standing *s = &b->standing[r->samples[i].stack];
        wanted += *s == STACK_NEW;
        *s = *s == STACK_NEW ? STACK_ASKED_FOR : *s;
    }
    bool may = wanted == 0 || wanted <= b->left;
    for (size_t i = 0; i < r->sample_count; i++) {
        enum stack_standing *s = &b->standing[r->samples[i].stack];
        *s = *s != STACK_ASKED_FOR ? *s : may ? STACK_KNOWN : STACK_NEW;
    }
    b->left -= may ? wanted : 0;
    return may;
}

static enum err fit_threads(struct stack_budget *b, struct op_report *r, struct arena *arena,
                            struct error *err)
{
    struct op_thread *threads =
        r->thread_count ? arena_memdup(arena, r->threads, r->thread_count * sizeof(*threads))
                        : NULL;
    if (r->thread_count && !threads)
        return error_set(err, ERR_NO_MEMORY, "no memory for threads");
    r->threads = threads;
    for (size_t i = 0; i < r->thread_count; i++) {
        if (threads[i].stack == NO_STACK || let_in(b, threads[i].stack))
            continue;
        threads[i].stack = NO_STACK;
        threads[i].addresses = NULL;
        threads[i].addresses_len = 0;
        r->stacks_dropped = true;
    }
    return ERR_OK;
}

static enum err check_stack(const struct stack_budget *b, uint32_t stack, bool may_be_none,
                            struct error *err)
{
    if (stack < b->count || (may_be_none && stack == NO_STACK))
        return ERR_OK;
    return error_set(err, ERR_INVALID, "stack %u of %zu", stack, b->count);
}

static enum err check_stacks(const struct stack_budget *b, const struct op_report *r,
                             struct error *err)
{
    enum err rc = check_stack(b, r->stack, true, err);
    for (size_t i = 0; i < r->sample_count && !rc; i++)
        rc = check_stack(b, r->samples[i].stack, false, err);
    for (size_t i = 0; i < r->thread_count && !rc; i++)
        rc = check_stack(b, r->threads[i].stack, true, err);
    return rc;
}

enum err stack_budget_fit(struct stack_budget *b, struct op_report *r, struct arena *arena,
                          struct op_report *ret, struct error *err)
{
    struct op_report x = *r;
    x.stacks_dropped = false;
    enum err rc = check_stacks(b, r, err);
    if (rc)
        return rc;
    if (x.stack != NO_STACK && !let_in(b, x.stack)) {
        x.stack = NO_STACK;
        x.addresses = NULL;
        x.addresses_len = 0;
        x.stack_skipped = x.stack_skipped ? x.stack_skipped : STACK_BUDGET_REASON;
        x.stacks_dropped = true;
    }
    if (!let_samples_in(b, &x)) {
        x.samples = NULL;
        x.sample_count = 0;
        x.stacks_dropped = true;
    }
    if ((rc = fit_threads(b, &x, arena, err)))
        return rc;
    r->stacks_dropped = x.stacks_dropped;
    *ret = x;
    return ERR_OK;
}
