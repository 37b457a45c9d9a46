#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/utf8.h"
#include "symbolizer/demangle_parts.h"

/* Rust names of the v0 scheme (RFC 2603), shown without crate disambiguators and without the types
 * of constants, as rustc's own short form has them. */

#define DEPTH_MAX 200
#define STEPS_MAX 50000 /* grammar productions: back references can repeat work */

struct rust {
    const char *text; /* after "_R" */
    struct cursor c;
    struct demangle_out out;
    unsigned muted; /* parse, print nothing */
    unsigned depth;
    unsigned steps;
    uint64_t lifetimes; /* bound by the binders around here */
    bool failed;
};

struct identifier {
    const char *bytes;
    size_t len;
    bool punycode;
    uint64_t disambiguator; /* 0 when there is none */
};

static void put_path(struct rust *r, bool in_value);
static void put_type(struct rust *r);
static void put_const(struct rust *r);

static void put(struct rust *r, const char *s)
{
    if (!r->muted && !r->failed)
        demangle_puts(&r->out, s);
}

static void put_number(struct rust *r, uint64_t v)
{
    char digits[24];
    snprintf(digits, sizeof(digits), "%" PRIu64, v);
    put(r, digits);
}

/* --- tokens -------------------------------------------------------------------------------- */

static char peek(const struct rust *r)
{
    return r->c.p < r->c.end ? (char)*r->c.p : 0;
}

static bool take(struct rust *r, char tag)
{
    if (r->c.p >= r->c.end || (char)*r->c.p != tag)
        return false;
    r->c.p++;
    return true;
}

static char next(struct rust *r)
{
    char c = (char)cursor_u8(&r->c);
    if (c == 0)
        r->failed = true;
    return c;
}

/* Base 62: "_" is 0, "0_" is 1, … */
static uint64_t base_62(struct rust *r)
{
    uint64_t v = 0;
    if (take(r, '_'))
        return 0;
    for (;;) {
        char c = next(r);
        uint64_t d = 0;
        if (c == '_')
            break;
        if (c >= '0' && c <= '9')
            d = (uint64_t)(c - '0');
        else if (c >= 'a' && c <= 'z')
            d = (uint64_t)(c - 'a') + 10;
        else if (c >= 'A' && c <= 'Z')
            d = (uint64_t)(c - 'A') + 36;
        else
            r->failed = true;
        if (r->failed || __builtin_mul_overflow(v, 62, &v) || __builtin_add_overflow(v, d, &v)) {
            r->failed = true;
            return 0;
        }
    }
    if (v == UINT64_MAX)
        r->failed = true;
    return v + 1;
}

static uint64_t optional_base_62(struct rust *r, char tag)
{
    return take(r, tag) ? base_62(r) + 1 : 0;
}

static struct identifier plain_identifier(struct rust *r)
{
    struct identifier id = {0};
    id.punycode = take(r, 'u');
    size_t len = 0;
    if (peek(r) < '0' || peek(r) > '9')
        r->failed = true;
    if (!take(r, '0')) {
        while (!r->failed && peek(r) >= '0' && peek(r) <= '9') {
            len = len * 10 + (size_t)(next(r) - '0');
            if (len > cursor_left(&r->c))
                r->failed = true;
        }
    }
    (void)take(r, '_');
    const uint8_t *bytes = cursor_take(&r->c, len);
    if (!bytes) {
        r->failed = true;
        return id;
    }
    id.bytes = (const char *)bytes;
    id.len = len;
    return id;
}

static struct identifier identifier(struct rust *r)
{
    uint64_t disambiguator = optional_base_62(r, 's');
    struct identifier id = plain_identifier(r);
    id.disambiguator = disambiguator;
    return id;
}

/* --- grammar ------------------------------------------------------------------------------- */

static void put_identifier(struct rust *r, const struct identifier *id)
{
    if (r->muted || r->failed)
        return;
    if (!id->punycode)
        demangle_put(&r->out, id->bytes, id->len);
    else if (!demangle_put_punycode(&r->out, id->bytes, id->len))
        r->failed = true;
}

/* False when the name is too deep or too much work; to be matched by leave(). */
static bool enter(struct rust *r)
{
    r->depth++;
    r->steps++;
    if (r->depth > DEPTH_MAX || r->steps > STEPS_MAX || r->c.overrun)
        r->failed = true;
    return !r->failed && !r->out.full;
}

static void leave(struct rust *r)
{
    r->depth--;
}

