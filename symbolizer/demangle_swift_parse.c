#include "symbolizer/demangle_swift_parse.h"

#include <string.h>

/* --- reading ------------------------------------------------------------------------------- */

bool swift_accept_str(struct swift_parser *p, const char *s)
{
    size_t n = strlen(s);
    if (p->len - p->pos < n || memcmp(p->text + p->pos, s, n) != 0)
        return false;
    p->pos += n;
    return true;
}

int swift_letter(const char *s, char c)
{
    const char *at = c ? strchr(s, c) : NULL;
    return at ? (int)(at - s) : -1;
}

int swift_natural(struct swift_parser *p)
{
    int64_t n = 0;
    size_t start = p->pos;
    for (char c = swift_peek(p); c >= '0' && c <= '9'; c = swift_peek(p)) {
        n = n * 10 + (c - '0');
        if (n > INT32_MAX)
            return -1000;
        p->pos++;
    }
    return p->pos > start ? (int)n : -1000;
}

int swift_index(struct swift_parser *p)
{
    if (swift_accept(p, '_'))
        return 0;
    int n = swift_natural(p);
    return n >= 0 && n < INT32_MAX && swift_accept(p, '_') ? n + 1 : -1000;
}

struct swift_node *swift_index_node(struct swift_parser *p)
{
    int index = swift_index(p);
    return index >= 0 ? swift_node_index(p->arena, SK_Number, index) : NULL;
}

/* --- the stack ------------------------------------------------------------------------------ */

bool swift_nodes_push(struct swift_parser *p, struct swift_nodes *nodes, struct swift_node *n)
{
    if (!n)
        return false;
    if (nodes->count == nodes->capacity) {
        size_t capacity = nodes->capacity ? nodes->capacity * 2 : 16;
        struct swift_node **list = NULL;
        if (capacity <= SWIFT_STACK_LIMIT)
            list = swift_arena_alloc(p->arena, capacity * sizeof(*list));
        if (!list) {
            p->arena->full = true;
            return false;
        }
        if (nodes->count)
            memcpy(list, nodes->list, nodes->count * sizeof(*list));
        nodes->list = list;
        nodes->capacity = capacity;
    }
    nodes->list[nodes->count++] = n;
    return true;
}

struct swift_node *swift_pop_any(struct swift_parser *p)
{
    return p->stack.count ? p->stack.list[--p->stack.count] : NULL;
}

struct swift_node *swift_pop(struct swift_parser *p, enum swift_kind kind)
{
    if (!p->stack.count || p->stack.list[p->stack.count - 1]->kind != kind)
        return NULL;
    return p->stack.list[--p->stack.count];
}

struct swift_node *swift_pop_class(struct swift_parser *p, unsigned classes)
{
    if (!p->stack.count || !swift_node_in(p->stack.list[p->stack.count - 1], classes))
        return NULL;
    return p->stack.list[--p->stack.count];
}

void swift_substitution(struct swift_parser *p, struct swift_node *n)
{
    if (n)
        swift_nodes_push(p, &p->substitutions, n);
}

struct swift_node *swift_type(struct swift_parser *p, struct swift_node *child)
{
    return swift_node1(p->arena, SK_Type, child);
}

struct swift_node *swift_pop_type(struct swift_parser *p)
{
    return swift_pop(p, SK_Type);
}

struct swift_node *swift_over_type(struct swift_parser *p, enum swift_kind kind)
{
    return swift_node1(p->arena, kind, swift_pop_type(p));
}

struct swift_node *swift_pop_type_child(struct swift_parser *p)
{
    return swift_node_child(swift_pop_type(p), 0);
}

struct swift_node *swift_pop_module(struct swift_parser *p)
{
    struct swift_node *name = swift_pop(p, SK_Identifier);
    if (name)
        return swift_node_as(p->arena, name, SK_Module);
    return swift_pop(p, SK_Module);
}

struct swift_node *swift_pop_context(struct swift_parser *p)
{
    struct swift_node *n = swift_pop_module(p);
    if (n)
        return n;
    n = swift_pop_type(p);
    if (!n)
        return swift_pop_class(p, SC_CONTEXT);
    struct swift_node *child = swift_node_child(n, 0);
    return swift_node_in(child, SC_CONTEXT) ? child : NULL;
}

struct swift_node *swift_pop_entity(struct swift_parser *p)
{
    struct swift_node *n = swift_pop_type(p);
    return n ? n : swift_pop_class(p, SC_CONTEXT);
}

struct swift_node *swift_pop_signature(struct swift_parser *p)
{
    return swift_pop(p, SK_DependentGenericSignature);
}

