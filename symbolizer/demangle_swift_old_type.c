#include "symbolizer/demangle_swift_old.h"

#include <inttypes.h>
#include <stdio.h>

static struct swift_node *type_of(struct swift_parser *p, struct swift_node *child)
{
    return swift_node1(p->arena, SK_Type, child);
}

/* A node of that kind over the type that follows. */
static struct swift_node *over_type(struct swift_parser *p, enum swift_kind kind)
{
    return swift_node1(p->arena, kind, old_type(p));
}

/* --- builtin types ----------------------------------------------------------------------------- */

/* i, f or p and a size: "Int32", "FPIEEE64", "RawPointer". */
static bool builtin_element(struct swift_parser *p, char *out, size_t size)
{
    if (swift_accept(p, 'p')) {
        snprintf(out, size, "RawPointer");
        return true;
    }
    int i = swift_letter("if", swift_next(p));
    int64_t bits = i < 0 ? -1 : old_natural(p);
    if (bits < 0 || !swift_accept(p, '_'))
        return false;
    snprintf(out, size, "%s%" PRId64, i ? "FPIEEE" : "Int", bits);
    return true;
}

static struct swift_node *builtin_text(struct swift_parser *p, int64_t elements)
{
    char element[32];
    if (!builtin_element(p, element, sizeof(element)))
        return NULL;
    const size_t size = 64;
    char *s = swift_arena_alloc(p->arena, size);
    if (!s)
        return NULL;
    if (elements < 0)
        snprintf(s, size, "Builtin.%s", element);
    else
        snprintf(s, size, "Builtin.Vec%" PRId64 "x%s", elements, element);
    return swift_node_str(p->arena, SK_BuiltinTypeName, s);
}

static struct swift_node *builtin(struct swift_parser *p)
{
    static const char letters[] = "bBOotw";
    static const char *const names[] = {"Builtin.BridgeObject",  "Builtin.UnsafeValueBuffer",
                                        "Builtin.UnknownObject", "Builtin.NativeObject",
                                        "Builtin.SILToken",      "Builtin.Word"};
    int i = swift_letter(letters, swift_peek(p));
    if (i >= 0) {
        p->pos++;
        return swift_node_str(p->arena, SK_BuiltinTypeName, names[i]);
    }
    if (!swift_accept(p, 'v'))
        return builtin_text(p, -1);
    int64_t elements = old_natural(p);
    return elements >= 0 && swift_accept(p, 'B') ? builtin_text(p, elements) : NULL;
}

/* --- generic parameters and associated types ----------------------------------------------------- */

static struct swift_node *generic_param(struct swift_parser *p, int64_t depth, int64_t index)
{
    return swift_node2(p->arena, SK_DependentGenericParamType,
                       swift_node_index(p->arena, SK_Index, depth),
                       swift_node_index(p->arena, SK_Index, index));
}

static struct swift_node *generic_param_index(struct swift_parser *p)
{
    if (swift_accept(p, 'd')) {
        int64_t depth = old_index(p);
        int64_t index = depth < 0 ? -1 : old_index(p);
        return index < 0 ? NULL : generic_param(p, depth + 1, index);
    }
    if (swift_accept(p, 'x'))
        return generic_param(p, 0, 0);
    int64_t index = old_index(p);
    return index < 0 ? NULL : generic_param(p, 0, index + 1);
}

static struct swift_node *member_type(struct swift_parser *p, struct swift_node *base)
{
    struct swift_node *name;
    if (!base)
        return NULL;
    if (swift_accept(p, 'S')) {
        name = old_substitution(p);
        if (!swift_node_is(name, SK_DependentAssociatedTypeRef))
            return NULL;
    } else {
        struct swift_node *protocol = NULL;
        if (swift_accept(p, 'P')) {
            protocol = old_protocol(p);
            if (!protocol)
                return NULL;
        }
        name =
            swift_node1(p->arena, SK_DependentAssociatedTypeRef, old_identifier(p, SK_Identifier));
        if (protocol)
            name = swift_node_add(p->arena, name, protocol);
        swift_substitution(p, name);
    }
    return swift_node2(p->arena, SK_DependentMemberType, base, name);
}

static struct swift_node *assoc_type_simple(struct swift_parser *p)
{
    return member_type(p, type_of(p, generic_param_index(p)));
}

static struct swift_node *assoc_type_compound(struct swift_parser *p)
{
    struct swift_node *base = generic_param_index(p);
    while (base && !swift_accept(p, '_'))
        base = member_type(p, type_of(p, base));
    return base;
}

