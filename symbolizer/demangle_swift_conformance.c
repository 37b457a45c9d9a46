#include "symbolizer/demangle_swift_parse.h"

/* PROTOCOL-CONFORMANCE: type, protocol, module, perhaps a signature. */
struct swift_node *swift_pop_conformance(struct swift_parser *p)
{
    struct swift_node *signature = swift_pop_signature(p);
    struct swift_node *module = swift_pop_module(p);
    struct swift_node *protocol = swift_pop_protocol(p);
    struct swift_node *type = swift_pop_type(p);
    struct swift_node *behavior = NULL;
    if (!type) {
        behavior = swift_pop(p, SK_Identifier);
        type = swift_pop_type(p);
    }
    if (signature)
        type = swift_type(p, swift_node2(p->arena, SK_DependentGenericType, signature, type));
    struct swift_node *n = swift_node3(p->arena, SK_ProtocolConformance, type, protocol, module);
    return behavior ? swift_node_add(p->arena, n, behavior) : n;
}

struct swift_node *swift_pop_any_conformance(struct swift_parser *p)
{
    return swift_pop_class(p, SC_CONFORMANCE);
}

static struct swift_node *pop_conformances(struct swift_parser *p)
{
    return swift_pop_list(p, swift_node(p->arena, SK_AnyProtocolConformanceList),
                          swift_pop_any_conformance);
}

static struct swift_node *conformance_ref(struct swift_parser *p)
{
    struct swift_node *n = swift_pop(p, SK_ProtocolConformanceRefInTypeModule);
    if (!n)
        n = swift_pop(p, SK_ProtocolConformanceRefInProtocolModule);
    if (n)
        return n;
    struct swift_node *module = swift_pop_module(p);
    struct swift_node *protocol = swift_pop_protocol(p);
    return swift_node2(p->arena, SK_ProtocolConformanceRefInOtherModule, protocol, module);
}

/* HC */
static struct swift_node *concrete_conformance(struct swift_parser *p)
{
    struct swift_node *conditions = pop_conformances(p);
    struct swift_node *ref = conformance_ref(p);
    struct swift_node *type = swift_pop_type(p);
    return swift_node3(p->arena, SK_ConcreteProtocolConformance, type, ref, conditions);
}

/* The index of a requirement; 1 stands for one that is not known, 0 is not used. */
static struct swift_node *conformance_index(struct swift_parser *p)
{
    int index = swift_index(p);
    if (index <= 0)
        return NULL;
    if (index == 1)
        return swift_node(p->arena, SK_UnknownIndex);
    return swift_node_index(p->arena, SK_Index, index - 2);
}

/* HA, HD, HI: through an associated type, of a generic parameter, inherited. */
static struct swift_node *dependent_conformance(struct swift_parser *p, char c)
{
    struct swift_node *index = conformance_index(p);
    struct swift_node *protocol = swift_pop_protocol(p);
    if (c == 'D')
        return swift_node3(p->arena, SK_DependentProtocolConformanceRoot, swift_pop_type(p),
                           protocol, index);
    if (c == 'A') {
        struct swift_node *type = swift_pop_type(p);
        protocol = swift_node2(p->arena, SK_DependentAssociatedConformance, type, protocol);
    }
    struct swift_node *nested = swift_pop_class(p, SC_DEPENDENT);
    return swift_node3(p->arena,
                       c == 'A' ? SK_DependentProtocolConformanceAssociated
                                : SK_DependentProtocolConformanceInherited,
                       nested, protocol, index);
}

/* HO: through the opaque result of a function. */
static struct swift_node *opaque_conformance(struct swift_parser *p)
{
    struct swift_node *type = swift_pop_type(p);
    struct swift_node *conformance = swift_pop_class(p, SC_DEPENDENT);
    return swift_node2(p->arena, SK_DependentProtocolConformanceOpaque, conformance, type);
}

/* H: conformances as generic arguments, and the records the runtime finds things by. */
struct swift_node *swift_op_conformance(struct swift_parser *p)
{
    struct swift_arena *a = p->arena;
    char c = swift_next(p);
    switch (c) {
    case 'A':
    case 'D':
    case 'I':
        return dependent_conformance(p, c);
    case 'C':
        return concrete_conformance(p);
    case 'O':
        return opaque_conformance(p);
    case 'X':
        return swift_node1(a, SK_PackProtocolConformance, pop_conformances(p));
    case 'P':
        return swift_node1(a, SK_ProtocolConformanceRefInTypeModule, swift_pop_protocol(p));
    case 'p':
        return swift_node1(a, SK_ProtocolConformanceRefInProtocolModule, swift_pop_protocol(p));
    case 'c':
        return swift_node1(a, SK_ProtocolConformanceDescriptorRecord, swift_pop_conformance(p));
    case 'n':
        return swift_over_type(p, SK_NominalTypeDescriptorRecord);
    case 'o':
        return swift_node1(a, SK_OpaqueTypeDescriptorRecord, swift_pop_any(p));
    case 'r':
        return swift_node1(a, SK_ProtocolDescriptorRecord, swift_pop_protocol(p));
    case 'F':
        return swift_node(a, SK_AccessibleFunctionRecord);
    default:
        swift_back(p);
        swift_back(p);
        return swift_op_identifier(p);
    }
}

/* g: a conformance that a bound generic type was made with. */
struct swift_node *swift_op_retroactive_conformance(struct swift_parser *p)
{
    struct swift_node *index = swift_index_node(p);
    struct swift_node *conformance = swift_pop_any_conformance(p);
    return swift_node2(p->arena, SK_RetroactiveConformance, index, conformance);
}

struct swift_node *swift_pop_retroactive_conformances(struct swift_parser *p)
{
    struct swift_node *n = swift_pop(p, SK_RetroactiveConformance);
    struct swift_node *list = swift_node1(p->arena, SK_TypeList, n);
    while (list && (n = swift_pop(p, SK_RetroactiveConformance)))
        list = swift_node_add(p->arena, list, n);
    swift_node_reverse(list, 0);
    return list;
}
