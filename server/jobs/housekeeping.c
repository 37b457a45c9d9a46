/*
 * DESIGN
 *
 * What. A thread that looks every `interval_ms` whether something is due:
 *   - the write-ahead log is longer than `checkpoint_bytes` and does not grow fast, which is the
 *     checkpointer's, or did so for FAST_MS: a PASSIVE checkpoint; no commit for `idle_ms` and a log
 *     that is not empty: TRUNCATE;
 *   - a checkpoint failed, whoever asked for it: said in the log and in /readyz, and tried at every
 *     look until one goes well;
 *   - every EXPIRE_EVERY_MS: what is older than its retention goes, in ops of EXPIRE_ROWS, at most
 *     EXPIRE_ROUNDS of them a look, so that they stand in line with reports and not before them;
 *   - then, while the database is larger than `database_bytes`, the oldest reports, in the same steps,
 *     those of the last day never. What is measured are the pages in use: freed ones are used again
 *     before the file grows;
 *   - a new day: the hours of days older than HOURS_DAYS go, a few stacks a look, all stacks in the
 *     end;
 *   - every `alerts_ms`: what may be worth an alert (alerts.h);
 *   - every GIVE_UP_EVERY_MS: stand-ins for symbol files that did not come, where they are wanted;
 *     stacks that waited for one long enough back to the resolver;
 *   - a connection met a damaged page, or one that the disk does not give: said in the log and in
 *     /readyz, until a check of the whole file finds nothing, after CHECK_FIRST_MS, then twice as long
 *     each time, up to CHECK_MAX_MS;
 *   - every TRIM_EVERY_MS: memory that large bodies left behind in the allocator goes back to the
 *     system (two bodies of 8 MB had kept 290 MB for good, below a few bytes at each heap's end).
 * What is old by the time of day is dropped by base/steady_wall.h's.
 * While the writer has a problem (a full disk) expiry is due at every look: a commit that succeeds
 * ends what /readyz says, though no client is sent here any more.
 *
 * Who calls. Nobody; start and stop. A look is a function of both clocks (look_around), so tests
 * need not wait.
 *
 * Locks. One, around the wish to stop.
 */
#include "server/jobs/housekeeping.h"

#include <inttypes.h>
#include <malloc.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/steady_wall.h"
#include "base/thread.h"
#include "server/jobs/stand_ins.h"
#include "storage/hours.h"
#include "symbolizer/index_cache.h"

#define EXPIRE_EVERY_MS  60000
#define EXPIRE_ROWS      2000
#define EXPIRE_ROUNDS    50
#define HOURS_STACKS     2000
#define GIVE_UP_EVERY_MS 600000
#define TRIM_EVERY_MS    10000
#define CHECK_FIRST_MS   5000
#define CHECK_MAX_MS     3600000
/* Of checkpoint_bytes, between two looks: a log that grows fast; for so long that is left alone. */
#define FAST_SHARE 16
#define FAST_MS    10000
#define OP_ARENA   ((size_t)64 * 1024)

struct housekeeping {
    struct storage *storage;
    struct writer *writer;
    struct resolver *resolver;
    struct index_cache *cache;
    struct housekeeping_options options;
    struct metrics *metrics;
    struct thread thread;
    struct steady_wall steady; /* the thread's own */
    int64_t doubted_ms;        /* how much of the time of day is not believed */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool stopping;
    /* The thread's own: when something is due, by the monotonic clock. */
    int64_t expire_at, give_up_at, alerts_at, trim_at;
    int64_t check_at, check_pause_ms;
    enum storage_trouble trouble; /* as it was told last */
    int32_t hours_day;            /* up to here hours went, or are going: see hours_after */
    uint64_t hours_after;
    bool hours_going;
    int64_t commits; /* as last seen */
    int64_t commits_since;
    uint64_t log_bytes;     /* as last seen */
    int64_t log_long_since; /* without having begun anew */
    bool truncated;         /* since the last commit */
    bool over_space;        /* said so already */
};

