#include "symbolizer/demangle_swift_parse.h"

#include <stdio.h>
#include <string.h>

/* --- builtin types ---------------------------------------------------------------------------- */

#define BUILTIN_SIZE_MAX 4096

static const char builtin_letters[] = "bBeIOopjDdctwPA";
static const char *const builtin_names[] = {
    "Builtin.BridgeObject",
    "Builtin.UnsafeValueBuffer",
    "Builtin.Executor",
    "Builtin.IntLiteral",
    "Builtin.UnknownObject",
    "Builtin.NativeObject",
    "Builtin.RawPointer",
    "Builtin.Job",
    "Builtin.DefaultActorStorage",
    "Builtin.NonDefaultDistributedActorStorage",
    "Builtin.RawUnsafeContinuation",
    "Builtin.SILToken",
    "Builtin.Word",
    "Builtin.PackIndex",
    "Builtin.ImplicitActor",
};

static struct swift_node *builtin_text(struct swift_parser *p, const char *before, int number,
                                       const char *between, struct swift_text after)
{
    size_t size = strlen(before) + strlen(between) + after.len + 16;
    char *s = swift_arena_alloc(p->arena, size);
    if (!s)
        return NULL;
    int n = snprintf(s, size, "%s%d%s%.*s", before, number, between, (int)after.len, after.s);
    struct swift_text text = {s, (size_t)n};
    return swift_node_text(p->arena, SK_BuiltinTypeName, text);
}

/* Bits or elements: INDEX is one more. */
static int builtin_size(struct swift_parser *p)
{
    int size = swift_index(p) - 1;
    return size > 0 && size <= BUILTIN_SIZE_MAX ? size : 0;
}

static struct swift_node *builtin_vector(struct swift_parser *p)
{
    static const char prefix[] = "Builtin.";
    const size_t n = sizeof(prefix) - 1;
    int elements = builtin_size(p);
    struct swift_node *type = swift_pop_type_child(p);
    struct swift_text name = swift_node_get_text(type);
    if (!elements || !swift_node_is(type, SK_BuiltinTypeName) || name.len < n ||
        memcmp(name.s, prefix, n) != 0)
        return NULL;
    struct swift_text rest = {name.s + n, name.len - n};
    return builtin_text(p, "Builtin.Vec", elements, "x", rest);
}

static struct swift_node *builtin_fixed_array(struct swift_parser *p)
{
    struct swift_node *element = swift_pop_type(p);
    struct swift_node *size = swift_pop_type(p);
    return swift_node2(p->arena, SK_BuiltinFixedArray, size, element);
}

struct swift_node *swift_op_builtin(struct swift_parser *p)
{
    static const struct swift_text nothing = {"", 0};
    char c = swift_next(p);
    struct swift_node *n = NULL;
    int size;
    int letter = swift_letter(builtin_letters, c);
    if (letter >= 0)
        return swift_type(p, swift_node_str(p->arena, SK_BuiltinTypeName, builtin_names[letter]));
    switch (c) {
    case 'f':
    case 'i':
        size = builtin_size(p);
        if (size)
            n = builtin_text(p, c == 'f' ? "Builtin.FPIEEE" : "Builtin.Int", size, "", nothing);
        break;
    case 'v':
        n = builtin_vector(p);
        break;
    case 'V':
        n = builtin_fixed_array(p);
        break;
    case 'T':
        n = swift_node(p->arena, SK_BuiltinTupleType);
        break;
    default:
        break;
    }
    return swift_type(p, n);
}

/* --- nominal types ------------------------------------------------------------------------------ */

struct swift_node *swift_nominal(struct swift_parser *p, enum swift_kind kind)
{
    struct swift_node *name = swift_pop_class(p, SC_DECL_NAME);
    struct swift_node *context = swift_pop_context(p);
    struct swift_node *n = swift_type(p, swift_node2(p->arena, kind, context, name));
    swift_substitution(p, n);
    return n;
}

