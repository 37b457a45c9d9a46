#include "storage/read_config.h"

#include "storage/storage_backend.h"

enum err read_config(struct storage_reader *r, const char *bundle_id, uint32_t revision,
                     struct arena *arena, struct config_row *ret, struct error *err)
{
    return READ_WITHIN(r, err, read_config(r, bundle_id, revision, arena, ret, err));
}

enum err read_config_history(struct storage_reader *r, const char *bundle_id, struct arena *arena,
                             struct config_row **ret, size_t *ret_count, struct error *err)
{
    return READ_WITHIN(r, err, read_config_history(r, bundle_id, arena, ret, ret_count, err));
}
