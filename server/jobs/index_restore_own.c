#include "server/jobs/index_restore_own.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "server/jobs/hidden_names.h"

#define PAGE       256
#define PAGE_ARENA ((size_t)16 << 20)

/* An own index that hides names, and whose object can be read again. */
struct hiding {
    const char *app;
    struct uuid shelf, image;
};

struct search {
    struct storage_reader *reader;
    const struct blob_store *blobs;
    struct arena *arena; /* of what is found */
    struct hiding *items;
    size_t count, cap;
};

static enum err note(struct search *s, const struct slice_row *row, struct error *err)
{
    void *items = s->items;
    const char *app = arena_strdup(s->arena, row->bundle_id);
    if (!app || !arena_room(s->arena, &items, s->count, &s->cap, sizeof(s->items[0])))
        return error_set(err, ERR_NO_MEMORY, "no memory for symbol maps");
    s->items = items;
    s->items[s->count++] = (struct hiding){app, row->shelf, row->image};
    return ERR_OK;
}

static enum err look_at(struct search *s, const struct slice_row *row, struct error *err)
{
    char index[PATH_MAX], object[PATH_MAX];
    bool hidden = false;
    if (!row->bound || !blob_store_index_path(s->blobs, &row->shelf, index, sizeof(index)) ||
        !blob_store_object_path(s->blobs, row->object_sha256, object, sizeof(object)) ||
        access(object, R_OK) != 0)
        return ERR_OK;
    enum err rc = hidden_names_in(index, &hidden, err);
    return rc == ERR_OK && hidden ? note(s, row, err) : rc;
}

static enum err find_hiding(struct search *s, struct error *err)
{
    struct arena *page = arena_new(PAGE_ARENA);
    char at[64] = "";
    const char *next = NULL;
    enum err rc = page ? ERR_OK : error_set(err, ERR_NO_MEMORY, "no memory for symbol maps");
    for (bool more = true; rc == ERR_OK && more; more = next != NULL) {
        struct slice_row *rows = NULL;
        size_t count = 0;
        arena_reset(page);
        rc = read_symbols(s->reader, NULL, PAGE, *at ? at : NULL, page, &rows, &count, &next, err);
        for (size_t i = 0; rc == ERR_OK && i < count; i++)
            rc = look_at(s, &rows[i], err);
        if (rc == ERR_OK && next)
            snprintf(at, sizeof(at), "%s", next);
    }
    arena_free(page);
    return rc;
}

static int by_app(const void *a, const void *b)
{
    return strcmp(((const struct hiding *)a)->app, ((const struct hiding *)b)->app);
}

/* The links of an app's own files lead to maps that serve all, too: its maps are opened once. */
static enum err choose(struct search *s, const struct uuid *named, size_t named_count,
                       struct uuid *ret, size_t *ret_count, struct error *err)
{
    struct symbol_maps *maps = NULL;
    enum err rc = ERR_OK;
    if (s->count)
        qsort(s->items, s->count, sizeof(s->items[0]), by_app);
    for (size_t i = 0; rc == ERR_OK && i < s->count; i++) {
        const struct hiding *h = &s->items[i];
        if (i == 0 || strcmp(h->app, s->items[i - 1].app) != 0) {
            symbol_maps_free(maps);
            maps = NULL;
            rc = hidden_names_maps(s->blobs, h->app, &maps, err);
        }
        if (rc != ERR_OK)
            break;
        const struct uuid original = symbol_maps_original(maps, &h->image);
        bool mapped = false;
        if (uuid_is_in(named, named_count, &original) || uuid_is_in(named, named_count, &h->image))
            rc = hidden_names_mapped(maps, &h->image, &mapped, err);
        if (mapped)
            ret[(*ret_count)++] = h->shelf;
    }
    symbol_maps_free(maps);
    return rc;
}

enum err index_restore_own(struct storage_reader *reader, const struct blob_store *blobs,
                           const struct uuid *named, size_t count, struct arena *arena,
                           struct uuid **ret, size_t *ret_count, struct error *err)
{
    struct search s = {.reader = reader, .blobs = blobs, .arena = arena};
    *ret_count = 0;
    if (count == 0)
        return ERR_OK;
    enum err rc = find_hiding(&s, err);
    if (rc != ERR_OK)
        return rc;
    *ret = arena_array(arena, s.count + 1, sizeof(**ret));
    if (!*ret)
        return error_set(err, ERR_NO_MEMORY, "no memory for symbol maps");
    return choose(&s, named, count, *ret, ret_count, err);
}
