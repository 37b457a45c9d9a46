#include "server/jobs/index_upload.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/log.h"
#include "server/jobs/index_install.h"
#include "server/jobs/index_restore.h"
#include "server/jobs/index_restore_own.h"
#include "server/jobs/index_tell.h"

#define BATCH_FROM 16 /* slices, above which files are synced together */

static void log_trouble(const char *msg, uint64_t upload_id, const struct error *err)
{
    char quoted[sizeof(err->text) + 64];
    log_warn(msg, "upload=%" PRIu64 " error=%s", upload_id,
             log_quote(err->text, quoted, sizeof(quoted)));
}

/* What was in use of these UUIDs is lost. */
static enum err queue_refits(struct index_upload *u, const struct installed *what,
                             struct error *err)
{
    struct uuid *uuids = arena_array(u->arena, what->count + 1, sizeof(*uuids));
    size_t count = 0;
    for (size_t i = 0; uuids && i < what->count; i++) {
        if (what->refit[i])
            uuids[count++] = what->slices[i].shelf;
    }
    return uuids ? index_tell_refits(u->writer, uuids, count, false, err)
                 : error_set(err, ERR_NO_MEMORY, "no memory for a change");
}

static void remove_spool_file(struct index_upload *u, const struct upload_row *row)
{
    struct error err;
    if (blob_store_remove_spool(u->blobs, row->spool_file, &err) != ERR_OK)
        log_trouble("spool file stays", row->id, &err);
}

/* The app that it serves alone. */
static const char *owner_of(const struct upload_row *row)
{
    return row->bound ? row->bundle_id : "";
}

/* The end of an upload that cannot be indexed. */
static enum err fail_upload(struct index_upload *u, const struct upload_row *row,
                            const struct slice_report *slices, size_t count, const char *reason,
                            struct error *err)
{
    const struct index_install in = {.reader = u->reader, .own = owner_of(row)};
    struct installed what = {.count = 0};
    enum err rc = index_install_none(&in, slices, count, reason, u->arena, &what, err);
    /* What the child told took it all: the reason alone. */
    if (rc == ERR_OK || (rc == ERR_NO_MEMORY && u->arena->capped))
        rc = index_tell_state(u->writer, row->id, UPLOAD_FAILED, reason, &what, err);
    if (rc != ERR_OK)
        return rc;
    char quoted[sizeof(err->text) + 64];
    log_warn("upload failed", "upload=%" PRIu64 " reason=%s", row->id,
             log_quote(reason, quoted, sizeof(quoted)));
    metrics_add(u->metrics, METRIC_UPLOADS_FAILED, 1);
    remove_spool_file(u, row);
    return ERR_OK;
}

static enum err finish_upload(struct index_upload *u, const struct upload_row *row,
                              const char *work_dir, const struct index_child_result *told,
                              const char *note, struct error *err)
{
    struct index_install in = {.reader = u->reader,
                               .blobs = u->blobs,
                               .cache = u->cache,
                               .layouts = u->layouts,
                               .work_dir = work_dir,
                               .keep_objects = u->child.keep_objects,
                               .own = owner_of(row)};
    struct installed what = {.count = 0};
    bool many = told->slice_count > BATCH_FROM;
    enum err rc = many ? blob_store_batch(u->blobs, err) : ERR_OK;
    if (rc != ERR_OK)
        return rc;
    rc = index_install(&in, told->slices, told->slice_count, u->arena, &what, err);
    if (many)
        rc = blob_store_batch_end(u->blobs, rc, err);
    if (rc != ERR_OK)
        return rc;
    if (what.indexed == 0 && !(note && what.count == 0)) {
        const char *reason = what.slices[0].reason;
        return fail_upload(u, row, told->slices, told->slice_count,
                           reason ? reason : "no slice could be indexed", err);
    }
    rc = index_tell_installed(u->writer, &what, u->arena, err);
    if (rc == ERR_OK)
        rc = queue_refits(u, &what, err);
    if (rc == ERR_OK)
        rc = index_tell_state(u->writer, row->id, UPLOAD_INDEXED, note, &what, err);
    if (rc != ERR_OK)
        return rc;
    log_info("upload indexed", "upload=%" PRIu64 " slices=%zu indexed=%zu", row->id, what.count,
             what.indexed);
    metrics_add(u->metrics, METRIC_SLICES_INDEXED, (int64_t)what.indexed);
    remove_spool_file(u, row);
    return ERR_OK;
}

/* Thousands of system libraries are the same from one upload to the next: a list for the child of
 * objects whose indexes are there. */
static enum err list_known(struct index_upload *u, const char *path, struct error *err)
{
    struct known_object *list = NULL;
    size_t count = 0;
    char index[PATH_MAX];
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0)
        return error_errno(err, errno, "cannot list known objects");
    enum err rc = read_known_objects(u->reader, u->arena, &list, &count, err);
    for (size_t i = 0; rc == ERR_OK && i < count; i++) {
        if (blob_store_index_path(u->blobs, &list[i].uuid, index, sizeof(index)) &&
            access(index, R_OK) == 0)
            rc = file_write(fd, list[i].sha256, SHA256_SIZE, "the list of known objects", err);
    }
    close(fd);
    return rc;
}

