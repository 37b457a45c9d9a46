#include "storage/frame_kinds.h"

#include <stdlib.h>
#include <string.h>

#include "base/vec.h"

#define LATEST_MAX ((size_t)1 << 21) /* functions above that are looked for the long way */

void frame_kinds_done(struct frame_kinds *k)
{
    free(k->frames);
    free(k->latest);
    free(k->slots);
    memset(k, 0, sizeof(*k));
}

void frame_kinds_reset(struct frame_kinds *k)
{
    k->count = 0;
    if (k->latest_room)
        memset(k->latest, 0, k->latest_room * sizeof(*k->latest));
    if (k->slot_count)
        memset(k->slots, 0, k->slot_count * sizeof(*k->slots));
}

static struct numbered_frame *slot_of(const struct frame_kinds *k, const struct blob_frame *f)
{
    const uint64_t h = (((uint64_t)f->function << 32 | f->file) * 0x9e3779b97f4a7c15u) ^
                       ((uint64_t)f->image * 0xc2b2ae3d27d4eb4fu);
    size_t i = (size_t)(h >> 29) & (k->slot_count - 1);
    while (k->slots[i].function && !numbered_frame_is(&k->slots[i], f))
        i = (i + 1) & (k->slot_count - 1);
    return &k->slots[i];
}

bool frame_kinds_look(struct frame_kinds *k, const struct blob_frame *f, uint32_t *ret)
{
    const struct numbered_frame *found = k->slot_count ? slot_of(k, f) : NULL;
    if (!found || found->function == 0)
        return false;
    if (f->function < k->latest_room)
        k->latest[f->function] = *found;
    *ret = found->number + f->in_app;
    return true;
}

static bool more_slots(struct frame_kinds *k)
{
    const size_t old_count = k->slot_count;
    struct numbered_frame *old = k->slots;
    const size_t count = old_count ? old_count * 2 : 1024;
    struct numbered_frame *slots = calloc(count, sizeof(*slots));
    if (!slots)
        return false;
    k->slots = slots;
    k->slot_count = count;
    for (size_t i = 0; i < old_count; i++) {
        const struct blob_frame f = {
            .function = old[i].function, .file = old[i].file, .image = old[i].image};
        if (f.function)
            *slot_of(k, &f) = old[i];
    }
    free(old);
    return true;
}

static bool room_for_latest(struct frame_kinds *k, size_t function)
{
    if (function < k->latest_room || function > LATEST_MAX)
        return true;
    const size_t known = k->latest_room;
    struct numbered_frame *latest =
        vec_grown(k->latest, &k->latest_room, function + 1, sizeof(*latest));
    if (!latest)
        return false;
    memset(latest + known, 0, (k->latest_room - known) * sizeof(*latest));
    k->latest = latest;
    return true;
}

bool frame_kinds_add(struct frame_kinds *k, const struct blob_frame *f,
                     const struct weighed_frame *frame, uint32_t *ret)
{
    struct weighed_frame *frames = vec_grown(k->frames, &k->room, k->count + 2, sizeof(*frames));
    if (!frames)
        return false;
    k->frames = frames;
    if ((k->count + 2 > k->slot_count && !more_slots(k)) || !room_for_latest(k, f->function))
        return false;
    const struct numbered_frame kind = {f->function, f->file, f->image, (uint32_t)k->count};
    *slot_of(k, f) = kind;
    if (f->function < k->latest_room)
        k->latest[f->function] = kind;
    for (int in_app = 0; in_app < 2; in_app++) {
        frames[k->count] = *frame;
        frames[k->count++].in_app = in_app;
    }
    *ret = kind.number + f->in_app;
    return true;
}
