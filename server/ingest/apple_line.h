/*
 * apple_line - one line of a crash, hang, sample or spindump text.
 *
 * Purpose: the grammar of single lines, for apple_text alone.
 *
 * Invariants: looks at its line only; whatever needs its neighbours (kinds of trees, process) is
 * left to apple_text.
 *
 * Threads: none. Memory: borrows the line.
 */
#ifndef STALLSYM_INGEST_APPLE_LINE_H
#define STALLSYM_INGEST_APPLE_LINE_H

#include "server/ingest/apple_text.h"

/* Fills form, cut, image, function, address, offset and depth of the line in `l->text`; `number` of
 * a crash frame is its place in the stack. */
void apple_line_read(struct text_line *l, uint64_t *ret_number);

struct apple_image {
    struct text_span name; /* the base name of the path, where there is one */
    struct text_span path;
    struct uuid uuid; /* nil: none */
    uint64_t start;
    uint64_t end; /* last byte; 0: not known */
};
/* A line under "Binary Images:". */
bool apple_line_image(struct text_span line, struct apple_image *ret);

#endif
