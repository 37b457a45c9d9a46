#include <string.h>

#include "symbolizer/demangle_swift_old.h"
#include "symbolizer/demangle_swift_special.h"

static struct swift_node *generic_specialization(struct swift_parser *p, struct swift_node *n)
{
    while (n && !swift_accept(p, '_')) {
        struct swift_node *param =
            swift_node1(p->arena, SK_GenericSpecializationParam, old_type(p));
        while (param && !swift_accept(p, '_'))
            param = swift_node_add(p->arena, param, old_conformance(p));
        n = swift_node_add(p->arena, n, param);
    }
    return n;
}

/* An identifier, or with `digits` whatever comes before the '_' that ends both. */
static struct swift_node *named_payload(struct swift_parser *p, struct swift_node *param,
                                        bool digits)
{
    struct swift_text text = {p->text + p->pos, 0};
    if (digits) {
        while (p->pos < p->len && swift_peek(p) != '_') {
            p->pos++;
            text.len++;
        }
        if (!text.len)
            return NULL;
    } else {
        struct swift_node *name = old_identifier(p, SK_Identifier);
        if (!name)
            return NULL;
        text = swift_node_get_text(name);
    }
    return swift_accept(p, '_') ? swift_special_payload(p, param, text) : NULL;
}

/* After "cp": a constant. */
static struct swift_node *constant_param(struct swift_parser *p, struct swift_node *param)
{
    static const char *const encodings[] = {"u8", "u16"};
    if (swift_accept_str(p, "fr"))
        return named_payload(p, swift_special_kind(p, param, SPECIAL_FUNCTION), false);
    if (swift_accept(p, 'g'))
        return named_payload(p, swift_special_kind(p, param, SPECIAL_GLOBAL), false);
    if (swift_accept(p, 'i'))
        return named_payload(p, swift_special_kind(p, param, SPECIAL_INTEGER), true);
    if (swift_accept_str(p, "fl"))
        return named_payload(p, swift_special_kind(p, param, SPECIAL_FLOAT), true);
    if (!swift_accept_str(p, "se"))
        return NULL;
    int encoding = swift_letter("01", swift_next(p));
    if (encoding < 0 || !swift_accept(p, 'v'))
        return NULL;
    struct swift_text text = {encodings[encoding], strlen(encodings[encoding])};
    return named_payload(
        p, swift_special_payload(p, swift_special_kind(p, param, SPECIAL_STRING), text), false);
}

/* After "cl": a closure's name and the types it captures. */
static struct swift_node *closure_param(struct swift_parser *p, struct swift_node *param)
{
    struct swift_node *name = old_identifier(p, SK_Identifier);
    if (!name)
        return NULL;
    param = swift_special_payload(p, swift_special_kind(p, param, SPECIAL_CLOSURE),
                                  swift_node_get_text(name));
    while (param && swift_peek(p) != '_') {
        struct swift_node *type = old_type(p);
        if (!type)
            break;
        param = swift_node_add(p->arena, param, type);
    }
    return swift_accept(p, '_') ? param : NULL;
}

static struct swift_node *function_param(struct swift_parser *p)
{
    static const struct {
        const char *code;
        unsigned kind;
    } plain[] = {
        {"i_", SPECIAL_BOX_TO_VALUE}, {"k_", SPECIAL_BOX_TO_STACK}, {"r_", SPECIAL_IN_OUT_TO_OUT}};
    static const char bit_letters[] = "dgos";
    static const unsigned bits[] = {SPECIAL_DEAD, SPECIAL_OWNED_TO_GUARANTEED,
                                    SPECIAL_GUARANTEED_TO_OWNED, SPECIAL_EXPLODED};
    struct swift_node *param = swift_node(p->arena, SK_FunctionSignatureSpecializationParam);
    if (swift_accept_str(p, "n_"))
        return param;
    if (swift_accept_str(p, "cp"))
        return constant_param(p, param);
    if (swift_accept_str(p, "cl"))
        return closure_param(p, param);
    for (size_t i = 0; i < sizeof(plain) / sizeof(plain[0]); i++) {
        if (swift_accept_str(p, plain[i].code))
            return swift_special_kind(p, param, plain[i].kind);
    }
    unsigned kind = 0;
    for (size_t i = 0; bit_letters[i]; i++) {
        if (swift_accept(p, bit_letters[i]))
            kind |= bits[i];
    }
    return kind && swift_accept(p, '_') ? swift_special_kind(p, param, kind) : NULL;
}

/* (g | r | f) 'q'? DIGIT and what was specialised. */
struct swift_node *old_specialization(struct swift_parser *p)
{
    static const enum swift_kind kinds[] = {SK_GenericSpecialization,
                                            SK_GenericSpecializationNotReAbstracted,
                                            SK_FunctionSignatureSpecialization};
    int i = swift_letter("grf", swift_next(p));
    if (i < 0)
        return NULL;
    struct swift_node *n = swift_node(p->arena, kinds[i]);
    if (swift_accept(p, 'q'))
        n = swift_node_add(p->arena, n, swift_node(p->arena, SK_IsSerialized));
    int pass = swift_next(p) - '0';
    n = swift_node_add(p->arena, n, swift_node_index(p->arena, SK_SpecializationPassID, pass));
    if (i < 2)
        return generic_specialization(p, n);
    while (n && !swift_accept(p, '_'))
        n = swift_node_add(p->arena, n, function_param(p));
    return n;
}
