#include "storage/read_stack_weights.h"

#include "storage/storage_backend.h"

enum err read_stack_weights(struct storage_reader *r, uint64_t cluster_id,
                            const struct read_filter *filters, size_t filter_count,
                            struct arena *arena, stack_weight_visit *visit, void *ctx,
                            struct breakdown_scope *ret_scopes, struct error *err)
{
    if (filter_count == 0 || filter_count > WEIGHT_FILTERS_MAX)
        return error_set(err, ERR_INVALID, "one or two filters are wanted");
    return READ_WITHIN(r, err,
                       read_stack_weights(r, cluster_id, filters, filter_count, arena, visit, ctx,
                                          ret_scopes, err));
}
