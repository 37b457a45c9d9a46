/*
 * demangle_swift_parse - the stack machine that reads the Swift 4 to 6 mangling.
 *
 * Purpose: the mangling is postfix: operands push nodes, operators pop them. One file per chapter
 * of the grammar holds the operators (demangle_swift_name.c, _type.c, _function.c, _generic.c,
 * _entity.c, _thunk.c, _special.c, _witness.c); demangle_swift_parse.c holds the machine and the
 * table that finds an operator by its letter. demangle_swift_old.c reads the scheme before Swift
 * 4, a recursive descent that shares nothing but the nodes.
 *
 * Invariants: an operator answers the node to push, or NULL when the name is not valid. It may pop
 * and read on as it likes; operators do not call each other recursively, with the exception of
 * the generic arguments of nested types, which count their depth.
 *
 * Threads: one owner. Memory: nodes live in the arena, the text is borrowed.
 */
#ifndef STALLSYM_SYMBOLIZER_DEMANGLE_SWIFT_PARSE_H
#define STALLSYM_SYMBOLIZER_DEMANGLE_SWIFT_PARSE_H

#include "symbolizer/demangle_swift_node.h"

#define SWIFT_STACK_LIMIT 16384 /* nodes waiting on the stack */
#define SWIFT_WORDS_MAX   26    /* the grammar's own limit */
#define SWIFT_REPEAT_MAX  2048  /* the grammar's own limit on repeated substitutions */
#define SWIFT_NESTING_MAX 256   /* levels of nested generic types */
#define SWIFT_OLD_DEPTH   1024  /* recursion of the old scheme */

struct swift_nodes {
    struct swift_node **list;
    size_t count;
    size_t capacity;
};

struct swift_parser {
    struct swift_arena *arena;
    const char *text;
    size_t len;
    size_t pos;
    struct swift_nodes stack;
    struct swift_nodes substitutions;
    size_t word_count;
    unsigned depth;       /* of the recursion in the old scheme */
    bool labels_in_types; /* _T0: argument labels are part of the argument tuple */
    struct swift_text words[SWIFT_WORDS_MAX];
};

/* The tree of a whole symbol: a Global node, or NULL. `name` keeps living. */
struct swift_node *swift_parse(struct swift_arena *a, struct swift_text name);
/* The same for the scheme before Swift 4; `name` begins with "_T". */
struct swift_node *swift_parse_old(struct swift_arena *a, struct swift_text name);
/* Length of a prefix of the new scheme, 0 when there is none. */
size_t swift_prefix_length(struct swift_text name);

/* --- reading ------------------------------------------------------------------------------- */

/* 0 at the end, where swift_next() does not move. */
static inline char swift_peek(const struct swift_parser *p)
{
    return p->pos < p->len ? p->text[p->pos] : 0;
}

static inline char swift_next(struct swift_parser *p)
{
    return p->pos < p->len ? p->text[p->pos++] : 0;
}

static inline void swift_back(struct swift_parser *p)
{
    if (p->pos)
        p->pos--;
}

static inline bool swift_accept(struct swift_parser *p, char c)
{
    if (swift_peek(p) != c)
        return false;
    p->pos++;
    return true;
}

bool swift_accept_str(struct swift_parser *p, const char *s);
/* Position of `c` in `s`, or -1; never finds the 0 at the end of a name. */
int swift_letter(const char *s, char c);
/* NATURAL: digits. Negative when there is none or it is too large. */
int swift_natural(struct swift_parser *p);
/* INDEX: '_' is 0, NATURAL '_' is one more. Negative when it is not there. */
int swift_index(struct swift_parser *p);
struct swift_node *swift_index_node(struct swift_parser *p);

/* --- the stack ------------------------------------------------------------------------------ */

bool swift_nodes_push(struct swift_parser *p, struct swift_nodes *nodes, struct swift_node *n);
struct swift_node *swift_pop_any(struct swift_parser *p);
/* The top when it is of that kind or of one of those classes, otherwise NULL. */
struct swift_node *swift_pop(struct swift_parser *p, enum swift_kind kind);
struct swift_node *swift_pop_class(struct swift_parser *p, unsigned classes);
void swift_substitution(struct swift_parser *p, struct swift_node *n);

/* Short forms that every operator uses. */
struct swift_node *swift_type(struct swift_parser *p, struct swift_node *child);
struct swift_node *swift_over_type(struct swift_parser *p, enum swift_kind kind);
struct swift_node *swift_pop_type_child(struct swift_parser *p);
struct swift_node *swift_pop_module(struct swift_parser *p);
struct swift_node *swift_pop_context(struct swift_parser *p);
struct swift_node *swift_pop_entity(struct swift_parser *p);
struct swift_node *swift_pop_signature(struct swift_parser *p);
/* A list on the stack: elements behind a first-element mark, or an empty-list mark. `pop` takes
 * one element. The list becomes the children of `into` (NULL: failed). */
