/*
 * DESIGN
 *
 * What. One thread writes all uploads. The door copies what it receives into an upload's chunks; a
 * full chunk makes the upload runnable; the thread takes runnable uploads in turn, hashes and writes
 * one chunk of each, so that a large upload does not starve a small one. After the last chunk it
 * syncs the file and says `finished`.
 *
 * Who calls. spool_begin/write/finish/abort: the thread of the door that drives the upload.
 * `drained` and `finished` are called on the spooler's thread with no lock held.
 *
 * States. OPEN -> FINISHING (spool_finish) -> gone after `finished`; or ABORTED (spool_abort) -> gone
 * once the thread is done with it. A failed write leaves the upload OPEN with `failed` set: the next
 * spool_write() answers it, or `finished` does.
 *
 * Locks. One, around everything but the disk and the callbacks. spool_abort() waits for a callback
 * of that upload that is running (unless it is called by it), so nothing is called afterwards.
 */
#include "server/jobs/spooler.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/thread.h"

#define SPOOL_NAME_SIZE 128

struct chunk {
    size_t len;
    uint8_t data[];
};

enum spool_state { SPOOL_OPEN, SPOOL_FINISHING, SPOOL_ABORTED };

struct spool {
    struct spooler *owner;
    struct spool_callbacks callbacks;
    struct spool *next_live, *prev_live; /* all uploads there are */
    struct spool *next_ready;            /* those the thread has something to do for */
    bool ready;                          /* in that list, or being served */
    enum spool_state state;
    bool writer_waits; /* a write was refused: `drained` is owed */
    struct chunk *
        *chunks; /* ring; [first, first + filled) are full, the next one is being filled */
    size_t first, filled;
    uint64_t accepted;
    uint64_t limit;
    bool appends; /* to a file that was there, from `offset` on */
    uint64_t offset;
    enum err failed;
    struct error error;
    /* The thread's own: */
    int fd;
    char name[SPOOL_NAME_SIZE];
    struct sha256 sha;
    uint64_t written;
    uint8_t head[sizeof(((struct spool_result *)NULL)->head)];
    size_t head_len;
};

struct spooler {
    struct blob_store *blobs;
    struct spooler_options options;
    pthread_mutex_t lock;
    pthread_cond_t work;
    pthread_cond_t called; /* a callback returned */
    struct thread thread;
    bool stopping;
    struct spool *live;
    struct spool *ready_first, *ready_last;
    const struct spool *calling; /* whose callback runs */
};

/* --- lists; the lock is held ------------------------------------------------------------------ */

static void make_ready(struct spool *u)
{
    struct spooler *s = u->owner;
    if (u->ready)
        return;
    u->ready = true;
    u->next_ready = NULL;
    if (s->ready_last)
        s->ready_last->next_ready = u;
    else
        s->ready_first = u;
    s->ready_last = u;
    pthread_cond_signal(&s->work);
}

static struct spool *take_ready(struct spooler *s)
{
    struct spool *u = s->ready_first;
    s->ready_first = u->next_ready;
    if (!s->ready_first)
        s->ready_last = NULL;
    return u;
}

static void link_live(struct spool *u)
{
    u->next_live = u->owner->live;
    if (u->next_live)
        u->next_live->prev_live = u;
    u->owner->live = u;
}

static void unlink_live(struct spool *u)
{
    if (u->prev_live)
        u->prev_live->next_live = u->next_live;
    else
        u->owner->live = u->next_live;
    if (u->next_live)
        u->next_live->prev_live = u->prev_live;
}

/* --- the disk; no lock is held ---------------------------------------------------------------- */

/* What is behind `offset` was never answered for. */
static enum err open_again(struct spool *u, struct error *err)
{
    char path[PATH_MAX];
    struct stat st;
    if (!blob_store_spool_path(u->owner->blobs, u->name, path, sizeof(path)))
        return error_set(err, ERR_INTERNAL, "not a name of a spool file");
    u->fd = open(path, O_WRONLY | O_CLOEXEC);
    bool lost = u->fd < 0 && errno == ENOENT;
    if (!lost && (u->fd < 0 || fstat(u->fd, &st) != 0))
        return error_errno(err, errno, "cannot open the upload");
    if (lost || (uint64_t)st.st_size < u->offset)
        return error_set(err, ERR_NOT_FOUND, "what was received of the upload is lost");
    if (ftruncate(u->fd, (off_t)u->offset) != 0 || lseek(u->fd, 0, SEEK_END) < 0)
        return error_errno(err, errno, "cannot write the upload");
    return ERR_OK;
}

