/* Types in Rust names, and the generic arguments that are made of them (demangle_rust_reader.h). */
#include "symbolizer/demangle_rust_reader.h"

static void put_lifetime(struct rust_reader *r, uint64_t index)
{
    if (index == 0) {
        rust_put(r, "'_");
        return;
    }
    if (index > r->lifetimes) {
        r->failed = true;
        return;
    }
    uint64_t from_outside = r->lifetimes - index;
    char name[3] = {'\'', (char)('a' + from_outside % 26), 0};
    rust_put(r, name);
    if (from_outside >= 26)
        rust_put_number(r, from_outside);
}

/* An optional "for<'a, 'b> "; answers how many lifetimes go out of scope at its end. */
static uint64_t put_binder(struct rust_reader *r)
{
    uint64_t count = rust_optional_base_62(r, 'G');
    if (count > 64)
        r->failed = true;
    if (count == 0 || r->failed)
        return 0;
    rust_put(r, "for<");
    for (uint64_t i = 0; i < count; i++) {
        r->lifetimes++;
        rust_put(r, i > 0 ? ", " : "");
        put_lifetime(r, 1);
    }
    rust_put(r, "> ");
    return count;
}

void rust_put_generic_arguments(struct rust_reader *r)
{
    bool first = true;
    while (!r->failed && !r->out.full && !rust_take(r, 'E')) {
        rust_put(r, first ? "" : ", ");
        first = false;
        if (rust_take(r, 'L'))
            put_lifetime(r, rust_base_62(r));
        else if (rust_take(r, 'K'))
            rust_put_const(r);
        else
            rust_put_type(r);
    }
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

static void put_abi(struct rust_reader *r)
{
    rust_put(r, "extern \"");
    if (rust_take(r, 'C')) {
        rust_put(r, "C");
    } else {
        struct rust_identifier id = rust_plain_identifier(r);
        for (size_t i = 0; i < id.len; i++)
            rust_put(r, id.bytes[i] == '_' ? "-" : (char[]){id.bytes[i], 0});
    }
    rust_put(r, "\" ");
}

static void put_function_type(struct rust_reader *r)
{
    uint64_t bound = put_binder(r);
    if (rust_take(r, 'U'))
        rust_put(r, "unsafe ");
    if (rust_take(r, 'K'))
        put_abi(r);
    rust_put(r, "fn(");
    for (bool first = true; !r->failed && !r->out.full && !rust_take(r, 'E'); first = false) {
        rust_put(r, first ? "" : ", ");
        rust_put_type(r);
    }
    rust_put(r, ")");
    if (!rust_take(r, 'u')) {
        rust_put(r, " -> ");
        rust_put_type(r);
    }
    r->lifetimes -= bound;
}

/* The path of a dyn trait, its list of generic arguments left open; false when it has none. */
static bool put_open_path(struct rust_reader *r)
{
    struct cursor after;
    bool open = false;
    if (!rust_enter(r)) {
        rust_leave(r);
        return false;
    }
    if (rust_take(r, 'B')) {
        if (rust_follow(r, &after))
            open = put_open_path(r);
        if (!r->failed)
            r->c = after;
    } else if (rust_take(r, 'I')) {
        rust_put_path(r, false);
        rust_put(r, "<");
        rust_put_generic_arguments(r);
        open = true;
    } else {
        rust_put_path(r, false);
    }
    rust_leave(r);
    return open;
}

/* A trait of a `dyn`: a path whose generic arguments may be followed by "Item = T". */
static void put_dyn_trait(struct rust_reader *r)
{
    bool open = put_open_path(r);
    bool first = !open;
    while (!r->failed && rust_take(r, 'p')) {
        rust_put(r, first ? "<" : ", ");
        first = false;
        open = true;
        struct rust_identifier id = rust_plain_identifier(r);
        rust_put_identifier(r, &id);
        rust_put(r, " = ");
        rust_put_type(r);
    }
    if (open)
        rust_put(r, ">");
}

static void put_dyn(struct rust_reader *r)
{
    rust_put(r, "dyn ");
    uint64_t bound = put_binder(r);
    for (bool first = true; !r->failed && !r->out.full && !rust_take(r, 'E'); first = false) {
        rust_put(r, first ? "" : " + ");
        put_dyn_trait(r);
    }
    r->lifetimes -= bound;
    if (!rust_take(r, 'L')) {
        r->failed = true;
        return;
    }
    uint64_t lifetime = rust_base_62(r);
    if (lifetime != 0) {
        rust_put(r, " + ");
        put_lifetime(r, lifetime);
    }
}

static void put_tuple(struct rust_reader *r)
{
    size_t count = 0;
    rust_put(r, "(");
    for (; !r->failed && !r->out.full && !rust_take(r, 'E'); count++) {
        rust_put(r, count > 0 ? ", " : "");
        rust_put_type(r);
    }
    rust_put(r, count == 1 ? ",)" : ")");
}

static void put_reference(struct rust_reader *r, const char *mutability)
{
    rust_put(r, "&");
    if (rust_take(r, 'L')) {
        uint64_t lifetime = rust_base_62(r);
        if (lifetime != 0) {
            put_lifetime(r, lifetime);
            rust_put(r, " ");
        }
    }
    rust_put(r, mutability);
    rust_put_type(r);
}

static void put_array(struct rust_reader *r, bool has_length)
{
    rust_put(r, "[");
    rust_put_type(r);
    if (has_length) {
        rust_put(r, "; ");
        rust_put_const(r);
    }
    rust_put(r, "]");
}

static void put_tagged_type(struct rust_reader *r, char tag)
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
        rust_put(r, tag == 'P' ? "*const " : "*mut ");
        rust_put_type(r);
        break;
    case 'F':
        put_function_type(r);
        break;
    case 'D':
        put_dyn(r);
        break;
    case 'B':
        if (rust_follow(r, &after))
            rust_put_type(r);
        if (!r->failed)
            r->c = after;
        break;
    default: /* a path */
        r->c.p--;
        rust_put_path(r, false);
        break;
    }
}

void rust_put_type(struct rust_reader *r)
{
    if (rust_enter(r)) {
        char tag = rust_next(r);
        const char *basic = basic_type(tag);
        if (basic)
            rust_put(r, basic);
        else if (!r->failed)
            put_tagged_type(r, tag);
    }
    rust_leave(r);
}
