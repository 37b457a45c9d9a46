#include "storage/read_life.h"

#include "storage/storage_backend.h"

enum err read_cluster_history(struct storage_reader *r, uint64_t id, size_t limit,
                              const char *cursor, struct arena *arena, struct cluster_change **ret,
                              size_t *ret_count, const char **ret_next, struct error *err)
{
    if (limit == 0 || limit > READ_LIMIT_MAX)
        return error_set(err, ERR_INVALID, "limit must be 1 to %d", READ_LIMIT_MAX);
    enum err rc = r->backend->read_begin(r, err);
    if (rc)
        return rc;
    rc = r->backend->read_cluster_history(r, id, limit, cursor, arena, ret, ret_count, ret_next,
                                          err);
    r->backend->read_end(r);
    return rc;
}
