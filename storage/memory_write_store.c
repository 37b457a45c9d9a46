/* The memory backend's symbol store: deleted uploads, refits, objects, protected builds, pieces. */
#include <string.h>

#include "storage/memory_state.h"

static const char *keep(struct mem_storage *m, const char *text)
{
    return arena_strdup(&m->arena, text ? text : "");
}

enum err mem_queue_refit(struct mem_storage *m, const struct uuid *uuid, bool deleted,
                         struct error *err)
{
    struct mem_state *s = m->work;
    for (size_t i = 0; i < s->refits_count; i++) {
        if (!uuid_equal(&s->refits[i].row.shelf, uuid))
            continue;
        s->refits[i].row.deleted |= deleted;
        return ERR_OK;
    }
    struct mem_refit *row = mem_add(s, refits);
    if (!row)
        return mem_no_memory(err);
    row->row = (struct refit_row){*uuid, deleted};
    return ERR_OK;
}

enum err mem_queue_turn_back(struct mem_storage *m, const struct uuid *uuid, bool all_users,
                             struct error *err)
{
    struct mem_state *s = m->work;
    for (size_t i = 0; i < s->turn_backs_count; i++) {
        if (!uuid_equal(&s->turn_backs[i].row.uuid, uuid))
            continue;
        s->turn_backs[i].row.all_users |= all_users;
        return ERR_OK;
    }
    struct mem_turn_back *row = mem_add(s, turn_backs);
    if (!row)
        return mem_no_memory(err);
    row->row = (struct turn_back_row){*uuid, all_users};
    return ERR_OK;
}

/* --- objects ---------------------------------------------------------------------------------- */

enum err mem_note_object(struct mem_storage *m, const struct op_slice *x, bool system,
                         int64_t now_ms, struct error *err)
{
    struct mem_state *s = m->work;
    for (size_t i = 0; i < s->slices_count && x->indexed; i++) {
        struct slice_row *row = &s->slices[i].row;
        if (uuid_equal(&row->shelf, &x->shelf) &&
            memcmp(row->object_sha256, x->object_sha256, SHA256_SIZE) == 0)
            row->lost = false;
    }
    if (!x->object_kept)
        return ERR_OK;
    for (size_t i = 0; i < s->objects_count; i++) {
        struct object_row *row = &s->objects[i].row;
        if (memcmp(row->sha256, x->object_sha256, SHA256_SIZE) != 0)
            continue;
        if (row->used_ms < now_ms)
            row->used_ms = now_ms;
        return ERR_OK;
    }
    struct mem_object *object = mem_add(s, objects);
    if (!object)
        return mem_no_memory(err);
    memcpy(object->row.sha256, x->object_sha256, SHA256_SIZE);
    object->row.bytes = x->object_bytes;
    object->row.used_ms = now_ms;
    object->system = system;
    return ERR_OK;
}

void mem_orphan_objects(struct mem_state *s)
{
    for (size_t i = 0; i < s->objects_count; i++) {
        bool used = false;
        for (size_t k = 0; k < s->slices_count && !used; k++)
            used =
                memcmp(s->slices[k].row.object_sha256, s->objects[i].row.sha256, SHA256_SIZE) == 0;
        if (!used)
            s->objects[i].row.used_ms = -1;
    }
}

static void use_object(struct mem_state *s, const uint8_t sha256[SHA256_SIZE], int64_t now_ms)
{
    for (size_t i = 0; i < s->objects_count; i++) {
        struct object_row *row = &s->objects[i].row;
        if (memcmp(row->sha256, sha256, SHA256_SIZE) == 0 && row->used_ms >= 0 &&
            row->used_ms < now_ms)
            row->used_ms = now_ms;
    }
}

