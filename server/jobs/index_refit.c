#include "server/jobs/index_refit.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "server/jobs/hidden_names.h"
#include "server/jobs/index_install.h"
#include "server/jobs/index_rank.h"

/* One object of the UUID. */
struct candidate {
    const struct slice_row *row;
    const char *kept;   /* its index file, NULL when there is none that can be used */
    const char *object; /* its object file, NULL when it is not kept */
    bool unreadable;    /* the disk fails under its index file: it may come back */
    bool damaged;       /* its index file is */
    bool *unread;       /* index_rank.h */
};

static enum err keep_path(struct arena *arena, const char *path, const char **ret,
                          struct error *err)
{
    *ret = arena_strdup(arena, path);
    return *ret ? ERR_OK : error_set(err, ERR_NO_MEMORY, "no memory to choose an index");
}

/* The row's index: under its object's name, or, of a store from before there were such, under the
 * UUID's. */
static enum err find_kept(const struct index_refit *in, struct candidate *c, struct arena *arena,
                          struct error *err)
{
    const struct slice_row *row = c->row;
    char path[PATH_MAX], target[PATH_MAX];
    enum index_state state = INDEX_ABSENT;
    enum err rc = ERR_OK;
    if (blob_store_object_index_path(in->blobs, &row->shelf, row->object_sha256, path,
                                     sizeof(path)))
        rc = index_file_state(path, &row->image, &state, err);
    if (rc == ERR_OK && state != INDEX_SOUND && row->current &&
        blob_store_index_path(in->blobs, &row->shelf, path, sizeof(path)) &&
        readlink(path, target, sizeof(target)) < 0 && errno == EINVAL) /* no link */
        rc = index_file_state(path, &row->image, &state, err);
    if (rc != ERR_OK)
        return rc;
    c->unreadable = state == INDEX_UNREADABLE;
    c->damaged = state == INDEX_DAMAGED;
    return state == INDEX_SOUND ? keep_path(arena, path, &c->kept, err) : ERR_OK;
}

static enum err find_object(const struct index_refit *in, struct candidate *c, struct arena *arena,
                            struct error *err)
{
    char path[PATH_MAX];
    if (!blob_store_object_path(in->blobs, c->row->object_sha256, path, sizeof(path)))
        return ERR_OK;
    if (access(path, R_OK) == 0)
        return keep_path(arena, path, &c->object, err);
    return errno == ENOENT ? ERR_OK : error_errno(err, errno, "cannot look at %s", path);
}

/* The app that it serves alone; "": it serves all. */
static const char *owner_of(const struct candidate *c)
{
    return c->row->bound ? c->row->bundle_id : "";
}

static struct index_rank rank_of(const struct candidate *c)
{
    return (struct index_rank){.unread = c->unread,
                               .has_dwarf = c->row->has_dwarf,
                               .lines = c->row->lines,
                               .functions = c->row->functions,
                               .inlines = c->row->inlines,
                               .text_vmaddr = c->row->text_vmaddr,
                               .text_size = c->row->text_size,
                               .path = c->kept};
}

/* Richest first; of one object's rows the newest. */
static int by_rank(const void *a, const void *b)
{
    const struct candidate *x = a;
    const struct candidate *y = b;
    const struct index_rank rx = rank_of(x);
    const struct index_rank ry = rank_of(y);
    int order = index_rank_compare(&ry, &rx);
    if (!order)
        order = memcmp(x->row->object_sha256, y->row->object_sha256, SHA256_SIZE);
    return order ? order : (x->row->id < y->row->id) - (x->row->id > y->row->id);
}

static enum err find_candidates(const struct index_refit *in, const struct uuid *uuid,
                                struct arena *arena, struct candidate **ret, size_t *ret_count,
                                bool *ret_damaged, struct error *err)
{
    struct slice_row *rows = NULL;
    size_t row_count = 0, count = 0;
    enum err rc = read_symbol(in->reader, uuid, arena, &rows, &row_count, err);
    if (rc != ERR_OK && rc != ERR_NOT_FOUND)
        return rc;
    struct candidate *all = arena_array(arena, row_count + 1, sizeof(*all));
    if (!all)
        return error_set(err, ERR_NO_MEMORY, "no memory to choose an index");
    bool unread = false;
    rc = ERR_OK;
    for (size_t i = 0; i < row_count && rc == ERR_OK; i++) {
        if (!rows[i].indexed)
            continue;
        struct candidate *c = &all[count++];
        *c = (struct candidate){.row = &rows[i], .unread = &unread};
        rc = find_kept(in, c, arena, err);
        if (rc == ERR_OK)
            rc = find_object(in, c, arena, err);
        *ret_damaged |= c->row->current && c->damaged;
    }
    if (rc != ERR_OK)
        return rc;
    qsort(all, count, sizeof(*all), by_rank);
    if (unread)
        return error_set(err, ERR_IO, "indexes of one UUID cannot be compared now");
    *ret = all;
    *ret_count = count;
    return ERR_OK;
}

