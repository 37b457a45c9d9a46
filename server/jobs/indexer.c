/*
 * DESIGN
 *
 * What. One thread takes, in turn, the next UUID whose index is to be chosen anew (index_refit.h) and
 * the upload whose turn it is (upload_turns.h); for the latter it runs the indexing child on it,
 * verifies and installs what the child wrote, and says so to the database. The tables are the
 * queues, so nothing has to be handed over at a restart: what was queued or under way is taken again.
 *
 * Order of events, so that a crash between any two of them loses nothing:
 *   1. files into place, cache told: stacks resolved from now on use the new index;
 *   2. stacks that missed the image back to pending, in chunks (WRITE_REPEND);
 *   3. the upload becomes INDEXED, with its slices, and in the same transaction a first chunk of the
 *      stacks that slipped in between, and a note if there may be more;
 *   4. what is left of those, in chunks; the last one takes the note away.
 * A crash before 3 does all of it again, which changes nothing twice; notes (read_turn_backs) are
 * looked for at each turn. The writer's bell rings the resolver after each commit that made stacks
 * pending.
 *
 * Ends. Whatever the child does the upload ends INDEXED or FAILED with a reason (index_upload.h). What
 * stays queued lets those behind it have their turn, then it is tried again, so that one holds nobody
 * up. Between tries are RETRY_MS, twice as long after each that failed, up to RETRY_MAX_MS.
 *
 * Who calls. indexer_ring() and indexer_wait() from any thread; waiters are called on this thread, or
 * at once on the caller's.
 *
 * Locks. `lock` around the bell, that of the waiters around them, `read_lock` around the reader that indexer_wait()
 * uses. Never two of them, and nothing is called under either.
 */
#include "server/jobs/indexer.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/steady_wall.h"
#include "base/thread.h"
#include "server/jobs/index_child.h"
#include "server/jobs/index_refit.h"
#include "server/jobs/index_tell.h"
#include "server/jobs/index_upload.h"
#include "server/jobs/shelf_text.h"
#include "server/jobs/upload_turns.h"
#include "server/jobs/waiters.h"
#include "storage/storage_read.h"

#define RETRY_MS     1000
#define RETRY_MAX_MS 10000
#define IDLE_MS      2000 /* how often to look for refits that nobody rings for */
#define REFITS_MAX   64
#define USES_MAX     256        /* fetches noted between two looks; more are not */
#define REFITS       UINT64_MAX /* waiters' key: no UUID is queued */
#define WORK_ARENA   ((size_t)256 * 1024 * 1024)
#define WAIT_ARENA   ((size_t)128 * 1024 * 1024)

struct indexer {
    struct writer *writer;
    struct blob_store *blobs;
    struct index_cache *cache;
    struct layouts *layouts;
    struct indexer_options options;
    struct metrics *metrics;
    struct symbol_keeper *keeper; /* NULL */
    struct steady_wall steady;    /* its time; the thread's own */
    struct thread thread;
    struct storage_reader *reader;
    struct arena *arena;        /* of one upload */
    uint64_t failed_id;         /* the upload that had to wait last; the thread's own */
    struct upload_turns turns;  /* the thread's own */
    unsigned failures;          /* rounds in a row in which something failed; the thread's own */
    struct index_upload upload; /* the thread's own */
    struct child_kills kills;
    struct uuid failed_uuid; /* as failed_id, of refits */
    char maps_dir[PATH_MAX]; /* the store's symbol maps */
    int stop_fd;             /* an eventfd, readable once the indexer stops */

    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool rung;
    bool stopping;
    struct uuid uses[USES_MAX];
    size_t use_count;
    struct waiters waiters;

    pthread_mutex_t read_lock;
    struct storage_reader *wait_reader;
    struct arena *wait_arena;
};

static void log_trouble(const char *msg, uint64_t upload_id, const struct error *err)
{
    char quoted[sizeof(err->text) + 64];
    log_warn(msg, "upload=%" PRIu64 " error=%s", upload_id,
             log_quote(err->text, quoted, sizeof(quoted)));
}

