/*
 * gsym_names - the block of display names behind an index.
 *
 * Purpose: demangles every function name once and writes the block that gsym_format.h describes.
 *
 * Invariants: entries ascend by name; a name that is external and shown as it is has none. Same
 * names, same bytes, whatever the number of workers.
 *
 * Threads: spreads over the caller's parallel_for. Memory: all freed on return.
 */
#ifndef STALLSYM_SYMBOLIZER_GSYM_NAMES_H
#define STALLSYM_SYMBOLIZER_GSYM_NAMES_H

#include "base/error.h"
#include "base/parallel.h"
#include "symbolizer/gsym_sink.h"
#include "symbolizer/string_table.h"

enum err gsym_names_write(const struct string_table *t, const struct parallel_for *parallel,
                          struct gsym_sink *sink, struct error *err);

#endif
