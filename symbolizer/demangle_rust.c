/* Rust names of the v0 scheme (RFC 2603), shown without crate disambiguators and without the types
 * of constants, as rustc's own short form has them. This file has the paths. */
#include <string.h>

#include "symbolizer/demangle_rust_reader.h"

/* N: what is inside a path; closures and shims get braces. */
static void put_nested(struct rust_reader *r, bool in_value)
{
    char space = rust_next(r);
    rust_put_path(r, in_value);
    struct rust_identifier id = rust_identifier(r);
    if (r->failed)
        return;
    if (space >= 'A' && space <= 'Z') {
        rust_put(r, "::{");
        if (space == 'C')
            rust_put(r, "closure");
        else if (space == 'S')
            rust_put(r, "shim");
        else
            rust_put(r, (char[]){space, 0});
        if (id.len > 0) {
            rust_put(r, ":");
            rust_put_identifier(r, &id);
        }
        rust_put(r, "#");
        rust_put_number(r, id.disambiguator);
        rust_put(r, "}");
    } else if (space >= 'a' && space <= 'z') {
        if (id.len > 0) {
            rust_put(r, "::");
            rust_put_identifier(r, &id);
        }
    } else {
        r->failed = true;
    }
}

/* M, X, Y: "<T>", "<T as Trait>"; the path of an impl itself is not shown. */
static void put_impl(struct rust_reader *r, char tag)
{
    if (tag != 'Y') {
        (void)rust_optional_base_62(r, 's');
        r->muted++;
        rust_put_path(r, false);
        r->muted--;
    }
    rust_put(r, "<");
    rust_put_type(r);
    if (tag != 'M') {
        rust_put(r, " as ");
        rust_put_path(r, false);
    }
    rust_put(r, ">");
}

void rust_put_path(struct rust_reader *r, bool in_value)
{
    struct cursor after;
    if (rust_enter(r)) {
        char tag = rust_next(r);
        struct rust_identifier id;
        switch (tag) {
        case 'C':
            id = rust_identifier(r);
            rust_put_identifier(r, &id);
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
            rust_put_path(r, in_value);
            rust_put(r, in_value ? "::<" : "<");
            rust_put_generic_arguments(r);
            rust_put(r, ">");
            break;
        case 'B':
            if (rust_follow(r, &after))
                rust_put_path(r, in_value);
            if (!r->failed)
                r->c = after;
            break;
        default:
            r->failed = true;
            break;
        }
    }
    rust_leave(r);
}

/* Whatever a linker or LLVM put behind: ".llvm.123", ".cold". */
static size_t without_suffix(const char *s)
{
    return strcspn(s, ".");
}

static bool demangle_v0(const char *name, char *out, size_t size)
{
    struct rust_reader r = {.text = name + 2};
    r.c = cursor_of(name + 2, without_suffix(name + 2));
    demangle_out_init(&r.out, out, size);
    if (rust_peek(&r) < 'A' || rust_peek(&r) > 'Z') /* a number here is a version to come */
        return false;
    rust_put_path(&r, true);
    if (!r.failed && !r.out.full && r.c.p < r.c.end) {
        r.muted++; /* the crate that made this instance */
        rust_put_path(&r, false);
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