enum err mem_write_objects(struct mem_storage *m, struct write_op *op, struct error *err)
{
    struct mem_state *s = m->work;
    const struct op_objects *o = &op->u.objects;
    (void)err;
    for (size_t i = 0; i < o->used_count; i++) {
        for (size_t k = 0; k < s->slices_count; k++) {
            const struct slice_row *x = &s->slices[k].row;
            if (x->indexed && uuid_equal(&x->shelf, &o->used[i]))
                use_object(s, x->object_sha256, o->now_ms);
        }
    }
    for (size_t i = 0; i < o->dropped_count; i++) {
        for (size_t k = s->objects_count; k > 0; k--) {
            if (memcmp(s->objects[k - 1].row.sha256, o->dropped[i], SHA256_SIZE) == 0)
                mem_remove(s, objects, k - 1);
        }
    }
    return ERR_OK;
}

/* --- uploads and their indexes ---------------------------------------------------------------- */

/* The same object in another upload, the newest; NULL without one. */
static struct slice_row *heir_of(struct mem_state *s, const struct slice_row *x)
{
    for (size_t i = s->slices_count; i > 0; i--) {
        struct slice_row *y = &s->slices[i - 1].row;
        if (y->upload_id != x->upload_id && y->indexed && !y->lost &&
            uuid_equal(&y->shelf, &x->shelf) &&
            memcmp(y->object_sha256, x->object_sha256, SHA256_SIZE) == 0)
            return y;
    }
    return NULL;
}

static bool is_current_elsewhere(const struct mem_state *s, const struct slice_row *x)
{
    for (size_t i = 0; i < s->slices_count; i++) {
        const struct slice_row *y = &s->slices[i].row;
        if (y->current && y->upload_id != x->upload_id && uuid_equal(&y->shelf, &x->shelf))
            return true;
    }
    return false;
}

static enum err hand_over(struct mem_storage *m, uint64_t upload_id, struct error *err)
{
    struct mem_state *s = m->work;
    enum err rc = ERR_OK;
    for (size_t i = 0; i < s->slices_count; i++) {
        struct slice_row *x = &s->slices[i].row;
        struct slice_row *heir = x->upload_id == upload_id && x->current ? heir_of(s, x) : NULL;
        if (heir)
            heir->current = true;
    }
    for (size_t i = 0; i < s->slices_count && !rc; i++) {
        const struct slice_row *x = &s->slices[i].row;
        if (x->upload_id == upload_id && x->indexed)
            rc = mem_queue_refit(m, &x->shelf, x->current && !is_current_elsewhere(s, x), err);
    }
    return rc;
}

enum err mem_write_upload_delete(struct mem_storage *m, struct write_op *op, struct error *err)
{
    struct mem_state *s = m->work;
    struct op_upload_delete *o = &op->u.upload_delete;
    size_t at = 0;
    while (at < s->uploads_count && s->uploads[at].row.id != o->id)
        at++;
    o->existed = at < s->uploads_count;
    if (!o->existed)
        return ERR_OK;
    if (s->uploads[at].row.state < UPLOAD_INDEXED)
        return error_set(err, ERR_CONFLICT, "the upload is not indexed yet");
    enum err rc = hand_over(m, o->id, err);
    if (rc)
        return rc;
    mem_remove(s, uploads, at);
    for (size_t i = s->slices_count; i > 0; i--) {
        if (s->slices[i - 1].row.upload_id == o->id)
            mem_remove(s, slices, i - 1);
    }
    for (size_t i = s->opens_count; i > 0; i--) {
        if (s->opens[i - 1].row.upload_id == o->id)
            mem_remove(s, opens, i - 1);
    }
    mem_orphan_objects(s);
    return ERR_OK;
}

enum err mem_write_refit(struct mem_storage *m, struct write_op *op, struct error *err)
{
    const struct op_refit *o = &op->u.refit;
    enum err rc = ERR_OK;
    for (size_t i = 0; i < o->count && !rc; i++)
        rc = mem_queue_refit(m, &o->shelves[i], o->all_users, err);
    return rc;
}

/* Marks the rows of the UUID; false when the slice that shall be in use is not there any more. */
static bool mark_slices(struct mem_state *s, const struct op_refitted *o)
{
    bool found = o->slice_id == 0;
    for (size_t i = 0; i < s->slices_count; i++) {
        struct mem_slice *x = &s->slices[i];
        if (!uuid_equal(&x->row.shelf, &o->shelf))
            continue;
        for (size_t k = 0; k < o->lost_count; k++)
            x->row.lost |= o->lost[k] == x->id;
        x->row.current = o->slice_id != 0 && x->id == o->slice_id;
        if (!x->row.current)
            continue;
        found = true;
        x->row.lost = false;
        if (o->index_bytes) {
            x->row.index_bytes = o->index_bytes;
            x->row.functions = o->functions;
        }
    }
    return found;
}

