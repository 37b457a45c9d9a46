/*
 * index_child - runs `stallsymd index` on one upload and watches it.
 *
 * Purpose: the process that touches hostile files: empty environment, no descriptor but its three,
 * its own process group, limits by its arguments; the parent keeps the wall clock, reads what it
 * prints, and says in words how it ended.
 *
 * Invariants: when index_child_run() returns the child and its group are gone. What it printed is
 * bounded: a line of at most INDEX_LINE_MAX bytes, INDEX_SLICES_MAX slices, the last bytes of
 * standard error.
 *
 * Threads: one run at a time per thread. Memory: slices live in the caller's arena.
 */
#ifndef STALLSYM_JOBS_INDEX_CHILD_H
#define STALLSYM_JOBS_INDEX_CHILD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/hash.h"
#include "server/jobs/child_kills.h"
#include "symbolizer/symbol_index.h"

#define INDEX_LINE_MAX   65536
#define INDEX_SLICES_MAX SYMBOL_INDEX_SLICES_MAX

struct index_child {
    const char *program;
    const char *upload;  /* file to index */
    const char *out_dir; /* where it writes */
    size_t jobs;
    uint64_t data_bytes;
    uint64_t file_bytes;
    uint32_t cpu_s;
    uint32_t wall_s;
    bool keep_objects;
    uint8_t sha256[SHA256_SIZE]; /* of the upload */
    bool nameless;               /* libraries without names are indexed, too */
    const char *maps_dir;        /* symbol maps that are known; NULL: none */
    const char *own_maps_dir;    /* more of them, which come first; NULL: none */
    const char *known;         /* file of digests whose objects are not indexed anew; NULL: none */
    int stop_fd;               /* readable: end the child */
    struct child_kills *kills; /* of all runs; NULL: nobody counts */
};

struct index_child_result {
    struct slice_report *slices; /* what was told before the end, whatever the end was */
    size_t slice_count;
    struct symbol_index_totals totals;
};

/* ERR_OK: it ended by itself and says that it indexed something. ERR_BUSY: stopped by `stop_fd`.
 * ERR_FORMAT, ERR_NOT_FOUND, ERR_LIMIT, ERR_INTERNAL: the upload is at fault (or too much); `err`
 * is the reason to store. ERR_IO, ERR_NO_MEMORY: the child could not be had, or was killed (not yet
 * CHILD_KILLS_MAX times in a row for this upload, which is ERR_LIMIT): try again later. */
enum err index_child_run(const struct index_child *child, struct arena *arena,
                         struct index_child_result *ret, struct error *err);
/* *ret: what is to be said of an upload beside its slices, `maps` (NULL: nothing) first; NULL:
 * nothing. */
enum err index_child_note(const struct index_child_result *told, const char *maps,
                          struct arena *arena, const char **ret, struct error *err);

#endif