/* --- waiting ---------------------------------------------------------------------------------- */

/* Is the upload (are the refits) at its end? On the caller's thread. */
static enum err is_finished(struct indexer *x, uint64_t key, bool *ret, struct error *err)
{
    struct upload_row row = {.state = UPLOAD_QUEUED};
    struct refit_row *refits = NULL;
    size_t count = 0;
    pthread_mutex_lock(&x->read_lock);
    arena_reset(x->wait_arena);
    enum err rc = key == REFITS
                      ? read_refits(x->wait_reader, 1, x->wait_arena, &refits, &count, err)
                      : read_upload(x->wait_reader, key, x->wait_arena, &row, err);
    pthread_mutex_unlock(&x->read_lock);
    if (rc == ERR_OK)
        *ret =
            key == REFITS ? count == 0 : row.state == UPLOAD_INDEXED || row.state == UPLOAD_FAILED;
    return rc;
}

/* Listed first, looked up second: whichever of the two threads takes it off the list calls. */
static enum err wait_for(struct indexer *x, uint64_t key, void (*done)(void *ctx, enum err rc),
                         void *ctx, struct error *err)
{
    const struct waiter *w = NULL;
    bool finished = false;
    enum err rc = waiters_add(&x->waiters, key, done, ctx, &w, err);
    if (rc != ERR_OK)
        return rc;
    rc = is_finished(x, key, &finished, err);
    if (rc == ERR_OK && !finished)
        return ERR_OK;
    if (!waiters_remove(&x->waiters, w))
        return ERR_OK;
    if (rc == ERR_OK)
        done(ctx, ERR_OK);
    return rc;
}

enum err indexer_wait(struct indexer *x, uint64_t upload_id, void (*done)(void *ctx, enum err rc),
                      void *ctx, struct error *err)
{
    return wait_for(x, upload_id, done, ctx, err);
}

enum err indexer_wait_refits(struct indexer *x, void (*done)(void *ctx, enum err rc), void *ctx,
                             struct error *err)
{
    return wait_for(x, REFITS, done, ctx, err);
}

/* --- one refit -------------------------------------------------------------------------------- */

/* How the child is run. */
static struct index_child child_of(struct indexer *x)
{
    return (struct index_child){.program = x->options.program,
                                .jobs = x->options.jobs,
                                .data_bytes = x->options.child_data_bytes,
                                .file_bytes = x->options.child_file_bytes,
                                .cpu_s = x->options.child_cpu_s,
                                .wall_s = x->options.child_wall_s,
                                .keep_objects = x->options.keep_objects,
                                .maps_dir = x->maps_dir,
                                .kills = &x->kills,
                                .stop_fd = x->stop_fd};
}

static enum err note_damage(void *ctx, const struct uuid *uuid, struct error *err)
{
    struct indexer *x = ctx;
    return index_tell_refits(x->writer, uuid, 1, true, err);
}

/* Files first, then stacks, then the database, which notes the UUID for the stacks that slipped in
 * between; as with an upload. Stacks that were resolved with an index that is lost keep what it
 * said; those of one that was damaged are resolved anew, once there is another. */
static enum err refit(struct indexer *x, const struct refit_row *row, struct error *err)
{
    const struct index_refit in = {.reader = x->reader,
                                   .blobs = x->blobs,
                                   .cache = x->cache,
                                   .layouts = x->layouts,
                                   .child = child_of(x),
                                   .heals = note_damage,
                                   .ctx = x};
    struct refitted r = {.changed = false};
    char text[SHELF_TEXT_SIZE];
    shelf_text(x->reader, &row->shelf, x->arena, text); /* a shelf that nothing is left on goes */
    enum err rc = index_refit(&in, &row->shelf, x->arena, &r, err);
    bool all_users = row->deleted || r.healed;
    /* Though nothing changed: whoever had it looked at failed to read it. */
    if (rc == ERR_OK)
        rc = index_tell_pending(x->writer, &row->shelf, 1, all_users, err);
    if (rc == ERR_OK)
        rc = index_tell_refitted(x->writer, &r, all_users, err);
    if (rc != ERR_OK)
        return rc;
    metrics_add(x->metrics, METRIC_REFITS, 1);
    log_info("index chosen anew", "%s slice=%" PRIu64 " made=%d lost=%zu", text, r.op.slice_id,
             r.made_anew, r.op.lost_count);
    return index_tell_turn_backs(x->writer, x->reader, x->arena, err);
}