struct swift_node *swift_pop_list(struct swift_parser *p, struct swift_node *into,
                                  struct swift_node *(*pop)(struct swift_parser *p))
{
    if (swift_pop(p, SK_EmptyList))
        return into;
    size_t from = swift_node_count(into);
    bool first = false;
    while (!first && into) {
        first = swift_pop(p, SK_FirstElementMarker) != NULL;
        into = swift_node_add(p->arena, into, pop(p));
    }
    swift_node_reverse(into, from);
    return into;
}

struct swift_node *swift_pop_type_list(struct swift_parser *p)
{
    return swift_pop_list(p, swift_node(p->arena, SK_TypeList), swift_pop_type);
}

/* --- operators of one letter ----------------------------------------------------------------- */

/* What an operator does when it is no function of its own. */
enum simple_op {
    OP_NONE,
    OP_NOMINAL,    /* a nominal type of that kind */
    OP_MARK,       /* a node without anything */
    OP_OVER_TYPE,  /* kind(type) */
    OP_TYPE_CHILD, /* type(kind(child of type)) */
    OP_TYPE_TYPE   /* type(kind(type)) */
};

static struct swift_node *op_static(struct swift_parser *p)
{
    return swift_node1(p->arena, SK_Static, swift_pop_entity(p));
}

static struct swift_node *op_function_type(struct swift_parser *p)
{
    return swift_pop_function_type(p, SK_FunctionType, false);
}

static struct swift_node *op_signature(struct swift_parser *p)
{
    return swift_generic_signature(p, false);
}

static struct swift_node *op_signature_counts(struct swift_parser *p)
{
    return swift_generic_signature(p, true);
}

static struct swift_node *op_param(struct swift_parser *p)
{
    return swift_type(p, swift_generic_param_index(p));
}

static struct swift_node *op_first_param(struct swift_parser *p)
{
    return swift_type(p, swift_generic_param(p, 0, 0));
}

static struct swift_node *op_stdlib(struct swift_parser *p)
{
    return swift_node_str(p->arena, SK_Module, "Swift");
}

/* Everything from the first '.' on was put there by LLVM. */
static struct swift_node *op_suffix(struct swift_parser *p)
{
    swift_back(p);
    struct swift_text rest = {p->text + p->pos, p->len - p->pos};
    p->pos = p->len;
    return swift_node_text(p->arena, SK_Suffix, rest);
}

struct operator
{
    struct swift_node *(*read)(struct swift_parser * p);
    enum simple_op op;
    enum swift_kind kind;
};

/* clang-format off */
static const struct operator operators[128] = {
    ['A'] = {swift_op_substitution, OP_NONE, SK_COUNT},
    ['B'] = {swift_op_builtin, OP_NONE, SK_COUNT},
    ['C'] = {NULL, OP_NOMINAL, SK_Class},
    ['D'] = {swift_op_type_mangling, OP_NONE, SK_COUNT},
    ['E'] = {swift_op_extension, OP_NONE, SK_COUNT},
    ['F'] = {swift_op_function, OP_NONE, SK_COUNT},
    ['G'] = {swift_op_bound_generic, OP_NONE, SK_COUNT},
    ['H'] = {swift_op_conformance, OP_NONE, SK_COUNT},
    ['I'] = {swift_op_impl_function_type, OP_NONE, SK_COUNT},
    ['K'] = {NULL, OP_MARK, SK_ThrowsAnnotation},
    ['L'] = {swift_op_local_name, OP_NONE, SK_COUNT},
    ['M'] = {swift_op_metadata, OP_NONE, SK_COUNT},
    ['N'] = {NULL, OP_OVER_TYPE, SK_TypeMetadata},
    ['O'] = {NULL, OP_NOMINAL, SK_Enum},
    ['P'] = {NULL, OP_NOMINAL, SK_Protocol},
    ['Q'] = {swift_op_archetype, OP_NONE, SK_COUNT},
    ['R'] = {swift_op_requirement, OP_NONE, SK_COUNT},
    ['S'] = {swift_op_standard_substitution, OP_NONE, SK_COUNT},
    ['T'] = {swift_op_thunk, OP_NONE, SK_COUNT},
    ['V'] = {NULL, OP_NOMINAL, SK_Structure},
    ['W'] = {swift_op_witness, OP_NONE, SK_COUNT},
    ['X'] = {swift_op_special_type, OP_NONE, SK_COUNT},
    ['Y'] = {swift_op_type_annotation, OP_NONE, SK_COUNT},
    ['Z'] = {op_static, OP_NONE, SK_COUNT},
    ['a'] = {NULL, OP_NOMINAL, SK_TypeAlias},
    ['c'] = {op_function_type, OP_NONE, SK_COUNT},
    ['d'] = {NULL, OP_MARK, SK_VariadicMarker},
    ['f'] = {swift_op_function_entity, OP_NONE, SK_COUNT},
    ['g'] = {swift_op_retroactive_conformance, OP_NONE, SK_COUNT},
    ['h'] = {NULL, OP_TYPE_CHILD, SK_Shared},
    ['i'] = {swift_op_subscript, OP_NONE, SK_COUNT},
    ['l'] = {op_signature, OP_NONE, SK_COUNT},
    ['m'] = {NULL, OP_TYPE_TYPE, SK_Metatype},
    ['n'] = {NULL, OP_TYPE_CHILD, SK_Owned},
    ['o'] = {swift_op_operator_name, OP_NONE, SK_COUNT},
    ['p'] = {swift_op_protocol_list, OP_NONE, SK_COUNT},
    ['q'] = {op_param, OP_NONE, SK_COUNT},
    ['r'] = {op_signature_counts, OP_NONE, SK_COUNT},
    ['s'] = {op_stdlib, OP_NONE, SK_COUNT},
    ['t'] = {swift_op_tuple, OP_NONE, SK_COUNT},
    ['u'] = {swift_op_generic_type, OP_NONE, SK_COUNT},
    ['v'] = {swift_op_variable, OP_NONE, SK_COUNT},
    ['w'] = {swift_op_value_witness, OP_NONE, SK_COUNT},
    ['x'] = {op_first_param, OP_NONE, SK_COUNT},
    ['y'] = {NULL, OP_MARK, SK_EmptyList},
    ['z'] = {NULL, OP_TYPE_CHILD, SK_InOut},
    ['_'] = {NULL, OP_MARK, SK_FirstElementMarker},
    ['.'] = {op_suffix, OP_NONE, SK_COUNT},
    ['$'] = {swift_op_integer, OP_NONE, SK_COUNT},
};
/* clang-format on */

