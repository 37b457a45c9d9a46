/*
 * symbolize - raw stack in, resolved stack out.
 *
 * Purpose: one worker's symbolizer: index cache, frame cache (LRU, its own), call-site adjustment
 * (return addresses minus one; leaf, async and exact as they are), demangled display names from the
 * index, device names where no symbol file is, a status for every frame.
 *
 * Invariants: a pure function of the raw stack, the facts of its images and the index files of now.
 * Never a guess: no name without an upper bound. The result lists the images it missed (UUIDs
 * without an index, and slide groups of frames not placed), each once, never nil or named ones. An
 * image with a stand-in is missed all the same; frames the stand-in's index named are approximate,
 * and a name that the device gave comes before them.
 *
 * Threads: one struct symbolizer per thread; the index cache is shared. A SIGBUS under a mapped
 * index is caught here and makes that index "not available" (see sigbus_guard.h).
 * Memory: results live in the caller's arena and stay valid after the index is closed.
 */
#ifndef STALLSYM_SYMBOLIZER_SYMBOLIZE_H
#define STALLSYM_SYMBOLIZER_SYMBOLIZE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/stack.h"
#include "base/uuid.h"
#include "symbolizer/index_cache.h"

/* What is known of an image of this app (storage's image dictionary, or the request itself). */
struct image_facts {
    const char *name; /* NULL: unknown */
    enum image_class class;
};

/* What resolved_frame.in_app says of such an image. */
bool image_is_app(const struct image_facts *facts);

/* Frames of `uuid`, which has no index, are looked up in that of `stand_in`: another build's. */
struct stand_in {
    struct uuid uuid, stand_in;
    const char *app; /* "": of all that have none of their own */
};

struct image_lookup {
    /* False when nothing is known. The texts live until the symbolize call returns. */
    bool (*facts)(void *ctx, const struct uuid *image, struct image_facts *ret);
    /* Places an unslid address of a slide group into an image; false when not possible yet. */
    bool (*place)(void *ctx, const struct uuid *group, uint64_t unslid, struct uuid *ret_image,
                  uint64_t *ret_offset);
    /* Under which UUID the index cache has the image for whoever asks; asked when it is opened. NULL:
     * under its own. */
    void (*shelf)(void *ctx, const struct uuid *image, struct uuid *ret);
    void *ctx;
    const char *app;                  /* who asks, for stand-ins */
    const struct stand_in *stand_ins; /* ascending by uuid, then by app; NULL: none */
    size_t stand_in_count;
};

struct symbolized {
    struct resolved_stack stack;
    const struct uuid *missing; /* see above */
    size_t missing_count;
    const struct uuid *unavailable; /* images whose index is there but cannot be used */
    size_t unavailable_count;
};

struct symbolizer;

struct symbolizer *symbolizer_new(struct index_cache *cache, size_t frame_cache_entries);
void symbolizer_free(struct symbolizer *s);

/* Until the next call of one of these all stacks have the same arena, and share one copy of frames and
 * images in it. An image is asked for once an app; its index is open until then. Without a call each
 * stack has its own. */
void symbolizer_share(struct symbolizer *s);
void symbolizer_share_end(struct symbolizer *s);
enum err symbolizer_stack(struct symbolizer *s, const struct raw_stack *raw,
                          const struct image_lookup *images, struct arena *arena,
                          struct symbolized *ret, struct error *err);

struct symbolizer_stats {
    uint64_t frames, cache_hits;
};
void symbolizer_stats(const struct symbolizer *s, struct symbolizer_stats *ret);

#endif