/* The next UUID that is queued, after the one that failed last. *ret_more: look again at once. */
static enum err refit_next(struct indexer *x, bool *ret_more, struct error *err)
{
    struct refit_row *rows = NULL;
    size_t count = 0, i = 0;
    *ret_more = false;
    arena_reset(x->arena);
    enum err rc = read_refits(x->reader, REFITS_MAX, x->arena, &rows, &count, err);
    if (rc == ERR_OK && count == 0)
        waiters_call(&x->waiters, REFITS, ERR_OK);
    if (rc != ERR_OK || count == 0)
        return rc;
    while (i < count && uuid_compare(&rows[i].shelf, &x->failed_uuid) <= 0)
        i++;
    const struct refit_row row = rows[i < count ? i : 0];
    rc = refit(x, &row, err);
    *ret_more = rc == ERR_OK;
    const struct uuid none = {{0}};
    x->failed_uuid = rc == ERR_OK ? none : row.shelf;
    if (rc != ERR_OK)
        waiters_call(&x->waiters, REFITS, ERR_BUSY);
    return rc;
}

/* --- the thread ------------------------------------------------------------------------------- */

/* 0: none waits. */
static enum err next_upload(struct indexer *x, uint64_t *ret, struct error *err)
{
    struct upload_waiting *waiting = NULL;
    size_t count = 0;
    arena_reset(x->arena);
    enum err rc = read_uploads_waiting(x->reader, x->arena, &waiting, &count, err);
    if (rc != ERR_OK)
        return rc;
    metrics_set(x->metrics, METRIC_UPLOADS_WAITING, (int64_t)count);
    *ret = upload_turns_take(&x->turns, waiting, count, x->failed_id);
    return ERR_OK;
}

/* Sleeps until rung, stopped or the time has come. False: stop. */
static bool wait_for_work(struct indexer *x, int64_t until_mono_ms)
{
    pthread_mutex_lock(&x->lock);
    bool due = until_mono_ms == 0;
    while (!x->stopping && !x->rung && !due) {
        if (until_mono_ms == INT64_MAX)
            pthread_cond_wait(&x->changed, &x->lock);
        else
            due = !thread_cond_wait_until(&x->changed, &x->lock, until_mono_ms);
    }
    x->rung = false;
    bool go_on = !x->stopping;
    pthread_mutex_unlock(&x->lock);
    return go_on;
}

/* Stacks that slipped in while an index came into use; what cannot be done now stays noted. */
static enum err turn_back(struct indexer *x)
{
    struct error err;
    arena_reset(x->arena);
    enum err rc = index_tell_turn_backs(x->writer, x->reader, x->arena, &err);
    if (rc != ERR_OK)
        log_trouble("stacks wait a little longer", 0, &err);
    return rc;
}

/* One upload. *ret_more: look again at once. */
static enum err upload_next(struct indexer *x, bool *ret_more, struct error *err)
{
    uint64_t id = 0;
    enum err rc = next_upload(x, &id, err);
    *ret_more = rc == ERR_OK && id != 0;
    if (*ret_more) {
        rc = index_upload_run(&x->upload, id, err);
        if (rc == ERR_OK)
            (void)turn_back(x); /* the next round looks again */
        if (rc == ERR_OK)
            waiters_call(&x->waiters, id, ERR_OK);
    }
    if (rc == ERR_OK)
        return ERR_OK;
    x->failed_id = id;
    if (rc != ERR_BUSY)
        log_trouble("upload has to wait", id, err);
    /* Nobody can say how long: whoever waits for it (for any, when the database is what fails) is told
     * that it is queued. */
    waiters_call(&x->waiters, id ? id : WAITERS_ALL, ERR_BUSY);
    return rc;
}