enum err mem_write_refitted(struct mem_storage *m, struct write_op *op, struct error *err)
{
    struct mem_state *s = m->work;
    const struct op_refitted *o = &op->u.refitted;
    if (!mark_slices(s, o))
        return ERR_OK;
    if (o->slice_id)
        mem_stand_in_end(s, &o->shelf);
    for (size_t i = s->refits_count; i > 0; i--) {
        if (uuid_equal(&s->refits[i - 1].row.shelf, &o->shelf))
            mem_remove(s, refits, i - 1);
    }
    return mem_queue_turn_back(m, &o->shelf, o->all_users, err);
}

/* --- protected builds ------------------------------------------------------------------------- */

enum err mem_write_protect(struct mem_storage *m, struct write_op *op, struct error *err)
{
    struct mem_state *s = m->work;
    struct op_protect *o = &op->u.protect;
    size_t at = 0;
    while (at < s->protecteds_count &&
           (strcmp(s->protecteds[at].row.bundle_id, o->bundle_id) != 0 ||
            strcmp(s->protecteds[at].row.version, o->version) != 0 ||
            strcmp(s->protecteds[at].row.build, o->build) != 0 ||
            strcmp(s->protecteds[at].row.os_build, o->os_build) != 0))
        at++;
    o->existed = at < s->protecteds_count;
    if (o->existed && !o->on)
        mem_remove(s, protecteds, at);
    if (o->existed || !o->on)
        return ERR_OK;
    if (s->protecteds_count >= PROTECTED_MAX)
        return error_set(err, ERR_LIMIT, "%d builds are protected already", PROTECTED_MAX);
    struct mem_protected *p = mem_add(s, protecteds);
    if (!p)
        return mem_no_memory(err);
    p->row = (struct protected_row){keep(m, o->bundle_id), keep(m, o->version), keep(m, o->build),
                                    keep(m, o->os_build), o->now_ms};
    bool ok = p->row.bundle_id && p->row.version && p->row.build && p->row.os_build;
    return ok ? ERR_OK : mem_no_memory(err);
}

/* --- uploads in pieces ------------------------------------------------------------------------ */

static struct open_upload_row *open_of(struct mem_state *s, const uint8_t id[OPEN_UPLOAD_ID_SIZE])
{
    for (size_t i = 0; i < s->opens_count; i++) {
        if (memcmp(s->opens[i].row.id, id, OPEN_UPLOAD_ID_SIZE) == 0)
            return &s->opens[i].row;
    }
    return NULL;
}

static bool is_same(const struct open_upload_row *x, const struct op_open_upload *o)
{
    return x->upload_id == 0 && x->size == o->size && x->system == o->system &&
           x->protect == o->protect && x->bound == o->bound &&
           memcmp(x->sha256, o->sha256, SHA256_SIZE) == 0 &&
           strcmp(x->bundle_id, o->bundle_id) == 0 && strcmp(x->version, o->version) == 0 &&
           strcmp(x->build, o->build) == 0 && strcmp(x->os_build, o->os_build) == 0;
}

static struct open_upload_row *find_open(struct mem_state *s, const struct op_open_upload *o)
{
    struct open_upload_row *best = NULL;
    for (size_t i = 0; i < s->opens_count; i++) {
        struct open_upload_row *x = &s->opens[i].row;
        if (is_same(x, o) && (!best || memcmp(x->id, best->id, sizeof(x->id)) < 0))
            best = x;
    }
    return best;
}

