/* The memory backend's reads for the resolver, the door, and about symbol files. */
#include "storage/memory_read.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "storage/missing_order.h"

#define VERSIONS_MAX 10

enum err mem_read_pending(struct storage_reader *r, uint64_t after_id, size_t limit,
                          struct arena *arena, struct pending_stack **ret, size_t *ret_count,
                          struct error *err)
{
    const struct mem_state *s = mem_read_state(r);
    size_t count = 0;
    struct pending_stack *rows = arena_array(arena, s->stacks_count + 1, sizeof(*rows));
    if (!rows)
        return mem_no_memory(err);
    /* Stacks are in the order of their ids. */
    for (size_t i = 0; i < s->stacks_count && count < limit; i++) {
        const struct mem_stack *k = &s->stacks[i];
        if (k->pending && k->id > after_id)
            rows[count++] = (struct pending_stack){
                .stack_id = k->id,
                .generation = k->generation,
                .app_id = k->app + 1,
                .bundle_id = s->apps[k->app].bundle_id,
                .give_up = k->give_up,
                .raw = k->raw,
                .raw_len = k->raw_len,
            };
    }
    *ret = rows;
    *ret_count = count;
    return ERR_OK;
}

enum err mem_read_image(struct storage_reader *r, const char *bundle_id, const struct uuid *id,
                        struct arena *arena, struct image_row *ret, struct error *err)
{
    const struct mem_state *s = mem_read_state(r);
    const struct mem_slice *x = mem_serving_slice(s, bundle_id, false, id);
    enum image_class by_file = !x              ? IMAGE_CLASS_UNKNOWN
                               : x->row.system ? IMAGE_CLASS_SYSTEM
                                               : IMAGE_CLASS_APP;
    size_t app = mem_app_of(s, bundle_id);
    (void)arena;
    for (size_t i = 0; i < s->images_count; i++) {
        if (s->images[i].app == app && uuid_equal(&s->images[i].row.id, id)) {
            *ret = s->images[i].row;
            if (ret->class == IMAGE_CLASS_UNKNOWN)
                ret->class = by_file;
            return ERR_OK;
        }
    }
    if (!x)
        return error_set(err, ERR_NOT_FOUND, "this image is not known");
    *ret = (struct image_row){*id, IMAGE_UUID, by_file, x->row.name,
                              *x->row.arch ? x->row.arch : NULL};
    return ERR_OK;
}

static int by_vmaddr(const void *a, const void *b)
{
    const struct layout_row *x = a;
    const struct layout_row *y = b;
    if (x->vmaddr != y->vmaddr)
        return x->vmaddr < y->vmaddr ? -1 : 1;
    return uuid_compare(&x->uuid, &y->uuid);
}

/* What the app owns comes before what serves all. */
static bool is_outdone(const struct mem_state *s, const char *bundle_id, const struct uuid *shelf)
{
    for (size_t i = 0; i < s->layouts_count && bundle_id; i++) {
        const struct mem_shelf *own = mem_shelf_of(s, &s->layouts[i].row.uuid);
        if (own && strcmp(own->bundle_id, bundle_id) == 0 && uuid_equal(&own->image, shelf))
            return true;
    }
    return false;
}

enum err mem_read_group(struct storage_reader *r, const char *bundle_id, const struct uuid *group,
                        struct arena *arena, struct layout_row **ret, size_t *ret_count,
                        struct error *err)
{
    const struct mem_state *s = mem_read_state(r);
    size_t app = bundle_id ? mem_app_of(s, bundle_id) : SIZE_MAX;
    size_t count = 0;
    struct layout_row *rows = arena_array(arena, s->layouts_count + 1, sizeof(*rows));
    if (!rows)
        return mem_no_memory(err);
    bool unknown = bundle_id && app == SIZE_MAX;
    for (size_t i = 0; i < s->layouts_count && !unknown; i++) {
        struct layout_row row = s->layouts[i].row;
        row.uuid = *mem_shelf_image(s, &row.uuid);
        if (mem_is_member(s, app, group, &row.uuid) &&
            mem_shelf_serves(s, &s->layouts[i].row.uuid, bundle_id) &&
            !is_outdone(s, bundle_id, &s->layouts[i].row.uuid))
            rows[count++] = row;
    }
    qsort(rows, count, sizeof(*rows), by_vmaddr);
    *ret = rows;
    *ret_count = count;
    return ERR_OK;
}

