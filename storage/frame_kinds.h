/*
 * frame_kinds - the distinct frames of many stacks, by number.
 *
 * Purpose: stacks that share functions come as numbers: what is to be done with a frame is done once,
 * and not for each of the millions of places in which it stands.
 *
 * Invariants: two frames have one number when the ids of all their names are equal, and whose they
 * are. At most FRAME_KINDS_MAX of them: who wants to go on starts anew (frame_kinds_reset).
 *
 * Threads: one owner. Memory: frame_kinds_done(); names are borrowed.
 */
#ifndef STALLSYM_STORAGE_FRAME_KINDS_H
#define STALLSYM_STORAGE_FRAME_KINDS_H

#include "storage/frames_blob.h"
#include "storage/read_stack_weights.h"

#define FRAME_KINDS_MAX ((size_t)1 << 18)

/* Names of a frame, and its number where it is not the app's; where it is, the one behind. */
struct numbered_frame {
    uint32_t function, file, image;
    uint32_t number;
};

struct frame_kinds {
    struct weighed_frame *frames; /* by number */
    size_t count, room;
    struct numbered_frame *latest; /* by function: what was asked for last; `function` 0: nothing */
    size_t latest_room;
    struct numbered_frame *slots; /* by names; `function` 0: free */
    size_t slot_count;
};

void frame_kinds_done(struct frame_kinds *k);
void frame_kinds_reset(struct frame_kinds *k);
/* As frame_kinds_find(), the long way. */
bool frame_kinds_look(struct frame_kinds *k, const struct blob_frame *f, uint32_t *ret);
/* The names of one that is not there yet (a function above 0); false without memory. */
bool frame_kinds_add(struct frame_kinds *k, const struct blob_frame *f,
                     const struct weighed_frame *frame, uint32_t *ret);

static inline bool numbered_frame_is(const struct numbered_frame *k, const struct blob_frame *f)
{
    return k->function == f->function && k->image == f->image && k->file == f->file;
}

/* False: it has no number yet. Most functions have one file and one image. */
static inline bool frame_kinds_find(struct frame_kinds *k, const struct blob_frame *f,
                                    uint32_t *ret)
{
    if (f->function >= k->latest_room || !numbered_frame_is(&k->latest[f->function], f))
        return frame_kinds_look(k, f, ret);
    *ret = k->latest[f->function].number + f->in_app;
    return true;
}

#endif
