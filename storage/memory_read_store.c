/* The memory backend's reads about the symbol store. */
#include <stdlib.h>
#include <string.h>

#include "storage/memory_read.h"

static int by_uuid(const void *a, const void *b)
{
    const struct refit_row *x = a;
    const struct refit_row *y = b;
    return uuid_compare(&x->shelf, &y->shelf);
}

enum err mem_read_refits(struct storage_reader *r, size_t limit, struct arena *arena,
                         struct refit_row **ret, size_t *ret_count, struct error *err)
{
    const struct mem_state *s = mem_read_state(r);
    struct refit_row *rows = arena_array(arena, s->refits_count + 1, sizeof(*rows));
    if (!rows)
        return mem_no_memory(err);
    for (size_t i = 0; i < s->refits_count; i++)
        rows[i] = s->refits[i].row;
    qsort(rows, s->refits_count, sizeof(*rows), by_uuid);
    *ret = rows;
    *ret_count = s->refits_count < limit ? s->refits_count : limit;
    return ERR_OK;
}

static int by_turn_back(const void *a, const void *b)
{
    const struct turn_back_row *x = a;
    const struct turn_back_row *y = b;
    return uuid_compare(&x->uuid, &y->uuid);
}

enum err mem_read_turn_backs(struct storage_reader *r, size_t limit, struct arena *arena,
                             struct turn_back_row **ret, size_t *ret_count, struct error *err)
{
    const struct mem_state *s = mem_read_state(r);
    struct turn_back_row *rows = arena_array(arena, s->turn_backs_count + 1, sizeof(*rows));
    if (!rows)
        return mem_no_memory(err);
    for (size_t i = 0; i < s->turn_backs_count; i++)
        rows[i] = s->turn_backs[i].row;
    qsort(rows, s->turn_backs_count, sizeof(*rows), by_turn_back);
    *ret = rows;
    *ret_count = s->turn_backs_count < limit ? s->turn_backs_count : limit;
    return ERR_OK;
}

static bool fits(const char *rule, const char *value)
{
    return !*rule || strcmp(rule, value) == 0;
}

/* Of a build that is protected? */
static bool is_protected(const struct mem_state *s, const uint8_t sha256[SHA256_SIZE])
{
    for (size_t i = 0; i < s->slices_count; i++) {
        const struct slice_row *x = &s->slices[i].row;
        if (memcmp(x->object_sha256, sha256, SHA256_SIZE) != 0)
            continue;
        for (size_t k = 0; k < s->protecteds_count; k++) {
            const struct protected_row *p = &s->protecteds[k].row;
            if (fits(p->bundle_id, x->bundle_id) && fits(p->version, x->version) &&
                fits(p->build, x->build) && fits(p->os_build, x->os_build))
                return true;
        }
    }
    return false;
}

static int by_use(const void *a, const void *b)
{
    const struct object_row *x = a;
    const struct object_row *y = b;
    if (x->used_ms != y->used_ms)
        return x->used_ms < y->used_ms ? -1 : 1;
    return memcmp(x->sha256, y->sha256, SHA256_SIZE);
}

enum err mem_read_idle_objects(struct storage_reader *r, int64_t app_before_ms,
                               int64_t system_before_ms, size_t limit, struct arena *arena,
                               struct object_row **ret, size_t *ret_count, struct error *err)
{
    const struct mem_state *s = mem_read_state(r);
    size_t count = 0;
    struct object_row *rows = arena_array(arena, s->objects_count + 1, sizeof(*rows));
    if (!rows)
        return mem_no_memory(err);
    for (size_t i = 0; i < s->objects_count; i++) {
        const struct mem_object *o = &s->objects[i];
        if (o->row.used_ms < (o->system ? system_before_ms : app_before_ms) &&
            (o->row.used_ms < 0 || !is_protected(s, o->row.sha256)))
            rows[count++] = o->row;
    }
    qsort(rows, count, sizeof(*rows), by_use);
    *ret = rows;
    *ret_count = count < limit ? count : limit;
    return ERR_OK;
}