static struct swift_node *dependent_type(struct swift_parser *p)
{
    if (p->pos >= p->len)
        return NULL;
    char c = swift_peek(p);
    if (c == 'd' || c == '_' || (c >= '0' && c <= '9'))
        return generic_param_index(p);
    return member_type(p, old_type(p));
}

/* Q: Q ARCHETYPE NAME, S NAME, s NAME */
static struct swift_node *archetype(struct swift_parser *p)
{
    struct swift_node *root = NULL;
    if (!old_enter(p))
        return old_leave(p, NULL);
    if (swift_accept(p, 'Q'))
        root = archetype(p);
    else if (swift_accept(p, 'S'))
        root = old_substitution(p);
    else if (swift_accept(p, 's'))
        root = swift_node_str(p->arena, SK_Module, "Swift");
    struct swift_node *name = root ? old_identifier(p, SK_Identifier) : NULL;
    struct swift_node *n = swift_node2(p->arena, SK_AssociatedTypeRef, root, name);
    swift_substitution(p, n);
    return old_leave(p, n);
}

/* --- signatures ------------------------------------------------------------------------------------ */

static struct swift_node *layout_requirement(struct swift_parser *p, struct swift_node *type)
{
    struct swift_text letter = {p->text + p->pos, 1};
    char c = swift_next(p);
    bool sized = swift_letter("EeMmS", c) >= 0;
    if (!sized && swift_letter("URNTB", c) < 0)
        return NULL;
    struct swift_node *n = swift_node2(p->arena, SK_DependentGenericLayoutRequirement, type,
                                       swift_node_text(p->arena, SK_Identifier, letter));
    if (!sized)
        return n;
    int64_t size = old_natural(p);
    if (size < 0)
        return NULL;
    n = swift_node_add(p->arena, n, swift_node_index(p->arena, SK_Number, size));
    if (c != 'E' && c != 'M')
        return n;
    int64_t alignment = swift_accept(p, '_') ? old_natural(p) : -1;
    if (alignment < 0)
        return NULL;
    return swift_node_add(p->arena, n, swift_node_index(p->arena, SK_Number, alignment));
}

/* The class or protocol that a parameter conforms to. A substitution is either of these or the
 * protocol's module. */
static struct swift_node *conformed_to(struct swift_parser *p)
{
    if (swift_peek(p) == 'C')
        return old_type(p);
    if (!swift_accept(p, 'S'))
        return old_protocol(p);
    struct swift_node *n = old_substitution(p);
    if (swift_node_is(n, SK_Module))
        return type_of(p, old_protocol_in(p, n));
    return swift_node_is(n, SK_Protocol) || swift_node_is(n, SK_Class) ? type_of(p, n) : NULL;
}

static struct swift_node *requirement(struct swift_parser *p)
{
    struct swift_node *type;
    if (swift_accept(p, 'w'))
        type = assoc_type_simple(p);
    else if (swift_accept(p, 'W'))
        type = assoc_type_compound(p);
    else
        type = generic_param_index(p);
    type = type_of(p, type);
    if (!type)
        return NULL;
    if (swift_accept(p, 'z'))
        return swift_node2(p->arena, SK_DependentGenericSameTypeRequirement, type, old_type(p));
    if (swift_accept(p, 'l'))
        return layout_requirement(p, type);
    return swift_node2(p->arena, SK_DependentGenericConformanceRequirement, type, conformed_to(p));
}

/* Counts for each depth (none: one parameter), then r, or R REQUIREMENT* r. */
struct swift_node *old_signature(struct swift_parser *p, bool pseudogeneric)
{
    struct swift_node *n = swift_node(p->arena, pseudogeneric ? SK_DependentPseudogenericSignature
                                                              : SK_DependentGenericSignature);
    bool any = false;
    while (n && swift_peek(p) != 'R' && swift_peek(p) != 'r') {
        int64_t count = swift_accept(p, 'z') ? 0 : old_index(p);
        if (count < 0)
            return NULL;
        if (p->text[p->pos - 1] != 'z')
            count++;
        n = swift_node_add(p->arena, n,
                           swift_node_index(p->arena, SK_DependentGenericParamCount, count));
        any = true;
    }
    if (!any)
        n = swift_node_add(p->arena, n,
                           swift_node_index(p->arena, SK_DependentGenericParamCount, 1));
    if (swift_accept(p, 'r'))
        return n;
    if (!swift_accept(p, 'R'))
        return NULL;
    while (n && !swift_accept(p, 'r'))
        n = swift_node_add(p->arena, n, requirement(p));
    return n;
}

