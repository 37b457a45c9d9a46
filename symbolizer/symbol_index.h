/*
 * symbol_index - one upload in, one index file per slice out: what the child process does.
 *
 * Purpose: the facade over archive, object, DWARF, symbol table and gsym_write, used by
 * `stallsymd index` (by hand, and as the indexer's child). Names that the store hid are restored by
 * the symbol maps of the upload, wherever in it they lie, and by those that the caller has.
 *
 * Invariants: same input, same bytes, whatever `jobs` is. A slice that fails does not keep the
 * others from being indexed; each is reported, with its reason. Index files that are reported
 * are complete; they are synced by who installs them.
 *
 * Threads: spreads units over the caller's parallel_for; the callback comes from the calling
 * thread. Memory: object files are mapped, never read whole.
 */
#ifndef STALLSYM_SYMBOLIZER_SYMBOL_INDEX_H
#define STALLSYM_SYMBOLIZER_SYMBOL_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/hash.h"
#include "base/parallel.h"
#include "base/uuid.h"
#include "symbolizer/archive.h"
#include "symbolizer/symbol_maps.h"

/* Reports of one upload, refused objects counted. The system of one device has 3,000 to 6,000. */
#define SYMBOL_INDEX_SLICES_MAX 65536
/* Longer paths inside an archive are cut in reports. */
#define SYMBOL_INDEX_MEMBER_MAX 1024

struct symbol_index_options {
    const char *out_dir;
    struct archive_limits limits;
    const struct parallel_for *parallel; /* NULL: one thread */
    bool keep_objects;     /* also leave each object file in out_dir, named by its SHA-256 */
    const uint8_t *sha256; /* of a bare object, where the caller has made it; NULL: not known */
    bool keep_maps;        /* also leave symbol maps and links in out_dir, named by their UUIDs */
    struct symbol_maps *maps; /* what is known already, and what the upload adds; NULL: nothing */
    /* An object whose index is there: not indexed anew. NULL: none is. */
    bool (*known)(void *ctx, const uint8_t sha256[SHA256_SIZE]);
    void *known_ctx;
    /* System libraries: one whose functions have no names (LC_FUNCTION_STARTS alone) is indexed, too.
     * Where it lies in memory is worth knowing. Of an app it would only hide that symbols are missing. */
    bool nameless;
    const char *name; /* of a bare object that has none itself; NULL: the base name of `path` */
};

/* SLICE_KNOWN: options->known said so; of the slice only the object tells, no counts. */
enum slice_state { SLICE_INDEXED, SLICE_FAILED, SLICE_KNOWN };

/* One slice of one object file, or an object file that could not be opened (uuid nil then). */
struct slice_report {
    enum slice_state state;
    struct uuid uuid;
    const char *name;   /* "Shop"; from the object or the member's path */
    const char *member; /* path inside the archive, "" for a bare upload */
    const char *arch;
    const char *reason; /* NULL when indexed; a warning may stand beside SLICE_INDEXED */
    bool has_dwarf;
    uint64_t functions;
    uint64_t lines;
    uint64_t inlines;
    uint64_t hidden; /* names that no symbol map restored */
    uint64_t index_bytes;
    uint64_t text_vmaddr;
    uint64_t text_size;
    char object_sha256[SHA256_TEXT_SIZE]; /* "" where nobody needs one: of a bare object that is not
                                             kept, its digest not given */
    uint64_t object_bytes;
    const char *index_file; /* name inside out_dir: "UUID.gsym", or "UUID.2.gsym" for a second
                               object of the same UUID in one upload */
};

struct symbol_index_totals {
    uint64_t maps;   /* symbol maps and links to them */
    uint64_t others; /* files that are nothing for us */
};

/* Indexes everything in the upload at `path`; `slice` is called once per slice, as soon as it is
 * known. An object that is in the upload twice is indexed once. ERR_OK when at least one slice was
 * indexed or known, or a map kept, and the upload is whole; ERR_NOT_FOUND "no object file with a UUID
 * inside"; else why: what was reported before a failure does not count then. */
enum err symbol_index_build(const char *path, const struct symbol_index_options *options,
                            void (*slice)(void *ctx, const struct slice_report *report), void *ctx,
                            struct symbol_index_totals *ret_totals, struct error *err);

#endif