/* Goes on at an earlier place; the way back is the caller's. */
static bool follow_back_reference(struct rust *r, struct cursor *ret_after)
{
    const uint8_t *start = (const uint8_t *)r->text;
    const uint8_t *here = r->c.p - 1;
    uint64_t to = base_62(r);
    if (r->failed || to >= (uint64_t)(here - start)) {
        r->failed = true;
        return false;
    }
    *ret_after = r->c;
    r->c.p = start + to;
    return !r->muted;
}

static void put_lifetime(struct rust *r, uint64_t index)
{
    if (index == 0) {
        put(r, "'_");
        return;
    }
    if (index > r->lifetimes) {
        r->failed = true;
        return;
    }
    uint64_t from_outside = r->lifetimes - index;
    char name[3] = {'\'', (char)('a' + from_outside % 26), 0};
    put(r, name);
    if (from_outside >= 26)
        put_number(r, from_outside);
}

/* An optional "for<'a, 'b> "; answers how many lifetimes go out of scope at its end. */
static uint64_t put_binder(struct rust *r)
{
    uint64_t count = optional_base_62(r, 'G');
    if (count > 64)
        r->failed = true;
    if (count == 0 || r->failed)
        return 0;
    put(r, "for<");
    for (uint64_t i = 0; i < count; i++) {
        r->lifetimes++;
        put(r, i > 0 ? ", " : "");
        put_lifetime(r, 1);
    }
    put(r, "> ");
    return count;
}

static void put_generic_arguments(struct rust *r)
{
    bool first = true;
    while (!r->failed && !r->out.full && !take(r, 'E')) {
        put(r, first ? "" : ", ");
        first = false;
        if (take(r, 'L'))
            put_lifetime(r, base_62(r));
        else if (take(r, 'K'))
            put_const(r);
        else
            put_type(r);
    }
}

/* N: what is inside a path; closures and shims get braces. */
static void put_nested(struct rust *r, bool in_value)
{
    char space = next(r);
    put_path(r, in_value);
    struct identifier id = identifier(r);
    if (r->failed)
        return;
    if (space >= 'A' && space <= 'Z') {
        put(r, "::{");
        if (space == 'C')
            put(r, "closure");
        else if (space == 'S')
            put(r, "shim");
        else
            put(r, (char[]){space, 0});
        if (id.len > 0) {
            put(r, ":");
            put_identifier(r, &id);
        }
        put(r, "#");
        put_number(r, id.disambiguator);
        put(r, "}");
    } else if (space >= 'a' && space <= 'z') {
        if (id.len > 0) {
            put(r, "::");
            put_identifier(r, &id);
        }
    } else {
        r->failed = true;
    }
}

/* M, X, Y: "<T>", "<T as Trait>"; the path of an impl itself is not shown. */
static void put_impl(struct rust *r, char tag)
{
    if (tag != 'Y') {
        (void)optional_base_62(r, 's');
        r->muted++;
        put_path(r, false);
        r->muted--;
    }
    put(r, "<");
    put_type(r);
    if (tag != 'M') {
        put(r, " as ");
        put_path(r, false);
    }
    put(r, ">");
}

static void put_path(struct rust *r, bool in_value)
{
    struct cursor after;
    if (enter(r)) {
        char tag = next(r);
        struct identifier id;
        switch (tag) {
        case 'C':
            id = identifier(r);
            put_identifier(r, &id);
            break;
        case 'N':
            put_nested(r, in_value);
            break;
        case 'M':
        case 'X':
        case 'Y':
            put_impl(r, tag);
            break;
        case 'I':
            put_path(r, in_value);
            put(r, in_value ? "::<" : "<");
            put_generic_arguments(r);
            put(r, ">");
            break;
        case 'B':
            if (follow_back_reference(r, &after))
                put_path(r, in_value);
            if (!r->failed)
                r->c = after;
            break;
        default:
            r->failed = true;
            break;
        }
    }
    leave(r);
}

static const char *basic_type(char tag)
{
    static const struct {
        char tag;
        const char *name;
    } names[] = {
        {'a', "i8"},   {'b', "bool"},  {'c', "char"},  {'d', "f64"}, {'e', "str"}, {'f', "f32"},
        {'h', "u8"},   {'i', "isize"}, {'j', "usize"}, {'l', "i32"}, {'m', "u32"}, {'n', "i128"},
        {'o', "u128"}, {'p', "_"},     {'s', "i16"},   {'t', "u16"}, {'u', "()"},  {'v', "..."},
        {'x', "i64"},  {'y', "u64"},   {'z', "!"},
    };
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (names[i].tag == tag)
            return names[i].name;
    }
    return NULL;
}