/* --- bound generic types ------------------------------------------------------------------------------ */

static struct swift_node *type_list(struct swift_parser *p)
{
    struct swift_node *list = swift_node(p->arena, SK_TypeList);
    while (list && !swift_accept(p, '_')) {
        list = swift_node_add(p->arena, list, old_type(p));
        if (p->pos >= p->len)
            return NULL;
    }
    return list;
}

/* Arguments of the outermost type come first. */
static struct swift_node *bound_args(struct swift_parser *p, struct swift_node *nominal)
{
    if (!old_enter(p) || !swift_node_count(nominal))
        return old_leave(p, NULL);
    struct swift_node *parent = swift_node_child(nominal, 0);
    if (parent->kind != SK_Module && parent->kind != SK_Function && parent->kind != SK_Extension) {
        struct swift_node *n = swift_node1(p->arena, nominal->kind, bound_args(p, parent));
        for (size_t i = 1; i < swift_node_count(nominal); i++)
            n = swift_node_add(p->arena, n, swift_node_child(nominal, i));
        nominal = n;
    }
    struct swift_node *args = nominal ? type_list(p) : NULL;
    if (!args || !swift_node_count(args))
        return old_leave(p, args ? nominal : NULL);
    enum swift_kind kind = nominal->kind == SK_Class       ? SK_BoundGenericClass
                           : nominal->kind == SK_Structure ? SK_BoundGenericStructure
                           : nominal->kind == SK_Enum      ? SK_BoundGenericEnum
                                                           : SK_COUNT;
    if (kind == SK_COUNT)
        return old_leave(p, NULL);
    return old_leave(p, swift_node2(p->arena, kind, type_of(p, nominal), args));
}

struct swift_node *old_bound_generic(struct swift_parser *p)
{
    struct swift_node *nominal = old_nominal(p);
    return nominal ? bound_args(p, nominal) : NULL;
}

/* --- function types -------------------------------------------------------------------------------------- */

static struct swift_node *function_type(struct swift_parser *p, enum swift_kind kind)
{
    struct swift_arena *a = p->arena;
    struct swift_node *f = swift_node(a, kind);
    bool throws = swift_accept(p, 'z');
    bool concurrent = swift_accept(p, 'y');
    bool async = swift_accept(p, 'Z');
    struct swift_node *differentiable = NULL;
    struct swift_node *actor = NULL;
    if (swift_accept(p, 'D')) {
        char c = swift_next(p);
        if (swift_letter("frdl", c) >= 0)
            differentiable = swift_node_index(a, SK_DifferentiableFunctionType, c);
    }
    if (swift_accept(p, 'Y')) {
        actor = over_type(p, SK_GlobalActorFunctionType);
        if (!actor)
            return NULL;
    }
    struct swift_node *arguments = over_type(p, SK_ArgumentTuple);
    struct swift_node *result = arguments ? over_type(p, SK_ReturnType) : NULL;
    if (throws)
        f = swift_node_add(a, f, swift_node(a, SK_ThrowsAnnotation));
    if (async)
        f = swift_node_add(a, f, swift_node(a, SK_AsyncAnnotation));
    if (concurrent)
        f = swift_node_add(a, f, swift_node(a, SK_ConcurrentFunctionType));
    if (differentiable)
        f = swift_node_add(a, f, differentiable);
    if (actor)
        f = swift_node_add(a, f, actor);
    f = swift_node_add(a, f, arguments);
    return swift_node_add(a, f, result);
}

/* Letters of a convention and what they mean for a callee, a parameter and a result. */
struct convention {
    char letter;
    const char *meaning[3];
};

enum { FOR_CALLEE, FOR_PARAMETER, FOR_RESULT };

static const struct convention conventions[] = {
    {'a', {NULL, NULL, "@autoreleased"}},
    {'d', {"@callee_unowned", "@unowned", "@unowned"}},
    {'D', {NULL, NULL, "@unowned_inner_pointer"}},
    {'g', {"@callee_guaranteed", "@guaranteed", NULL}},
    {'e', {NULL, "@deallocating", NULL}},
    {'i', {NULL, "@in", "@out"}},
    {'l', {NULL, "@inout", NULL}},
    {'o', {"@callee_owned", "@owned", "@owned"}},
};

static struct swift_node *convention_node(struct swift_parser *p, int role)
{
    char c = swift_next(p);
    for (size_t i = 0; i < sizeof(conventions) / sizeof(conventions[0]); i++) {
        if (conventions[i].letter == c && conventions[i].meaning[role])
            return swift_node_str(p->arena, SK_ImplConvention, conventions[i].meaning[role]);
    }
    if (c == 't' && role == FOR_CALLEE)
        return swift_node_str(p->arena, SK_ImplConvention, "@convention(thin)");
    return NULL;
}

