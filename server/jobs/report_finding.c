#include "server/jobs/report_finding.h"

#include <string.h>

#include "symbolizer/demangle_swift.h"

/* What apps call the queue of their main thread. */
#define MAIN_QUEUE "com.apple.main-thread"

/* What is known of one of the distinct stacks of a report. */
struct known {
    uint64_t stack_id;
    uint8_t key[CLUSTER_KEY_SIZE];
    const char *title;
    struct sample_names names;
};

struct finder {
    const struct rules *rules;
    const struct report_row *r;
    bool names;
    struct arena *arena;
    struct error *err;
    struct known *known;
    size_t known_count;
};

static enum err no_memory(struct finder *f)
{
    return error_set(f->err, ERR_NO_MEMORY, "no memory for a report's findings");
}

enum err report_finding_verdict(const struct rules *rules, const struct stack_row *stack,
                                struct arena *arena, struct cluster_verdict *ret, struct error *err)
{
    /* A stack that waits for nobody any more was keyed without the frames that never came. */
    struct key_options options = {.skip_unresolved = !stack->provisional && !stack->pending,
                                  .linkage_key = demangle_swift_key};
    return cluster_key_of(rules, &options, stack->bundle_id, &stack->resolved, arena, ret, err);
}

static const char *name_of(struct finder *f, const struct resolved_frame *raw, uint32_t frame)
{
    if (frame < raw->frame_count)
        return raw->frames[frame].function;
    return arena_printf(f->arena, "%s+0x%llx", raw->image_name ? raw->image_name : "?",
                        (unsigned long long)raw->offset);
}

/* The application's functions, innermost first; a leaf without a name has no function to show. */
static enum err fill_names(struct finder *f, const struct stack_row *stack, struct known *k)
{
    struct cluster_verdict v;
    enum err rc = report_finding_verdict(f->rules, stack, f->arena, &v, f->err);
    if (rc != ERR_OK)
        return rc;
    const char **names = arena_array(f->arena, v.fate_count + 1, sizeof(*names));
    if (!names)
        return no_memory(f);
    for (size_t i = 0; i < v.fate_count; i++) {
        const struct frame_fate *fate = &v.fates[i];
        const struct resolved_frame *raw = &stack->resolved.frames[fate->raw_index];
        bool dropped = strncmp(fate->rule, "drop", 4) == 0;
        if (strcmp(fate->rule, "beyond the boundary") == 0)
            break;
        bool bare_leaf = fate->raw_index == 0 && raw->frame_count == 0 && stack->resolved.count > 1;
        if (!fate->in_app || dropped || bare_leaf)
            continue;
        if (!(names[k->names.count++] = name_of(f, raw, fate->frame_index)))
            return no_memory(f);
    }
    k->names.names = names;
    k->title = v.title;
    return ERR_OK;
}

static enum err know(struct finder *f, const struct stack_row *stack, struct known **ret)
{
    for (size_t i = f->known_count; i > 0; i--) {
        if (f->known[i - 1].stack_id == stack->stack_id) {
            *ret = &f->known[i - 1];
            return ERR_OK;
        }
    }
    struct known *k = &f->known[f->known_count];
    k->stack_id = stack->stack_id;
    if (stack->provisional || stack->resolved.count == 0)
        culprit_raw_key(stack->bundle_id, &stack->raw, k->key);
    else
        memcpy(k->key, stack->part, sizeof(k->key));
    enum err rc = f->names ? fill_names(f, stack, k) : ERR_OK;
    f->known_count += rc == ERR_OK;
    *ret = k;
    return rc;
}

static enum err find_culprit(struct finder *f, struct report_finding *ret)
{
    const struct report_row *r = f->r;
    struct culprit_sample *samples = arena_array(f->arena, r->sample_count, sizeof(*samples));
    const char **titles = arena_array(f->arena, r->sample_count, sizeof(*titles));
    struct sample_names *names = arena_array(f->arena, r->sample_count, sizeof(*names));
    f->known = arena_array(f->arena, r->sample_count, sizeof(*f->known));
    if (!samples || !titles || !names || !f->known)
        return no_memory(f);
    for (size_t i = 0; i < r->sample_count; i++) {
        const struct sample_row *s = &r->samples[i];
        struct known *k = NULL;
        enum err rc = know(f, &s->stack, &k);
        if (rc != ERR_OK)
            return rc;
        samples[i] = (struct culprit_sample){.at_ms = s->offset_ms,
                                             .repeats = s->repeat_count,
                                             .idle = s->stack.cluster_kind == CLUSTER_IDLE,
                                             .names = k->names.names,
                                             .name_count = k->names.count};
        memcpy(samples[i].key, k->key, sizeof(samples[i].key));
        titles[i] = k->title;
        names[i] = k->names;
    }
    enum err rc =
        culprit_of(samples, r->sample_count, r->duration_ms, f->arena, &ret->culprit, f->err);
    ret->titles = titles;
    ret->sample_names = names;
    ret->has_culprit = rc == ERR_OK;
    return rc;
}

