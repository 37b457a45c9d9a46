/*
 * index_of - an index made from an object, for tests to ask.
 *
 * Purpose: the whole way from object file to answers: object, debug_info, gsym_write, gsym_read.
 * An answer is one line, innermost first: "deep inl_deep.h:7 <- outer inl_app.c:5", with the base
 * names of files; "" where nothing is.
 *
 * Threads: one owner. Memory: index_of_done.
 */
#ifndef STALLSYM_TESTS_INDEX_OF_H
#define STALLSYM_TESTS_INDEX_OF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/parallel.h"
#include "symbolizer/debug_info.h"
#include "symbolizer/gsym_read.h"
#include "tests/support/files.h"

#define CHAIN_SIZE 1024

struct index_of {
    char folder[64];
    char path[128];
    struct gsym *gsym;
    struct debug_info_counts counts;
    struct error error; /* why there is no index */
};

/* False, with `error`, when no index comes out of it. */
bool index_object(const struct object *o, const struct parallel_for *parallel,
                  struct index_of *ret);
/* Slice `slice` of the file at `path`. */
bool index_file(const char *path, size_t slice, const struct parallel_for *parallel,
                struct index_of *ret);
void index_of_done(struct index_of *i);

const char *index_answer(const struct index_of *i, uint64_t address, char out[CHAIN_SIZE]);
/* True when some address of [from, to) has exactly this answer. */
bool index_has_answer(const struct index_of *i, uint64_t from, uint64_t to, const char *answer);
/* The index file's bytes. */
bool index_bytes(const struct index_of *i, struct mapped *ret);

#endif
