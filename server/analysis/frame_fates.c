#include "server/analysis/frame_fates.h"

#include <string.h>

#include "server/analysis/normalize.h"

static size_t logical_count(const struct resolved_frame *f)
{
    return f->frame_count > 0 ? f->frame_count : 1;
}

static const char *arena_copy_key(struct arena *arena, const struct frame *frame)
{
    char key[KEY_NAME_MAX];
    size_t n = normalize_function(frame->function, frame->file, frame->local, key, sizeof(key));
    return n > 0 ? arena_strndup(arena, key, n) : "";
}

/* Class before rules: by the caller's word, or by the one image that was said to be the app's. */
static bool app_at_first(const struct key_options *options, const struct fated_frame *f)
{
    if (options && options->app_image)
        return strcmp(f->image, options->app_image) == 0;
    return f->raw->in_app;
}

static const char *rule_text(struct arena *arena, const struct rule_match *m)
{
    if (!m->pattern)
        return m->label;
    return arena_printf(arena, "%s: %s", m->label, m->pattern);
}

static bool yes(const struct rule_match *m)
{
    return m->action && m->action->value == VALUE_YES;
}

static bool apply_class(const struct rule_match *m, struct fated_frame *f)
{
    if (!m->action)
        return false;
    bool was_app = f->in_app;
    bool was_vendor = f->vendor;
    f->in_app = m->action->value == VALUE_APP;
    f->vendor = m->action->value == VALUE_VENDOR;
    return f->in_app != was_app || f->vendor != was_vendor;
}

static enum err apply_rules(const struct rules *rules, struct arena *arena, struct fated_frame *f,
                            uint32_t position, bool *ret_boundary, struct error *err)
{
    struct rule_match m[RULE_KINDS];
    struct rule_subject s = {
        .image = f->image,
        .key = f->key,
        .shown = f->frame ? f->frame->function : NULL,
        .file = f->frame ? f->frame->file : NULL,
        .position = position,
        .in_app = f->in_app,
        .vendor = f->vendor,
        .named = f->named,
    };
    rules_match(rules, &s, m);
    if (apply_class(&m[RULE_CLASS], f)) {
        s.in_app = f->in_app; /* the class decides which other rules meet it */
        s.vendor = f->vendor;
        struct rule_match class_rule = m[RULE_CLASS];
        rules_match(rules, &s, m);
        m[RULE_CLASS] = class_rule;
    }
    if (m[RULE_FATE].action && m[RULE_FATE].action->value == VALUE_DROP) {
        f->drop = m[RULE_FATE].action->text ? m[RULE_FATE].action->text : "";
        f->rule = rule_text(arena, &m[RULE_FATE]);
    } else if (f->named && !*f->key) {
        f->drop = "artefact";
        f->rule = "a name without identity";
    } else {
        f->rule = m[RULE_FATE].action ? rule_text(arena, &m[RULE_FATE])
                  : f->vendor         ? rule_text(arena, &m[RULE_CLASS])
                                      : "";
    }
    if (!f->rule)
        return error_set(err, ERR_NO_MEMORY, "no memory for a stack's rules");
    f->plumbing = yes(&m[RULE_PLUMBING]);
    f->group = m[RULE_GROUP];
    f->category = m[RULE_CATEGORY];
    f->owner = m[RULE_OWNER].action ? m[RULE_OWNER].action->text : NULL;
    f->depth = m[RULE_DEPTH].action ? m[RULE_DEPTH].action->number : 0;
    *ret_boundary = yes(&m[RULE_BOUNDARY]);
    return ERR_OK;
}

static bool fill(const struct key_options *options, const struct resolved_stack *stack,
                 uint32_t raw, uint32_t index, struct arena *arena, struct fated_frame *f)
{
    f->raw = &stack->frames[raw];
    f->raw_index = raw;
    f->frame_index = index;
    f->image = f->raw->image_name ? f->raw->image_name : "";
    f->key = "";
    if (index < f->raw->frame_count) {
        const struct frame *frame = &f->raw->frames[index];
        f->frame = frame;
        f->named = !normalize_is_unnamed(frame->function);
        if (f->named && !(f->key = arena_copy_key(arena, frame)))
            return false;
    }
    f->waiting = !f->named && f->raw->status == FRAME_NO_SYMBOLS;
    f->in_app = app_at_first(options, f);
    return true;
}

enum err frame_fates_of(const struct rules *rules, const struct key_options *options,
                        const struct resolved_stack *stack, struct arena *arena,
                        struct fated_stack *ret, struct error *err)
{
    size_t count = 0;
    for (size_t i = 0; i < stack->count; i++)
        count += logical_count(&stack->frames[i]);
    struct fated_frame *frames = arena_array(arena, count ? count : 1, sizeof(*frames));
    if (!frames)
        return error_set(err, ERR_NO_MEMORY, "no memory for a stack of %zu frames", count);
    bool beyond = false;
    size_t n = 0;
    for (size_t i = 0; i < stack->count; i++) {
        for (size_t k = 0; k < logical_count(&stack->frames[i]); k++) {
            bool boundary = false;
            struct fated_frame *f = &frames[n];
            if (!fill(options, stack, (uint32_t)i, (uint32_t)k, arena, f))
                return error_set(err, ERR_NO_MEMORY, "no memory for a frame's name");
            enum err e = apply_rules(rules, arena, f, (uint32_t)n, &boundary, err);
            if (e != ERR_OK)
                return e;
            f->beyond = beyond;
            if (beyond)
                f->rule = "beyond the boundary";
            beyond = beyond || boundary;
            n++;
        }
    }
    ret->frames = frames;
    ret->count = count;
    return ERR_OK;
}
