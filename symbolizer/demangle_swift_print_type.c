#include <string.h>

#include "symbolizer/demangle_swift_print.h"

/* --- what a type looks like ----------------------------------------------------------------------- */

/* Whether a type can have '?' or '.Type' behind it as it is. */
static bool is_simple(const struct swift_node *type)
{
    while (swift_node_is(type, SK_Type))
        type = swift_node_child(type, 0);
    const struct swift_node *list = swift_node_child(type, 0);
    if (swift_node_is(type, SK_ProtocolList))
        return swift_node_count(list) <= 1;
    if (swift_node_is(type, SK_ProtocolListWithAnyObject))
        return swift_node_count(swift_node_child(list, 0)) == 0;
    return swift_node_in(type, SC_SIMPLE);
}

static void print_in_parens(struct swift_printer *p, const struct swift_node *type, unsigned depth)
{
    bool simple = is_simple(type);
    if (!simple)
        swift_puts(p, "(");
    swift_print(p, type, depth + 1);
    if (!simple)
        swift_puts(p, ")");
}

/* Whether a blank goes between a name or signature and the type. */
bool swift_needs_space(const struct swift_node *type)
{
    while (swift_node_is(type, SK_Type))
        type = swift_node_child(type, 0);
    return !swift_node_is(type, SK_FunctionType) && !swift_node_is(type, SK_NoEscapeFunctionType) &&
           !swift_node_is(type, SK_UncurriedFunctionType) &&
           !swift_node_is(type, SK_DependentGenericType);
}

/* --- generic types --------------------------------------------------------------------------------- */

/* Whether `n` is the standard library's NAME with that number of arguments. */
static bool is_standard(const struct swift_node *n, enum swift_kind kind, const char *name,
                        size_t args)
{
    if (!swift_node_is(n, kind) || swift_node_count(swift_node_child(n, 1)) != args)
        return false;
    const struct swift_node *unbound = swift_node_child(swift_node_child(n, 0), 0);
    return swift_node_says(swift_node_child(unbound, 1), SK_Identifier, name) &&
           swift_node_says(swift_node_child(unbound, 0), SK_Module, "Swift");
}

static bool print_sugar(struct swift_printer *p, const struct swift_node *n, unsigned depth)
{
    const struct swift_node *args = swift_node_child(n, 1);
    bool optional = is_standard(n, SK_BoundGenericEnum, "Optional", 1);
    if (optional || is_standard(n, SK_BoundGenericEnum, "ImplicitlyUnwrappedOptional", 1)) {
        print_in_parens(p, swift_node_child(args, 0), depth);
        swift_puts(p, optional ? "?" : "!");
        return true;
    }
    bool dictionary = is_standard(n, SK_BoundGenericStructure, "Dictionary", 2);
    if (!dictionary && !is_standard(n, SK_BoundGenericStructure, "Array", 1))
        return false;
    swift_puts(p, "[");
    swift_print_children(p, args, depth, " : ");
    swift_puts(p, "]");
    return true;
}

SWIFT_PRINTER(swift_print_bound_generic)
{
    size_t count = swift_node_count(n);
    const struct swift_node *args = swift_node_child(n, 1);
    if (count < 2)
        return NULL;
    if (p->key)
        return swift_print_as(p, swift_node_child(n, 0), depth + 1, prefix);
    if (count == 2 && p->sugar && n->kind == SK_BoundGenericProtocol) {
        swift_print_children(p, args, depth, "");
        swift_puts(p, " as ");
        swift_print_child(p, n, 0, depth);
        return NULL;
    }
    if (count == 2 && p->sugar && print_sugar(p, n, depth))
        return NULL;
    swift_print_child(p, n, 0, depth);
    swift_puts(p, "<");
    swift_print_children(p, args, depth, ", ");
    swift_puts(p, ">");
    return NULL;
}

SWIFT_PRINTER(swift_print_generic_type)
{
    (void)prefix;
    if (!p->key) {
        swift_print_child(p, n, 0, depth);
        if (swift_needs_space(swift_node_child(n, 1)))
            swift_puts(p, " ");
    }
    swift_print_child(p, n, 1, depth);
    return NULL;
}

static void put_param_name(struct swift_printer *p, int64_t depth, int64_t index)
{
    do {
        char c = (char)('A' + index % 26);
        swift_put(p, &c, 1);
        index /= 26;
    } while (index);
    if (depth)
        swift_put_int(p, depth);
}

SWIFT_PRINTER(swift_print_generic_param)
{
    (void)depth;
    (void)prefix;
    put_param_name(p, swift_node_get_index(swift_node_child(n, 0)),
                   swift_node_get_index(swift_node_child(n, 1)));
    return NULL;
}

