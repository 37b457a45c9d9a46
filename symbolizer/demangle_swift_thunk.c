#include "symbolizer/demangle_swift_parse.h"

/* --- attributes ------------------------------------------------------------------------------ */

static const char attribute_letters[] = "oODdEFaAmXxIu";
static const enum swift_kind attribute_kinds[] = {
    SK_ObjCAttribute,
    SK_NonObjCAttribute,
    SK_DynamicAttribute,
    SK_DirectMethodReferenceAttribute,
    SK_DistributedThunk,
    SK_DistributedAccessor,
    SK_PartialApplyObjCForwarder,
    SK_PartialApplyForwarder,
    SK_MergedFunction,
    SK_DynamicallyReplaceableFunctionVar,
    SK_DynamicallyReplaceableFunctionKey,
    SK_DynamicallyReplaceableFunctionImpl,
    SK_AsyncFunctionPointer,
};

/* Tw */
static const char late_attribute_letters[] = "bBcdS";
static const enum swift_kind late_attribute_kinds[] = {
    SK_BackDeploymentThunk, SK_BackDeploymentFallback, SK_CoroFunctionPointer, SK_DefaultOverride,
    SK_HasSymbolQuery};

static struct swift_node *outlined_variable(struct swift_parser *p)
{
    int index = swift_index(p);
    if (index < 0)
        return NULL;
    bool read_only = swift_next(p) == 'r';
    return swift_node_index(p->arena, read_only ? SK_OutlinedReadOnlyObject : SK_OutlinedVariable,
                            index);
}

/* Te: how the bridged method's result and arguments are passed. */
static struct swift_node *outlined_bridged_method(struct swift_parser *p)
{
    struct swift_text s = {p->text + p->pos, 0};
    if (swift_letter("opam", swift_next(p)) < 0)
        return NULL;
    s.len = 1;
    for (char c = swift_next(p); c != '_'; c = swift_next(p)) {
        if (swift_letter("nbg", c) < 0)
            return NULL;
        s.len++;
    }
    return swift_node_text(p->arena, SK_OutlinedBridgedMethod, s);
}

/* --- thunks ------------------------------------------------------------------------------------ */

static const char entity_letters[] = "cjqS";
static const enum swift_kind entity_kinds[] = {SK_CurryThunk, SK_DispatchThunk, SK_MethodDescriptor,
                                               SK_ProtocolSelfConformanceWitness};

/* Tr, TR, Ty: to another abstraction of the same function type. */
static struct swift_node *reabstraction_thunk(struct swift_parser *p, char c)
{
    enum swift_kind kind = c == 'R'   ? SK_ReabstractionThunkHelper
                           : c == 'y' ? SK_ReabstractionThunkHelperWithSelf
                                      : SK_ReabstractionThunk;
    struct swift_node *n = swift_node(p->arena, kind);
    struct swift_node *signature = swift_pop_signature(p);
    if (signature)
        n = swift_node_add(p->arena, n, signature);
    for (int types = c == 'y' ? 3 : 2; types > 0; types--)
        n = swift_node_add(p->arena, n, swift_pop_type(p));
    return n;
}

/* Tz, TZ: the block that resumes an async function. */
static struct swift_node *completion_handler(struct swift_parser *p, char c)
{
    struct swift_node *flag = swift_index_node(p);
    struct swift_node *signature = swift_pop_signature(p);
    struct swift_node *result = swift_pop_type(p);
    struct swift_node *impl = swift_pop_type(p);
    enum swift_kind kind =
        c == 'z' ? SK_ObjCAsyncCompletionHandlerImpl : SK_PredefinedObjCAsyncCompletionHandlerImpl;
    struct swift_node *n = swift_node3(p->arena, kind, impl, result, flag);
    return signature ? swift_node_add(p->arena, n, signature) : n;
}

static struct swift_node *global_actor_thunk(struct swift_parser *p)
{
    struct swift_node *actor = swift_pop_type(p);
    struct swift_node *thunk = actor ? swift_pop_any(p) : NULL;
    return swift_node2(p->arena, SK_ReabstractionThunkHelperWithGlobalActor, thunk, actor);
}

/* --- key paths ---------------------------------------------------------------------------------- */

/* Types from the top of the stack, in the order they were written. */
static struct swift_node *pop_types(struct swift_parser *p)
{
    struct swift_node *list = swift_node(p->arena, SK_TypeList);
    struct swift_node *type;
    while ((type = swift_pop_type(p)))
        list = swift_node_add(p->arena, list, type);
    swift_node_reverse(list, 0);
    return list;
}

static struct swift_node *add_all(struct swift_parser *p, struct swift_node *n,
                                  const struct swift_node *list)
{
    for (size_t i = 0; i < swift_node_count(list); i++)
        n = swift_node_add(p->arena, n, swift_node_child(list, i));
    return n;
}

