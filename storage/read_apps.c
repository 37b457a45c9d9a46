#include "storage/read_apps.h"

#include "storage/storage_backend.h"

enum err read_apps(struct storage_reader *r, const char *bundle_id, int32_t since_day, size_t limit,
                   const char *cursor, struct arena *arena, struct app_row **ret, size_t *ret_count,
                   const char **ret_next, struct error *err)
{
    enum err rc = read_limit_check(limit, err);
    if (rc)
        return rc;
    return READ_WITHIN(
        r, err,
        read_apps(r, bundle_id, since_day, limit, cursor, arena, ret, ret_count, ret_next, err));
}
