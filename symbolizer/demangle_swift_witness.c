#include "symbolizer/demangle_swift_parse.h"

#include <string.h>

/* --- value witnesses ------------------------------------------------------------------------- */

static const char value_witness_codes[][3] = {
    "al", "ca", "ta", "de", "xx", "XX", "Xx", "CP", "Cp", "cp", "Tk", "tk",
    "pr", "TK", "Cc", "Tt", "tT", "xs", "xg", "ug", "up", "ui", "et", "st",
};

static const char *const value_witness_names[] = {
    "allocateBuffer",
    "assignWithCopy",
    "assignWithTake",
    "deallocateBuffer",
    "destroy",
    "destroyBuffer",
    "destroyArray",
    "initializeBufferWithCopyOfBuffer",
    "initializeBufferWithCopy",
    "initializeWithCopy",
    "initializeBufferWithTake",
    "initializeWithTake",
    "projectBuffer",
    "initializeBufferWithTakeOfBuffer",
    "initializeArrayWithCopy",
    "initializeArrayWithTakeFrontToBack",
    "initializeArrayWithTakeBackToFront",
    "storeExtraInhabitant",
    "getExtraInhabitantIndex",
    "getEnumTag",
    "destructiveProjectEnumData",
    "destructiveInjectEnumTag",
    "getEnumTagSinglePayload",
    "storeEnumTagSinglePayload",
};

#define VALUE_WITNESS_COUNT (sizeof(value_witness_codes) / sizeof(value_witness_codes[0]))

int swift_value_witness(char c0, char c1)
{
    for (size_t i = 0; i < VALUE_WITNESS_COUNT; i++) {
        if (value_witness_codes[i][0] == c0 && value_witness_codes[i][1] == c1)
            return (int)i;
    }
    return -1;
}

const char *swift_value_witness_name(int64_t number)
{
    return number >= 0 && number < (int64_t)VALUE_WITNESS_COUNT ? value_witness_names[number] : "";
}

struct swift_node *swift_op_value_witness(struct swift_parser *p)
{
    char c0 = swift_next(p);
    char c1 = swift_next(p);
    int number = swift_value_witness(c0, c1);
    if (number < 0)
        return NULL;
    struct swift_node *index = swift_node_index(p->arena, SK_Index, number);
    return swift_node2(p->arena, SK_ValueWitness, index, swift_pop_type(p));
}

/* --- witness tables --------------------------------------------------------------------------- */

/* Symbols that are made of one thing on the stack. */
enum popped { POP_TYPE, POP_ENTITY, POP_PROTOCOL, POP_CONFORMANCE, POP_ANY };

struct over {
    char letter;
    enum popped popped;
    enum swift_kind kind;
};

static struct swift_node *pop_what(struct swift_parser *p, enum popped what)
{
    switch (what) {
    case POP_TYPE:
        return swift_pop_type(p);
    case POP_ENTITY:
        return swift_pop_entity(p);
    case POP_PROTOCOL:
        return swift_pop_protocol(p);
    case POP_CONFORMANCE:
        return swift_pop_conformance(p);
    case POP_ANY:
        return swift_pop_any(p);
    }
    return NULL;
}

static const struct over *find_over(const struct over *table, size_t count, char letter)
{
    for (size_t i = 0; i < count; i++) {
        if (table[i].letter == letter)
            return &table[i];
    }
    return NULL;
}

static const struct over witness_overs[] = {
    {'C', POP_ENTITY, SK_EnumCase},
    {'V', POP_TYPE, SK_ValueWitnessTable},
    {'S', POP_PROTOCOL, SK_ProtocolSelfConformanceWitnessTable},
    {'P', POP_CONFORMANCE, SK_ProtocolWitnessTable},
    {'p', POP_CONFORMANCE, SK_ProtocolWitnessTablePattern},
    {'G', POP_CONFORMANCE, SK_GenericProtocolWitnessTable},
    {'I', POP_CONFORMANCE, SK_GenericProtocolWitnessTableInstantiationFunction},
    {'r', POP_CONFORMANCE, SK_ResilientProtocolWitnessTable},
    {'a', POP_CONFORMANCE, SK_ProtocolWitnessTableAccessor},
};

