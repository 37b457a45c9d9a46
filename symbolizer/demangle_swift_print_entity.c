#include <string.h>

#include "symbolizer/demangle_swift_print.h"

/* --- entities in general --------------------------------------------------------------------------------- */

enum typing {
    TYPING_NONE,
    TYPING_COLON,   /* name : Type */
    TYPING_FUNCTION /* name(label: Type) -> Type */
};

/* How an entity is printed. */
struct style {
    enum typing typing;
    bool named;        /* the second child is its name */
    const char *extra; /* what it is ("init", "closure #"); behind a dot when it has a name */
    const struct swift_node *macro; /* goes between `extra` and `more` */
    const char *more;
    int64_t number;      /* behind that, unless negative */
    const char *instead; /* printed as its name */
};

static const struct style style_none = {TYPING_NONE, false, NULL, NULL, NULL, -1, NULL};

static bool is_function_type(const struct swift_node *type)
{
    while (swift_node_is(type, SK_DependentGenericType))
        type = swift_node_child(swift_node_child(type, 1), 0);
    return swift_node_is(type, SK_FunctionType) || swift_node_is(type, SK_NoEscapeFunctionType) ||
           swift_node_is(type, SK_UncurriedFunctionType) ||
           swift_node_is(type, SK_CFunctionPointer) || swift_node_is(type, SK_ThinFunctionType);
}

static void print_entity_type(struct swift_printer *p, const struct swift_node *entity,
                              const struct swift_node *type, const struct swift_node *args,
                              unsigned depth)
{
    const struct swift_node *labels = swift_node_find(entity, SK_LabelList);
    if (!labels && !args) {
        swift_print(p, type, depth + 1);
        return;
    }
    if (args && !p->key) {
        swift_puts(p, "<");
        swift_print_children(p, args, depth, ", ");
        swift_puts(p, ">");
    }
    if (swift_node_is(type, SK_DependentGenericType)) {
        if (!args)
            swift_print_child(p, type, 0, depth);
        const struct swift_node *inner = swift_node_child(type, 1);
        if (swift_needs_space(inner))
            swift_puts(p, " ");
        type = swift_node_child(inner, 0);
    }
    swift_print_function_type(p, labels, type, depth);
}

static void print_typing(struct swift_printer *p, const struct swift_node *entity,
                         const struct style *s, const struct swift_node *args, bool words,
                         unsigned depth)
{
    if (s->typing == TYPING_NONE)
        return;
    const struct swift_node *type = swift_node_child(swift_node_find(entity, SK_Type), 0);
    if (!type) {
        p->failed = true;
        return;
    }
    if (s->typing == TYPING_COLON || !is_function_type(type)) {
        if (p->simplified)
            return;
        swift_puts(p, " : ");
    } else if (words || swift_needs_space(type)) {
        swift_puts(p, " ");
    }
    print_entity_type(p, entity, type, args, depth);
}

static void print_extra(struct swift_printer *p, const struct style *s, unsigned depth)
{
    swift_puts(p, s->extra);
    if (s->macro) {
        swift_print(p, s->macro, depth + 1);
        swift_puts(p, s->more);
    }
    if (s->number >= 0)
        swift_put_int(p, s->number);
}

static void print_name(struct swift_printer *p, const struct swift_node *entity,
                       const struct style *s, unsigned depth)
{
    if (s->instead) {
        swift_puts(p, s->instead);
        return;
    }
    const struct swift_node *name = swift_node_child(entity, 1);
    if (!swift_node_is(name, SK_PrivateDeclName))
        swift_print(p, name, depth + 1);
    const struct swift_node *private_name = swift_node_find(entity, SK_PrivateDeclName);
    if (private_name)
        swift_print(p, private_name, depth + 1);
}

/* "static Foo.bar.getter", "closure #1 of x", "init": the name and what the entity is, in the order
 * that reads well. */
