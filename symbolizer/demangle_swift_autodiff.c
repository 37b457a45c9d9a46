#include "symbolizer/demangle_swift_parse.h"

/* Everything on the stack, in the order it was written. */
static struct swift_node *take_stack(struct swift_parser *p, enum swift_kind kind)
{
    struct swift_node *n = swift_node(p->arena, kind);
    for (size_t i = 0; i < p->stack.count; i++)
        n = swift_node_add(p->arena, n, p->stack.list[i]);
    p->stack.count = 0;
    return n;
}

static struct swift_node *function_kind(struct swift_parser *p)
{
    char c = swift_next(p);
    if (swift_letter("frdp", c) < 0)
        return NULL;
    return swift_node_index(p->arena, SK_AutoDiffFunctionKind, c);
}

/* INDEX-SUBSET: S for each index that is in, U for each that is not, then an end letter. */
static struct swift_node *index_subset(struct swift_parser *p, char end)
{
    struct swift_text s = {p->text + p->pos, 0};
    while (swift_accept(p, 'S') || swift_accept(p, 'U'))
        s.len++;
    if (!s.len || !swift_accept(p, end))
        return NULL;
    return swift_node_text(p->arena, SK_IndexSubset, s);
}

static struct swift_node *function_thunk(struct swift_parser *p, enum swift_kind kind)
{
    struct swift_node *n = take_stack(p, kind);
    n = swift_node_add(p->arena, n, function_kind(p));
    n = swift_node_add(p->arena, n, index_subset(p, 'p'));
    return swift_node_add(p->arena, n, index_subset(p, 'r'));
}

static struct swift_node *reordering_thunk(struct swift_parser *p)
{
    struct swift_node *signature = swift_pop_signature(p);
    struct swift_node *to = swift_pop_type(p);
    struct swift_node *from = swift_pop_type(p);
    struct swift_node *n =
        swift_node2(p->arena, SK_AutoDiffSelfReorderingReabstractionThunk, from, to);
    if (signature)
        n = swift_node_add(p->arena, n, signature);
    return swift_node_add(p->arena, n, function_kind(p));
}

/* TJ: derivatives of functions. */
struct swift_node *swift_autodiff(struct swift_parser *p)
{
    struct swift_node *n;
    if (swift_accept(p, 'S')) {
        n = function_thunk(p, SK_AutoDiffSubsetParametersThunk);
        return swift_node_add(p->arena, n, index_subset(p, 'P'));
    }
    if (swift_accept(p, 'O'))
        return reordering_thunk(p);
    if (swift_accept(p, 'V'))
        return function_thunk(p, SK_AutoDiffDerivativeVTableThunk);
    return function_thunk(p, SK_AutoDiffFunction);
}

/* WJ */
struct swift_node *swift_differentiability_witness(struct swift_parser *p)
{
    struct swift_node *signature = swift_pop_signature(p);
    struct swift_node *n = take_stack(p, SK_DifferentiabilityWitness);
    char kind = swift_next(p);
    if (swift_letter("frdl", kind) < 0)
        return NULL;
    n = swift_node_add(p->arena, n, swift_node_index(p->arena, SK_Index, kind));
    n = swift_node_add(p->arena, n, index_subset(p, 'p'));
    n = swift_node_add(p->arena, n, index_subset(p, 'r'));
    return signature ? swift_node_add(p->arena, n, signature) : n;
}