/* read_symbols.h says whose an object is. */
static const char *holder_of(const struct mem_state *s, const uint8_t sha256[SHA256_SIZE])
{
    const char *holder = NULL;
    for (size_t i = 0; i < s->slices_count; i++) {
        const struct slice_row *x = &s->slices[i].row;
        if (memcmp(x->object_sha256, sha256, SHA256_SIZE) != 0)
            continue;
        if (x->system || (holder && strcmp(holder, x->bundle_id) != 0))
            return "";
        holder = x->bundle_id;
    }
    return holder ? holder : "";
}

static int by_held(const void *a, const void *b)
{
    const struct object_holder_row *x = a;
    const struct object_holder_row *y = b;
    if (x->bytes != y->bytes)
        return x->bytes > y->bytes ? -1 : 1;
    return strcmp(x->bundle_id, y->bundle_id);
}

enum err mem_read_object_holders(struct storage_reader *r, struct arena *arena,
                                 struct object_holder_row **ret, size_t *ret_count,
                                 struct error *err)
{
    const struct mem_state *s = mem_read_state(r);
    size_t count = 0;
    struct object_holder_row *rows = arena_array(arena, s->objects_count + 1, sizeof(*rows));
    if (!rows)
        return mem_no_memory(err);
    for (size_t i = 0; i < s->objects_count; i++) {
        const char *holder = holder_of(s, s->objects[i].row.sha256);
        size_t at = 0;
        while (at < count && strcmp(rows[at].bundle_id, holder) != 0)
            at++;
        if (at == count)
            rows[count++] = (struct object_holder_row){holder, 0, 0};
        rows[at].bytes += s->objects[i].row.bytes;
        if (is_protected(s, s->objects[i].row.sha256))
            rows[at].fixed += s->objects[i].row.bytes;
    }
    qsort(rows, count, sizeof(*rows), by_held);
    *ret = rows;
    *ret_count = count;
    return ERR_OK;
}

enum err mem_read_held_objects(struct storage_reader *r, const char *holder, size_t limit,
                               struct arena *arena, struct object_row **ret, size_t *ret_count,
                               struct error *err)
{
    const struct mem_state *s = mem_read_state(r);
    size_t count = 0;
    struct object_row *rows = arena_array(arena, s->objects_count + 1, sizeof(*rows));
    if (!rows)
        return mem_no_memory(err);
    for (size_t i = 0; i < s->objects_count; i++) {
        const struct mem_object *o = &s->objects[i];
        if (strcmp(holder_of(s, o->row.sha256), holder) == 0 && !is_protected(s, o->row.sha256))
            rows[count++] = o->row;
    }
    qsort(rows, count, sizeof(*rows), by_use);
    *ret = rows;
    *ret_count = count < limit ? count : limit;
    return ERR_OK;
}

static bool is_for(const struct mem_slice *x, const char *bundle_id)
{
    return !bundle_id || strcmp(x->row.bundle_id, bundle_id) == 0;
}

static bool has_object(const struct mem_state *s, const char *bundle_id,
                       const uint8_t sha256[SHA256_SIZE])
{
    bool has = !bundle_id;
    for (size_t i = 0; i < s->slices_count && !has; i++)
        has = is_for(&s->slices[i], bundle_id) &&
              memcmp(s->slices[i].row.object_sha256, sha256, SHA256_SIZE) == 0;
    return has;
}

enum err mem_read_object_totals(struct storage_reader *r, const char *bundle_id,
                                struct object_totals *ret, struct error *err)
{
    const struct mem_state *s = mem_read_state(r);
    struct object_totals t = {0};
    (void)err;
    for (size_t i = 0; i < s->objects_count; i++) {
        const struct mem_object *o = &s->objects[i];
        if (!has_object(s, bundle_id, o->row.sha256))
            continue;
        t.files++;
        t.bytes += o->row.bytes;
        t.system_files += o->system;
        t.system_bytes += o->system ? o->row.bytes : 0;
    }
    for (size_t i = 0; i < s->slices_count; i++)
        t.index_bytes += s->slices[i].row.current && is_for(&s->slices[i], bundle_id)
                             ? s->slices[i].row.index_bytes
                             : 0;
    *ret = t;
    return ERR_OK;
}

