/*
 * demangle_swift_print - from the tree of a Swift name to text.
 *
 * Purpose: most kinds are printed by the text in their row of demangle_swift_kinds.h; the others
 * have a function here: demangle_swift_print.c (the machine, names, small things), _print_type.c
 * (types), _print_entity.c (declarations in their contexts), _print_thunk.c (thunks,
 * specialisations, conformances).
 *
 * Invariants: writes at most `size` bytes with the NUL. Ends early when the buffer is full (`cut`)
 * or the tree is odd, too large or too much work (`failed`): a node can be the child of many, so
 * the walk is bounded by SWIFT_PRINT_STEPS and SWIFT_PRINT_DEPTH and not by the tree.
 *
 * Threads: one owner. Memory: borrows everything; names inside names are parsed into the arena.
 */
#ifndef STALLSYM_SYMBOLIZER_DEMANGLE_SWIFT_PRINT_H
#define STALLSYM_SYMBOLIZER_DEMANGLE_SWIFT_PRINT_H

#include <string.h>

#include "symbolizer/demangle_swift_node.h"

#define SWIFT_PRINT_STEPS  65536 /* nodes printed, each time counted; real names need 3 a byte */
#define SWIFT_PRINT_DEPTH  768   /* deeper trees say "<<too complex>>" there */
#define SWIFT_PRINT_NESTED 16    /* names inside names */

struct swift_printer {
    char *out;
    size_t size;
    size_t len;
    struct swift_arena *arena;
    unsigned steps;
    unsigned nested;
    bool simplified;
    bool key;         /* with simplified: the form for cluster keys */
    bool sugar;       /* T?, [T], [K : V] */
    bool where;       /* requirements in signatures */
    bool specialized; /* "specialized" was said */
    bool failed;
    bool cut;
};

void swift_put(struct swift_printer *p, const char *s, size_t len);

/* Here so that the length of a literal costs nothing. */
static inline void swift_puts(struct swift_printer *p, const char *s)
{
    swift_put(p, s, strlen(s));
}

void swift_put_text(struct swift_printer *p, struct swift_text t);
void swift_put_int(struct swift_printer *p, int64_t n);

/*
 * Prints a node. With `prefix` it is the context of something ("Abc" of "Abc.def"); an entity that
 * cannot stand before a dot is then not printed but answered, to be printed behind ("… in Abc()").
 * NULL otherwise.
 */
const struct swift_node *swift_print_as(struct swift_printer *p, const struct swift_node *n,
                                        unsigned depth, bool prefix);
void swift_print(struct swift_printer *p, const struct swift_node *n, unsigned depth);
void swift_print_child(struct swift_printer *p, const struct swift_node *n, size_t at,
                       unsigned depth);
void swift_print_children(struct swift_printer *p, const struct swift_node *n, unsigned depth,
                          const char *between);
/* A mangled name as text inside a name; printed as it is when it is none. */
void swift_print_nested(struct swift_printer *p, struct swift_text name, unsigned depth);

/* _print_type.c */
void swift_print_function_type(struct swift_printer *p, const struct swift_node *labels,
                               const struct swift_node *f, unsigned depth);
bool swift_needs_space(const struct swift_node *type);

/* Functions for kinds without text: demangle_swift_print.c has them in a table. `prefix` as for
 * swift_print_as(), which few use. */
#define SWIFT_PRINTER(name)                                                                        \
    const struct swift_node *name(struct swift_printer *p, const struct swift_node *n,             \
                                  unsigned depth, bool prefix)

SWIFT_PRINTER(swift_print_anonymous_context);
SWIFT_PRINTER(swift_print_extension);
SWIFT_PRINTER(swift_print_variable);
SWIFT_PRINTER(swift_print_function);
SWIFT_PRINTER(swift_print_subscript);
SWIFT_PRINTER(swift_print_named);
SWIFT_PRINTER(swift_print_macro);
SWIFT_PRINTER(swift_print_closure);
SWIFT_PRINTER(swift_print_initializer);
SWIFT_PRINTER(swift_print_member);
SWIFT_PRINTER(swift_print_accessor);
SWIFT_PRINTER(swift_print_expansion);
SWIFT_PRINTER(swift_print_expansion_loc);

SWIFT_PRINTER(swift_print_type_mangling);
SWIFT_PRINTER(swift_print_bound_generic);
SWIFT_PRINTER(swift_print_tuple_element);
SWIFT_PRINTER(swift_print_metatype);
SWIFT_PRINTER(swift_print_existential_metatype);
SWIFT_PRINTER(swift_print_protocol_list);
SWIFT_PRINTER(swift_print_protocol_list_with);
SWIFT_PRINTER(swift_print_box);
SWIFT_PRINTER(swift_print_box_layout);
SWIFT_PRINTER(swift_print_sugared_optional);
SWIFT_PRINTER(swift_print_existential_shape);
SWIFT_PRINTER(swift_print_bare_function_type);
SWIFT_PRINTER(swift_print_argument_tuple);
SWIFT_PRINTER(swift_print_differentiable);
SWIFT_PRINTER(swift_print_impl_function_type);
SWIFT_PRINTER(swift_print_impl_convention);
SWIFT_PRINTER(swift_print_impl_value);
SWIFT_PRINTER(swift_print_generic_type);
SWIFT_PRINTER(swift_print_signature);
SWIFT_PRINTER(swift_print_generic_param);
SWIFT_PRINTER(swift_print_assoc_type_ref);
SWIFT_PRINTER(swift_print_inverse_requirement);
SWIFT_PRINTER(swift_print_layout_requirement);

SWIFT_PRINTER(swift_print_conformance);
SWIFT_PRINTER(swift_print_concrete_conformance);
SWIFT_PRINTER(swift_print_dependent_conformance);
SWIFT_PRINTER(swift_print_conformance_list);
SWIFT_PRINTER(swift_print_retroactive);
SWIFT_PRINTER(swift_print_partial_apply);
SWIFT_PRINTER(swift_print_specialization);
SWIFT_PRINTER(swift_print_specialization_param);
SWIFT_PRINTER(swift_print_special_kind);
SWIFT_PRINTER(swift_print_special_payload);
SWIFT_PRINTER(swift_print_reabstraction);
SWIFT_PRINTER(swift_print_reabstraction_self);
SWIFT_PRINTER(swift_print_completion_handler);
SWIFT_PRINTER(swift_print_key_path);
SWIFT_PRINTER(swift_print_key_path_index);
SWIFT_PRINTER(swift_print_autodiff);
SWIFT_PRINTER(swift_print_autodiff_kind);
SWIFT_PRINTER(swift_print_autodiff_subset);
SWIFT_PRINTER(swift_print_autodiff_reorder);
SWIFT_PRINTER(swift_print_differentiability_witness);
SWIFT_PRINTER(swift_print_index_subset);
SWIFT_PRINTER(swift_print_outlined_copy);
SWIFT_PRINTER(swift_print_value_witness);
SWIFT_PRINTER(swift_print_once_names);

#endif