static const char outlined_letters[] = "BCDFHyersbcdfhg";
static const enum swift_kind outlined_kinds[] = {
    SK_OutlinedInitializeWithTakeNoValueWitness,
    SK_OutlinedInitializeWithCopyNoValueWitness,
    SK_OutlinedAssignWithTakeNoValueWitness,
    SK_OutlinedAssignWithCopyNoValueWitness,
    SK_OutlinedDestroyNoValueWitness,
    SK_OutlinedCopy,
    SK_OutlinedConsume,
    SK_OutlinedRetain,
    SK_OutlinedRelease,
    SK_OutlinedInitializeWithTake,
    SK_OutlinedInitializeWithCopy,
    SK_OutlinedAssignWithTake,
    SK_OutlinedAssignWithCopy,
    SK_OutlinedDestroy,
    SK_OutlinedEnumGetTag,
};

static struct swift_node *over_type_and_signature(struct swift_parser *p, enum swift_kind kind)
{
    struct swift_node *signature = swift_pop_signature(p);
    struct swift_node *n = swift_over_type(p, kind);
    return signature ? swift_node_add(p->arena, n, signature) : n;
}

/* WO: operations on values that several functions share. */
static struct swift_node *outlined(struct swift_parser *p)
{
    char c = swift_next(p);
    int i = swift_letter(outlined_letters, c);
    if (i >= 0)
        return over_type_and_signature(p, outlined_kinds[i]);
    if (c != 'i' && c != 'j')
        return NULL;
    struct swift_node *which = swift_index_node(p);
    enum swift_kind kind = c == 'i' ? SK_OutlinedEnumTagStore : SK_OutlinedEnumProjectDataForLoad;
    return swift_node_add(p->arena, over_type_and_signature(p, kind), which);
}

/* WZ and Wz: the names that one initialiser of globals declares. */
static struct swift_node *once(struct swift_parser *p, enum swift_kind kind)
{
    struct swift_node *names = swift_node(p->arena, SK_GlobalVariableOnceDeclList);
    while (names && swift_pop(p, SK_FirstElementMarker))
        names = swift_node_add(p->arena, names, swift_pop_class(p, SC_DECL_NAME));
    swift_node_reverse(names, 0);
    struct swift_node *context = names ? swift_pop_context(p) : NULL;
    return swift_node2(p->arena, kind, context, names);
}

static struct swift_node *field_offset(struct swift_parser *p)
{
    int direct = swift_letter("di", swift_next(p));
    if (direct < 0)
        return NULL;
    struct swift_node *directness = swift_node_index(p->arena, SK_Directness, direct);
    return swift_node2(p->arena, SK_FieldOffset, directness, swift_pop_entity(p));
}

/* Those that are made of a conformance and something else. */
static struct swift_node *conformance_witness(struct swift_parser *p, char c)
{
    struct swift_node *other = NULL;
    struct swift_node *path = NULL;
    if (c == 't')
        other = swift_pop_class(p, SC_DECL_NAME);
    else if (c == 'T' || c == 'b')
        other = swift_pop_type(p);
    if (c == 'T')
        path = swift_pop_assoc_type_path(p);
    struct swift_node *conformance = swift_pop_conformance(p);
    switch (c) {
    case 'l':
        return swift_node2(p->arena, SK_LazyProtocolWitnessTableAccessor, swift_pop_type(p),
                           conformance);
    case 'L':
        return swift_node2(p->arena, SK_LazyProtocolWitnessTableCacheVariable, swift_pop_type(p),
                           conformance);
    case 't':
        return swift_node2(p->arena, SK_AssociatedTypeMetadataAccessor, conformance, other);
    case 'T':
        return swift_node3(p->arena, SK_AssociatedTypeWitnessTableAccessor, conformance, path,
                           other);
    default:
        return swift_node2(p->arena, SK_BaseWitnessTableAccessor, conformance, other);
    }
}

struct swift_node *swift_op_witness(struct swift_parser *p)
{
    char c = swift_next(p);
    const struct over *o =
        find_over(witness_overs, sizeof(witness_overs) / sizeof(witness_overs[0]), c);
    if (o)
        return swift_node1(p->arena, o->kind, pop_what(p, o->popped));
    switch (c) {
    case 'v':
        return field_offset(p);
    case 'l':
    case 'L':
    case 't':
    case 'T':
    case 'b':
        return conformance_witness(p, c);
    case 'O':
        return outlined(p);
    case 'Z':
        return once(p, SK_GlobalVariableOnceFunction);
    case 'z':
        return once(p, SK_GlobalVariableOnceToken);
    case 'J':
        return swift_differentiability_witness(p);
    default:
        return NULL;
    }
}

/* --- metadata ------------------------------------------------------------------------------------ */

