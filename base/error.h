/*
 * error - how a function says that it failed.
 *
 * Purpose: one caller-owned struct, always the last parameter, with a code a program can act on
 * and a text a person can read. Functions that can fail return `enum err` and fill `*err` on
 * anything but ERR_OK; `err` may be NULL where the caller only wants the code.
 *
 * Invariants: the text is one line, always NUL-terminated, cut when too long. ERR_NOT_FOUND is
 * an expected outcome, never logged by itself. Out parameters named `ret_*` or `ret` are untouched
 * on failure.
 *
 * Threads: none of its own. Memory: no allocation.
 */
#ifndef STALLSYM_BASE_ERROR_H
#define STALLSYM_BASE_ERROR_H

#include <stdarg.h>
#include <stdbool.h>

enum err {
    ERR_OK = 0,
    ERR_NOT_FOUND,   /* there is no such thing; callers expect it */
    ERR_INVALID,     /* an argument or a piece of input has the wrong value or shape */
    ERR_FORMAT,      /* bytes are not what their format says */
    ERR_LIMIT,       /* a cap was reached: too large, too many, too deep */
    ERR_UNSUPPORTED, /* well-formed, but of a kind we do not read */
    ERR_CONFLICT,    /* contradicts what is stored already */
    ERR_BUSY,        /* try again later */
    ERR_DENIED,      /* not allowed */
    ERR_NO_MEMORY,
    ERR_IO,       /* the operating system or the disk said no */
    ERR_INTERNAL, /* a promise of our own was broken */
};

struct error {
    enum err code;
    unsigned line; /* of a text that is at fault, from 1; 0: none is told */
    char text[512];
};

/* Sets code and text and returns the code: `return error_set(err, ERR_FORMAT, "…", …);`. */
enum err error_set(struct error *err, enum err code, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* As error_set, with ": " and the text of errno `errnum` appended; the code is ERR_NO_MEMORY for
 * ENOMEM, ERR_LIMIT for EFBIG (a cap on file sizes), and ERR_IO for anything else. */
enum err error_errno(struct error *err, int errnum, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* Puts "context: " before the text that is there and returns the code that is there. */
enum err error_prefix(struct error *err, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* The machine has not got it now (memory, a descriptor, room, a disk that answers): it says nothing
 * about what was to be done, which is kept and tried again. */
static inline bool err_is_passing(enum err code)
{
    return code == ERR_BUSY || code == ERR_NO_MEMORY || code == ERR_IO;
}

/* Short word for a code, for logs and JSON: "not_found", "format", … Never NULL. */
const char *err_name(enum err code);

#endif
