/*
 * hidden_names - indexes whose functions the App Store hid, and whether there is a symbol map for them.
 *
 * Purpose: asked wherever an index may be made anew because a map came: index_restore.h,
 * index_restore_own.h, index_refit.h.
 *
 * Invariants: an index or a map that cannot be used is none; that somebody looks after it, or was told
 * so, is no matter of these.
 *
 * Threads: any. Memory: none that outlives a call, but hidden_names_maps().
 */
#ifndef STALLSYM_JOBS_HIDDEN_NAMES_H
#define STALLSYM_JOBS_HIDDEN_NAMES_H

#include <stdbool.h>

#include "base/error.h"
#include "storage/blob_store.h"
#include "symbolizer/symbol_maps.h"

/* Does the index file hide names? ERR_IO, ERR_NO_MEMORY: nobody could look. */
enum err hidden_names_in(const char *path, bool *ret, struct error *err);
/* The maps that there are for the indexes of `own`, "": for those that serve all. symbol_maps_free(). */
enum err hidden_names_maps(const struct blob_store *blobs, const char *own,
                           struct symbol_maps **ret, struct error *err);
/* Is there a map for the image? ERR_IO, ERR_NO_MEMORY: nobody could look. */
enum err hidden_names_mapped(struct symbol_maps *maps, const struct uuid *image, bool *ret,
                             struct error *err);

#endif
