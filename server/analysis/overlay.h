/*
 * overlay - what an epoch and people added to the rules of one app.
 *
 * Purpose: the first stage keys a stack by rules alone (cluster_key.h). An overlay makes of that key
 * the key of the stack's part: behind plumbing that was learnt from the app's own stacks, and deeper
 * where somebody said that a function is shared by several causes. The resolver keys new stacks by
 * the very overlay that the last epoch keyed the old ones by.
 *
 * A cluster that a person decided about is held: its stacks are parted by the plumbing that was
 * known then, whatever is learnt later, so that the decision does not lose its object.
 *
 * Invariants: pure; lists are sorted, names without argument labels. An empty overlay changes no
 * key. Encoding is canonical: equal overlays are equal bytes.
 *
 * Threads: any. Memory: the caller's arena.
 */
#ifndef STALLSYM_ANALYSIS_OVERLAY_H
#define STALLSYM_ANALYSIS_OVERLAY_H

#include "base/buf.h"
#include "server/analysis/similar.h"

#define OVERLAY_NAMES_MAX 4096 /* of plumbing, and of each hold */
#define OVERLAY_ROWS_MAX  4096 /* holds, and depths */
#define OVERLAY_BYTES_MAX ((size_t)16 << 20)

struct overlay_names {
    const char **items;
    size_t count;
};

struct overlay_hold {
    uint8_t cluster[CLUSTER_KEY_SIZE]; /* of the first stage */
    struct overlay_names plumbing;     /* in place of what is learnt */
};

struct overlay_depth {
    uint8_t key[CLUSTER_KEY_SIZE]; /* of a part */
    uint32_t depth;                /* app frames that make its stacks' keys, 2 to KEY_DEPTH_MAX */
};

struct overlay {
    struct overlay_names plumbing;
    struct overlay_hold *holds;
    size_t hold_count;
    struct overlay_depth *depths;
    size_t depth_count;
};

/* Where a stack belongs. Indexes are into the stack's names. */
struct overlay_place {
    uint8_t key[CLUSTER_KEY_SIZE];
    bool deepened;
    uint8_t origin[CLUSTER_KEY_SIZE]; /* the key before that */
    uint32_t skipped;                 /* frames of plumbing in front, overloads counted once */
    size_t head;                      /* first frame behind them */
    size_t ends[KEY_DEPTH_MAX];       /* further frames that the key was deepened by */
    size_t end_count;
};

void overlay_place(const struct overlay *o, const struct similar_stack *stack,
                   struct overlay_place *ret);

/* The holds that decisions about `keys` (parts, sorted, each once) need, over the stacks by the
 * overlay of now. */
enum err overlay_holds(const struct overlay *now, const struct similar_stack *stacks, size_t count,
                       const uint8_t (*keys)[CLUSTER_KEY_SIZE], size_t key_count,
                       struct arena *arena, struct overlay *ret, struct error *err);

bool overlay_encode(const struct overlay *o, struct buf *out);
/* Texts borrow from `arena`. ERR_FORMAT: damaged. */
enum err overlay_decode(const void *data, size_t len, struct arena *arena, struct overlay *ret,
                        struct error *err);

/* cluster_key_of, and then what the overlay makes of it: key, title ("lock.sync < Feed.load()") and,
 * with `explain`, the fates of frames that it changed. NULL: no overlay. */
enum err overlay_key_of(const struct overlay *o, const struct rules *rules,
                        const struct key_options *options, const char *bundle_id,
                        const struct resolved_stack *stack, bool explain, struct arena *arena,
                        struct cluster_verdict *ret, struct error *err);

#endif