bool swift_is_protocol(const struct swift_node *type)
{
    while (swift_node_is(type, SK_Type))
        type = swift_node_child(type, 0);
    return swift_node_is(type, SK_Protocol);
}

struct swift_node *swift_pop_protocol(struct swift_parser *p)
{
    struct swift_node *type = swift_pop_type(p);
    if (type)
        return swift_is_protocol(type) ? type : NULL;
    struct swift_node *name = swift_pop_class(p, SC_DECL_NAME);
    struct swift_node *context = swift_pop_context(p);
    return swift_type(p, swift_node2(p->arena, SK_Protocol, context, name));
}

/* --- generic arguments ------------------------------------------------------------------------- */

bool swift_pop_generic_args(struct swift_parser *p, struct swift_nodes *ret_lists,
                            struct swift_node **ret_conformances)
{
    *ret_conformances = swift_pop_retroactive_conformances(p);
    for (;;) {
        struct swift_node *list = swift_node(p->arena, SK_TypeList);
        struct swift_node *type;
        while ((type = swift_pop_type(p)))
            list = swift_node_add(p->arena, list, type);
        swift_node_reverse(list, 0);
        if (!swift_nodes_push(p, ret_lists, list))
            return false;
        if (swift_pop(p, SK_EmptyList))
            return true;
        if (!swift_pop(p, SK_FirstElementMarker))
            return false;
    }
}

/* Kinds that stand between a type and its context without generic parameters of their own. */
static bool takes_generic_args(const struct swift_node *n)
{
    switch ((int)n->kind) {
    case SK_Variable:
    case SK_Subscript:
    case SK_ImplicitClosure:
    case SK_ExplicitClosure:
    case SK_DefaultArgumentInitializer:
    case SK_Initializer:
    case SK_PropertyWrapperBackingInitializer:
    case SK_PropertyWrapperInitFromProjectedValue:
    case SK_Static:
        return false;
    default:
        return true;
    }
}

static enum swift_kind bound_kind(const struct swift_node *nominal)
{
    switch ((int)nominal->kind) {
    case SK_Class:
        return SK_BoundGenericClass;
    case SK_Structure:
        return SK_BoundGenericStructure;
    case SK_Enum:
        return SK_BoundGenericEnum;
    case SK_Protocol:
        return SK_BoundGenericProtocol;
    case SK_OtherNominalType:
        return SK_BoundGenericOtherNominalType;
    case SK_TypeAlias:
        return SK_BoundGenericTypeAlias;
    case SK_Function:
    case SK_Constructor:
        return SK_BoundGenericFunction;
    default:
        return SK_COUNT;
    }
}

static struct swift_node *bind_args(struct swift_parser *p, struct swift_node *nominal,
                                    const struct swift_nodes *lists, size_t at, unsigned depth);

/* The context of `nominal` with the arguments from `at` on, and `nominal` inside it again. */
static struct swift_node *bind_parent(struct swift_parser *p, struct swift_node *nominal,
                                      const struct swift_nodes *lists, size_t at, unsigned depth)
{
    struct swift_node *context = swift_node_child(nominal, 0);
    struct swift_node *parent;
    if (context->kind == SK_Extension) {
        parent = bind_args(p, swift_node_child(context, 1), lists, at, depth + 1);
        parent = swift_node2(p->arena, SK_Extension, swift_node_child(context, 0), parent);
        if (swift_node_count(context) == 3)
            parent = swift_node_add(p->arena, parent, swift_node_child(context, 2));
    } else {
        parent = bind_args(p, context, lists, at, depth + 1);
    }
    struct swift_node *n = swift_node1(p->arena, nominal->kind, parent);
    for (size_t i = 1; i < swift_node_count(nominal); i++)
        n = swift_node_add(p->arena, n, swift_node_child(nominal, i));
    return n;
}

