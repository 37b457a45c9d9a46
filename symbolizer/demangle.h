/*
 * demangle - a linkage name for people.
 *
 * Purpose: decides by prefix which demangler a name is for (C++ `_Z`, also `__Z` and block
 * `___Z…_block_invoke`; Rust `_R` and legacy `_ZN…17h<16 hex>E`; Swift `$s`, `$S`, `_$s`, `_T0`,
 * `_T`; Objective-C `-[`/`+[` and blocks `__41-[Feed reload:]_block_invoke_2`) and prints the
 * display form of design/symbols.md section 5.
 *
 * Invariants: never aborts, never answers empty, never recurses without bound: a name that is not
 * understood, too long or too costly is its own display form. All readers are our own: the C++
 * runtime's has no bounds, and never comes back from some names.
 *
 * Threads: any, no state. Memory: the caller's buffer; Swift names allocate, and free before the
 * return.
 */
#ifndef STALLSYM_SYMBOLIZER_DEMANGLE_H
#define STALLSYM_SYMBOLIZER_DEMANGLE_H

#include <stdbool.h>
#include <stddef.h>

#define DEMANGLE_INPUT_MAX  8192 /* longer names stay as they are */
#define DEMANGLE_OUTPUT_MAX 4096 /* longer results are cut, ending in "…" */

/* True when `out` differs from `name`. `out` is always filled, cut at `size`. */
bool demangle(const char *name, char *out, size_t size);
/* A Swift name with modules and types, whose display form has neither. False, and `out` in any
 * state, for all others. */
bool demangle_full(const char *name, char *out, size_t size);

#endif