static enum err add_open(struct mem_storage *m, const struct op_open_upload *o, struct error *err)
{
    struct mem_state *s = m->work;
    uint64_t count = 0, bytes = 0, app_count = 0, app_bytes = 0;
    for (size_t i = 0; i < s->opens_count; i++) {
        const struct open_upload_row *x = &s->opens[i].row;
        bool counts = x->upload_id == 0;
        bool of_app = counts && strcmp(x->bundle_id, o->bundle_id) == 0;
        count += counts;
        bytes += counts ? x->size : 0;
        app_count += of_app;
        app_bytes += of_app ? x->size : 0;
    }
    if (o->max_open_app && app_count >= o->max_open_app)
        return error_set(err, ERR_LIMIT, "too many uploads of this app are open");
    if (o->max_bytes_app &&
        (app_bytes > o->max_bytes_app || o->size > o->max_bytes_app - app_bytes))
        return error_set(err, ERR_LIMIT,
                         "uploads of this app that are open are too large together");
    if (count >= o->max_open)
        return error_set(err, ERR_LIMIT, "too many uploads are open");
    if (bytes > o->max_bytes || o->size > o->max_bytes - bytes)
        return error_set(err, ERR_LIMIT, "uploads that are open are too large together");
    if (open_of(s, o->id))
        return error_set(err, ERR_CONFLICT, "the id is taken");
    struct mem_open *x = mem_add(s, opens);
    if (!x)
        return mem_no_memory(err);
    x->row = (struct open_upload_row){.size = o->size,
                                      .spool_file = keep(m, o->spool_file),
                                      .bundle_id = keep(m, o->bundle_id),
                                      .version = keep(m, o->version),
                                      .build = keep(m, o->build),
                                      .os_build = keep(m, o->os_build),
                                      .system = o->system,
                                      .protect = o->protect,
                                      .bound = o->bound,
                                      .touched_ms = o->now_ms};
    memcpy(x->row.id, o->id, sizeof(o->id));
    memcpy(x->row.sha256, o->sha256, sizeof(o->sha256));
    bool ok =
        x->row.spool_file && x->row.bundle_id && x->row.version && x->row.build && x->row.os_build;
    return ok ? ERR_OK : mem_no_memory(err);
}

enum err mem_write_open_upload(struct mem_storage *m, struct write_op *op, struct error *err)
{
    struct op_open_upload *o = &op->u.open_upload;
    struct open_upload_row *x = find_open(m->work, o);
    o->resumed = x != NULL;
    o->received = 0;
    if (!x)
        return add_open(m, o, err);
    memcpy(o->id, x->id, sizeof(x->id));
    o->received = x->received;
    x->touched_ms = o->now_ms;
    return ERR_OK;
}

enum err mem_write_piece(struct mem_storage *m, struct write_op *op, struct error *err)
{
    const struct op_piece *o = &op->u.piece;
    struct open_upload_row *x = open_of(m->work, o->id);
    if (!x)
        return error_set(err, ERR_NOT_FOUND, "no such upload");
    if (x->received != o->before || x->upload_id != 0)
        return error_set(err, ERR_CONFLICT, "another piece came first");
    x->received = o->received;
    x->touched_ms = o->now_ms;
    x->hash_state_len = o->hash_state ? o->hash_state_len : 0;
    x->hash_state =
        o->hash_state ? arena_memdup(&m->arena, o->hash_state, o->hash_state_len) : NULL;
    return x->hash_state || !o->hash_state ? ERR_OK : mem_no_memory(err);
}

enum err mem_end_open_upload(struct mem_storage *m, const struct op_upload *u, struct error *err)
{
    struct open_upload_row *x = open_of(m->work, u->open_id);
    if (!x || x->upload_id != 0)
        return error_set(err, ERR_CONFLICT, "the upload is not open any more");
    x->upload_id = u->id;
    x->hash_state = NULL;
    x->hash_state_len = 0;
    return ERR_OK;
}

enum err mem_write_open_drop(struct mem_storage *m, struct write_op *op, struct error *err)
{
    struct mem_state *s = m->work;
    struct op_open_drop *o = &op->u.open_drop;
    (void)err;
    o->existed = false;
    for (size_t i = s->opens_count; i > 0; i--) {
        if (memcmp(s->opens[i - 1].row.id, o->id, sizeof(o->id)) != 0)
            continue;
        mem_remove(s, opens, i - 1);
        o->existed = true;
    }
    return ERR_OK;
}