static enum err write_chunk(struct spool *u, const struct chunk *c, struct error *err)
{
    struct spooler *s = u->owner;
    if (u->fd < 0) {
        enum err rc =
            u->appends ? open_again(u, err)
                       : blob_store_spool_create(s->blobs, u->name, sizeof(u->name), &u->fd, err);
        if (rc != ERR_OK)
            return rc;
    }
    uint64_t left = blob_store_free_bytes(s->blobs);
    if (left < s->options.free_bytes_min || left - s->options.free_bytes_min < c->len)
        return error_set(err, ERR_IO, "the disk is full");
    size_t room = sizeof(u->head) - u->head_len;
    size_t head = c->len < room ? c->len : room;
    memcpy(u->head + u->head_len, c->data, head);
    u->head_len += head;
    sha256_update(&u->sha, c->data, c->len);
    u->written += c->len;
    return file_write(u->fd, c->data, c->len, "the upload", err);
}

static enum err sync_and_close(struct spool *u, struct error *err)
{
    enum err rc = ERR_OK;
    if (u->fd < 0)
        return error_set(err, ERR_INVALID, "the upload is empty");
    if (fsync(u->fd) != 0)
        rc = error_errno(err, errno, "cannot sync the upload");
    if (close(u->fd) != 0 && rc == ERR_OK)
        rc = error_errno(err, errno, "cannot write the upload");
    u->fd = -1;
    return rc;
}

static void remove_file(struct spool *u)
{
    struct error ignored; /* what stays is swept at the next start */
    if (u->fd >= 0)
        close(u->fd);
    u->fd = -1;
    if (u->name[0] && !u->appends)
        (void)blob_store_remove_spool(u->owner->blobs, u->name, &ignored);
}

static void spool_free(struct spool *u)
{
    if (!u)
        return;
    for (size_t i = 0; u->chunks && i < u->owner->options.chunks; i++)
        free(u->chunks[i]);
    free(u->chunks);
    free(u);
}

/* --- the thread ------------------------------------------------------------------------------- */

static void call_drained(struct spool *u)
{
    struct spooler *s = u->owner;
    u->writer_waits = false;
    s->calling = u;
    pthread_mutex_unlock(&s->lock);
    u->callbacks.drained(u->callbacks.ctx);
    pthread_mutex_lock(&s->lock);
    s->calling = NULL;
    pthread_cond_broadcast(&s->called);
}

static void call_finished(struct spool *u, enum err rc, const struct error *err)
{
    struct spooler *s = u->owner;
    struct spool_result result = {.name = u->name, .size = u->written, .head_len = u->head_len};
    result.sha = u->sha;
    sha256_final(&u->sha, result.sha256);
    memcpy(result.head, u->head, u->head_len);
    u->callbacks.finished(u->callbacks.ctx, rc == ERR_OK ? &result : NULL, rc, err);
    pthread_mutex_lock(&s->lock);
    s->calling = NULL;
    unlink_live(u);
    pthread_cond_broadcast(&s->called);
    pthread_mutex_unlock(&s->lock);
    spool_free(u);
    pthread_mutex_lock(&s->lock);
}

/* The indexer looks after it until it works again. */
static void note_disk(const struct spooler *s, enum err rc)
{
    if (s->options.metrics && (rc == ERR_OK || rc == ERR_IO))
        metrics_set(s->options.metrics, METRIC_SPOOL_FAILING, rc == ERR_IO);
}

/* Everything is written, or nothing more will be: the end of the upload. The lock is held. */
static void finish(struct spool *u)
{
    struct spooler *s = u->owner;
    struct error err = u->error;
    enum err rc = u->failed;
    s->calling = u; /* from here on an abort waits */
    pthread_mutex_unlock(&s->lock);
    if (rc == ERR_OK) {
        rc = sync_and_close(u, &err);
        note_disk(s, rc);
    }
    if (rc != ERR_OK)
        remove_file(u);
    call_finished(u, rc, &err);
}