static void put_abi(struct rust *r)
{
    put(r, "extern \"");
    if (take(r, 'C')) {
        put(r, "C");
    } else {
        struct identifier id = plain_identifier(r);
        for (size_t i = 0; i < id.len; i++)
            put(r, id.bytes[i] == '_' ? "-" : (char[]){id.bytes[i], 0});
    }
    put(r, "\" ");
}

static void put_function_type(struct rust *r)
{
    uint64_t bound = put_binder(r);
    if (take(r, 'U'))
        put(r, "unsafe ");
    if (take(r, 'K'))
        put_abi(r);
    put(r, "fn(");
    for (bool first = true; !r->failed && !r->out.full && !take(r, 'E'); first = false) {
        put(r, first ? "" : ", ");
        put_type(r);
    }
    put(r, ")");
    if (!take(r, 'u')) {
        put(r, " -> ");
        put_type(r);
    }
    r->lifetimes -= bound;
}

/* The path of a dyn trait, its list of generic arguments left open; false when it has none. */
static bool put_open_path(struct rust *r)
{
    struct cursor after;
    bool open = false;
    if (!enter(r)) {
        leave(r);
        return false;
    }
    if (take(r, 'B')) {
        if (follow_back_reference(r, &after))
            open = put_open_path(r);
        if (!r->failed)
            r->c = after;
    } else if (take(r, 'I')) {
        put_path(r, false);
        put(r, "<");
        put_generic_arguments(r);
        open = true;
    } else {
        put_path(r, false);
    }
    leave(r);
    return open;
}

/* A trait of a `dyn`: a path whose generic arguments may be followed by "Item = T". */
static void put_dyn_trait(struct rust *r)
{
    bool open = put_open_path(r);
    bool first = !open;
    while (!r->failed && take(r, 'p')) {
        put(r, first ? "<" : ", ");
        first = false;
        open = true;
        struct identifier id = plain_identifier(r);
        put_identifier(r, &id);
        put(r, " = ");
        put_type(r);
    }
    if (open)
        put(r, ">");
}

static void put_dyn(struct rust *r)
{
    put(r, "dyn ");
    uint64_t bound = put_binder(r);
    for (bool first = true; !r->failed && !r->out.full && !take(r, 'E'); first = false) {
        put(r, first ? "" : " + ");
        put_dyn_trait(r);
    }
    r->lifetimes -= bound;
    if (!take(r, 'L')) {
        r->failed = true;
        return;
    }
    uint64_t lifetime = base_62(r);
    if (lifetime != 0) {
        put(r, " + ");
        put_lifetime(r, lifetime);
    }
}

static void put_tuple(struct rust *r)
{
    size_t count = 0;
    put(r, "(");
    for (; !r->failed && !r->out.full && !take(r, 'E'); count++) {
        put(r, count > 0 ? ", " : "");
        put_type(r);
    }
    put(r, count == 1 ? ",)" : ")");
}

static void put_reference(struct rust *r, const char *mutability)
{
    put(r, "&");
    if (take(r, 'L')) {
        uint64_t lifetime = base_62(r);
        if (lifetime != 0) {
            put_lifetime(r, lifetime);
            put(r, " ");
        }
    }
    put(r, mutability);
    put_type(r);
}

static void put_array(struct rust *r, bool has_length)
{
    put(r, "[");
    put_type(r);
    if (has_length) {
        put(r, "; ");
        put_const(r);
    }
    put(r, "]");
}

static void put_tagged_type(struct rust *r, char tag)
{
    struct cursor after;
    switch (tag) {
    case 'A':
    case 'S':
        put_array(r, tag == 'A');
        break;
    case 'T':
        put_tuple(r);
        break;
    case 'R':
        put_reference(r, "");
        break;
    case 'Q':
        put_reference(r, "mut ");
        break;
    case 'P':
    case 'O':
        put(r, tag == 'P' ? "*const " : "*mut ");
        put_type(r);
        break;
    case 'F':
        put_function_type(r);
        break;
    case 'D':
        put_dyn(r);
        break;
    case 'B':
        if (follow_back_reference(r, &after))
            put_type(r);
        if (!r->failed)
            r->c = after;
        break;
    default: /* a path */
        r->c.p--;
        put_path(r, false);
        break;
    }
}

