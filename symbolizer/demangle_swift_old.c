#include "symbolizer/demangle_swift_old.h"

#include <string.h>

#include "symbolizer/demangle_swift_punycode.h"

/* --- numbers and names ----------------------------------------------------------------------- */

int64_t old_natural(struct swift_parser *p)
{
    int64_t n = -1;
    for (char c = swift_peek(p); c >= '0' && c <= '9'; c = swift_peek(p)) {
        n = (n < 0 ? 0 : n) * 10 + (c - '0');
        if (n > INT32_MAX)
            n = INT32_MAX;
        p->pos++;
    }
    return n;
}

int64_t old_index(struct swift_parser *p)
{
    if (swift_accept(p, '_'))
        return 0;
    int64_t n = old_natural(p);
    return n >= 0 && swift_accept(p, '_') ? n + 1 : -1;
}

struct swift_node *old_index_node(struct swift_parser *p, enum swift_kind kind)
{
    int64_t n = old_index(p);
    return n < 0 ? NULL : swift_node_index(p->arena, kind, n);
}

/* 'X'? ('o' fixity)? NATURAL characters */
struct swift_node *old_identifier(struct swift_parser *p, enum swift_kind kind)
{
    static const enum swift_kind operators[] = {SK_PrefixOperator, SK_PostfixOperator,
                                                SK_InfixOperator};
    bool punycode = swift_accept(p, 'X');
    bool is_operator = swift_accept(p, 'o');
    if (is_operator) {
        int i = swift_letter("pPi", swift_next(p));
        if (i < 0 || kind != SK_Identifier)
            return NULL;
        kind = operators[i];
    }
    int64_t count = old_natural(p);
    if (count < 0 || (size_t)count > p->len - p->pos)
        return NULL;
    struct swift_text s = {p->text + p->pos, (size_t)count};
    p->pos += s.len;
    if (punycode && !swift_punycode_decode(p->arena, s, &s))
        return NULL;
    if (!s.len || (is_operator && !swift_operator_text(p->arena, s, &s)))
        return NULL;
    return swift_node_text(p->arena, kind, s);
}

/* L INDEX IDENTIFIER: local; P IDENTIFIER IDENTIFIER: private. */
static struct swift_node *decl_name(struct swift_parser *p)
{
    struct swift_node *first;
    if (swift_accept(p, 'L')) {
        first = old_index_node(p, SK_Number);
        return swift_node2(p->arena, SK_LocalDeclName, first,
                           first ? old_identifier(p, SK_Identifier) : NULL);
    }
    if (swift_accept(p, 'P')) {
        first = old_identifier(p, SK_Identifier);
        return swift_node2(p->arena, SK_PrivateDeclName, first,
                           first ? old_identifier(p, SK_Identifier) : NULL);
    }
    return old_identifier(p, SK_Identifier);
}

/* --- substitutions ----------------------------------------------------------------------------- */

struct old_standard {
    char letter;
    enum swift_kind kind;
    const char *name;
};

static const struct old_standard standards[] = {
    {'a', SK_Structure, "Array"},
    {'b', SK_Structure, "Bool"},
    {'c', SK_Structure, "UnicodeScalar"},
    {'d', SK_Structure, "Double"},
    {'f', SK_Structure, "Float"},
    {'i', SK_Structure, "Int"},
    {'V', SK_Structure, "UnsafeRawPointer"},
    {'v', SK_Structure, "UnsafeMutableRawPointer"},
    {'P', SK_Structure, "UnsafePointer"},
    {'p', SK_Structure, "UnsafeMutablePointer"},
    {'q', SK_Enum, "Optional"},
    {'Q', SK_Enum, "ImplicitlyUnwrappedOptional"},
    {'R', SK_Structure, "UnsafeBufferPointer"},
    {'r', SK_Structure, "UnsafeMutableBufferPointer"},
    {'S', SK_Structure, "String"},
    {'u', SK_Structure, "UInt"},
};

static struct swift_node *stdlib(struct swift_parser *p)
{
    return swift_node_str(p->arena, SK_Module, "Swift");
}

