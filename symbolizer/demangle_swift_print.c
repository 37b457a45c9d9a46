#include "symbolizer/demangle_swift_print.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "symbolizer/demangle_swift_parse.h"

/* --- output -------------------------------------------------------------------------------------- */

void swift_put(struct swift_printer *p, const char *s, size_t len)
{
    size_t room = p->size - 1 - p->len;
    if (len > room) {
        len = room;
        p->cut = true;
    }
    memcpy(p->out + p->len, s, len);
    p->len += len;
}

void swift_put_text(struct swift_printer *p, struct swift_text t)
{
    swift_put(p, t.s, t.len);
}

void swift_put_int(struct swift_printer *p, int64_t n)
{
    char s[24];
    int len = snprintf(s, sizeof(s), "%" PRId64, n);
    swift_put(p, s, (size_t)len);
}

static void put_unsigned(struct swift_printer *p, uint64_t n)
{
    char s[24];
    int len = snprintf(s, sizeof(s), "%" PRIu64, n);
    swift_put(p, s, (size_t)len);
}

/* --- names and small things ----------------------------------------------------------------------- */

static SWIFT_PRINTER(print_local_name)
{
    (void)prefix;
    swift_print_child(p, n, 1, depth);
    swift_puts(p, " #");
    swift_put_int(p, swift_node_get_index(swift_node_child(n, 0)) + 1);
    return NULL;
}

/* In the key form the labels tell infix from prefix. */
static SWIFT_PRINTER(print_operator)
{
    (void)depth;
    (void)prefix;
    swift_put_text(p, swift_node_get_text(n));
    if (!p->key)
        swift_puts(p, n->kind == SK_InfixOperator    ? " infix"
                      : n->kind == SK_PrefixOperator ? " prefix"
                                                     : " postfix");
    return NULL;
}

static SWIFT_PRINTER(print_private_name)
{
    (void)prefix;
    bool named = swift_node_count(n) > 1;
    if (p->simplified) {
        if (named)
            swift_print_child(p, n, 1, depth);
        return NULL;
    }
    swift_puts(p, "(");
    if (named)
        swift_print_child(p, n, 1, depth);
    swift_puts(p, named ? " in " : "in ");
    swift_put_text(p, swift_node_get_text(swift_node_child(n, 0)));
    swift_puts(p, ")");
    return NULL;
}

static SWIFT_PRINTER(print_related_name)
{
    (void)prefix;
    swift_puts(p, "related decl '");
    swift_put_text(p, swift_node_get_text(swift_node_child(n, 0)));
    swift_puts(p, "' for ");
    swift_print_child(p, n, 1, depth);
    return NULL;
}

/* Characters that have a backslash and a letter in a quoted text. */
static const char quoted_characters[] = "\\\t\n\r\"";
static const char quoted_letters[] = "\\tnr\"";

static SWIFT_PRINTER(print_suffix)
{
    (void)depth;
    (void)prefix;
    struct swift_text t = swift_node_get_text(n);
    swift_puts(p, " with unmangled suffix \"");
    for (size_t i = 0; i < t.len; i++) {
        char c = t.s[i];
        char hex[8];
        int special = swift_letter(quoted_characters, c);
        if (special >= 0) {
            swift_puts(p, "\\");
            swift_put(p, quoted_letters + special, 1);
        } else if ((unsigned char)c < 0x20 || c == 0x7F) {
            snprintf(hex, sizeof(hex), "\\x%02X", (unsigned char)c);
            swift_puts(p, hex);
        } else {
            swift_put(p, &c, 1);
        }
    }
    swift_puts(p, "\"");
    return NULL;
}

static SWIFT_PRINTER(print_directness)
{
    (void)depth;
    (void)prefix;
    swift_puts(p, swift_node_get_index(n) ? "indirect " : "direct ");
    return NULL;
}

/* --- kinds without text ------------------------------------------------------------------------------ */

typedef const struct swift_node *print_fn(struct swift_printer *p, const struct swift_node *n,
                                          unsigned depth, bool prefix);