/* The store is looked after. *ret_more: look again at once. */
static enum err keep(struct indexer *x, bool *ret_more, struct error *err)
{
    struct uuid uses[USES_MAX];
    *ret_more = false;
    if (!x->keeper)
        return ERR_OK;
    pthread_mutex_lock(&x->lock);
    size_t count = x->use_count;
    memcpy(uses, x->uses, count * sizeof(uses[0]));
    x->use_count = 0;
    pthread_mutex_unlock(&x->lock);
    arena_reset(x->arena);
    const int64_t mono_ms = clock_mono_ms();
    const int64_t wall_ms = steady_wall(&x->steady, clock_wall_ms(), mono_ms, NULL);
    enum err rc =
        symbol_keeper_step(x->keeper, wall_ms, mono_ms, uses, count, x->arena, ret_more, err);
    if (rc != ERR_OK && rc != ERR_BUSY)
        log_trouble("the symbol store is not looked after", 0, err);
    return rc;
}

/* What /readyz tells; what failed is tried until it works again. */
static void note_disk(struct indexer *x, bool failing)
{
    struct error err;
    char quoted[sizeof(err.text) + 64];
    if (failing != (metrics_get(x->metrics, METRIC_STORE_FAILING) == 1))
        log_info(failing ? "the symbol store fails" : "the symbol store works again", "failing=%d",
                 failing);
    metrics_set(x->metrics, METRIC_STORE_FAILING, failing);
    if (metrics_get(x->metrics, METRIC_SPOOL_FAILING) == 0)
        return;
    if (blob_store_probe_spool(x->blobs, &err) == ERR_OK) {
        log_info("uploads can be written again", "store=spool");
        metrics_set(x->metrics, METRIC_SPOOL_FAILING, 0);
    } else {
        log_warn("uploads cannot be written", "error=%s",
                 log_quote(err.text, quoted, sizeof(quoted)));
    }
}

static int64_t pause_after(unsigned failures)
{
    int64_t ms = RETRY_MS;
    for (unsigned i = 1; i < failures && ms < RETRY_MAX_MS; i++)
        ms *= 2;
    return ms < RETRY_MAX_MS ? ms : RETRY_MAX_MS;
}

/* Both queues in turn, so that neither holds the other up. */
static void *run(void *arg)
{
    struct indexer *x = arg;
    int64_t until = 0; /* what waits since the last run is taken at once */
    while (wait_for_work(x, until)) {
        struct error err = {.code = ERR_OK};
        enum err backs = turn_back(x);
        bool more_refits = false, more_uploads = false, more_keeping = false;
        enum err refits = refit_next(x, &more_refits, &err);
        if (refits != ERR_OK && refits != ERR_BUSY)
            log_trouble("an index has to wait", 0, &err);
        enum err uploads = upload_next(x, &more_uploads, &err);
        enum err keeping = keep(x, &more_keeping, &err);
        note_disk(x, refits == ERR_IO || uploads == ERR_IO || keeping == ERR_IO);
        bool failed = backs != ERR_OK || refits != ERR_OK || uploads != ERR_OK ||
                      keeping != ERR_OK || blob_store_tidy(x->blobs) > 0;
        x->failures = failed ? x->failures + 1 : 0;
        if (failed)
            until = clock_mono_ms() + pause_after(x->failures);
        else
            until = more_refits || more_uploads || more_keeping ? 0 : clock_mono_ms() + IDLE_MS;
    }
    return NULL;
}

/* --- the face --------------------------------------------------------------------------------- */

static void indexer_free(struct indexer *x)
{
    if (x->stop_fd >= 0)
        close(x->stop_fd);
    symbol_keeper_free(x->keeper);
    storage_reader_close(x->reader);
    storage_reader_close(x->wait_reader);
    arena_free(x->arena);
    arena_free(x->wait_arena);
    waiters_done(&x->waiters);
    child_kills_done(&x->kills);
    pthread_cond_destroy(&x->changed);
    pthread_mutex_destroy(&x->lock);
    pthread_mutex_destroy(&x->read_lock);
    free(x);
}

