/*
 * demangle_swift_old - the parts of the old scheme (_T, before Swift 4) that its files share.
 *
 * Purpose: the scheme is prefix: a letter says what follows, so it is read by recursive descent.
 * demangle_swift_old.c reads symbols, entities and names, demangle_swift_old_type.c types and
 * generics, demangle_swift_old_special.c specialisations.
 *
 * Invariants: every function counts its depth in the parser (old_enter, old_leave), so recursion
 * ends at SWIFT_OLD_DEPTH. NULL means that the name is not valid.
 *
 * Threads, memory: those of the parser.
 */
#ifndef STALLSYM_SYMBOLIZER_DEMANGLE_SWIFT_OLD_H
#define STALLSYM_SYMBOLIZER_DEMANGLE_SWIFT_OLD_H

#include "symbolizer/demangle_swift_parse.h"

static inline bool old_enter(struct swift_parser *p)
{
    return ++p->depth <= SWIFT_OLD_DEPTH;
}

static inline struct swift_node *old_leave(struct swift_parser *p, struct swift_node *n)
{
    p->depth--;
    return n;
}

/* Negative when there is no number. Huge ones saturate. */
int64_t old_natural(struct swift_parser *p);
int64_t old_index(struct swift_parser *p);
struct swift_node *old_index_node(struct swift_parser *p, enum swift_kind kind);

/* An identifier node of that kind; only plain identifiers (SK_Identifier) may be operators. */
struct swift_node *old_identifier(struct swift_parser *p, enum swift_kind kind);
struct swift_node *old_substitution(struct swift_parser *p);
struct swift_node *old_module(struct swift_parser *p);
struct swift_node *old_context(struct swift_parser *p);
/* CONTEXT NAME, remembered for substitution. */
struct swift_node *old_declaration(struct swift_parser *p, enum swift_kind kind);
struct swift_node *old_protocol(struct swift_parser *p);
struct swift_node *old_protocol_in(struct swift_parser *p, struct swift_node *context);
struct swift_node *old_nominal(struct swift_parser *p);
struct swift_node *old_conformance(struct swift_parser *p);

struct swift_node *old_type(struct swift_parser *p);
struct swift_node *old_signature(struct swift_parser *p, bool pseudogeneric);
struct swift_node *old_bound_generic(struct swift_parser *p);

struct swift_node *old_specialization(struct swift_parser *p);

#endif
