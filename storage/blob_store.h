/*
 * blob_store - the files beside the database: index files, object files, the spool.
 *
 * Purpose: one folder: `symbols/ab/UUID.gsym`, `objects/ab/SHA256`, `maps/…`, `spool/…`. UUIDs of
 * indexes are those of shelves (shelf.h). Named so that an object store can stand behind the same
 * calls later. Several objects may have one UUID: the index of each is
 * `symbols/ab/UUID.SHA256.gsym`, and `UUID.gsym` is a link to the one in use.
 *
 * Invariants: a blob appears whole or not at all (written aside, synced, renamed, folder synced).
 * A rename over an existing blob keeps old mappings valid. Names are made here, never from input.
 * Left-over temporary files are removed by blob_store_open.
 *
 * Threads: any. Memory: blob_store_open/blob_store_close.
 */
#ifndef STALLSYM_STORAGE_BLOB_STORE_H
#define STALLSYM_STORAGE_BLOB_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/hash.h"
#include "base/uuid.h"

struct blob_store;

#define BLOB_MAPS_MAX       4096
#define BLOB_MAPS_BYTES_MAX ((uint64_t)1 << 30)

/* Makes the folders (mode 0750). */
enum err blob_store_open(const char *dir, struct blob_store **ret, struct error *err);
void blob_store_close(struct blob_store *b);

/* The path an index has or would have; false when it does not fit. No I/O. */
bool blob_store_index_path(const struct blob_store *b, const struct uuid *uuid, char *path,
                           size_t size);
bool blob_store_object_path(const struct blob_store *b, const uint8_t sha256[SHA256_SIZE],
                            char *path, size_t size);
/* `name` was made by blob_store_spool_name or comes from the database; anything else is false. */
bool blob_store_spool_path(const struct blob_store *b, const char *name, char *path, size_t size);

/* "symbols", "objects", "maps", "spool" or "work" itself. */
bool blob_store_folder_path(const struct blob_store *b, const char *folder, char *path,
                            size_t size);

/* The same of the index that one object gave. */
bool blob_store_object_index_path(const struct blob_store *b, const struct uuid *uuid,
                                  const uint8_t sha256[SHA256_SIZE], char *path, size_t size);

/* Many files at once: from blob_store_batch() on what this thread moves into place is synced together,
 * by blob_store_batch_end(), whether or not it all went well (`rc`). A crash before that may lose what
 * was moved, so nothing is told of it to anybody. blob_store_batch() itself syncs what was written. */
enum err blob_store_batch(struct blob_store *b, struct error *err);
enum err blob_store_batch_end(struct blob_store *b, enum err rc, struct error *err);

/* Moves a finished file into place. */
enum err blob_store_install_index(struct blob_store *b, const char *from, const struct uuid *uuid,
                                  struct error *err);
enum err blob_store_install_object(struct blob_store *b, const char *from,
                                   const uint8_t sha256[SHA256_SIZE], struct error *err);
/* The index of one object of a UUID; the one in use is another step. */
enum err blob_store_keep_index(struct blob_store *b, const char *from, const struct uuid *uuid,
                               const uint8_t sha256[SHA256_SIZE], struct error *err);
/* From now on the UUID's index is that of this object, which was kept before. */
enum err blob_store_use_index(struct blob_store *b, const struct uuid *uuid,
                              const uint8_t sha256[SHA256_SIZE], struct error *err);
/* Removes the kept indexes of a UUID but for those of these objects. */
enum err blob_store_prune_indexes(struct blob_store *b, const struct uuid *uuid,
                                  const uint8_t (*keep)[SHA256_SIZE], size_t count,
                                  struct error *err);
/* The folder of symbol maps (`UUID.bcsymbolmap`) and of links to them (`UUID.plist`). */
bool blob_store_maps_path(const struct blob_store *b, char *path, size_t size);
/* That of what an app's own token sent; NULL: there is none, and so for "". */
const char *blob_store_own_maps(const struct blob_store *b, const char *own, char *path,
                                size_t size);
/* Moves one into place, `own` "": for all. The oldest of the folder go when there are more than
 * BLOB_MAPS_MAX, or than BLOB_MAPS_BYTES_MAX together. */
enum err blob_store_install_map(struct blob_store *b, const char *from, const char *own,
                                const struct uuid *uuid, bool link, struct error *err);
/* A file for an upload: "N-RANDOM.part", opened for writing, close-on-exec. */
enum err blob_store_spool_create(struct blob_store *b, char *ret_name, size_t name_size,
                                 int *ret_fd, struct error *err);
/* Removing what is not there is ERR_OK. */
enum err blob_store_remove_index(struct blob_store *b, const struct uuid *uuid, struct error *err);
enum err blob_store_remove_object(struct blob_store *b, const uint8_t sha256[SHA256_SIZE],
                                  struct error *err);
/* Writes, syncs and removes a spool file: can uploads be written? */
enum err blob_store_probe_spool(struct blob_store *b, struct error *err);
enum err blob_store_remove_spool(struct blob_store *b, const char *name, struct error *err);
/* Removes spool files whose name `keep` does not know (after a crash). */
enum err blob_store_sweep_spool(struct blob_store *b, bool (*keep)(void *ctx, const char *name),
                                void *ctx, struct error *err);
/* A fresh folder for the child's output, and its removal with all that is inside. */
enum err blob_store_work_create(struct blob_store *b, char *ret_path, size_t size,
                                struct error *err);
void blob_store_work_remove(struct blob_store *b, const char *path);
/* Tries again to remove what could not be removed of spool and work (no descriptor, no memory, a disk
 * that fails). How many are left. */
size_t blob_store_tidy(struct blob_store *b);
/* Free bytes of the file system. */
uint64_t blob_store_free_bytes(const struct blob_store *b);

#endif
