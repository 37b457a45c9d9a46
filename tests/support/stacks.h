/*
 * stacks - resolved stacks for tests, written as text.
 *
 * One frame a line, innermost first: `image name`, where the image may be marked:
 *     Shop!name          the app's (in_app)
 *     libfoo.dylib name  the system's
 * and the name may be followed by ` @@file`, ` %local`. Special names:
 *     ?1c0   no symbol file: NO_SYMBOLS at offset 0x1c0
 *     ??1c0  out of range: an index, but no function there
 *     -      in no image
 * A line that begins with `+` is inlined into the line after it (same raw frame).
 */
#ifndef STALLSYM_TESTS_STACKS_H
#define STALLSYM_TESTS_STACKS_H

#include "base/arena.h"
#include "base/stack.h"

struct resolved_stack stack_from_text(const char *text, struct arena *arena);

#endif
