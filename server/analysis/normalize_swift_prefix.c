/*
 * What the compiler made of a Swift function is told in words before its name: `closure #1 in`,
 * `merged`, `(2) await resume partial function for`. Here they are taken off, one by one, in the
 * words of both forms of Swift's demangler.
 */
#include <string.h>

#include "server/analysis/normalize_parts.h"

enum prefix_kind {
    PREFIX_STRIP,      /* what follows is the function */
    PREFIX_STATIC,     /* so it is, and one of the type itself */
    PREFIX_OF,         /* `generic specialization <…> of F` */
    PREFIX_DERIVATIVE, /* `pullback of F with respect to parameters {0} and results {0}` */
    PREFIX_FROM,       /* `autodiff subset parameters thunk for pullback from F` */
    PREFIX_CLOSURE,    /* `closure #2 (Int) -> () in F` */
    PREFIX_MACRO,      /* `peer macro @M expansion #1 of name in T` */
    PREFIX_WITNESS,    /* `protocol witness for P.f() in conformance T : P in M` */
    PREFIX_VTABLE,     /* `vtable thunk for F dispatching to G` */
    PREFIX_NUMBERED,   /* `default argument 2 of F` */
    PREFIX_KEY_PATH,   /* `key path getter for T.name : T, serialized` */
    PREFIX_NOTHING,    /* a helper or data, which belong to no function */
};