static bool is_stopping(struct housekeeping *h)
{
    pthread_mutex_lock(&h->lock);
    bool stopping = h->stopping;
    pthread_mutex_unlock(&h->lock);
    return stopping;
}

static void log_trouble(const char *what, const struct error *err)
{
    char quoted[sizeof(err->text) + 64];
    log_warn("housekeeping failed", "what=%s error=%s", what,
             log_quote(err->text, quoted, sizeof(quoted)));
}

/* --- the write-ahead log ---------------------------------------------------------------------- */

/* Whoever asked for it. A failure is said once, until one goes well. */
static void tell_checkpoints(struct housekeeping *h)
{
    struct error err;
    const bool failing = storage_last_checkpoint(h->storage, &err) != ERR_OK;
    const bool before = metrics_get(h->metrics, METRIC_CHECKPOINT_FAILING) != 0;
    if (failing && !before)
        log_trouble("checkpoint", &err);
    else if (before && !failing)
        log_info("checkpoints succeed again", "left=%" PRIu64, storage_wal_bytes(h->storage));
    metrics_set(h->metrics, METRIC_CHECKPOINT_FAILING, failing);
}

/* False: it is to be tried again. */
static bool checkpoint(struct housekeeping *h, bool truncate)
{
    struct error ignored; /* the storage knows it */
    uint64_t left = 0;
    enum err rc = storage_checkpoint(h->storage, truncate, &left, &ignored);
    if (rc == ERR_OK)
        metrics_set(h->metrics, METRIC_WAL_BYTES, (int64_t)left);
    return rc == ERR_OK || rc == ERR_BUSY;
}

/* It is soon so long that the writer has it copied; until then many of its pages are replaced. One that
 * is never that long grows only for so long. */
static bool grows_fast(struct housekeeping *h, uint64_t bytes, int64_t mono_ms)
{
    const uint64_t before = h->log_bytes;
    h->log_bytes = bytes;
    if (bytes < before || bytes <= h->options.checkpoint_bytes)
        h->log_long_since = mono_ms;
    return bytes > before + h->options.checkpoint_bytes / FAST_SHARE &&
           mono_ms - h->log_long_since < FAST_MS;
}

static void tend_log(struct housekeeping *h, int64_t mono_ms)
{
    int64_t commits = metrics_get(h->metrics, METRIC_COMMITS);
    uint64_t bytes = storage_wal_bytes(h->storage);
    const bool waits = grows_fast(h, bytes, mono_ms);
    if (commits != h->commits) {
        h->commits = commits;
        h->commits_since = mono_ms;
        h->truncated = false;
    }
    if (bytes > 0 && !h->truncated && mono_ms - h->commits_since >= h->options.idle_ms) {
        h->truncated = checkpoint(h, true);
    } else if ((bytes > h->options.checkpoint_bytes && !waits) ||
               metrics_get(h->metrics, METRIC_CHECKPOINT_FAILING)) {
        (void)checkpoint(h, false);
    }
    tell_checkpoints(h);
}

/* --- ops -------------------------------------------------------------------------------------- */

/* Drops a step of what is older than its retention, and of reports received before that. */
static bool expire_some(struct housekeeping *h, int64_t wall_ms, int64_t reports_before_ms,
                        uint64_t *ret_dropped)
{
    struct error err;
    struct write_op *op = write_op_new(WRITE_EXPIRE, OP_ARENA);
    *ret_dropped = 0;
    if (!op)
        return false;
    op->u.expire = (struct op_expire){
        .now_ms = wall_ms,
        .reports_before_ms = reports_before_ms,
        .report_ids_before_ms = wall_ms - h->options.retry_days * CLOCK_DAY_MS,
        .image_sets_before_ms = wall_ms - h->options.image_set_days * CLOCK_DAY_MS,
        .max_rows = EXPIRE_ROWS,
    };
    enum err rc = writer_call(h->writer, op, &err);
    bool more = rc == ERR_OK && op->u.expire.more;
    if (rc == ERR_OK)
        *ret_dropped = op->u.expire.dropped;
    write_op_free(op);
    if (rc != ERR_OK && rc != ERR_BUSY)
        log_trouble("retention", &err);
    return more;
}