enum err mem_read_layouts(struct storage_reader *r, size_t limit, struct arena *arena,
                          struct layout_row **ret, size_t *ret_count, struct error *err)
{
    const struct mem_state *s = mem_read_state(r);
    size_t count = 0;
    struct layout_row *rows = arena_array(arena, s->layouts_count + 1, sizeof(*rows));
    if (!rows)
        return mem_no_memory(err);
    for (size_t i = s->layouts_count; i > 0 && count < limit; i--) {
        struct layout_row *row = &rows[count++];
        *row = s->layouts[i - 1].row;
        const struct mem_shelf *own = mem_shelf_of(s, &row->uuid);
        row->uuid = own ? own->image : row->uuid;
        row->own = own ? own->bundle_id : "";
    }
    *ret = rows;
    *ret_count = count;
    return ERR_OK;
}

enum err mem_read_layout_claims(struct storage_reader *r, size_t limit, struct arena *arena,
                                struct layout_claim_row **ret, size_t *ret_count, struct error *err)
{
    const struct mem_state *s = mem_read_state(r);
    size_t count = 0;
    struct layout_claim_row *rows = arena_array(arena, s->claims_count + 1, sizeof(*rows));
    if (!rows)
        return mem_no_memory(err);
    for (size_t i = s->claims_count; i > 0 && count < limit; i--) {
        const struct mem_claim *c = &s->claims[i - 1];
        rows[count++] = (struct layout_claim_row){c->uuid, c->vmaddr, s->apps[c->app].bundle_id};
    }
    *ret = rows;
    *ret_count = count;
    return ERR_OK;
}

enum err mem_read_image_set(struct storage_reader *r, const char *bundle_id, const char *image_set,
                            struct arena *arena, const void **ret, size_t *ret_len,
                            struct error *err)
{
    const struct mem_state *s = mem_read_state(r);
    size_t app = mem_app_of(s, bundle_id);
    (void)arena;
    for (size_t i = 0; i < s->sets_count; i++) {
        if (s->sets[i].app == app && strcmp(s->sets[i].client_id, image_set) == 0) {
            *ret = s->sets[i].data;
            *ret_len = s->sets[i].len;
            return ERR_OK;
        }
    }
    return error_set(err, ERR_NOT_FOUND, "this image set is not known");
}

enum err mem_read_tokens(struct storage_reader *r, struct arena *arena, struct token_row **ret,
                         size_t *ret_count, struct error *err)
{
    const struct mem_state *s = mem_read_state(r);
    struct token_row *rows = arena_array(arena, s->tokens_count + 1, sizeof(*rows));
    if (!rows)
        return mem_no_memory(err);
    for (size_t i = 0; i < s->tokens_count; i++)
        rows[i] = s->tokens[i].row;
    *ret = rows;
    *ret_count = s->tokens_count;
    return ERR_OK;
}

/* A slice's row as it is read: whether its object is there is known by the objects. */
static struct slice_row mem_slice_row(const struct mem_state *s, const struct mem_slice *x)
{
    struct slice_row row = x->row;
    for (size_t i = 0; i < s->objects_count && !row.object_kept; i++)
        row.object_kept = memcmp(s->objects[i].row.sha256, row.object_sha256, SHA256_SIZE) == 0;
    return row;
}

enum err mem_read_upload(struct storage_reader *r, uint64_t id, struct arena *arena,
                         struct upload_row *ret, struct error *err)
{
    const struct mem_state *s = mem_read_state(r);
    for (size_t i = 0; i < s->uploads_count; i++) {
        if (s->uploads[i].row.id != id)
            continue;
        struct upload_row u = s->uploads[i].row;
        u.bundle_id = s->uploads[i].bundle_id;
        if (!(u.slices = arena_array(arena, s->slices_count + 1, sizeof(*u.slices))))
            return mem_no_memory(err);
        for (size_t k = 0; k < s->slices_count; k++) {
            if (s->slices[k].row.upload_id == id)
                u.slices[u.slice_count++] = mem_slice_row(s, &s->slices[k]);
        }
        *ret = u;
        return ERR_OK;
    }
    return error_set(err, ERR_NOT_FOUND, "there is no upload %llu", (unsigned long long)id);
}

