#include "storage/read_hours.h"

#include "storage/storage_backend.h"

enum err read_hours(struct storage_reader *r, uint64_t cluster_id, const struct read_filter *f,
                    int64_t begin, size_t count, struct arena *arena, struct hour_row **ret,
                    int64_t *ret_known, struct error *err)
{
    struct read_filter none;
    read_filter_init(&none);
    if (!f)
        f = &none;
    if (count == 0 || count > READ_HOURS_MAX)
        return error_set(err, ERR_INVALID, "hours must be 1 to %d", READ_HOURS_MAX);
    if (begin < INT32_MIN || begin > INT32_MAX)
        return error_set(err, ERR_INVALID, "no such hour");
    if (f->device || f->os_version || f->page || f->min_duration_ms >= 0 || f->category ||
        f->state || f->text)
        return error_set(err, ERR_INVALID, "hours are kept by app, cluster, build and kind alone");
    return READ_WITHIN(r, err,
                       read_hours(r, cluster_id, f, begin, count, arena, ret, ret_known, err));
}