/* The first that fits counts: longer ones stand before their beginnings. */
static const struct {
    const char *text;
    enum prefix_kind kind;
} PREFIXES[] = {
    {"specialized generic metaclass for ", PREFIX_NOTHING},
    {"specialized ", PREFIX_STRIP},
    {"prespecialized ", PREFIX_STRIP},
    {"generic specialization ", PREFIX_OF},
    {"generic not re-abstracted specialization ", PREFIX_OF},
    {"generic not-reabstracted specialization ", PREFIX_OF},
    {"generic partial specialization ", PREFIX_OF},
    {"generic not-reabstracted partial specialization ", PREFIX_OF},
    {"generic pre-specialization ", PREFIX_OF},
    {"function signature specialization ", PREFIX_OF},
    {"inlined generic function ", PREFIX_OF},
    {"closure #", PREFIX_CLOSURE},
    {"implicit closure #", PREFIX_CLOSURE},
    {"partial apply forwarder for ", PREFIX_STRIP},
    {"partial apply ObjC forwarder for ", PREFIX_STRIP},
    {"partial apply for ", PREFIX_STRIP},
    {"partial apply ObjC for ", PREFIX_STRIP},
    {"merged ", PREFIX_STRIP},
    {"@objc completion handler block implementation for ", PREFIX_NOTHING},
    {"@objc ", PREFIX_STRIP},
    {"@nonobjc ", PREFIX_STRIP},
    {"dynamic ", PREFIX_STRIP},
    {"super ", PREFIX_STRIP},
    {"static ", PREFIX_STATIC},
    {"class metadata base offset for ", PREFIX_NOTHING},
    {"class ", PREFIX_STRIP},
    {"override ", PREFIX_STRIP},
    {"preamble of ", PREFIX_STRIP},
    {"dispatch thunk of ", PREFIX_STRIP},
    {"method lookup function for ", PREFIX_NOTHING},
    {"curry thunk of ", PREFIX_STRIP},
    {"identity thunk of ", PREFIX_STRIP},
    {"dynamically replaceable thunk for ", PREFIX_STRIP},
    {"dynamically replaceable key for ", PREFIX_STRIP},
    {"dynamically replaceable variable for ", PREFIX_STRIP},
    {"distributed thunk ", PREFIX_STRIP},
    {"distributed accessor for ", PREFIX_STRIP},
    {"back deployment thunk for ", PREFIX_STRIP},
    {"back deployment fallback for ", PREFIX_STRIP},
    {"async function pointer to ", PREFIX_STRIP},
    {"coro function pointer to ", PREFIX_STRIP},
    {"default override of ", PREFIX_STRIP},
    {"property wrapper backing initializer of ", PREFIX_STRIP},
    {"property wrapper init from projected value of ", PREFIX_STRIP},
    {"property wrapped field init accessor of ", PREFIX_STRIP},
    {"variable initialization expression of ", PREFIX_STRIP},
    {"one-time initialization function for ", PREFIX_STRIP},
    {"global initialization function for ", PREFIX_STRIP},
    {"key path getter for ", PREFIX_KEY_PATH},
    {"key path setter for ", PREFIX_KEY_PATH},
    {"key path unapplied method ", PREFIX_KEY_PATH},
    {"key path applied method ", PREFIX_KEY_PATH},
    {"key path index equality operator for ", PREFIX_NOTHING},
    {"key path index hash operator for ", PREFIX_NOTHING},
    {"default argument ", PREFIX_NUMBERED},
    {"freestanding macro expansion #", PREFIX_CLOSURE},
    {"accessor macro @", PREFIX_MACRO},
    {"memberAttribute macro @", PREFIX_MACRO},
    {"member macro @", PREFIX_MACRO},
    {"peer macro @", PREFIX_MACRO},
    {"conformance macro @", PREFIX_MACRO},
    {"extension macro @", PREFIX_MACRO},
    {"preamble macro @", PREFIX_MACRO},
    {"body macro @", PREFIX_MACRO},
    {"unique name #", PREFIX_NUMBERED},
    {"vtable thunk for ", PREFIX_VTABLE},
    {"protocol witness for ", PREFIX_WITNESS},
    {"protocol self-conformance witness for ", PREFIX_STRIP},
    {"implicit ", PREFIX_STRIP},
    {"forward-mode derivative of ", PREFIX_DERIVATIVE},
    {"reverse-mode derivative of ", PREFIX_DERIVATIVE},
    {"differential of ", PREFIX_DERIVATIVE},
    {"pullback of ", PREFIX_DERIVATIVE},
    {"forward-mode differentiability witness for ", PREFIX_DERIVATIVE},
    {"reverse-mode differentiability witness for ", PREFIX_DERIVATIVE},
    {"linear differentiability witness for ", PREFIX_DERIVATIVE},
    {"normal differentiability witness for ", PREFIX_DERIVATIVE},
    {"autodiff subset parameters thunk for ", PREFIX_FROM},
    {"autodiff ", PREFIX_NOTHING},
    {"thunk for ", PREFIX_NOTHING},
    {"reabstraction thunk ", PREFIX_NOTHING},
    {"coroutine continuation prototype for ", PREFIX_NOTHING},
    {"predefined @objc completion handler ", PREFIX_NOTHING},
    {"outlined bridged method ", PREFIX_OF},
    {"outlined ", PREFIX_NOTHING},
    {"one-time initialization token for ", PREFIX_NOTHING},
    {"type metadata ", PREFIX_NOTHING},
    {"full type metadata ", PREFIX_NOTHING},
    {"generic type metadata ", PREFIX_NOTHING},
    {"canonical specialized generic type metadata ", PREFIX_NOTHING},
    {"noncanonical specialized generic type metadata ", PREFIX_NOTHING},
    {"cache variable for noncanonical specialized ", PREFIX_NOTHING},
    {"flag for loading of canonical specialized ", PREFIX_NOTHING},
    {"demangling cache variable for ", PREFIX_NOTHING},
    {"metadata instantiation cache for ", PREFIX_NOTHING},
    {"metaclass for ", PREFIX_NOTHING},
    {"ObjC metadata update function for ", PREFIX_NOTHING},
    {"ObjC resilient class stub for ", PREFIX_NOTHING},
    {"full ObjC resilient class stub for ", PREFIX_NOTHING},
    {"lazy ", PREFIX_NOTHING},
    {"protocol witness table ", PREFIX_NOTHING},
    {"generic protocol witness table for ", PREFIX_NOTHING},
    {"resilient protocol witness table for ", PREFIX_NOTHING},
    {"protocol self-conformance witness table for ", PREFIX_NOTHING},
    {"base witness table accessor for ", PREFIX_NOTHING},
    {"instantiation function for ", PREFIX_NOTHING},
    {"associated type ", PREFIX_NOTHING},
    {"associated conformance ", PREFIX_NOTHING},
    {"default associated ", PREFIX_NOTHING},
    {"value witness table for ", PREFIX_NOTHING},
    {"property descriptor for ", PREFIX_NOTHING},
    {"method descriptor for ", PREFIX_NOTHING},
    {"nominal type descriptor ", PREFIX_NOTHING},
    {"opaque type descriptor ", PREFIX_NOTHING},
    {"protocol descriptor ", PREFIX_NOTHING},
    {"protocol requirements base descriptor ", PREFIX_NOTHING},
    {"protocol self-conformance descriptor ", PREFIX_NOTHING},
    {"protocol conformance ", PREFIX_NOTHING},
    {"concrete protocol conformance ", PREFIX_NOTHING},
    {"pack protocol conformance ", PREFIX_NOTHING},
    {"dependent root protocol conformance ", PREFIX_NOTHING},
    {"dependent inherited protocol conformance ", PREFIX_NOTHING},
    {"dependent associated ", PREFIX_NOTHING},
    {"base conformance descriptor ", PREFIX_NOTHING},
    {"module descriptor ", PREFIX_NOTHING},
    {"extension descriptor ", PREFIX_NOTHING},
    {"anonymous descriptor ", PREFIX_NOTHING},
    {"accessible function runtime record for ", PREFIX_NOTHING},
    {"direct field offset for ", PREFIX_NOTHING},
    {"indirect field offset for ", PREFIX_NOTHING},
    {"enum case for ", PREFIX_NOTHING},
    {"reflection metadata ", PREFIX_NOTHING},
};

