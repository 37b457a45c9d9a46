#include "symbolizer/demangle_swift_parse.h"

/* --- generic parameters ---------------------------------------------------------------------- */

struct swift_node *swift_generic_param(struct swift_parser *p, int depth, int index)
{
    if (depth < 0 || index < 0)
        return NULL;
    struct swift_node *d = swift_node_index(p->arena, SK_Index, depth);
    struct swift_node *i = swift_node_index(p->arena, SK_Index, index);
    return swift_node2(p->arena, SK_DependentGenericParamType, d, i);
}

/* GENERIC-PARAM-INDEX: z is the first of depth 0, INDEX the others of it, d INDEX INDEX those of a
 * greater depth, s the Self of a constrained existential. */
struct swift_node *swift_generic_param_index(struct swift_parser *p)
{
    if (swift_accept(p, 'd')) {
        int depth = swift_index(p) + 1;
        int index = swift_index(p);
        return swift_generic_param(p, depth, index);
    }
    if (swift_accept(p, 'z'))
        return swift_generic_param(p, 0, 0);
    if (swift_accept(p, 's'))
        return swift_node(p->arena, SK_ConstrainedExistentialSelf);
    return swift_generic_param(p, 0, swift_index(p) + 1);
}

/* --- associated types ------------------------------------------------------------------------- */

struct swift_node *swift_pop_assoc_type_name(struct swift_parser *p)
{
    struct swift_node *protocol = swift_pop_type(p);
    if (protocol && !swift_is_protocol(protocol))
        return NULL;
    struct swift_node *n =
        swift_node1(p->arena, SK_DependentAssociatedTypeRef, swift_pop(p, SK_Identifier));
    return protocol ? swift_node_add(p->arena, n, protocol) : n;
}

struct swift_node *swift_pop_assoc_type_path(struct swift_parser *p)
{
    if (swift_pop(p, SK_EmptyList))
        return NULL;
    return swift_pop_list(p, swift_node(p->arena, SK_AssocTypePath), swift_pop_assoc_type_name);
}

static struct swift_node *member_type(struct swift_parser *p, struct swift_node *base,
                                      struct swift_node *name)
{
    return swift_type(p, swift_node2(p->arena, SK_DependentMemberType, base, name));
}

/* BASE.NAME; the base is on the stack when it is not given. */
static struct swift_node *assoc_type(struct swift_parser *p, struct swift_node *base, bool compound,
                                     bool given)
{
    struct swift_node *path =
        compound ? swift_pop_assoc_type_path(p) : swift_pop_assoc_type_name(p);
    if (!path)
        return NULL;
    struct swift_node *type = given ? swift_type(p, base) : swift_pop_type(p);
    if (!compound)
        return member_type(p, type, path);
    for (size_t i = 0; i < swift_node_count(path); i++)
        type = member_type(p, type, swift_node_child(path, i));
    return type;
}

/* --- opaque types, packs ------------------------------------------------------------------------- */

/* Qo: the opaque result of a declaration with generic arguments. */
static struct swift_node *opaque_type(struct swift_parser *p)
{
    struct swift_nodes lists = {NULL, 0, 0};
    struct swift_node *conformances;
    int index = swift_index(p);
    if (!swift_pop_generic_args(p, &lists, &conformances))
        return NULL;
    struct swift_node *n = swift_node2(p->arena, SK_OpaqueType, swift_pop_any(p),
                                       swift_node_index(p->arena, SK_Index, index));
    struct swift_node *args = swift_node(p->arena, SK_TypeList);
    for (size_t i = lists.count; i > 0; i--)
        args = swift_node_add(p->arena, args, lists.list[i - 1]);
    n = swift_node_add(p->arena, n, args);
    if (conformances)
        n = swift_node_add(p->arena, n, conformances);
    return swift_type(p, n);
}

static struct swift_node *opaque_return_type(struct swift_parser *p, bool numbered)
{
    struct swift_node *n = swift_node(p->arena, SK_OpaqueReturnType);
    if (!numbered)
        return n;
    int ordinal = swift_index(p);
    if (ordinal < 0)
        return NULL;
    return swift_node_add(p->arena, n,
                          swift_node_index(p->arena, SK_OpaqueReturnTypeIndex, ordinal));
}

static struct swift_node *sil_pack(struct swift_parser *p)
{
    int i = swift_letter("di", swift_next(p));
    if (i < 0)
        return NULL;
    struct swift_node *n = swift_node(p->arena, i ? SK_SILPackIndirect : SK_SILPackDirect);
    return swift_pop_list(p, n, swift_pop_type);
}

