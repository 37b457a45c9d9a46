/*
 * swift_module - the module that a Swift function was written in, from its linkage name.
 *
 * Purpose: names are shown without modules, and packages are linked into the app's own image; the
 * linkage name alone still says that `Session.request` is Alamofire's. For `module=` of the rules.
 *
 * Invariants: pure. Reads the start of the name only: of an extension the module that it lies in,
 * not the type's. False where the name does not begin so (C, Objective-C, Swift before 4.2).
 *
 * Threads: any. Memory: the caller's buffer.
 */
#ifndef STALLSYM_ANALYSIS_SWIFT_MODULE_H
#define STALLSYM_ANALYSIS_SWIFT_MODULE_H

#include <stdbool.h>

#define SWIFT_MODULE_MAX 64

/* `mangled` may be NULL. */
bool swift_module_of(const char *mangled, char ret[SWIFT_MODULE_MAX]);

#endif