#define PREFIX_COUNT (sizeof(PREFIXES) / sizeof(PREFIXES[0]))

/* `(2) await resume partial function for F`: an async function is cut into such parts. */
static const char *const ASYNC_PARTS[] = {
    " await resume partial function for ",
    " suspend resume partial function for ",
};

static const char *const VALUE_WITNESSES[] = {
    "allocateBuffer",
    "assignWithCopy",
    "assignWithTake",
    "deallocateBuffer",
    "destroy",
    "destroyArray",
    "destroyBuffer",
    "destructiveInjectEnumTag",
    "destructiveProjectEnumData",
    "getEnumTag",
    "getEnumTagSinglePayload",
    "initializeArrayWithCopy",
    "initializeArrayWithTakeBackToFront",
    "initializeArrayWithTakeFrontToBack",
    "initializeBufferWithCopy",
    "initializeBufferWithCopyOfBuffer",
    "initializeBufferWithTake",
    "initializeBufferWithTakeOfBuffer",
    "initializeWithCopy",
    "initializeWithTake",
    "inplace enum tag",
    "projectBuffer",
    "storeEnumTagSinglePayload",
};

/* Length of `(2) await resume partial function for `, 0 when it is not there. */
static size_t async_part(struct name_view v)
{
    size_t i = 1;
    if (v.n < 3 || v.p[0] != '(')
        return 0;
    while (i < v.n && name_digit(v.p[i]))
        i++;
    if (i == 1 || i >= v.n || v.p[i] != ')')
        return 0;
    for (size_t k = 0; k < sizeof(ASYNC_PARTS) / sizeof(ASYNC_PARTS[0]); k++) {
        if (name_starts(name_view_from(v, i + 1), ASYNC_PARTS[k]))
            return i + 1 + strlen(ASYNC_PARTS[k]);
    }
    return 0;
}

bool normalize_swift_value_witness(struct name_view v)
{
    for (size_t k = 0; k < sizeof(VALUE_WITNESSES) / sizeof(VALUE_WITNESSES[0]); k++) {
        if (name_starts(v, VALUE_WITNESSES[k]) &&
            (name_starts(name_view_from(v, strlen(VALUE_WITNESSES[k])), " for ") ||
             name_starts(name_view_from(v, strlen(VALUE_WITNESSES[k])), " value witness for ")))
            return true;
    }
    return false;
}

