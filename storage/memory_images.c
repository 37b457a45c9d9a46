/* The memory backend's images, layouts and slide groups. */
#include <string.h>

#include "storage/memory_state.h"

static struct mem_day *day_of(const struct mem_state *s, size_t app, enum mem_value_kind kind,
                              int32_t day)
{
    for (size_t i = 0; i < s->days_count; i++) {
        if (s->days[i].app == app && s->days[i].kind == kind && s->days[i].day == day)
            return &s->days[i];
    }
    return NULL;
}

uint32_t mem_day_get(const struct mem_state *s, size_t app, enum mem_value_kind kind, int32_t day)
{
    const struct mem_day *d = day_of(s, app, kind, day);
    return d ? d->added : 0;
}

enum err mem_day_add(struct mem_storage *m, size_t app, enum mem_value_kind kind, int32_t day,
                     uint32_t count, struct error *err)
{
    struct mem_day *d = day_of(m->work, app, kind, day);
    if (!d) {
        if (!(d = mem_add(m->work, days)))
            return mem_no_memory(err);
        *d = (struct mem_day){app, kind, day, 0};
    }
    d->added += count;
    return ERR_OK;
}

static uint64_t for_each_value(enum mem_value_kind kind)
{
    if (kind == MEM_MEMBER)
        return GROUP_MEMBERS_PER_VALUE;
    const bool pairs = kind == MEM_USAGE_DEVICE || kind == MEM_USAGE_PAGE ||
                       kind == MEM_PAIR_DEVICE || kind == MEM_PAIR_PAGE;
    return pairs ? USAGE_PAIRS_PER_VALUE : 1;
}

enum err mem_daily(struct mem_storage *m, size_t app, enum mem_value_kind kind, int32_t day,
                   bool *ret_allowed, struct error *err)
{
    const uint64_t cap = m->daily_values * for_each_value(kind);
    *ret_allowed = mem_day_get(m->work, app, kind, day) < cap;
    return *ret_allowed ? mem_day_add(m, app, kind, day, 1, err) : ERR_OK;
}

bool mem_is_member(const struct mem_state *s, size_t app, const struct uuid *group,
                   const struct uuid *uuid)
{
    for (size_t i = 0; i < s->members_count; i++) {
        const struct mem_member *m = &s->members[i];
        if ((app == SIZE_MAX || m->app == app) && uuid_equal(&m->group, group) &&
            uuid_equal(&m->uuid, uuid))
            return true;
    }
    return false;
}

static struct mem_layout *layout_of(struct mem_state *s, const struct uuid *uuid)
{
    for (size_t i = 0; i < s->layouts_count; i++) {
        if (uuid_equal(&s->layouts[i].row.uuid, uuid))
            return &s->layouts[i];
    }
    return NULL;
}

bool mem_uses(const struct mem_stack *k, const struct uuid *uuid)
{
    return memmem(k->raw, k->raw_len, uuid, sizeof(*uuid)) != NULL;
}

bool mem_misses(const struct mem_stack *k, const struct uuid *uuid)
{
    return uuid_is_in(k->missing, k->missing_count, uuid);
}

void mem_repend_stack(struct mem_stack *k)
{
    k->pending = true;
    k->generation++;
}

void mem_disturb(struct mem_state *s, const struct uuid *uuid)
{
    for (size_t i = 0; i < s->stacks_count; i++) {
        if (s->stacks[i].pending && mem_uses(&s->stacks[i], uuid))
            s->stacks[i].generation++;
    }
}

enum err mem_learn_layout(struct mem_storage *m, const struct uuid *uuid, uint64_t vmaddr,
                          uint64_t size, bool *ret_changed, struct error *err)
{
    struct mem_layout *l = layout_of(m->work, uuid);
    *ret_changed = !l || l->row.vmaddr != vmaddr || l->row.size != size;
    if (!l && !(l = mem_add(m->work, layouts)))
        return mem_no_memory(err);
    *l = (struct mem_layout){{.uuid = *uuid, .vmaddr = vmaddr, .size = size}};
    return ERR_OK;
}

bool mem_is_placed(const struct mem_state *s, size_t app, const struct uuid *image)
{
    for (size_t i = 0; i < s->layouts_count; i++) {
        const struct uuid *shelf = &s->layouts[i].row.uuid;
        if (uuid_equal(mem_shelf_image(s, shelf), image) &&
            mem_shelf_serves(s, shelf, s->apps[app].bundle_id))
            return true;
    }
    return false;
}

