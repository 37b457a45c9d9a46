/*
 * op_symbols - changes to the symbol store beside an upload's own way (write_op.h has that one).
 *
 * Purpose: deleting an upload, choosing the index in use anew, objects that are kept, protected
 * builds, uploads in pieces.
 *
 * Invariants: as write_op.h says. Where rows go whose index was in use, the same object of another
 * upload takes its place; without one the UUID is queued for the indexer (WRITE_REFITTED ends that),
 * in the same transaction.
 *
 * Threads, memory: as write_op.h says.
 */
#ifndef STALLSYM_STORAGE_OP_SYMBOLS_H
#define STALLSYM_STORAGE_OP_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hash.h"
#include "base/uuid.h"

#define OPEN_UPLOAD_ID_SIZE 16

/* An upload that has ended, and all of its slices. ERR_CONFLICT while it is queued or indexed. */
struct op_upload_delete {
    uint64_t id;
    bool existed; /* result */
};

/* Queues shelves whose index file is lost, damaged or of another version. */
struct op_refit {
    const struct uuid *shelves;
    size_t count;
    bool all_users; /* stacks that used it are resolved anew: it said wrong things */
};

/* What became of a queued shelf: takes it off the queue; its stacks are to be turned back
 * (read_turn_backs). */
struct op_refitted {
    struct uuid shelf;
    bool all_users;                  /* stacks that used it, too */
    uint64_t slice_id;               /* whose index is in use now; 0: none */
    uint64_t index_bytes, functions; /* of that index, when it was made anew; 0: as they were */
    const uint64_t *lost;            /* slices whose index and object are gone */
    size_t lost_count;
};

/* Use of objects. */
struct op_objects {
    const struct uuid *used; /* whose index or object was asked for */
    size_t used_count;
    const uint8_t (*dropped)[SHA256_SIZE]; /* whose files are gone */
    size_t dropped_count;
    int64_t now_ms;
};

/* Builds that may be protected: the list is answered, and looked through, as a whole. */
#define PROTECTED_MAX 10000

/* A build that retention leaves alone; "" is any, one at least is given. ERR_LIMIT: there are
 * PROTECTED_MAX. */
struct op_protect {
    const char *bundle_id, *version, *build, *os_build;
    bool on; /* false: not protected any more */
    int64_t now_ms;
    bool existed; /* result */
};

/* Opens an upload in pieces. One with the same content and attributes that is open already is taken
 * up again: `id`, `received` and `touched_ms` tell then. ERR_LIMIT above the caps. */
struct op_open_upload {
    uint8_t id[OPEN_UPLOAD_ID_SIZE]; /* random; result: whose it is */
    uint8_t sha256[SHA256_SIZE];
    uint64_t size;
    const char *spool_file;
    const char *bundle_id, *version, *build, *os_build; /* "" when not given */
    bool system;
    bool protect;
    bool bound; /* its token is, to bundle_id: what it becomes serves that app alone */
    int64_t now_ms;
    uint64_t max_open, max_bytes;         /* caps: so many at a time, of so many bytes together */
    uint64_t max_open_app, max_bytes_app; /* of bundle_id; 0: no caps of its own */
    bool resumed;                         /* result */
    uint64_t received;                    /* result */
};

/* `received` becomes that if it was `before`, else ERR_CONFLICT. */
struct op_piece {
    uint8_t id[OPEN_UPLOAD_ID_SIZE];
    uint64_t before, received;
    const void *hash_state;
    size_t hash_state_len;
    int64_t now_ms;
};

struct op_open_drop {
    uint8_t id[OPEN_UPLOAD_ID_SIZE];
    bool existed; /* result */
};

#endif