static bool says(const char *text, const char *wanted)
{
    return !wanted || !*wanted || strcmp(text, wanted) == 0;
}

static bool says_all(const struct mem_upload *u, const struct upload_origin *o)
{
    return u->row.system == o->system && u->row.bound <= o->bound &&
           says(u->bundle_id, o->bundle_id) && says(u->version, o->version) &&
           says(u->build, o->build) && says(u->os_build, o->os_build);
}

enum err mem_read_upload_by_sha256(struct storage_reader *r, const uint8_t sha256[SHA256_SIZE],
                                   const struct upload_origin *origin, struct arena *arena,
                                   struct upload_row *ret, struct error *err)
{
    const struct mem_state *s = mem_read_state(r);
    for (size_t i = s->uploads_count; i > 0; i--) {
        const struct mem_upload *u = &s->uploads[i - 1];
        size_t there = 0;
        if (u->row.state != UPLOAD_INDEXED || memcmp(u->row.sha256, sha256, SHA256_SIZE) != 0 ||
            !says_all(u, origin))
            continue;
        for (size_t k = 0; k < s->slices_count; k++)
            there += s->slices[k].row.upload_id == u->row.id && !s->slices[k].row.lost;
        if (there && there == u->slice_count)
            return mem_read_upload(r, u->row.id, arena, ret, err);
    }
    return error_set(err, ERR_NOT_FOUND, "this file was not indexed before");
}

enum err mem_read_uploads_waiting(struct storage_reader *r, struct arena *arena,
                                  struct upload_waiting **ret, size_t *ret_count, struct error *err)
{
    const struct mem_state *s = mem_read_state(r);
    size_t count = 0;
    struct upload_waiting *rows = arena_array(arena, s->uploads_count + 1, sizeof(*rows));
    if (!rows)
        return mem_no_memory(err);
    for (size_t i = 0; i < s->uploads_count; i++) {
        if (s->uploads[i].row.state < UPLOAD_INDEXED)
            rows[count++] = (struct upload_waiting){s->uploads[i].row.id, s->uploads[i].bundle_id};
    }
    *ret = rows;
    *ret_count = count;
    return ERR_OK;
}

enum err mem_read_symbols_present(struct storage_reader *r, const char *bundle_id,
                                  const struct uuid *uuids, size_t count, bool *present,
                                  struct error *err)
{
    (void)err;
    for (size_t i = 0; i < count; i++)
        present[i] = mem_serving_slice(mem_read_state(r), bundle_id, false, &uuids[i]) != NULL;
    return ERR_OK;
}

/* Uploaded for the app, or of an image that its reports named. */
static bool slice_of_app(const struct mem_state *s, const struct slice_row *x,
                         const char *bundle_id)
{
    if (!bundle_id || strcmp(x->bundle_id, bundle_id) == 0)
        return true;
    size_t app = mem_app_of(s, bundle_id);
    for (size_t i = 0; i < s->images_count; i++) {
        if (s->images[i].app == app && uuid_equal(&s->images[i].row.id, &x->shelf))
            return true;
    }
    return false;
}

enum err mem_read_symbols(struct storage_reader *r, const char *bundle_id, size_t limit,
                          const char *cursor, struct arena *arena, struct slice_row **ret,
                          size_t *ret_count, const char **ret_next, struct error *err)
{
    const struct mem_state *s = mem_read_state(r);
    int64_t below = INT64_MAX;
    int64_t last = 0;
    size_t count = 0;
    bool started = false;
    bool more = false;
    enum err rc = read_cursor_parse(cursor, 's', &below, 1, &started, err);
    if (rc)
        return rc;
    struct slice_row *rows = arena_array(arena, s->slices_count + 1, sizeof(*rows));
    if (!rows)
        return mem_no_memory(err);
    for (size_t i = s->slices_count; i > 0 && !more; i--) {
        const struct mem_slice *x = &s->slices[i - 1];
        if (!x->row.current || (started && (int64_t)x->id >= below) ||
            !slice_of_app(s, &x->row, bundle_id))
            continue;
        if (count == limit) {
            more = true;
        } else {
            rows[count++] = mem_slice_row(s, x);
            last = (int64_t)x->id;
        }
    }
    *ret_next = more ? read_cursor_make(arena, 's', &last, 1) : NULL;
    if (more && !*ret_next)
        return mem_no_memory(err);
    *ret = rows;
    *ret_count = count;
    return ERR_OK;
}

