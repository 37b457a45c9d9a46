#include "symbolizer/demangle_swift_print.h"

/* --- arguments --------------------------------------------------------------------------------------- */

/* The label of an argument and its colon: from the list of labels when there is one, otherwise, and
 * only where no types are shown, from the argument tuple (older names). */
static void print_label(struct swift_printer *p, const struct swift_node *labels, size_t at,
                        const struct swift_node *param)
{
    const struct swift_node *label = NULL;
    if (swift_node_count(labels)) {
        label = swift_node_child(labels, at);
        if (!swift_node_is(label, SK_Identifier))
            label = NULL;
    } else if (p->simplified) {
        label = swift_node_find(param, SK_TupleElementName);
    } else {
        return;
    }
    if (label)
        swift_put_text(p, swift_node_get_text(label));
    swift_puts(p, label ? ":" : "_:");
    if (!p->simplified)
        swift_puts(p, " ");
}

static void print_arguments(struct swift_printer *p, const struct swift_node *labels,
                            const struct swift_node *tuple, unsigned depth)
{
    if (!swift_node_is(tuple, SK_ArgumentTuple)) {
        p->failed = true;
        return;
    }
    const struct swift_node *params = swift_node_child(swift_node_child(tuple, 0), 0);
    if (!swift_node_is(params, SK_Tuple)) {
        swift_puts(p, "(");
        if (p->simplified)
            swift_puts(p, "_:");
        else
            swift_print(p, params, depth + 1);
        swift_puts(p, ")");
        return;
    }
    swift_puts(p, "(");
    for (size_t i = 0; i < swift_node_count(params) && !p->cut; i++) {
        const struct swift_node *param = swift_node_child(params, i);
        if (i && !p->simplified)
            swift_puts(p, ", ");
        print_label(p, labels, i, param);
        if (!p->simplified)
            swift_print(p, param, depth + 1);
    }
    swift_puts(p, ")");
}

SWIFT_PRINTER(swift_print_argument_tuple)
{
    (void)prefix;
    print_arguments(p, NULL, n, depth);
    return NULL;
}

/* --- function types ------------------------------------------------------------------------------------ */

static const char *differentiability(int64_t kind)
{
    switch (kind) {
    case 'f':
        return "@differentiable(_forward)";
    case 'r':
        return "@differentiable(reverse)";
    case 'l':
        return "@differentiable(_linear)";
    default:
        return "@differentiable";
    }
}

SWIFT_PRINTER(swift_print_differentiable)
{
    (void)depth;
    (void)prefix;
    swift_puts(p, differentiability(swift_node_get_index(n)));
    if (n->kind == SK_DifferentiableFunctionType)
        swift_puts(p, " ");
    return NULL;
}

static void print_convention(struct swift_printer *p, const struct swift_node *f, const char *name,
                             unsigned depth)
{
    swift_puts(p, "@convention(");
    swift_puts(p, name);
    if (swift_node_is(swift_node_child(f, 0), SK_ClangType)) {
        swift_puts(p, ", mangledCType: \"");
        swift_print_child(p, f, 0, depth);
        swift_puts(p, "\"");
    }
    swift_puts(p, ") ");
}

static void print_representation(struct swift_printer *p, const struct swift_node *f,
                                 unsigned depth)
{
    switch ((int)f->kind) {
    case SK_AutoClosureType:
    case SK_EscapingAutoClosureType:
        swift_puts(p, "@autoclosure ");
        break;
    case SK_ThinFunctionType:
        swift_puts(p, "@convention(thin) ");
        break;
    case SK_CFunctionPointer:
        print_convention(p, f, "c", depth);
        break;
    case SK_EscapingObjCBlock:
        swift_puts(p, "@escaping ");
        print_convention(p, f, "block", depth);
        break;
    case SK_ObjCBlock:
        print_convention(p, f, "block", depth);
        break;
    default:
        break;
    }
}

/* The child at *at when it is of that kind, stepping over it. The parts of a type come in a fixed
 * order; old names have them in another one, and those out of order are not shown. */
static const struct swift_node *part(const struct swift_node *f, size_t *at, enum swift_kind kind)
{
    const struct swift_node *n = swift_node_child(f, *at);
    if (!swift_node_is(n, kind))
        return NULL;
    ++*at;
    return n;
}

static void print_part(struct swift_printer *p, const struct swift_node *n, unsigned depth)
{
    if (n)
        swift_print(p, n, depth + 1);
}

