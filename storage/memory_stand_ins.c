/* The memory backend's stand-ins. */
#include <stdlib.h>
#include <string.h>

#include "storage/memory_read.h"

const struct stand_in_row *mem_stand_in_of(const struct mem_state *s, const char *bundle_id,
                                           const struct uuid *uuid)
{
    const struct stand_in_row *found = NULL;
    for (size_t i = 0; i < s->stand_ins_count; i++) {
        const struct stand_in_row *x = &s->stand_ins[i].row;
        bool own = strcmp(x->bundle_id, bundle_id) == 0;
        if (uuid_equal(&x->uuid, uuid) && (own || (!found && !*x->bundle_id)))
            found = x;
    }
    return found;
}

/* Of the app, "": of any. */
static bool is_of(const struct stand_in_row *x, const char *bundle_id, const struct uuid *uuid)
{
    return uuid_equal(&x->uuid, uuid) && (!*bundle_id || strcmp(x->bundle_id, bundle_id) == 0);
}

static void remove_stand_ins(struct mem_state *s, const char *bundle_id, const struct uuid *uuid)
{
    for (size_t i = s->stand_ins_count; i > 0; i--) {
        if (is_of(&s->stand_ins[i - 1].row, bundle_id, uuid))
            mem_remove(s, stand_ins, i - 1);
    }
}

void mem_stand_in_end(struct mem_state *s, const struct uuid *shelf)
{
    const struct mem_shelf *own = mem_shelf_of(s, shelf);
    remove_stand_ins(s, own ? own->bundle_id : "", mem_shelf_image(s, shelf));
}

static bool is_about(const struct mem_state *s, const struct op_stand_in *o, size_t app)
{
    return !*o->bundle_id || strcmp(s->apps[app].bundle_id, o->bundle_id) == 0;
}

static void turn_back(struct mem_state *s, const struct op_stand_in *o)
{
    for (size_t i = 0; i < s->stacks_count; i++) {
        if (is_about(s, o, s->stacks[i].app) && mem_misses(&s->stacks[i], &o->uuid))
            mem_repend_stack(&s->stacks[i]);
    }
    mem_disturb(s, &o->uuid);
}

/* Each stack once. */
void mem_stand_in_changed(struct mem_state *s, const struct uuid *uuid)
{
    for (size_t i = 0; i < s->stacks_count; i++) {
        bool used = false;
        const char *app = s->apps[s->stacks[i].app].bundle_id;
        bool serves = mem_shelf_serves(s, uuid, app);
        for (size_t k = 0; k < s->stand_ins_count && serves && !used; k++) {
            const struct stand_in_row *x = &s->stand_ins[k].row;
            used = uuid_equal(&x->stand_in, mem_shelf_image(s, uuid)) &&
                   (!*x->bundle_id || strcmp(x->bundle_id, app) == 0) &&
                   mem_misses(&s->stacks[i], &x->uuid);
        }
        if (used)
            mem_repend_stack(&s->stacks[i]);
    }
}

/* An index without a name has the one that reports of the app say, or any. */
static bool may_be_called(const struct mem_state *s, const struct slice_row *x, size_t app,
                          const char *name)
{
    bool may = !*x->name;
    for (size_t i = 0; i < s->images_count && may; i++) {
        const struct image_row *k = &s->images[i].row;
        may = s->images[i].app != app || !uuid_equal(&k->id, &x->image) || !*k->name ||
              strcmp(k->name, name) == 0;
    }
    return may || strcmp(x->name, name) == 0;
}

static bool may_stand_in(const struct mem_state *s, const struct op_stand_in *o, size_t app,
                         const struct image_row *image)
{
    bool may = !*image->name;
    for (size_t i = 0; i < s->slices_count && !may; i++) {
        const struct slice_row *x = &s->slices[i].row;
        may = x->current && uuid_equal(&x->image, &o->stand_in) &&
              (!*o->bundle_id || mem_shelf_serves(s, &x->shelf, o->bundle_id)) &&
              may_be_called(s, x, app, image->name) &&
              (!image->arch || !*x->arch || strcmp(x->arch, image->arch) == 0);
    }
    return may;
}

static enum err check(const struct mem_state *s, const struct op_stand_in *o, struct error *err)
{
    const struct mem_slice *x = mem_serving_slice(s, o->bundle_id, !*o->bundle_id, &o->stand_in);
    if (mem_serving_slice(s, o->bundle_id, false, &o->uuid))
        return error_set(err, ERR_CONFLICT, "its own symbol file is here");
    if (!x)
        return error_set(err, ERR_NOT_FOUND, "no symbol file with the UUID of the stand-in");
    for (size_t i = 0; i < s->images_count; i++) {
        if (uuid_equal(&s->images[i].row.id, &o->uuid) && is_about(s, o, s->images[i].app) &&
            !may_stand_in(s, o, s->images[i].app, &s->images[i].row))
            return error_set(err, ERR_CONFLICT,
                             "the stand-in is of another image name or architecture");
    }
    return s->stand_ins_count < STAND_INS_MAX
               ? ERR_OK
               : error_set(err, ERR_LIMIT, "there are %d stand-ins already", STAND_INS_MAX);
}

