/*
 * demangle_cxx_tree - C++ names, without memory.
 *
 * Purpose: the part of the Itanium mangling (C++ ABI, section 5.1) that names of functions are made
 * of - nested and local names, templates and their arguments, substitutions, packs, function and
 * member pointers, lambdas, operators, thunks, simple expressions - read into a tree and printed.
 * What is rare is not known; such names stay as they are. Constraints of C++20 are read and not
 * shown.
 *
 * Invariants: what is known prints as __cxa_demangle of libstdc++ does, byte by byte, where that
 * knows it; an inherited constructor is its own class's, not the base's. Nodes, depth
 * and steps of printing are bounded, so that any bytes end in microseconds. A tree has no cycles;
 * substitutions make parts of it stand in several places.
 *
 * Threads: any. Memory: the tree is the caller's, 16 kB; no part of it needs to be cleared.
 */
#ifndef STALLSYM_SYMBOLIZER_DEMANGLE_CXX_TREE_H
#define STALLSYM_SYMBOLIZER_DEMANGLE_CXX_TREE_H

#include <stdbool.h>
#include <stdint.h>

#include "symbolizer/demangle_parts.h"

#define CXX_NODES_MAX 896
#define CXX_SUBS_MAX  384
#define CXX_DEPTH_MAX 96 /* of productions, and of printing */
#define CXX_STEPS_MAX 8000

enum cxx_kind {
    CXX_NAME,    /* text */
    CXX_STD,     /* text: std::string and its like */
    CXX_BUILTIN, /* text; `code` is its letter where literals of it print without the type */
    CXX_QUALIFIED,
    CXX_LOCAL,         /* function, entity */
    CXX_DEFAULT_ARG,   /* entity; number */
    CXX_TAGGED,        /* name, ABI tag */
    CXX_TEMPLATE,      /* name, arguments */
    CXX_TEMPLATE_ARGS, /* one, the others */
    CXX_PARAM,         /* of a template; number */
    CXX_PACK,          /* expansion of a pattern */
    CXX_TYPED,         /* name, function type */
    CXX_FUNCTION,      /* result or 0, parameters or 0 */
    CXX_PARAMS,        /* one, the others */
    CXX_OPERATOR,      /* text */
    CXX_CONVERSION,
    CXX_LITERAL_OPERATOR, /* name */
    CXX_CTOR,
    CXX_DTOR,
    CXX_LAMBDA,  /* parameters; number */
    CXX_UNNAMED, /* number */
    CXX_SPECIAL, /* text before what it is for */
    CXX_UNARY,   /* operator, operand */
    CXX_BINARY,  /* operator, pair of operands */
    CXX_PAIR,
    CXX_PACK_LENGTH, /* sizeof... */
    CXX_CALL,        /* callee, arguments */
    CXX_CAST,        /* type, operand; text */
    CXX_C_CAST,      /* type, operand or parameters */
    CXX_BRACES,      /* type or 0, parameters */
    CXX_CHOICE,      /* condition, pair */
    CXX_POSTFIX,     /* operator, operand */
    CXX_ARGUMENT,    /* of the function; number, 0 being this */
    CXX_DECLTYPE,
    CXX_TRANSFORMED,  /* compiler's word, argument list of one */
    CXX_CLONE,        /* function, suffix */
    CXX_CONSTRUCTION, /* class, the class it is part of */
    CXX_LITERAL,
    CXX_LITERAL_NEGATIVE, /* type; text */
    /* From here on: around a type, printed behind it. */
    CXX_VECTOR, /* length, type */
    CXX_ARRAY,  /* bound or 0, type */
    CXX_MEMBER, /* class, type */
    CXX_VENDOR, /* type, name */
    CXX_POINTER,
    CXX_REFERENCE,
    CXX_RVALUE,
    CXX_COMPLEX,
    CXX_IMAGINARY,
    CXX_RESTRICT,
    CXX_VOLATILE,
    CXX_CONST,
    /* Of member functions, in the same order. */
    CXX_THIS_RESTRICT,
    CXX_THIS_VOLATILE,
    CXX_THIS_CONST,
    CXX_THIS_REFERENCE,
    CXX_THIS_RVALUE,
    CXX_THIS_NOEXCEPT,
};

struct cxx_node {
    uint8_t kind; /* enum cxx_kind */
    char code;
    uint16_t left, right; /* nodes; 0: none */
    uint16_t number;      /* or length of the text */
    const char *text;
};

struct cxx_tree {
    uint16_t count; /* nodes[0] is none */
    uint16_t root;
    struct cxx_node nodes[CXX_NODES_MAX];
};

static inline bool cxx_is_of_this(const struct cxx_node *n)
{
    return n->kind >= CXX_THIS_RESTRICT;
}

/* `name` begins with "_Z". False: not one of ours, or none at all. */
bool cxx_parse(const char *name, struct cxx_tree *ret);
/* False: it cannot be printed; `out` has some of it. */
bool cxx_print(const struct cxx_tree *t, struct demangle_out *out);

#endif
