#include "server/jobs/index_restore.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/key_set.h"
#include "server/jobs/hidden_names.h"
#include "server/jobs/index_install.h"
#include "storage/read_shelves.h"
#include "symbolizer/symbol_maps.h"

/* More UUIDs than any app has images; each may cost a run of the child. */
#define RESTORE_MAX 256

struct work {
    const struct index_restore *in;
    struct index_child_result *told;
    struct arena *arena;
    struct symbol_maps *maps; /* all that are known */
    struct key_set settled;   /* UUIDs of the upload, or looked at */
    struct uuid *named;       /* of maps and links that came */
    size_t named_count;
    struct uuid *wanted; /* whose index may be made anew */
    size_t wanted_count;
    size_t kept, anew, gone;
    const struct uuid *gone_uuid; /* the first whose object is not there */
    enum err code;
    struct error *err;
};

/* --- into the store --------------------------------------------------------------------------- */

static void want(void *ctx, const struct uuid *uuid)
{
    struct work *w = ctx;
    uint64_t *seen = key_set_at(&w->settled, uuid);
    if (!seen && w->code == ERR_OK)
        w->code = error_set(w->err, ERR_NO_MEMORY, "no memory for symbol maps");
    if (!seen || (*seen)++ > 0 || w->wanted_count == RESTORE_MAX)
        return;
    w->wanted[w->wanted_count++] = *uuid;
}

static enum err keep_file(struct work *w, const char *name, struct error *err)
{
    struct uuid uuid;
    char path[PATH_MAX];
    enum symbol_map_file kind = symbol_maps_kind(name, &uuid);
    int n = snprintf(path, sizeof(path), "%s/%s", w->in->work_dir, name);
    if (kind == SYMBOL_FILE_OTHER || n < 0 || (size_t)n >= sizeof(path))
        return ERR_OK;
    bool plain = false;
    enum err rc = index_file_is_plain(path, &plain, err);
    if (rc != ERR_OK || !plain)
        return rc;
    rc = blob_store_install_map(w->in->blobs, path, w->in->own, &uuid, kind == SYMBOL_FILE_LINK,
                                err);
    if (rc == ERR_OK && w->named_count < RESTORE_MAX)
        w->named[w->named_count++] = uuid;
    w->kept += rc == ERR_OK;
    return rc;
}

static enum err keep_files(struct work *w, struct error *err)
{
    enum err rc = ERR_OK;
    const struct dirent *entry;
    DIR *dir = opendir(w->in->work_dir);
    if (!dir)
        return error_errno(err, errno, "cannot read the work folder");
    while (rc == ERR_OK && (entry = readdir(dir)) != NULL)
        rc = keep_file(w, entry->d_name, err);
    closedir(dir);
    return rc;
}

/* From the UUIDs of maps and links to those of the images that they are for. */
static enum err find_images(struct work *w, struct error *err)
{
    enum err rc = hidden_names_maps(w->in->blobs, w->in->own, &w->maps, err);
    for (size_t i = 0; i < w->told->slice_count && rc == ERR_OK; i++) {
        const struct slice_report *s = &w->told->slices[i];
        uint64_t *seen = s->state == SLICE_INDEXED ? key_set_at(&w->settled, &s->uuid) : NULL;
        if (seen)
            *seen = 1;
    }
    for (size_t i = 0; i < w->named_count && rc == ERR_OK; i++) {
        want(w, &w->named[i]);
        symbol_maps_linked(w->maps, &w->named[i], want, w);
        rc = w->code;
    }
    return rc;
}

/* --- made anew -------------------------------------------------------------------------------- */

/* The object to be read again; NULL when names are not hidden, or there is none (`gone`). */
static const struct slice_row *find_row(struct work *w, const struct uuid *uuid, char *object,
                                        size_t size, struct error *err)
{
    struct slice_row *rows = NULL;
    size_t count = 0;
    char path[PATH_MAX];
    struct uuid shelf;
    w->code = read_shelf(w->in->reader, w->in->own, uuid, &shelf, err);
    if (w->code == ERR_OK)
        w->code = read_symbol(w->in->reader, &shelf, w->arena, &rows, &count, err);
    if (w->code == ERR_NOT_FOUND)
        w->code = ERR_OK;
    bool hidden = false;
    if (w->code == ERR_OK && count > 0 && rows[0].indexed &&
        blob_store_index_path(w->in->blobs, &shelf, path, sizeof(path)))
        w->code = hidden_names_in(path, &hidden, err);
    if (!hidden || w->code != ERR_OK)
        return NULL;
    if (blob_store_object_path(w->in->blobs, rows[0].object_sha256, object, size)) {
        if (access(object, R_OK) == 0)
            return &rows[0];
        if (errno != ENOENT)
            w->code = error_errno(err, errno, "cannot look at %s", object);
    }
    if (w->code != ERR_OK)
        return NULL;
    w->gone++;
    w->gone_uuid = w->gone_uuid ? w->gone_uuid : uuid;
    return NULL;
}