static bool is_over_space(struct housekeeping *h, uint64_t *ret_used)
{
    struct error err;
    if (storage_used_bytes(h->storage, ret_used, &err) != ERR_OK) {
        log_trouble("size of the database", &err);
        return false;
    }
    metrics_set(h->metrics, METRIC_DATABASE_USED, (int64_t)*ret_used);
    return h->options.database_bytes > 0 && *ret_used > h->options.database_bytes;
}

/* Returns whether it has to go on. Said once, until the database is below the cap again. */
static bool expire_for_space(struct housekeeping *h, int64_t wall_ms)
{
    uint64_t used = 0, dropped = 0, all = 0;
    bool over = is_over_space(h, &used), more = over;
    if (over && !h->over_space)
        log_warn("database is above its cap: the oldest reports go",
                 "used=%" PRIu64 " cap=%" PRIu64, used, h->options.database_bytes);
    for (int i = 0; i < EXPIRE_ROUNDS && more && !is_stopping(h); i++) {
        expire_some(h, wall_ms, wall_ms - CLOCK_DAY_MS, &dropped);
        all += dropped;
        over = is_over_space(h, &used);
        more = over && dropped > 0;
    }
    metrics_add(h->metrics, METRIC_REPORTS_DROPPED, (int64_t)all);
    if (over && !more && !h->over_space)
        log_warn("database is above its cap, and only reports of the last day are left",
                 "used=%" PRIu64 " cap=%" PRIu64, used, h->options.database_bytes);
    if (!over && all > 0)
        log_info("database is below its cap again", "used=%" PRIu64 " reports_dropped=%" PRIu64,
                 used, all);
    h->over_space = over;
    return more;
}

static void expire(struct housekeeping *h, int64_t wall_ms, int64_t mono_ms)
{
    const int64_t before_ms = wall_ms - h->options.report_days * CLOCK_DAY_MS;
    uint64_t dropped = 0;
    bool more = true;
    for (int i = 0; i < EXPIRE_ROUNDS && more && !is_stopping(h); i++)
        more = expire_some(h, wall_ms, before_ms, &dropped);
    more = expire_for_space(h, wall_ms) || more;
    h->expire_at = more ? mono_ms : mono_ms + EXPIRE_EVERY_MS;
}

static void expire_hours(struct housekeeping *h, int64_t wall_ms)
{
    struct error err;
    const int32_t before = clock_day(wall_ms) - HOURS_DAYS;
    struct write_op *op = write_op_new(WRITE_HOURS_EXPIRE, OP_ARENA);
    if (!op)
        return;
    if (before > h->hours_day) {
        h->hours_day = before;
        h->hours_after = 0;
        h->hours_going = true;
    }
    op->u.hours_expire = (struct op_hours_expire){
        .before_day = h->hours_day, .max_stacks = HOURS_STACKS, .after_id = h->hours_after};
    enum err rc = writer_call(h->writer, op, &err);
    if (rc == ERR_OK) {
        h->hours_after = op->u.hours_expire.after_id;
        h->hours_going = op->u.hours_expire.more;
    } else if (rc != ERR_BUSY) {
        log_trouble("hours", &err);
    }
    write_op_free(op);
}