static struct swift_node *pack_element(struct swift_parser *p)
{
    struct swift_node *type = swift_pop_type_child(p);
    int level = swift_index(p);
    if (level < 0)
        return NULL;
    return swift_node2(p->arena, SK_PackElement, type,
                       swift_node_index(p->arena, SK_PackElementLevel, level));
}

static struct swift_node *pack_expansion(struct swift_parser *p)
{
    struct swift_node *count = swift_pop_type_child(p);
    struct swift_node *pattern = swift_pop_type_child(p);
    return swift_node2(p->arena, SK_PackExpansion, pattern, count);
}

static struct swift_node *archetype_ref(struct swift_parser *p)
{
    struct swift_node *name = swift_pop(p, SK_Identifier);
    struct swift_node *base = swift_pop_type_child(p);
    return swift_type(p, swift_node2(p->arena, SK_AssociatedTypeRef, base, name));
}

/* The archetypes that later text can refer to. */
static struct swift_node *named_archetype(struct swift_parser *p, char c)
{
    switch (c) {
    case 'a':
        return archetype_ref(p);
    case 'o':
        return opaque_type(p);
    case 'x':
    case 'X':
        return assoc_type(p, NULL, c == 'X', false);
    case 'y':
    case 'Y':
        return assoc_type(p, swift_generic_param_index(p), c == 'Y', true);
    case 'z':
    case 'Z':
        return assoc_type(p, swift_generic_param(p, 0, 0), c == 'Z', true);
    default:
        return NULL;
    }
}

struct swift_node *swift_op_archetype(struct swift_parser *p)
{
    struct swift_node *n;
    char c = swift_next(p);
    switch (c) {
    case 'O':
        return swift_node1(p->arena, SK_OpaqueReturnTypeOf, swift_pop_context(p));
    case 'r':
    case 'R':
        return swift_type(p, opaque_return_type(p, c == 'R'));
    case 'p':
        return swift_type(p, pack_expansion(p));
    case 'e':
        return swift_type(p, pack_element(p));
    case 'P':
        return swift_type(p, swift_pop_list(p, swift_node(p->arena, SK_Pack), swift_pop_type));
    case 'S':
        return swift_type(p, sil_pack(p));
    default:
        n = named_archetype(p, c);
        swift_substitution(p, n);
        return n;
    }
}

/* --- signatures ------------------------------------------------------------------------------------ */

/* l: one parameter; r: a count for each depth, then l. Requirements are on the stack. */
struct swift_node *swift_generic_signature(struct swift_parser *p, bool counts)
{
    struct swift_node *n = swift_node(p->arena, SK_DependentGenericSignature);
    if (!counts)
        n = swift_node_add(p->arena, n,
                           swift_node_index(p->arena, SK_DependentGenericParamCount, 1));
    while (counts && n && !swift_accept(p, 'l')) {
        int count = swift_accept(p, 'z') ? 0 : swift_index(p) + 1;
        if (count < 0)
            return NULL;
        n = swift_node_add(p->arena, n,
                           swift_node_index(p->arena, SK_DependentGenericParamCount, count));
    }
    size_t from = swift_node_count(n);
    struct swift_node *requirement;
    while ((requirement = swift_pop_class(p, SC_REQUIREMENT)))
        n = swift_node_add(p->arena, n, requirement);
    swift_node_reverse(n, from);
    return n;
}

struct swift_node *swift_op_generic_type(struct swift_parser *p)
{
    struct swift_node *signature = swift_pop_signature(p);
    struct swift_node *type = swift_pop_type(p);
    return swift_type(p, swift_node2(p->arena, SK_DependentGenericType, signature, type));
}

/* --- requirements ----------------------------------------------------------------------------------- */

/* What is constrained. */
enum subject { ON_PARAM, ON_ASSOC, ON_COMPOUND, ON_TYPE };
/* What by. */
enum constraint {
    BY_PROTOCOL,
    BY_CLASS,
    BY_SAME_TYPE,
    BY_SAME_SHAPE,
    BY_LAYOUT,
    BY_INVERSE,
    BY_PACK,
    BY_VALUE
};

struct requirement {
    char letter;
    enum subject subject;
    enum constraint constraint;
};

