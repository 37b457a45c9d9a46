/*
 * archive - finds the object files in an upload.
 *
 * Purpose: an upload is a zip, a tar.gz (or any tar libarchive reads), a gzip'd object or a bare
 * one, decided by content and never by name. Each member that is an object file is handed over.
 *
 * Invariants: members are streamed: never more than a window in memory. Paths are only names,
 * nothing is ever written under a member's own path; links are not followed. Declared sizes are
 * not believed; caps on members, on bytes of one and of all, and on the ratio to the upload's size
 * are. __MACOSX, ._*, .DS_Store are passed over in silence. A checksum error or a truncated
 * archive fails the whole upload.
 *
 * Threads: one walk, one thread. Memory: none kept.
 */
#ifndef STALLSYM_SYMBOLIZER_ARCHIVE_H
#define STALLSYM_SYMBOLIZER_ARCHIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct archive_limits {
    uint64_t member_bytes; /* of one member, unpacked */
    uint64_t total_bytes;  /* of all members, unpacked */
    uint32_t members;
    uint32_t ratio; /* unpacked / size of the upload, once 64 MB are passed */
};

extern const struct archive_limits ARCHIVE_LIMITS_DEFAULT;

/* What the walker does with an object member. `open` answers a descriptor to write to (owned by
 * the visitor) or -1 with `err`; `close` is told whether all its bytes were written. A member that
 * is no object is opened only when `wants` says so of its name and first bytes (NULL: never). */
struct archive_visitor {
    bool (*wants)(void *ctx, const char *member, const void *head, size_t len);
    int (*open)(void *ctx, const char *member, struct error *err);
    enum err (*close)(void *ctx, int fd, bool complete, struct error *err);
    void *ctx;
};

/* True when the first bytes are an archive or compressed stream this module reads, or an object. */
bool archive_recognize(const void *head, size_t len);

/* What to say of an upload that is not. */
#define ARCHIVE_NOT_RECOGNIZED                                                                     \
    "this is no archive and no object file that is read here: a zip or tar.gz with dSYMs in it, "  \
    "or one Mach-O or ELF file, is wanted"

struct archive_counts {
    size_t objects; /* members that were handed over as objects (0 is no error here) */
    size_t wanted;  /* other members that were handed over */
    size_t
        others; /* files that are nothing for us; the Finder's and a dSYM's own are not counted */
};

/* Walks the upload at `path`. ERR_FORMAT damaged, ERR_LIMIT a cap, ERR_UNSUPPORTED encrypted and
 * the like. */
enum err archive_walk(const char *path, const struct archive_limits *limits,
                      const struct archive_visitor *visitor, struct archive_counts *ret,
                      struct error *err);

#endif
