/* The memory backend's stand-ins. */
#include <stdlib.h>
#include <string.h>

#include "storage/memory_read.h"

const struct stand_in_row *mem_stand_in_of(const struct mem_state *s, const struct uuid *uuid)
{
    for (size_t i = 0; i < s->stand_ins_count; i++) {
        if (uuid_equal(&s->stand_ins[i].row.uuid, uuid))
            return &s->stand_ins[i].row;
    }
    return NULL;
}

void mem_stand_in_end(struct mem_state *s, const struct uuid *uuid)
{
    for (size_t i = 0; i < s->stand_ins_count; i++) {
        if (uuid_equal(&s->stand_ins[i].row.uuid, uuid)) {
            mem_remove(s, stand_ins, i);
            return;
        }
    }
}

static void turn_back(struct mem_state *s, const struct uuid *uuid)
{
    for (size_t i = 0; i < s->stacks_count; i++) {
        if (mem_misses(&s->stacks[i], uuid))
            mem_repend_stack(&s->stacks[i]);
    }
}

/* Each stack once. */
void mem_stand_in_changed(struct mem_state *s, const struct uuid *uuid)
{
    for (size_t i = 0; i < s->stacks_count; i++) {
        bool used = false;
        bool serves = mem_shelf_serves(s, uuid, s->apps[s->stacks[i].app].bundle_id);
        for (size_t k = 0; k < s->stand_ins_count && serves && !used; k++)
            used = uuid_equal(&s->stand_ins[k].row.stand_in, mem_shelf_image(s, uuid)) &&
                   mem_misses(&s->stacks[i], &s->stand_ins[k].row.uuid);
        if (used)
            mem_repend_stack(&s->stacks[i]);
    }
}

static bool may_stand_in(const struct mem_state *s, const struct uuid *stand_in,
                         const struct image_row *image)
{
    bool may = !*image->name;
    for (size_t i = 0; i < s->slices_count && !may; i++) {
        const struct slice_row *x = &s->slices[i].row;
        may = x->current && uuid_equal(&x->image, stand_in) && strcmp(x->name, image->name) == 0 &&
              (!image->arch || !*x->arch || strcmp(x->arch, image->arch) == 0);
    }
    return may;
}

static enum err check(const struct mem_state *s, const struct op_stand_in *o, struct error *err)
{
    const struct mem_slice *x = mem_serving_slice(s, NULL, true, &o->stand_in);
    if (mem_current_slice(s, &o->uuid))
        return error_set(err, ERR_CONFLICT, "its own symbol file is here");
    if (!x)
        return error_set(err, ERR_NOT_FOUND, "no symbol file with the UUID of the stand-in");
    for (size_t i = 0; i < s->images_count; i++) {
        if (uuid_equal(&s->images[i].row.id, &o->uuid) &&
            !may_stand_in(s, &o->stand_in, &s->images[i].row))
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
    const struct stand_in_row *old = mem_stand_in_of(s, &o->uuid);
    struct uuid before = old ? old->stand_in : (struct uuid){{0}};
    o->existed = old != NULL;
    o->changed = false;
    if ((!o->on && !old) || (o->on && old && !o->by_hand))
        return ERR_OK;
    if (o->on) {
        if (uuid_equal(&o->uuid, &o->stand_in))
            return error_set(err, ERR_CONFLICT, "a symbol file cannot stand in for itself");
        enum err rc = check(s, o, err);
        if (rc)
            return rc;
    }
    mem_stand_in_end(s, &o->uuid);
    if (o->on) {
        struct mem_stand_in *row = mem_add(s, stand_ins);
        if (!row)
            return mem_no_memory(err);
        row->row = (struct stand_in_row){o->uuid, o->stand_in, o->by_hand, o->now_ms};
    }
    o->changed = !o->on || !o->existed || !uuid_equal(&before, &o->stand_in);
    if (o->changed) {
        turn_back(s, &o->uuid);
        mem_disturb(s, &o->uuid);
    }
    return ERR_OK;
}

static int by_uuid(const void *a, const void *b)
{
    const struct stand_in_row *x = a;
    const struct stand_in_row *y = b;
    return uuid_compare(&x->uuid, &y->uuid);
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
        if (c->current && uuid_equal(&c->uuid, &x->uuid) &&
            memcmp(c->object_sha256, x->object_sha256, SHA256_SIZE) == 0)
            return c;
    }
    return NULL;
}

enum err mem_fill_candidates(const struct mem_state *s, const struct build_seen *seen, size_t count,
                             struct missing_row *m, struct arena *arena, struct error *err)
{
    struct candidates list;
    const struct stand_in_row *stand_in = mem_stand_in_of(s, &m->uuid);
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