/* The next operator's node. Bytes 1 to 12 begin a symbolic reference, an address in a loaded image:
 * there is no image here, so the name cannot be read. 0xFF pads before those. */
static struct swift_node *read_operator(struct swift_parser *p)
{
    unsigned char c = (unsigned char)swift_next(p);
    while (c == 0xFF)
        c = (unsigned char)swift_next(p);
    if (c >= 128)
        return NULL;
    const struct operator* o = & operators[c];
    if (o->read)
        return o->read(p);
    switch (o->op) {
    case OP_NOMINAL:
        return swift_nominal(p, o->kind);
    case OP_MARK:
        return swift_node(p->arena, o->kind);
    case OP_OVER_TYPE:
        return swift_over_type(p, o->kind);
    case OP_TYPE_CHILD:
        return swift_type(p, swift_node1(p->arena, o->kind, swift_pop_type_child(p)));
    case OP_TYPE_TYPE:
        return swift_type(p, swift_over_type(p, o->kind));
    case OP_NONE:
        break;
    }
    swift_back(p);
    return swift_op_identifier(p);
}

/* --- whole symbols ---------------------------------------------------------------------------- */

size_t swift_prefix_length(struct swift_text name)
{
    static const char *const prefixes[] = {"$s", "_$s", "$S",  "_$S",
                                           "$e", "_$e", "_T0", "@__swiftmacro_"};
    for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
        size_t n = strlen(prefixes[i]);
        if (name.len >= n && !memcmp(name.s, prefixes[i], n))
            return n;
    }
    return 0;
}

/* Attributes come last in the name and first in the tree; a partial apply forwarder takes all that
 * follows it as its own. */
static struct swift_node *build_global(struct swift_parser *p)
{
    struct swift_node *global = swift_node(p->arena, SK_Global);
    struct swift_node *suffix = swift_pop(p, SK_Suffix);
    struct swift_node *parent = global;
    struct swift_node *n;
    while ((n = swift_pop_class(p, SC_ATTRIBUTE))) {
        swift_node_add(p->arena, parent, n);
        if (n->kind == SK_PartialApplyForwarder || n->kind == SK_PartialApplyObjCForwarder)
            parent = n;
    }
    for (size_t i = 0; i < p->stack.count; i++) {
        n = p->stack.list[i];
        swift_node_add(p->arena, parent, n->kind == SK_Type ? swift_node_child(n, 0) : n);
    }
    if (suffix)
        swift_node_add(p->arena, global, suffix);
    return swift_node_count(global) ? global : NULL;
}

struct swift_node *swift_parse(struct swift_arena *a, struct swift_text name)
{
    size_t prefix = swift_prefix_length(name);
    if (!prefix)
        return NULL;
    struct swift_parser p;
    memset(&p, 0, offsetof(struct swift_parser, words));
    p.arena = a;
    p.text = name.s;
    p.len = name.len;
    p.pos = prefix;
    p.labels_in_types = name.s[1] == 'T';
    while (p.pos < p.len) {
        if (!swift_nodes_push(&p, &p.stack, read_operator(&p)))
            return NULL;
    }
    struct swift_node *global = build_global(&p);
    return a->full ? NULL : global;
}