static void drop(struct spool *u)
{
    struct spooler *s = u->owner;
    unlink_live(u);
    pthread_mutex_unlock(&s->lock);
    remove_file(u);
    spool_free(u);
    pthread_mutex_lock(&s->lock);
}

/* Writes the oldest chunk. The lock is held on entry and return. */
static void write_one(struct spool *u)
{
    struct spooler *s = u->owner;
    struct error err = {.code = ERR_OK};
    const struct chunk *c = u->chunks[u->first];
    pthread_mutex_unlock(&s->lock);
    enum err rc = write_chunk(u, c, &err);
    if (rc != ERR_OK)
        note_disk(s, rc);
    pthread_mutex_lock(&s->lock);
    u->chunks[u->first]->len = 0;
    u->first = (u->first + 1) % s->options.chunks;
    u->filled--;
    if (rc != ERR_OK) {
        u->failed = rc;
        u->error = err;
    }
}

/* One turn for one upload; it stays marked ready until its end, so that nobody lists it while it may
 * be freed. */
static void serve(struct spool *u)
{
    if (u->state == SPOOL_ABORTED) {
        drop(u);
        return;
    }
    if (u->filled > 0 && u->failed == ERR_OK)
        write_one(u);
    else if (u->failed != ERR_OK)
        u->filled = 0;
    if (u->state == SPOOL_FINISHING && (u->filled == 0 || u->failed != ERR_OK)) {
        finish(u);
        return;
    }
    if (u->state == SPOOL_OPEN && u->writer_waits)
        call_drained(u);
    u->ready = false;
    if (u->state != SPOOL_OPEN || u->filled > 0)
        make_ready(u);
}

static void *run(void *arg)
{
    struct spooler *s = arg;
    pthread_mutex_lock(&s->lock);
    while (!s->stopping || s->ready_first) {
        if (s->ready_first)
            serve(take_ready(s));
        else
            pthread_cond_wait(&s->work, &s->lock);
    }
    pthread_mutex_unlock(&s->lock);
    return NULL;
}

enum err spooler_start(struct blob_store *blobs, const struct spooler_options *options,
                       struct spooler **ret, struct error *err)
{
    struct spooler *s = calloc(1, sizeof(*s));
    if (!s)
        return error_set(err, ERR_NO_MEMORY, "no memory for the spooler");
    pthread_mutex_init(&s->lock, NULL);
    pthread_cond_init(&s->work, NULL);
    pthread_cond_init(&s->called, NULL);
    s->blobs = blobs;
    s->options = *options;
    enum err rc = thread_start(&s->thread, "spooler", run, s, err);
    if (rc != ERR_OK) {
        spooler_stop(s);
        return rc;
    }
    *ret = s;
    return ERR_OK;
}

/* What was finished is written and told; what is still open (its driver is gone: the door stops
 * before the spooler) is dropped with its file. */
void spooler_stop(struct spooler *s)
{
    if (!s)
        return;
    pthread_mutex_lock(&s->lock);
    s->stopping = true;
    pthread_cond_signal(&s->work);
    pthread_mutex_unlock(&s->lock);
    thread_join(&s->thread);
    while (s->live) {
        struct spool *u = s->live;
        unlink_live(u);
        remove_file(u);
        spool_free(u);
    }
    pthread_cond_destroy(&s->called);
    pthread_cond_destroy(&s->work);
    pthread_mutex_destroy(&s->lock);
    free(s);
}

/* --- the door's side -------------------------------------------------------------------------- */

static enum err begin(struct spooler *s, const struct spool_callbacks *callbacks,
                      const struct spool_more *more, struct spool **ret, struct error *err)
{
    if (blob_store_free_bytes(s->blobs) <= s->options.free_bytes_min)
        return error_set(err, ERR_IO, "the disk is full");
    struct spool *u = calloc(1, sizeof(*u));
    if (u)
        u->chunks = calloc(s->options.chunks, sizeof(u->chunks[0]));
    if (!u || !u->chunks) {
        free(u);
        return error_set(err, ERR_NO_MEMORY, "no memory for an upload");
    }
    u->owner = s;
    u->callbacks = *callbacks;
    u->fd = -1;
    u->limit = s->options.upload_bytes;
    sha256_init(&u->sha);
    if (more) {
        u->appends = true;
        u->offset = more->offset;
        u->limit = more->limit;
        u->sha = more->sha;
        snprintf(u->name, sizeof(u->name), "%s", more->name);
    }
    pthread_mutex_lock(&s->lock);
    enum err rc = s->stopping ? error_set(err, ERR_BUSY, "the daemon is stopping") : ERR_OK;
    if (rc == ERR_OK)
        link_live(u);
    pthread_mutex_unlock(&s->lock);
    if (rc != ERR_OK) {
        spool_free(u);
        return rc;
    }
    *ret = u;
    return ERR_OK;
}

