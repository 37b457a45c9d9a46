/* The memory backend's uploads, tokens and repending. */
#include <stdlib.h>
#include <string.h>

#include "storage/memory_state.h"

static const char *keep(struct mem_storage *m, const char *text)
{
    return arena_strdup(&m->arena, text ? text : "");
}

enum err mem_write_upload(struct mem_storage *m, struct write_op *op, struct error *err)
{
    struct op_upload *u = &op->u.upload;
    struct mem_upload *row = mem_add(m->work, uploads);
    if (!row)
        return mem_no_memory(err);
    u->id = row->row.id = m->work->next_upload++;
    memcpy(row->row.sha256, u->sha256, sizeof(u->sha256));
    row->row.state = UPLOAD_QUEUED;
    row->row.size = u->size;
    row->row.created_ms = u->now_ms;
    row->row.system = u->system;
    row->row.bound = u->bound;
    row->row.spool_file = keep(m, u->spool_file);
    row->bundle_id = keep(m, u->bundle_id);
    row->version = keep(m, u->version);
    row->build = keep(m, u->build);
    row->os_build = keep(m, u->os_build);
    bool ok = row->row.spool_file && row->bundle_id && row->version && row->build && row->os_build;
    enum err rc = ok ? ERR_OK : mem_no_memory(err);
    if (!rc && u->open_id)
        rc = mem_end_open_upload(m, u, err);
    if (!rc && u->protect) {
        struct write_op protect = {.u.protect = {.bundle_id = u->bundle_id,
                                                 .version = u->version,
                                                 .build = u->build,
                                                 .os_build = u->os_build,
                                                 .on = true,
                                                 .now_ms = u->now_ms}};
        rc = mem_write_protect(m, &protect, err);
    }
    return rc;
}

static enum err add_slice(struct mem_storage *m, const struct mem_upload *u,
                          const struct op_slice *x, int64_t now_ms, struct error *err)
{
    struct mem_slice *row = mem_add(m->work, slices);
    if (!row)
        return mem_no_memory(err);
    row->id = m->work->next_slice++;
    row->row = (struct slice_row){
        .id = row->id,
        .shelf = x->shelf,
        .image = *op_slice_image(x),
        .name = keep(m, x->name),
        .member = keep(m, x->member),
        .arch = keep(m, x->arch),
        .reason = x->reason ? keep(m, x->reason) : NULL,
        .indexed = x->indexed,
        .has_dwarf = x->has_dwarf,
        .functions = x->functions,
        .lines = x->lines,
        .inlines = x->inlines,
        .index_bytes = x->index_bytes,
        .text_vmaddr = x->text_vmaddr,
        .text_size = x->text_size,
        .object_bytes = x->object_bytes,
        .upload_id = u->row.id,
        .created_ms = now_ms,
        .current = x->indexed && x->installed,
        .system = u->row.system,
        .bound = u->row.bound,
        .bundle_id = u->bundle_id,
        .version = u->version,
        .build = u->build,
        .os_build = u->os_build,
    };
    memcpy(row->row.object_sha256, x->object_sha256, sizeof(x->object_sha256));
    bool ok = row->row.name && row->row.member && row->row.arch && (row->row.reason || !x->reason);
    return ok ? ERR_OK : mem_no_memory(err);
}

static void drop_slices_of(struct mem_state *s, uint64_t upload_id)
{
    for (size_t i = 0; i < s->slices_count;) {
        if (s->slices[i].row.upload_id == upload_id)
            mem_remove(s, slices, i);
        else
            i++;
    }
    mem_orphan_objects(s);
}

/* UUIDs whose facts are new, each once. */
struct news {
    struct uuid *items;
    size_t count;
};

static void note(struct news *n, const struct uuid *uuid)
{
    if (!uuid_is_in(n->items, n->count, uuid))
        n->items[n->count++] = *uuid;
}

static enum err store_slice(struct mem_storage *m, const struct mem_upload *u,
                            const struct op_slice *x, int64_t now_ms, struct news *installed,
                            struct news *replaced, struct error *err)
{
    struct mem_state *s = m->work;
    const struct uuid *image = op_slice_image(x);
    bool placed = false;
    enum err rc = mem_shelf_note(m, &x->shelf, image, u->bundle_id, err);
    if (rc)
        return rc;
    if (x->indexed && x->installed) {
        struct mem_slice *old = (struct mem_slice *)mem_current_slice(s, &x->shelf);
        if (old)
            old->row.current = false;
        if (old || mem_has_rival(s, &x->shelf, image))
            note(replaced, &x->shelf);
        note(installed, &x->shelf);
        mem_stand_in_end(s, &x->shelf);
    }
    rc = add_slice(m, u, x, now_ms, err);
    if (!rc)
        rc = mem_note_object(m, x, u->row.system, now_ms, err);
    if (!rc && x->indexed)
        rc = mem_learn_layout(m, &x->shelf, x->text_vmaddr, x->text_size, &placed, err);
    for (size_t i = 0; i < s->members_count && placed && !rc; i++) {
        if (uuid_equal(&s->members[i].uuid, image)) {
            mem_disturb(s, &s->members[i].group);
            note(installed, &s->members[i].group);
        }
    }
    return rc;
}