/* After an S: a well-known module or type, or the INDEX of something read before. */
struct swift_node *old_substitution(struct swift_parser *p)
{
    if (swift_accept(p, 'o'))
        return swift_node_str(p->arena, SK_Module, "__C");
    if (swift_accept(p, 'C'))
        return swift_node_str(p->arena, SK_Module, "__C_Synthesized");
    for (size_t i = 0; i < sizeof(standards) / sizeof(standards[0]); i++) {
        const struct old_standard *s = &standards[i];
        if (swift_accept(p, s->letter))
            return swift_node2(p->arena, s->kind, stdlib(p),
                               swift_node_str(p->arena, SK_Identifier, s->name));
    }
    int64_t i = old_index(p);
    return i >= 0 && (size_t)i < p->substitutions.count ? p->substitutions.list[i] : NULL;
}

/* --- contexts ------------------------------------------------------------------------------------ */

struct swift_node *old_module(struct swift_parser *p)
{
    if (swift_accept(p, 's'))
        return stdlib(p);
    if (swift_accept(p, 'S')) {
        struct swift_node *n = old_substitution(p);
        return swift_node_is(n, SK_Module) ? n : NULL;
    }
    struct swift_node *n = old_identifier(p, SK_Module);
    swift_substitution(p, n);
    return n;
}

struct swift_node *old_declaration(struct swift_parser *p, enum swift_kind kind)
{
    struct swift_node *context = old_context(p);
    struct swift_node *name = context ? decl_name(p) : NULL;
    struct swift_node *n = swift_node2(p->arena, kind, context, name);
    swift_substitution(p, n);
    return n;
}

struct swift_node *old_protocol_in(struct swift_parser *p, struct swift_node *context)
{
    struct swift_node *n = swift_node2(p->arena, SK_Protocol, context, decl_name(p));
    swift_substitution(p, n);
    return n;
}

/* A substitution is the protocol itself or its module. */
struct swift_node *old_protocol(struct swift_parser *p)
{
    struct swift_node *n;
    if (swift_accept(p, 'S')) {
        n = old_substitution(p);
        if (swift_node_is(n, SK_Module))
            n = old_protocol_in(p, n);
        else if (!swift_node_is(n, SK_Protocol))
            n = NULL;
    } else if (swift_accept(p, 's')) {
        n = old_protocol_in(p, stdlib(p));
    } else {
        n = old_declaration(p, SK_Protocol);
    }
    return swift_node1(p->arena, SK_Type, n);
}

struct swift_node *old_nominal(struct swift_parser *p)
{
    static const enum swift_kind kinds[] = {SK_Structure, SK_Enum, SK_Class, SK_Protocol};
    if (swift_accept(p, 'S'))
        return old_substitution(p);
    int i = swift_letter("VOCP", swift_peek(p));
    if (i < 0)
        return NULL;
    p->pos++;
    return old_declaration(p, kinds[i]);
}

/* E: extension in another module, e: with a signature. */
static struct swift_node *extension(struct swift_parser *p, bool constrained)
{
    struct swift_node *module = old_module(p);
    struct swift_node *signature = module && constrained ? old_signature(p, false) : NULL;
    if (!module || (constrained && !signature))
        return NULL;
    struct swift_node *n = swift_node2(p->arena, SK_Extension, module, old_context(p));
    return signature ? swift_node_add(p->arena, n, signature) : n;
}

static struct swift_node *entity(struct swift_parser *p);

struct swift_node *old_context(struct swift_parser *p)
{
    struct swift_node *n;
    if (!old_enter(p))
        return old_leave(p, NULL);
    if (swift_accept(p, 'E'))
        n = extension(p, false);
    else if (swift_accept(p, 'e'))
        n = extension(p, true);
    else if (swift_accept(p, 'S'))
        n = old_substitution(p);
    else if (swift_accept(p, 's'))
        n = stdlib(p);
    else if (swift_accept(p, 'G'))
        n = old_bound_generic(p);
    else if (swift_letter("FIvPZCVO", swift_peek(p)) >= 0)
        n = entity(p);
    else
        n = old_module(p);
    return old_leave(p, n);
}

/* --- entities ------------------------------------------------------------------------------------- */

/* What an entity is, beyond the letter it begins with. */
enum old_form {
    OLD_PLAIN,    /* no name, no type */
    OLD_INIT,     /* a type */
    OLD_ACCESSOR, /* of a named variable or subscript */
    OLD_CLOSURE,  /* an index and a type */
    OLD_DEFAULT   /* an index */
};

struct old_entity {
    const char *code;
    enum old_form form;
    enum swift_kind kind;
};

