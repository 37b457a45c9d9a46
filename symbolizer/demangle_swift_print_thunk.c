#include "symbolizer/demangle_swift_parse.h"
#include "symbolizer/demangle_swift_print.h"
#include "symbolizer/demangle_swift_special.h"

/* --- conformances ------------------------------------------------------------------------------------ */

SWIFT_PRINTER(swift_print_conformance)
{
    (void)prefix;
    if (swift_node_count(n) == 4) {
        swift_puts(p, "property behavior storage of ");
        swift_print_child(p, n, 2, depth);
        swift_puts(p, " in ");
        swift_print_child(p, n, 0, depth);
        swift_puts(p, " : ");
        swift_print_child(p, n, 1, depth);
        return NULL;
    }
    swift_print_child(p, n, 0, depth);
    if (p->simplified)
        return NULL;
    swift_puts(p, " : ");
    swift_print_child(p, n, 1, depth);
    swift_puts(p, " in ");
    swift_print_child(p, n, 2, depth);
    return NULL;
}

SWIFT_PRINTER(swift_print_concrete_conformance)
{
    (void)prefix;
    swift_puts(p, "concrete protocol conformance ");
    swift_print_child(p, n, 0, depth);
    swift_puts(p, " to ");
    swift_print_child(p, n, 1, depth);
    if (swift_node_count(swift_node_child(n, 2))) {
        swift_puts(p, " with conditional requirements: ");
        swift_print_child(p, n, 2, depth);
    }
    return NULL;
}

SWIFT_PRINTER(swift_print_dependent_conformance)
{
    (void)prefix;
    const struct swift_node *index = swift_node_child(n, 2);
    swift_puts(p, n->kind == SK_DependentProtocolConformanceRoot
                      ? "dependent root protocol conformance "
                  : n->kind == SK_DependentProtocolConformanceInherited
                      ? "dependent inherited protocol conformance "
                      : "dependent associated protocol conformance ");
    if (swift_node_is(index, SK_Index)) {
        swift_puts(p, "#");
        swift_print(p, index, depth + 1);
        swift_puts(p, " ");
    }
    swift_print_child(p, n, 0, depth);
    swift_puts(p, " to ");
    swift_print_child(p, n, 1, depth);
    return NULL;
}

SWIFT_PRINTER(swift_print_conformance_list)
{
    (void)prefix;
    if (!swift_node_count(n))
        return NULL;
    swift_puts(p, "(");
    swift_print_children(p, n, depth, ", ");
    swift_puts(p, ")");
    return NULL;
}

SWIFT_PRINTER(swift_print_retroactive)
{
    (void)prefix;
    if (swift_node_count(n) != 2)
        return NULL;
    swift_puts(p, "retroactive @ ");
    swift_print_child(p, n, 0, depth);
    swift_print_child(p, n, 1, depth);
    return NULL;
}

/* --- specialisations ----------------------------------------------------------------------------------- */

static const char *specialization_name(int kind)
{
    switch (kind) {
    case SK_GenericSpecializationPrespecialized:
        return "generic pre-specialization";
    case SK_GenericSpecializationNotReAbstracted:
        return "generic not re-abstracted specialization";
    case SK_GenericPartialSpecialization:
        return "generic partial specialization";
    case SK_GenericPartialSpecializationNotReAbstracted:
        return "generic not-reabstracted partial specialization";
    case SK_InlinedGenericFunction:
        return "inlined generic function";
    case SK_FunctionSignatureSpecialization:
        return "function signature specialization";
    default:
        return "generic specialization";
    }
}

/* A kind with operands: what goes before each of them, and behind the last. */
struct special_operands {
    size_t count;
    const char *before[3];
    const char *end;
};

static const struct special_operands special_operands[] = {
    [SPECIAL_FUNCTION] = {1, {" : "}, "]"},
    [SPECIAL_GLOBAL] = {1, {" : "}, "]"},
    [SPECIAL_INTEGER] = {1, {" : "}, "]"},
    [SPECIAL_FLOAT] = {1, {" : "}, "]"},
    [SPECIAL_STRING] = {2, {" : ", "'"}, "']"},
    [SPECIAL_KEY_PATH] = {3, {" : ", "<", ","}, ">]"},
    [SPECIAL_CLOSURE] = {1, {" : "}, ", Argument Types : ["},
};