/* --- from the object -------------------------------------------------------------------------- */

static const struct slice_report *slice_of(const struct index_child_result *told,
                                           const struct uuid *uuid)
{
    for (size_t i = 0; i < told->slice_count; i++) {
        if (told->slices[i].state == SLICE_INDEXED && uuid_equal(&told->slices[i].uuid, uuid))
            return &told->slices[i];
    }
    return NULL;
}

static enum err note_healing(const struct index_refit *in, bool damaged, const struct uuid *uuid,
                             struct error *err)
{
    return damaged && in->heals ? in->heals(in->ctx, uuid, err) : ERR_OK;
}

static enum err make_in(const struct index_refit *in, const struct candidate *c,
                        const char *work_dir, bool damaged, struct arena *arena,
                        struct op_slice *ret, struct error *err)
{
    struct index_child child = in->child;
    struct index_child_result told = {.slice_count = 0};
    char path[PATH_MAX], own_maps[PATH_MAX];
    child.upload = c->object;
    child.own_maps_dir = blob_store_own_maps(in->blobs, owner_of(c), own_maps, sizeof(own_maps));
    child.out_dir = work_dir;
    child.keep_objects = false;
    child.nameless = c->row->system;
    memcpy(child.sha256, c->row->object_sha256, SHA256_SIZE);
    enum err rc = index_child_run(&child, arena, &told, err);
    const struct slice_report *s = rc == ERR_OK ? slice_of(&told, &c->row->image) : NULL;
    if (rc != ERR_OK)
        return rc;
    if (!s)
        return error_set(err, ERR_FORMAT, "the object has no such UUID any more");
    int n = snprintf(path, sizeof(path), "%s/%s", work_dir, s->index_file);
    if (n < 0 || (size_t)n >= sizeof(path))
        return error_set(err, ERR_LIMIT, "the path of the work folder is too long");
    rc = index_file_check(path, ret, err);
    if (err_is_passing(rc)) {
        err->code = rc == ERR_BUSY ? ERR_IO : rc; /* BUSY is a stop's */
        return err->code;
    }
    if (rc == ERR_OK)
        rc = note_healing(in, damaged, &c->row->shelf, err);
    return rc == ERR_OK
               ? blob_store_keep_index(in->blobs, path, &c->row->shelf, c->row->object_sha256, err)
               : rc;
}

/* ERR_FORMAT and the like: nothing can be made of this object. */
static enum err make_anew(const struct index_refit *in, const struct candidate *c, bool damaged,
                          struct arena *arena, struct op_slice *ret, struct error *err)
{
    char work_dir[PATH_MAX];
    enum err rc = blob_store_work_create(in->blobs, work_dir, sizeof(work_dir), err);
    if (rc != ERR_OK)
        return rc;
    *ret = (struct op_slice){.shelf = c->row->shelf, .image = c->row->image};
    rc = make_in(in, c, work_dir, damaged, arena, ret, err);
    blob_store_work_remove(in->blobs, work_dir);
    return rc;
}

/* --- into use --------------------------------------------------------------------------------- */

static bool is_in_use(const struct index_refit *in, const struct candidate *c)
{
    char link[PATH_MAX], target[PATH_MAX], path[PATH_MAX];
    if (!c->row->current || !blob_store_index_path(in->blobs, &c->row->shelf, link, sizeof(link)))
        return false;
    ssize_t n = readlink(link, target, sizeof(target) - 1);
    if (n < 0)
        return strcmp(c->kept, link) == 0;
    target[n] = 0;
    return blob_store_object_index_path(in->blobs, &c->row->shelf, c->row->object_sha256, path,
                                        sizeof(path)) &&
           strcmp(strrchr(path, '/') + 1, target) == 0;
}

