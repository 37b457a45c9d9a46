#include "server/jobs/app_images.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/hash.h"
#include "server/jobs/layouts.h"
#include "storage/read_shelves.h"

#define ARENA_LIMIT ((size_t)64 * 1024 * 1024)
#define GROUPS_MAX  64
#define OWNERS_MAX  64

struct entry {
    bool used;
    bool known;
    uint64_t app_id;
    struct uuid image;
    struct image_facts facts;
    uint64_t turn; /* of which `shelf` is */
    struct uuid shelf;
};

struct owner {
    uint64_t app_id;
    bool owns; /* indexes of its own */
};

struct group {
    uint64_t app_id;
    struct uuid id;
    const struct layout_row *members; /* ascending by vmaddr */
    size_t count;
};

struct app_images {
    struct storage_reader *reader;
    const struct rules *rules;
    struct arena *arena;
    uint64_t seed;
    size_t max_entries;
    size_t count;
    size_t mask; /* open addressing; at most half full */
    struct entry *entries;
    struct group groups[GROUPS_MAX];
    size_t group_count;
    struct owner owners[OWNERS_MAX]; /* of this turn */
    size_t owner_count;
    uint64_t page, turn;
    uint64_t app_id;
    const char *bundle_id;
    enum err rc; /* the first question that failed since begin */
    struct error error;
};

struct app_images *app_images_new(struct storage_reader *reader, const struct rules *rules,
                                  size_t max_entries)
{
    struct app_images *a = calloc(1, sizeof(*a));
    if (!a)
        return NULL;
    size_t slots = 64;
    while (slots < 4 * max_entries) /* half full when one stack brings as many again */
        slots *= 2;
    a->reader = reader;
    a->rules = rules;
    a->max_entries = max_entries;
    a->mask = slots - 1;
    a->turn = 1;
    a->arena = arena_new(ARENA_LIMIT);
    a->entries = calloc(slots, sizeof(a->entries[0]));
    if (getrandom(&a->seed, sizeof(a->seed), 0) != (ssize_t)sizeof(a->seed))
        a->seed = (uint64_t)(uintptr_t)a;
    if (!a->arena || !a->entries) {
        app_images_free(a);
        return NULL;
    }
    return a;
}

void app_images_free(struct app_images *a)
{
    if (!a)
        return;
    arena_free(a->arena);
    free(a->entries);
    free(a);
}

void app_images_forget(struct app_images *a)
{
    if (a->count > 0)
        memset(a->entries, 0, (a->mask + 1) * sizeof(a->entries[0]));
    a->count = 0;
    a->group_count = 0;
    a->owner_count = 0;
    arena_reset(a->arena);
}

void app_images_turn(struct app_images *a, uint64_t page)
{
    if (a->page == page)
        return;
    a->page = page;
    a->turn++;
    a->owner_count = 0;
}

void app_images_set_rules(struct app_images *a, const struct rules *rules)
{
    a->rules = rules;
    app_images_forget(a);
}

/* --- names and classes ------------------------------------------------------------------------ */

/* The entry of the image, or the free slot for it. */
static struct entry *slot_of(struct app_images *a, const struct uuid *image)
{
    uint64_t h = hash64(image->bytes, sizeof(image->bytes), a->seed ^ a->app_id);
    size_t i = (size_t)h & a->mask;
    while (a->entries[i].used &&
           (a->entries[i].app_id != a->app_id || !uuid_equal(&a->entries[i].image, image)))
        i = (i + 1) & a->mask;
    return &a->entries[i];
}

/* False when the database could not be asked: the stack has to come again. */
static bool asked(struct app_images *a, enum err rc, const struct error *err)
{
    if (rc == ERR_OK || rc == ERR_NOT_FOUND)
        return true;
    if (a->rc == ERR_OK) {
        a->rc = rc;
        a->error = *err;
    }
    return false;
}

static enum image_class class_of(const struct app_images *a, const struct image_row *row)
{
    if (row->class == IMAGE_CLASS_UNKNOWN && rules_is_platform(a->rules, row->name))
        return IMAGE_CLASS_SYSTEM;
    return row->class;
}

