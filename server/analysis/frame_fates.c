#include "server/analysis/frame_fates.h"

#include <string.h>

#include "server/analysis/normalize.h"
#include "server/analysis/swift_module.h"

static size_t logical_count(const struct resolved_frame *f)
{
    return f->frame_count > 0 ? f->frame_count : 1;
}

/* Class before rules: by the caller's word, or by the one image that was said to be the app's. */
static bool app_at_first(const struct key_options *options, const struct fated_frame *f)
{
    if (options && options->app_image)
        return strcmp(f->image, options->app_image) == 0;
    return f->raw->in_app;
}

static void locate(const struct resolved_stack *stack, size_t raw, size_t index,
                   struct fated_frame *f)
{
    f->raw = &stack->frames[raw];
    f->raw_index = (uint32_t)raw;
    f->frame_index = (uint32_t)index;
    f->image = f->raw->image_name ? f->raw->image_name : "";
    f->frame = index < f->raw->frame_count ? &f->raw->frames[index] : NULL;
}

/* `one-time initialization function for shared` does not say whose `shared`; its linkage name does. */
static const char *qualified_name(const struct key_options *options, const struct frame *f,
                                  char *buffer, size_t size)
{
    static const char ONCE[] = "one-time initialization function for ";
    if (!f || !f->function || !f->mangled || !options || !options->linkage_key ||
        !strstr(f->function, ONCE))
        return NULL;
    return options->linkage_key(f->mangled, buffer, size) ? buffer : NULL;
}

/* What the rules say of a frame, by its names; `place` NULL: it has none. NULL without memory. */
static const struct frame_decision *
decide(const struct rules *rules, const struct key_options *options, const struct fated_frame *f,
       const struct frame_place *place, uint32_t position, bool in_app, struct arena *arena)
{
    char key[KEY_NAME_MAX];
    char qualified[KEY_NAME_MAX];
    char module[SWIFT_MODULE_MAX];
    struct frame_decision room;
    const struct frame *frame = f->frame;
    const struct frame_question q = {
        .image = f->image,
        .function = frame ? frame->function : NULL,
        .qualified = qualified_name(options, frame, qualified, sizeof(qualified)),
        .file = frame ? frame->file : NULL,
        .module = frame && swift_module_of(frame->mangled, module) ? module : NULL,
        .local = frame && frame->local,
        .position = position,
        .in_app = in_app,
    };
    const struct frame_decision *d =
        frame_decide(rules, options ? options->memo : NULL, place, &q, key, &room);
    if (d != &room)
        return d;
    struct frame_decision *kept = arena_memdup(arena, d, sizeof(*d));
    if (kept)
        kept->key = arena_strndup(arena, d->key, d->key_len);
    return kept && kept->key ? kept : NULL;
}

/* False without memory. */
static bool judge(const struct rules *rules, const struct key_options *options, uint32_t position,
                  struct arena *arena, struct fated_frame *f)
{
    const bool has_place = !f->frame || f->raw->frames_id;
    const struct frame_place place = {.frames_id = f->frame ? f->raw->frames_id : 0,
                                      .index = f->frame ? f->frame_index : 0,
                                      .position = position,
                                      .image = f->image,
                                      .in_app = app_at_first(options, f)};
    const struct frame_decision *d = NULL;
    if (has_place && options)
        d = frame_memo_placed(options->memo, rules, &place);
    if (!d)
        d = decide(rules, options, f, has_place ? &place : NULL, position, place.in_app, arena);
    if (!d)
        return false;
    f->rules = d;
    f->key = d->key;
    f->named = d->named;
    f->waiting = !d->named && f->raw->status == FRAME_NO_SYMBOLS;
    f->in_app = d->in_app;
    f->vendor = d->vendor;
    f->drop = d->drop;
    f->rule = d->rule;
    f->plumbing = d->plumbing;
    f->depth = d->depth;
    f->owner = d->owner;
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
    frame_memo_begin(options ? options->memo : NULL);
    for (size_t i = 0; i < stack->count; i++) {
        for (size_t k = 0; k < logical_count(&stack->frames[i]); k++) {
            struct fated_frame *f = &frames[n];
            locate(stack, i, k, f);
            if (!judge(rules, options, (uint32_t)n, arena, f))
                return error_set(err, ERR_NO_MEMORY, "no memory for a frame's name");
            f->beyond = beyond;
            if (beyond)
                f->rule = "beyond the boundary";
            beyond = beyond || f->rules->boundary;
            n++;
        }
    }
    ret->frames = frames;
    ret->count = count;
    return ERR_OK;
}
