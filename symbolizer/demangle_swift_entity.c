#include "symbolizer/demangle_swift_parse.h"

/* E: an extension in another module than the type's, or with constraints. */
struct swift_node *swift_op_extension(struct swift_parser *p)
{
    struct swift_node *signature = swift_pop_signature(p);
    struct swift_node *module = swift_pop_module(p);
    struct swift_node *type = swift_pop_type_child(p);
    if (!swift_node_in(type, SC_NOMINAL))
        return NULL;
    struct swift_node *n = swift_node2(p->arena, SK_Extension, module, type);
    return signature ? swift_node_add(p->arena, n, signature) : n;
}

/* CONTEXT NAME [LABELS] TYPE */
static struct swift_node *declaration(struct swift_parser *p, enum swift_kind kind,
                                      struct swift_node *labels, struct swift_node *type)
{
    struct swift_node *name = swift_pop_class(p, SC_DECL_NAME);
    struct swift_node *context = swift_pop_context(p);
    struct swift_node *n = swift_node2(p->arena, kind, context, name);
    if (labels)
        n = swift_node_add(p->arena, n, labels);
    return swift_node_add(p->arena, n, type);
}

struct swift_node *swift_op_function(struct swift_parser *p)
{
    struct swift_node *signature = swift_pop_signature(p);
    struct swift_node *type = swift_pop_function_type(p, SK_FunctionType, false);
    struct swift_node *labels = swift_pop_labels(p, type);
    if (signature)
        type = swift_type(p, swift_node2(p->arena, SK_DependentGenericType, signature, type));
    return declaration(p, SK_Function, labels, type);
}

static struct swift_node *entity(struct swift_parser *p, enum swift_kind kind)
{
    struct swift_node *type = swift_pop_type(p);
    struct swift_node *labels = swift_pop_labels(p, type);
    return declaration(p, kind, labels, type);
}

/* --- accessors ---------------------------------------------------------------------------------- */

static const char accessor_letters[] = "msgGwWryMxibz";
static const enum swift_kind accessor_kinds[] = {
    SK_MaterializeForSet, SK_Setter,          SK_Getter,       SK_GlobalGetter,
    SK_WillSet,           SK_DidSet,          SK_ReadAccessor, SK_Read2Accessor,
    SK_ModifyAccessor,    SK_Modify2Accessor, SK_InitAccessor, SK_BorrowAccessor,
    SK_MutateAccessor,
};

static const char mutable_addressor_letters[] = "OoPu";
static const enum swift_kind mutable_addressor_kinds[] = {
    SK_OwningMutableAddressor, SK_NativeOwningMutableAddressor, SK_NativePinningMutableAddressor,
    SK_UnsafeMutableAddressor};

static const char addressor_letters[] = "Oopu";
static const enum swift_kind addressor_kinds[] = {SK_OwningAddressor, SK_NativeOwningAddressor,
                                                  SK_NativePinningAddressor, SK_UnsafeAddressor};

/* ACCESSOR; p is the variable or subscript itself. */
static struct swift_node *accessor(struct swift_parser *p, struct swift_node *storage)
{
    char c = swift_next(p);
    int i = swift_letter(accessor_letters, c);
    if (i >= 0)
        return swift_node1(p->arena, accessor_kinds[i], storage);
    if (c == 'p')
        return storage;
    if (c == 'a') {
        i = swift_letter(mutable_addressor_letters, swift_next(p));
        return i < 0 ? NULL : swift_node1(p->arena, mutable_addressor_kinds[i], storage);
    }
    if (c == 'l') {
        i = swift_letter(addressor_letters, swift_next(p));
        return i < 0 ? NULL : swift_node1(p->arena, addressor_kinds[i], storage);
    }
    return NULL;
}

struct swift_node *swift_op_variable(struct swift_parser *p)
{
    return accessor(p, entity(p, SK_Variable));
}

struct swift_node *swift_op_subscript(struct swift_parser *p)
{
    struct swift_node *private_name = swift_pop(p, SK_PrivateDeclName);
    struct swift_node *type = swift_pop_type(p);
    struct swift_node *labels = swift_pop_labels(p, type);
    struct swift_node *context = swift_pop_context(p);
    struct swift_node *n = swift_node1(p->arena, SK_Subscript, context);
    if (labels)
        n = swift_node_add(p->arena, n, labels);
    n = swift_node_add(p->arena, n, type);
    if (private_name)
        n = swift_node_add(p->arena, n, private_name);
    return accessor(p, n);
}

/* --- macro expansions ---------------------------------------------------------------------------- */

static const char attached_letters[] = "armpceqb";
static const enum swift_kind attached_kinds[] = {
    SK_AccessorAttachedMacroExpansion,    SK_MemberAttributeAttachedMacroExpansion,
    SK_MemberAttachedMacroExpansion,      SK_PeerAttachedMacroExpansion,
    SK_ConformanceAttachedMacroExpansion, SK_ExtensionAttachedMacroExpansion,
    SK_PreambleAttachedMacroExpansion,    SK_BodyAttachedMacroExpansion,
};

