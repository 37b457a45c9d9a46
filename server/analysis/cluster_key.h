/*
 * cluster_key - resolved stack in, verdict out: which cluster, under what name, and why.
 *
 * Purpose: design/clustering.md sections 1 to 3: frames classified and dropped by rule, the first
 * application frame left is the culprit, its normalised name and image are the key; idle,
 * system-only, unmappable and provisional stacks each have their own kind of key.
 *
 * Invariants: a pure function of bundle id, resolved stack, rules and options: no storage, no
 * clock. Keys contain no addresses, lines or UUIDs (provisional ones: UUID and offset). Equal
 * causes give equal keys from every compiler run; the key form has a number (KEY_FORM).
 *
 * Threads: any. Memory: the verdict lives in the caller's arena.
 */
#ifndef STALLSYM_ANALYSIS_CLUSTER_KEY_H
#define STALLSYM_ANALYSIS_CLUSTER_KEY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/stack.h"
#include "server/analysis/rules.h"

#define KEY_FORM         4
#define CLUSTER_KEY_SIZE 16
#define KEY_DEPTH_MAX    16
#define VARIANT_FRAMES   5

enum cluster_kind {
    CLUSTER_APP,         /* keyed by its culprit (an application frame) */
    CLUSTER_SYSTEM_ONLY, /* no application frame left: keyed by system frames */
    CLUSTER_IDLE,        /* a pure run-loop stack: the app was idle again */
    CLUSTER_UNMAPPABLE,  /* no frame is in any image */
    CLUSTER_PROVISIONAL, /* an application frame waits for its symbol file: UUID and offset */
};

struct frame_memo;

struct key_options {
    /* Wait for a vendor's or app's missing symbol file no longer: skip to the next resolved
     * application frame (design/clustering.md 3.4). */
    bool skip_unresolved;
    /* The key form of a linkage name, or false: where the shown name of a Swift function leaves out
     * what it belongs to. Symbolizer's demangle_swift_key; NULL: shown names alone. */
    bool (*linkage_key)(const char *mangled, char *out, size_t size);
    const char *app_image; /* only this image is the app's (`--app-image`); NULL: by image class */
    struct frame_memo
        *memo; /* makes it faster, changes nothing; the calling thread's own, or NULL */
};

/* What became of one frame (of one logical frame: inlined ones count). */
struct frame_fate {
    uint32_t raw_index;   /* in the resolved stack */
    uint32_t frame_index; /* in its frames; 0 where there are none */
    bool kept;            /* part of the key */
    bool in_app;          /* after rules */
    const char *rule;     /* "drop wait: mach_msg*", "first app frame", "beyond depth 1", … */
};

struct cluster_verdict {
    enum cluster_kind kind;
    uint8_t key[CLUSTER_KEY_SIZE];
    const char *key_text; /* what was hashed, readable: "Shop|Feed.reload(_:)" */
    const char *title;    /* for people: "Feed.reload(_:)", "Idle (main run loop)", … */
    const char *function; /* culprit's, NULL when there is none */
    const char *file;     /* culprit's, NULL */
    const char *image;    /* culprit's image name, NULL */
    const char *category; /* "idle", "unknown", or what a rule says */
    const char *owner;    /* NULL */
    uint8_t variant[CLUSTER_KEY_SIZE]; /* hash of the first VARIANT_FRAMES app frames */
    size_t culprit_raw;                /* index of the culprit in the stack; SIZE_MAX: none */
    const struct frame_fate *fates;    /* one per logical frame, innermost first */
    size_t fate_count;
};

const char *cluster_kind_name(enum cluster_kind kind);

enum err cluster_key_of(const struct rules *rules, const struct key_options *options,
                        const char *bundle_id, const struct resolved_stack *stack,
                        struct arena *arena, struct cluster_verdict *ret, struct error *err);

#endif