/* clang-format off */
static print_fn *const printers[SK_COUNT] = {
    [SK_LocalDeclName] = print_local_name,
    [SK_PrivateDeclName] = print_private_name,
    [SK_PrefixOperator] = print_operator,
    [SK_PostfixOperator] = print_operator,
    [SK_InfixOperator] = print_operator,
    [SK_RelatedEntityDeclName] = print_related_name,
    [SK_Suffix] = print_suffix,
    [SK_AnonymousContext] = swift_print_anonymous_context,
    [SK_Extension] = swift_print_extension,
    [SK_Function] = swift_print_function,
    [SK_BoundGenericFunction] = swift_print_function,
    [SK_Variable] = swift_print_variable,
    [SK_Subscript] = swift_print_subscript,
    [SK_ExplicitClosure] = swift_print_closure,
    [SK_ImplicitClosure] = swift_print_closure,
    [SK_Allocator] = swift_print_member,
    [SK_Constructor] = swift_print_member,
    [SK_Destructor] = swift_print_member,
    [SK_Deallocator] = swift_print_member,
    [SK_IsolatedDeallocator] = swift_print_member,
    [SK_IVarInitializer] = swift_print_member,
    [SK_IVarDestroyer] = swift_print_member,
    [SK_Initializer] = swift_print_initializer,
    [SK_DefaultArgumentInitializer] = swift_print_initializer,
    [SK_PropertyWrapperBackingInitializer] = swift_print_initializer,
    [SK_PropertyWrapperInitFromProjectedValue] = swift_print_initializer,
    [SK_PropertyWrappedFieldInitAccessor] = swift_print_initializer,
    [SK_GenericTypeParamDecl] = swift_print_named,
    [SK_Macro] = swift_print_macro,
    [SK_Getter] = swift_print_accessor,
    [SK_GlobalGetter] = swift_print_accessor,
    [SK_Setter] = swift_print_accessor,
    [SK_MaterializeForSet] = swift_print_accessor,
    [SK_WillSet] = swift_print_accessor,
    [SK_DidSet] = swift_print_accessor,
    [SK_ReadAccessor] = swift_print_accessor,
    [SK_Read2Accessor] = swift_print_accessor,
    [SK_ModifyAccessor] = swift_print_accessor,
    [SK_Modify2Accessor] = swift_print_accessor,
    [SK_InitAccessor] = swift_print_accessor,
    [SK_BorrowAccessor] = swift_print_accessor,
    [SK_MutateAccessor] = swift_print_accessor,
    [SK_OwningAddressor] = swift_print_accessor,
    [SK_OwningMutableAddressor] = swift_print_accessor,
    [SK_NativeOwningAddressor] = swift_print_accessor,
    [SK_NativeOwningMutableAddressor] = swift_print_accessor,
    [SK_NativePinningAddressor] = swift_print_accessor,
    [SK_NativePinningMutableAddressor] = swift_print_accessor,
    [SK_UnsafeAddressor] = swift_print_accessor,
    [SK_UnsafeMutableAddressor] = swift_print_accessor,
    [SK_AccessorAttachedMacroExpansion] = swift_print_expansion,
    [SK_MemberAttributeAttachedMacroExpansion] = swift_print_expansion,
    [SK_MemberAttachedMacroExpansion] = swift_print_expansion,
    [SK_PeerAttachedMacroExpansion] = swift_print_expansion,
    [SK_ConformanceAttachedMacroExpansion] = swift_print_expansion,
    [SK_ExtensionAttachedMacroExpansion] = swift_print_expansion,
    [SK_PreambleAttachedMacroExpansion] = swift_print_expansion,
    [SK_BodyAttachedMacroExpansion] = swift_print_expansion,
    [SK_FreestandingMacroExpansion] = swift_print_expansion,
    [SK_MacroExpansionUniqueName] = swift_print_expansion,
    [SK_MacroExpansionLoc] = swift_print_expansion_loc,
    [SK_Class] = swift_print_named,
    [SK_Structure] = swift_print_named,
    [SK_Enum] = swift_print_named,
    [SK_Protocol] = swift_print_named,
    [SK_TypeAlias] = swift_print_named,
    [SK_OtherNominalType] = swift_print_named,
    [SK_BoundGenericClass] = swift_print_bound_generic,
    [SK_BoundGenericStructure] = swift_print_bound_generic,
    [SK_BoundGenericEnum] = swift_print_bound_generic,
    [SK_BoundGenericProtocol] = swift_print_bound_generic,
    [SK_BoundGenericTypeAlias] = swift_print_bound_generic,
    [SK_BoundGenericOtherNominalType] = swift_print_bound_generic,
    [SK_TypeMangling] = swift_print_type_mangling,
    [SK_TupleElement] = swift_print_tuple_element,
    [SK_Metatype] = swift_print_metatype,
    [SK_ExistentialMetatype] = swift_print_existential_metatype,
    [SK_ProtocolList] = swift_print_protocol_list,
    [SK_ProtocolListWithClass] = swift_print_protocol_list_with,
    [SK_ProtocolListWithAnyObject] = swift_print_protocol_list_with,
    [SK_SILBoxTypeWithLayout] = swift_print_box,
    [SK_SILBoxLayout] = swift_print_box_layout,
    [SK_SugaredOptional] = swift_print_sugared_optional,
    [SK_ExtendedExistentialTypeShape] = swift_print_existential_shape,
    [SK_FunctionType] = swift_print_bare_function_type,
    [SK_UncurriedFunctionType] = swift_print_bare_function_type,
    [SK_NoEscapeFunctionType] = swift_print_bare_function_type,
    [SK_AutoClosureType] = swift_print_bare_function_type,
    [SK_EscapingAutoClosureType] = swift_print_bare_function_type,
    [SK_ThinFunctionType] = swift_print_bare_function_type,
    [SK_CFunctionPointer] = swift_print_bare_function_type,
    [SK_ObjCBlock] = swift_print_bare_function_type,
    [SK_EscapingObjCBlock] = swift_print_bare_function_type,
    [SK_ArgumentTuple] = swift_print_argument_tuple,
    [SK_DifferentiableFunctionType] = swift_print_differentiable,
    [SK_ImplDifferentiabilityKind] = swift_print_differentiable,
    [SK_ImplFunctionType] = swift_print_impl_function_type,
    [SK_ImplFunctionConvention] = swift_print_impl_convention,
    [SK_ImplParameter] = swift_print_impl_value,
    [SK_ImplResult] = swift_print_impl_value,
    [SK_ImplYield] = swift_print_impl_value,
    [SK_ImplErrorResult] = swift_print_impl_value,
    [SK_DependentGenericType] = swift_print_generic_type,
    [SK_DependentGenericSignature] = swift_print_signature,
    [SK_DependentPseudogenericSignature] = swift_print_signature,
    [SK_DependentGenericParamType] = swift_print_generic_param,
    [SK_DependentAssociatedTypeRef] = swift_print_assoc_type_ref,
    [SK_DependentGenericInverseConformanceRequirement] = swift_print_inverse_requirement,
    [SK_DependentGenericLayoutRequirement] = swift_print_layout_requirement,
    [SK_ProtocolConformance] = swift_print_conformance,
    [SK_ConcreteProtocolConformance] = swift_print_concrete_conformance,
    [SK_DependentProtocolConformanceRoot] = swift_print_dependent_conformance,
    [SK_DependentProtocolConformanceInherited] = swift_print_dependent_conformance,
    [SK_DependentProtocolConformanceAssociated] = swift_print_dependent_conformance,
    [SK_AnyProtocolConformanceList] = swift_print_conformance_list,
    [SK_RetroactiveConformance] = swift_print_retroactive,
    [SK_PartialApplyForwarder] = swift_print_partial_apply,
    [SK_PartialApplyObjCForwarder] = swift_print_partial_apply,
    [SK_GenericSpecialization] = swift_print_specialization,
    [SK_GenericSpecializationPrespecialized] = swift_print_specialization,
    [SK_GenericSpecializationNotReAbstracted] = swift_print_specialization,
    [SK_GenericSpecializationInResilienceDomain] = swift_print_specialization,
    [SK_GenericPartialSpecialization] = swift_print_specialization,
    [SK_GenericPartialSpecializationNotReAbstracted] = swift_print_specialization,
    [SK_InlinedGenericFunction] = swift_print_specialization,
    [SK_FunctionSignatureSpecialization] = swift_print_specialization,
    [SK_GenericSpecializationParam] = swift_print_specialization_param,
    [SK_FunctionSignatureSpecializationParamKind] = swift_print_special_kind,
    [SK_FunctionSignatureSpecializationParamPayload] = swift_print_special_payload,
    [SK_ReabstractionThunk] = swift_print_reabstraction,
    [SK_ReabstractionThunkHelper] = swift_print_reabstraction,
    [SK_ReabstractionThunkHelperWithSelf] = swift_print_reabstraction_self,
    [SK_ObjCAsyncCompletionHandlerImpl] = swift_print_completion_handler,
    [SK_PredefinedObjCAsyncCompletionHandlerImpl] = swift_print_completion_handler,
    [SK_KeyPathGetterThunkHelper] = swift_print_key_path,
    [SK_KeyPathSetterThunkHelper] = swift_print_key_path,
    [SK_KeyPathUnappliedMethodThunkHelper] = swift_print_key_path,
    [SK_KeyPathAppliedMethodThunkHelper] = swift_print_key_path,
    [SK_KeyPathEqualsThunkHelper] = swift_print_key_path_index,
    [SK_KeyPathHashThunkHelper] = swift_print_key_path_index,
    [SK_AutoDiffFunction] = swift_print_autodiff,
    [SK_AutoDiffFunctionKind] = swift_print_autodiff_kind,
    [SK_AutoDiffDerivativeVTableThunk] = swift_print_autodiff,
    [SK_AutoDiffSubsetParametersThunk] = swift_print_autodiff_subset,
    [SK_AutoDiffSelfReorderingReabstractionThunk] = swift_print_autodiff_reorder,
    [SK_DifferentiabilityWitness] = swift_print_differentiability_witness,
    [SK_IndexSubset] = swift_print_index_subset,
    [SK_OutlinedCopy] = swift_print_outlined_copy,
    [SK_OutlinedConsume] = swift_print_outlined_copy,
    [SK_ValueWitness] = swift_print_value_witness,
    [SK_Directness] = print_directness,
    [SK_GlobalVariableOnceDeclList] = swift_print_once_names,
};
/* clang-format on */

