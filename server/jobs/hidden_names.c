#include "server/jobs/hidden_names.h"

#include <limits.h>

#include "symbolizer/gsym_read.h"

enum err hidden_names_in(const char *path, bool *ret, struct error *err)
{
    struct gsym *g = NULL;
    enum err rc = gsym_open(path, &g, err);
    *ret = rc == ERR_OK && gsym_hides_names(g);
    gsym_close(g);
    if (rc == ERR_BUSY)
        return error_set(err, ERR_IO, "%s: no descriptor to be had", path);
    return err_is_passing(rc) ? rc : ERR_OK;
}

enum err hidden_names_maps(const struct blob_store *blobs, const char *own,
                           struct symbol_maps **ret, struct error *err)
{
    char folder[PATH_MAX], own_folder[PATH_MAX];
    if (!blob_store_maps_path(blobs, folder, sizeof(folder)))
        return error_set(err, ERR_INVALID, "the path of the storage folder is too long");
    struct symbol_maps *maps = symbol_maps_new();
    if (!maps)
        return error_set(err, ERR_NO_MEMORY, "no memory for symbol maps");
    const char *more = blob_store_own_maps(blobs, own, own_folder, sizeof(own_folder));
    enum err rc = symbol_maps_add(maps, folder, err);
    if (rc == ERR_OK && more)
        rc = symbol_maps_add(maps, more, err);
    if (rc == ERR_OK)
        *ret = maps;
    else
        symbol_maps_free(maps);
    return rc;
}

enum err hidden_names_mapped(struct symbol_maps *maps, const struct uuid *image, bool *ret,
                             struct error *err)
{
    struct symbol_map *map;
    enum err rc = symbol_maps_get(maps, image, &map, err);
    *ret = rc == ERR_OK;
    return err_is_passing(rc) ? rc : ERR_OK;
}