void swift_print_function_type(struct swift_printer *p, const struct swift_node *labels,
                               const struct swift_node *f, unsigned depth)
{
    size_t count = swift_node_count(f);
    if (count < 2 || !swift_node_in(f, SC_FUNCTION_TYPE)) {
        p->failed = true;
        return;
    }
    print_representation(p, f, depth);
    size_t at = 0;
    part(f, &at, SK_ClangType);
    bool sending = part(f, &at, SK_SendingResultFunctionType) != NULL;
    print_part(p, part(f, &at, SK_IsolatedAnyFunctionType), depth);
    const struct swift_node *caller = part(f, &at, SK_NonIsolatedCallerFunctionType);
    print_part(p, part(f, &at, SK_GlobalActorFunctionType), depth);
    print_part(p, part(f, &at, SK_DifferentiableFunctionType), depth);
    const struct swift_node *throws = part(f, &at, SK_ThrowsAnnotation);
    if (!throws)
        throws = part(f, &at, SK_TypedThrowsAnnotation);
    const struct swift_node *sendable = part(f, &at, SK_ConcurrentFunctionType);
    const struct swift_node *async = part(f, &at, SK_AsyncAnnotation);
    print_part(p, caller, depth);
    print_part(p, sendable, depth);

    print_arguments(p, labels, swift_node_child(f, count - 2), depth);
    if (p->simplified)
        return;
    print_part(p, async, depth);
    print_part(p, throws, depth);
    swift_puts(p, " -> ");
    if (sending)
        swift_puts(p, "sending ");
    swift_print_child(p, f, count - 1, depth);
}

SWIFT_PRINTER(swift_print_bare_function_type)
{
    (void)prefix;
    swift_print_function_type(p, NULL, n, depth);
    return NULL;
}

/* --- lowered function types -------------------------------------------------------------------------------- */

SWIFT_PRINTER(swift_print_impl_convention)
{
    (void)prefix;
    swift_puts(p, "@convention(");
    swift_print_child(p, n, 0, depth);
    if (swift_node_count(n) > 1) {
        swift_puts(p, ", mangledCType: \"");
        swift_print_child(p, n, 1, depth);
        swift_puts(p, "\"");
    }
    swift_puts(p, ")");
    return NULL;
}

/* A parameter or result: convention, attributes, type. More than two attributes are not shown. */
SWIFT_PRINTER(swift_print_impl_value)
{
    (void)prefix;
    size_t count = swift_node_count(n);
    if (n->kind == SK_ImplErrorResult || n->kind == SK_ImplYield) {
        swift_puts(p, n->kind == SK_ImplYield ? "@yields " : "@error ");
        swift_print_children(p, n, depth, " ");
        return NULL;
    }
    swift_print_child(p, n, 0, depth);
    swift_puts(p, " ");
    for (size_t i = 1; i + 1 < count && count <= 4; i++)
        swift_print_child(p, n, i, depth);
    swift_print(p, swift_node_last(n), depth + 1);
    return NULL;
}

enum impl_part { IMPL_ATTRIBUTES, IMPL_INPUTS, IMPL_RESULTS };

struct impl_state {
    enum impl_part part;
    const struct swift_node *pattern;
    const struct swift_node *invocation;
    const struct swift_node *sending;
};

/* The text between two parts. */
static void impl_move(struct swift_printer *p, struct impl_state *s, enum impl_part to,
                      unsigned depth)
{
    if (s->part == IMPL_ATTRIBUTES && to > IMPL_ATTRIBUTES) {
        if (s->pattern) {
            swift_puts(p, "@substituted ");
            swift_print_child(p, s->pattern, 0, depth);
            swift_puts(p, " ");
        }
        swift_puts(p, "(");
        s->part = IMPL_INPUTS;
    }
    if (s->part == IMPL_INPUTS && to > IMPL_INPUTS) {
        swift_puts(p, s->sending ? ") -> sending (" : ") -> (");
        s->part = IMPL_RESULTS;
    }
}

static void impl_child(struct swift_printer *p, struct impl_state *s, const struct swift_node *n,
                       unsigned depth)
{
    enum impl_part to = IMPL_RESULTS;
    switch ((int)n->kind) {
    case SK_ImplPatternSubstitutions:
        s->pattern = n;
        return;
    case SK_ImplInvocationSubstitutions:
        s->invocation = n;
        return;
    case SK_ImplSendingResult:
        s->sending = n;
        return;
    case SK_ImplParameter:
        to = IMPL_INPUTS;
        break;
    case SK_ImplResult:
    case SK_ImplYield:
    case SK_ImplErrorResult:
        break;
    default:
        swift_print(p, n, depth + 1);
        swift_puts(p, " ");
        return;
    }
    if (s->part == to)
        swift_puts(p, ", ");
    impl_move(p, s, to, depth);
    swift_print(p, n, depth + 1);
}

static void impl_for(struct swift_printer *p, const struct swift_node *substitutions, size_t at,
                     unsigned depth)
{
    if (!substitutions)
        return;
    swift_puts(p, " for <");
    swift_print_children(p, swift_node_child(substitutions, at), depth, "");
    swift_puts(p, ">");
}

SWIFT_PRINTER(swift_print_impl_function_type)
{
    (void)prefix;
    struct impl_state s = {IMPL_ATTRIBUTES, NULL, NULL, NULL};
    for (size_t i = 0; i < swift_node_count(n) && !p->cut; i++)
        impl_child(p, &s, swift_node_child(n, i), depth);
    impl_move(p, &s, IMPL_RESULTS, depth);
    swift_puts(p, ")");
    impl_for(p, s.pattern, 1, depth);
    impl_for(p, s.invocation, 0, depth);
    return NULL;
}