/* What was done to one argument: kinds, most of them with what it was done with. One whose operands
 * are missing (results have none) prints nothing. */
static void print_special(struct swift_printer *p, const struct swift_node *param, unsigned depth)
{
    size_t count = swift_node_count(param);
    for (size_t i = 0; i < count && !p->failed && !p->cut;) {
        const struct swift_node *kind = swift_node_child(param, i);
        if (!swift_node_is(kind, SK_FunctionSignatureSpecializationParamKind)) {
            p->failed = true;
            return;
        }
        int64_t k = swift_node_get_index(kind);
        if (k > SPECIAL_CLOSURE) {
            swift_print_child(p, param, i++, depth);
            continue;
        }
        const struct special_operands *o = &special_operands[k];
        if (i + o->count >= count)
            return;
        swift_puts(p, "[");
        swift_print_child(p, param, i++, depth);
        for (size_t operand = 0; operand < o->count; operand++) {
            swift_puts(p, o->before[operand]);
            swift_print_child(p, param, i++, depth);
        }
        swift_puts(p, o->end);
        if (k != SPECIAL_CLOSURE)
            continue;
        for (; swift_node_is(swift_node_child(param, i), SK_Type); i++)
            swift_print_child(p, param, i, depth);
        swift_puts(p, "]");
    }
}

/* One item of the list between "<" and ">". */
static void print_specialization_item(struct swift_printer *p, const struct swift_node *item,
                                      int number, unsigned depth)
{
    if (item->kind == SK_FunctionSignatureSpecializationParam) {
        swift_puts(p, "Arg[");
        swift_put_int(p, number);
        swift_puts(p, "] = ");
        print_special(p, item, depth);
    } else if (item->kind == SK_FunctionSignatureSpecializationReturn) {
        swift_puts(p, "Return = ");
        print_special(p, item, depth);
    } else {
        swift_print(p, item, depth + 1);
    }
}

SWIFT_PRINTER(swift_print_specialization)
{
    (void)prefix;
    if (p->simplified) {
        if (!p->specialized)
            swift_puts(p, "specialized ");
        p->specialized = true;
        return NULL;
    }
    bool partial = n->kind == SK_GenericPartialSpecialization ||
                   n->kind == SK_GenericPartialSpecializationNotReAbstracted;
    const char *separator = "";
    int number = 0;
    swift_puts(p, specialization_name(n->kind));
    swift_puts(p, " <");
    for (size_t i = 0; i < swift_node_count(n) && !p->cut; i++) {
        const struct swift_node *item = swift_node_child(n, i);
        if (item->kind == SK_SpecializationPassID || item->kind == SK_DroppedArgument)
            continue;
        bool serialized = item->kind == SK_IsSerialized;
        if (serialized || swift_node_count(item)) {
            swift_puts(p, separator);
            separator = ", ";
            if (partial && !serialized)
                swift_puts(p, "Signature = ");
            print_specialization_item(p, item, number, depth);
        }
        if (!serialized)
            number++;
    }
    swift_puts(p, "> of ");
    return NULL;
}

/* A type and the conformances it came with. */
SWIFT_PRINTER(swift_print_specialization_param)
{
    (void)prefix;
    swift_print_child(p, n, 0, depth);
    for (size_t i = 1; i < swift_node_count(n); i++) {
        swift_puts(p, i == 1 ? " with " : " and ");
        swift_print_child(p, n, i, depth);
    }
    return NULL;
}

static const struct {
    int bit;
    const char *text;
} special_bits[] = {
    {SPECIAL_EXISTENTIAL_TO_GENERIC, "Existential To Protocol Constrained Generic"},
    {SPECIAL_DEAD, "Dead"},
    {SPECIAL_OWNED_TO_GUARANTEED, "Owned To Guaranteed"},
    {SPECIAL_GUARANTEED_TO_OWNED, "Guaranteed To Owned"},
    {SPECIAL_EXPLODED, "Exploded"},
};