/* fMX: where in the source a macro is expanded. */
static struct swift_node *macro_location(struct swift_parser *p)
{
    struct swift_node *line = swift_node_index(p->arena, SK_Index, swift_index(p));
    struct swift_node *column = swift_node_index(p->arena, SK_Index, swift_index(p));
    struct swift_node *file = swift_pop(p, SK_Identifier);
    struct swift_node *module = swift_pop(p, SK_Identifier);
    return swift_node4(p->arena, SK_MacroExpansionLoc, module, file, line, column);
}

static struct swift_node *macro_expansion(struct swift_parser *p)
{
    char c = swift_next(p);
    if (c == 'X')
        return macro_location(p);
    int i = swift_letter(attached_letters, c);
    if (i < 0 && c != 'f' && c != 'u')
        return NULL;
    enum swift_kind kind = i >= 0     ? attached_kinds[i]
                           : c == 'f' ? SK_FreestandingMacroExpansion
                                      : SK_MacroExpansionUniqueName;
    struct swift_node *macro = swift_pop(p, SK_Identifier);
    struct swift_node *private_name = c == 'f' ? swift_pop(p, SK_PrivateDeclName) : NULL;
    struct swift_node *attached = i >= 0 ? swift_pop_class(p, SC_DECL_NAME) : NULL;
    struct swift_node *context = swift_pop_class(p, SC_EXPANSION);
    if (!context)
        context = swift_pop_context(p);
    struct swift_node *index = swift_index_node(p);
    struct swift_node *n = attached ? swift_node4(p->arena, kind, context, attached, macro, index)
                                    : swift_node3(p->arena, kind, context, macro, index);
    return private_name ? swift_node_add(p->arena, n, private_name) : n;
}

/* --- function entities ---------------------------------------------------------------------------- */

enum entity_form {
    ENTITY_PLAIN,   /* nothing but the context */
    ENTITY_INIT,    /* a type and perhaps a private name */
    ENTITY_CLOSURE, /* a type and an index */
    ENTITY_INDEX
};

struct function_entity {
    char letter;
    enum entity_form form;
    enum swift_kind kind;
};

static const struct function_entity function_entities[] = {
    {'D', ENTITY_PLAIN, SK_Deallocator},
    {'d', ENTITY_PLAIN, SK_Destructor},
    {'Z', ENTITY_PLAIN, SK_IsolatedDeallocator},
    {'E', ENTITY_PLAIN, SK_IVarDestroyer},
    {'e', ENTITY_PLAIN, SK_IVarInitializer},
    {'i', ENTITY_PLAIN, SK_Initializer},
    {'P', ENTITY_PLAIN, SK_PropertyWrapperBackingInitializer},
    {'W', ENTITY_PLAIN, SK_PropertyWrapperInitFromProjectedValue},
    {'F', ENTITY_PLAIN, SK_PropertyWrappedFieldInitAccessor},
    {'C', ENTITY_INIT, SK_Allocator},
    {'c', ENTITY_INIT, SK_Constructor},
    {'U', ENTITY_CLOSURE, SK_ExplicitClosure},
    {'u', ENTITY_CLOSURE, SK_ImplicitClosure},
    {'A', ENTITY_INDEX, SK_DefaultArgumentInitializer},
};

static struct swift_node *initializer(struct swift_parser *p, enum swift_kind kind)
{
    struct swift_node *private_name = swift_pop(p, SK_PrivateDeclName);
    struct swift_node *type = swift_pop_type(p);
    struct swift_node *labels = swift_pop_labels(p, type);
    struct swift_node *n = swift_node1(p->arena, kind, swift_pop_context(p));
    if (labels)
        n = swift_node_add(p->arena, n, labels);
    n = swift_node_add(p->arena, n, type);
    return private_name ? swift_node_add(p->arena, n, private_name) : n;
}

static struct swift_node *function_entity(struct swift_parser *p, const struct function_entity *e)
{
    struct swift_node *index;
    struct swift_node *type;
    switch (e->form) {
    case ENTITY_PLAIN:
        return swift_node1(p->arena, e->kind, swift_pop_context(p));
    case ENTITY_INIT:
        return initializer(p, e->kind);
    case ENTITY_CLOSURE:
        index = swift_index_node(p);
        type = swift_pop_type(p);
        return swift_node3(p->arena, e->kind, swift_pop_context(p), index, type);
    case ENTITY_INDEX:
        index = swift_index_node(p);
        return swift_node2(p->arena, e->kind, swift_pop_context(p), index);
    }
    return NULL;
}

struct swift_node *swift_op_function_entity(struct swift_parser *p)
{
    char c = swift_next(p);
    for (size_t i = 0; i < sizeof(function_entities) / sizeof(function_entities[0]); i++) {
        if (function_entities[i].letter == c)
            return function_entity(p, &function_entities[i]);
    }
    switch (c) {
    case 'm':
        return entity(p, SK_Macro);
    case 'M':
        return macro_expansion(p);
    case 'p':
        return entity(p, SK_GenericTypeParamDecl);
    default:
        return NULL;
    }
}
