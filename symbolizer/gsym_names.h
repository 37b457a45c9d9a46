/*
 * gsym_names - names in an index: the string table and the block of names behind it.
 *
 * Purpose: demangles every function name once and writes what gsym_format.h describes.
 *
 * Invariants: entries ascend by name; a name has one only if demangle_own() does not know it and the
 * C++ runtime does. Same names, same bytes, whatever the number of workers.
 *
 * Threads: spreads over the caller's parallel_for. Memory: all freed on return.
 */
#ifndef STALLSYM_SYMBOLIZER_GSYM_NAMES_H
#define STALLSYM_SYMBOLIZER_GSYM_NAMES_H

#include "base/error.h"
#include "base/parallel.h"
#include "symbolizer/gsym_sink.h"
#include "symbolizer/string_table.h"

/* The string table as string_table_settle() has laid it out. */
void gsym_names_write_table(const struct string_table *t, struct gsym_sink *sink);
enum err gsym_names_write(const struct string_table *t, const struct parallel_for *parallel,
                          struct gsym_sink *sink, struct error *err);

#endif