enum err mem_write_stand_in(struct mem_storage *m, struct write_op *op, struct error *err)
{
    struct mem_state *s = m->work;
    struct op_stand_in *o = &op->u.stand_in;
    const struct stand_in_row *old = mem_stand_in_of(s, o->bundle_id, &o->uuid);
    bool same = old && strcmp(old->bundle_id, o->bundle_id) == 0 &&
                uuid_equal(&old->stand_in, &o->stand_in);
    size_t count = 0;
    for (size_t i = 0; i < s->stand_ins_count; i++)
        count += is_of(&s->stand_ins[i].row, o->bundle_id, &o->uuid);
    o->existed = count > 0 || (o->on && !o->by_hand && old);
    o->changed = false;
    if (o->on ? !o->by_hand && old : !o->existed)
        return ERR_OK;
    if (o->on && uuid_equal(&o->uuid, &o->stand_in))
        return error_set(err, ERR_CONFLICT, "a symbol file cannot stand in for itself");
    enum err rc = o->on ? check(s, o, err) : ERR_OK;
    if (rc)
        return rc;
    remove_stand_ins(s, o->bundle_id, &o->uuid);
    if (o->on) {
        struct mem_stand_in *row = mem_add(s, stand_ins);
        const char *bundle_id = arena_strdup(&m->arena, o->bundle_id);
        if (!row || !bundle_id)
            return mem_no_memory(err);
        row->row = (struct stand_in_row){o->uuid, o->stand_in, bundle_id, o->by_hand, o->now_ms};
    }
    o->changed = !o->on || !same || count != 1;
    if (o->changed)
        turn_back(s, o);
    return ERR_OK;
}

static int by_uuid(const void *a, const void *b)
{
    const struct stand_in_row *x = a;
    const struct stand_in_row *y = b;
    int order = uuid_compare(&x->uuid, &y->uuid);
    return order ? order : strcmp(x->bundle_id, y->bundle_id);
}

enum err mem_read_stand_ins(struct storage_reader *r, const struct uuid *uuid, struct arena *arena,
                            struct stand_in_row **ret, size_t *ret_count, struct error *err)
{
    const struct mem_state *s = mem_read_state(r);
    size_t count = 0;
    struct stand_in_row *rows = arena_array(arena, s->stand_ins_count + 1, sizeof(*rows));
    if (!rows)
        return mem_no_memory(err);
    for (size_t i = 0; i < s->stand_ins_count; i++) {
        if (!uuid || uuid_equal(&s->stand_ins[i].row.uuid, uuid))
            rows[count++] = s->stand_ins[i].row;
    }
    qsort(rows, count, sizeof(*rows), by_uuid);
    *ret = rows;
    *ret_count = count;
    return ERR_OK;
}

/* The slice in use of the same object, NULL: the object is not in use. */
static const struct slice_row *in_use_of(const struct mem_state *s, const struct slice_row *x)
{
    for (size_t i = 0; i < s->slices_count && x->indexed && !x->lost; i++) {
        const struct slice_row *c = &s->slices[i].row;
        if (c->current && uuid_equal(&c->shelf, &x->shelf) &&
            memcmp(c->object_sha256, x->object_sha256, SHA256_SIZE) == 0)
            return c;
    }
    return NULL;
}

enum err mem_fill_candidates(const struct mem_state *s, const struct build_seen *seen, size_t count,
                             struct missing_row *m, struct arena *arena, struct error *err)
{
    struct candidates list;
    const struct stand_in_row *stand_in = mem_stand_in_of(s, m->bundle_id, &m->uuid);
    if (stand_in && mem_serving_slice(s, NULL, true, &stand_in->stand_in) &&
        !mem_serving_slice(s, m->bundle_id, false, &stand_in->stand_in))
        stand_in = NULL; /* what another app owns */
    if (stand_in)
        m->stand_in = arena_memdup(arena, &stand_in->stand_in, sizeof(stand_in->stand_in));
    bool ok = candidates_init(&list, seen, count, arena) && (!stand_in || m->stand_in);
    for (size_t i = 0; i < s->slices_count && ok; i++) {
        const struct slice_row *x = &s->slices[i].row;
        const struct slice_row *c = in_use_of(s, x);
        const struct missing_candidate offer = {
            .uuid = x->image, .version = x->version, .build = x->build, .has_dwarf = x->has_dwarf};
        if (c && *c->name && strcmp(c->name, m->name) == 0 &&
            (!m->arch || strcmp(c->arch, m->arch) == 0) && *x->bundle_id &&
            strcmp(x->bundle_id, m->bundle_id) == 0 && *x->version)
            ok = candidates_offer(&list, &offer, s->slices[i].id, arena);
    }
    m->candidates = list.items;
    m->candidate_count = list.count;
    return ok ? ERR_OK : mem_no_memory(err);
}
