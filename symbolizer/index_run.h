/*
 * index_run - one run of symbol_index: what its two halves share.
 *
 * Purpose: symbol_index.c goes through an upload, index_run.c makes an index of each slice of an
 * object. Nobody else includes this.
 *
 * Invariants: each object of an upload is indexed once, known by its digest. A slice whose names are
 * hidden waits for the end of an archive, as its map may come behind it.
 *
 * Threads: one owner; the digest of an object may be made beside. Memory: symbol_index_build frees.
 */
#ifndef STALLSYM_SYMBOLIZER_INDEX_RUN_H
#define STALLSYM_SYMBOLIZER_INDEX_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/key_set.h"
#include "symbolizer/object.h"
#include "symbolizer/symbol_index.h"

#define INDEX_PATH_SIZE 4096

struct index_run {
    const char *path;
    const struct symbol_index_options *options;
    void (*slice)(void *ctx, const struct slice_report *report);
    void *ctx;
    struct key_set objects; /* digests of what was seen in this upload */
    struct key_set uuids;   /* of the index files written */
    size_t indexed;         /* or known */
    size_t reports;
    struct symbol_maps *maps;
    struct symbol_maps *own_maps; /* the same when the caller has none */
    struct index_later *later;    /* slices with hidden names, put off to the end of the archive */
    size_t later_count, later_cap;
    bool more_to_come;           /* a map may follow */
    struct index_kept_map *kept; /* maps and links that the upload left in the output folder */
    size_t kept_count, kept_cap;
    struct symbol_index_totals totals;
    struct error first; /* the first refusal, the reason when there is nothing else */
    char *member;       /* of the object that is being unpacked */
};

struct index_kept_map {
    enum symbol_map_file kind;
    struct uuid uuid;
};

/* A slice of an object that lies in the output folder under its digest. */
struct index_later {
    uint8_t digest[SHA256_SIZE];
    struct object_slice part;
    char *member;
};

/* The digest of an object, made beside the work on it where a thread is to spare. */
struct index_hashing {
    const struct parallel_for *parallel; /* NULL: done */
    int fd;
    bool unwanted; /* there is none */
    uint8_t digest[SHA256_SIZE];
    enum err code;
    struct error error;
};

/* One object file, while it is mapped. */
struct index_source {
    const uint8_t *data;
    uint64_t size;
    const char *member;
    char name[OBJECT_NAME_SIZE];
    struct index_hashing *hashing;
    char sha256[SHA256_TEXT_SIZE]; /* from the first report on */
};

/* A name in the output folder; false when the path is too long. */
bool index_path(const struct index_run *r, const char *name, char out[INDEX_PATH_SIZE]);
/* "Shop" of "…/DWARF/Shop", "libx.so" of "usr/lib/debug/libx.so.debug". */
void index_name_of(const char *path, char out[OBJECT_NAME_SIZE]);
/* For objects that say no name themselves. */
void index_fallback_name(const struct index_run *r, const char *member, char out[OBJECT_NAME_SIZE]);
/* A slice that is at fault fails alone; a disk that is (full, broken) ends the run. */
enum err index_one_slice(struct index_run *r, struct index_source *s,
                         const struct object_slice *part, struct error *ret_err);
/* All slices of a mapped object. */
enum err index_whole_object(struct index_run *r, struct index_source *s, struct error *err);

#endif