static enum err make_parts(struct indexer *x, struct storage *storage, struct error *err)
{
    x->arena = arena_new(WORK_ARENA);
    x->wait_arena = arena_new(WAIT_ARENA);
    if (!x->arena || !x->wait_arena)
        return error_set(err, ERR_NO_MEMORY, "no memory for the indexer");
    if (x->stop_fd < 0)
        return error_errno(err, errno, "cannot make an eventfd");
    enum err rc = storage_reader_open(storage, &x->reader, err);
    if (rc == ERR_OK)
        rc = storage_reader_open(storage, &x->wait_reader, err);
    x->upload = (struct index_upload){.reader = x->reader,
                                      .writer = x->writer,
                                      .blobs = x->blobs,
                                      .cache = x->cache,
                                      .layouts = x->layouts,
                                      .metrics = x->metrics,
                                      .arena = x->arena,
                                      .caps = x->options.caps,
                                      .child = child_of(x)};
    if (rc != ERR_OK || !x->options.keeper)
        return rc;
    const struct symbol_keeper_parts parts = {.reader = x->reader,
                                              .writer = x->writer,
                                              .blobs = x->blobs,
                                              .cache = x->cache,
                                              .piece_locks = x->options.piece_locks,
                                              .metrics = x->metrics};
    x->keeper = symbol_keeper_new(&parts, x->options.keeper);
    return x->keeper ? ERR_OK : error_set(err, ERR_NO_MEMORY, "no memory for the indexer");
}

enum err indexer_start(struct storage *storage, struct writer *writer, struct blob_store *blobs,
                       struct index_cache *cache, struct layouts *layouts,
                       const struct indexer_options *options, struct metrics *metrics,
                       struct indexer **ret, struct error *err)
{
    struct indexer *x = calloc(1, sizeof(*x));
    if (!x)
        return error_set(err, ERR_NO_MEMORY, "no memory for the indexer");
    pthread_mutex_init(&x->lock, NULL);
    pthread_mutex_init(&x->read_lock, NULL);
    thread_cond_init(&x->changed);
    waiters_init(&x->waiters);
    child_kills_init(&x->kills);
    x->writer = writer;
    x->blobs = blobs;
    x->cache = cache;
    x->layouts = layouts;
    x->options = *options;
    if (!blob_store_maps_path(blobs, x->maps_dir, sizeof(x->maps_dir)))
        x->maps_dir[0] = 0;
    x->metrics = metrics;
    x->stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    enum err rc = make_parts(x, storage, err);
    if (rc == ERR_OK)
        rc = thread_start(&x->thread, "indexer", run, x, err);
    if (rc != ERR_OK) {
        indexer_free(x);
        return rc;
    }
    *ret = x;
    return ERR_OK;
}

void indexer_quiesce(struct indexer *x)
{
    const uint64_t one = 1;
    pthread_mutex_lock(&x->lock);
    x->stopping = true;
    pthread_cond_broadcast(&x->changed);
    pthread_mutex_unlock(&x->lock);
    ssize_t written = write(x->stop_fd, &one, sizeof(one));
    (void)written; /* it cannot be full: this is its only use */
    thread_join(&x->thread);
    waiters_close(&x->waiters);
    waiters_call(&x->waiters, WAITERS_ALL, ERR_BUSY);
}

void indexer_stop(struct indexer *x)
{
    if (!x)
        return;
    indexer_quiesce(x);
    indexer_free(x);
}

void indexer_ring(struct indexer *x)
{
    pthread_mutex_lock(&x->lock);
    x->rung = true;
    pthread_cond_broadcast(&x->changed);
    pthread_mutex_unlock(&x->lock);
}

void indexer_note_use(struct indexer *x, const struct uuid *uuid)
{
    pthread_mutex_lock(&x->lock);
    if (x->use_count < USES_MAX)
        x->uses[x->use_count++] = *uuid;
    pthread_mutex_unlock(&x->lock);
}
