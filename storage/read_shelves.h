/*
 * read_shelves - which index serves which app (shelf.h).
 *
 * Purpose: an app is served by what lies on the image's own shelf and by what is its own. Of the two the
 * richer one is used: DWARF before none, then more line rows, functions, inlined calls; between equals
 * its own. What other apps own is not there for it.
 *
 * Invariants: as storage_read.h says; `image` is the UUID as the file has it. Threads, memory: so, too.
 */
#ifndef STALLSYM_STORAGE_READ_SHELVES_H
#define STALLSYM_STORAGE_READ_SHELVES_H

#include <stdbool.h>
#include <stddef.h>

#include "storage/storage_read.h"

/* Where what `own` sends of the image is kept; "": what serves all. */
enum err read_shelf(struct storage_reader *r, const char *own, const struct uuid *image,
                    struct uuid *ret, struct error *err);
/* Of which image indexes are kept there, and whose they are, "": they serve all; NULL: not asked. */
enum err read_shelf_image(struct storage_reader *r, const struct uuid *shelf, struct arena *arena,
                          struct uuid *ret, const char **ret_own, struct error *err);
/* The shelf whose index serves the app, NULL: any app. The image's own one when there is none. */
enum err read_shelf_for(struct storage_reader *r, const char *bundle_id, const struct uuid *image,
                        struct uuid *ret, struct error *err);
/* Whether the app has indexes of its own; of one that has none read_shelf_for() is not to be asked. */
enum err read_owns_shelves(struct storage_reader *r, const char *bundle_id, bool *ret,
                           struct error *err);
/* As read_symbol(), of all shelves of an image that serve the app, NULL: any app. */
enum err read_symbol_files(struct storage_reader *r, const char *bundle_id,
                           const struct uuid *image, struct arena *arena, struct slice_row **ret,
                           size_t *ret_count, struct error *err);

#endif
