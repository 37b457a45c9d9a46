/*
 * DESIGN
 *
 * What. A thread that sleeps until a backup is asked for. One backup:
 *   1. removals from the store are held off; a snapshot of the database is opened; all files of the
 *      store are linked into a work folder; removals go on. That is the one instant: a file is in
 *      place before the database names it and goes after the database has forgotten it, so what the
 *      snapshot names was linked.
 *   2. the snapshot is written in steps, the files moved beside it (copied where the backups are on
 *      another file system; the spool, whose files still grow, always);
 *   3. all is synced, renamed, and the oldest backups go.
 *
 * Locks. One, around status and wishes; never held while anything is read or written.
 */
#include "server/jobs/backups.h"

#include <inttypes.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/thread.h"
#include "storage/blob_stage.h"
#include "storage/snapshot.h"

#define DATABASE "stallsym.db"

struct backups {
    struct storage *storage;
    struct blob_store *blobs;
    struct metrics *metrics;
    struct backups_options options;
    char dir[PATH_MAX];
    struct thread thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool stopping;
    bool wanted;
    struct backup_status status;
};

/* What one backup holds. */
struct run {
    struct backups *b;
    char id[BACKUP_ID_SIZE];
    char stage[PATH_MAX];
    char target[PATH_MAX];
    struct snapshot *snapshot;
    struct blob_totals totals;
    struct backup_facts facts;
};

static bool go_on(void *ctx)
{
    struct backups *b = ((struct run *)ctx)->b;
    pthread_mutex_lock(&b->lock);
    bool stopping = b->stopping;
    pthread_mutex_unlock(&b->lock);
    return !stopping;
}

static bool on_step(void *ctx, uint64_t done_bytes, uint64_t total_bytes)
{
    struct backups *b = ((struct run *)ctx)->b;
    pthread_mutex_lock(&b->lock);
    b->status.copied_bytes = done_bytes;
    b->status.facts.database_bytes = total_bytes;
    bool stopping = b->stopping;
    pthread_mutex_unlock(&b->lock);
    return !stopping;
}

/* --- one backup ------------------------------------------------------------------------------- */

static enum err check_room(const struct backups *b, uint64_t need, struct error *err)
{
    uint64_t left = backup_dir_free_bytes(b->dir);
    if (left >= need && left - need >= b->options.free_bytes_min)
        return ERR_OK;
    return error_set(err, ERR_LIMIT,
                     "not enough room for a backup: it takes %" PRIu64
                     " bytes and must leave %" PRIu64 ", %" PRIu64 " are free",
                     need, b->options.free_bytes_min, left);
}

/* Database and files of one instant. */
static enum err hold_still(struct run *r, struct error *err)
{
    struct blob_store *blobs = r->b->blobs;
    enum err rc = blob_store_work_create(blobs, r->stage, sizeof(r->stage), err);
    if (rc != ERR_OK)
        return rc;
    blob_store_hold(blobs);
    rc = snapshot_open(r->b->storage, &r->snapshot, err);
    if (rc == ERR_OK)
        rc = blob_stage_fill(blobs, r->stage, &r->totals, err);
    blob_store_release(blobs);
    return rc;
}

static enum err write_all(struct run *r, struct error *err)
{
    struct snapshot_watch watch = {.go_on = on_step, .ctx = r};
    char database[PATH_MAX];
    uint64_t size = snapshot_bytes(r->snapshot);
    bool far = blob_stage_is_far(r->stage, r->target);
    int n = snprintf(database, sizeof(database), "%s/" DATABASE, r->target);
    if (n < 0 || (size_t)n >= sizeof(database))
        return error_set(err, ERR_LIMIT, "the path of the backup folder is too long");
    enum err rc = check_room(r->b, size + (far ? r->totals.bytes : r->totals.spool_bytes), err);
    if (rc == ERR_OK)
        rc = snapshot_write(r->snapshot, database, &watch, err);
    snapshot_close(r->snapshot); /* the log may begin anew */
    r->snapshot = NULL;
    if (rc == ERR_OK)
        rc = blob_stage_move(r->stage, r->target, go_on, r, err);
    r->facts.database_bytes = size;
    r->facts.files = r->totals.files;
    r->facts.bytes = size + r->totals.bytes;
    return rc;
}

static enum err make_backup(struct run *r, struct error *err)
{
    enum err rc = backup_dir_begin(r->b->dir, r->id, r->target, sizeof(r->target), err);
    if (rc == ERR_OK)
        rc = hold_still(r, err);
    if (rc == ERR_OK)
        rc = write_all(r, err);
    r->facts.finished_ms = clock_wall_ms();
    if (rc == ERR_OK)
        rc = backup_dir_finish(r->b->dir, r->id, &r->facts, err);
    snapshot_close(r->snapshot);
    if (r->stage[0])
        blob_store_work_remove(r->b->blobs, r->stage);
    if (rc != ERR_OK)
        backup_dir_abort(r->b->dir, r->id);
    return rc;
}

static void drop_old(struct backups *b)
{
    struct error err;
    size_t removed = 0;
    char quoted[sizeof(err.text) + 64];
    if (backup_dir_prune(b->dir, b->options.keep, &removed, &err) != ERR_OK)
        log_warn("old backups not removed", "error=%s",
                 log_quote(err.text, quoted, sizeof(quoted)));
    else if (removed > 0)
        log_info("old backups removed", "count=%zu", removed);
}

