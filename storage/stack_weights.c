#include "storage/stack_weights.h"

#include <stdlib.h>
#include <string.h>

#include "storage/figures.h"

void stack_weights_done(struct stack_weights *w)
{
    free(w->entries);
    free(w->slots);
    memset(w, 0, sizeof(*w));
}

/* Ids are ours: consecutive numbers, which this spreads well enough. */
static size_t slot_of(const struct stack_weights *w, uint64_t stack_id)
{
    size_t i = (size_t)(stack_id * 0x9e3779b97f4a7c15u >> 32) & (w->slot_count - 1);
    while (w->slots[i] && w->entries[w->slots[i] - 1].stack_id != stack_id)
        i = (i + 1) & (w->slot_count - 1);
    return i;
}

/* Slots for twice as many as there is room for. */
static bool make_slots(struct stack_weights *w)
{
    uint32_t *slots = calloc(w->cap * 2, sizeof(*slots));
    if (!slots)
        return false;
    free(w->slots);
    w->slots = slots;
    w->slot_count = w->cap * 2;
    for (size_t i = 0; i < w->count; i++)
        w->slots[slot_of(w, w->entries[i].stack_id)] = (uint32_t)i + 1;
    return true;
}

static bool grow(struct stack_weights *w)
{
    const size_t cap = w->cap ? w->cap * 2 : 1024;
    struct stack_weights_entry *entries = realloc(w->entries, cap * sizeof(*entries));
    if (!entries)
        return false;
    w->entries = entries;
    w->cap = cap;
    return w->slot_count == 0 || make_slots(w);
}

static struct stack_weights_entry *add(struct stack_weights *w, uint64_t stack_id,
                                       struct error *err)
{
    if (w->count == STACK_WEIGHTS_MAX) {
        error_set(err, ERR_LIMIT, "more than %zu stacks", STACK_WEIGHTS_MAX);
        return NULL;
    }
    if (w->count == w->cap && !grow(w)) {
        error_set(err, ERR_NO_MEMORY, "no memory for the weights of stacks");
        return NULL;
    }
    w->entries[w->count++] = (struct stack_weights_entry){.stack_id = stack_id};
    if (w->slot_count > 0)
        w->slots[slot_of(w, stack_id)] = (uint32_t)w->count;
    return &w->entries[w->count - 1];
}

/* Rows come by ascending ids, mostly, those of one stack one after the other: only for others there
 * is a table. */
struct stack_weights_entry *stack_weights_at(struct stack_weights *w, uint64_t stack_id,
                                             struct error *err)
{
    const uint64_t last = w->count > 0 ? w->entries[w->count - 1].stack_id : 0;
    if (w->count > 0 && last == stack_id)
        return &w->entries[w->count - 1];
    if (w->slot_count == 0 && (w->count == 0 || last < stack_id))
        return add(w, stack_id, err);
    if (w->slot_count == 0 && !make_slots(w)) {
        error_set(err, ERR_NO_MEMORY, "no memory for the weights of stacks");
        return NULL;
    }
    const size_t slot = slot_of(w, stack_id);
    return w->slots[slot] ? &w->entries[w->slots[slot] - 1] : add(w, stack_id, err);
}

static int by_id(const void *a, const void *b)
{
    uint64_t x = ((const struct stack_weights_entry *)a)->stack_id;
    uint64_t y = ((const struct stack_weights_entry *)b)->stack_id;
    return (x > y) - (x < y);
}

void stack_weights_sort(struct stack_weights *w)
{
    if (w->slot_count > 0)
        qsort(w->entries, w->count, sizeof(*w->entries), by_id);
}

/* Whether any sample says when it was taken. */
static bool has_times(const struct weight_samples *s)
{
    for (size_t i = 1; i < s->count; i++) {
        if (s->items[i].offset_ms > 0)
            return true;
    }
    return s->count == 1;
}

enum err stack_weights_spread(struct stack_weights *w, size_t filter,
                              const struct weight_samples *s, struct error *err)
{
    const int64_t stall = figures_stall(s->duration_ms);
    const int64_t total = stall + figures_above(s->weighted, s->duration_ms);
    const bool times = has_times(s);
    int64_t whole = times ? stall : 0, at = 0, given = 0;
    for (size_t i = 0; i < s->count && !times; i++)
        whole += s->items[i].repeat_count ? s->items[i].repeat_count : 1;
    if (total == 0 || whole == 0 || s->count == 0)
        return ERR_OK;
    for (size_t i = 0; i < s->count; i++) {
        int64_t end =
            times ? whole : at + (s->items[i].repeat_count ? s->items[i].repeat_count : 1);
        if (times && i + 1 < s->count && s->items[i + 1].offset_ms < whole)
            end = s->items[i + 1].offset_ms > at ? s->items[i + 1].offset_ms : at;
        int64_t upto = (int64_t)((__int128)total * end / whole);
        struct stack_weights_entry *e = stack_weights_at(w, s->items[i].stack_id, err);
        if (!e)
            return err->code;
        e->weights[filter].stall_ms += upto - given;
        given = upto;
        at = end;
    }
    struct stack_weights_entry *own = stack_weights_at(w, s->stack_id, err);
    if (!own)
        return err->code;
    own->weights[filter].stall_ms -= given;
    return ERR_OK;
}

static struct weighed_frame frame_of(const struct resolved_frame *r, const struct frame *f)
{
    struct weighed_frame out = {.image = r->image_name, .in_app = r->in_app};
    if (f) {
        out.function = f->function;
        out.file = f->file;
    } else {
        out.image_kind = r->raw.image_kind;
        out.image_id = r->image;
        out.offset = r->offset;
    }
    return out;
}

enum err stack_weights_frames(struct weighed_stack *s, const struct raw_stack *raw,
                              const struct resolved_stack *resolved, struct arena *arena,
                              struct error *err)
{
    size_t count = 0, n = 0;
    for (size_t i = 0; i < raw->count; i++)
        count += resolved->count && resolved->frames[i].frame_count
                     ? resolved->frames[i].frame_count
                     : 1;
    struct weighed_frame *frames = arena_array(arena, count + 1, sizeof(*frames));
    if (!frames)
        return error_set(err, ERR_LIMIT, "the frames of a stack take too much memory");
    for (size_t i = 0; i < raw->count; i++) {
        const struct resolved_frame pending = {
            .raw = raw->frames[i], .image = raw->frames[i].image, .offset = raw->frames[i].offset};
        const struct resolved_frame *r = resolved->count ? &resolved->frames[i] : &pending;
        if (r->frame_count == 0)
            frames[n++] = frame_of(r, NULL);
        for (size_t k = 0; k < r->frame_count; k++)
            frames[n++] = frame_of(r, &r->frames[k]);
    }
    s->frames = frames;
    s->frame_count = n;
    return ERR_OK;
}