static const struct old_entity entities[] = {
    {"D", OLD_PLAIN, SK_Deallocator},
    {"Z", OLD_PLAIN, SK_IsolatedDeallocator},
    {"d", OLD_PLAIN, SK_Destructor},
    {"e", OLD_PLAIN, SK_IVarInitializer},
    {"E", OLD_PLAIN, SK_IVarDestroyer},
    {"C", OLD_INIT, SK_Allocator},
    {"c", OLD_INIT, SK_Constructor},
    {"aO", OLD_ACCESSOR, SK_OwningMutableAddressor},
    {"ao", OLD_ACCESSOR, SK_NativeOwningMutableAddressor},
    {"ap", OLD_ACCESSOR, SK_NativePinningMutableAddressor},
    {"au", OLD_ACCESSOR, SK_UnsafeMutableAddressor},
    {"lO", OLD_ACCESSOR, SK_OwningAddressor},
    {"lo", OLD_ACCESSOR, SK_NativeOwningAddressor},
    {"lp", OLD_ACCESSOR, SK_NativePinningAddressor},
    {"lu", OLD_ACCESSOR, SK_UnsafeAddressor},
    {"g", OLD_ACCESSOR, SK_Getter},
    {"G", OLD_ACCESSOR, SK_GlobalGetter},
    {"s", OLD_ACCESSOR, SK_Setter},
    {"m", OLD_ACCESSOR, SK_MaterializeForSet},
    {"w", OLD_ACCESSOR, SK_WillSet},
    {"W", OLD_ACCESSOR, SK_DidSet},
    {"r", OLD_ACCESSOR, SK_ReadAccessor},
    {"M", OLD_ACCESSOR, SK_ModifyAccessor},
    {"U", OLD_CLOSURE, SK_ExplicitClosure},
    {"u", OLD_CLOSURE, SK_ImplicitClosure},
};

/* Inside an initialiser. */
static const struct old_entity initializers[] = {
    {"A", OLD_DEFAULT, SK_DefaultArgumentInitializer},
    {"i", OLD_PLAIN, SK_Initializer},
};

static const struct old_entity *find_entity(struct swift_parser *p, const struct old_entity *table,
                                            size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (swift_accept_str(p, table[i].code))
            return &table[i];
    }
    return NULL;
}

/* The variable or subscript of an accessor. A subscript has no name of its own in the tree; the
 * discriminator of a private one comes after its type. */
static struct swift_node *storage(struct swift_parser *p, struct swift_node *context)
{
    struct swift_node *name = decl_name(p);
    struct swift_node *type = name ? old_type(p) : NULL;
    const char *subscript = "subscript";
    if (swift_node_says(name, SK_Identifier, subscript))
        return swift_node2(p->arena, SK_Subscript, context, type);
    if (swift_node_is(name, SK_PrivateDeclName) &&
        swift_node_says(swift_node_child(name, 1), SK_Identifier, subscript)) {
        struct swift_node *discriminator =
            swift_node1(p->arena, SK_PrivateDeclName, swift_node_child(name, 0));
        return swift_node3(p->arena, SK_Subscript, context, type, discriminator);
    }
    return swift_node3(p->arena, SK_Variable, context, name, type);
}

static struct swift_node *entity_of(struct swift_parser *p, const struct old_entity *e,
                                    struct swift_node *context)
{
    struct swift_node *index;
    switch (e->form) {
    case OLD_PLAIN:
        return swift_node1(p->arena, e->kind, context);
    case OLD_INIT:
        return swift_node2(p->arena, e->kind, context, old_type(p));
    case OLD_ACCESSOR:
        return swift_node1(p->arena, e->kind, storage(p, context));
    case OLD_CLOSURE:
        index = old_index_node(p, SK_Number);
        return swift_node3(p->arena, e->kind, context, index, index ? old_type(p) : NULL);
    case OLD_DEFAULT:
        return swift_node2(p->arena, e->kind, context, old_index_node(p, SK_Number));
    }
    return NULL;
}

static struct swift_node *entity_in(struct swift_parser *p, enum swift_kind kind)
{
    struct swift_node *context = old_context(p);
    if (!context)
        return NULL;
    const struct old_entity *e = find_entity(p, entities, sizeof(entities) / sizeof(entities[0]));
    if (!e && (swift_peek(p) == 'a' || swift_peek(p) == 'l'))
        return NULL;
    if (!e && kind == SK_Initializer) {
        e = find_entity(p, initializers, sizeof(initializers) / sizeof(initializers[0]));
        if (!e)
            return NULL;
    }
    if (e)
        return entity_of(p, e, context);
    struct swift_node *name = decl_name(p);
    return swift_node3(p->arena, kind, context, name, name ? old_type(p) : NULL);
}

