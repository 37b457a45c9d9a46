#include "storage/read_context.h"

#include "storage/storage_backend.h"

enum err read_context(struct storage_reader *r, uint64_t cluster_id, const struct read_filter *f,
                      enum breakdown_by by, enum breakdown_by by2, struct arena *arena,
                      struct context *ret, struct error *err)
{
    struct read_filter any;
    read_filter_init(&any);
    if (!f)
        f = &any;
    return READ_WITHIN(r, err, read_context(r, cluster_id, f, by, by2, arena, ret, err));
}