SWIFT_PRINTER(swift_print_assoc_type_ref)
{
    (void)prefix;
    if (swift_node_count(n) > 1) {
        swift_print_child(p, n, 1, depth);
        swift_puts(p, ".");
    }
    swift_print_child(p, n, 0, depth);
    return NULL;
}

/* --- signatures -------------------------------------------------------------------------------------- */

/* More parameters than that are in no real name. */
#define PARAMS_SHOWN 128

/* Whether one of the markers [from, to) speaks of that parameter. Apple's tool takes depth for index
 * here and index for depth; so do we, for the same text. */
static bool is_marked(const struct swift_node *n, size_t from, size_t to, enum swift_kind kind,
                      int64_t depth, int64_t index)
{
    for (size_t i = from; i < to; i++) {
        const struct swift_node *marker = swift_node_child(n, i);
        const struct swift_node *param = swift_node_child(swift_node_child(marker, 0), 0);
        if (marker->kind == kind && swift_node_is(param, SK_DependentGenericParamType) &&
            swift_node_get_index(swift_node_child(param, 0)) == index &&
            swift_node_get_index(swift_node_child(param, 1)) == depth)
            return true;
    }
    return false;
}

static void print_params(struct swift_printer *p, const struct swift_node *n, size_t counts,
                         size_t markers)
{
    for (size_t depth = 0; depth < counts && !p->cut; depth++) {
        if (depth)
            swift_puts(p, "><");
        int64_t count = swift_node_get_index(swift_node_child(n, depth));
        for (int64_t index = 0; index < count; index++) {
            if (index)
                swift_puts(p, ", ");
            if (index >= PARAMS_SHOWN) {
                swift_puts(p, "...");
                break;
            }
            if (is_marked(n, counts, markers, SK_DependentGenericParamPackMarker, (int64_t)depth,
                          index))
                swift_puts(p, "each ");
            if (is_marked(n, counts, markers, SK_DependentGenericParamValueMarker, (int64_t)depth,
                          index))
                swift_puts(p, "let ");
            put_param_name(p, (int64_t)depth, index);
        }
    }
}

SWIFT_PRINTER(swift_print_signature)
{
    (void)prefix;
    size_t count = swift_node_count(n);
    size_t params = 0;
    while (swift_node_is(swift_node_child(n, params), SK_DependentGenericParamCount))
        params++;
    size_t first = params;
    while (swift_node_is(swift_node_child(n, first), SK_DependentGenericParamPackMarker) ||
           swift_node_is(swift_node_child(n, first), SK_DependentGenericParamValueMarker))
        first++;
    if (p->key)
        return NULL;
    swift_puts(p, "<");
    print_params(p, n, params, first);
    if (first < count && p->where) {
        swift_puts(p, " where ");
        for (size_t i = first; i < count; i++) {
            if (i > first)
                swift_puts(p, ", ");
            swift_print_child(p, n, i, depth);
        }
    }
    swift_puts(p, ">");
    return NULL;
}

SWIFT_PRINTER(swift_print_inverse_requirement)
{
    (void)prefix;
    int64_t bit = swift_node_get_index(swift_node_child(n, 1));
    swift_print_child(p, n, 0, depth);
    swift_puts(p, ": ~Swift.");
    if (bit == 0) {
        swift_puts(p, "Copyable");
    } else if (bit == 1) {
        swift_puts(p, "Escapable");
    } else {
        swift_puts(p, "<bit ");
        swift_put_int(p, bit);
        swift_puts(p, ">");
    }
    return NULL;
}

static const char *layout_name(char c)
{
    switch (c) {
    case 'U':
        return "_UnknownLayout";
    case 'R':
        return "_RefCountedObject";
    case 'N':
        return "_NativeRefCountedObject";
    case 'C':
        return "AnyObject";
    case 'D':
        return "_NativeClass";
    case 'T':
    case 'E':
    case 'e':
        return "_Trivial";
    case 'M':
    case 'm':
        return "_TrivialAtMost";
    default:
        return "";
    }
}

SWIFT_PRINTER(swift_print_layout_requirement)
{
    (void)prefix;
    struct swift_text layout = swift_node_get_text(swift_node_child(n, 1));
    swift_print_child(p, n, 0, depth);
    swift_puts(p, ": ");
    swift_puts(p, layout_name(layout.len ? layout.s[0] : 0));
    if (swift_node_count(n) <= 2)
        return NULL;
    swift_puts(p, "(");
    swift_print_child(p, n, 2, depth);
    if (swift_node_count(n) > 3) {
        swift_puts(p, ", ");
        swift_print_child(p, n, 3, depth);
    }
    swift_puts(p, ")");
    return NULL;
}