static void tell(struct backups *b, const struct run *r, enum err rc, const struct error *err)
{
    char quoted[sizeof(err->text) + 64];
    pthread_mutex_lock(&b->lock);
    b->status.facts = r->facts;
    b->status.copied_bytes = rc == ERR_OK ? r->facts.database_bytes : b->status.copied_bytes;
    b->status.state = rc == ERR_OK ? BACKUP_DONE : BACKUP_FAILED;
    if (rc != ERR_OK)
        snprintf(b->status.reason, sizeof(b->status.reason), "%.255s", err->text);
    pthread_mutex_unlock(&b->lock);
    metrics_add(b->metrics, rc == ERR_OK ? METRIC_BACKUPS : METRIC_BACKUPS_FAILED, 1);
    if (rc == ERR_OK) {
        metrics_set(b->metrics, METRIC_BACKUP_TIME, r->facts.begun_ms / 1000);
        log_info("backup made", "id=%s ms=%lld bytes=%" PRIu64, r->id,
                 (long long)(r->facts.finished_ms - r->facts.begun_ms), r->facts.bytes);
    } else {
        log_error("backup failed", "id=%s error=%s", r->id,
                  log_quote(err->text, quoted, sizeof(quoted)));
    }
}

static void run_one(struct backups *b)
{
    struct error err;
    struct run r = {.b = b};
    pthread_mutex_lock(&b->lock);
    memcpy(r.id, b->status.id, sizeof(r.id));
    r.facts.begun_ms = b->status.facts.begun_ms;
    pthread_mutex_unlock(&b->lock);
    enum err rc = make_backup(&r, &err);
    if (rc == ERR_OK)
        drop_old(b);
    tell(b, &r, rc, &err);
}

static void *run(void *arg)
{
    struct backups *b = arg;
    pthread_mutex_lock(&b->lock);
    while (!b->stopping) {
        if (!b->wanted) {
            pthread_cond_wait(&b->changed, &b->lock);
            continue;
        }
        b->wanted = false;
        pthread_mutex_unlock(&b->lock);
        run_one(b);
        pthread_mutex_lock(&b->lock);
    }
    pthread_mutex_unlock(&b->lock);
    return NULL;
}

/* --- the face --------------------------------------------------------------------------------- */

/* Looks before it says yes; the room is looked at again when the size of everything is known. */
static enum err look(struct backups *b, struct error *err)
{
    struct snapshot *s = NULL;
    enum err rc = backup_dir_prepare(b->dir, err);
    if (rc == ERR_OK)
        rc = snapshot_open(b->storage, &s, err);
    if (rc == ERR_OK)
        rc = check_room(b, snapshot_bytes(s), err);
    snapshot_close(s);
    return rc;
}

enum err backups_begin(struct backups *b, int64_t now_ms, char ret_id[BACKUP_ID_SIZE],
                       struct error *err)
{
    pthread_mutex_lock(&b->lock);
    if (b->status.state == BACKUP_RUNNING || b->stopping) {
        pthread_mutex_unlock(&b->lock);
        return error_set(err, ERR_CONFLICT, "a backup is being made");
    }
    struct backup_status before = b->status;
    /* Not the name of the one before, should the clock stand still. */
    if (now_ms <= before.facts.begun_ms)
        now_ms = before.facts.begun_ms + 1;
    b->status = (struct backup_status){.state = BACKUP_RUNNING, .facts = {.begun_ms = now_ms}};
    backup_id_make(now_ms, b->status.id);
    memcpy(ret_id, b->status.id, BACKUP_ID_SIZE);
    pthread_mutex_unlock(&b->lock);
    enum err rc = look(b, err);
    pthread_mutex_lock(&b->lock);
    if (rc == ERR_OK) {
        b->wanted = true;
        pthread_cond_signal(&b->changed);
    } else {
        b->status = before;
    }
    pthread_mutex_unlock(&b->lock);
    return rc;
}

void backups_last(struct backups *b, struct backup_status *ret)
{
    pthread_mutex_lock(&b->lock);
    *ret = b->status;
    pthread_mutex_unlock(&b->lock);
}

const char *backups_dir(const struct backups *b)
{
    return b->dir;
}

enum err backups_start(struct storage *storage, struct blob_store *blobs,
                       const struct backups_options *options, struct metrics *metrics,
                       struct backups **ret, struct error *err)
{
    struct backups *b = calloc(1, sizeof(*b));
    if (!b)
        return error_set(err, ERR_NO_MEMORY, "no memory for backups");
    pthread_mutex_init(&b->lock, NULL);
    pthread_cond_init(&b->changed, NULL);
    b->storage = storage;
    b->blobs = blobs;
    b->metrics = metrics;
    b->options = *options;
    int n = snprintf(b->dir, sizeof(b->dir), "%s", options->dir);
    enum err rc = n < 0 || (size_t)n >= sizeof(b->dir)
                      ? error_set(err, ERR_LIMIT, "the path of the backup folder is too long")
                      : thread_start(&b->thread, "backups", run, b, err);
    if (rc != ERR_OK) {
        backups_stop(b);
        return rc;
    }
    *ret = b;
    return ERR_OK;
}

void backups_stop(struct backups *b)
{
    if (!b)
        return;
    pthread_mutex_lock(&b->lock);
    b->stopping = true;
    pthread_cond_broadcast(&b->changed);
    pthread_mutex_unlock(&b->lock);
    thread_join(&b->thread);
    pthread_cond_destroy(&b->changed);
    pthread_mutex_destroy(&b->lock);
    free(b);
}
