#include "symbolizer/demangle_swift_parse.h"

/* --- function types ------------------------------------------------------------------------- */

static struct swift_node *pop_params(struct swift_parser *p, enum swift_kind kind)
{
    struct swift_node *type;
    if (swift_pop(p, SK_EmptyList))
        type = swift_type(p, swift_node(p->arena, SK_Tuple));
    else
        type = swift_pop_type(p);
    return swift_node1(p->arena, kind, type);
}

struct swift_node *swift_clang_type(struct swift_parser *p)
{
    int count = swift_natural(p);
    if (count <= 0 || (size_t)count > p->len - p->pos)
        return NULL;
    struct swift_text s = {p->text + p->pos, (size_t)count};
    p->pos += s.len;
    return swift_node_text(p->arena, SK_ClangType, s);
}

/* Parts of a function signature in the order they are popped, which is the reverse of the order
 * they are written in. Of each row at most one. */
static const enum swift_kind signature_parts[][3] = {
    {SK_SendingResultFunctionType, SK_COUNT, SK_COUNT},
    {SK_GlobalActorFunctionType, SK_IsolatedAnyFunctionType, SK_NonIsolatedCallerFunctionType},
    {SK_DifferentiableFunctionType, SK_COUNT, SK_COUNT},
    {SK_ThrowsAnnotation, SK_TypedThrowsAnnotation, SK_COUNT},
    {SK_ConcurrentFunctionType, SK_COUNT, SK_COUNT},
    {SK_AsyncAnnotation, SK_COUNT, SK_COUNT},
};

struct swift_node *swift_pop_function_type(struct swift_parser *p, enum swift_kind kind,
                                           bool clang_type)
{
    struct swift_node *f = swift_node(p->arena, kind);
    if (clang_type) {
        struct swift_node *c = swift_clang_type(p);
        if (c)
            swift_node_add(p->arena, f, c);
    }
    for (size_t i = 0; i < sizeof(signature_parts) / sizeof(signature_parts[0]); i++) {
        for (size_t k = 0; k < 3 && signature_parts[i][k] != SK_COUNT; k++) {
            struct swift_node *part = swift_pop(p, signature_parts[i][k]);
            if (!part)
                continue;
            swift_node_add(p->arena, f, part);
            break;
        }
    }
    f = swift_node_add(p->arena, f, pop_params(p, SK_ArgumentTuple));
    f = swift_node_add(p->arena, f, pop_params(p, SK_ReturnType));
    return swift_type(p, f);
}

/* --- labels ------------------------------------------------------------------------------------ */

/* The type inside the argument tuple of a function type (a Tuple when there is not exactly one
 * argument), NULL when `type` is no function type. */
static struct swift_node *arguments_of(const struct swift_node *type)
{
    const struct swift_node *f = swift_node_is(type, SK_Type) ? swift_node_child(type, 0) : NULL;
    if (swift_node_is(f, SK_DependentGenericType))
        f = swift_node_child(swift_node_child(f, 1), 0);
    if (!swift_node_is(f, SK_FunctionType) && !swift_node_is(f, SK_NoEscapeFunctionType))
        return NULL;
    size_t count = swift_node_count(f);
    const struct swift_node *tuple = count < 2 ? NULL : swift_node_child(f, count - 2);
    if (!swift_node_is(tuple, SK_ArgumentTuple))
        return NULL;
    return swift_node_child(swift_node_child(tuple, 0), 0);
}

/* _T0: the label is part of the tuple element, and leaves it here. */
static struct swift_node *take_label(struct swift_parser *p, struct swift_node *element)
{
    for (size_t i = 0; i < swift_node_count(element); i++) {
        struct swift_node *name = swift_node_child(element, i);
        if (name->kind != SK_TupleElementName)
            continue;
        swift_node_remove(element, i);
        return swift_node_as(p->arena, name, SK_Identifier);
    }
    return swift_node(p->arena, SK_FirstElementMarker);
}

struct swift_node *swift_pop_labels(struct swift_parser *p, const struct swift_node *type)
{
    if (!p->labels_in_types && swift_pop(p, SK_EmptyList))
        return swift_node(p->arena, SK_LabelList);
    struct swift_node *params = arguments_of(type);
    bool tuple = swift_node_is(params, SK_Tuple);
    size_t count = tuple ? swift_node_count(params) : 1;
    if (!params || !count)
        return NULL;
    struct swift_node *list = swift_node(p->arena, SK_LabelList);
    if (p->labels_in_types && !tuple)
        return list;

