#include "server/jobs/index_room.h"

#include "storage/read_symbols.h"

static const char all_full[] = "the index files have reached their cap ([symbols] index_bytes); "
                               "delete uploads that nobody needs, or "
                               "raise it";
static const char app_full[] = "the app's index files have reached their cap ([symbols] "
                               "app_index_bytes); delete uploads that nobody "
                               "needs, or raise it";

static enum err check_cap(struct storage_reader *reader, uint64_t cap, const char *bundle_id,
                          const char *words, const char **ret_refusal, struct error *err)
{
    uint64_t bytes = 0;
    enum err rc = cap ? read_kept_index_bytes(reader, bundle_id, &bytes, err) : ERR_OK;
    if (rc == ERR_OK && index_room_is_full(bytes, cap))
        *ret_refusal = words;
    return rc;
}

/* *ret: whether all of it was indexed before. */
static enum err is_known(struct storage_reader *reader, const struct index_wish *wish,
                         struct arena *arena, bool *ret, struct error *err)
{
    struct upload_row row;
    const struct upload_origin origin = {.bundle_id = wish->bundle_id,
                                         .version = "",
                                         .build = "",
                                         .os_build = "",
                                         .system = wish->system,
                                         .bound = wish->bound};
    enum err rc = ERR_OK;
    *ret = true;
    for (size_t i = 0; i < wish->count && rc == ERR_OK && *ret; i++) {
        rc = read_upload_by_sha256(reader, wish->sha256[i], &origin, arena, &row, err);
        *ret = rc == ERR_OK && row.bound == wish->bound; /* what serves all is no app's own */
    }
    return rc == ERR_NOT_FOUND ? ERR_OK : rc;
}

enum err index_room_check(struct storage_reader *reader, const struct index_caps *caps,
                          const struct index_wish *wish, struct arena *arena,
                          const char **ret_refusal, struct error *err)
{
    bool known = true;
    *ret_refusal = NULL;
    enum err rc = caps->all || caps->app ? is_known(reader, wish, arena, &known, err) : ERR_OK;
    if (rc != ERR_OK || known)
        return rc;
    rc = check_cap(reader, caps->all, NULL, all_full, ret_refusal, err);
    if (rc == ERR_OK && !*ret_refusal && *wish->bundle_id)
        rc = check_cap(reader, caps->app, wish->bundle_id, app_full, ret_refusal, err);
    return rc;
}
