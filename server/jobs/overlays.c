#include "server/jobs/overlays.h"

#include <stdlib.h>

#include "base/vec.h"

struct entry {
    uint64_t app_id, version;
    struct arena *arena;
    struct overlay overlay;
};

struct overlays {
    struct entry *entries; /* in no order; there are as many as apps with an epoch */
    size_t count, cap;
    uint64_t newest;
};

struct overlays *overlays_new(void)
{
    return calloc(1, sizeof(struct overlays));
}

void overlays_free(struct overlays *o)
{
    if (!o)
        return;
    for (size_t i = 0; i < o->count; i++)
        arena_free(o->entries[i].arena);
    free(o->entries);
    free(o);
}

static struct entry *entry_for(struct overlays *o, uint64_t app_id)
{
    for (size_t i = 0; i < o->count; i++) {
        if (o->entries[i].app_id == app_id)
            return &o->entries[i];
    }
    struct entry *grown = vec_grown(o->entries, &o->cap, o->count + 1, sizeof(*grown));
    if (!grown)
        return NULL;
    o->entries = grown;
    o->entries[o->count] = (struct entry){.app_id = app_id};
    return &o->entries[o->count++];
}

static enum err take(struct overlays *o, const struct overlay_row *row, struct error *err)
{
    struct overlay overlay = {.hold_count = 0};
    struct arena *arena = arena_new(4 * OVERLAY_BYTES_MAX);
    struct entry *entry = arena ? entry_for(o, row->app_id) : NULL;
    enum err rc = entry ? overlay_decode(row->data, row->len, arena, &overlay, err)
                        : error_set(err, ERR_NO_MEMORY, "no memory for an overlay");
    if (rc && rc != ERR_FORMAT) {
        arena_free(arena);
        return rc;
    }
    arena_free(entry->arena);
    *entry = (struct entry){row->app_id, row->version, arena, overlay};
    o->newest = row->version;
    return ERR_OK;
}

enum err overlays_refresh(struct overlays *o, struct storage_reader *reader, struct error *err)
{
    struct overlay_row *rows = NULL;
    size_t count = 0;
    struct arena arena;
    arena_init(&arena, 16 * OVERLAY_BYTES_MAX);
    enum err rc = read_overlays(reader, o->newest, &arena, &rows, &count, err);
    for (size_t i = 0; i < count && !rc; i++)
        rc = take(o, &rows[i], err);
    arena_done(&arena);
    return rc;
}

const struct overlay *overlays_of(const struct overlays *o, uint64_t app_id, uint64_t *ret_version)
{
    *ret_version = 0;
    for (size_t i = 0; i < o->count; i++) {
        if (o->entries[i].app_id != app_id)
            continue;
        *ret_version = o->entries[i].version;
        return &o->entries[i].overlay;
    }
    return NULL;
}
