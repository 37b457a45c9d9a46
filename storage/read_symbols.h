/*
 * read_symbols - questions about the symbol store beside storage_read.h's.
 *
 * Purpose: what the indexer's thread looks after: UUIDs queued for a refit or whose stacks are to
 * be turned back, objects that nobody needs any more, uploads in pieces; protected builds.
 *
 * Invariants: as storage_read.h says. Threads, memory: so, too.
 */
#ifndef STALLSYM_STORAGE_READ_SYMBOLS_H
#define STALLSYM_STORAGE_READ_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/uuid.h"
#include "storage/op_symbols.h"
#include "storage/storage.h"

struct refit_row {
    struct uuid shelf;
    bool deleted; /* an object was deleted, or its index was damaged: its users are resolved anew */
};
/* In the order of their shelves. */
enum err read_refits(struct storage_reader *r, size_t limit, struct arena *arena,
                     struct refit_row **ret, size_t *ret_count, struct error *err);

struct turn_back_row {
    struct uuid uuid; /* shelf, or slide group */
    bool all_users;   /* also stacks that do not miss it */
};
/* Those whose stacks are still to be turned back (op_repend), in their order. */
enum err read_turn_backs(struct storage_reader *r, size_t limit, struct arena *arena,
                         struct turn_back_row **ret, size_t *ret_count, struct error *err);

struct object_row {
    uint8_t sha256[SHA256_SIZE];
    uint64_t bytes;
    int64_t used_ms; /* -1: no slice is left */
};
/* Kept objects that were not used since, of no protected build; the longest unused first. */
enum err read_idle_objects(struct storage_reader *r, int64_t app_before_ms,
                           int64_t system_before_ms, size_t limit, struct arena *arena,
                           struct object_row **ret, size_t *ret_count, struct error *err);

/* Who holds how much of the kept objects, the one that holds most first. An object is held by the app
 * that all its uploads name; those of several apps, of none and of systems are "" together. `fixed`:
 * the bytes of protected builds among them, which stay. */
struct object_holder_row {
    const char *bundle_id;
    uint64_t bytes, fixed;
};
enum err read_object_holders(struct storage_reader *r, struct arena *arena,
                             struct object_holder_row **ret, size_t *ret_count, struct error *err);
/* Objects of a holder, of no protected build; the longest unused first. */
enum err read_held_objects(struct storage_reader *r, const char *holder, size_t limit,
                           struct arena *arena, struct object_row **ret, size_t *ret_count,
                           struct error *err);

struct object_totals {
    uint64_t files, bytes;               /* kept objects */
    uint64_t system_files, system_bytes; /* those of them that came as system symbols */
    uint64_t index_bytes;                /* indexes in use */
};
/* Of what was uploaded for an app; `bundle_id` NULL: of all. */
enum err read_object_totals(struct storage_reader *r, const char *bundle_id,
                            struct object_totals *ret, struct error *err);

/* Bytes of all index files, in use or kept beside one that is richer; as above. */
enum err read_kept_index_bytes(struct storage_reader *r, const char *bundle_id, uint64_t *ret,
                               struct error *err);

struct protected_row {
    const char *bundle_id, *version, *build, *os_build; /* "": any */
    int64_t created_ms;
};
/* `bundle_id` NULL: all of them. */
enum err read_protected(struct storage_reader *r, const char *bundle_id, struct arena *arena,
                        struct protected_row **ret, size_t *ret_count, struct error *err);

struct open_upload_row {
    uint8_t id[OPEN_UPLOAD_ID_SIZE];
    uint8_t sha256[SHA256_SIZE];
    uint64_t size, received;
    const char *spool_file;
    const char *bundle_id, *version, *build, *os_build;
    bool system;
    bool protect;
    bool bound;             /* a token bound to bundle_id opened it */
    const void *hash_state; /* NULL: nothing was received */
    size_t hash_state_len;
    int64_t touched_ms;
    uint64_t upload_id; /* what it became; 0: it is open */
};
enum err read_open_upload(struct storage_reader *r, const uint8_t id[OPEN_UPLOAD_ID_SIZE],
                          struct arena *arena, struct open_upload_row *ret, struct error *err);
/* Those not touched since, in the order of their ids, from behind `after` on (NULL: all). */
enum err read_open_uploads(struct storage_reader *r, const uint8_t *after, int64_t before_ms,
                           size_t limit, struct arena *arena, struct open_upload_row **ret,
                           size_t *ret_count, struct error *err);

#endif