/* As at the door: the thread marked as stalled, else thread 0, else the first one. */
static size_t stalled_thread(const struct report_row *r)
{
    size_t zero = 0;
    for (size_t i = r->thread_count; i-- > 0;) {
        if (r->threads[i].tid == 0)
            zero = i;
    }
    for (size_t i = 0; i < r->thread_count; i++) {
        if (r->threads[i].stalled)
            return i;
    }
    return zero;
}

static bool says_waiting(const struct thread_row *t)
{
    return t->waits_kind || (t->state && strncmp(t->state, "wait", 4) == 0);
}

/* Threads are often named after the queue they work for. */
static const char *drained_queue(const struct thread_row *t, bool stalled)
{
    if (t->queue)
        return t->queue;
    bool is_main =
        stalled ||
        (t->name && (strcmp(t->name, "main") == 0 || strcmp(t->name, "Main Thread") == 0));
    return is_main ? MAIN_QUEUE : t->name;
}

static void fill_thread(const struct thread_row *t, bool stalled, struct deadlock_thread *out)
{
    *out = (struct deadlock_thread){
        .tid = t->tid,
        .says_waiting = says_waiting(t),
        .has_owner = t->waits_kind && t->owner_tid >= 0,
        .owner_tid = t->owner_tid,
        .waits_queue = t->waits_kind ? t->waits_queue : NULL,
        .drains_queue = drained_queue(t, stalled),
        .stack = t->has_stack ? &t->stack.resolved : NULL,
    };
}

/* Who the members are: each one's culprit. */
static enum err name_members(struct finder *f, struct deadlock *d)
{
    struct deadlock_member *members =
        arena_memdup(f->arena, d->members, d->member_count * sizeof(*members));
    if (!members)
        return no_memory(f);
    for (size_t i = 0; i < d->member_count; i++) {
        const struct thread_row *t = &f->r->threads[members[i].thread];
        struct cluster_verdict v;
        if (!t->has_stack)
            continue;
        enum err rc = report_finding_verdict(f->rules, &t->stack, f->arena, &v, f->err);
        if (rc != ERR_OK)
            return rc;
        members[i].culprit = v.culprit_raw != SIZE_MAX ? v.title : NULL;
    }
    d->members = members;
    return ERR_OK;
}

static enum err find_deadlock(struct finder *f, struct report_finding *ret)
{
    const struct report_row *r = f->r;
    size_t stalled = stalled_thread(r);
    struct deadlock_thread *threads = arena_array(f->arena, r->thread_count, sizeof(*threads));
    if (!threads)
        return no_memory(f);
    for (size_t i = 0; i < r->thread_count; i++)
        fill_thread(&r->threads[i], i == stalled, &threads[i]);
    enum err rc =
        deadlock_of(f->rules, threads, r->thread_count, stalled, f->arena, &ret->deadlock, f->err);
    if (rc == ERR_OK && f->names && ret->deadlock.found)
        rc = name_members(f, &ret->deadlock);
    return rc;
}

enum err report_finding_of(const struct rules *rules, const struct report_row *r, bool names,
                           struct arena *arena, struct report_finding *ret, struct error *err)
{
    struct finder f = {.rules = rules, .r = r, .names = names, .arena = arena, .err = err};
    struct report_finding found = {.unknown = false};
    bool waits = false;
    enum err rc = ERR_OK;
    for (size_t i = 0; i < r->sample_count; i++)
        found.unknown = found.unknown || r->samples[i].stack.pending;
    for (size_t i = 0; i < r->thread_count; i++)
        waits = waits || r->threads[i].waits_kind;
    for (size_t i = 0; i < r->thread_count && waits; i++)
        found.unknown = found.unknown || (r->threads[i].has_stack && r->threads[i].stack.pending);
    bool look = names || !found.unknown;
    if (look && r->sample_count > 0)
        rc = find_culprit(&f, &found);
    if (rc == ERR_OK && look && waits)
        rc = find_deadlock(&f, &found);
    if (rc == ERR_OK)
        *ret = found;
    return rc;
}
