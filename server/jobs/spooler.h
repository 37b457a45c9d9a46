/*
 * spooler - the thread that hashes, writes and syncs uploads.
 *
 * Purpose: a symbol upload is streamed to a spool file while its SHA-256 is computed, never on a
 * thread of the door.
 *
 * Invariants: at most `chunk_bytes * chunks` of an upload are in memory: spool_write() answers
 * ERR_BUSY when its buffer is full; the door then suspends the connection until `drained` is
 * called. `finished` is called exactly once after spool_finish(), with the file synced.
 * spool_abort() removes the file (one that spool_append() found it leaves); nothing is called
 * afterwards.
 *
 * Threads: one upload is driven by one thread at a time; callbacks come from the spooler's thread.
 * Memory: a spool handle dies with `finished` (after it returns) or spool_abort().
 */
#ifndef STALLSYM_JOBS_SPOOLER_H
#define STALLSYM_JOBS_SPOOLER_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/hash.h"
#include "server/jobs/metrics.h"
#include "storage/blob_store.h"

struct spooler;
struct spool;

struct spool_result {
    const char *name; /* spool file, for blob_store_spool_path() */
    uint64_t size;
    uint8_t sha256[SHA256_SIZE];
    uint8_t head[512]; /* first bytes, to tell what it is */
    size_t head_len;
    struct sha256 sha; /* of all bytes up to here, to go on from */
};

/* A file that is there, and gets more. */
struct spool_more {
    const char *name;  /* a spool file */
    uint64_t offset;   /* what it has; anything behind is cut off */
    struct sha256 sha; /* of that */
    uint64_t limit;    /* it takes at most so many bytes more */
};

struct spool_callbacks {
    void (*drained)(void *ctx);
    void (*finished)(void *ctx, const struct spool_result *result, enum err rc,
                     const struct error *err);
    void *ctx;
};

struct spooler_options {
    size_t chunk_bytes;      /* 256 KB */
    size_t chunks;           /* buffered per upload, 4 */
    uint64_t upload_bytes;   /* cap of one upload; above it ERR_LIMIT */
    uint64_t free_bytes_min; /* free space to leave on the disk */
    struct metrics *metrics; /* NULL; METRIC_SPOOL_FAILING says how the last write went */
};

enum err spooler_start(struct blob_store *blobs, const struct spooler_options *options,
                       struct spooler **ret, struct error *err);
void spooler_stop(struct spooler *s);

enum err spool_begin(struct spooler *s, const struct spool_callbacks *callbacks, struct spool **ret,
                     struct error *err);
/* As spool_begin, but appends. The file stays whatever happens; `size` of the result is what was
 * written now. ERR_NOT_FOUND: the file is gone, or shorter than `offset`. */
enum err spool_append(struct spooler *s, const struct spool_callbacks *callbacks,
                      const struct spool_more *more, struct spool **ret, struct error *err);
/* Copies up to `len` bytes; `ret_taken` says how many. ERR_OK with fewer taken than given, or
 * ERR_BUSY with none: wait for `drained`. Any other error ends the upload (call spool_abort). */
enum err spool_write(struct spool *u, const void *data, size_t len, size_t *ret_taken,
                     struct error *err);
void spool_finish(struct spool *u);
void spool_abort(struct spool *u);

#endif