static void give_up(struct housekeeping *h, int64_t wall_ms, int64_t mono_ms)
{
    struct error err;
    struct write_op *op = write_op_new(WRITE_GIVE_UP, OP_ARENA);
    h->give_up_at = mono_ms + GIVE_UP_EVERY_MS;
    if (!op)
        return;
    op->u.give_up.before_ms = wall_ms - h->options.give_up_ms;
    enum err rc = writer_call(h->writer, op, &err);
    if (rc == ERR_OK && op->u.give_up.count > 0) {
        log_info("symbol files did not come", "stacks=%" PRIu64, op->u.give_up.count);
        resolver_ring(h->resolver);
    } else if (rc != ERR_OK && rc != ERR_BUSY) {
        log_trouble("giving up on symbol files", &err);
    }
    write_op_free(op);
}

static void look_for_alerts(struct housekeeping *h, int64_t wall_ms, int64_t mono_ms)
{
    struct error err;
    enum err rc = alerts_look(h->options.alerts, wall_ms, &err);
    h->alerts_at = mono_ms + h->options.alerts_ms;
    if (rc != ERR_OK && rc != ERR_BUSY)
        log_trouble("alerts", &err);
}

/* Symbol files of the same build, where they are to be taken. */
static void choose_stand_ins(struct housekeeping *h, int64_t wall_ms)
{
    struct error err;
    size_t chosen = 0;
    if (!h->options.approximate)
        return;
    enum err rc = stand_ins_choose(h->storage, h->writer, wall_ms - h->options.give_up_ms, wall_ms,
                                   &chosen, &err);
    if (rc != ERR_OK && rc != ERR_BUSY)
        log_trouble("stand-ins", &err);
}

/* --- the database file ------------------------------------------------------------------------ */

static bool may_go_on(void *ctx)
{
    return !is_stopping(ctx);
}

static void tell_trouble(struct housekeeping *h, enum storage_trouble trouble, const char *text)
{
    static const char *const words[] = {
        [STORAGE_SOUND] = "database is sound again",
        [STORAGE_UNREADABLE] = "database cannot be read",
        [STORAGE_DAMAGED] = "database is damaged",
    };
    char quoted[1024];
    metrics_set(h->metrics, METRIC_DATABASE_DAMAGED, trouble == STORAGE_DAMAGED);
    metrics_set(h->metrics, METRIC_DATABASE_UNREADABLE, trouble == STORAGE_UNREADABLE);
    if (trouble == h->trouble)
        return;
    h->trouble = trouble;
    if (trouble == STORAGE_SOUND)
        log_info(words[trouble], "checked=1");
    else
        log_error(words[trouble], "error=%s", log_quote(text, quoted, sizeof(quoted)));
}

static void tend_file(struct housekeeping *h, int64_t mono_ms)
{
    struct error err;
    char text[sizeof(err.text)];
    bool before = h->trouble != STORAGE_SOUND;
    tell_trouble(h, storage_trouble(h->storage, text, sizeof(text)), text);
    if (h->trouble == STORAGE_SOUND)
        return;
    if (!before) {
        h->check_pause_ms = CHECK_FIRST_MS;
        h->check_at = mono_ms + h->check_pause_ms;
    }
    if (mono_ms < h->check_at)
        return;
    (void)storage_check(h->storage, may_go_on, h, &err); /* its error is noted like any */
    h->check_pause_ms = h->check_pause_ms * 2 < CHECK_MAX_MS ? h->check_pause_ms * 2 : CHECK_MAX_MS;
    h->check_at = clock_mono_ms() + h->check_pause_ms;
    tell_trouble(h, storage_trouble(h->storage, text, sizeof(text)), text);
}

/* --- a look ----------------------------------------------------------------------------------- */

