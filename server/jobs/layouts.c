#include "server/jobs/layouts.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/hash.h"
#include "server/jobs/places.h"

struct layouts {
    pthread_mutex_t lock;
    uint64_t seed;                 /* strangers choose names and UUIDs: not what becomes of them */
    struct places *files, *claims; /* apart: claims push no file's place out */
    bool owned;                    /* a file serves one app alone */
};

struct layouts *layouts_new(size_t max_entries)
{
    struct layouts *l = calloc(1, sizeof(*l));
    if (!l)
        return NULL;
    pthread_mutex_init(&l->lock, NULL);
    if (getrandom(&l->seed, sizeof(l->seed), 0) != (ssize_t)sizeof(l->seed))
        l->seed = (uint64_t)(uintptr_t)l;
    l->files = places_new(max_entries, l->seed);
    l->claims = places_new(max_entries, l->seed);
    if (!l->files || !l->claims) {
        layouts_free(l);
        return NULL;
    }
    return l;
}

void layouts_free(struct layouts *l)
{
    if (!l)
        return;
    pthread_mutex_destroy(&l->lock);
    places_free(l->files);
    places_free(l->claims);
    free(l);
}

struct layout_view layouts_view(struct layouts *l, const char *bundle_id)
{
    return (struct layout_view){l, hash64(bundle_id, strlen(bundle_id), l->seed)};
}

/* What a symbol file says to the app: its own first. */
static uint64_t *find_file(struct layouts *l, uint64_t app, const struct uuid *uuid)
{
    uint64_t *own = l->owned ? places_find(l->files, app, uuid) : NULL;
    return own ? own : places_find(l->files, 0, uuid);
}

void layouts_learn(struct layouts *l, const char *own, const struct uuid *uuid, uint64_t vmaddr)
{
    const uint64_t app = *own ? layouts_view(l, own).app : 0;
    if (uuid_is_nil(uuid))
        return;
    pthread_mutex_lock(&l->lock);
    l->owned = l->owned || app != 0;
    uint64_t *known = places_find(l->files, app, uuid);
    if (known)
        *known = vmaddr;
    else
        places_add(l->files, app, uuid, vmaddr);
    pthread_mutex_unlock(&l->lock);
}

void layouts_claim(struct layouts *l, const char *bundle_id, const struct uuid *uuid,
                   uint64_t vmaddr)
{
    if (uuid_is_nil(uuid))
        return;
    const struct layout_view view = layouts_view(l, bundle_id);
    pthread_mutex_lock(&l->lock);
    if (!find_file(l, view.app, uuid) && !places_find(l->claims, view.app, uuid))
        places_add(l->claims, view.app, uuid, vmaddr);
    pthread_mutex_unlock(&l->lock);
}

bool layouts_find(void *ctx, const struct uuid *uuid, uint64_t *ret_vmaddr)
{
    const struct layout_view *view = ctx;
    struct layouts *l = view->layouts;
    if (uuid_is_nil(uuid))
        return false;
    pthread_mutex_lock(&l->lock);
    const uint64_t *known = find_file(l, view->app, uuid);
    if (!known)
        known = places_find(l->claims, view->app, uuid);
    if (known)
        *ret_vmaddr = *known;
    pthread_mutex_unlock(&l->lock);
    return known != NULL;
}

bool layouts_place(const struct layout_row *members, size_t count, uint64_t unslid,
                   struct uuid *ret_image, uint64_t *ret_offset)
{
    size_t low = 0, high = count; /* the last member that begins at or below the address */
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (members[middle].vmaddr <= unslid)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0 || unslid - members[low - 1].vmaddr >= members[low - 1].size)
        return false;
    *ret_image = members[low - 1].uuid;
    *ret_offset = unslid - members[low - 1].vmaddr;
    return true;
}
