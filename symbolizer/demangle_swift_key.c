#include "symbolizer/demangle_swift_key.h"

#include <string.h>

/* Wrappers around wrappers; real names have four. */
#define UNWRAP_MAX 256

/* What is inside a Global or a partial apply forwarder: attributes, then what they speak of. */
static const struct swift_node *content(const struct swift_node *n)
{
    for (size_t i = 0; i < swift_node_count(n); i++) {
        const struct swift_node *child = swift_node_child(n, i);
        bool forwarder =
            child->kind == SK_PartialApplyForwarder || child->kind == SK_PartialApplyObjCForwarder;
        if (forwarder && swift_node_count(child))
            return child;
        if (!swift_node_in(child, SC_ATTRIBUTE) && child->kind != SK_Suffix)
            return child;
    }
    return NULL;
}

/* --- protocol witnesses ---------------------------------------------------------------------------- */

static const struct swift_node *bare(const struct swift_node *type)
{
    for (;;) {
        if (swift_node_is(type, SK_Type))
            type = swift_node_child(type, 0);
        else if (swift_node_is(type, SK_DependentGenericType))
            type = swift_node_child(type, 1);
        else
            return type;
    }
}

/* The entity in another context. Accessors and `static` lie around it; there are few. */
static struct swift_node *moved(struct swift_arena *a, const struct swift_node *entity,
                                const struct swift_node *context, unsigned depth)
{
    struct swift_node *first = swift_node_child(entity, 0);
    if (!first || depth > 8)
        return NULL;
    if (!swift_node_is(first, SK_Protocol) && !swift_node_is(first, SK_Extension))
        return swift_node1(a, entity->kind, moved(a, first, context, depth + 1));
    struct swift_node *n = swift_node(a, entity->kind);
    /* Nodes are not written to any more, but a list of children is a list of writable ones. */
    union {
        const struct swift_node *in;
        struct swift_node *out;
    } c = {context};
    n = swift_node_add(a, n, c.out);
    for (size_t i = 1; i < swift_node_count(entity); i++)
        n = swift_node_add(a, n, swift_node_child(entity, i));
    return n;
}

/* The requirement as a member of the conforming type. */
static const struct swift_node *witness(struct swift_printer *p, const struct swift_node *n)
{
    const struct swift_node *entity = bare(swift_node_child(n, 1));
    const struct swift_node *type = bare(swift_node_child(swift_node_child(n, 0), 0));
    const struct swift_node *member = type ? moved(p->arena, entity, type, 0) : NULL;
    return member ? member : entity;
}

/* --- finding the function ----------------------------------------------------------------------------- */

/* One wrapper less, or NULL when `n` is what the symbol is about. */
static const struct swift_node *unwrap(struct swift_printer *p, const struct swift_node *n)
{
    switch ((int)n->kind) {
    case SK_Global:
    case SK_PartialApplyForwarder:
    case SK_PartialApplyObjCForwarder:
        return content(n);
    case SK_TypeMangling:
        return swift_node_last(n);
    case SK_Type:
    case SK_ExplicitClosure:
    case SK_ImplicitClosure:
    case SK_DefaultArgumentInitializer:
    case SK_Initializer:
    case SK_PropertyWrapperBackingInitializer:
    case SK_PropertyWrapperInitFromProjectedValue:
    case SK_PropertyWrappedFieldInitAccessor:
    case SK_CurryThunk:
    case SK_DispatchThunk:
    case SK_SILThunkIdentity:
    case SK_VTableThunk:
    case SK_MethodDescriptor:
    case SK_PropertyDescriptor:
    case SK_ProtocolSelfConformanceWitness:
    case SK_KeyPathGetterThunkHelper:
    case SK_KeyPathSetterThunkHelper:
    case SK_KeyPathUnappliedMethodThunkHelper:
    case SK_KeyPathAppliedMethodThunkHelper:
    case SK_ReabstractionThunkHelperWithGlobalActor:
        return swift_node_child(n, 0);
    case SK_AutoDiffSubsetParametersThunk:
        return swift_node_is(content(n), SK_Type) ? NULL : content(n);
    case SK_AutoDiffFunction:
    case SK_AutoDiffDerivativeVTableThunk:
    case SK_DifferentiabilityWitness:
        return content(n);
    case SK_ProtocolWitness:
        return witness(p, n);
    default:
        return NULL;
    }
}

/* Symbols of no function: what they are. */
static const char *artefact(int kind)
{
    switch (kind) {
    case SK_ReabstractionThunk:
    case SK_ReabstractionThunkHelper:
    case SK_ReabstractionThunkHelperWithSelf:
    case SK_AutoDiffSelfReorderingReabstractionThunk:
    case SK_AutoDiffSubsetParametersThunk:
        return "reabstraction thunk";
    case SK_KeyPathEqualsThunkHelper:
    case SK_KeyPathHashThunkHelper:
        return "key path index operator";
    case SK_ObjCAsyncCompletionHandlerImpl:
    case SK_PredefinedObjCAsyncCompletionHandlerImpl:
        return "completion handler";
    case SK_CoroutineContinuationPrototype:
        return "coroutine continuation prototype";
    case SK_PartialApplyForwarder:
    case SK_PartialApplyObjCForwarder:
        return "partial apply";
    case SK_ImplFunctionType:
        return "function type";
    default:
        break;
    }
    if (kind >= SK_OutlinedCopy && kind <= SK_OutlinedEnumProjectDataForLoad)
        return "outlined value operation";
    return NULL;
}

/* --- the form -------------------------------------------------------------------------------------------- */

/* A global or static variable that is initialised once: "Feed.shared". */
static void print_once(struct swift_printer *p, const struct swift_node *n)
{
    size_t before = p->len;
    swift_print_as(p, swift_node_child(n, 0), 1, true);
    if (p->len > before)
        swift_puts(p, ".");
    swift_print_child(p, n, 1, 0);
}

void swift_print_key(struct swift_printer *p, const struct swift_node *global)
{
    const struct swift_node *n = global;
    const struct swift_node *inner = global;
    for (int i = 0; i < UNWRAP_MAX && inner; i++) {
        n = inner;
        inner = unwrap(p, n);
    }
    const char *text = artefact(n->kind);
    if (text)
        swift_puts(p, text);
    else if (n->kind == SK_GlobalVariableOnceFunction || n->kind == SK_GlobalVariableOnceToken)
        print_once(p, n);
    else if (n->kind == SK_Module)
        swift_put_text(p, swift_node_get_text(n));
    else
        swift_print(p, n, 0);
    if (p->len || p->failed)
        return;
    p->key = false;
    swift_print(p, global, 0);
}