static size_t prefix_index(struct name_view v)
{
    size_t k = 0;
    while (k < PREFIX_COUNT && !name_starts(v, PREFIXES[k].text))
        k++;
    return k;
}

bool normalize_swift_prefixed(struct name_view v)
{
    return async_part(v) > 0 || prefix_index(v) < PREFIX_COUNT;
}

static struct name_view after(struct name_view v, const char *word)
{
    size_t found = name_find_outside(v, 0, word);
    return found == NAME_NPOS ? name_view_of(v.p, 0) : name_view_from(v, found + strlen(word));
}

static struct name_view before(struct name_view v, const char *word)
{
    size_t found = name_find_outside(v, 0, word);
    return found == NAME_NPOS ? v : name_view_of(v.p, found);
}

/* What a specialisation is of. */
static struct name_view after_of(struct name_view v)
{
    struct name_view of = after(v, " of ");
    for (size_t i = 0; of.n == 0 && i + 5 < v.n; i++) {
        if (memcmp(v.p + i, "> of ", 5) == 0) /* a bracket inside is never closed */
            of = name_view_from(v, i + 5);
    }
    return of;
}

/* `closure #1 in F`; a macro may stand in a file alone: `… in module M file F line 4 column 5`. */
static struct name_view after_in(struct name_view v)
{
    struct name_view in = after(v, " in ");
    struct name_view file = name_starts(in, "module ") ? after(in, " file ") : in;
    return file.n > 0 && file.n < in.n ? before(file, " line ") : in;
}

/* Without the type of the key path's root, which has a colon before it, too. */
static struct name_view before_root(struct name_view v)
{
    size_t last = NAME_NPOS;
    for (size_t at = name_find_outside(v, 0, " : "); at != NAME_NPOS;
         at = name_find_outside(v, at + 3, " : "))
        last = at;
    return last == NAME_NPOS ? v : name_view_of(v.p, last);
}

/* The name of a closure without a function (cut) has no identity; as `outer` it ends the name. */
static struct name_view strip_prefix(struct name_view v, size_t k, struct swift_wrapped *w)
{
    struct name_view rest = name_view_from(v, strlen(PREFIXES[k].text));
    switch (PREFIXES[k].kind) {
    case PREFIX_STATIC:
        w->is_static = true;
        return rest;
    case PREFIX_STRIP:
        return rest;
    case PREFIX_OF:
        return after_of(rest);
    case PREFIX_DERIVATIVE:
        return before(rest, " with respect to ");
    case PREFIX_FROM:
        return before(after(rest, " from "), " with respect to ");
    case PREFIX_NUMBERED:
        return after(rest, rest.n > 3 && name_starts(rest, "of ") ? "of " : " of ");
    case PREFIX_CLOSURE:
        return after_in(rest);
    case PREFIX_MACRO:
        w->is_member = true;
        return after(rest, " of ");
    case PREFIX_VTABLE: {
        struct name_view target = after(rest, " dispatching to ");
        return target.n > 0 ? target : rest;
    }
    case PREFIX_WITNESS:
        w->type = after(rest, " in conformance ");
        return before(rest, " in conformance ");
    case PREFIX_KEY_PATH:
        return before_root(rest);
    case PREFIX_NOTHING:
        break;
    }
    return name_view_of(v.p, 0);
}

struct name_view normalize_swift_unwrap(struct name_view v, struct swift_wrapped *ret)
{
    *ret = (struct swift_wrapped){.type = {v.p, 0}};
    for (;;) {
        size_t skipped = async_part(v);
        size_t k = prefix_index(v);
        if (skipped == 0 && k == PREFIX_COUNT)
            return v;
        v = name_trim(skipped > 0 ? name_view_from(v, skipped) : strip_prefix(v, k, ret));
    }
}
