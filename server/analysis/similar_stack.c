/*
 * What of a stack tells a cause: its app frames without recursion, and the system function that
 * the innermost of them called.
 */
#include <string.h>

#include "server/analysis/frame_fates.h"
#include "server/analysis/similar.h"

static bool counts(const struct fated_frame *f, enum cluster_kind kind, bool vendor)
{
    if (f->beyond || !f->named || !*f->key)
        return false;
    if (kind == CLUSTER_SYSTEM_ONLY)
        return !f->in_app && !f->vendor && !f->drop;
    return (vendor ? f->vendor : f->in_app) && !f->drop;
}

/* The system frame next to the first frame of the app (or of its vendors). */
static const char *operation_of(const struct fated_stack *s)
{
    const char *last = "";
    for (size_t i = 0; i < s->count && !s->frames[i].beyond; i++) {
        const struct fated_frame *f = &s->frames[i];
        bool ours = f->vendor || (f->in_app && !f->drop);
        if (ours && f->named)
            return last;
        if (!f->in_app && f->named && *f->key)
            last = f->key;
    }
    return "";
}

/* The first frame that tells a cause; plumbing in front is no part of the key, and none here. */
static size_t first_told(const struct fated_stack *s, enum cluster_kind kind, bool vendor)
{
    for (size_t i = 0; i < s->count; i++) {
        if (counts(&s->frames[i], kind, vendor) && !s->frames[i].plumbing)
            return i;
    }
    return 0;
}

static size_t collect(const struct fated_stack *s, enum cluster_kind kind, bool vendor,
                      const char **names, uint32_t *at)
{
    size_t n = 0;
    for (size_t i = first_told(s, kind, vendor); i < s->count; i++) {
        if (counts(&s->frames[i], kind, vendor) &&
            (n == 0 || strcmp(names[n - 1], s->frames[i].key) != 0)) {
            at[n] = (uint32_t)i;
            names[n++] = s->frames[i].key;
        }
    }
    return n;
}

/* The memo's keys are good for this stack alone. False without memory. */
static bool keep_names(struct similar_stack *s, const char **names, struct arena *arena)
{
    for (size_t i = 0; i < s->count; i++) {
        names[i] = arena_strdup(arena, names[i]);
        if (!names[i])
            return false;
    }
    s->names = names;
    s->operation = arena_strdup(arena, s->operation);
    return s->operation != NULL;
}

enum err similar_stack_of(const struct rules *rules, const struct key_options *options,
                          const struct resolved_stack *stack, const struct cluster_verdict *verdict,
                          uint64_t weight, struct arena *arena, struct similar_stack *ret,
                          struct error *err)
{
    struct fated_stack fated;
    enum err e = frame_fates_of(rules, options, stack, arena, &fated, err);
    if (e != ERR_OK)
        return e;
    const char **names = arena_array(arena, fated.count ? fated.count : 1, sizeof(*names));
    uint32_t *at = arena_array(arena, fated.count ? fated.count : 1, sizeof(*at));
    if (!names || !at)
        return error_set(err, ERR_NO_MEMORY, "no memory for the frames of a stack");
    size_t n = 0;
    bool merges = verdict->kind == CLUSTER_APP || verdict->kind == CLUSTER_SYSTEM_ONLY;
    if (merges)
        n = collect(&fated, verdict->kind, false, names, at);
    if (merges && n == 0 && verdict->kind == CLUSTER_APP)
        n = collect(&fated, verdict->kind, true, names, at);
    memcpy(ret->cluster, verdict->key, CLUSTER_KEY_SIZE);
    ret->kind = verdict->kind;
    ret->weight = weight;
    ret->count = n;
    ret->at = at;
    ret->operation = verdict->kind == CLUSTER_APP ? operation_of(&fated) : "";
    if (!keep_names(ret, names, arena))
        return error_set(err, ERR_NO_MEMORY, "no memory for the frames of a stack");
    return ERR_OK;
}
