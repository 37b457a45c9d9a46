/*
 * symbolication - how many frames of which image have names.
 *
 * Purpose: adds up frames by the name of their image, for both backends.
 *
 * Invariants: names past SYMBOLICATION_KEYS_MAX are passed over: clients choose them.
 *
 * Threads: one owner. Memory: an arena's.
 */
#ifndef STALLSYM_STORAGE_SYMBOLICATION_H
#define STALLSYM_STORAGE_SYMBOLICATION_H

#include "storage/storage_read.h"

#define SYMBOLICATION_KEYS_MAX (1 << 14) /* a power of two */
/* By image: the stacks reported most often, at most so many and of so many frames. Frames know
 * their image only inside their stacks, which would take a second for each 70,000 of them. */
#define SYMBOLICATION_STACKS_MAX 20000
#define SYMBOLICATION_FRAMES_MAX 1000000

struct symbolication {
    struct arena *arena;
    struct symbolication_row *rows;
    uint32_t *slots; /* by hash of the key: index of the row, plus one */
    size_t count, cap;
};

/* Adds the application frames of a stack, `times` each. */
enum err symbolication_add_stack(struct symbolication *s, const struct resolved_stack *stack,
                                 uint64_t times, struct error *err);
enum err symbolication_add(struct symbolication *s, const char *key, uint64_t frames,
                           uint64_t resolved, struct error *err);
/* By version ("": not known) of an app. */
enum err symbolication_add_version(struct symbolication *s, const char *bundle_id,
                                   const char *version, uint64_t frames, uint64_t resolved,
                                   struct error *err);
/* Most frames first, ties by key; at most `limit`. */
void symbolication_rows(struct symbolication *s, size_t limit, struct symbolication_row **ret,
                        size_t *ret_count);

#endif