    bool labelled = false;
    for (size_t i = 0; i < count; i++) {
        struct swift_node *label =
            p->labels_in_types ? take_label(p, swift_node_child(params, i)) : swift_pop_any(p);
        if (!swift_node_is(label, SK_Identifier) && !swift_node_is(label, SK_FirstElementMarker))
            return NULL;
        if (label->kind == SK_Identifier)
            labelled = true;
        list = swift_node_add(p->arena, list, label);
    }
    if (!labelled)
        return swift_node(p->arena, SK_LabelList);
    if (!p->labels_in_types)
        swift_node_reverse(list, 0);
    return list;
}

/* --- lowered function types ---------------------------------------------------------------------- */

static const char callee_letters[] = "ygxt";
static const char *const callee_conventions[] = {"@callee_unowned", "@callee_guaranteed",
                                                 "@callee_owned", "@convention(thin)"};

static const char function_letters[] = "BCMOKW";
static const char *const function_conventions[] = {"block",       "c",       "method",
                                                   "objc_method", "closure", "witness_method"};

static const char param_letters[] = "iclbnXxgeyvpm";
static const char *const param_conventions[] = {
    "@in",         "@in_constant",     "@inout",      "@inout_aliasable", "@in_guaranteed",
    "@in_cxx",     "@owned",           "@guaranteed", "@deallocating",    "@unowned",
    "@pack_owned", "@pack_guaranteed", "@pack_inout"};

static const char result_letters[] = "roduaklgm";
static const char *const result_conventions[] = {"@out",
                                                 "@owned",
                                                 "@unowned",
                                                 "@unowned_inner_pointer",
                                                 "@autoreleased",
                                                 "@pack_out",
                                                 "@guaranteed_address",
                                                 "@guaranteed",
                                                 "@inout"};

static const char coroutine_letters[] = "AIG";
static const char *const coroutine_kinds[] = {"yield_once", "yield_once_2", "yield_many"};

/* A word for the next letter when it is one of `letters`, which is then read. */
static struct swift_node *letter_node(struct swift_parser *p, enum swift_kind kind,
                                      const char *letters, const char *const *words)
{
    int i = swift_letter(letters, swift_peek(p));
    if (i < 0)
        return NULL;
    p->pos++;
    return swift_node_str(p->arena, kind, words[i]);
}

/* Adds the child when there is one. */
static void add_optional(struct swift_parser *p, struct swift_node *parent,
                         struct swift_node *child)
{
    if (child)
        swift_node_add(p->arena, parent, child);
}

static void add_if(struct swift_parser *p, struct swift_node *parent, char letter,
                   enum swift_kind kind)
{
    if (swift_accept(p, letter))
        add_optional(p, parent, swift_node(p->arena, kind));
}

/* Is: the substitutions of the pattern, II: those of the call. */
static bool impl_substitutions(struct swift_parser *p, struct swift_node *type, bool pattern)
{
    struct swift_nodes lists = {NULL, 0, 0};
    struct swift_node *conformances;
    if (!swift_pop_generic_args(p, &lists, &conformances) || lists.count != 1)
        return false;
    struct swift_node *n;
    if (pattern)
        n = swift_node2(p->arena, SK_ImplPatternSubstitutions, swift_pop_signature(p),
                        lists.list[0]);
    else
        n = swift_node1(p->arena, SK_ImplInvocationSubstitutions, lists.list[0]);
    if (conformances)
        n = swift_node_add(p->arena, n, conformances);
    return swift_node_add(p->arena, type, n) != NULL;
}

/* FUNC-REPRESENTATION with an optional C type. */
static void impl_function_convention(struct swift_parser *p, struct swift_node *type)
{
    bool clang_type = false;
    if (swift_accept(p, 'z')) {
        clang_type = swift_peek(p) == 'B' || swift_peek(p) == 'C';
        if (!clang_type) {
            swift_back(p);
            return;
        }
    }
    struct swift_node *name =
        letter_node(p, SK_ImplFunctionConventionName, function_letters, function_conventions);
    struct swift_node *n = swift_node1(p->arena, SK_ImplFunctionConvention, name);
    if (clang_type)
        add_optional(p, n, swift_clang_type(p));
    add_optional(p, type, n);
}

