/* The memory backend's shelves: where indexes lie, and whom they serve. It keeps no secret: tests alone
 * use it. */
#include <string.h>

#include "storage/memory_read.h"
#include "storage/shelf.h"

const struct mem_shelf *mem_shelf_of(const struct mem_state *s, const struct uuid *shelf)
{
    for (size_t i = 0; i < s->shelves_count; i++) {
        if (uuid_equal(&s->shelves[i].shelf, shelf))
            return &s->shelves[i];
    }
    return NULL;
}

const struct uuid *mem_shelf_image(const struct mem_state *s, const struct uuid *shelf)
{
    const struct mem_shelf *own = mem_shelf_of(s, shelf);
    return own ? &own->image : shelf;
}

bool mem_shelf_serves(const struct mem_state *s, const struct uuid *shelf, const char *bundle_id)
{
    const struct mem_shelf *own = mem_shelf_of(s, shelf);
    return !own || (bundle_id && strcmp(own->bundle_id, bundle_id) == 0);
}

enum err mem_shelf_note(struct mem_storage *m, const struct uuid *shelf, const struct uuid *image,
                        const char *bundle_id, struct error *err)
{
    if (uuid_equal(shelf, image) || mem_shelf_of(m->work, shelf))
        return ERR_OK;
    struct mem_shelf *row = mem_add(m->work, shelves);
    if (!row)
        return mem_no_memory(err);
    *row = (struct mem_shelf){*shelf, *image, bundle_id};
    return ERR_OK;
}

void mem_shelf_end(struct mem_state *s, const struct uuid *shelf)
{
    for (size_t i = 0; i < s->slices_count; i++) {
        if (uuid_equal(&s->slices[i].row.shelf, shelf))
            return;
    }
    for (size_t i = 0; i < s->refits_count; i++) {
        if (uuid_equal(&s->refits[i].row.shelf, shelf))
            return;
    }
    for (size_t i = 0; i < s->turn_backs_count; i++) {
        if (uuid_equal(&s->turn_backs[i].row.uuid, shelf))
            return;
    }
    for (size_t i = 0; i < s->layouts_count; i++) {
        if (uuid_equal(&s->layouts[i].row.uuid, shelf))
            return;
    }
    for (size_t i = s->shelves_count; i > 0; i--) {
        if (uuid_equal(&s->shelves[i - 1].shelf, shelf))
            mem_remove(s, shelves, i - 1);
    }
}

static int compare(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

/* Above 0: `a` comes before `b` (read_shelves.h). */
static int richer(const struct slice_row *a, const struct slice_row *b)
{
    const int orders[] = {compare(a->has_dwarf, b->has_dwarf),
                          compare(a->lines, b->lines),
                          compare(a->functions, b->functions),
                          compare(a->inlines, b->inlines),
                          !uuid_equal(&a->shelf, &a->image) - !uuid_equal(&b->shelf, &b->image),
                          compare(a->id, b->id)};
    for (size_t i = 0; i < sizeof(orders) / sizeof(orders[0]); i++) {
        if (orders[i])
            return orders[i];
    }
    return 0;
}

const struct mem_slice *mem_serving_slice(const struct mem_state *s, const char *bundle_id,
                                          bool any, const struct uuid *image)
{
    const struct mem_slice *best = NULL;
    for (size_t i = 0; i < s->slices_count; i++) {
        const struct slice_row *x = &s->slices[i].row;
        if (x->current && uuid_equal(&x->image, image) &&
            (any || mem_shelf_serves(s, &x->shelf, bundle_id)) &&
            (!best || richer(x, &best->row) > 0))
            best = &s->slices[i];
    }
    return best;
}

bool mem_has_rival(const struct mem_state *s, const struct uuid *shelf, const struct uuid *image)
{
    bool own = !uuid_equal(shelf, image);
    for (size_t i = 0; i < s->slices_count; i++) {
        const struct slice_row *x = &s->slices[i].row;
        if (x->current && uuid_equal(&x->image, image) && !uuid_equal(&x->shelf, shelf) &&
            (!own || uuid_equal(&x->shelf, image)))
            return true;
    }
    return false;
}

enum err mem_queue_gone(struct mem_storage *m, size_t app, const struct uuid *image,
                        struct error *err)
{
    const struct mem_state *s = m->work;
    bool own = false;
    enum err rc = ERR_OK;
    for (size_t i = 0; i < s->shelves_count && !rc; i++) {
        const struct mem_shelf *x = &s->shelves[i];
        if (!uuid_equal(&x->image, image) || strcmp(x->bundle_id, s->apps[app].bundle_id) != 0)
            continue;
        own = true;
        rc = mem_queue_refit(m, &x->shelf, false, err);
    }
    return rc || (own && !mem_current_slice(s, image)) ? rc : mem_queue_refit(m, image, false, err);
}

/* --- reading ---------------------------------------------------------------------------------- */

enum err mem_read_shelf(struct storage_reader *r, const char *own, const struct uuid *image,
                        struct uuid *ret, struct error *err)
{
    static const uint8_t none[SHA256_SIZE];
    (void)r;
    (void)err;
    *ret = shelf_of(none, own, image);
    return ERR_OK;
}

enum err mem_read_shelf_image(struct storage_reader *r, const struct uuid *shelf,
                              struct arena *arena, struct uuid *ret, const char **ret_own,
                              struct error *err)
{
    const struct mem_shelf *own = mem_shelf_of(mem_read_state(r), shelf);
    (void)arena;
    (void)err;
    *ret = own ? own->image : *shelf;
    if (ret_own)
        *ret_own = own ? own->bundle_id : "";
    return ERR_OK;
}

enum err mem_read_shelf_for(struct storage_reader *r, const char *bundle_id,
                            const struct uuid *image, struct uuid *ret, struct error *err)
{
    const struct mem_slice *x =
        mem_serving_slice(mem_read_state(r), bundle_id, bundle_id == NULL, image);
    (void)err;
    *ret = x ? x->row.shelf : *image;
    return ERR_OK;
}

enum err mem_read_owns_shelves(struct storage_reader *r, const char *bundle_id, bool *ret,
                               struct error *err)
{
    const struct mem_state *s = mem_read_state(r);
    (void)err;
    *ret = false;
    for (size_t i = 0; i < s->shelves_count && !*ret; i++)
        *ret = strcmp(s->shelves[i].bundle_id, bundle_id) == 0;
    return ERR_OK;
}
