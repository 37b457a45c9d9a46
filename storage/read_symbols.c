/* The questions of read_symbols.h: arguments checked, one snapshot around each. */
#include "storage/read_symbols.h"

#include "storage/storage_backend.h"

enum err read_refits(struct storage_reader *r, size_t limit, struct arena *arena,
                     struct refit_row **ret, size_t *ret_count, struct error *err)
{
    enum err rc = read_limit_check(limit, err);
    return rc ? rc : READ_WITHIN(r, err, read_refits(r, limit, arena, ret, ret_count, err));
}

enum err read_turn_backs(struct storage_reader *r, size_t limit, struct arena *arena,
                         struct turn_back_row **ret, size_t *ret_count, struct error *err)
{
    enum err rc = read_limit_check(limit, err);
    return rc ? rc : READ_WITHIN(r, err, read_turn_backs(r, limit, arena, ret, ret_count, err));
}

enum err read_idle_objects(struct storage_reader *r, int64_t app_before_ms,
                           int64_t system_before_ms, size_t limit, struct arena *arena,
                           struct object_row **ret, size_t *ret_count, struct error *err)
{
    enum err rc = read_limit_check(limit, err);
    return rc ? rc
              : READ_WITHIN(r, err,
                            read_idle_objects(r, app_before_ms, system_before_ms, limit, arena, ret,
                                              ret_count, err));
}

enum err read_object_holders(struct storage_reader *r, struct arena *arena,
                             struct object_holder_row **ret, size_t *ret_count, struct error *err)
{
    return READ_WITHIN(r, err, read_object_holders(r, arena, ret, ret_count, err));
}

enum err read_held_objects(struct storage_reader *r, const char *holder, size_t limit,
                           struct arena *arena, struct object_row **ret, size_t *ret_count,
                           struct error *err)
{
    enum err rc = read_limit_check(limit, err);
    return rc ? rc
              : READ_WITHIN(r, err,
                            read_held_objects(r, holder, limit, arena, ret, ret_count, err));
}

enum err read_object_totals(struct storage_reader *r, const char *bundle_id,
                            struct object_totals *ret, struct error *err)
{
    return READ_WITHIN(r, err, read_object_totals(r, bundle_id, ret, err));
}

enum err read_kept_index_bytes(struct storage_reader *r, const char *bundle_id, uint64_t *ret,
                               struct error *err)
{
    return READ_WITHIN(r, err, read_kept_index_bytes(r, bundle_id, ret, err));
}

enum err read_protected(struct storage_reader *r, const char *bundle_id, struct arena *arena,
                        struct protected_row **ret, size_t *ret_count, struct error *err)
{
    return READ_WITHIN(r, err, read_protected(r, bundle_id, arena, ret, ret_count, err));
}

enum err read_open_upload(struct storage_reader *r, const uint8_t id[OPEN_UPLOAD_ID_SIZE],
                          struct arena *arena, struct open_upload_row *ret, struct error *err)
{
    return READ_WITHIN(r, err, read_open_upload(r, id, arena, ret, err));
}

enum err read_open_uploads(struct storage_reader *r, const uint8_t *after, int64_t before_ms,
                           size_t limit, struct arena *arena, struct open_upload_row **ret,
                           size_t *ret_count, struct error *err)
{
    enum err rc = read_limit_check(limit, err);
    return rc ? rc
              : READ_WITHIN(
                    r, err,
                    read_open_uploads(r, after, before_ms, limit, arena, ret, ret_count, err));
}
