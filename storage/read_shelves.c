#include "storage/read_shelves.h"

#include "storage/storage_backend.h"

enum err read_shelf(struct storage_reader *r, const char *own, const struct uuid *image,
                    struct uuid *ret, struct error *err)
{
    *ret = *image;
    return *own ? READ_WITHIN(r, err, read_shelf(r, own, image, ret, err)) : ERR_OK;
}

enum err read_shelf_image(struct storage_reader *r, const struct uuid *shelf, struct arena *arena,
                          struct uuid *ret, const char **ret_own, struct error *err)
{
    return READ_WITHIN(r, err, read_shelf_image(r, shelf, arena, ret, ret_own, err));
}

enum err read_shelf_for(struct storage_reader *r, const char *bundle_id, const struct uuid *image,
                        struct uuid *ret, struct error *err)
{
    return READ_WITHIN(r, err, read_shelf_for(r, bundle_id, image, ret, err));
}

enum err read_owns_shelves(struct storage_reader *r, const char *bundle_id, bool *ret,
                           struct error *err)
{
    return READ_WITHIN(r, err, read_owns_shelves(r, bundle_id, ret, err));
}

enum err read_symbol_files(struct storage_reader *r, const char *bundle_id,
                           const struct uuid *image, struct arena *arena, struct slice_row **ret,
                           size_t *ret_count, struct error *err)
{
    return READ_WITHIN(r, err, read_symbol_files(r, bundle_id, image, arena, ret, ret_count, err));
}