static bool impl_attributes(struct swift_parser *p, struct swift_node *type)
{
    add_if(p, type, 'e', SK_ImplEscaping);
    add_if(p, type, 'A', SK_ImplErasedIsolation);
    if (swift_letter("dlfr", swift_peek(p)) >= 0)
        add_optional(p, type,
                     swift_node_index(p->arena, SK_ImplDifferentiabilityKind, swift_next(p)));
    struct swift_node *callee =
        letter_node(p, SK_ImplConvention, callee_letters, callee_conventions);
    if (!callee)
        return false;
    swift_node_add(p->arena, type, callee);
    impl_function_convention(p, type);
    add_optional(p, type, letter_node(p, SK_ImplCoroutineKind, coroutine_letters, coroutine_kinds));
    if (swift_accept(p, 'h'))
        add_optional(p, type, swift_node_str(p->arena, SK_ImplFunctionAttribute, "@Sendable"));
    if (swift_accept(p, 'H'))
        add_optional(p, type, swift_node_str(p->arena, SK_ImplFunctionAttribute, "@async"));
    add_if(p, type, 'T', SK_ImplSendingResult);
    return true;
}

static struct swift_node *impl_value(struct swift_parser *p, enum swift_kind kind,
                                     const char *letters, const char *const *conventions)
{
    return swift_node1(p->arena, kind, letter_node(p, SK_ImplConvention, letters, conventions));
}

static void impl_differentiability(struct swift_parser *p, struct swift_node *value)
{
    const char *text = swift_accept(p, 'w') ? "@noDerivative " : "";
    add_optional(p, value, swift_node_str(p->arena, SK_ImplParameterResultDifferentiability, text));
}

/* Parameters, results, yields and the error, still without their types. Their number, or -1. */
static int impl_values(struct swift_parser *p, struct swift_node *type)
{
    int count = 0;
    struct swift_node *v;
    while ((v = impl_value(p, SK_ImplParameter, param_letters, param_conventions))) {
        swift_node_add(p->arena, type, v);
        impl_differentiability(p, v);
        add_if(p, v, 'T', SK_ImplParameterSending);
        add_if(p, v, 'I', SK_ImplParameterIsolated);
        add_if(p, v, 'L', SK_ImplParameterImplicitLeading);
        count++;
    }
    while ((v = impl_value(p, SK_ImplResult, result_letters, result_conventions))) {
        swift_node_add(p->arena, type, v);
        impl_differentiability(p, v);
        count++;
    }
    while (swift_accept(p, 'Y')) {
        v = impl_value(p, SK_ImplYield, param_letters, param_conventions);
        if (!swift_node_add(p->arena, type, v))
            return -1;
        count++;
    }
    if (swift_accept(p, 'z')) {
        v = impl_value(p, SK_ImplErrorResult, result_letters, result_conventions);
        if (!swift_node_add(p->arena, type, v))
            return -1;
        count++;
    }
    return count;
}

struct swift_node *swift_op_impl_function_type(struct swift_parser *p)
{
    struct swift_node *type = swift_node(p->arena, SK_ImplFunctionType);
    if (swift_accept(p, 's') && !impl_substitutions(p, type, true))
        return NULL;
    if (swift_accept(p, 'I') && !impl_substitutions(p, type, false))
        return NULL;
    struct swift_node *signature = swift_pop_signature(p);
    if (signature && swift_accept(p, 'P'))
        signature = swift_node_as(p->arena, signature, SK_DependentPseudogenericSignature);
    if (!impl_attributes(p, type))
        return NULL;
    add_optional(p, type, signature);
    int count = impl_values(p, type);
    if (count < 0 || !swift_accept(p, '_'))
        return NULL;
    size_t total = swift_node_count(type);
    for (int i = 0; i < count; i++) {
        struct swift_node *value = swift_node_child(type, total - 1 - (size_t)i);
        if (!swift_node_add(p->arena, value, swift_pop_type(p)))
            return NULL;
    }
    return swift_type(p, type);
}