static const char *const special_names[] = {
    [SPECIAL_FUNCTION] = "Constant Propagated Function",
    [SPECIAL_GLOBAL] = "Constant Propagated Global",
    [SPECIAL_INTEGER] = "Constant Propagated Integer",
    [SPECIAL_FLOAT] = "Constant Propagated Float",
    [SPECIAL_STRING] = "Constant Propagated String",
    [SPECIAL_KEY_PATH] = "Constant Propagated KeyPath",
    [SPECIAL_CLOSURE] = "Closure Propagated",
    [SPECIAL_BOX_TO_VALUE] = "Value Promoted from Box",
    [SPECIAL_BOX_TO_STACK] = "Stack Promoted from Box",
    [SPECIAL_IN_OUT_TO_OUT] = "InOut Converted to Out",
};

SWIFT_PRINTER(swift_print_special_kind)
{
    (void)depth;
    (void)prefix;
    int64_t kind = swift_node_get_index(n);
    if (kind < (int64_t)(sizeof(special_names) / sizeof(special_names[0]))) {
        swift_puts(p, special_names[kind]);
        return NULL;
    }
    const char *separator = "";
    for (size_t i = 0; i < sizeof(special_bits) / sizeof(special_bits[0]); i++) {
        if (!(kind & special_bits[i].bit))
            continue;
        swift_puts(p, separator);
        swift_puts(p, special_bits[i].text);
        separator = " and ";
    }
    return NULL;
}

SWIFT_PRINTER(swift_print_special_payload)
{
    (void)prefix;
    swift_print_nested(p, swift_node_get_text(n), depth);
    return NULL;
}

/* --- thunks ----------------------------------------------------------------------------------------------- */

SWIFT_PRINTER(swift_print_partial_apply)
{
    (void)prefix;
    swift_puts(p, p->simplified                             ? "partial apply"
                  : n->kind == SK_PartialApplyObjCForwarder ? "partial apply ObjC forwarder"
                                                            : "partial apply forwarder");
    if (swift_node_count(n)) {
        swift_puts(p, " for ");
        swift_print_children(p, n, depth, "");
    }
    return NULL;
}

SWIFT_PRINTER(swift_print_reabstraction)
{
    (void)prefix;
    size_t count = swift_node_count(n);
    if (p->simplified) {
        swift_puts(p, "thunk for ");
        swift_print(p, swift_node_last(n), depth + 1);
        return NULL;
    }
    swift_puts(p, "reabstraction thunk ");
    if (n->kind == SK_ReabstractionThunkHelper)
        swift_puts(p, "helper ");
    size_t at = count == 3 ? 1 : 0;
    if (at) {
        swift_print_child(p, n, 0, depth);
        swift_puts(p, " ");
    }
    swift_puts(p, "from ");
    swift_print_child(p, n, at + 1, depth);
    swift_puts(p, " to ");
    swift_print_child(p, n, at, depth);
    return NULL;
}

SWIFT_PRINTER(swift_print_reabstraction_self)
{
    (void)prefix;
    swift_puts(p, "reabstraction thunk ");
    size_t at = swift_node_count(n) == 4 ? 1 : 0;
    if (at) {
        swift_print_child(p, n, 0, depth);
        swift_puts(p, " ");
    }
    swift_puts(p, "from ");
    swift_print_child(p, n, at + 2, depth);
    swift_puts(p, " to ");
    swift_print_child(p, n, at + 1, depth);
    swift_puts(p, " self ");
    swift_print_child(p, n, at, depth);
    return NULL;
}

SWIFT_PRINTER(swift_print_completion_handler)
{
    static const char *const flags[] = {"", " nonzero on error", " zero on error"};
    (void)prefix;
    int64_t flag = swift_node_get_index(swift_node_child(n, 2));
    if (n->kind == SK_PredefinedObjCAsyncCompletionHandlerImpl)
        swift_puts(p, "predefined ");
    swift_puts(p, "@objc completion handler block implementation for ");
    if (swift_node_count(n) >= 4)
        swift_print_child(p, n, 3, depth);
    swift_print_child(p, n, 0, depth);
    swift_puts(p, " with result type ");
    swift_print_child(p, n, 1, depth);
    swift_puts(p, flag >= 0 && flag < 3 ? flags[flag] : " <invalid error flag>");
    return NULL;
}

