/*
 * format_native - the native format of http-api.md: JSON batches, arrays, NDJSON, flat reports.
 *
 * Purpose: fills an intake from a body.
 *
 * Invariants: texts are copied into the intake's arena; the JSON tree is gone on return. Batch
 * fields are defaults of the batch's reports; a report's own fields win.
 *
 * Threads: one body, one thread. Memory: the intake's arena.
 */
#ifndef STALLSYM_INGEST_FORMAT_NATIVE_H
#define STALLSYM_INGEST_FORMAT_NATIVE_H

#include "server/ingest/intake.h"

/* As ingest_body(): ERR_FORMAT for a JSON body that cannot be parsed, ERR_INVALID for JSON that is
 * neither batch, array of batches, nor report. NDJSON lines fail alone. */
enum err format_native_read(struct intake *in, struct error *err);

#endif
