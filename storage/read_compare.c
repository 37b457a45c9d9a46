#include "storage/read_compare.h"

#include <string.h>

#include "storage/storage_backend.h"

enum err read_compare(struct storage_reader *r, const struct read_filter *f,
                      const char *const versions[2], struct arena *arena, struct compare_cell **ret,
                      size_t *ret_count, struct error *err)
{
    if (!f->bundle_id)
        return error_set(err, ERR_INVALID, "bundle_id: versions of which app?");
    if (strcmp(versions[0], versions[1]) == 0)
        return error_set(err, ERR_INVALID, "compare_version: the same version");
    return READ_WITHIN(r, err, read_compare(r, f, versions, arena, ret, ret_count, err));
}