/* Is the uploaded file there? */
static enum err find_upload(struct index_upload *u, const struct upload_row *row, char *path,
                            size_t size, bool *ret_there, struct error *err)
{
    *ret_there = false;
    if (!blob_store_spool_path(u->blobs, row->spool_file, path, size))
        return ERR_OK;
    *ret_there = access(path, R_OK) == 0;
    return *ret_there || errno == ENOENT ? ERR_OK
                                         : error_errno(err, errno, "cannot look at %s", path);
}

/* Those of system libraries, which the child need not read again. */
static enum err tell_known(struct index_upload *u, const char *work_dir, char known[PATH_MAX],
                           struct index_child *child, struct error *err)
{
    int n = snprintf(known, PATH_MAX, "%s/known.list", work_dir);
    child->nameless = true;
    child->known = known;
    return n > 0 && n < PATH_MAX
               ? list_known(u, known, err)
               : error_set(err, ERR_IO, "the path of the work folder is too long");
}

static enum err check_room(struct index_upload *u, const struct upload_row *row,
                           const char **ret_refusal, struct error *err)
{
    const uint8_t *sha256 = row->sha256;
    const struct index_wish wish = {&sha256, 1, row->bundle_id, row->system, row->bound};
    return index_room_check(u->reader, &u->caps, &wish, u->arena, ret_refusal, err);
}

/* Stacks that their indexes named are resolved anew. */
static enum err restore_own(struct index_upload *u, const struct restored *maps, struct error *err)
{
    struct uuid *shelves = NULL;
    size_t count = 0;
    enum err rc = index_restore_own(u->reader, u->blobs, maps->named, maps->named_count, u->arena,
                                    &shelves, &count, err);
    return rc == ERR_OK ? index_tell_refits(u->writer, shelves, count, true, err) : rc;
}

static enum err run_child(struct index_upload *u, const struct upload_row *row,
                          const char *work_dir, struct error *err)
{
    char path[PATH_MAX], known[PATH_MAX], own_maps[PATH_MAX];
    struct index_child_result told = {.slice_count = 0};
    struct index_child child = u->child;
    struct restored maps = {.note = NULL};
    bool there = false;
    const char *refusal = NULL;
    enum err child_rc = ERR_OK;
    enum err rc = find_upload(u, row, path, sizeof(path), &there, err);
    if (rc == ERR_OK && !there)
        return fail_upload(u, row, NULL, 0, "the uploaded file is gone", err);
    if (rc == ERR_OK)
        rc = check_room(u, row, &refusal, err);
    if (refusal)
        return fail_upload(u, row, NULL, 0, refusal, err);
    child.upload = path;
    child.own_maps_dir = blob_store_own_maps(u->blobs, owner_of(row), own_maps, sizeof(own_maps));
    child.out_dir = work_dir;
    memcpy(child.sha256, row->sha256, SHA256_SIZE);
    if (rc == ERR_OK && row->system)
        rc = tell_known(u, work_dir, known, &child, err);
    if (rc == ERR_OK)
        rc = child_rc = index_child_run(&child, u->arena, &told, err);
    if (rc == ERR_OK && told.totals.maps > 0) {
        const struct index_restore in = {.reader = u->reader,
                                         .blobs = u->blobs,
                                         .work_dir = work_dir,
                                         .own = owner_of(row),
                                         .child = u->child};
        rc = index_restore(&in, &told, u->arena, &maps, err);
        if (rc == ERR_OK && !row->bound)
            rc = restore_own(u, &maps, err);
    }
    const char *note = NULL;
    if (rc == ERR_OK)
        rc = index_child_note(&told, maps.note, u->arena, &note, err);
    if (rc == ERR_OK)
        return finish_upload(u, row, work_dir, &told, note, err);
    if (child_rc == ERR_OK || err_is_passing(child_rc))
        return rc; /* its turn comes again */
    struct error why = *err;
    return fail_upload(u, row, told.slices, told.slice_count, why.text, err);
}

enum err index_upload_run(struct index_upload *u, uint64_t id, struct error *err)
{
    struct upload_row row;
    char work_dir[PATH_MAX];
    arena_reset(u->arena);
    enum err rc = read_upload(u->reader, id, u->arena, &row, err);
    if (rc != ERR_OK)
        return rc;
    if (row.state != UPLOAD_INDEXING)
        rc = index_tell_state(u->writer, id, UPLOAD_INDEXING, NULL, NULL, err);
    if (rc == ERR_OK)
        rc = blob_store_work_create(u->blobs, work_dir, sizeof(work_dir), err);
    if (rc != ERR_OK)
        return rc;
    rc = run_child(u, &row, work_dir, err);
    blob_store_work_remove(u->blobs, work_dir);
    return rc;
}
