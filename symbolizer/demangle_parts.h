/*
 * demangle_parts - the demanglers behind demangle.h, one per language.
 *
 * Purpose: each says whether a name is its own and writes the display form; false leaves `out` in
 * any state, and the caller goes on to the next one.
 *
 * Invariants: names are at most DEMANGLE_INPUT_MAX long; depth, work and output are bounded. A
 * result that does not fit is cut and ends in "…".
 *
 * Threads: any. Memory: the caller's buffer; demangle_cxx allocates and frees, at most
 * DEMANGLE_CXX_SIZE_MAX and what the C++ runtime needs.
 */
#ifndef STALLSYM_SYMBOLIZER_DEMANGLE_PARTS_H
#define STALLSYM_SYMBOLIZER_DEMANGLE_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DEMANGLE_CXX_SIZE_MAX  ((uint64_t)3 << 20) /* estimated result; above, a name stays */
#define DEMANGLE_CXX_DEPTH_MAX 350                 /* 120 kB of the runtime's stack */

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

/* `_Z…`: what demangle_cxx_tree knows, else anything the C++ runtime does. */
bool demangle_cxx(const char *name, char *out, size_t size);
/* Without the runtime. */
bool demangle_cxx_own(const char *name, char *out, size_t size);
bool demangle_cxx_is_own(const char *name);
/* What demangle_cxx expects of a name before it asks the runtime: never less than what comes. */
struct demangle_cost {
    uint64_t size;
    uint64_t depth;
    bool unresolved; /* has members of dependent types, on which the runtime may never end */
};
struct demangle_cost demangle_cxx_cost(const char *name);

/* `_R…`, and `_ZN…17h<16 hex digits>E` of older compilers. */
bool demangle_rust(const char *name, char *out, size_t size);
bool demangle_rust_legacy(const char *name, char *out, size_t size);

/* `-[Feed reload:]` as it is, and blocks of Objective-C, C++ and C functions. */
bool demangle_objc(const char *name, char *out, size_t size);
bool demangle_objc_own(const char *name, char *out, size_t size);

#endif