static bool keeps_index(const struct mem_slice *x, const char *bundle_id)
{
    return x->row.indexed && !x->row.lost && is_for(x, bundle_id);
}

/* Another slice of the same object on the same shelf, whose index is the same file. */
static bool is_told_before(const struct mem_state *s, size_t at, const char *bundle_id)
{
    const struct slice_row *row = &s->slices[at].row;
    bool told = false;
    for (size_t i = 0; i < at && !told; i++)
        told = keeps_index(&s->slices[i], bundle_id) &&
               uuid_equal(&s->slices[i].row.shelf, &row->shelf) &&
               memcmp(s->slices[i].row.object_sha256, row->object_sha256, SHA256_SIZE) == 0;
    return told;
}

enum err mem_read_kept_index_bytes(struct storage_reader *r, const char *bundle_id, uint64_t *ret,
                                   struct error *err)
{
    const struct mem_state *s = mem_read_state(r);
    (void)err;
    *ret = 0;
    for (size_t i = 0; i < s->slices_count; i++) {
        if (keeps_index(&s->slices[i], bundle_id) && !is_told_before(s, i, bundle_id))
            *ret += s->slices[i].row.index_bytes;
    }
    return ERR_OK;
}

static int by_build(const void *a, const void *b)
{
    const struct protected_row *x = a;
    const struct protected_row *y = b;
    int order = strcmp(x->bundle_id, y->bundle_id);
    if (!order)
        order = strcmp(x->version, y->version);
    if (!order)
        order = strcmp(x->build, y->build);
    return order ? order : strcmp(x->os_build, y->os_build);
}

enum err mem_read_protected(struct storage_reader *r, const char *bundle_id, struct arena *arena,
                            struct protected_row **ret, size_t *ret_count, struct error *err)
{
    const struct mem_state *s = mem_read_state(r);
    size_t count = 0;
    struct protected_row *rows = arena_array(arena, s->protecteds_count + 1, sizeof(*rows));
    if (!rows)
        return mem_no_memory(err);
    for (size_t i = 0; i < s->protecteds_count; i++) {
        if (!bundle_id || strcmp(s->protecteds[i].row.bundle_id, bundle_id) == 0)
            rows[count++] = s->protecteds[i].row;
    }
    qsort(rows, count, sizeof(*rows), by_build);
    *ret = rows;
    *ret_count = count;
    return ERR_OK;
}

enum err mem_read_open_upload(struct storage_reader *r, const uint8_t id[OPEN_UPLOAD_ID_SIZE],
                              struct arena *arena, struct open_upload_row *ret, struct error *err)
{
    const struct mem_state *s = mem_read_state(r);
    (void)arena;
    for (size_t i = 0; i < s->opens_count; i++) {
        if (memcmp(s->opens[i].row.id, id, OPEN_UPLOAD_ID_SIZE) != 0)
            continue;
        *ret = s->opens[i].row;
        return ERR_OK;
    }
    return error_set(err, ERR_NOT_FOUND, "no such upload");
}

static int by_open_id(const void *a, const void *b)
{
    const struct open_upload_row *x = a;
    const struct open_upload_row *y = b;
    return memcmp(x->id, y->id, sizeof(x->id));
}

enum err mem_read_open_uploads(struct storage_reader *r, const uint8_t *after, int64_t before_ms,
                               size_t limit, struct arena *arena, struct open_upload_row **ret,
                               size_t *ret_count, struct error *err)
{
    const struct mem_state *s = mem_read_state(r);
    size_t count = 0;
    struct open_upload_row *rows = arena_array(arena, s->opens_count + 1, sizeof(*rows));
    if (!rows)
        return mem_no_memory(err);
    for (size_t i = 0; i < s->opens_count; i++) {
        if (s->opens[i].row.touched_ms < before_ms &&
            (!after || memcmp(s->opens[i].row.id, after, OPEN_UPLOAD_ID_SIZE) > 0))
            rows[count++] = s->opens[i].row;
    }
    qsort(rows, count, sizeof(*rows), by_open_id);
    *ret = rows;
    *ret_count = count < limit ? count : limit;
    return ERR_OK;
}
