#include "storage/read_life.h"

#include "storage/storage_backend.h"

enum err read_cluster_history(struct storage_reader *r, uint64_t id, size_t limit,
                              const char *cursor, struct arena *arena, struct cluster_change **ret,
                              size_t *ret_count, const char **ret_next, struct error *err)
{
    enum err rc = read_limit_check(limit, err);
    return rc ? rc
              : READ_WITHIN(r, err,
                            read_cluster_history(r, id, limit, cursor, arena, ret, ret_count,
                                                 ret_next, err));
}