static enum err learn_name(struct mem_storage *m, size_t app, int32_t day, const struct op_image *o,
                           struct error *err)
{
    struct mem_state *s = m->work;
    bool allowed = true;
    for (size_t i = 0; i < s->images_count; i++) {
        if (s->images[i].app == app && uuid_equal(&s->images[i].row.id, &o->id))
            return ERR_OK;
    }
    enum err rc = mem_daily(m, app, MEM_IMAGE, day, &allowed, err);
    if (rc || !allowed)
        return rc;
    struct mem_image *image = mem_add(s, images);
    if (!image)
        return mem_no_memory(err);
    image->app = app;
    image->row.id = o->id;
    image->row.kind = o->kind;
    image->row.class = o->class;
    image->row.name = arena_strdup(&m->arena, o->name ? o->name : "");
    image->row.arch = o->arch ? arena_strdup(&m->arena, o->arch) : NULL;
    return image->row.name && (image->row.arch || !o->arch) ? ERR_OK : mem_no_memory(err);
}

/* What a report says of the place of an image, for its own app. */
static enum err learn_claim(struct mem_storage *m, size_t app, int32_t day,
                            const struct op_image *o, struct error *err)
{
    struct mem_state *s = m->work;
    bool allowed = true;
    if (!o->has_vmaddr || o->kind != IMAGE_UUID || mem_is_placed(s, app, &o->id))
        return ERR_OK;
    for (size_t i = 0; i < s->claims_count; i++) {
        if (s->claims[i].app == app && uuid_equal(&s->claims[i].uuid, &o->id))
            return ERR_OK;
    }
    enum err rc = mem_daily(m, app, MEM_LAYOUT, day, &allowed, err);
    if (rc || !allowed)
        return rc;
    struct mem_claim *claim = mem_add(s, claims);
    if (!claim)
        return mem_no_memory(err);
    *claim = (struct mem_claim){app, o->id, o->vmaddr};
    return ERR_OK;
}

#define CHANGED_MAX 1024

struct changed_groups {
    struct uuid items[CHANGED_MAX];
    size_t count;
};

static void note_group(struct changed_groups *c, const struct uuid *group)
{
    if (!uuid_is_in(c->items, c->count, group) && c->count < CHANGED_MAX)
        c->items[c->count++] = *group;
}

/* Every stack is turned back once, however many of its groups changed. */
static void groups_changed(struct mem_state *s, const struct changed_groups *c)
{
    for (size_t i = 0; i < c->count; i++)
        mem_disturb(s, &c->items[i]);
    for (size_t k = 0; k < s->stacks_count; k++) {
        bool misses = false;
        for (size_t i = 0; i < c->count && !misses; i++)
            misses = mem_misses(&s->stacks[k], &c->items[i]);
        if (misses)
            mem_repend_stack(&s->stacks[k]);
    }
}

static enum err learn_member(struct mem_storage *m, size_t app, int32_t day,
                             const struct op_image *o, struct changed_groups *changed,
                             struct error *err)
{
    bool allowed = true;
    if (!o->in_group || mem_is_member(m->work, app, &o->group, &o->id))
        return ERR_OK;
    enum err rc = mem_daily(m, app, MEM_MEMBER, day, &allowed, err);
    if (rc || !allowed)
        return rc;
    struct mem_member *member = mem_add(m->work, members);
    if (!member)
        return mem_no_memory(err);
    *member = (struct mem_member){app, o->group, o->id};
    if (mem_is_placed(m->work, app, &o->id))
        note_group(changed, &o->group);
    return ERR_OK;
}

enum err mem_learn_images(struct mem_storage *m, size_t app, int32_t day,
                          const struct op_image *images, size_t count, struct error *err)
{
    struct mem_state *s = m->work;
    struct changed_groups changed = {.count = 0};
    enum err rc = ERR_OK;
    for (size_t i = 0; i < count && !rc; i++) {
        const struct op_image *o = &images[i];
        rc = learn_name(m, app, day, o, err);
        if (!rc)
            rc = learn_claim(m, app, day, o, err);
        if (!rc)
            rc = learn_member(m, app, day, o, &changed, err);
    }
    if (!rc)
        groups_changed(s, &changed);
    return rc;
}