SWIFT_PRINTER(swift_print_key_path)
{
    (void)prefix;
    swift_puts(p, n->kind == SK_KeyPathGetterThunkHelper            ? "key path getter for "
                  : n->kind == SK_KeyPathSetterThunkHelper          ? "key path setter for "
                  : n->kind == SK_KeyPathUnappliedMethodThunkHelper ? "key path unapplied method "
                                                                    : "key path applied method ");
    swift_print_child(p, n, 0, depth);
    swift_puts(p, " : ");
    for (size_t i = 1; i < swift_node_count(n); i++) {
        if (swift_node_is(swift_node_child(n, i), SK_IsSerialized))
            swift_puts(p, ", ");
        swift_print_child(p, n, i, depth);
    }
    return NULL;
}

SWIFT_PRINTER(swift_print_key_path_index)
{
    (void)prefix;
    size_t end = swift_node_count(n);
    swift_puts(p, n->kind == SK_KeyPathEqualsThunkHelper ? "key path index equality operator for "
                                                         : "key path index hash operator for ");
    if (end && swift_node_is(swift_node_child(n, end - 1), SK_IsSerialized))
        end--;
    if (end && swift_node_is(swift_node_child(n, end - 1), SK_DependentGenericSignature))
        swift_print_child(p, n, --end, depth);
    swift_puts(p, "(");
    for (size_t i = 0; i < end; i++) {
        if (i)
            swift_puts(p, ", ");
        swift_print_child(p, n, i, depth);
    }
    swift_puts(p, ")");
    return NULL;
}

/* --- automatic differentiation -------------------------------------------------------------------------------- */

SWIFT_PRINTER(swift_print_autodiff_kind)
{
    (void)depth;
    (void)prefix;
    switch (swift_node_get_index(n)) {
    case 'f':
        swift_puts(p, "forward-mode derivative");
        break;
    case 'r':
        swift_puts(p, "reverse-mode derivative");
        break;
    case 'd':
        swift_puts(p, "differential");
        break;
    default:
        swift_puts(p, "pullback");
        break;
    }
    return NULL;
}

SWIFT_PRINTER(swift_print_index_subset)
{
    (void)depth;
    (void)prefix;
    struct swift_text t = swift_node_get_text(n);
    const char *separator = "";
    swift_puts(p, "{");
    for (size_t i = 0; i < t.len; i++) {
        if (t.s[i] != 'S')
            continue;
        swift_puts(p, separator);
        swift_put_int(p, (int64_t)i);
        separator = ", ";
    }
    swift_puts(p, "}");
    return NULL;
}

/* Children: what is differentiated, perhaps a signature, then kind, parameters, results. */
SWIFT_PRINTER(swift_print_autodiff)
{
    (void)prefix;
    size_t end = 0;
    while (swift_node_child(n, end) &&
           !swift_node_is(swift_node_child(n, end), SK_AutoDiffFunctionKind))
        end++;
    const struct swift_node *signature = end ? swift_node_child(n, end - 1) : NULL;
    if (!swift_node_is(signature, SK_DependentGenericSignature))
        signature = NULL;
    if (n->kind == SK_AutoDiffDerivativeVTableThunk)
        swift_puts(p, "vtable thunk for ");
    swift_print_child(p, n, end, depth);
    swift_puts(p, " of ");
    for (size_t i = 0; i < (signature ? end - 1 : end); i++)
        swift_print_child(p, n, i, depth);
    if (p->simplified)
        return NULL;
    swift_puts(p, " with respect to parameters ");
    swift_print_child(p, n, end + 1, depth);
    swift_puts(p, " and results ");
    swift_print_child(p, n, end + 2, depth);
    if (signature && p->where) {
        swift_puts(p, " with ");
        swift_print(p, signature, depth + 1);
    }
    return NULL;
}

