/*
 * normalize_parts - what the normalisers of the languages share.
 *
 * Purpose: a view into a name, an output that is cut and never overrun, and the scanning of nested
 * brackets. Only normalize*.c include this.
 *
 * Invariants: a view's bytes belong to the caller and are read only between `p` and `p + n`.
 * Scanning is one loop over the bytes, whatever the nesting.
 *
 * Threads: any. Memory: none.
 */
#ifndef STALLSYM_ANALYSIS_NORMALIZE_PARTS_H
#define STALLSYM_ANALYSIS_NORMALIZE_PARTS_H

#include <stdbool.h>
#include <stddef.h>

#define NAME_NESTING_MAX 8 /* `<T as U>::f` inside one another; deeper ones are cut */

struct name_view {
    const char *p;
    size_t n;
};

struct name_out {
    char *p;
    size_t n;
    size_t size;
};

/* What a name is, by its looks. */
enum name_kind {
    NAME_NOTHING, /* no identity: the key form is empty */
    NAME_OBJC,
    NAME_SWIFT,
    NAME_SWIFT_MANGLED,
    NAME_CXX,
    NAME_C,
};

#define NAME_NPOS ((size_t)-1)

struct name_view name_view_of(const char *s, size_t n);
struct name_view name_view_from(struct name_view v, size_t from);
bool name_goes_on(struct name_view v, const char *prefix);
/* Names are asked for many beginnings: most differ in the first byte. `prefix` is not empty. */
static inline bool name_starts(struct name_view v, const char *prefix)
{
    return v.n > 0 && v.p[0] == prefix[0] && name_goes_on(v, prefix);
}
bool name_ends(struct name_view v, const char *suffix);
bool name_equals(struct name_view v, const char *s);
struct name_view name_trim(struct name_view v);
bool name_ident_char(char c); /* letters, digits, `_`, `$` and all bytes of UTF-8 */
bool name_digit(char c);

/* First place of `needle` outside all brackets at or after `from`; NAME_NPOS without one. */
size_t name_find_outside(struct name_view v, size_t from, const char *needle);
/* Just past the bracket that closes the one at `at`; v.n when it never closes. The `>` of `->`
 * closes nothing; quoted text is stepped over. */
size_t name_skip_group(struct name_view v, size_t at);

void name_put(struct name_out *out, const char *p, size_t n);
void name_puts(struct name_out *out, const char *s);
void name_put_view(struct name_out *out, struct name_view v);
bool name_out_ends(const struct name_out *out, const char *suffix);

/* The languages; each writes the key form of `v` to the end of `out`. */
void normalize_objc(struct name_view v, struct name_out *out);
void normalize_swift(struct name_view v, struct name_out *out);
void normalize_swift_mangled(struct name_view v, struct name_out *out);
void normalize_cxx(struct name_view v, struct name_out *out);

/* A name of Rust's with its escapes (`$LT$`, `$u7b$`, `..`) written out into `out`; else `v`. */
struct name_view normalize_rust_escapes(struct name_view v, struct name_out *out);

/* A Swift name without what the compiler made of it; all of it may be gone. */
struct swift_wrapped {
    struct name_view type; /* that conforms, of a protocol witness; empty */
    bool is_static;
    bool is_member; /* what follows " in " is the type that it belongs to */
};
struct name_view normalize_swift_unwrap(struct name_view v, struct swift_wrapped *ret);
bool normalize_swift_prefixed(struct name_view v);
bool normalize_swift_value_witness(struct name_view v);

bool normalize_is_objc(struct name_view v);
bool normalize_is_swift(struct name_view v);
bool normalize_is_swift_mangled(struct name_view v);
bool normalize_is_cxx(struct name_view v);

#endif