/* (z? CONVENTION TYPE)* '_'; z is an error, and only among results. */
static struct swift_node *impl_values(struct swift_parser *p, struct swift_node *f, int role)
{
    while (f && !swift_accept(p, '_')) {
        enum swift_kind kind = role == FOR_PARAMETER ? SK_ImplParameter : SK_ImplResult;
        if (swift_accept(p, 'z')) {
            if (role == FOR_PARAMETER)
                return NULL;
            kind = SK_ImplErrorResult;
        }
        struct swift_node *convention = convention_node(p, role);
        struct swift_node *type = convention ? old_type(p) : NULL;
        f = swift_node_add(p->arena, f, swift_node2(p->arena, kind, convention, type));
    }
    return f;
}

static struct swift_node *impl_function_type(struct swift_parser *p)
{
    static const char *const names[] = {"block", "c", "method", "objc_method", "witness_method"};
    struct swift_arena *a = p->arena;
    struct swift_node *f = swift_node1(a, SK_ImplFunctionType, convention_node(p, FOR_CALLEE));
    if (f && swift_accept(p, 'C')) {
        int i = swift_letter("bcmOw", swift_next(p));
        if (i < 0)
            return NULL;
        struct swift_node *name = swift_node_str(a, SK_ImplFunctionConventionName, names[i]);
        f = swift_node_add(a, f, swift_node1(a, SK_ImplFunctionConvention, name));
    }
    if (swift_accept(p, 'h'))
        f = swift_node_add(a, f, swift_node_str(a, SK_ImplFunctionAttribute, "@Sendable"));
    if (swift_accept(p, 'H'))
        f = swift_node_add(a, f, swift_node_str(a, SK_ImplFunctionAttribute, "@async"));
    bool pseudogeneric = swift_peek(p) == 'g';
    if (f && (swift_accept(p, 'G') || swift_accept(p, 'g')))
        f = swift_node_add(a, f, old_signature(p, pseudogeneric));
    if (!f || !swift_accept(p, '_'))
        return NULL;
    f = impl_values(p, f, FOR_PARAMETER);
    return impl_values(p, f, FOR_RESULT);
}

/* --- tuples, boxes, metatypes ------------------------------------------------------------------------------ */

/* (LABEL? TYPE)* '_'; of a variadic tuple the last element is. */
static struct swift_node *tuple(struct swift_parser *p, bool variadic)
{
    struct swift_node *t = swift_node(p->arena, SK_Tuple);
    struct swift_node *element = NULL;
    while (t && !swift_accept(p, '_')) {
        if (p->pos >= p->len)
            return NULL;
        element = swift_node(p->arena, SK_TupleElement);
        char c = swift_peek(p);
        if (c == 'o' || (c >= '0' && c <= '9'))
            element = swift_node_add(p->arena, element, old_identifier(p, SK_TupleElementName));
        element = element ? swift_node_add(p->arena, element, old_type(p)) : NULL;
        t = swift_node_add(p->arena, t, element);
    }
    if (variadic && t && element)
        swift_node_add(p->arena, element, swift_node(p->arena, SK_VariadicMarker));
    return t;
}

static struct swift_node *box_with_layout(struct swift_parser *p)
{
    struct swift_node *signature = NULL;
    if (swift_accept(p, 'G')) {
        signature = old_signature(p, false);
        if (!signature)
            return NULL;
    }
    struct swift_node *layout = swift_node(p->arena, SK_SILBoxLayout);
    while (layout && !swift_accept(p, '_')) {
        int i = swift_letter("mi", swift_next(p));
        if (i < 0)
            return NULL;
        struct swift_node *field =
            over_type(p, i ? SK_SILBoxImmutableField : SK_SILBoxMutableField);
        layout = swift_node_add(p->arena, layout, field);
    }
    if (!signature)
        return swift_node1(p->arena, SK_SILBoxTypeWithLayout, layout);
    struct swift_node *args = swift_node(p->arena, SK_TypeList);
    while (args && !swift_accept(p, '_'))
        args = swift_node_add(p->arena, args, old_type(p));
    return swift_node3(p->arena, SK_SILBoxTypeWithLayout, layout, signature, args);
}

static struct swift_node *protocol_list(struct swift_parser *p)
{
    struct swift_node *types = swift_node(p->arena, SK_TypeList);
    while (types && !swift_accept(p, '_'))
        types = swift_node_add(p->arena, types, old_protocol(p));
    return swift_node1(p->arena, SK_ProtocolList, types);
}

