/*
 * slice_line - one line of what `stallsymd index` prints, read.
 *
 * Purpose: the indexer's child tells about each slice by a flat JSON object on a line. The child
 * handles hostile files, so its output is as little to be trusted as they are: this is a strict
 * reader for exactly that shape (RFC 8259, one object, no nesting), not a JSON library.
 *
 * Invariants: every field of the result is valid after ERR_OK: texts have no NUL inside and at most
 * SLICE_TEXT_MAX bytes, the UUID is parsed (nil when null), an indexed slice has a UUID and an
 * index file whose name is the UUID's (never a path). Keys that are not known are passed over;
 * known ones twice are refused.
 *
 * Threads: any. Memory: texts live in the caller's arena.
 */
#ifndef STALLSYM_JOBS_SLICE_LINE_H
#define STALLSYM_JOBS_SLICE_LINE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/error.h"
#include "symbolizer/symbol_index.h"

#define SLICE_TEXT_MAX 16384

/* ERR_FORMAT says what is wrong and at which byte. */
enum err slice_line_parse(const char *line, size_t len, struct arena *arena,
                          struct slice_report *ret, struct error *err);
/* Is it the last line, of the state totals? False with nothing said when it is another one. */
bool slice_line_totals(const char *line, size_t len, struct symbol_index_totals *ret);

#endif