static int by_id(const void *a, const void *b)
{
    const struct mem_stack *x = *(struct mem_stack *const *)a;
    const struct mem_stack *y = *(struct mem_stack *const *)b;
    return (x->id > y->id) - (x->id < y->id);
}

static bool concerned(const struct mem_state *s, const struct mem_stack *k, const struct news *n,
                      bool all_users)
{
    for (size_t i = 0; i < n->count; i++) {
        const struct uuid *image = mem_shelf_image(s, &n->items[i]);
        if (mem_shelf_serves(s, &n->items[i], s->apps[k->app].bundle_id) &&
            (all_users ? mem_uses(k, image) : mem_misses(k, image)))
            return true;
    }
    return false;
}

/* First id above `after_id`, of stacks and of the rows that stand for apps. */
static uint64_t next_id(const struct mem_state *s, uint64_t after_id)
{
    uint64_t next = 0;
    for (size_t i = 0; i < s->stacks_count; i++) {
        if (s->stacks[i].id > after_id && (!next || s->stacks[i].id < next))
            next = s->stacks[i].id;
    }
    for (size_t i = 0; i < s->apps_count; i++) {
        uint64_t id = (uint64_t)s->apps[i].total_id;
        if (id > after_id && (!next || id < next))
            next = id;
    }
    return next;
}

static enum err repend(struct mem_state *s, const struct news *n, struct op_repend *o,
                       struct error *err)
{
    uint64_t end = UINT64_MAX;
    size_t count = 0;
    struct mem_stack **hit = calloc(s->stacks_count + 1, sizeof(struct mem_stack *));
    if (!hit)
        return mem_no_memory(err);
    for (size_t i = 0; i < n->count && o->after_id == 0; i++)
        mem_stand_in_changed(s, &n->items[i]);
    if (o->all_users) {
        uint64_t next = next_id(s, o->after_id);
        end = next ? next - 1 + REPEND_CHUNK : o->after_id;
    }
    for (size_t i = 0; i < s->stacks_count; i++) {
        struct mem_stack *k = &s->stacks[i];
        if (k->id > o->after_id && k->id <= end && concerned(s, k, n, o->all_users))
            hit[count++] = k;
    }
    qsort(hit, count, sizeof(struct mem_stack *), by_id);
    o->more = o->all_users ? end > o->after_id : count > REPEND_CHUNK;
    o->count = count < REPEND_CHUNK ? count : REPEND_CHUNK;
    for (size_t i = 0; i < o->count; i++)
        mem_repend_stack(hit[i]);
    if (o->all_users)
        o->after_id = end;
    else if (o->count)
        o->after_id = hit[o->count - 1]->id;
    free(hit);
    return ERR_OK;
}

static enum err note_rest(struct mem_storage *m, const struct news *n, const struct op_repend *o,
                          struct error *err)
{
    enum err rc = ERR_OK;
    for (size_t i = 0; i < n->count && o->more && !rc; i++)
        rc = mem_queue_turn_back(m, &n->items[i], o->all_users, err);
    return rc;
}

/* The last chunk was looked for. */
static void settle(struct mem_state *s, const struct op_repend *o)
{
    for (size_t i = s->turn_backs_count; i > 0; i--) {
        const struct turn_back_row *row = &s->turn_backs[i - 1].row;
        bool told = uuid_equal(&row->uuid, &o->uuid);
        for (size_t k = 0; k < o->other_count && !told; k++)
            told = uuid_equal(&row->uuid, &o->others[k]);
        if (told && row->all_users <= o->all_users)
            mem_remove(s, turn_backs, i - 1);
    }
    for (size_t i = 0; i <= o->other_count; i++)
        mem_shelf_end(s, i ? &o->others[i - 1] : &o->uuid);
}

