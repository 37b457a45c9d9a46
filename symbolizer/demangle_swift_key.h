/*
 * demangle_swift_key - which function a Swift symbol belongs to.
 *
 * Purpose: the compiler makes many symbols of one function: closures, thunks, specialisations, parts
 * of async functions, merged and outlined pieces. Their cluster keys must be the same from every
 * compiler run, so the key form prints the function alone:
 *   - closures, default arguments and initial values are the declaration they stand in;
 *   - a protocol witness is the method of the conforming type ("HomeView.body.getter"), not of the
 *     protocol: the witnesses of two types are two functions;
 *   - a key path's or derivative's thunk is its declaration;
 *   - an operator is its characters ("==(_:_:)");
 *   - "__allocating_init" is "init", the kinds of "deinit" are one, "modify2" is "modify";
 *   - modules, extensions, generic arguments and signatures, types and private discriminators are
 *     left out; argument labels and "static" stay, as do the numbers of local functions;
 *   - what belongs to no function (reabstraction thunks, outlined copies) is a constant text.
 *
 * Invariants: never prints nothing.
 *
 * Threads, memory: those of the printer.
 */
#ifndef STALLSYM_SYMBOLIZER_DEMANGLE_SWIFT_KEY_H
#define STALLSYM_SYMBOLIZER_DEMANGLE_SWIFT_KEY_H

#include "symbolizer/demangle_swift_print.h"

void swift_print_key(struct swift_printer *p, const struct swift_node *global);

#endif
