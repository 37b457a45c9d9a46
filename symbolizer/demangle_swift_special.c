#include "symbolizer/demangle_swift_special.h"

/* SPEC-INFO: m metatype arguments removed, q serialised, a async removed, r representation changed, then
 * the pass that did it as a digit. Swift 5.5 to 6.0 wrote the m; Apple's tool reads it no more, but
 * binaries have it. */
static struct swift_node *spec_info(struct swift_parser *p, enum swift_kind kind)
{
    swift_accept(p, 'm');
    bool serialized = swift_accept(p, 'q');
    bool async_removed = swift_accept(p, 'a');
    bool changed = swift_accept(p, 'r');
    int pass = swift_next(p) - '0';
    if (pass < 0 || pass > 9)
        return NULL;
    struct swift_node *n = swift_node(p->arena, kind);
    if (serialized)
        n = swift_node_add(p->arena, n, swift_node(p->arena, SK_IsSerialized));
    if (async_removed)
        n = swift_node_add(p->arena, n, swift_node(p->arena, SK_AsyncRemoved));
    if (changed)
        n = swift_node_add(p->arena, n, swift_node(p->arena, SK_RepresentationChanged));
    return swift_node_add(p->arena, n, swift_node_index(p->arena, SK_SpecializationPassID, pass));
}

/* --- generic specialisations ------------------------------------------------------------------- */

static struct swift_node *generic_specialization(struct swift_parser *p, enum swift_kind kind,
                                                 const struct swift_node *dropped)
{
    struct swift_node *n = spec_info(p, kind);
    for (size_t i = 0; i < swift_node_count(dropped); i++)
        n = swift_node_add(p->arena, n, swift_node_child(dropped, i));
    struct swift_node *types = n ? swift_pop_type_list(p) : NULL;
    if (!types)
        return NULL;
    for (size_t i = 0; i < swift_node_count(types); i++) {
        struct swift_node *type = swift_node_child(types, i);
        n = swift_node_add(p->arena, n, swift_node1(p->arena, SK_GenericSpecializationParam, type));
    }
    return n;
}

static const char generic_letters[] = "gGBsi";
static const enum swift_kind generic_kinds[] = {
    SK_GenericSpecialization,
    SK_GenericSpecializationNotReAbstracted,
    SK_GenericSpecializationInResilienceDomain,
    SK_GenericSpecializationPrespecialized,
    SK_InlinedGenericFunction,
};

/* Each t is an argument that is gone, with its number less one, or nothing for the first. */
static struct swift_node *dropped_arguments(struct swift_parser *p)
{
    struct swift_node *list = swift_node(p->arena, SK_TypeList);
    swift_back(p);
    while (list && swift_accept(p, 't')) {
        int n = swift_natural(p);
        struct swift_node *arg =
            swift_node_index(p->arena, SK_DroppedArgument, n < 0 ? 0 : (int64_t)n + 1);
        list = swift_node_add(p->arena, list, arg);
    }
    int i = swift_letter("gGB", swift_next(p));
    return i < 0 || !list ? NULL : generic_specialization(p, generic_kinds[i], list);
}

static struct swift_node *partial_specialization(struct swift_parser *p, enum swift_kind kind)
{
    struct swift_node *n = spec_info(p, kind);
    return swift_node_add(p->arena, n, swift_over_type(p, SK_GenericSpecializationParam));
}

/* --- function signature specialisations ---------------------------------------------------------- */

struct swift_node *swift_special_kind(struct swift_parser *p, struct swift_node *param,
                                      unsigned kind)
{
    return swift_node_add(
        p->arena, param,
        swift_node_index(p->arena, SK_FunctionSignatureSpecializationParamKind, kind));
}

struct swift_node *swift_special_payload(struct swift_parser *p, struct swift_node *param,
                                         struct swift_text text)
{
    return swift_node_add(
        p->arena, param,
        swift_node_text(p->arena, SK_FunctionSignatureSpecializationParamPayload, text));
}

static struct swift_node *param_number(struct swift_parser *p, struct swift_node *param,
                                       unsigned kind)
{
    struct swift_text digits = {p->text + p->pos, 0};
    for (char c = swift_peek(p); c >= '0' && c <= '9'; c = swift_peek(p)) {
        p->pos++;
        digits.len++;
    }
    return digits.len ? swift_special_payload(p, swift_special_kind(p, param, kind), digits) : NULL;
}

/* What follows p: a constant. */
static struct swift_node *constant_param(struct swift_parser *p, struct swift_node *param)
{
    static const char *const encodings[] = {"u8", "u16", "objc"};
    int encoding;
    switch (swift_next(p)) {
    case 'f':
        return swift_special_kind(p, param, SPECIAL_FUNCTION);
    case 'g':
        return swift_special_kind(p, param, SPECIAL_GLOBAL);
    case 'k':
        return swift_special_kind(p, param, SPECIAL_KEY_PATH);
    case 'i':
        return param_number(p, param, SPECIAL_INTEGER);
    case 'd':
        return param_number(p, param, SPECIAL_FLOAT);
    case 's':
        encoding = swift_letter("bwc", swift_next(p));
        if (encoding < 0)
            return NULL;
        param = swift_special_kind(p, param, SPECIAL_STRING);
        return swift_node_add(p->arena, param,
                              swift_node_str(p->arena,
                                             SK_FunctionSignatureSpecializationParamPayload,
                                             encodings[encoding]));
    default:
        return NULL;
    }
}