/* Lists are innermost first, so the recursion goes outwards through the contexts. */
static struct swift_node *bind_args(struct swift_parser *p, struct swift_node *nominal,
                                    const struct swift_nodes *lists, size_t at, unsigned depth)
{
    if (!swift_node_count(nominal) || at >= lists->count || depth > SWIFT_NESTING_MAX)
        return NULL;
    bool takes = takes_generic_args(nominal);
    struct swift_node *args = lists->list[at];
    if (takes)
        at++;
    if (at < lists->count) {
        nominal = bind_parent(p, nominal, lists, at, depth);
        if (!nominal)
            return NULL;
    }
    if (!takes || !swift_node_count(args))
        return nominal;
    enum swift_kind kind = bound_kind(nominal);
    if (kind == SK_COUNT)
        return NULL;
    if (kind != SK_BoundGenericFunction)
        nominal = swift_type(p, nominal);
    return swift_node2(p->arena, kind, nominal, args);
}

struct swift_node *swift_op_bound_generic(struct swift_parser *p)
{
    struct swift_nodes lists = {NULL, 0, 0};
    struct swift_node *conformances;
    if (!swift_pop_generic_args(p, &lists, &conformances))
        return NULL;
    struct swift_node *nominal = swift_pop_type_child(p);
    if (!swift_node_in(nominal, SC_NOMINAL))
        return NULL;
    struct swift_node *bound = bind_args(p, nominal, &lists, 0, 0);
    if (conformances)
        bound = swift_node_add(p->arena, bound, conformances);
    struct swift_node *n = swift_type(p, bound);
    swift_substitution(p, n);
    return n;
}

/* --- tuples, packs and lists --------------------------------------------------------------------- */

static struct swift_node *pop_tuple_element(struct swift_parser *p)
{
    struct swift_node *element = swift_node(p->arena, SK_TupleElement);
    struct swift_node *variadic = swift_pop(p, SK_VariadicMarker);
    if (variadic)
        swift_node_add(p->arena, element, variadic);
    struct swift_node *label = swift_pop(p, SK_Identifier);
    if (label)
        swift_node_add(p->arena, element, swift_node_as(p->arena, label, SK_TupleElementName));
    return swift_node_add(p->arena, element, swift_pop_type(p));
}

struct swift_node *swift_op_tuple(struct swift_parser *p)
{
    return swift_type(p, swift_pop_list(p, swift_node(p->arena, SK_Tuple), pop_tuple_element));
}

static struct swift_node *protocol_list(struct swift_parser *p)
{
    struct swift_node *types =
        swift_pop_list(p, swift_node(p->arena, SK_TypeList), swift_pop_protocol);
    return swift_node1(p->arena, SK_ProtocolList, types);
}

struct swift_node *swift_op_protocol_list(struct swift_parser *p)
{
    return swift_type(p, protocol_list(p));
}

/* $: a value as a generic argument. */
struct swift_node *swift_op_integer(struct swift_parser *p)
{
    bool negative = swift_accept(p, 'n');
    int n = swift_index(p);
    return swift_type(p, swift_node_index(p->arena, negative ? SK_NegativeInteger : SK_Integer,
                                          negative ? -(int64_t)n : n));
}

/* D: a type that is a symbol by itself. */
struct swift_node *swift_op_type_mangling(struct swift_parser *p)
{
    struct swift_node *type = swift_pop_type(p);
    struct swift_node *labels = swift_pop_labels(p, type);
    struct swift_node *n = swift_node(p->arena, SK_TypeMangling);
    if (labels)
        swift_node_add(p->arena, n, labels);
    return swift_node_add(p->arena, n, type);
}

/* --- type annotations ------------------------------------------------------------------------------ */

static struct swift_node *differentiable_function_type(struct swift_parser *p)
{
    char c = swift_next(p);
    if (swift_letter("frdl", c) < 0)
        return NULL;
    return swift_node_index(p->arena, SK_DifferentiableFunctionType, c);
}

struct annotation {
    char letter;
    enum swift_kind kind;
    enum { ANNOTATION_MARK, ANNOTATION_OF_TYPE, ANNOTATION_TYPE } form;
};

