/*
 * call_functions - the functions of a call tree, by number.
 *
 * Purpose: a function is its name and its image; what else is known of it (its file, whether it is
 * the app's) is noted as frames bring it.
 *
 * Invariants: numbers count from 0 in the order in which functions were first found. Of several files
 * the first in the alphabet stays, whatever came first. Texts longer than CALL_TREE_TEXT_MAX are cut:
 * what is the same up to there is the same function. What does not fit is ERR_LIMIT.
 *
 * Threads: one owner. Memory: call_functions_done(); texts are copied.
 */
#ifndef STALLSYM_ANALYSIS_CALL_FUNCTIONS_H
#define STALLSYM_ANALYSIS_CALL_FUNCTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"

#define CALL_TREE_TEXT_MAX 512 /* bytes of a name, an image or a file, without "..." */

/* A frame as it comes. */
struct call_frame {
    const char *function; /* not NULL */
    const char *image;    /* NULL: not known */
    const char *file;     /* NULL */
    bool in_app;
};

struct call_function {
    const char *name;
    const char *image; /* NULL */
    const char *file;  /* NULL */
    bool in_app;
};

struct call_functions {
    struct arena texts;
    size_t *bytes, max_bytes; /* of the tables, and of what else its owner has */
    struct call_function *items;
    size_t count, room;
    uint32_t *by_text; /* number + 1 */
    size_t slots;
};

/* `bytes` grows by what the tables take, up to `max_bytes`; texts may take as much again. */
void call_functions_init(struct call_functions *f, size_t *bytes, size_t max_bytes);
void call_functions_done(struct call_functions *f);
/* Its number, new or not. */
enum err call_functions_find(struct call_functions *f, const struct call_frame *frame,
                             uint32_t *ret, struct error *err);

/* A table with room for `to` elements in place of `from`; as it was when there is no room. */
enum err call_enlarge(size_t *bytes, size_t max_bytes, void **table, size_t size, size_t from,
                      size_t to, struct error *err);

#endif
