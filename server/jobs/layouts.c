#include "server/jobs/layouts.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/hash.h"

#define NO_ENTRY UINT32_MAX

struct entry {
    uint64_t app; /* 0: of all apps */
    struct uuid uuid;
    uint64_t vmaddr;
    uint32_t next; /* in its bucket, NO_ENTRY at the end */
};

/* Entries are a ring in order of arrival; buckets chain them by hash. */
struct places {
    size_t capacity;
    size_t count;
    size_t oldest; /* the slot that goes next once the ring is full */
    uint32_t mask; /* buckets - 1 */
    uint32_t *buckets;
    struct entry *entries;
};

struct layouts {
    pthread_mutex_t lock;
    uint64_t seed;               /* UUIDs come from strangers: they must not choose the bucket */
    struct places files, claims; /* apart: claims push no file's place out */
    bool owned;                  /* a file serves one app alone */
};

static bool places_init(struct places *p, size_t max_entries)
{
    uint32_t buckets = 16;
    while (buckets < max_entries)
        buckets *= 2;
    p->capacity = max_entries;
    p->mask = buckets - 1;
    p->buckets = malloc(buckets * sizeof(p->buckets[0]));
    p->entries = calloc(max_entries, sizeof(p->entries[0]));
    for (uint32_t i = 0; p->buckets && i < buckets; i++)
        p->buckets[i] = NO_ENTRY;
    return p->buckets && p->entries;
}

static void places_done(struct places *p)
{
    free(p->buckets);
    free(p->entries);
}

struct layouts *layouts_new(size_t max_entries)
{
    if (max_entries == 0 || max_entries > UINT32_MAX / 4)
        return NULL;
    struct layouts *l = calloc(1, sizeof(*l));
    if (!l)
        return NULL;
    pthread_mutex_init(&l->lock, NULL);
    if (getrandom(&l->seed, sizeof(l->seed), 0) != (ssize_t)sizeof(l->seed))
        l->seed = (uint64_t)(uintptr_t)l;
    if (!places_init(&l->files, max_entries) || !places_init(&l->claims, max_entries)) {
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
    places_done(&l->files);
    places_done(&l->claims);
    free(l);
}

static uint32_t *bucket_of(const struct layouts *l, struct places *p, uint64_t app,
                           const struct uuid *uuid)
{
    return &p->buckets[hash64(uuid->bytes, sizeof(uuid->bytes), l->seed ^ app) & p->mask];
}

static struct entry *find(const struct layouts *l, struct places *p, uint64_t app,
                          const struct uuid *uuid)
{
    for (uint32_t i = *bucket_of(l, p, app, uuid); i != NO_ENTRY; i = p->entries[i].next) {
        if (p->entries[i].app == app && uuid_equal(&p->entries[i].uuid, uuid))
            return &p->entries[i];
    }
    return NULL;
}

static void unlink_entry(const struct layouts *l, struct places *p, uint32_t slot)
{
    uint32_t *link = bucket_of(l, p, p->entries[slot].app, &p->entries[slot].uuid);
    while (*link != slot)
        link = &p->entries[*link].next;
    *link = p->entries[slot].next;
}

static void insert(const struct layouts *l, struct places *p, uint64_t app, const struct uuid *uuid,
                   uint64_t vmaddr)
{
    size_t slot = p->count;
    if (p->count == p->capacity) {
        slot = p->oldest;
        p->oldest = (p->oldest + 1) % p->capacity;
        unlink_entry(l, p, (uint32_t)slot);
    } else {
        p->count++;
    }
    uint32_t *bucket = bucket_of(l, p, app, uuid);
    p->entries[slot] = (struct entry){app, *uuid, vmaddr, *bucket};
    *bucket = (uint32_t)slot;
}

struct layout_view layouts_view(struct layouts *l, const char *bundle_id)
{
    return (struct layout_view){l, hash64(bundle_id, strlen(bundle_id), l->seed)};
}

/* What a symbol file says to the app: its own first. */
static struct entry *find_file(struct layouts *l, uint64_t app, const struct uuid *uuid)
{
    struct entry *own = l->owned ? find(l, &l->files, app, uuid) : NULL;
    return own ? own : find(l, &l->files, 0, uuid);
}

void layouts_learn(struct layouts *l, const char *own, const struct uuid *uuid, uint64_t vmaddr)
{
    const uint64_t app = *own ? layouts_view(l, own).app : 0;
    if (uuid_is_nil(uuid))
        return;
    pthread_mutex_lock(&l->lock);
    l->owned = l->owned || app != 0;
    struct entry *known = find(l, &l->files, app, uuid);
    if (known)
        known->vmaddr = vmaddr;
    else
        insert(l, &l->files, app, uuid, vmaddr);
    pthread_mutex_unlock(&l->lock);
}

void layouts_claim(struct layouts *l, const char *bundle_id, const struct uuid *uuid,
                   uint64_t vmaddr)
{
    if (uuid_is_nil(uuid))
        return;
    const struct layout_view view = layouts_view(l, bundle_id);
    pthread_mutex_lock(&l->lock);
    if (!find_file(l, view.app, uuid) && !find(l, &l->claims, view.app, uuid))
        insert(l, &l->claims, view.app, uuid, vmaddr);
    pthread_mutex_unlock(&l->lock);
}

bool layouts_find(void *ctx, const struct uuid *uuid, uint64_t *ret_vmaddr)
{
    const struct layout_view *view = ctx;
    struct layouts *l = view->layouts;
    if (uuid_is_nil(uuid))
        return false;
    pthread_mutex_lock(&l->lock);
    const struct entry *known = find_file(l, view->app, uuid);
    if (!known)
        known = find(l, &l->claims, view->app, uuid);
    if (known)
        *ret_vmaddr = known->vmaddr;
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
