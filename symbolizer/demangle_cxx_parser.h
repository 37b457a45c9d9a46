/*
 * demangle_cxx_parser - what the readers of C++ names share.
 *
 * Purpose: demangle_cxx_name (names), demangle_cxx_type (types and template arguments),
 * demangle_cxx_expression and demangle_cxx_parse (what a name is the name of) call each other as the grammar does.
 *
 * Invariants: productions answer a node, 0 when the name is not one of ours; then the whole is given
 * up. The text ends in a NUL, which no production steps over.
 *
 * Threads, memory: as demangle_cxx_tree.
 */
#ifndef STALLSYM_SYMBOLIZER_DEMANGLE_CXX_PARSER_H
#define STALLSYM_SYMBOLIZER_DEMANGLE_CXX_PARSER_H

#include <stddef.h>
#include <string.h>

#include "symbolizer/demangle_cxx_tree.h"

/* One name at work. */
struct cxx_parser {
    const char *p;
    const char *end; /* the NUL */
    struct cxx_tree *t;
    uint16_t subs[CXX_SUBS_MAX];
    uint16_t sub_count;
    uint16_t last_name; /* what a constructor repeats */
    uint16_t depth;
    bool in_conversion;
};

uint16_t cxx_parse_name(struct cxx_parser *s);
uint16_t cxx_parse_source_name(struct cxx_parser *s);
uint16_t cxx_parse_unqualified(struct cxx_parser *s);
uint16_t cxx_parse_operator(struct cxx_parser *s);
/* The S is read. */
uint16_t cxx_parse_substitution(struct cxx_parser *s, bool is_prefix);
/* The T is read. */
uint16_t cxx_parse_template_param(struct cxx_parser *s);
/* "<args>" behind a name, where they are; `is_new`: the name is a substitution from now on. */
uint16_t cxx_parse_arguments_of(struct cxx_parser *s, uint16_t name, bool is_new);

uint16_t cxx_parse_type(struct cxx_parser *s);
uint16_t cxx_parse_template_args(struct cxx_parser *s);
uint16_t cxx_parse_expression(struct cxx_parser *s);
/* "Q…" behind parameters: what they have to fulfil. Read where it is, and not shown. */
bool cxx_skip_constraint(struct cxx_parser *s);
/* The L is read. */
uint16_t cxx_parse_literal(struct cxx_parser *s);
uint16_t cxx_parse_params(struct cxx_parser *s);
/* A function's type without its F: result where it has one, parameters. */
uint16_t cxx_parse_signature(struct cxx_parser *s, bool has_result);
/* r, V, K: at most three, outermost first; how many. */
size_t cxx_take_qualifiers(struct cxx_parser *s, uint8_t kinds[3]);
/* Turns them into those of member functions. */
void cxx_bind_to_this(uint8_t *kinds, size_t count);
/* Puts them around `inner`. */
uint16_t cxx_qualify(struct cxx_parser *s, const uint8_t *kinds, size_t count, uint16_t inner);

/* Of a function: `outermost` keeps the result of what else would lose it. */
uint16_t cxx_parse_encoding(struct cxx_parser *s, bool outermost);

static inline struct cxx_node *cxx_node(struct cxx_parser *s, uint16_t i)
{
    return &s->t->nodes[i];
}

static inline enum cxx_kind cxx_kind_of(struct cxx_parser *s, uint16_t i)
{
    return (enum cxx_kind)s->t->nodes[i].kind;
}

static inline uint16_t cxx_make(struct cxx_parser *s, enum cxx_kind kind, uint16_t left,
                                uint16_t right)
{
    if (s->t->count == CXX_NODES_MAX)
        return 0;
    struct cxx_node *n = &s->t->nodes[s->t->count];
    n->kind = (uint8_t)kind;
    n->code = 0;
    n->left = left;
    n->right = right;
    n->number = 0;
    n->text = NULL;
    return s->t->count++;
}

/* Of a node without one so far. */
static inline void cxx_set_left(struct cxx_parser *s, uint16_t i, uint16_t left)
{
    cxx_node(s, i)->left = left;
}

/* Of one operand, which has to be there. */
static inline uint16_t cxx_make_over(struct cxx_parser *s, enum cxx_kind kind, uint16_t left)
{
    return left ? cxx_make(s, kind, left, 0) : 0;
}

static inline uint16_t cxx_make_text(struct cxx_parser *s, enum cxx_kind kind, const char *text,
                                     size_t length)
{
    uint16_t i = length <= UINT16_MAX ? cxx_make(s, kind, 0, 0) : 0;
    if (i) {
        cxx_node(s, i)->text = text;
        cxx_node(s, i)->number = (uint16_t)length;
    }
    return i;
}

static inline uint16_t cxx_make_number(struct cxx_parser *s, enum cxx_kind kind, uint16_t left,
                                       uint32_t number)
{
    uint16_t i = number < UINT16_MAX ? cxx_make(s, kind, left, 0) : 0;
    if (i)
        cxx_node(s, i)->number = (uint16_t)number;
    return i;
}

/* A list grows by its node `item`, behind `at` (0: it begins). */
static inline void cxx_append(struct cxx_parser *s, uint16_t *first, uint16_t *at, uint16_t item)
{
    if (*at == 0)
        *first = item;
    else
        cxx_node(s, *at)->right = item;
    *at = item;
}

static inline uint16_t cxx_remember(struct cxx_parser *s, uint16_t i)
{
    if (i == 0 || s->sub_count == CXX_SUBS_MAX)
        return 0;
    s->subs[s->sub_count++] = i;
    return i;
}

static inline bool cxx_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static inline bool cxx_is_lower(char c)
{
    return c >= 'a' && c <= 'z';
}

static inline bool cxx_is_upper(char c)
{
    return c >= 'A' && c <= 'Z';
}

static inline bool cxx_take(struct cxx_parser *s, char c)
{
    if (*s->p != c)
        return false;
    s->p++;
    return true;
}

static inline bool cxx_take_number(struct cxx_parser *s, uint32_t *ret)
{
    uint32_t v = 0;
    if (!cxx_is_digit(*s->p))
        return false;
    for (; cxx_is_digit(*s->p); s->p++) {
        v = v * 10 + (uint32_t)(*s->p - '0');
        if (v > UINT16_MAX)
            return false;
    }
    *ret = v;
    return true;
}

/* "_" is 0, "0_" is 1. */
static inline bool cxx_take_index(struct cxx_parser *s, uint32_t *ret)
{
    uint32_t v = 0;
    if (cxx_take(s, '_')) {
        *ret = 0;
        return true;
    }
    if (!cxx_take_number(s, &v) || !cxx_take(s, '_'))
        return false;
    *ret = v + 1;
    return true;
}

/* "_3" or "__12_" behind a local name. */
static inline bool cxx_skip_discriminator(struct cxx_parser *s)
{
    uint32_t v;
    if (!cxx_take(s, '_'))
        return true;
    if (!cxx_take(s, '_'))
        return cxx_take_number(s, &v);
    return cxx_take_number(s, &v) && v >= 10 && cxx_take(s, '_');
}

#endif