static enum err use(const struct index_refit *in, const struct candidate *c, struct refitted *ret,
                    struct error *err)
{
    ret->op.slice_id = c->row->id;
    ret->changed = ret->made_anew || !is_in_use(in, c);
    enum err rc = ret->changed
                      ? blob_store_use_index(in->blobs, &c->row->shelf, c->row->object_sha256, err)
                      : ERR_OK;
    if (rc != ERR_OK)
        return rc;
    index_cache_changed(in->cache, &c->row->shelf); /* it may remember a failure that is over */
    layouts_learn(in->layouts, owner_of(c), &c->row->image, c->row->text_vmaddr);
    return ERR_OK;
}

/* Whether the index hides names that a symbol map restores which came since: index_restore_own.h. */
static enum err is_mapped_since(const struct index_refit *in, const struct candidate *c, bool *ret,
                                struct error *err)
{
    struct symbol_maps *maps = NULL;
    *ret = false;
    if (!c->kept || !c->object)
        return ERR_OK;
    enum err rc = hidden_names_in(c->kept, ret, err);
    if (rc != ERR_OK || !*ret)
        return rc;
    rc = hidden_names_maps(in->blobs, owner_of(c), &maps, err);
    if (rc == ERR_OK)
        rc = hidden_names_mapped(maps, &c->row->image, ret, err);
    symbol_maps_free(maps);
    return rc;
}

/* *ret_made: it was made anew. An error that does not pass: it cannot be had. */
static enum err get(const struct index_refit *in, const struct candidate *c, bool damaged,
                    struct arena *arena, struct op_slice *made, bool *ret_made, struct error *err)
{
    bool mapped = false;
    enum err rc = is_mapped_since(in, c, &mapped, err);
    if (rc != ERR_OK)
        return rc;
    if (c->object && (!c->kept || mapped)) {
        rc = make_anew(in, c, damaged, arena, made, err);
        *ret_made = rc == ERR_OK;
        if (rc == ERR_OK || !c->kept || err_is_passing(rc))
            return rc;
    }
    return c->kept ? note_healing(in, damaged, &c->row->shelf, err)
                   : error_set(err, ERR_NOT_FOUND, "neither index nor object is left");
}

/* The first one whose index can be had; those before it are lost. */
static enum err choose(const struct index_refit *in, const struct candidate *all, size_t count,
                       bool damaged, uint64_t *lost, struct arena *arena, struct refitted *ret,
                       struct error *err)
{
    for (size_t i = 0; i < count; i++) {
        struct op_slice made = {.index_bytes = 0};
        enum err rc = get(in, &all[i], damaged, arena, &made, &ret->made_anew, err);
        if (rc == ERR_OK) {
            ret->healed = damaged;
            ret->op.index_bytes = made.index_bytes;
            ret->op.functions = made.functions;
            return use(in, &all[i], ret, err);
        }
        if (err_is_passing(rc))
            return rc;
        if (all[i].unreadable)
            return error_set(err, ERR_IO, "the index cannot be read, and not be made anew");
        lost[ret->op.lost_count++] = all[i].row->id;
    }
    ret->changed = true;
    enum err rc = blob_store_remove_index(in->blobs, &ret->op.shelf, err);
    index_cache_changed(in->cache, &ret->op.shelf);
    return rc;
}

enum err index_refit(const struct index_refit *in, const struct uuid *shelf, struct arena *arena,
                     struct refitted *ret, struct error *err)
{
    struct candidate *all = NULL;
    size_t count = 0;
    bool damaged = false;
    enum err rc = find_candidates(in, shelf, arena, &all, &count, &damaged, err);
    if (rc != ERR_OK)
        return rc;
    uint64_t *lost = arena_array(arena, count + 1, sizeof(*lost));
    uint8_t(*shas)[SHA256_SIZE] = arena_array(arena, count + 1, SHA256_SIZE);
    if (!lost || !shas)
        return error_set(err, ERR_NO_MEMORY, "no memory to choose an index");
    struct refitted r = {.op = {.shelf = *shelf, .lost = lost}};
    rc = choose(in, all, count, damaged, lost, arena, &r, err);
    for (size_t i = 0; i < count; i++)
        memcpy(shas[i], all[i].row->object_sha256, SHA256_SIZE);
    if (rc == ERR_OK)
        rc = blob_store_prune_indexes(in->blobs, shelf, (const uint8_t(*)[SHA256_SIZE])shas, count,
                                      err);
    if (rc == ERR_OK)
        *ret = r;
    return rc;
}
