/*
 * demangle_parts - the demanglers behind demangle.h, one per language.
 *
 * Purpose: each says whether a name is its own and writes the display form; false leaves `out` in
 * any state, and the caller goes on to the next one.
 *
 * Invariants: names are at most DEMANGLE_INPUT_MAX long; depth, work and output are bounded. A
 * result that does not fit is cut and ends in "…".
 *
 * Threads: any. Memory: the caller's buffer.
 */
#ifndef STALLSYM_SYMBOLIZER_DEMANGLE_PARTS_H
#define STALLSYM_SYMBOLIZER_DEMANGLE_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A text under construction in the caller's buffer. */
struct demangle_out {
    char *data;
    size_t size;
    size_t len;
    bool full; /* something did not fit */
};

void demangle_out_init(struct demangle_out *o, char *data, size_t size);
void demangle_put(struct demangle_out *o, const char *s, size_t len);
void demangle_puts(struct demangle_out *o, const char *s);
/* Ends the text; a cut one gets its "…", never inside a UTF-8 sequence. */
void demangle_out_end(struct demangle_out *o);

bool demangle_is_scalar(uint64_t c);
/* Rust's Punycode, decoded; false when it is none. */
bool demangle_put_punycode(struct demangle_out *o, const char *s, size_t len);

/* `_Z…`: what demangle_cxx_tree knows. */
bool demangle_cxx(const char *name, char *out, size_t size);

/* `_R…`, and `_ZN…17h<16 hex digits>E` of older compilers. */
bool demangle_rust(const char *name, char *out, size_t size);
bool demangle_rust_legacy(const char *name, char *out, size_t size);

/* `-[Feed reload:]` as it is, and blocks of Objective-C, C++ and C functions. */
bool demangle_objc(const char *name, char *out, size_t size);

#endif
