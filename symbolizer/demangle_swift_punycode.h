/*
 * demangle_swift_punycode - identifiers that are not plain ASCII.
 *
 * Purpose: Swift writes them as RFC 3492 Punycode with '_' as delimiter and the digits a-z, A-J.
 * ASCII characters that may not stand in a symbol are code points from U+D800 on.
 *
 * Invariants: refuses more than SWIFT_PUNYCODE_MAX code points (decoding is quadratic).
 *
 * Threads: any. Memory: the answer is in the arena.
 */
#ifndef STALLSYM_SYMBOLIZER_DEMANGLE_SWIFT_PUNYCODE_H
#define STALLSYM_SYMBOLIZER_DEMANGLE_SWIFT_PUNYCODE_H

#include "symbolizer/demangle_swift_node.h"

#define SWIFT_PUNYCODE_MAX 2048

/* The UTF-8 text; false when it is no valid encoding or too much. */
bool swift_punycode_decode(struct swift_arena *a, struct swift_text in, struct swift_text *ret);

#endif