static const struct over metadata_overs[] = {
    {'a', POP_TYPE, SK_TypeMetadataAccessFunction},
    {'A', POP_CONFORMANCE, SK_ReflectionMetadataAssocTypeDescriptor},
    {'b', POP_TYPE, SK_CanonicalSpecializedGenericTypeMetadataAccessFunction},
    {'B', POP_TYPE, SK_ReflectionMetadataBuiltinDescriptor},
    {'c', POP_CONFORMANCE, SK_ProtocolConformanceDescriptor},
    {'D', POP_TYPE, SK_TypeMetadataDemanglingCache},
    {'f', POP_TYPE, SK_FullTypeMetadata},
    {'F', POP_TYPE, SK_ReflectionMetadataFieldDescriptor},
    {'g', POP_ANY, SK_OpaqueTypeDescriptorAccessor},
    {'h', POP_ANY, SK_OpaqueTypeDescriptorAccessorImpl},
    {'i', POP_TYPE, SK_TypeMetadataInstantiationFunction},
    {'I', POP_TYPE, SK_TypeMetadataInstantiationCache},
    {'j', POP_ANY, SK_OpaqueTypeDescriptorAccessorKey},
    {'J', POP_ANY, SK_NoncanonicalSpecializedGenericTypeMetadataCache},
    {'k', POP_ANY, SK_OpaqueTypeDescriptorAccessorVar},
    {'K', POP_ANY, SK_MetadataInstantiationCache},
    {'l', POP_TYPE, SK_TypeMetadataSingletonInitializationCache},
    {'L', POP_TYPE, SK_TypeMetadataLazyCache},
    {'m', POP_TYPE, SK_Metaclass},
    {'M', POP_TYPE, SK_CanonicalSpecializedGenericMetaclass},
    {'n', POP_TYPE, SK_NominalTypeDescriptor},
    {'N', POP_TYPE, SK_NoncanonicalSpecializedGenericTypeMetadata},
    {'o', POP_TYPE, SK_ClassMetadataBaseOffset},
    {'p', POP_PROTOCOL, SK_ProtocolDescriptor},
    {'P', POP_TYPE, SK_GenericTypeMetadataPattern},
    {'q', POP_ANY, SK_Uniquable},
    {'Q', POP_ANY, SK_OpaqueTypeDescriptor},
    {'r', POP_TYPE, SK_TypeMetadataCompletionFunction},
    {'s', POP_TYPE, SK_ObjCResilientClassStub},
    {'S', POP_PROTOCOL, SK_ProtocolSelfConformanceDescriptor},
    {'t', POP_TYPE, SK_FullObjCResilientClassStub},
    {'u', POP_TYPE, SK_MethodLookupFunction},
    {'U', POP_TYPE, SK_ObjCMetadataUpdateFunction},
    {'V', POP_ENTITY, SK_PropertyDescriptor},
    {'z', POP_TYPE, SK_CanonicalPrespecializedGenericTypeCachingOnceToken},
};

/* MX: descriptors of contexts that are no types. */
static struct swift_node *context_descriptor(struct swift_parser *p)
{
    struct swift_arena *a = p->arena;
    struct swift_node *n;
    switch (swift_next(p)) {
    case 'E':
        return swift_node1(a, SK_ExtensionDescriptor, swift_pop_context(p));
    case 'M':
        return swift_node1(a, SK_ModuleDescriptor, swift_pop_module(p));
    case 'Y':
        n = swift_pop_any(p);
        return swift_node2(a, SK_AnonymousDescriptor, n ? swift_pop_context(p) : NULL, n);
    case 'X':
        return swift_node1(a, SK_AnonymousDescriptor, swift_pop_context(p));
    case 'A':
        n = swift_pop_assoc_type_path(p);
        return swift_node2(a, SK_AssociatedTypeGenericParamRef, n ? swift_pop_type(p) : NULL, n);
    default:
        return NULL;
    }
}

struct swift_node *swift_op_metadata(struct swift_parser *p)
{
    char c = swift_next(p);
    const struct over *o =
        find_over(metadata_overs, sizeof(metadata_overs) / sizeof(metadata_overs[0]), c);
    if (o)
        return swift_node1(p->arena, o->kind, pop_what(p, o->popped));
    if (c == 'X')
        return context_descriptor(p);
    if (c != 'C')
        return NULL;
    struct swift_node *type = swift_pop_type_child(p);
    if (!swift_node_in(type, SC_NOMINAL))
        return NULL;
    return swift_node1(p->arena, SK_ReflectionMetadataSuperclassDescriptor, type);
}