static const struct annotation annotations[] = {
    {'a', SK_AsyncAnnotation, ANNOTATION_MARK},
    {'A', SK_IsolatedAnyFunctionType, ANNOTATION_MARK},
    {'b', SK_ConcurrentFunctionType, ANNOTATION_MARK},
    {'C', SK_NonIsolatedCallerFunctionType, ANNOTATION_MARK},
    {'T', SK_SendingResultFunctionType, ANNOTATION_MARK},
    {'c', SK_GlobalActorFunctionType, ANNOTATION_OF_TYPE},
    {'K', SK_TypedThrowsAnnotation, ANNOTATION_OF_TYPE},
    {'i', SK_Isolated, ANNOTATION_TYPE},
    {'k', SK_NoDerivative, ANNOTATION_TYPE},
    {'t', SK_CompileTimeLiteral, ANNOTATION_TYPE},
    {'g', SK_ConstValue, ANNOTATION_TYPE},
    {'u', SK_Sending, ANNOTATION_TYPE},
};

struct swift_node *swift_op_type_annotation(struct swift_parser *p)
{
    char c = swift_next(p);
    if (c == 'j')
        return differentiable_function_type(p);
    for (size_t i = 0; i < sizeof(annotations) / sizeof(annotations[0]); i++) {
        const struct annotation *a = &annotations[i];
        if (a->letter != c)
            continue;
        if (a->form == ANNOTATION_MARK)
            return swift_node(p->arena, a->kind);
        struct swift_node *n = swift_node1(p->arena, a->kind, swift_pop_type_child(p));
        return a->form == ANNOTATION_OF_TYPE ? n : swift_type(p, n);
    }
    return NULL;
}

/* --- special types ---------------------------------------------------------------------------------- */

static struct swift_node *metatype_representation(struct swift_parser *p)
{
    static const char *const names[] = {"@thin", "@thick", "@objc_metatype"};
    int i = swift_letter("tTo", swift_next(p));
    return i < 0 ? NULL : swift_node_str(p->arena, SK_MetatypeRepresentation, names[i]);
}

static struct swift_node *pop_requirement(struct swift_parser *p)
{
    return swift_pop_class(p, SC_REQUIREMENT);
}

/* Boxes: an `inout` field type is how a mutable field is written. */
static struct swift_node *sil_box_with_layout(struct swift_parser *p, bool generic)
{
    struct swift_node *signature = generic ? swift_pop_signature(p) : NULL;
    struct swift_node *args = signature ? swift_pop_type_list(p) : NULL;
    if (generic && !args)
        return NULL;
    struct swift_node *types = swift_pop_type_list(p);
    struct swift_node *layout = types ? swift_node(p->arena, SK_SILBoxLayout) : NULL;
    for (size_t i = 0; i < swift_node_count(types); i++) {
        struct swift_node *type = swift_node_child(types, i);
        struct swift_node *inner = swift_node_child(type, 0);
        enum swift_kind kind = SK_SILBoxImmutableField;
        if (swift_node_is(inner, SK_InOut)) {
            kind = SK_SILBoxMutableField;
            type = swift_type(p, swift_node_child(inner, 0));
        }
        layout = swift_node_add(p->arena, layout, swift_node1(p->arena, kind, type));
    }
    if (!generic)
        return swift_node1(p->arena, SK_SILBoxTypeWithLayout, layout);
    return swift_node3(p->arena, SK_SILBoxTypeWithLayout, layout, signature, args);
}

/* A context that only the runtime knows. Not a type. */
static struct swift_node *anonymous_context(struct swift_parser *p)
{
    struct swift_node *types = swift_pop_type_list(p);
    struct swift_node *name = swift_pop(p, SK_Identifier);
    struct swift_node *parent = swift_pop_context(p);
    return swift_node3(p->arena, SK_AnonymousContext, name, parent, types);
}