/* TK, Tk: getter and setter, or a method. */
static struct swift_node *key_path_accessor(struct swift_parser *p, char c)
{
    enum swift_kind kind = c == 'K' ? SK_KeyPathGetterThunkHelper : SK_KeyPathSetterThunkHelper;
    if (swift_accept_str(p, "mu"))
        kind = SK_KeyPathUnappliedMethodThunkHelper;
    else if (swift_accept_str(p, "MA"))
        kind = SK_KeyPathAppliedMethodThunkHelper;
    bool serialized = swift_accept(p, 'q');
    struct swift_node *types = pop_types(p);
    if (!swift_node_count(types))
        return NULL;
    struct swift_node *signature = swift_pop_signature(p);
    struct swift_node *n = swift_node1(p->arena, kind, swift_pop_any(p));
    if (signature)
        n = swift_node_add(p->arena, n, signature);
    n = add_all(p, n, types);
    if (serialized)
        n = swift_node_add(p->arena, n, swift_node(p->arena, SK_IsSerialized));
    return n;
}

/* TH, Th: equality and hash of the index of a subscript. */
static struct swift_node *key_path_index(struct swift_parser *p, char c)
{
    bool serialized = swift_accept(p, 'q');
    struct swift_node *signature = swift_pop_signature(p);
    struct swift_node *types = pop_types(p);
    if ((!signature && !swift_node_count(types)) || swift_pop_any(p))
        return NULL;
    struct swift_node *n =
        swift_node(p->arena, c == 'H' ? SK_KeyPathEqualsThunkHelper : SK_KeyPathHashThunkHelper);
    n = add_all(p, n, types);
    if (signature)
        n = swift_node_add(p->arena, n, signature);
    if (serialized)
        n = swift_node_add(p->arena, n, swift_node(p->arena, SK_IsSerialized));
    return n;
}

/* --- what belongs to protocols ------------------------------------------------------------------- */

static struct swift_node *protocol_thunk(struct swift_parser *p, char c)
{
    struct swift_arena *a = p->arena;
    struct swift_node *path = NULL;
    struct swift_node *requirement;
    switch (c) {
    case 'l':
        return swift_node1(a, SK_AssociatedTypeDescriptor, swift_pop_assoc_type_name(p));
    case 'L':
        return swift_node1(a, SK_ProtocolRequirementsBaseDescriptor, swift_pop_protocol(p));
    case 'M':
        return swift_node1(a, SK_DefaultAssociatedTypeMetadataAccessor,
                           swift_pop_assoc_type_name(p));
    case 'n':
    case 'N':
        requirement = swift_pop_protocol(p);
        path = swift_pop_assoc_type_path(p);
        return swift_node3(a,
                           c == 'n' ? SK_AssociatedConformanceDescriptor
                                    : SK_DefaultAssociatedConformanceAccessor,
                           swift_pop_type(p), path, requirement);
    case 'b':
        requirement = swift_pop_protocol(p);
        return swift_node2(a, SK_BaseConformanceDescriptor, swift_pop_type(p), requirement);
    default:
        return NULL;
    }
}

static struct swift_node *two_part_thunk(struct swift_parser *p, char c)
{
    struct swift_node *entity = swift_pop_entity(p);
    if (c == 'V')
        return swift_node2(p->arena, SK_VTableThunk, swift_pop_entity(p), entity);
    return swift_node2(p->arena, SK_ProtocolWitness, swift_pop_conformance(p), entity);
}

/* --- the operator ----------------------------------------------------------------------------------- */

static struct swift_node *other_thunk(struct swift_parser *p, char c)
{
    switch (c) {
    case 'T':
        if (swift_next(p) != 'I')
            return NULL;
        return swift_node1(p->arena, SK_SILThunkIdentity, swift_pop_entity(p));
    case 'Y':
        return swift_node1(p->arena, SK_AsyncSuspendResumePartialFunction, swift_index_node(p));
    case 'Q':
        return swift_node1(p->arena, SK_AsyncAwaitResumePartialFunction, swift_index_node(p));
    case 'C':
        return swift_over_type(p, SK_CoroutineContinuationPrototype);
    case 'z':
    case 'Z':
        return completion_handler(p, c);
    case 'V':
    case 'W':
        return two_part_thunk(p, c);
    case 'R':
    case 'r':
    case 'y':
        return reabstraction_thunk(p, c);
    case 'K':
    case 'k':
        return key_path_accessor(p, c);
    case 'H':
    case 'h':
        return key_path_index(p, c);
    case 'v':
        return outlined_variable(p);
    case 'e':
        return outlined_bridged_method(p);
    case 'U':
        return global_actor_thunk(p);
    case 'J':
        return swift_autodiff(p);
    default:
        return protocol_thunk(p, c);
    }
}

/* T: thunks, specialisations and whatever else a function can be turned into. */
struct swift_node *swift_op_thunk(struct swift_parser *p)
{
    char c = swift_next(p);
    int i = swift_letter(attribute_letters, c);
    if (i >= 0)
        return swift_node(p->arena, attribute_kinds[i]);
    i = swift_letter(entity_letters, c);
    if (i >= 0)
        return swift_node1(p->arena, entity_kinds[i], swift_pop_entity(p));
    if (swift_letter("gGBtsipPf", c) >= 0)
        return swift_specialization(p, c);
    if (c == 'w') {
        i = swift_letter(late_attribute_letters, swift_next(p));
        return i < 0 ? NULL : swift_node(p->arena, late_attribute_kinds[i]);
    }
    return other_thunk(p, c);
}