enum err mem_write_upload_state(struct mem_storage *m, struct write_op *op, struct error *err)
{
    const struct op_upload_state *o = &op->u.upload_state;
    struct mem_state *s = m->work;
    struct mem_upload *u = NULL;
    bool ended = o->state == UPLOAD_INDEXED || o->state == UPLOAD_FAILED;
    for (size_t i = 0; i < s->uploads_count && !u; i++) {
        if (s->uploads[i].row.id == o->id)
            u = &s->uploads[i];
    }
    if (!u)
        return error_set(err, ERR_NOT_FOUND, "there is no upload %llu", (unsigned long long)o->id);
    u->row.state = o->state;
    u->row.reason = o->reason ? keep(m, o->reason) : NULL;
    u->slice_count = ended ? o->slice_count : 0;
    if (!ended)
        return ERR_OK;
    drop_slices_of(s, o->id);
    size_t room = o->slice_count + s->members_count * o->slice_count + 1;
    struct news installed = {calloc(room, sizeof(struct uuid)), 0};
    struct news replaced = {calloc(room, sizeof(struct uuid)), 0};
    enum err rc = installed.items && replaced.items ? ERR_OK : mem_no_memory(err);
    for (size_t i = 0; i < o->slice_count && !rc; i++)
        rc = store_slice(m, u, &o->slices[i], o->now_ms, &installed, &replaced, err);
    struct op_repend missing = {.all_users = false};
    struct op_repend users = {.all_users = true};
    if (!rc && installed.count)
        rc = repend(s, &installed, &missing, err);
    if (!rc && replaced.count)
        rc = repend(s, &replaced, &users, err);
    if (!rc)
        rc = note_rest(m, &installed, &missing, err);
    if (!rc)
        rc = note_rest(m, &replaced, &users, err);
    free(installed.items);
    free(replaced.items);
    return rc;
}

enum err mem_write_repend(struct mem_storage *m, struct write_op *op, struct error *err)
{
    struct mem_state *s = m->work;
    struct op_repend *o = &op->u.repend;
    struct news uuids = {calloc(s->members_count + o->other_count + 1, sizeof(struct uuid)), 0};
    if (!uuids.items)
        return mem_no_memory(err);
    for (size_t k = 0; k <= o->other_count; k++) {
        const struct uuid *uuid = k ? &o->others[k - 1] : &o->uuid;
        note(&uuids, uuid);
        for (size_t i = 0; i < s->members_count; i++) {
            if (uuid_equal(&s->members[i].uuid, mem_shelf_image(s, uuid)))
                note(&uuids, &s->members[i].group);
        }
    }
    enum err rc = repend(s, &uuids, o, err);
    if (!rc && o->settles && !o->more)
        settle(s, o);
    free(uuids.items);
    return rc;
}

static enum err delete_shelf(struct mem_storage *m, const struct uuid *shelf, bool *ret_existed,
                             struct error *err)
{
    struct mem_state *s = m->work;
    bool existed = false;
    for (size_t i = s->slices_count; i > 0; i--) {
        if (!uuid_equal(&s->slices[i - 1].row.shelf, shelf))
            continue;
        mem_remove(s, slices, i - 1);
        existed = true;
    }
    mem_orphan_objects(s);
    *ret_existed |= existed;
    return existed ? mem_queue_refit(m, shelf, true, err) : ERR_OK;
}

enum err mem_write_symbol_delete(struct mem_storage *m, struct write_op *op, struct error *err)
{
    struct op_symbol_delete *o = &op->u.symbol_delete;
    o->existed = false;
    enum err rc = delete_shelf(m, &o->shelf, &o->existed, err);
    for (size_t i = 0; i < o->other_count && !rc; i++)
        rc = delete_shelf(m, &o->others[i], &o->existed, err);
    return rc;
}

enum err mem_write_token(struct mem_storage *m, struct write_op *op, struct error *err)
{
    struct mem_state *s = m->work;
    struct op_token *t = &op->u.token;
    for (size_t i = 0; i < s->tokens_count; i++) {
        if (memcmp(s->tokens[i].row.hash, t->hash, sizeof(t->hash)) == 0) {
            t->id = s->tokens[i].row.id;
            return ERR_OK;
        }
    }
    struct mem_token *row = mem_add(s, tokens);
    if (!row)
        return mem_no_memory(err);
    row->row = (struct token_row){
        .id = s->next_token++,
        .scopes = t->scopes,
        .name = keep(m, t->name),
        .bundle_id = t->bundle_id ? keep(m, t->bundle_id) : NULL,
        .created_ms = t->now_ms,
    };
    memcpy(row->row.hash, t->hash, sizeof(t->hash));
    t->id = row->row.id;
    return row->row.name && (row->row.bundle_id || !t->bundle_id) ? ERR_OK : mem_no_memory(err);
}

enum err mem_write_token_revoke(struct mem_storage *m, struct write_op *op, struct error *err)
{
    struct mem_state *s = m->work;
    struct op_token *t = &op->u.token;
    (void)err;
    t->existed = false;
    for (size_t i = 0; i < s->tokens_count && !t->existed; i++) {
        if (s->tokens[i].row.id == t->id) {
            mem_remove(s, tokens, i);
            t->existed = true;
        }
    }
    return ERR_OK;
}