static bool find_facts(void *ctx, const struct uuid *image, struct image_facts *ret)
{
    struct app_images *a = ctx;
    struct error err;
    struct image_row row;
    struct entry *e = slot_of(a, image);
    if (!e->used) {
        enum err rc = read_image(a->reader, a->bundle_id, image, a->arena, &row, &err);
        if (!asked(a, rc, &err))
            return false;
        struct image_facts facts = {.name = NULL};
        if (rc == ERR_OK)
            facts = (struct image_facts){.name = row.name, .class = class_of(a, &row)};
        if (a->count == 2 * a->max_entries) { /* one stack with that many images: not cached */
            *ret = facts;
            return rc == ERR_OK;
        }
        *e = (struct entry){.used = true,
                            .known = rc == ERR_OK,
                            .app_id = a->app_id,
                            .image = *image,
                            .facts = facts};
        a->count++;
    }
    if (e->known)
        *ret = e->facts;
    return e->known;
}

/* --- shelves ---------------------------------------------------------------------------------- */

/* Most apps own nothing, and then no image has to be asked for. */
static bool owns_shelves(struct app_images *a)
{
    struct error err;
    bool owns = false;
    for (size_t i = 0; i < a->owner_count; i++) {
        if (a->owners[i].app_id == a->app_id)
            return a->owners[i].owns;
    }
    if (!asked(a, read_owns_shelves(a->reader, a->bundle_id, &owns, &err), &err))
        return false;
    size_t at = a->owner_count < OWNERS_MAX ? a->owner_count++ : OWNERS_MAX - 1;
    a->owners[at] = (struct owner){a->app_id, owns};
    return owns;
}

static void find_shelf(void *ctx, const struct uuid *image, struct uuid *ret)
{
    struct app_images *a = ctx;
    struct image_facts facts;
    struct error err;
    *ret = *image;
    if (!owns_shelves(a))
        return;
    find_facts(a, image, &facts); /* its entry */
    struct entry *e = slot_of(a, image);
    if (e->used && e->turn == a->turn) {
        *ret = e->shelf;
        return;
    }
    if (!asked(a, read_shelf_for(a->reader, a->bundle_id, image, ret, &err), &err) || !e->used)
        return;
    e->turn = a->turn;
    e->shelf = *ret;
}

/* --- slide groups ----------------------------------------------------------------------------- */

static const struct group *find_group(struct app_images *a, const struct uuid *id)
{
    struct error err;
    struct layout_row *members = NULL;
    size_t count = 0;
    for (size_t i = 0; i < a->group_count; i++) {
        if (a->groups[i].app_id == a->app_id && uuid_equal(&a->groups[i].id, id))
            return &a->groups[i];
    }
    enum err rc = read_group(a->reader, a->bundle_id, id, a->arena, &members, &count, &err);
    if (!asked(a, rc, &err) || rc != ERR_OK)
        return NULL;
    size_t place = a->group_count < GROUPS_MAX ? a->group_count++ : GROUPS_MAX - 1;
    a->groups[place] = (struct group){a->app_id, *id, members, count};
    return &a->groups[place];
}

static bool place_address(void *ctx, const struct uuid *group_id, uint64_t unslid,
                          struct uuid *ret_image, uint64_t *ret_offset)
{
    const struct group *g = find_group(ctx, group_id);
    return g && layouts_place(g->members, g->count, unslid, ret_image, ret_offset);
}

struct image_lookup app_images_begin(struct app_images *a, uint64_t app_id, const char *bundle_id)
{
    if (a->count > a->max_entries || a->group_count == GROUPS_MAX ||
        a->arena->used > ARENA_LIMIT / 2)
        app_images_forget(a);
    a->app_id = app_id;
    a->bundle_id = bundle_id;
    a->rc = ERR_OK;
    return (struct image_lookup){.facts = find_facts,
                                 .place = place_address,
                                 .shelf = find_shelf,
                                 .ctx = a,
                                 .app = bundle_id};
}

enum err app_images_end(struct app_images *a, struct error *err)
{
    if (a->rc != ERR_OK && err)
        *err = a->error;
    return a->rc;
}
