#include "server/jobs/index_room.h"

#include "storage/read_symbols.h"

/* The time to look was up: that says nothing of room. */
static enum err looked(enum err rc, struct error *err)
{
    if (rc == ERR_LIMIT)
        rc = err->code = ERR_BUSY;
    return rc;
}

static enum err check_cap(struct storage_reader *reader, uint64_t cap, const char *bundle_id,
                          const char *words, struct error *err)
{
    uint64_t bytes = 0;
    enum err rc = cap ? looked(read_kept_index_bytes(reader, bundle_id, &bytes, err), err) : ERR_OK;
    return rc == ERR_OK && cap && bytes >= cap ? error_set(err, ERR_LIMIT, "%s", words) : rc;
}

enum err index_room_check(struct storage_reader *reader, const struct index_caps *caps,
                          const struct index_wish *wish, struct arena *arena, struct error *err)
{
    struct upload_row row;
    const struct upload_origin origin = {.bundle_id = wish->bundle_id,
                                         .version = "",
                                         .build = "",
                                         .os_build = "",
                                         .system = wish->system,
                                         .bound = wish->bound};
    if (!caps->all && !caps->app)
        return ERR_OK;
    enum err rc =
        looked(read_upload_by_sha256(reader, wish->sha256, &origin, arena, &row, err), err);
    if (rc != ERR_NOT_FOUND)
        return rc;
    rc = check_cap(reader, caps->all, NULL,
                   "the index files have reached their cap ([symbols] index_bytes); delete uploads "
                   "that nobody needs, or raise it",
                   err);
    if (rc != ERR_OK || !*wish->bundle_id)
        return rc;
    return check_cap(reader, caps->app, wish->bundle_id,
                     "the app's index files have reached their cap ([symbols] app_index_bytes); "
                     "delete uploads that nobody needs, or raise it",
                     err);
}