static struct swift_node *metatype(struct swift_parser *p, enum swift_kind kind)
{
    static const char *const names[] = {"@thin", "@thick", "@objc_metatype"};
    int i = swift_letter("tTo", swift_next(p));
    if (i < 0)
        return NULL;
    struct swift_node *representation =
        swift_node_str(p->arena, SK_MetatypeRepresentation, names[i]);
    return swift_node2(p->arena, kind, representation, old_type(p));
}

/* --- types ---------------------------------------------------------------------------------------------------- */

/* After an X. */
static struct swift_node *special_type(struct swift_parser *p)
{
    switch (swift_next(p)) {
    case 'b':
        return over_type(p, SK_SILBoxType);
    case 'B':
        return box_with_layout(p);
    case 'M':
        return metatype(p, SK_Metatype);
    case 'P':
        if (swift_accept(p, 'M'))
            return metatype(p, SK_ExistentialMetatype);
        return protocol_list(p);
    case 'f':
        return function_type(p, SK_ThinFunctionType);
    case 'o':
        return over_type(p, SK_Unowned);
    case 'u':
        return over_type(p, SK_Unmanaged);
    case 'w':
        return over_type(p, SK_Weak);
    case 'F':
        return impl_function_type(p);
    default:
        return NULL;
    }
}

/* After a Q. */
static struct swift_node *opaque_or_archetype(struct swift_parser *p)
{
    if (swift_accept(p, 'u'))
        return swift_node(p->arena, SK_OpaqueReturnType);
    if (swift_accept(p, 'U'))
        return swift_node1(p->arena, SK_OpaqueReturnType,
                           old_index_node(p, SK_OpaqueReturnTypeIndex));
    return archetype(p);
}

static struct swift_node *bare_type(struct swift_parser *p);

/* inout and the like hold the type without a Type around it. */
static struct swift_node *over_bare(struct swift_parser *p, enum swift_kind kind)
{
    return swift_node1(p->arena, kind, bare_type(p));
}

static struct swift_node *generic_type(struct swift_parser *p)
{
    struct swift_node *signature = old_signature(p, false);
    return swift_node2(p->arena, SK_DependentGenericType, signature,
                       signature ? old_type(p) : NULL);
}

static const char function_letters[] = "bcFfK";
static const enum swift_kind function_kinds[] = {SK_ObjCBlock, SK_CFunctionPointer, SK_FunctionType,
                                                 SK_UncurriedFunctionType, SK_AutoClosureType};

static const char declaration_letters[] = "aCVO";
static const enum swift_kind declaration_kinds[] = {SK_TypeAlias, SK_Class, SK_Structure, SK_Enum};

static struct swift_node *read_type(struct swift_parser *p)
{
    char c = swift_next(p);
    int i = swift_letter(function_letters, c);
    if (i >= 0)
        return function_type(p, function_kinds[i]);
    i = swift_letter(declaration_letters, c);
    if (i >= 0)
        return old_declaration(p, declaration_kinds[i]);
    switch (c) {
    case 'B':
        return builtin(p);
    case 'D':
        return over_type(p, SK_DynamicSelf);
    case 'E':
        return swift_accept_str(p, "RR") ? swift_node(p->arena, SK_ErrorType) : NULL;
    case 'G':
        return old_bound_generic(p);
    case 'X':
        return special_type(p);
    case 'M':
        return over_type(p, SK_Metatype);
    case 'P':
        return swift_accept(p, 'M') ? over_type(p, SK_ExistentialMetatype) : protocol_list(p);
    case 'Q':
        return opaque_or_archetype(p);
    case 'q':
        return dependent_type(p);
    case 'x':
        return generic_param(p, 0, 0);
    case 'w':
        return assoc_type_simple(p);
    case 'W':
        return assoc_type_compound(p);
    case 'R':
        return over_bare(p, SK_InOut);
    case 'k':
        return over_bare(p, SK_NoDerivative);
    case 'S':
        return old_substitution(p);
    case 'T':
    case 't':
        return tuple(p, c == 't');
    case 'u':
        return generic_type(p);
    default:
        return NULL;
    }
}

static struct swift_node *bare_type(struct swift_parser *p)
{
    if (!old_enter(p) || p->pos >= p->len)
        return old_leave(p, NULL);
    return old_leave(p, read_type(p));
}

struct swift_node *old_type(struct swift_parser *p)
{
    return type_of(p, bare_type(p));
}