static void look_around(struct housekeeping *h, int64_t wall_ms, int64_t mono_ms)
{
    struct index_cache_stats stats;
    char problem[64];
    const int64_t kept_ms = wall_ms - h->doubted_ms; /* what drops nothing too early */
    tend_log(h, mono_ms);
    tend_file(h, mono_ms);
    writer_problem(h->writer, problem, sizeof(problem));
    if ((mono_ms >= h->expire_at || *problem) && !is_stopping(h))
        expire(h, kept_ms, mono_ms);
    if ((h->hours_going || clock_day(kept_ms) - HOURS_DAYS > h->hours_day) && !is_stopping(h))
        expire_hours(h, kept_ms);
    if (mono_ms >= h->give_up_at && !is_stopping(h)) {
        choose_stand_ins(h, wall_ms);
        give_up(h, wall_ms, mono_ms);
    }
    if (h->options.alerts && mono_ms >= h->alerts_at && !is_stopping(h))
        look_for_alerts(h, wall_ms, mono_ms);
    if (mono_ms >= h->trim_at) {
        malloc_trim(0);
        h->trim_at = mono_ms + TRIM_EVERY_MS;
    }
    index_cache_stats(h->cache, &stats);
    metrics_set(h->metrics, METRIC_INDEXES_OPEN, (int64_t)stats.open_now);
}

/* A clock that was set wrong costs no data. */
static void doubt_steps(struct housekeeping *h, int64_t wall_ms, int64_t mono_ms)
{
    bool begins = false;
    h->doubted_ms = wall_ms - steady_wall(&h->steady, wall_ms, mono_ms, &begins);
    if (begins)
        log_warn("the clock was set ahead; nothing is dropped until it stood for a day",
                 "hours=%" PRId64, h->doubted_ms / 3600000);
}

static void *run(void *arg)
{
    struct housekeeping *h = arg;
    pthread_mutex_lock(&h->lock);
    while (!h->stopping) {
        pthread_mutex_unlock(&h->lock);
        int64_t wall_ms = clock_wall_ms(), mono_ms = clock_mono_ms();
        doubt_steps(h, wall_ms, mono_ms);
        look_around(h, wall_ms, mono_ms);
        int64_t next = clock_mono_ms() + h->options.interval_ms;
        pthread_mutex_lock(&h->lock);
        while (!h->stopping && thread_cond_wait_until(&h->changed, &h->lock, next))
            continue;
    }
    pthread_mutex_unlock(&h->lock);
    return NULL;
}

static struct housekeeping *make(struct storage *storage, struct writer *writer,
                                 struct resolver *resolver, struct index_cache *cache,
                                 const struct housekeeping_options *options,
                                 struct metrics *metrics, int64_t mono_ms)
{
    struct housekeeping *h = calloc(1, sizeof(*h));
    if (!h)
        return NULL;
    pthread_mutex_init(&h->lock, NULL);
    thread_cond_init(&h->changed);
    h->storage = storage;
    h->writer = writer;
    h->resolver = resolver;
    h->cache = cache;
    h->options = *options;
    h->metrics = metrics;
    h->expire_at = h->give_up_at = h->alerts_at = mono_ms;
    h->commits_since = h->log_long_since = mono_ms;
    h->hours_day = INT32_MIN;
    return h;
}

static void dispose(struct housekeeping *h)
{
    pthread_cond_destroy(&h->changed);
    pthread_mutex_destroy(&h->lock);
    free(h);
}

enum err housekeeping_start(struct storage *storage, struct writer *writer,
                            struct resolver *resolver, struct index_cache *cache,
                            const struct housekeeping_options *options, struct metrics *metrics,
                            struct housekeeping **ret, struct error *err)
{
    struct housekeeping *h =
        make(storage, writer, resolver, cache, options, metrics, clock_mono_ms());
    if (!h)
        return error_set(err, ERR_NO_MEMORY, "no memory for housekeeping");
    enum err rc = thread_start(&h->thread, "housekeeping", run, h, err);
    if (rc != ERR_OK) {
        dispose(h);
        return rc;
    }
    *ret = h;
    return ERR_OK;
}

void housekeeping_stop(struct housekeeping *h)
{
    if (!h)
        return;
    pthread_mutex_lock(&h->lock);
    h->stopping = true;
    pthread_cond_broadcast(&h->changed);
    pthread_mutex_unlock(&h->lock);
    thread_join(&h->thread);
    dispose(h);
}