/* 'Z'? (F | v | I | i) CONTEXT ENTITY-NAME TYPE?, or a nominal type. */
static struct swift_node *entity(struct swift_parser *p)
{
    static const enum swift_kind kinds[] = {SK_Function, SK_Variable, SK_Initializer, SK_Subscript};
    if (!old_enter(p))
        return old_leave(p, NULL);
    bool is_static = swift_accept(p, 'Z');
    int i = swift_letter("FvIi", swift_peek(p));
    if (i < 0)
        return old_leave(p, old_nominal(p));
    p->pos++;
    struct swift_node *n = entity_in(p, kinds[i]);
    return old_leave(p, is_static ? swift_node1(p->arena, SK_Static, n) : n);
}

/* --- globals -------------------------------------------------------------------------------------- */

enum old_operand { OLD_TYPE, OLD_PROTOCOL, OLD_CONFORMANCE, OLD_ENTITY, OLD_NAME, OLD_END };

struct old_global {
    const char *code;
    enum swift_kind kind;
    enum old_operand operands[4];
};

/* The longest code first where one begins another. */
static const struct old_global globals[] = {
    {"MP", SK_GenericTypeMetadataPattern, {OLD_TYPE, OLD_END}},
    {"Ma", SK_TypeMetadataAccessFunction, {OLD_TYPE, OLD_END}},
    {"ML", SK_TypeMetadataLazyCache, {OLD_TYPE, OLD_END}},
    {"Mm", SK_Metaclass, {OLD_TYPE, OLD_END}},
    {"Mn", SK_NominalTypeDescriptor, {OLD_TYPE, OLD_END}},
    {"Mf", SK_FullTypeMetadata, {OLD_TYPE, OLD_END}},
    {"Mp", SK_ProtocolDescriptor, {OLD_PROTOCOL, OLD_END}},
    {"M", SK_TypeMetadata, {OLD_TYPE, OLD_END}},
    {"t", SK_TypeMangling, {OLD_TYPE, OLD_END}},
    {"WV", SK_ValueWitnessTable, {OLD_TYPE, OLD_END}},
    {"WP", SK_ProtocolWitnessTable, {OLD_CONFORMANCE, OLD_END}},
    {"WG", SK_GenericProtocolWitnessTable, {OLD_CONFORMANCE, OLD_END}},
    {"WI", SK_GenericProtocolWitnessTableInstantiationFunction, {OLD_CONFORMANCE, OLD_END}},
    {"Wl", SK_LazyProtocolWitnessTableAccessor, {OLD_TYPE, OLD_CONFORMANCE, OLD_END}},
    {"WL", SK_LazyProtocolWitnessTableCacheVariable, {OLD_TYPE, OLD_CONFORMANCE, OLD_END}},
    {"Wa", SK_ProtocolWitnessTableAccessor, {OLD_CONFORMANCE, OLD_END}},
    {"Wt", SK_AssociatedTypeMetadataAccessor, {OLD_CONFORMANCE, OLD_NAME, OLD_END}},
    {"WT",
     SK_AssociatedTypeWitnessTableAccessor,
     {OLD_CONFORMANCE, OLD_NAME, OLD_PROTOCOL, OLD_END}},
    {"TW", SK_ProtocolWitness, {OLD_CONFORMANCE, OLD_ENTITY, OLD_END}},
};

struct swift_node *old_conformance(struct swift_parser *p)
{
    struct swift_node *type = old_type(p);
    struct swift_node *protocol = type ? old_protocol(p) : NULL;
    struct swift_node *context = protocol ? old_context(p) : NULL;
    return swift_node3(p->arena, SK_ProtocolConformance, type, protocol, context);
}

static struct swift_node *operand(struct swift_parser *p, enum old_operand what)
{
    switch (what) {
    case OLD_TYPE:
        return old_type(p);
    case OLD_PROTOCOL:
        return old_protocol(p);
    case OLD_CONFORMANCE:
        return old_conformance(p);
    case OLD_ENTITY:
        return entity(p);
    case OLD_NAME:
        return decl_name(p);
    case OLD_END:
        break;
    }
    return NULL;
}