static void print_what(struct swift_printer *p, const struct swift_node *entity,
                       const struct style *s, bool words, unsigned depth)
{
    bool extra = s->extra != NULL;
    if (s->named || s->instead) {
        if (extra && words) {
            print_extra(p, s, depth);
            swift_puts(p, " of ");
            extra = false;
        }
        size_t before = p->len;
        print_name(p, entity, s, depth);
        if (p->len != before && extra)
            swift_puts(p, ".");
    }
    if (extra)
        print_extra(p, s, depth);
}

/* Initialisers belong to what they initialise, everything else lies in its context. */
static const char *between_context(const struct swift_node *entity)
{
    switch ((int)entity->kind) {
    case SK_DefaultArgumentInitializer:
    case SK_Initializer:
    case SK_PropertyWrapperBackingInitializer:
    case SK_PropertyWrapperInitFromProjectedValue:
    case SK_PropertyWrappedFieldInitAccessor:
        return " of ";
    default:
        return " in ";
    }
}

/* An entity whose name has blanks or that is local to a function has its context behind it ("foo #1 in
 * bar()"), any other before it ("Foo.bar"), as far as the context itself can stand there. */
static const struct swift_node *print_entity(struct swift_printer *p,
                                             const struct swift_node *entity, unsigned depth,
                                             bool prefix, const struct style *s)
{
    const struct swift_node *args = NULL;
    if (entity->kind == SK_BoundGenericFunction) {
        args = swift_node_child(entity, 1);
        entity = swift_node_child(entity, 0);
    }
    bool words = s->extra && (s->macro || strchr(s->extra, ' '));
    if (s->named && swift_node_is(swift_node_child(entity, 1), SK_LocalDeclName))
        words = true;
    if (prefix && (s->typing != TYPING_NONE || words))
        return entity;

    const struct swift_node *behind = NULL;
    const struct swift_node *context = swift_node_child(entity, 0);
    if (words) {
        behind = context;
    } else {
        size_t before = p->len;
        behind = swift_print_as(p, context, depth + 1, true);
        if (p->len != before)
            swift_puts(p, ".");
    }
    print_what(p, entity, s, words, depth);
    print_typing(p, entity, s, args, words, depth);
    if (prefix || !behind)
        return behind;
    if (p->key && swift_node_is(behind, SK_Module))
        return NULL;
    swift_puts(p, between_context(entity));
    swift_print(p, behind, depth + 1);
    return NULL;
}

/* --- kinds of entities ------------------------------------------------------------------------------------ */

SWIFT_PRINTER(swift_print_variable)
{
    struct style s = style_none;
    s.typing = TYPING_COLON;
    s.named = true;
    return print_entity(p, n, depth, prefix, &s);
}

SWIFT_PRINTER(swift_print_function)
{
    if (p->key && n->kind == SK_BoundGenericFunction)
        return swift_print_as(p, swift_node_child(n, 0), depth + 1, prefix);
    struct style s = style_none;
    s.typing = TYPING_FUNCTION;
    s.named = true;
    return print_entity(p, n, depth, prefix, &s);
}

SWIFT_PRINTER(swift_print_subscript)
{
    struct style s = style_none;
    s.typing = TYPING_FUNCTION;
    s.instead = "subscript";
    return print_entity(p, n, depth, prefix, &s);
}

SWIFT_PRINTER(swift_print_macro)
{
    struct style s = style_none;
    s.typing = swift_node_count(n) == 3 ? TYPING_COLON : TYPING_FUNCTION;
    s.named = true;
    return print_entity(p, n, depth, prefix, &s);
}

/* Types and others that are a name in a context. */
SWIFT_PRINTER(swift_print_named)
{
    struct style s = style_none;
    s.named = true;
    return print_entity(p, n, depth, prefix, &s);
}

