/*
 * format_names - which members of a document are read, and which say nothing here.
 *
 * Purpose: a misspelt field must not be silent, and a newer SDK's field must not be refused. So
 * members that nobody reads are listed in the answer, each once, with how often they came.
 *
 * Invariants: a table of names is the only place that says what is read; the readers go by the same
 * names. At most IGNORED_MAX paths are listed, the last of them "(other)" when there are more; each
 * is short and has no control characters. Nothing is refused, nothing stored. The cost is a look at
 * each member's first letter, and is bounded by what reading the document costs.
 *
 * Threads: one body, one thread. Memory: the intake's arena, a fixed piece of it, at the first one.
 */
#ifndef STALLSYM_INGEST_FORMAT_NAMES_H
#define STALLSYM_INGEST_FORMAT_NAMES_H

#include <jansson.h>

#include "server/ingest/intake.h"

#define IGNORED_MAX 20

enum names_of {
    NAMES_BATCH,
    NAMES_FLAT_REPORT,
    NAMES_USAGE_BATCH,
    NAMES_FLAT_USAGE,
    NAMES_SYMBOLICATE
};

/* Lists what of `document` is not read. */
void names_check(struct intake *in, json_t *document, enum names_of what);

#endif