/* Children: what it is made from, perhaps the type it is made to, then kind, parameters, results and
 * the parameters of the new function. */
SWIFT_PRINTER(swift_print_autodiff_subset)
{
    (void)prefix;
    size_t count = swift_node_count(n);
    if (count < 5) {
        p->failed = true;
        return NULL;
    }
    size_t to = count - 5;
    swift_puts(p, "autodiff subset parameters thunk for ");
    swift_print_child(p, n, count - 4, depth);
    swift_puts(p, " from ");
    for (size_t i = 0; i < (to ? to : 1); i++)
        swift_print_child(p, n, i, depth);
    if (p->simplified)
        return NULL;
    swift_puts(p, " with respect to parameters ");
    swift_print_child(p, n, count - 3, depth);
    swift_puts(p, " and results ");
    swift_print_child(p, n, count - 2, depth);
    swift_puts(p, " to parameters ");
    swift_print_child(p, n, count - 1, depth);
    if (to) {
        swift_puts(p, " of type ");
        swift_print_child(p, n, to, depth);
    }
    return NULL;
}

SWIFT_PRINTER(swift_print_autodiff_reorder)
{
    (void)prefix;
    size_t at = 2;
    swift_puts(p, "autodiff self-reordering reabstraction thunk for ");
    if (p->simplified) {
        swift_print_child(p, n, 0, depth);
        return NULL;
    }
    const struct swift_node *signature = swift_node_child(n, 2);
    if (swift_node_is(signature, SK_DependentGenericSignature))
        at++;
    else
        signature = NULL;
    swift_print_child(p, n, at, depth);
    if (signature) {
        swift_print(p, signature, depth + 1);
        swift_puts(p, " ");
    }
    swift_puts(p, " from ");
    swift_print_child(p, n, 0, depth);
    swift_puts(p, " to ");
    swift_print_child(p, n, 1, depth);
    return NULL;
}

static const char *differentiability_mode(int64_t kind)
{
    switch (kind) {
    case 'f':
        return "forward-mode";
    case 'r':
        return "reverse-mode";
    case 'l':
        return "linear";
    default:
        return "normal";
    }
}

SWIFT_PRINTER(swift_print_differentiability_witness)
{
    (void)prefix;
    size_t count = swift_node_count(n);
    size_t tail = swift_node_is(swift_node_last(n), SK_DependentGenericSignature) ? 4 : 3;
    if (count < tail) {
        p->failed = true;
        return NULL;
    }
    swift_puts(p, differentiability_mode(swift_node_get_index(swift_node_child(n, count - tail))));
    swift_puts(p, " differentiability witness for ");
    size_t at = 0;
    while (swift_node_child(n, at) && !swift_node_is(swift_node_child(n, at), SK_Index))
        swift_print_child(p, n, at++, depth);
    swift_puts(p, " with respect to parameters ");
    swift_print_child(p, n, at + 1, depth);
    swift_puts(p, " and results ");
    swift_print_child(p, n, at + 2, depth);
    if (at + 3 < count) {
        swift_puts(p, " with ");
        swift_print_child(p, n, at + 3, depth);
    }
    return NULL;
}

/* --- others ------------------------------------------------------------------------------------------------------- */

SWIFT_PRINTER(swift_print_outlined_copy)
{
    (void)prefix;
    swift_puts(p, n->kind == SK_OutlinedCopy ? "outlined copy of " : "outlined consume of ");
    swift_print_children(p, n, depth, "");
    return NULL;
}

SWIFT_PRINTER(swift_print_value_witness)
{
    (void)prefix;
    swift_puts(p, swift_value_witness_name(swift_node_get_index(swift_node_child(n, 0))));
    swift_puts(p, p->simplified ? " for " : " value witness for ");
    swift_print_child(p, n, 1, depth);
    return NULL;
}

SWIFT_PRINTER(swift_print_once_names)
{
    (void)prefix;
    bool several = swift_node_count(n) != 1;
    if (several)
        swift_puts(p, "(");
    swift_print_children(p, n, depth, ", ");
    if (several)
        swift_puts(p, ")");
    return NULL;
}