/* In the key form a closure is the function it is in. */
SWIFT_PRINTER(swift_print_closure)
{
    if (p->key)
        return swift_print_as(p, swift_node_child(n, 0), depth + 1, prefix);
    struct style s = style_none;
    s.typing = p->simplified ? TYPING_NONE : TYPING_FUNCTION;
    s.extra = n->kind == SK_ExplicitClosure ? "closure #" : "implicit closure #";
    s.number = swift_node_get_index(swift_node_child(n, 1)) + 1;
    return print_entity(p, n, depth, prefix, &s);
}

SWIFT_PRINTER(swift_print_initializer)
{
    if (p->key)
        return swift_print_as(p, swift_node_child(n, 0), depth + 1, prefix);
    struct style s = style_none;
    switch ((int)n->kind) {
    case SK_DefaultArgumentInitializer:
        s.extra = "default argument ";
        s.number = swift_node_get_index(swift_node_child(n, 1));
        break;
    case SK_PropertyWrapperBackingInitializer:
        s.extra = "property wrapper backing initializer";
        break;
    case SK_PropertyWrappedFieldInitAccessor:
        s.extra = "property wrapped field init accessor";
        break;
    case SK_PropertyWrapperInitFromProjectedValue:
        s.extra = "property wrapper init from projected value";
        break;
    default:
        s.extra = "variable initialization expression";
        break;
    }
    return print_entity(p, n, depth, prefix, &s);
}

/* Initialisers and deinitialisers. Those of classes come in two: the one that allocates or
 * deallocates, which calls the other; in the key form they are the same. */
SWIFT_PRINTER(swift_print_member)
{
    struct style s = style_none;
    bool of_class = swift_node_is(swift_node_child(n, 0), SK_Class) && !p->key;
    switch ((int)n->kind) {
    case SK_Allocator:
        s.extra = of_class ? "__allocating_init" : "init";
        s.typing = TYPING_FUNCTION;
        break;
    case SK_Constructor:
        s.extra = "init";
        s.typing = TYPING_FUNCTION;
        s.named = swift_node_count(n) > 2;
        break;
    case SK_Deallocator:
        s.extra = of_class ? "__deallocating_deinit" : "deinit";
        break;
    case SK_IsolatedDeallocator:
        s.extra = of_class ? "__isolated_deallocating_deinit" : "deinit";
        break;
    case SK_IVarInitializer:
        s.extra = "__ivar_initializer";
        break;
    case SK_IVarDestroyer:
        s.extra = "__ivar_destroyer";
        break;
    default:
        s.extra = "deinit";
        break;
    }
    return print_entity(p, n, depth, prefix, &s);
}

static const char *accessor_name(int kind, bool key)
{
    switch (kind) {
    case SK_Setter:
        return "setter";
    case SK_MaterializeForSet:
        return "materializeForSet";
    case SK_WillSet:
        return "willset";
    case SK_DidSet:
        return "didset";
    case SK_ReadAccessor:
        return "read";
    case SK_Read2Accessor:
        return key ? "read" : "read2";
    case SK_ModifyAccessor:
        return "modify";
    case SK_Modify2Accessor:
        return key ? "modify" : "modify2";
    case SK_InitAccessor:
        return "init";
    case SK_BorrowAccessor:
        return "borrow";
    case SK_MutateAccessor:
        return "mutate";
    case SK_OwningAddressor:
        return "owningAddressor";
    case SK_OwningMutableAddressor:
        return "owningMutableAddressor";
    case SK_NativeOwningAddressor:
        return "nativeOwningAddressor";
    case SK_NativeOwningMutableAddressor:
        return "nativeOwningMutableAddressor";
    case SK_NativePinningAddressor:
        return "nativePinningAddressor";
    case SK_NativePinningMutableAddressor:
        return "nativePinningMutableAddressor";
    case SK_UnsafeAddressor:
        return "unsafeAddressor";
    case SK_UnsafeMutableAddressor:
        return "unsafeMutableAddressor";
    default:
        return "getter";
    }
}

