/*
 * format_body - a JSON document, an array of documents, or lines of them.
 *
 * Purpose: takes a body apart; what one document holds is the format's own business.
 *
 * Invariants: a damaged document of an array, or line, is refused alone. Documents are read in
 * order until memory or the cap on entries is used up.
 *
 * Threads: one body, one thread. Memory: the intake's.
 */
#ifndef STALLSYM_INGEST_FORMAT_BODY_H
#define STALLSYM_INGEST_FORMAT_BODY_H

#include "server/ingest/intake.h"
#include "server/jobs/json_text.h"

struct format_body {
    /* Reads one document; `at` is its place ("", "[3]"), `line` 0 outside of NDJSON. An error says
     * that it is none of the format's; entries it refuses are listed in the intake. */
    enum err (*read)(struct intake *in, json_t *o, const char *at, uint32_t line,
                     struct error *err);
    const char *neither; /* "neither a batch nor a report" */
    const char *empty;   /* of a document alone without entries: "`reports` is empty" */
};

/* As ingest_body() says. */
enum err format_body_read(struct intake *in, const struct format_body *body, struct error *err);

#endif