enum err mem_read_known_objects(struct storage_reader *r, struct arena *arena,
                                struct known_object **ret, size_t *ret_count, struct error *err)
{
    const struct mem_state *s = mem_read_state(r);
    size_t count = 0;
    struct known_object *list = arena_array(arena, s->slices_count + 1, sizeof(*list));
    if (!list)
        return mem_no_memory(err);
    for (size_t i = 0; i < s->slices_count && count < KNOWN_OBJECTS_MAX; i++) {
        const struct slice_row *x = &s->slices[i].row;
        if (!x->current || x->lost || mem_shelf_of(s, &x->shelf))
            continue;
        list[count].uuid = x->shelf;
        memcpy(list[count++].sha256, x->object_sha256, SHA256_SIZE);
    }
    *ret = list;
    *ret_count = count;
    return ERR_OK;
}

/* Slices of a shelf; or of an image, those that serve the app, NULL: all. */
static enum err read_slices(const struct mem_state *s, const struct uuid *uuid, bool by_shelf,
                            const char *bundle_id, struct arena *arena, struct slice_row **ret,
                            size_t *ret_count, struct error *err)
{
    size_t count = 0;
    struct slice_row *rows = arena_array(arena, s->slices_count + 1, sizeof(*rows));
    if (!rows)
        return mem_no_memory(err);
    for (int current = 1; current >= 0; current--) {
        for (size_t i = s->slices_count; i > 0; i--) {
            const struct slice_row *x = &s->slices[i - 1].row;
            if (x->current == (bool)current && uuid_equal(by_shelf ? &x->shelf : &x->image, uuid) &&
                !uuid_is_nil(uuid) &&
                (by_shelf || !bundle_id || mem_shelf_serves(s, &x->shelf, bundle_id)))
                rows[count++] = mem_slice_row(s, &s->slices[i - 1]);
        }
    }
    if (count == 0)
        return error_set(err, ERR_NOT_FOUND, "no symbol file of this UUID was ever indexed");
    *ret = rows;
    *ret_count = count;
    return ERR_OK;
}

enum err mem_read_symbol(struct storage_reader *r, const struct uuid *uuid, struct arena *arena,
                         struct slice_row **ret, size_t *ret_count, struct error *err)
{
    return read_slices(mem_read_state(r), uuid, true, NULL, arena, ret, ret_count, err);
}

enum err mem_read_symbol_files(struct storage_reader *r, const char *bundle_id,
                               const struct uuid *image, struct arena *arena,
                               struct slice_row **ret, size_t *ret_count, struct error *err)
{
    return read_slices(mem_read_state(r), image, false, bundle_id, arena, ret, ret_count, err);
}

/* The row of an image that stacks of an app wait for. */
static struct missing_row *missing_row_of(const struct mem_state *s, size_t app,
                                          const struct uuid *uuid, struct missing_row *rows,
                                          size_t *count)
{
    struct missing_row m = {.uuid = *uuid, .bundle_id = s->apps[app].bundle_id, .name = ""};
    for (size_t i = 0; i < *count; i++) {
        if (uuid_equal(&rows[i].uuid, uuid) && strcmp(rows[i].bundle_id, m.bundle_id) == 0)
            return &rows[i];
    }
    for (size_t i = 0; i < s->images_count; i++) {
        const struct image_row *image = &s->images[i].row;
        if (s->images[i].app != app || !uuid_equal(&image->id, uuid))
            continue;
        if (image->kind != IMAGE_UUID)
            return NULL;
        m.name = image->name;
        m.arch = image->arch;
        m.class = image->class;
    }
    m.first_seen_ms = INT64_MAX;
    m.last_seen_ms = INT64_MIN;
    rows[*count] = m;
    return &rows[(*count)++];
}

static uint64_t frames_in(const struct resolved_stack *s, const struct uuid *image)
{
    uint64_t n = 0;
    for (size_t i = 0; i < s->count; i++)
        n += uuid_equal(&s->frames[i].raw.image, image) || uuid_equal(&s->frames[i].image, image);
    return n;
}