static const struct requirement requirements[] = {
    {'V', ON_PARAM, BY_VALUE},     {'v', ON_PARAM, BY_PACK},
    {'c', ON_ASSOC, BY_CLASS},     {'C', ON_COMPOUND, BY_CLASS},
    {'b', ON_PARAM, BY_CLASS},     {'B', ON_TYPE, BY_CLASS},
    {'t', ON_ASSOC, BY_SAME_TYPE}, {'T', ON_COMPOUND, BY_SAME_TYPE},
    {'s', ON_PARAM, BY_SAME_TYPE}, {'S', ON_TYPE, BY_SAME_TYPE},
    {'m', ON_ASSOC, BY_LAYOUT},    {'M', ON_COMPOUND, BY_LAYOUT},
    {'l', ON_PARAM, BY_LAYOUT},    {'L', ON_TYPE, BY_LAYOUT},
    {'p', ON_ASSOC, BY_PROTOCOL},  {'P', ON_COMPOUND, BY_PROTOCOL},
    {'Q', ON_TYPE, BY_PROTOCOL},   {'h', ON_PARAM, BY_SAME_SHAPE},
    {'i', ON_PARAM, BY_INVERSE},   {'I', ON_TYPE, BY_INVERSE},
    {'j', ON_ASSOC, BY_INVERSE},   {'J', ON_COMPOUND, BY_INVERSE},
};

/* Layouts without numbers, with a size, with size and alignment. */
static struct swift_node *layout_requirement(struct swift_parser *p, struct swift_node *type)
{
    struct swift_text letter = {p->text + p->pos, 1};
    char c = swift_next(p);
    bool size = swift_letter("EeMmS", c) >= 0;
    bool alignment = c == 'E' || c == 'M';
    if (!size && swift_letter("URNCDTB", c) < 0)
        return NULL;
    struct swift_node *size_node = size ? swift_index_node(p) : NULL;
    if (size && !size_node)
        return NULL;
    struct swift_node *alignment_node = alignment ? swift_index_node(p) : NULL;
    struct swift_node *name = swift_node_text(p->arena, SK_Identifier, letter);
    struct swift_node *n = swift_node2(p->arena, SK_DependentGenericLayoutRequirement, type, name);
    if (size_node)
        n = swift_node_add(p->arena, n, size_node);
    if (alignment_node)
        n = swift_node_add(p->arena, n, alignment_node);
    return n;
}

static struct swift_node *requirement_subject(struct swift_parser *p, enum subject subject)
{
    struct swift_node *type;
    if (subject == ON_TYPE)
        return swift_pop_type(p);
    struct swift_node *param = swift_generic_param_index(p);
    if (subject == ON_PARAM)
        return swift_type(p, param);
    type = assoc_type(p, param, subject == ON_COMPOUND, true);
    swift_substitution(p, type);
    return type;
}

struct swift_node *swift_op_requirement(struct swift_parser *p)
{
    static const struct requirement by_protocol = {0, ON_PARAM, BY_PROTOCOL};
    const struct requirement *r = &by_protocol;
    for (size_t i = 0; i < sizeof(requirements) / sizeof(requirements[0]); i++) {
        if (swift_peek(p) == requirements[i].letter)
            r = &requirements[i];
    }
    if (r != &by_protocol)
        p->pos++;
    struct swift_node *inverse = NULL;
    if (r->constraint == BY_INVERSE) {
        inverse = swift_index_node(p);
        if (!inverse)
            return NULL;
    }
    struct swift_node *type = requirement_subject(p, r->subject);
    switch (r->constraint) {
    case BY_VALUE:
        return swift_node2(p->arena, SK_DependentGenericParamValueMarker, type, swift_pop_type(p));
    case BY_PACK:
        return swift_node1(p->arena, SK_DependentGenericParamPackMarker, type);
    case BY_PROTOCOL:
        return swift_node2(p->arena, SK_DependentGenericConformanceRequirement, type,
                           swift_pop_protocol(p));
    case BY_CLASS:
        return swift_node2(p->arena, SK_DependentGenericConformanceRequirement, type,
                           swift_pop_type(p));
    case BY_SAME_TYPE:
        return swift_node2(p->arena, SK_DependentGenericSameTypeRequirement, type,
                           swift_pop_type(p));
    case BY_SAME_SHAPE:
        return swift_node2(p->arena, SK_DependentGenericSameShapeRequirement, type,
                           swift_pop_type(p));
    case BY_INVERSE:
        return swift_node2(p->arena, SK_DependentGenericInverseConformanceRequirement, type,
                           inverse);
    case BY_LAYOUT:
        return layout_requirement(p, type);
    }
    return NULL;
}
