/*
 * normalize - the key form of a function name (design/clustering.md section 2).
 *
 * Purpose: the same function gives the same key name from every compiler run: block and closure
 * numbers, thunks, specialisations, generic arguments, parameters, clone suffixes and hashes go.
 *
 * Invariants: pure; never longer than the input plus KEY_NAME_SLACK; idempotent; "" means the name
 * carries no identity (compiler artefacts: OUTLINED_FUNCTION_N, thunks of nothing, bare keywords).
 * Takes display names (demangled) and mangled Swift names alike.
 *
 * Threads: any. Memory: the caller's buffer.
 */
#ifndef STALLSYM_ANALYSIS_NORMALIZE_H
#define STALLSYM_ANALYSIS_NORMALIZE_H

#include <stddef.h>

#define KEY_NAME_MAX   1024
#define KEY_NAME_SLACK 16

/* Writes the key form of `function` to `out` (cut at `size`), returns its length. `file` (may be
 * NULL) is added by its base name when `local` to names of C and C++: "tick@clock.c". Names of
 * Objective-C, Swift and Rust say where they belong. */
size_t normalize_function(const char *function, const char *file, int local, char *out,
                          size_t size);

/* Whether `function` is what tools print where they know no name: NULL, "", "0x1043f2a10",
 * "<redacted>", "???", "__hidden#12_". */
int normalize_is_unnamed(const char *function);

#endif
