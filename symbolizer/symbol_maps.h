/*
 * symbol_maps - which .bcsymbolmap belongs to which image.
 *
 * Purpose: maps are files `UUID.bcsymbolmap` (an .xcarchive's BCSymbolMaps folder), named by the
 * UUID of the binary that was built. The store's dSYM has another UUID and says the first one in
 * `Contents/Resources/UUID.plist` under the key DBGOriginalUUID: a link. Files are told by these
 * names wherever they lie, so that a folder of them, an archive and one file are all good.
 *
 * Invariants: SYMBOL_MAPS_MAX maps and as many links at most; later ones with the same UUID take the
 * place of earlier ones. An image without a link is its own original.
 *
 * Threads: one owner. Memory: symbol_maps_free; a map is opened only when it is asked for, and the
 * last one stays open.
 */
#ifndef STALLSYM_SYMBOLIZER_SYMBOL_MAPS_H
#define STALLSYM_SYMBOLIZER_SYMBOL_MAPS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "base/uuid.h"
#include "symbolizer/symbol_map.h"

#define SYMBOL_MAPS_MAX       65536
#define SYMBOL_LINK_BYTES_MAX 65536 /* of a plist */
#define SYMBOL_MAP_FILE_SIZE  (UUID_TEXT_SIZE + 16)

enum symbol_map_file { SYMBOL_FILE_OTHER, SYMBOL_FILE_MAP, SYMBOL_FILE_LINK };

struct symbol_maps;

/* What a file is, by its name alone ("…/UUID.bcsymbolmap", "…/UUID.plist"), and whose. */
enum symbol_map_file symbol_maps_kind(const char *path, struct uuid *ret);
/* The name such a file has in a folder. */
void symbol_maps_file_name(enum symbol_map_file kind, const struct uuid *uuid,
                           char out[SYMBOL_MAP_FILE_SIZE]);
/* The UUID behind DBGOriginalUUID in a property list (as text). ERR_FORMAT: there is none. */
enum err symbol_maps_parse_link(const void *data, size_t size, struct uuid *ret, struct error *err);

struct symbol_maps *symbol_maps_new(void);
void symbol_maps_free(struct symbol_maps *m);

/* Adds a file, or all maps and links right in a folder; what else is in there is passed over, as are
 * plists that link nothing. */
enum err symbol_maps_add(struct symbol_maps *m, const char *path, struct error *err);

/* The UUID whose map an image needs: its link's, else its own. */
struct uuid symbol_maps_original(const struct symbol_maps *m, const struct uuid *image);
/* The image's map, opened; it stays the set's. ERR_NOT_FOUND: there is none. Others say what is
 * wrong with it. */
enum err symbol_maps_get(struct symbol_maps *m, const struct uuid *image, struct symbol_map **ret,
                         struct error *err);
/* Calls for every image that has a link to `original`. */
void symbol_maps_linked(const struct symbol_maps *m, const struct uuid *original,
                        void (*image)(void *ctx, const struct uuid *uuid), void *ctx);

#endif
