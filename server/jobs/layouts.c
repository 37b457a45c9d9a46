#include "server/jobs/layouts.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/random.h>

#include "base/hash.h"

#define NO_ENTRY UINT32_MAX

struct entry {
    struct uuid uuid;
    uint64_t vmaddr;
    uint32_t next; /* in its bucket, NO_ENTRY at the end */
};

/* Entries are a ring in order of arrival; buckets chain them by hash. */
struct layouts {
    pthread_mutex_t lock;
    uint64_t seed; /* UUIDs come from strangers: they must not choose the bucket */
    size_t capacity;
    size_t count;
    size_t oldest; /* the slot that goes next once the ring is full */
    uint32_t mask; /* buckets - 1 */
    uint32_t *buckets;
    struct entry *entries;
};

struct layouts *layouts_new(size_t max_entries)
{
    if (max_entries == 0 || max_entries > UINT32_MAX / 4)
        return NULL;
    struct layouts *l = calloc(1, sizeof(*l));
    if (!l)
        return NULL;
    uint32_t buckets = 16;
    while (buckets < max_entries)
        buckets *= 2;
    pthread_mutex_init(&l->lock, NULL);
    if (getrandom(&l->seed, sizeof(l->seed), 0) != (ssize_t)sizeof(l->seed))
        l->seed = (uint64_t)(uintptr_t)l;
    l->capacity = max_entries;
    l->mask = buckets - 1;
    l->buckets = malloc(buckets * sizeof(l->buckets[0]));
    l->entries = calloc(max_entries, sizeof(l->entries[0]));
    if (!l->buckets || !l->entries) {
        layouts_free(l);
        return NULL;
    }
    for (uint32_t i = 0; i < buckets; i++)
        l->buckets[i] = NO_ENTRY;
    return l;
}

void layouts_free(struct layouts *l)
{
    if (!l)
        return;
    pthread_mutex_destroy(&l->lock);
    free(l->buckets);
    free(l->entries);
    free(l);
}

static uint32_t *bucket_of(struct layouts *l, const struct uuid *uuid)
{
    return &l->buckets[hash64(uuid->bytes, sizeof(uuid->bytes), l->seed) & l->mask];
}

static struct entry *find(struct layouts *l, const struct uuid *uuid)
{
    for (uint32_t i = *bucket_of(l, uuid); i != NO_ENTRY; i = l->entries[i].next) {
        if (uuid_equal(&l->entries[i].uuid, uuid))
            return &l->entries[i];
    }
    return NULL;
}

static void unlink_entry(struct layouts *l, uint32_t slot)
{
    uint32_t *link = bucket_of(l, &l->entries[slot].uuid);
    while (*link != slot)
        link = &l->entries[*link].next;
    *link = l->entries[slot].next;
}

static void insert(struct layouts *l, const struct uuid *uuid, uint64_t vmaddr)
{
    size_t slot = l->count;
    if (l->count == l->capacity) {
        slot = l->oldest;
        l->oldest = (l->oldest + 1) % l->capacity;
        unlink_entry(l, (uint32_t)slot);
    } else {
        l->count++;
    }
    uint32_t *bucket = bucket_of(l, uuid);
    l->entries[slot] = (struct entry){.uuid = *uuid, .vmaddr = vmaddr, .next = *bucket};
    *bucket = (uint32_t)slot;
}

void layouts_learn(struct layouts *l, const struct uuid *uuid, uint64_t vmaddr)
{
    if (uuid_is_nil(uuid))
        return;
    pthread_mutex_lock(&l->lock);
    struct entry *known = find(l, uuid);
    if (known)
        known->vmaddr = vmaddr;
    else
        insert(l, uuid, vmaddr);
    pthread_mutex_unlock(&l->lock);
}

bool layouts_find(void *ctx, const struct uuid *uuid, uint64_t *ret_vmaddr)
{
    struct layouts *l = ctx;
    bool found = false;
    if (uuid_is_nil(uuid))
        return false;
    pthread_mutex_lock(&l->lock);
    const struct entry *known = find(l, uuid);
    if (known) {
        *ret_vmaddr = known->vmaddr;
        found = true;
    }
    pthread_mutex_unlock(&l->lock);
    return found;
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