/* --- the machine ---------------------------------------------------------------------------------------- */

/* The text of a kind with its marks replaced. */
static void print_text(struct swift_printer *p, const char *text, const struct swift_node *n,
                       unsigned depth)
{
    for (;;) {
        const char *mark = *text == '%' ? text : strchr(text, '%');
        if (!mark) {
            swift_puts(p, text);
            return;
        }
        swift_put(p, text, (size_t)(mark - text));
        switch (mark[1]) {
        case 't':
            swift_put_text(p, swift_node_get_text(n));
            break;
        case 'i':
            swift_put_int(p, swift_node_get_index(n));
            break;
        case 'u':
            put_unsigned(p, (uint64_t)swift_node_get_index(n));
            break;
        case '*':
            swift_print_children(p, n, depth, "");
            break;
        case ',':
            swift_print_children(p, n, depth, ", ");
            break;
        case '&':
            swift_print_children(p, n, depth, " & ");
            break;
        case '.':
            swift_print_children(p, n, depth, ".");
            break;
        default:
            swift_print_child(p, n, (size_t)(mark[1] - '0'), depth);
            break;
        }
        text = mark + 2;
        if (!*text)
            return;
    }
}

const struct swift_node *swift_print_as(struct swift_printer *p, const struct swift_node *n,
                                        unsigned depth, bool prefix)
{
    if (p->failed || p->cut)
        return NULL;
    if (!n || ++p->steps > SWIFT_PRINT_STEPS) {
        p->failed = true;
        return NULL;
    }
    if (depth > SWIFT_PRINT_DEPTH) {
        swift_puts(p, "<<too complex>>");
        return NULL;
    }
    if (p->simplified && swift_node_in(n, SC_QUIET))
        return NULL;
    if (printers[n->kind])
        return printers[n->kind](p, n, depth, prefix);
    if (swift_kind_text[n->kind])
        print_text(p, swift_kind_text[n->kind], n, depth);
    else
        p->failed = true;
    return NULL;
}

