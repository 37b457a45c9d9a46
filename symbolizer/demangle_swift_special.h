/*
 * demangle_swift_special - what a function signature specialisation did to an argument.
 *
 * Purpose: the number of a FunctionSignatureSpecializationParamKind node. Both parsers write it,
 * the printer reads it.
 *
 * Threads, memory: as demangle_swift_parse.
 */
#ifndef STALLSYM_SYMBOLIZER_DEMANGLE_SWIFT_SPECIAL_H
#define STALLSYM_SYMBOLIZER_DEMANGLE_SWIFT_SPECIAL_H

#include "symbolizer/demangle_swift_parse.h"

enum swift_special {
    SPECIAL_FUNCTION, /* constants that were propagated into the function */
    SPECIAL_GLOBAL,
    SPECIAL_INTEGER,
    SPECIAL_FLOAT,
    SPECIAL_STRING,
    SPECIAL_KEY_PATH,
    SPECIAL_CLOSURE,
    SPECIAL_BOX_TO_VALUE,
    SPECIAL_BOX_TO_STACK,
    SPECIAL_IN_OUT_TO_OUT,
    /* From here on a set of bits. */
    SPECIAL_DEAD = 1 << 6,
    SPECIAL_OWNED_TO_GUARANTEED = 1 << 7,
    SPECIAL_EXPLODED = 1 << 8,
    SPECIAL_GUARANTEED_TO_OWNED = 1 << 9,
    SPECIAL_EXISTENTIAL_TO_GENERIC = 1 << 10
};

/* Both answer `param` with one more child; NULL in, NULL out. */
struct swift_node *swift_special_kind(struct swift_parser *p, struct swift_node *param,
                                      unsigned kind);
struct swift_node *swift_special_payload(struct swift_parser *p, struct swift_node *param,
                                         struct swift_text text);

#endif
