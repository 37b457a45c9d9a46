#include "server/stored_state.h"

#include <stdint.h>
#include <string.h>

#include "base/arena.h"
#include "storage/read_quota.h"
#include "storage/storage_read.h"

#define ARENA_MAX ((size_t)1024 * 1024 * 1024)

struct spool_names {
    const char **names;
    size_t count, cap;
};

static bool is_wanted(void *ctx, const char *name)
{
    const struct spool_names *wanted = ctx;
    for (size_t i = 0; i < wanted->count; i++) {
        if (strcmp(wanted->names[i], name) == 0)
            return true;
    }
    return false;
}

static enum err want(struct spool_names *wanted, struct arena *arena, const char *name,
                     struct error *err)
{
    if (!arena_room(arena, (void **)&wanted->names, wanted->count, &wanted->cap,
                    sizeof(wanted->names[0])))
        return error_set(err, ERR_NO_MEMORY, "no memory to start");
    wanted->names[wanted->count++] = name;
    return ERR_OK;
}

static enum err want_open_uploads(struct storage_reader *reader, struct arena *arena,
                                  struct spool_names *wanted, struct error *err)
{
    struct open_upload_row *rows = NULL;
    size_t count = READ_LIMIT_MAX;
    enum err rc = ERR_OK;
    while (rc == ERR_OK && count == READ_LIMIT_MAX) {
        const uint8_t *after = rows ? rows[count - 1].id : NULL;
        rc = read_open_uploads(reader, after, INT64_MAX, READ_LIMIT_MAX, arena, &rows, &count, err);
        for (size_t i = 0; rc == ERR_OK && i < count; i++)
            rc = want(wanted, arena, rows[i].spool_file, err);
    }
    return rc;
}

/* Removes spool files that no upload names. */
static enum err sweep_spool(struct blob_store *blobs, struct storage_reader *reader,
                            struct arena *arena, struct error *err)
{
    struct upload_waiting *waiting = NULL;
    size_t count = 0;
    struct spool_names wanted = {.count = 0};
    enum err rc = read_uploads_waiting(reader, arena, &waiting, &count, err);
    for (size_t i = 0; rc == ERR_OK && i < count; i++) {
        struct upload_row row;
        rc = read_upload(reader, waiting[i].id, arena, &row, err);
        if (rc == ERR_OK)
            rc = want(&wanted, arena, row.spool_file, err);
    }
    if (rc == ERR_OK)
        rc = want_open_uploads(reader, arena, &wanted, err);
    return rc == ERR_OK ? blob_store_sweep_spool(blobs, is_wanted, &wanted, err) : rc;
}

static enum err load_layouts(const struct stored_state_taker *t, struct storage_reader *reader,
                             struct arena *arena, struct error *err)
{
    struct layout_row *rows = NULL;
    size_t count = 0;
    enum err rc = read_layouts(reader, t->layout_count, arena, &rows, &count, err);
    /* Newest first from the database; the table drops the oldest, so it is taught them last. */
    for (size_t i = count; rc == ERR_OK && i > 0; i--)
        layouts_learn(t->layouts, rows[i - 1].own, &rows[i - 1].uuid, rows[i - 1].vmaddr);
    return rc;
}

static enum err load_claims(const struct stored_state_taker *t, struct storage_reader *reader,
                            struct arena *arena, struct error *err)
{
    struct layout_claim_row *rows = NULL;
    size_t count = 0;
    enum err rc = read_layout_claims(reader, t->layout_count, arena, &rows, &count, err);
    for (size_t i = count; rc == ERR_OK && i > 0; i--) {
        const struct layout_claim_row *c = &rows[i - 1];
        layouts_claim(t->layouts, c->bundle_id, &c->uuid, c->vmaddr);
    }
    return rc;
}

static enum err load_quotas(struct admission *admission, struct storage_reader *reader,
                            struct arena *arena, struct error *err)
{
    struct quota_row *rows = NULL;
    const char **apps = NULL;
    size_t count = 0, app_count = 0;
    enum err rc = read_quotas(reader, arena, &rows, &count, err);
    if (rc == ERR_OK)
        rc = read_app_names(reader, arena, &apps, &app_count, err);
    for (size_t i = 0; rc == ERR_OK && i < app_count; i++)
        admission_know(admission, apps[i]);
    for (size_t i = 0; rc == ERR_OK && i < count; i++)
        admission_set(admission, rows[i].bundle_id, &rows[i].quota);
    return rc;
}

enum err stored_state_load(struct storage *storage, const struct stored_state_taker *taker,
                           struct error *err)
{
    struct storage_reader *reader = NULL;
    struct arena arena;
    arena_init(&arena, ARENA_MAX);
    enum err rc = storage_reader_open(storage, &reader, err);
    if (rc == ERR_OK)
        rc = sweep_spool(taker->blobs, reader, &arena, err);
    if (rc == ERR_OK)
        rc = load_layouts(taker, reader, &arena, err);
    if (rc == ERR_OK)
        rc = load_claims(taker, reader, &arena, err);
    if (rc == ERR_OK)
        rc = load_quotas(taker->admission, reader, &arena, err);
    storage_reader_close(reader);
    arena_done(&arena);
    return rc;
}
