/*
 * demangle_rust_reader - one Rust name of the v0 scheme (RFC 2603) at work.
 *
 * Purpose: the tokens of such names, and what demangle_rust (paths), demangle_rust_type (types,
 * generic arguments) and demangle_rust_const (constants) share; they call each other as the grammar
 * does. Reading and printing are one step: nothing is kept of what was read.
 *
 * Invariants: `failed` is sticky: after it nothing is printed and the whole is given up. Depth and
 * work are bounded by rust_enter(), output by demangle_out.
 *
 * Threads: any. Memory: none; the name and the buffer are the caller's.
 */
#ifndef STALLSYM_SYMBOLIZER_DEMANGLE_RUST_READER_H
#define STALLSYM_SYMBOLIZER_DEMANGLE_RUST_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "symbolizer/demangle_parts.h"

struct rust_reader {
    const char *text; /* after "_R"; what back references count from */
    struct cursor c;
    struct demangle_out out;
    unsigned muted; /* parse, print nothing */
    unsigned depth;
    unsigned steps;
    uint64_t lifetimes; /* bound by the binders around here */
    bool failed;
};

struct rust_identifier {
    const char *bytes;
    size_t len;
    bool punycode;
    uint64_t disambiguator; /* 0 when there is none */
};

void rust_put(struct rust_reader *r, const char *s);
void rust_put_number(struct rust_reader *r, uint64_t v);
void rust_put_identifier(struct rust_reader *r, const struct rust_identifier *id);

/* The character to come; 0 at the end. */
char rust_peek(const struct rust_reader *r);
/* Steps over `tag` if it comes. */
bool rust_take(struct rust_reader *r, char tag);
/* 0: there is none, and the name failed. */
char rust_next(struct rust_reader *r);
/* "_" is 0, "0_" is 1, … */
uint64_t rust_base_62(struct rust_reader *r);
/* 0 without the tag, else one more than the number behind it. */
uint64_t rust_optional_base_62(struct rust_reader *r, char tag);
struct rust_identifier rust_plain_identifier(struct rust_reader *r);
/* May begin with a disambiguator. */
struct rust_identifier rust_identifier(struct rust_reader *r);

/* False when the name is too deep or too much work; to be matched by rust_leave(). */
bool rust_enter(struct rust_reader *r);
void rust_leave(struct rust_reader *r);
/* The B is read. Goes on at the earlier place; the way back to `ret_after` is the caller's. False:
 * nothing to print there. */
bool rust_follow(struct rust_reader *r, struct cursor *ret_after);

/* `in_value`: generic arguments need "::" before them. */
void rust_put_path(struct rust_reader *r, bool in_value);
/* Up to their E. */
void rust_put_generic_arguments(struct rust_reader *r);
void rust_put_type(struct rust_reader *r);
void rust_put_const(struct rust_reader *r);

#endif
