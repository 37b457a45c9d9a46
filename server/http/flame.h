/*
 * flame - a call tree as it is sent: JSON, folded stacks, speedscope, SVG.
 *
 * Purpose: four ways to write one tree. All show every node, but for the SVG, which leaves out what
 * is narrower than FLAME_WIDTH_MIN of its width. An answer always comes: of a tree that has more than
 * FLAME_NODES_MAX nodes, or is written in more bytes than the buffer may have, the lightest nodes are
 * folded (call_tree_fold) until it fits.
 *
 * Invariants: names come from clients and symbol files: each format escapes them. Values are
 * milliseconds or reports, sampling undone; with two sets of stacks shares are compared, so that the
 * set with more reports does not look worse for it.
 *
 * Threads: none. Memory: appends to the caller's buffer; what does not fit shows as out->failed.
 */
#ifndef STALLSYM_HTTP_FLAME_H
#define STALLSYM_HTTP_FLAME_H

#include <stdbool.h>

#include "base/buf.h"
#include "server/analysis/call_tree.h"
#include "server/http/jout.h"
#include "storage/storage_read.h"

#define FLAME_WIDTH_MIN 0.0002
#define FLAME_NODES_MAX ((size_t)500000)

struct flame {
    struct call_tree *tree; /* sorted */
    bool truncated;         /* something of it was folded */
    bool by_time;
    bool compare;           /* the second weight is what the first one is compared with */
    size_t stacks;          /* distinct ones */
    const char *title;      /* what was asked for */
    const char *version[2]; /* of the two sets, when compared */
    struct breakdown_scope scope;
};

struct flame_format {
    const char *name;
    const char *content_type;
    const char *policy; /* http_reply's; NULL */
    void (*print)(const struct flame *f, struct buf *out);
};
extern const struct flame_format FLAME_FORMATS[];
extern const size_t FLAME_FORMAT_COUNT;

/* In that format; the tree may be folded for it. */
enum err flame_print(struct flame *f, const struct flame_format *format, struct buf *out,
                     struct error *err);

void flame_json(const struct flame *f, struct buf *out);
void flame_folded(const struct flame *f, struct buf *out);
void flame_speedscope(const struct flame *f, struct buf *out);
void flame_svg(const struct flame *f, struct buf *out);

/* A weight as it is shown: whole milliseconds, or reports. */
double flame_value(const struct flame *f, int64_t weight);
/* The same as a JSON number, to the last digit where it is whole. */
void flame_put_value(const struct flame *f, struct jout *j, const char *key, int64_t weight);
/* What share of its set a node has, and how much that is more than in the other one. */
double flame_share(const struct flame *f, const struct call_node *n, size_t set);
double flame_delta(const struct flame *f, const struct call_node *n);

#endif