static void put_type(struct rust *r)
{
    if (enter(r)) {
        char tag = next(r);
        const char *basic = basic_type(tag);
        if (basic)
            put(r, basic);
        else if (!r->failed)
            put_tagged_type(r, tag);
    }
    leave(r);
}

/* Hexadecimal digits up to "_". */
static bool hex_constant(struct rust *r, uint64_t *ret, const char **ret_digits, size_t *ret_len)
{
    const char *digits = (const char *)r->c.p;
    uint64_t v = 0;
    size_t len = 0;
    for (char c; (c = next(r)) != '_' && !r->failed; len++) {
        bool decimal = c >= '0' && c <= '9';
        if (!decimal && !(c >= 'a' && c <= 'f'))
            r->failed = true;
        v = v << 4 | (uint64_t)(decimal ? c - '0' : c - 'a' + 10);
    }
    *ret = v;
    *ret_digits = digits;
    *ret_len = len;
    return !r->failed;
}

static void put_char(struct rust *r, uint64_t v)
{
    char bytes[5] = {0};
    if (!demangle_is_scalar(v)) {
        r->failed = true;
        return;
    }
    static const struct {
        uint32_t c;
        const char *escape;
    } escapes[] = {{0, "\\0"},    {'\t', "\\t"}, {'\n', "\\n"},
                   {'\r', "\\r"}, {'\'', "\\'"}, {'\\', "\\\\"}};
    put(r, "'");
    (void)utf8_encode((uint32_t)v, bytes);
    const char *text = bytes;
    for (size_t i = 0; i < sizeof(escapes) / sizeof(escapes[0]); i++) {
        if (escapes[i].c == v)
            text = escapes[i].escape;
    }
    if (text == bytes && (v < 0x20 || v == 0x7f)) {
        char number[16];
        snprintf(number, sizeof(number), "\\u{%" PRIx64 "}", v);
        put(r, number);
    } else {
        put(r, text);
    }
    put(r, "'");
}

static void put_value(struct rust *r, char type)
{
    uint64_t v;
    const char *digits;
    size_t len;
    bool is_signed = strchr("ailnsx", type) != NULL;
    if (is_signed && take(r, 'n'))
        put(r, "-");
    if (!hex_constant(r, &v, &digits, &len))
        return;
    if (type == 'b' && v <= 1) {
        put(r, v ? "true" : "false");
    } else if (type == 'c') {
        put_char(r, v);
    } else if (type == 'b') {
        r->failed = true;
    } else if (len > 16) {
        put(r, "0x");
        for (size_t i = 0; i < len; i++)
            put(r, (char[]){digits[i], 0});
    } else {
        put_number(r, v);
    }
}

static void put_const(struct rust *r)
{
    struct cursor after;
    if (enter(r)) {
        char tag = next(r);
        if (tag == 'p') {
            put(r, "_");
        } else if (tag == 'B') {
            if (follow_back_reference(r, &after))
                put_const(r);
            if (!r->failed)
                r->c = after;
        } else if (tag && strchr("abchijlmnostxy", tag)) {
            put_value(r, tag);
        } else {
            r->failed = true;
        }
    }
    leave(r);
}

/* Whatever a linker or LLVM put behind: ".llvm.123", ".cold". */
static size_t without_suffix(const char *s)
{
    return strcspn(s, ".");
}

static bool demangle_v0(const char *name, char *out, size_t size)
{
    struct rust r = {.text = name + 2};
    r.c = cursor_of(name + 2, without_suffix(name + 2));
    demangle_out_init(&r.out, out, size);
    if (peek(&r) < 'A' || peek(&r) > 'Z') /* a number here is a version to come */
        return false;
    put_path(&r, true);
    if (!r.failed && !r.out.full && r.c.p < r.c.end) {
        r.muted++; /* the crate that made this instance */
        put_path(&r, false);
        r.muted--;
    }
    if (r.failed || r.c.overrun || (!r.out.full && r.c.p < r.c.end))
        return false;
    demangle_out_end(&r.out);
    return true;
}

bool demangle_rust(const char *name, char *out, size_t size)
{
    if (strncmp(name, "_R", 2) == 0)
        return demangle_v0(name, out, size);
    if (strncmp(name, "_ZN", 3) == 0)
        return demangle_rust_legacy(name, out, size);
    return false;
}