/* --- tuples, metatypes, protocols, boxes ---------------------------------------------------------------- */

SWIFT_PRINTER(swift_print_tuple_element)
{
    (void)prefix;
    const struct swift_node *label = swift_node_find(n, SK_TupleElementName);
    if (label) {
        swift_put_text(p, swift_node_get_text(label));
        swift_puts(p, ": ");
    }
    swift_print(p, swift_node_find(n, SK_Type), depth + 1);
    if (swift_node_find(n, SK_VariadicMarker))
        swift_puts(p, "...");
    return NULL;
}

/* "@thin " and the like before a metatype; the index of what comes next. */
static size_t print_representation(struct swift_printer *p, const struct swift_node *n,
                                   unsigned depth)
{
    if (swift_node_count(n) != 2)
        return 0;
    swift_print_child(p, n, 0, depth);
    swift_puts(p, " ");
    return 1;
}

SWIFT_PRINTER(swift_print_metatype)
{
    (void)prefix;
    size_t at = print_representation(p, n, depth);
    const struct swift_node *type = swift_node_child(swift_node_child(n, at), 0);
    print_in_parens(p, type, depth);
    bool existential = swift_node_is(type, SK_ExistentialMetatype) ||
                       swift_node_is(type, SK_ProtocolList) ||
                       swift_node_is(type, SK_ProtocolListWithClass) ||
                       swift_node_is(type, SK_ProtocolListWithAnyObject);
    swift_puts(p, existential ? ".Protocol" : ".Type");
    return NULL;
}

SWIFT_PRINTER(swift_print_existential_metatype)
{
    (void)prefix;
    size_t at = print_representation(p, n, depth);
    swift_print_child(p, n, at, depth);
    swift_puts(p, ".Type");
    return NULL;
}

SWIFT_PRINTER(swift_print_protocol_list)
{
    (void)prefix;
    const struct swift_node *types = swift_node_child(n, 0);
    if (types && !swift_node_count(types))
        swift_puts(p, "Any");
    else
        swift_print_children(p, types, depth, " & ");
    return NULL;
}

/* Protocols with a superclass before them or AnyObject behind. */
SWIFT_PRINTER(swift_print_protocol_list_with)
{
    (void)prefix;
    const struct swift_node *types = swift_node_child(swift_node_child(n, 0), 0);
    if (n->kind == SK_ProtocolListWithClass) {
        if (swift_node_count(n) < 2)
            return NULL;
        swift_print_child(p, n, 1, depth);
        swift_puts(p, " & ");
        swift_print_children(p, types, depth, " & ");
        return NULL;
    }
    if (swift_node_count(types)) {
        swift_print_children(p, types, depth, " & ");
        swift_puts(p, " & ");
    }
    swift_puts(p, "Swift.AnyObject");
    return NULL;
}

SWIFT_PRINTER(swift_print_box)
{
    (void)prefix;
    bool generic = swift_node_count(n) == 3;
    if (generic) {
        swift_print_child(p, n, 1, depth);
        swift_puts(p, " ");
    }
    swift_print_child(p, n, 0, depth);
    if (generic) {
        swift_puts(p, " <");
        swift_print_children(p, swift_node_child(n, 2), depth, ", ");
        swift_puts(p, ">");
    }
    return NULL;
}

SWIFT_PRINTER(swift_print_box_layout)
{
    (void)prefix;
    swift_puts(p, swift_node_count(n) ? "{ " : "{");
    swift_print_children(p, n, depth, ", ");
    swift_puts(p, " }");
    return NULL;
}

SWIFT_PRINTER(swift_print_sugared_optional)
{
    (void)prefix;
    print_in_parens(p, swift_node_child(n, 0), depth);
    swift_puts(p, "?");
    return NULL;
}

/* Without its requirements a shape says nothing, so they are printed in every form. */
SWIFT_PRINTER(swift_print_existential_shape)
{
    (void)prefix;
    bool where = p->where;
    bool generic = swift_node_count(n) == 2;
    p->where = true;
    swift_puts(p, "existential shape for ");
    if (generic) {
        swift_print_child(p, n, 0, depth);
        swift_puts(p, " ");
    }
    swift_puts(p, "any ");
    swift_print_child(p, n, generic ? 1 : 0, depth);
    p->where = where;
    return NULL;
}

/* A symbol that is a type. Labels are those of a function type. */
SWIFT_PRINTER(swift_print_type_mangling)
{
    (void)prefix;
    const struct swift_node *first = swift_node_child(n, 0);
    if (swift_node_is(first, SK_LabelList))
        swift_print_function_type(p, first, swift_node_child(swift_node_child(n, 1), 0), depth);
    else
        swift_print(p, first, depth + 1);
    return NULL;
}