static void add_missing(const struct mem_state *s, const struct mem_stack *k,
                        const struct uuid *uuid, struct missing_row *m)
{
    struct mem_sums sums = mem_stack_sums(s, k->id);
    if (sums.count == 0)
        sums.first_ms = sums.last_ms = k->created_ms;
    m->reports += (uint64_t)sums.count;
    m->frames += frames_in(k->resolved, uuid);
    m->first_seen_ms = sums.first_ms < m->first_seen_ms ? sums.first_ms : m->first_seen_ms;
    m->last_seen_ms = sums.last_ms > m->last_seen_ms ? sums.last_ms : m->last_seen_ms;
}

struct version_seen {
    const char *version, *build;
    int64_t day;
};

static int by_day(const void *a, const void *b)
{
    const struct version_seen *x = a;
    const struct version_seen *y = b;
    if (x->day != y->day)
        return x->day > y->day ? -1 : 1;
    int c = strcmp(y->version, x->version);
    return c ? c : strcmp(y->build, x->build);
}

static enum err fill_versions(const struct mem_state *s, struct missing_row *m, struct arena *arena,
                              struct error *err)
{
    size_t count = 0;
    struct build_seen builds[VERSIONS_MAX];
    size_t app = mem_app_of(s, m->bundle_id);
    struct version_seen *seen = arena_array(arena, s->facts_count + 1, sizeof(*seen));
    m->versions = arena_array(arena, VERSIONS_MAX, sizeof(*m->versions));
    if (!seen || !m->versions)
        return mem_no_memory(err);
    for (size_t i = 0; i < s->facts_count; i++) {
        const struct mem_fact *f = &s->facts[i];
        const struct mem_stack *k = f->stack_id ? mem_stack_of(s, f->stack_id) : NULL;
        size_t at = 0;
        if (!k || k->app != app || !mem_misses(k, &m->uuid))
            continue;
        while (at < count &&
               (strcmp(seen[at].version, f->version) != 0 || strcmp(seen[at].build, f->build) != 0))
            at++;
        int64_t day = clock_day(f->time_ms);
        if (at == count)
            seen[count++] = (struct version_seen){f->version, f->build, day};
        else if (day > seen[at].day)
            seen[at].day = day;
    }
    qsort(seen, count, sizeof(*seen), by_day);
    for (size_t i = 0; i < count && i < VERSIONS_MAX; i++) {
        if (!(m->versions[i] = read_version_label(arena, seen[i].version, seen[i].build)))
            return mem_no_memory(err);
        builds[i] = (struct build_seen){seen[i].version, seen[i].build};
        m->version_count++;
    }
    return mem_fill_candidates(s, builds, m->version_count, m, arena, err);
}

enum err mem_read_missing(struct storage_reader *r, const char *bundle_id, size_t limit,
                          const char *cursor, struct arena *arena, struct missing_row **ret,
                          size_t *ret_count, const char **ret_next, struct error *err)
{
    const struct mem_state *s = mem_read_state(r);
    struct missing_row *page = NULL;
    size_t room = 1;
    size_t count = 0;
    size_t n = 0;
    for (size_t i = 0; i < s->stacks_count; i++)
        room += s->stacks[i].missing_count;
    struct missing_row *rows = arena_array(arena, room, sizeof(*rows));
    if (!rows)
        return mem_no_memory(err);
    for (size_t i = 0; i < s->stacks_count; i++) {
        const struct mem_stack *k = &s->stacks[i];
        if (bundle_id && strcmp(s->apps[k->app].bundle_id, bundle_id) != 0)
            continue;
        for (size_t u = 0; u < k->missing_count; u++) {
            struct missing_row *m =
                mem_serving_slice(s, s->apps[k->app].bundle_id, false, &k->missing[u])
                    ? NULL
                    : missing_row_of(s, k->app, &k->missing[u], rows, &count);
            if (m)
                add_missing(s, k, &k->missing[u], m);
        }
    }
    enum err rc = missing_page(rows, count, limit, cursor, arena, &page, &n, ret_next, err);
    for (size_t i = 0; i < n && !rc; i++)
        rc = fill_versions(s, &page[i], arena, err);
    if (rc)
        return rc;
    *ret = page;
    *ret_count = n;
    return ERR_OK;
}