struct swift_node *swift_pop_list(struct swift_parser *p, struct swift_node *into,
                                  struct swift_node *(*pop)(struct swift_parser *p));
struct swift_node *swift_pop_type(struct swift_parser *p);
struct swift_node *swift_pop_type_list(struct swift_parser *p);
struct swift_node *swift_pop_protocol(struct swift_parser *p);
struct swift_node *swift_pop_conformance(struct swift_parser *p);
struct swift_node *swift_pop_any_conformance(struct swift_parser *p);
struct swift_node *swift_pop_retroactive_conformances(struct swift_parser *p);
struct swift_node *swift_pop_assoc_type_name(struct swift_parser *p);
struct swift_node *swift_pop_assoc_type_path(struct swift_parser *p);
/* Argument labels of a function of that type, when the stack has some. */
struct swift_node *swift_pop_labels(struct swift_parser *p, const struct swift_node *type);
/* Function types; with `clang_type` the text goes on with a C type. */
struct swift_node *swift_pop_function_type(struct swift_parser *p, enum swift_kind kind,
                                           bool clang_type);
/* Lists of generic arguments, innermost type first, and retroactive conformances or NULL. */
bool swift_pop_generic_args(struct swift_parser *p, struct swift_nodes *ret_lists,
                            struct swift_node **ret_conformances);
struct swift_node *swift_generic_param(struct swift_parser *p, int depth, int index);
struct swift_node *swift_generic_param_index(struct swift_parser *p);
struct swift_node *swift_standard_type(struct swift_parser *p, enum swift_kind kind,
                                       const char *name);
struct swift_node *swift_clang_type(struct swift_parser *p);
bool swift_is_protocol(const struct swift_node *type);

/* --- operators, by the file they are in ----------------------------------------------------- */

struct swift_node *swift_op_identifier(struct swift_parser *p);            /* _name */
struct swift_node *swift_op_operator_name(struct swift_parser *p);         /* o */
struct swift_node *swift_op_local_name(struct swift_parser *p);            /* L */
struct swift_node *swift_op_substitution(struct swift_parser *p);          /* A */
struct swift_node *swift_op_standard_substitution(struct swift_parser *p); /* S */

struct swift_node *swift_op_builtin(struct swift_parser *p); /* B, _type */
struct swift_node *swift_nominal(struct swift_parser *p, enum swift_kind kind);
struct swift_node *swift_op_bound_generic(struct swift_parser *p);      /* G */
struct swift_node *swift_op_tuple(struct swift_parser *p);              /* t */
struct swift_node *swift_op_protocol_list(struct swift_parser *p);      /* p */
struct swift_node *swift_op_special_type(struct swift_parser *p);       /* X */
struct swift_node *swift_op_type_annotation(struct swift_parser *p);    /* Y */
struct swift_node *swift_op_integer(struct swift_parser *p);            /* $ */
struct swift_node *swift_op_type_mangling(struct swift_parser *p);      /* D */
struct swift_node *swift_op_impl_function_type(struct swift_parser *p); /* I, _function */

struct swift_node *swift_op_archetype(struct swift_parser *p);   /* Q, _generic */
struct swift_node *swift_op_requirement(struct swift_parser *p); /* R */
struct swift_node *swift_generic_signature(struct swift_parser *p, bool counts);
struct swift_node *swift_op_generic_type(struct swift_parser *p);            /* u */
struct swift_node *swift_op_conformance(struct swift_parser *p);             /* H */
struct swift_node *swift_op_retroactive_conformance(struct swift_parser *p); /* g */

struct swift_node *swift_op_extension(struct swift_parser *p);       /* E, _entity */
struct swift_node *swift_op_function(struct swift_parser *p);        /* F */
struct swift_node *swift_op_function_entity(struct swift_parser *p); /* f */
struct swift_node *swift_op_variable(struct swift_parser *p);        /* v */
struct swift_node *swift_op_subscript(struct swift_parser *p);       /* i */

struct swift_node *swift_op_thunk(struct swift_parser *p);                  /* T, _thunk */
struct swift_node *swift_specialization(struct swift_parser *p, char c);    /* Tg.. Tf, _special */
struct swift_node *swift_autodiff(struct swift_parser *p);                  /* TJ, _autodiff */
struct swift_node *swift_differentiability_witness(struct swift_parser *p); /* WJ */
struct swift_node *swift_op_witness(struct swift_parser *p);                /* W, _witness */
struct swift_node *swift_op_value_witness(struct swift_parser *p);          /* w */
struct swift_node *swift_op_metadata(struct swift_parser *p);               /* M */
/* Number of a two-letter value witness code, -1 for none; its name. */
int swift_value_witness(char c0, char c1);
const char *swift_value_witness_name(int64_t number);
/* Identifier letters to an operator's characters (both schemes). */
bool swift_operator_text(struct swift_arena *a, struct swift_text in, struct swift_text *ret);

#endif