static struct swift_node *reabstraction_thunk(struct swift_parser *p, enum swift_kind kind)
{
    struct swift_node *n = swift_node(p->arena, kind);
    if (swift_accept(p, 'G'))
        n = swift_node_add(p->arena, n, old_signature(p, false));
    for (int i = 0; i < 2 && n; i++)
        n = swift_node_add(p->arena, n, old_type(p));
    return n;
}

static struct swift_node *value_witness(struct swift_parser *p)
{
    char c0 = swift_next(p);
    char c1 = swift_next(p);
    int number = swift_value_witness(c0, c1);
    if (number < 0)
        return NULL;
    return swift_node2(p->arena, SK_ValueWitness, swift_node_index(p->arena, SK_Index, number),
                       old_type(p));
}

static struct swift_node *field_offset(struct swift_parser *p)
{
    int i = swift_letter("di", swift_next(p));
    if (i < 0)
        return NULL;
    return swift_node2(p->arena, SK_FieldOffset, swift_node_index(p->arena, SK_Directness, i),
                       entity(p));
}

static struct swift_node *global(struct swift_parser *p);

static struct swift_node *partial_apply(struct swift_parser *p)
{
    enum swift_kind kind =
        swift_accept(p, 'o') ? SK_PartialApplyObjCForwarder : SK_PartialApplyForwarder;
    struct swift_node *n = swift_node(p->arena, kind);
    return swift_accept_str(p, "__T") ? swift_node_add(p->arena, n, global(p)) : n;
}

static struct swift_node *global_operands(struct swift_parser *p, const struct old_global *g)
{
    struct swift_node *n = swift_node(p->arena, g->kind);
    for (size_t i = 0; n && g->operands[i] != OLD_END; i++)
        n = swift_node_add(p->arena, n, operand(p, g->operands[i]));
    return n;
}

static struct swift_node *read_global(struct swift_parser *p)
{
    for (size_t i = 0; i < sizeof(globals) / sizeof(globals[0]); i++) {
        if (swift_accept_str(p, globals[i].code))
            return global_operands(p, &globals[i]);
    }
    if (swift_accept_str(p, "PA"))
        return partial_apply(p);
    if (swift_accept(p, 'w'))
        return value_witness(p);
    if (swift_accept_str(p, "Wv"))
        return field_offset(p);
    if (swift_accept_str(p, "TR"))
        return reabstraction_thunk(p, SK_ReabstractionThunkHelper);
    if (swift_accept_str(p, "Tr"))
        return reabstraction_thunk(p, SK_ReabstractionThunk);
    if (swift_peek(p) == 'W' || swift_peek(p) == 'T')
        return NULL;
    return entity(p);
}

static struct swift_node *global(struct swift_parser *p)
{
    if (!old_enter(p))
        return old_leave(p, NULL);
    return old_leave(p, read_global(p));
}

/* --- whole symbols ------------------------------------------------------------------------------------ */

static struct swift_node *attributes(struct swift_parser *p, struct swift_node *top)
{
    static const struct {
        const char *code;
        enum swift_kind kind;
    } codes[] = {{"To", SK_ObjCAttribute},
                 {"TO", SK_NonObjCAttribute},
                 {"TD", SK_DynamicAttribute},
                 {"Td", SK_DirectMethodReferenceAttribute},
                 {"TV", SK_VTableAttribute}};
    if (swift_accept_str(p, "TS")) {
        do {
            top = swift_node_add(p->arena, top, old_specialization(p));
            p->substitutions.count = 0;
        } while (top && swift_accept_str(p, "_TTS"));
        return swift_accept_str(p, "_T") ? top : NULL;
    }
    for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++) {
        if (swift_accept_str(p, codes[i].code))
            return swift_node_add(p->arena, top, swift_node(p->arena, codes[i].kind));
    }
    return top;
}

struct swift_node *swift_parse_old(struct swift_arena *a, struct swift_text name)
{
    struct swift_parser p;
    memset(&p, 0, offsetof(struct swift_parser, words));
    p.arena = a;
    p.text = name.s;
    p.len = name.len;
    if (!swift_accept_str(&p, "_T"))
        return NULL;
    struct swift_node *top = attributes(&p, swift_node(a, SK_Global));
    if (top)
        top = swift_node_add(a, top, global(&p));
    if (top && p.pos < p.len) {
        struct swift_text rest = {p.text + p.pos, p.len - p.pos};
        top = swift_node_add(a, top, swift_node_text(a, SK_Suffix, rest));
    }
    return a->full ? NULL : top;
}
