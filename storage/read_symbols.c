/* The questions of read_symbols.h: arguments checked, one snapshot around each. */
#include "storage/read_symbols.h"

#include "storage/storage_backend.h"

static enum err begin(struct storage_reader *r, size_t limit, struct error *err)
{
    if (limit == 0 || limit > READ_LIMIT_MAX)
        return error_set(err, ERR_INVALID, "limit must be 1 to %d", READ_LIMIT_MAX);
    return r->backend->read_begin(r, err);
}

enum err read_refits(struct storage_reader *r, size_t limit, struct arena *arena,
                     struct refit_row **ret, size_t *ret_count, struct error *err)
{
    enum err rc = begin(r, limit, err);
    if (rc)
        return rc;
    rc = r->backend->read_refits(r, limit, arena, ret, ret_count, err);
    r->backend->read_end(r);
    return rc;
}

enum err read_idle_objects(struct storage_reader *r, int64_t app_before_ms,
                           int64_t system_before_ms, size_t limit, struct arena *arena,
                           struct object_row **ret, size_t *ret_count, struct error *err)
{
    enum err rc = begin(r, limit, err);
    if (rc)
        return rc;
    rc = r->backend->read_idle_objects(r, app_before_ms, system_before_ms, limit, arena, ret,
                                       ret_count, err);
    r->backend->read_end(r);
    return rc;
}

enum err read_object_totals(struct storage_reader *r, struct object_totals *ret, struct error *err)
{
    enum err rc = begin(r, 1, err);
    if (rc)
        return rc;
    rc = r->backend->read_object_totals(r, ret, err);
    r->backend->read_end(r);
    return rc;
}

enum err read_protected(struct storage_reader *r, const char *bundle_id, struct arena *arena,
                        struct protected_row **ret, size_t *ret_count, struct error *err)
{
    enum err rc = begin(r, 1, err);
    if (rc)
        return rc;
    rc = r->backend->read_protected(r, bundle_id, arena, ret, ret_count, err);
    r->backend->read_end(r);
    return rc;
}

enum err read_open_upload(struct storage_reader *r, const uint8_t id[OPEN_UPLOAD_ID_SIZE],
                          struct arena *arena, struct open_upload_row *ret, struct error *err)
{
    enum err rc = begin(r, 1, err);
    if (rc)
        return rc;
    rc = r->backend->read_open_upload(r, id, arena, ret, err);
    r->backend->read_end(r);
    return rc;
}

enum err read_open_uploads(struct storage_reader *r, const uint8_t *after, int64_t before_ms,
                           size_t limit, struct arena *arena, struct open_upload_row **ret,
                           size_t *ret_count, struct error *err)
{
    enum err rc = begin(r, limit, err);
    if (rc)
        return rc;
    rc = r->backend->read_open_uploads(r, after, before_ms, limit, arena, ret, ret_count, err);
    r->backend->read_end(r);
    return rc;
}