void swift_print(struct swift_printer *p, const struct swift_node *n, unsigned depth)
{
    swift_print_as(p, n, depth, false);
}

void swift_print_child(struct swift_printer *p, const struct swift_node *n, size_t at,
                       unsigned depth)
{
    swift_print_as(p, swift_node_child(n, at), depth + 1, false);
}

void swift_print_children(struct swift_printer *p, const struct swift_node *n, unsigned depth,
                          const char *between)
{
    size_t count = swift_node_count(n);
    for (size_t i = 0; i < count && !p->failed && !p->cut; i++) {
        if (i)
            swift_puts(p, between);
        swift_print_child(p, n, i, depth);
    }
}

void swift_print_nested(struct swift_printer *p, struct swift_text name, unsigned depth)
{
    const struct swift_node *root = NULL;
    size_t len = p->len;
    if (p->nested < SWIFT_PRINT_NESTED) {
        root = swift_prefix_length(name) ? swift_parse(p->arena, name)
                                         : swift_parse_old(p->arena, name);
    }
    if (p->arena->full)
        p->failed = true;
    if (root) {
        struct swift_printer inner = *p;
        inner.nested++;
        inner.simplified = inner.sugar = inner.specialized = false;
        inner.where = true;
        swift_print(&inner, root, depth + 1);
        p->len = inner.len;
        p->steps = inner.steps;
        p->cut = inner.cut;
        if (!inner.failed && inner.len > len)
            return;
        p->len = len;
    }
    swift_put_text(p, name);
}