/* Letters that stand for a kind, with the ones that may follow and add a bit. */
struct param_letter {
    char letter;
    unsigned kind;
    const char *more;
};

static const struct param_letter param_letters[] = {
    {'e', SPECIAL_EXISTENTIAL_TO_GENERIC, "DGOX"},
    {'d', SPECIAL_DEAD, "GOX"},
    {'g', SPECIAL_OWNED_TO_GUARANTEED, "X"},
    {'o', SPECIAL_GUARANTEED_TO_OWNED, "X"},
    {'x', SPECIAL_EXPLODED, ""},
    {'i', SPECIAL_BOX_TO_VALUE, ""},
    {'s', SPECIAL_BOX_TO_STACK, ""},
    {'r', SPECIAL_IN_OUT_TO_OUT, ""},
    {'c', SPECIAL_CLOSURE, ""},
};

static unsigned more_bit(char c)
{
    static const unsigned bits[] = {SPECIAL_DEAD, SPECIAL_OWNED_TO_GUARANTEED,
                                    SPECIAL_GUARANTEED_TO_OWNED, SPECIAL_EXPLODED};
    return bits[swift_letter("DGOX", c)];
}

static struct swift_node *function_param(struct swift_parser *p, enum swift_kind kind)
{
    struct swift_node *param = swift_node(p->arena, kind);
    char c = swift_next(p);
    if (c == 'n')
        return param;
    if (c == 'p')
        return constant_param(p, param);
    for (size_t i = 0; i < sizeof(param_letters) / sizeof(param_letters[0]); i++) {
        const struct param_letter *l = &param_letters[i];
        if (l->letter != c)
            continue;
        unsigned bits = l->kind;
        for (const char *more = l->more; *more; more++) {
            if (swift_accept(p, *more))
                bits |= more_bit(*more);
        }
        return swift_special_kind(p, param, bits);
    }
    return NULL;
}

/* The name (and for closures and key paths the types) that an argument speaks of lies on the stack:
 * the last argument's on top. */
static bool add_operands(struct swift_parser *p, struct swift_node *param)
{
    const struct swift_node *kind = swift_node_child(param, 0);
    if (!swift_node_is(param, SK_FunctionSignatureSpecializationParam) || !kind)
        return true;
    int64_t k = swift_node_get_index(kind);
    bool types = k == SPECIAL_CLOSURE || k == SPECIAL_KEY_PATH;
    if (!types && k != SPECIAL_FUNCTION && k != SPECIAL_GLOBAL && k != SPECIAL_STRING)
        return true;
    size_t fixed = swift_node_count(param);
    struct swift_node *type;
    while ((type = swift_pop_type(p))) {
        if (!types || !swift_node_add(p->arena, param, type))
            return false;
    }
    struct swift_node *name = swift_pop(p, SK_Identifier);
    if (!name)
        return false;
    struct swift_text text = swift_node_get_text(name);
    if (k == SPECIAL_STRING && text.len && text.s[0] == '_') {
        /* It stands before a digit or '_' that the string begins with. */
        text.s++;
        text.len--;
    }
    if (!swift_special_payload(p, param, text))
        return false;
    swift_node_reverse(param, fixed);
    return true;
}

static struct swift_node *function_specialization(struct swift_parser *p)
{
    struct swift_arena *a = p->arena;
    struct swift_node *n = spec_info(p, SK_FunctionSignatureSpecialization);
    while (n && !swift_accept(p, '_'))
        n = swift_node_add(a, n, function_param(p, SK_FunctionSignatureSpecializationParam));
    if (n && !swift_accept(p, 'n'))
        n = swift_node_add(a, n, function_param(p, SK_FunctionSignatureSpecializationReturn));
    for (size_t i = swift_node_count(n); i > 0; i--) {
        if (!add_operands(p, swift_node_child(n, i - 1)))
            return NULL;
    }
    return n;
}

struct swift_node *swift_specialization(struct swift_parser *p, char c)
{
    int i = swift_letter(generic_letters, c);
    if (i >= 0)
        return generic_specialization(p, generic_kinds[i], NULL);
    switch (c) {
    case 't':
        return dropped_arguments(p);
    case 'p':
        return partial_specialization(p, SK_GenericPartialSpecialization);
    case 'P':
        return partial_specialization(p, SK_GenericPartialSpecializationNotReAbstracted);
    case 'f':
        return function_specialization(p);
    default:
        return NULL;
    }
}
