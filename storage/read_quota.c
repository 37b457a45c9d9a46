#include "storage/read_quota.h"

#include "storage/storage_backend.h"

enum err read_quotas(struct storage_reader *r, struct arena *arena, struct quota_row **ret,
                     size_t *ret_count, struct error *err)
{
    return READ_WITHIN(r, err, read_quotas(r, arena, ret, ret_count, err));
}

enum err read_app_names(struct storage_reader *r, struct arena *arena, const char ***ret,
                        size_t *ret_count, struct error *err)
{
    return READ_WITHIN(r, err, read_app_names(r, arena, ret, ret_count, err));
}

enum err read_new_stacks(struct storage_reader *r, const char *bundle_id, int32_t day,
                         struct new_stacks_row *ret, struct error *err)
{
    return READ_WITHIN(r, err, read_new_stacks(r, bundle_id, day, ret, err));
}