SWIFT_PRINTER(swift_print_accessor)
{
    const struct swift_node *storage = swift_node_child(n, 0);
    struct style s = style_none;
    s.typing = TYPING_COLON;
    s.extra = accessor_name(n->kind, p->key);
    if (swift_node_is(storage, SK_Variable)) {
        s.named = true;
    } else if (swift_node_is(storage, SK_Subscript)) {
        s.instead = "subscript";
    } else {
        p->failed = true;
        return NULL;
    }
    return print_entity(p, storage, depth, prefix, &s);
}

/* --- macro expansions ----------------------------------------------------------------------------------------- */

static const char *macro_role(int kind)
{
    switch (kind) {
    case SK_AccessorAttachedMacroExpansion:
        return "accessor macro @";
    case SK_MemberAttributeAttachedMacroExpansion:
        return "memberAttribute macro @";
    case SK_MemberAttachedMacroExpansion:
        return "member macro @";
    case SK_PeerAttachedMacroExpansion:
        return "peer macro @";
    case SK_ConformanceAttachedMacroExpansion:
        return "conformance macro @";
    case SK_ExtensionAttachedMacroExpansion:
        return "extension macro @";
    case SK_PreambleAttachedMacroExpansion:
        return "preamble macro @";
    case SK_BodyAttachedMacroExpansion:
        return "body macro @";
    default:
        return NULL;
    }
}

/* Children: context, name, number; attached ones have the macro before the number. In the key form
 * what is expanded is part of where it is. */
SWIFT_PRINTER(swift_print_expansion)
{
    struct style s = style_none;
    s.named = true;
    s.extra = macro_role(n->kind);
    size_t number = 2;
    if (p->key && n->kind == SK_FreestandingMacroExpansion)
        return swift_print_as(p, swift_node_child(n, 0), depth + 1, prefix);
    if (p->key) {
        s.extra = NULL;
        return print_entity(p, n, depth, prefix, &s);
    }
    if (s.extra) {
        s.macro = swift_node_child(n, 2);
        s.more = " expansion #";
        number = 3;
    } else {
        s.extra = n->kind == SK_MacroExpansionUniqueName ? "unique name #"
                                                         : "freestanding macro expansion #";
    }
    const struct swift_node *index = swift_node_child(n, number);
    if (!index) {
        p->failed = true;
        return NULL;
    }
    s.number = swift_node_get_index(index) + 1;
    return print_entity(p, n, depth, prefix, &s);
}

SWIFT_PRINTER(swift_print_expansion_loc)
{
    static const char *const before[] = {"module ", " file ", " line ", " column "};
    (void)prefix;
    if (p->key) {
        swift_print_child(p, n, 1, depth);
        return NULL;
    }
    for (size_t i = 0; i < swift_node_count(n) && i < 4; i++) {
        swift_puts(p, before[i]);
        swift_print_child(p, n, i, depth);
    }
    return NULL;
}

/* --- contexts ----------------------------------------------------------------------------------------------------- */

SWIFT_PRINTER(swift_print_anonymous_context)
{
    (void)prefix;
    if (p->simplified)
        return NULL;
    swift_print_child(p, n, 1, depth);
    swift_puts(p, ".(unknown context at ");
    swift_print_child(p, n, 0, depth);
    swift_puts(p, ")");
    if (swift_node_count(swift_node_child(n, 2))) {
        swift_puts(p, "<");
        swift_print_child(p, n, 2, depth);
        swift_puts(p, ">");
    }
    return NULL;
}

SWIFT_PRINTER(swift_print_extension)
{
    (void)prefix;
    if (!p->simplified) {
        swift_puts(p, "(extension in ");
        swift_print_as(p, swift_node_child(n, 0), depth + 1, true);
        swift_puts(p, "):");
    }
    swift_print_child(p, n, 1, depth);
    if (swift_node_count(n) == 3)
        swift_print_child(p, n, 2, depth);
    return NULL;
}
