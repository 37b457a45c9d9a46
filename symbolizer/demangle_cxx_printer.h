/*
 * demangle_cxx_printer - what the printers of C++ names share.
 *
 * Purpose: demangle_cxx_print (names), demangle_cxx_around (types, which stand around a name) and
 * demangle_cxx_param (template parameters and packs) call each other as the tree says.
 *
 * Invariants: after cxx_print_fail() nothing more counts. Steps and depth are counted by
 * cxx_print_node(), through which everything goes.
 *
 * Threads, memory: as demangle_cxx_tree.
 */
#ifndef STALLSYM_SYMBOLIZER_DEMANGLE_CXX_PRINTER_H
#define STALLSYM_SYMBOLIZER_DEMANGLE_CXX_PRINTER_H

#include <string.h>

#include "symbolizer/demangle_cxx_tree.h"

/* DESIGN. C++ writes a type around its name: what points to a function stands inside, its result
 * before it, its parameters behind. So a type that is met on the way down (pointer, const, function,
 * array) waits in a list, nearest first, until the type below it is printed; that one takes from the
 * list what has to stand in its middle, and what nobody took is printed behind.
 *
 * A template parameter is looked up when it is printed, in the template whose signature is being
 * printed (the scopes): the arguments themselves are printed in the scope around that one. */

struct cxx_waiting {
    struct cxx_waiting *next;
    const struct cxx_node *node;
    const struct cxx_scope *scope;
    bool printed;
};

struct cxx_scope {
    const struct cxx_scope *next;
    const struct cxx_node *template;
};

struct cxx_printer {
    const struct cxx_node *nodes;
    struct demangle_out *out;
    struct cxx_waiting *waiting;
    const struct cxx_scope *scope;
    const struct cxx_node *template; /* whose name is being printed */
    char last;                       /* character printed */
    bool failed;
    bool in_lambda;
    bool disturbed;     /* in one inside something that waits: the runtime mixes the two */
    uint16_t collapsed; /* inside arguments that references were joined with */
    uint16_t pack_index;
    uint32_t depth, steps;
};

void cxx_print_node(struct cxx_printer *p, uint16_t i);

/* What was not printed of a list; what belongs to `this` only behind the parameters. */
void cxx_print_waiting(struct cxx_printer *p, struct cxx_waiting *w, bool behind);
void cxx_print_one_waiting(struct cxx_printer *p, const struct cxx_node *n);
/* `inner`, around which `n` stands. */
void cxx_print_around(struct cxx_printer *p, const struct cxx_node *n, uint16_t inner);
void cxx_print_function(struct cxx_printer *p, const struct cxx_node *n);
void cxx_print_array(struct cxx_printer *p, const struct cxx_node *n);
void cxx_print_reference(struct cxx_printer *p, const struct cxx_node *n);
void cxx_print_qualifier(struct cxx_printer *p, const struct cxx_node *n);

/* What a parameter stands for; of a pack the element that is being printed. NULL: nothing. */
const struct cxx_node *cxx_parameter_element(const struct cxx_printer *p, const struct cxx_node *n);
void cxx_print_param(struct cxx_printer *p, const struct cxx_node *n);
void cxx_print_pack(struct cxx_printer *p, const struct cxx_node *n);
void cxx_print_pack_length(struct cxx_printer *p, const struct cxx_node *n);

static inline const struct cxx_node *cxx_at(const struct cxx_printer *p, uint16_t i)
{
    return &p->nodes[i];
}

static inline void cxx_put(struct cxx_printer *p, const char *s, size_t n)
{
    if (n == 0)
        return;
    p->last = s[n - 1];
    if (p->out->data)
        demangle_put(p->out, s, n);
    else
        p->out->len += n; /* only counted */
}

static inline void cxx_puts(struct cxx_printer *p, const char *s)
{
    cxx_put(p, s, strlen(s));
}

void cxx_put_number(struct cxx_printer *p, uint32_t v);

static inline void cxx_put_text(struct cxx_printer *p, const struct cxx_node *n)
{
    cxx_put(p, n->text, n->number);
}

static inline void cxx_print_fail(struct cxx_printer *p)
{
    p->failed = true;
}

#endif