/* Xg and XG: the shape of an existential type, by itself or with a signature. Not a type. */
static struct swift_node *existential_shape(struct swift_parser *p, bool generic)
{
    struct swift_node *type = swift_pop_type(p);
    struct swift_node *signature = generic ? swift_pop_signature(p) : NULL;
    if (!signature)
        return swift_node1(p->arena, SK_ExtendedExistentialTypeShape, type);
    return swift_node2(p->arena, SK_ExtendedExistentialTypeShape, signature, type);
}

/* XS: sugar that the debugger keeps. */
static struct swift_node *sugared_type(struct swift_parser *p)
{
    char c = swift_next(p);
    struct swift_node *last = swift_pop_type(p);
    switch (c) {
    case 'q':
        return swift_node1(p->arena, SK_SugaredOptional, last);
    case 'a':
        return swift_node1(p->arena, SK_SugaredArray, last);
    case 'p':
        return swift_node1(p->arena, SK_SugaredParen, last);
    case 'A':
        return swift_node2(p->arena, SK_SugaredInlineArray, swift_pop_type(p), last);
    case 'D':
        return swift_node2(p->arena, SK_SugaredDictionary, swift_pop_type(p), last);
    default:
        return NULL;
    }
}

/* Types that are made of the one type on the stack. */
static const char wrapper_letters[] = "ouwbDp";
static const enum swift_kind wrapper_kinds[] = {
    SK_Unowned, SK_Unmanaged, SK_Weak, SK_SILBoxType, SK_DynamicSelf, SK_ExistentialMetatype};

static const char function_letters[] = "EAfKULBC";
static const enum swift_kind function_kinds[] = {
    SK_NoEscapeFunctionType,  SK_EscapingAutoClosureType, SK_ThinFunctionType, SK_AutoClosureType,
    SK_UncurriedFunctionType, SK_EscapingObjCBlock,       SK_ObjCBlock,        SK_CFunctionPointer,
};

static struct swift_node *special_type(struct swift_parser *p, char c)
{
    struct swift_node *first;
    struct swift_node *second;
    switch (c) {
    case 'M':
    case 'm':
        first = metatype_representation(p);
        second = swift_pop_type(p);
        return swift_node2(p->arena, c == 'M' ? SK_Metatype : SK_ExistentialMetatype, first,
                           second);
    case 'P':
        if (swift_pop(p, SK_EmptyList))
            return NULL;
        first = swift_pop_list(p, swift_node(p->arena, SK_ConstrainedExistentialRequirementList),
                               pop_requirement);
        second = first ? swift_pop_type(p) : NULL;
        return swift_node2(p->arena, SK_ConstrainedExistential, second, first);
    case 'c':
        first = swift_pop_type(p);
        second = protocol_list(p);
        return swift_node2(p->arena, SK_ProtocolListWithClass, second, first);
    case 'l':
        return swift_node1(p->arena, SK_ProtocolListWithAnyObject, protocol_list(p));
    case 'X':
    case 'x':
        return sil_box_with_layout(p, c == 'X');
    case 'e':
        return swift_node(p->arena, SK_ErrorType);
    case 'S':
        return sugared_type(p);
    default:
        return NULL;
    }
}

struct swift_node *swift_op_special_type(struct swift_parser *p)
{
    char c = swift_next(p);
    int i = swift_letter(function_letters, c);
    if (i >= 0)
        return swift_pop_function_type(p, function_kinds[i], false);
    i = swift_letter(wrapper_letters, c);
    if (i >= 0)
        return swift_type(p, swift_over_type(p, wrapper_kinds[i]));
    switch (c) {
    case 'z':
        i = swift_letter("BC", swift_next(p));
        return i < 0 ? NULL
                     : swift_pop_function_type(p, i ? SK_CFunctionPointer : SK_ObjCBlock, true);
    case 'g':
    case 'G':
        return existential_shape(p, c == 'G');
    case 'Y':
        return swift_nominal(p, SK_OtherNominalType);
    case 'Z':
        return anonymous_context(p);
    default:
        return swift_type(p, special_type(p, c));
    }
}
