#include "server/jobs/keyer.h"

#include <stdlib.h>

#include "server/analysis/frame_memo.h"
#include "server/jobs/app_images.h"
#include "symbolizer/demangle_swift.h"

#define IMAGES_MAX  8192
#define MEMO_FRAMES 16384

struct keyer {
    struct storage_reader *reader;
    const struct rules *rules;
    struct app_images *images;
    struct frame_memo *memo;
    struct overlays *overlays;
};

struct keyer *keyer_new(struct storage_reader *reader, const struct rules *rules)
{
    struct keyer *k = calloc(1, sizeof(*k));
    if (!k)
        return NULL;
    k->reader = reader;
    k->rules = rules;
    k->images = app_images_new(reader, rules, IMAGES_MAX);
    k->memo = frame_memo_new(rules, MEMO_FRAMES);
    k->overlays = overlays_new();
    if (k->images && k->memo && k->overlays)
        return k;
    keyer_free(k);
    return NULL;
}

void keyer_free(struct keyer *k)
{
    if (!k)
        return;
    app_images_free(k->images);
    frame_memo_free(k->memo);
    overlays_free(k->overlays);
    free(k);
}

enum err keyer_begin(struct keyer *k, const struct rules *rules, struct error *err)
{
    app_images_forget(k->images);
    if (rules != k->rules) {
        app_images_set_rules(k->images, rules);
        frame_memo_free(k->memo);
        k->memo = frame_memo_new(rules, MEMO_FRAMES); /* without one it is only slower */
        k->rules = rules;
    }
    return overlays_refresh(k->overlays, k->reader, err);
}

const struct overlay *keyer_overlay(const struct keyer *k, uint64_t app_id, uint64_t *ret_version)
{
    return overlays_of(k->overlays, app_id, ret_version);
}

/* An image in which the frame is; a slide group that it could not be placed in is none. */
static bool has_image(const struct resolved_frame *f)
{
    return f->raw.image_kind != IMAGE_NONE &&
           (f->raw.image_kind != IMAGE_GROUP || !uuid_equal(&f->image, &f->raw.image));
}

/* What the rules of now make of images by their names. */
static enum err review_images(struct keyer *k, const char *bundle_id,
                              const struct keyed_stack *stack, struct arena *arena,
                              struct keyed *ret, struct error *err)
{
    struct resolved_frame *frames = NULL;
    struct image_lookup lookup = app_images_begin(k->images, stack->app_id, bundle_id);
    for (size_t i = 0; i < stack->resolved.count; i++) {
        const struct resolved_frame *f = &stack->resolved.frames[i];
        struct image_facts facts = {.name = NULL};
        if (!has_image(f) || !lookup.facts(lookup.ctx, &f->image, &facts) || !facts.name ||
            image_is_app(&facts) == f->in_app)
            continue;
        if (!frames)
            frames = arena_memdup(arena, stack->resolved.frames,
                                  stack->resolved.count * sizeof(*frames));
        if (!frames)
            return error_set(err, ERR_NO_MEMORY, "no memory for a stack");
        frames[i].in_app = !f->in_app;
    }
    enum err rc = app_images_end(k->images, err);
    struct resolved_stack *stored = arena_memdup(arena, &stack->resolved, sizeof(*stored));
    if (!rc && !stored)
        rc = error_set(err, ERR_NO_MEMORY, "no memory for a stack");
    if (rc)
        return rc;
    if (frames)
        stored->frames = frames;
    ret->stack = stored;
    ret->changed = frames != NULL;
    return ERR_OK;
}

enum err keyer_stack(struct keyer *k, const char *bundle_id, const struct keyed_stack *stack,
                     bool for_epoch, struct arena *arena, struct keyed *ret, struct error *err)
{
    const struct key_options options = {
        .skip_unresolved = stack->give_up, .memo = k->memo, .linkage_key = demangle_swift_key};
    enum err rc = review_images(k, bundle_id, stack, arena, ret, err);
    if (rc)
        return rc;
    const struct overlay *overlay = overlays_of(k->overlays, stack->app_id, &ret->overlay);
    if (!for_epoch)
        return overlay_key_of(overlay, k->rules, &options, bundle_id, ret->stack, false, arena,
                              &ret->verdict, err);
    rc = cluster_key_of(k->rules, &options, bundle_id, ret->stack, arena, &ret->verdict, err);
    if (rc)
        return rc;
    return similar_stack_of(k->rules, &options, ret->stack, &ret->verdict,
                            (uint64_t)stack->weighted, arena, &ret->similar, err);
}
