#include "server/analysis/frame_fates.h"

#include <string.h>

#include "server/analysis/frame_memo.h"
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

/* What the rules say of a frame, by its names; its key in the arena. False without memory. */
static bool decide(const struct rules *rules, const struct key_options *options,
                   const struct frame_place *place, struct arena *arena, struct frame_decision *ret)
{
    char key[KEY_NAME_MAX];
    char qualified[KEY_NAME_MAX];
    char module[SWIFT_MODULE_MAX];
    const struct frame *frame = place->frame;
    const struct frame_question q = {
        .image = place->image,
        .function = frame ? frame->function : NULL,
        .qualified = qualified_name(options, frame, qualified, sizeof(qualified)),
        .file = frame ? frame->file : NULL,
        .module = frame && swift_module_of(frame->mangled, module) ? module : NULL,
        .local = frame && frame->local,
        .position = place->position,
        .in_app = place->in_app,
    };
    frame_decide(rules, options ? options->memo : NULL, &q, key, ret);
    ret->key = ret->key_len > 0 ? arena_strndup(arena, ret->key, ret->key_len) : "";
    return ret->key != NULL;
}

/* Whether the frame is a boundary; false in `ret_room` without memory. */
static bool judge(const struct rules *rules, const struct key_options *options, uint32_t position,
                  struct arena *arena, struct fated_frame *f, bool *ret_room)
{
    struct frame_memo *memo = options ? options->memo : NULL;
    const struct frame_place place = {f->frame, f->image, position, app_at_first(options, f)};
    const struct frame_decision *d = f->frame ? frame_memo_placed(memo, rules, &place) : NULL;
    struct frame_decision decided;
    *ret_room = d || decide(rules, options, &place, arena, &decided);
    if (!*ret_room)
        return false;
    if (!d) {
        d = &decided;
        if (f->frame)
            frame_memo_place(memo, rules, &place, d);
    }
    f->key = d->key;
    f->named = d->named;
    f->waiting = !d->named && f->raw->status == FRAME_NO_SYMBOLS;
    f->in_app = d->in_app;
    f->vendor = d->vendor;
    f->drop = d->drop;
    f->rule = d->rule;
    f->plumbing = d->plumbing;
    f->depth = d->depth;
    f->group = d->group;
    f->system_group = d->system_group;
    f->category = d->category;
    f->owner = d->owner;
    return d->boundary;
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
            struct fated_frame *f = &frames[n];
            bool room = false;
            locate(stack, i, k, f);
            bool boundary = judge(rules, options, (uint32_t)n, arena, f, &room);
            if (!room)
                return error_set(err, ERR_NO_MEMORY, "no memory for a frame's name");
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
