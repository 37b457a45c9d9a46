#include "symbolizer/demangle_cxx_parser.h"

static bool is_ctor_dtor_conversion(struct cxx_parser *s, uint16_t i)
{
    while (cxx_kind_of(s, i) == CXX_QUALIFIED || cxx_kind_of(s, i) == CXX_LOCAL)
        i = cxx_node(s, i)->right;
    enum cxx_kind kind = cxx_kind_of(s, i);
    return kind == CXX_CTOR || kind == CXX_DTOR || kind == CXX_CONVERSION;
}

/* Only templates' names say what they return. */
static bool has_result(struct cxx_parser *s, uint16_t i)
{
    for (;;) {
        const struct cxx_node *n = cxx_node(s, i);
        if (n->kind == CXX_LOCAL)
            i = n->right;
        else if (cxx_is_of_this(n))
            i = n->left;
        else
            return n->kind == CXX_TEMPLATE && !is_ctor_dtor_conversion(s, n->left);
    }
}

/* "h16_", "v16_n24_": how far a thunk moves `this`. */
static bool skip_call_offset(struct cxx_parser *s)
{
    uint32_t v;
    bool is_virtual = *s->p == 'v';
    if (!cxx_take(s, 'h') && !cxx_take(s, 'v'))
        return false;
    cxx_take(s, 'n');
    if (!cxx_take_number(s, &v) || !cxx_take(s, '_'))
        return false;
    if (!is_virtual)
        return true;
    cxx_take(s, 'n');
    return cxx_take_number(s, &v) && cxx_take(s, '_');
}

static uint16_t make_special(struct cxx_parser *s, const char *text, uint16_t of)
{
    uint16_t i = of ? cxx_make_text(s, CXX_SPECIAL, text, strlen(text)) : 0;
    if (i)
        cxx_set_left(s, i, of);
    return i;
}

/* "9GrTexture": of a class inside another one's object; the C is read. */
static uint16_t parse_construction(struct cxx_parser *s)
{
    uint32_t offset;
    uint16_t whole = cxx_parse_type(s);
    if (!whole || !cxx_take_number(s, &offset) || !cxx_take(s, '_'))
        return 0;
    uint16_t part = cxx_parse_type(s);
    uint16_t both = part ? cxx_make(s, CXX_CONSTRUCTION, part, whole) : 0;
    return make_special(s, "construction vtable for ", both);
}

/* The T is read. */
static uint16_t parse_special(struct cxx_parser *s)
{
    char c = *s->p;
    if (c == 'h' || c == 'v') {
        if (!skip_call_offset(s))
            return 0;
        return make_special(s, c == 'h' ? "non-virtual thunk to " : "virtual thunk to ",
                            cxx_parse_encoding(s, false));
    }
    s->p += c != 0;
    switch (c) {
    case 'V':
        return make_special(s, "vtable for ", cxx_parse_type(s));
    case 'T':
        return make_special(s, "VTT for ", cxx_parse_type(s));
    case 'I':
        return make_special(s, "typeinfo for ", cxx_parse_type(s));
    case 'S':
        return make_special(s, "typeinfo name for ", cxx_parse_type(s));
    case 'C':
        return parse_construction(s);
    case 'c':
        for (int offsets = 0; offsets < 2; offsets++) {
            if (!skip_call_offset(s))
                return 0;
        }
        return make_special(s, "covariant return thunk to ", cxx_parse_encoding(s, false));
    case 'W':
        return make_special(s, "TLS wrapper function for ", cxx_parse_name(s));
    case 'H':
        return make_special(s, "TLS init function for ", cxx_parse_name(s));
    default:
        return 0;
    }
}

/* The G is read. */
static uint16_t parse_guard(struct cxx_parser *s)
{
    if (cxx_take(s, 'V'))
        return make_special(s, "guard variable for ", cxx_parse_name(s));
    if (!cxx_take(s, 'T'))
        return 0;
    /* Transactional memory: every function of libstdc++ that may be called in one. */
    if (cxx_take(s, 'n'))
        return make_special(s, "non-transaction clone for ", cxx_parse_encoding(s, false));
    return cxx_take(s, 't')
               ? make_special(s, "transaction clone for ", cxx_parse_encoding(s, false))
               : 0;
}

uint16_t cxx_parse_encoding(struct cxx_parser *s, bool outermost)
{
    if (cxx_take(s, 'T'))
        return parse_special(s);
    if (cxx_take(s, 'G'))
        return parse_guard(s);
    uint16_t name = cxx_parse_name(s);
    if (!name || *s->p == 0 || *s->p == 'E')
        return name;
    uint16_t type = cxx_parse_signature(s, has_result(s, name));
    if (!type)
        return 0;
    if (!cxx_skip_constraint(s))
        return 0;
    if (!outermost && cxx_kind_of(s, name) == CXX_LOCAL)
        cxx_node(s, type)->left = 0;
    return cxx_make(s, CXX_TYPED, name, type);
}

/* ".cold.1", ".isra.0.constprop.2": what optimizers leave of a function. */
static uint16_t parse_clone(struct cxx_parser *s, uint16_t function)
{
    const char *text = s->p;
    if (cxx_is_lower(s->p[1]) || cxx_is_digit(s->p[1]) || s->p[1] == '_') {
        s->p++;
        while (cxx_is_lower(*s->p) || cxx_is_digit(*s->p) || *s->p == '_')
            s->p++;
    }
    while (s->p[0] == '.' && cxx_is_digit(s->p[1])) {
        s->p++;
        while (cxx_is_digit(*s->p))
            s->p++;
    }
    uint16_t suffix = s->p > text ? cxx_make_text(s, CXX_NAME, text, (size_t)(s->p - text)) : 0;
    return suffix ? cxx_make(s, CXX_CLONE, function, suffix) : 0;
}

bool cxx_parse(const char *name, struct cxx_tree *ret)
{
    struct cxx_parser s;
    s.p = name + 2;
    s.end = s.p + strlen(s.p);
    s.t = ret;
    s.sub_count = 0;
    s.last_name = 0;
    s.depth = 0;
    s.in_conversion = false;
    ret->nodes[0] = (struct cxx_node){0};
    ret->count = 1;
    ret->root = cxx_parse_encoding(&s, true);
    while (ret->root && *s.p == '.')
        ret->root = parse_clone(&s, ret->root);
    return ret->root != 0 && *s.p == 0;
}
