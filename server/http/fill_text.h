/*
 * fill_text - a crash, hang, sample or spindump text with its frames filled in.
 *
 * Purpose: the stateless door for texts, and `stallsymd symbolicate`: what apple_text found is
 * looked up and written into its line, in the words of the line's own format:
 *
 *   crash     3   Shop    0x00000001000a2f10 Feed.reload(_:) (in Shop) (Feed.swift:41)
 *   sample    2397 Feed.reload(_:) (in Shop) (Feed.swift:41) [0x10cd1ae30]
 *   spindump  1001  Feed.reload(_:) (Feed.swift:41 in Shop + 1234) [0x10cd1ae30]
 *   list      becomes numbered crash lines
 *
 * Without a file it is `plain() (in Shop) + 12`, from the function's start.
 *
 * Inlined calls: in a crash text each has a line of its own before the function that holds it, with
 * the same number and address and " [inlined]" at its end; in trees, where a line is a node, they
 * follow the function as " > inner (File.swift:7) [inlined]".
 *
 * Invariants: everything else comes back byte for byte: unresolved frames, frames that have a file
 * already, and names that the index knows no better. Memory for answers is bounded: lines are looked
 * up some hundreds at a time.
 *
 * Threads: the symbolizer's. Memory: its own, given back before it returns.
 */
#ifndef STALLSYM_HTTP_FILL_TEXT_H
#define STALLSYM_HTTP_FILL_TEXT_H

#include <stddef.h>

#include "base/buf.h"
#include "base/error.h"
#include "server/ingest/apple_text.h"
#include "symbolizer/symbolize.h"

struct fill_stats {
    size_t frames; /* found in the text */
    size_t filled; /* of them written anew */
};

/* Under which UUIDs the index cache has images (symbolize.h, `shelf`); NULL: under their own. */
struct image_shelves {
    void (*find)(void *ctx, const struct uuid *image, struct uuid *ret);
    void *ctx;
};

/* ERR_LIMIT: the answer is larger than `out` may be. */
enum err fill_text(const struct apple_text *text, enum text_callers callers, struct symbolizer *s,
                   const struct image_shelves *shelves, struct buf *out, struct fill_stats *ret,
                   struct error *err);

#endif
