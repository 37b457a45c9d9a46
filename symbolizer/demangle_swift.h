/*
 * demangle_swift - Swift names for people.
 *
 * Purpose: reads every mangling that Swift compilers have put into symbol tables: the current one
 * ($s, _$s, $e for embedded Swift, @__swiftmacro_ for macro buffers), those of Swift 4 ($S, _T0)
 * and the one before (_T). A library of its own: nothing of it needs the rest of the symbolizer.
 *
 * Three forms:
 *   SWIFT_FULL        what `swift-demangle` prints,
 *   SWIFT_SIMPLIFIED  what `swift-demangle -simplified` prints,
 *   SWIFT_KEY         the function a name belongs to, the same for its closures, thunks,
 *                     specialisations and async parts (see demangle_swift_key.h). Its text is ours:
 *                     a change needs a new KEY_FORM (server/analysis/cluster_key.h), so that all
 *                     that is keyed by it is keyed anew.
 *
 * Example: _$s4Shop4FeedC6reload5forceySb_tFySSXEfU_
 *   full        closure #1 (Swift.String) -> () in Shop.Feed.reload(force: Swift.Bool) -> ()
 *   simplified  closure #1 in Feed.reload(force:)
 *   key         Feed.reload(force:)
 *
 * Invariants: any byte string ends in an answer. Work is bounded by fixed budgets of memory, nodes,
 * depth and printed nodes, whatever the name says (names double in size by referring to their own
 * parts); past one of them the name is answered as it is. Less than 1 MB of memory, stack and heap
 * together. A symbolic reference (bytes 1 to 31, in metadata of loaded images) cannot be read.
 *
 * Threads: any; there is no state. Memory: the caller's buffer; what is allocated is freed before
 * the return.
 */
#ifndef STALLSYM_SYMBOLIZER_DEMANGLE_SWIFT_H
#define STALLSYM_SYMBOLIZER_DEMANGLE_SWIFT_H

#include <stdbool.h>
#include <stddef.h>

/* Longer names are answered as they are. */
#define SWIFT_NAME_MAX ((size_t)64 * 1024)

enum swift_form { SWIFT_FULL, SWIFT_SIMPLIFIED, SWIFT_KEY };

/* Whether a name begins like one of ours, with or without Mach-O's additional underscore. */
bool demangle_swift_is_mangled(const char *name);

/*
 * Writes the form to `out`: NUL-terminated, cut at `size` bytes between two characters. False when
 * the name is not valid, not Swift's, or a cap was reached: `out` then has the name itself. With
 * `size` 0 nothing is written.
 */
bool demangle_swift(const char *name, enum swift_form form, char *out, size_t size);

/* SWIFT_KEY, as a function to be handed on. */
bool demangle_swift_key(const char *name, char *out, size_t size);

#endif