enum err spool_begin(struct spooler *s, const struct spool_callbacks *callbacks, struct spool **ret,
                     struct error *err)
{
    return begin(s, callbacks, NULL, ret, err);
}

enum err spool_append(struct spooler *s, const struct spool_callbacks *callbacks,
                      const struct spool_more *more, struct spool **ret, struct error *err)
{
    return begin(s, callbacks, more, ret, err);
}

/* The chunk that is being filled; NULL when all are full. Memory is taken when first needed. */
static struct chunk *open_chunk(struct spool *u, struct error *err)
{
    const struct spooler_options *o = &u->owner->options;
    if (u->filled == o->chunks)
        return NULL;
    struct chunk **place = &u->chunks[(u->first + u->filled) % o->chunks];
    if (!*place)
        *place = calloc(1, sizeof(**place) + o->chunk_bytes);
    if (!*place) {
        u->failed = error_set(&u->error, ERR_NO_MEMORY, "no memory for an upload");
        if (err)
            *err = u->error;
    }
    return *place;
}

static enum err check_write(struct spool *u, size_t len, struct error *err)
{
    if (u->failed == ERR_OK && len > u->limit - u->accepted)
        u->failed = error_set(&u->error, ERR_LIMIT, "the upload is larger than %llu bytes",
                              (unsigned long long)u->limit);
    if (u->failed != ERR_OK && err)
        *err = u->error;
    return u->failed;
}

enum err spool_write(struct spool *u, const void *data, size_t len, size_t *ret_taken,
                     struct error *err)
{
    struct spooler *s = u->owner;
    const uint8_t *p = data;
    size_t taken = 0;
    pthread_mutex_lock(&s->lock);
    enum err rc = check_write(u, len, err);
    while (rc == ERR_OK && taken < len) {
        struct chunk *c = open_chunk(u, err);
        rc = u->failed;
        if (!c)
            break;
        size_t room = s->options.chunk_bytes - c->len;
        size_t n = len - taken < room ? len - taken : room;
        memcpy(c->data + c->len, p + taken, n);
        c->len += n;
        taken += n;
        if (c->len == s->options.chunk_bytes) {
            u->filled++;
            make_ready(u);
        }
    }
    if (rc == ERR_OK) {
        u->accepted += taken;
        u->writer_waits = taken < len;
        *ret_taken = taken;
        if (taken == 0 && len > 0)
            rc = error_set(err, ERR_BUSY, "the upload's buffer is full");
    }
    pthread_mutex_unlock(&s->lock);
    return rc;
}

void spool_finish(struct spool *u)
{
    struct spooler *s = u->owner;
    pthread_mutex_lock(&s->lock);
    u->state = SPOOL_FINISHING;
    u->writer_waits = false;
    const struct chunk *last = NULL;
    if (u->filled < s->options.chunks)
        last = u->chunks[(u->first + u->filled) % s->options.chunks];
    if (last && last->len > 0)
        u->filled++;
    make_ready(u);
    pthread_mutex_unlock(&s->lock);
}

void spool_abort(struct spool *u)
{
    struct spooler *s = u->owner;
    pthread_mutex_lock(&s->lock);
    bool inside = pthread_equal(pthread_self(), s->thread.id) != 0;
    bool ending = s->calling == u && u->state == SPOOL_FINISHING;
    while (s->calling == u && !inside)
        pthread_cond_wait(&s->called, &s->lock);
    /* An upload whose `finished` ran is gone by now, or goes as soon as it returns. */
    if (!ending) {
        u->state = SPOOL_ABORTED;
        make_ready(u);
    }
    pthread_mutex_unlock(&s->lock);
}