static enum err append(struct work *w, const struct slice_report *s, const struct slice_row *row,
                       struct error *err)
{
    struct index_child_result *told = w->told;
    struct slice_report *all = arena_array(w->arena, told->slice_count + 1, sizeof(*all));
    if (!all)
        return error_set(err, ERR_NO_MEMORY, "no memory for an upload's slices");
    if (told->slice_count > 0)
        memcpy(all, told->slices, told->slice_count * sizeof(*all));
    struct slice_report *added = &all[told->slice_count++];
    *added = *s;
    added->name = row->name;
    added->member = "";
    if (!added->reason)
        added->reason = "made anew: a symbol map restored its names";
    told->slices = all;
    w->anew++;
    return ERR_OK;
}

/* A child that fails says nothing about the upload: the index stays as it was. */
static enum err make_anew(struct work *w, const struct slice_row *row, const char *object,
                          struct error *err)
{
    struct index_child child = w->in->child;
    char own_maps[PATH_MAX];
    struct index_child_result told = {.slice_count = 0};
    child.upload = object;
    child.own_maps_dir = blob_store_own_maps(w->in->blobs, w->in->own, own_maps, sizeof(own_maps));
    child.out_dir = w->in->work_dir;
    child.keep_objects = false;
    child.known = NULL;
    child.nameless = row->system;
    memcpy(child.sha256, row->object_sha256, SHA256_SIZE);
    enum err rc = index_child_run(&child, w->arena, &told, err);
    if (err_is_passing(rc))
        return rc;
    for (size_t i = 0; rc == ERR_OK && i < told.slice_count; i++) {
        const struct slice_report *s = &told.slices[i];
        if (s->state == SLICE_INDEXED && uuid_equal(&s->uuid, &row->image))
            return append(w, s, row, err);
    }
    return ERR_OK;
}

static enum err restore_all(struct work *w, struct error *err)
{
    enum err rc = ERR_OK;
    for (size_t i = 0; i < w->wanted_count && rc == ERR_OK; i++) {
        char object[PATH_MAX];
        const struct slice_row *row = find_row(w, &w->wanted[i], object, sizeof(object), err);
        bool mapped = false;
        rc = w->code;
        if (rc == ERR_OK && row)
            rc = hidden_names_mapped(w->maps, &w->wanted[i], &mapped, err);
        if (rc == ERR_OK && mapped)
            rc = make_anew(w, row, object, err);
    }
    return rc;
}

static const char *note_of(const struct work *w)
{
    char text[UUID_TEXT_SIZE] = "";
    if (w->gone > 0)
        return arena_printf(w->arena,
                            "%zu symbol maps and links are kept; the names of %zu images (%s) stay "
                            "hidden, as their objects are not kept: send the dSYM again",
                            w->kept, w->gone, uuid_format(w->gone_uuid, text));
    if (w->anew > 0)
        return arena_printf(w->arena, "%zu symbol maps and links are kept, %zu indexes made anew",
                            w->kept, w->anew);
    return arena_printf(w->arena, "%zu symbol maps and links are kept", w->kept);
}

enum err index_restore(const struct index_restore *in, struct index_child_result *told,
                       struct arena *arena, struct restored *ret, struct error *err)
{
    struct work w = {.in = in, .told = told, .arena = arena, .err = err};
    key_set_init(&w.settled, sizeof(struct uuid), 0);
    w.named = arena_array(arena, RESTORE_MAX, sizeof(*w.named));
    w.wanted = arena_array(arena, RESTORE_MAX, sizeof(*w.wanted));
    enum err rc =
        w.named && w.wanted ? ERR_OK : error_set(err, ERR_NO_MEMORY, "no memory for symbol maps");
    if (rc == ERR_OK)
        rc = keep_files(&w, err);
    if (rc == ERR_OK)
        rc = find_images(&w, err);
    if (rc == ERR_OK)
        rc = restore_all(&w, err);
    if (rc == ERR_OK) {
        *ret = (struct restored){note_of(&w), w.named, w.named_count};
        if (!ret->note)
            rc = error_set(err, ERR_NO_MEMORY, "no memory for symbol maps");
    }
    symbol_maps_free(w.maps);
    key_set_done(&w.settled);
    return rc;
}
