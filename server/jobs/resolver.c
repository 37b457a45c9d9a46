/*
 * DESIGN
 *
 * What. The database is the queue: stacks marked pending. One thread makes passes over them: it
 * reads a page, its workers symbolize and compute cluster keys, the answers go to the writer as a
 * resolution op, and the next page is read while the writer applies them. A pass ends at the last
 * page, when all its ops are answered. Then the thread sleeps until it is rung.
 *
 * Who calls. resolver_ring(): the writer's bell after a commit that left stacks pending. Any thread.
 *
 * Races, and why none of them loses a stack:
 *   - New stacks while a pass runs: their commit rings; every ring after the beginning of a pass is
 *     answered by another pass.
 *   - A symbol file that arrives while a stack is being symbolized: either its op turned the stack
 *     pending anew (another generation) or the writer finds, inside the transaction, that an image
 *     called missing is indexed by now. Both leave `applied` false and the stack pending: it is late,
 *     and another pass takes it.
 *   - A stand-in is accepted or taken back: its op gives the stacks of the image a new generation;
 *     the stand-ins are read after each page of stacks, so that an answer that is accepted was made
 *     with those of now.
 *   - Facts of images change: workers forget what they cached at the beginning of each pass.
 *   - An index that the database knows but whose file is gone would make a stack late for ever: a
 *     stack that was late once has its missing images checked (vet_missing); of one whose file
 *     really cannot be had the writer is told so, and does not ask whether it is indexed.
 *   - A commit that fails leaves everything pending: the next pass comes after RETRY_MS.
 *
 * Load. A pass has costs of its own (facts of images, a transaction to read in, the end of the sums that
 * the writer gathers), and each commit that brings new stacks rings. Passes therefore begin GATHER_MS
 * apart: under load a pass takes what came in that time, alone it begins at once.
 *
 * Nothing is held up by a stack that cannot be resolved: see resolver_worker.h. Nor by one whose answer
 * the writer refuses, as what it has of the stack is damaged: the stacks of such an op are an op each in
 * the next pass. What the machine had no memory for is tried again by the next pass, after RETRY_MS.
 *
 * Locks. One, around the bell, the count of ops under way and the list of late stacks; not held
 * while anything is called.
 */
#include "server/jobs/resolver.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/parallel.h"
#include "base/thread.h"
#include "server/jobs/overlays.h"
#include "server/jobs/resolver_worker.h"
#include "storage/read_shelves.h"
#include "storage/read_stand_ins.h"
#include "storage/storage_read.h"

#define PIECE_MAX      1024 /* stacks that a worker takes at a time */
#define OP_MAX         4096 /* stacks of one op: as long others wait for the writer */
#define PAGE_ARENA     ((size_t)512 * 1024 * 1024)
#define UNDER_WAY_MAX  2 /* ops, in general pages */
#define LATE_MAX       4096
#define RETRY_MS       1000 /* after a failed read or commit */
#define GATHER_MS      50   /* from the beginning of one pass to that of the next */
#define SUBMIT_WAIT_MS 20   /* the writer's queue is full: try again */
#define IDLE_LATE_MAX  3    /* passes in a row that brought nothing but late stacks */

/* Ids of stacks, both inclusive; zeros: none. */
struct span {
    uint64_t from, to;
};

struct resolver {
    struct writer *writer;
    struct index_cache *cache;
    struct resolver_options options;
    struct metrics *metrics;
    struct thread thread;
    struct storage_reader *reader;
    struct overlays *overlays;       /* of this pass */
    struct resolver_grounds grounds; /* of this page */
    struct parallel_for *parallel;
    struct resolver_worker **workers;
    struct arena *page_arena;
    struct resolver_piece *pieces;
    size_t piece_stacks;
    uint64_t *suspects; /* stacks that were late in the pass before; the thread's own */
    size_t suspect_count;
    struct span alone; /* an op each, in this pass; the thread's own */

    pthread_mutex_t lock;
    pthread_cond_t changed;
    const struct rules *next_rules;
    bool rung;
    bool stopping;
    bool failed;         /* a read or an op of this pass failed */
    struct span refused; /* what ops had that the writer refused, in this pass */
    size_t under_way;
    uint64_t applied; /* of this pass */
    uint64_t *late;
    size_t late_count; /* may pass LATE_MAX; those above are not listed */
};

static void resolve_piece(void *ctx, size_t i, size_t worker)
{
    const struct resolver *r = ctx;
    resolver_worker_piece(r->workers[worker], &r->grounds, &r->pieces[i]);
}

/* Each worker learns for itself what frames are. Where a page waits for the writer already there is no
 * hurry, and one does it all; the others have not to learn it, and a core is the writer's. */
static void resolve_pieces(struct resolver *r, size_t count)
{
    pthread_mutex_lock(&r->lock);
    const bool hurry = r->under_way < UNDER_WAY_MAX;
    pthread_mutex_unlock(&r->lock);
    if (hurry)
        parallel_run(r->parallel, count, resolve_piece, r);
    for (size_t i = 0; i < count && !hurry; i++)
        resolve_piece(r, i, 0);
}

/* --- stacks that were late before ------------------------------------------------------------- */

static int compare_ids(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static bool is_suspect(const struct resolver *r, uint64_t stack_id)
{
    return r->suspect_count > 0 && bsearch(&stack_id, r->suspects, r->suspect_count,
                                           sizeof(r->suspects[0]), compare_ids) != NULL;
}

/* Is the file to be had, whatever the cache remembers? Where nobody could look it is not said to be
 * gone. */
static bool index_opens(struct resolver *r, const char *bundle_id, const struct uuid *image)
{
    struct index_ref *ref = NULL;
    struct error ignored;
    struct uuid shelf;
    if (read_shelf_for(r->reader, bundle_id, image, &shelf, &ignored) != ERR_OK)
        return true;
    index_cache_changed(r->cache, &shelf);
    enum err rc = index_cache_acquire(r->cache, &shelf, &ref, &ignored);
    index_cache_release(r->cache, ref);
    return rc == ERR_OK || rc == ERR_BUSY || rc == ERR_NO_MEMORY;
}

/* Marks in `missing` what the database has an index for that cannot be opened: the stack misses it
 * all the same, so that it is taken up again when the index is put back. */
static void vet_missing(struct resolver *r, const char *bundle_id, struct op_resolution *item,
                        struct arena *arena)
{
    struct error err;
    char text[UUID_TEXT_SIZE];
    bool *present = arena_array(arena, item->missing_count, sizeof(*present));
    struct uuid *kept = arena_array(arena, item->missing_count, sizeof(*kept));
    size_t count = 0, gone = item->missing_count;
    if (!present || !kept ||
        read_symbols_present(r->reader, bundle_id, item->missing, item->missing_count, present,
                             &err) != ERR_OK)
        return;
    for (size_t i = 0; i < item->missing_count; i++) {
        if (!present[i] || index_opens(r, bundle_id, &item->missing[i])) {
            kept[count++] = item->missing[i];
            continue;
        }
        kept[--gone] = item->missing[i];
        log_warn("index file is gone", "uuid=%s", uuid_format(&item->missing[i], text));
    }
    item->missing = kept;
    item->gone_count = item->missing_count - gone;
}

static void vet_piece(struct resolver *r, struct resolver_piece *piece)
{
    struct op_resolutions *out = &piece->op->u.resolutions;
    for (size_t i = 0, at = 0; i < out->count; i++) {
        while (piece->stacks[at].stack_id != out->items[i].stack_id) /* in the same order */
            at++;
        if (out->items[i].missing_count > 0 && is_suspect(r, out->items[i].stack_id))
            vet_missing(r, piece->stacks[at].bundle_id, &out->items[i], piece->op->arena);
    }
}

/* --- ops -------------------------------------------------------------------------------------- */

/* Its stacks are in order. */
static void note_refused(struct span *all, const struct op_resolutions *out)
{
    const uint64_t from = out->items[0].stack_id, to = out->items[out->count - 1].stack_id;
    all->from = all->to == 0 || from < all->from ? from : all->from;
    all->to = to > all->to ? to : all->to;
}

/* On the writer's thread. The resolver may be gone once no op is under way. */
static void op_done(struct write_op *op, enum err rc, const struct error *err)
{
    struct resolver *r = op->user;
    const struct op_resolutions *out = &op->u.resolutions;
    const size_t count = rc == ERR_OK ? out->count : 0;
    size_t applied = 0;
    (void)err; /* the writer logs it */
    for (size_t i = 0; i < count; i++)
        applied += out->items[i].applied;
    metrics_add(r->metrics, METRIC_STACKS_RESOLVED, (int64_t)applied);
    pthread_mutex_lock(&r->lock);
    for (size_t i = 0; i < count; i++) {
        if (!out->items[i].applied && r->late_count++ < LATE_MAX)
            r->late[r->late_count - 1] = out->items[i].stack_id;
    }
    r->applied += applied;
    r->failed = r->failed || rc != ERR_OK;
    if (rc != ERR_OK && rc != ERR_IO && rc != ERR_BUSY)
        note_refused(&r->refused, out);
    r->under_way--;
    pthread_cond_broadcast(&r->changed);
    pthread_mutex_unlock(&r->lock);
    write_op_free(op);
}

/* Hands an op over. It is gone afterwards, whatever happens. */
static void submit(struct resolver *r, struct write_op *op)
{
    struct error err;
    op->done = op_done;
    op->user = r;
    pthread_mutex_lock(&r->lock);
    r->under_way++;
    pthread_mutex_unlock(&r->lock);
    enum err rc = writer_submit(r->writer, op, &err);
    pthread_mutex_lock(&r->lock);
    while (rc == ERR_BUSY && !r->stopping) {
        thread_cond_wait_until(&r->changed, &r->lock, clock_mono_ms() + SUBMIT_WAIT_MS);
        pthread_mutex_unlock(&r->lock);
        rc = writer_submit(r->writer, op, &err);
        pthread_mutex_lock(&r->lock);
    }
    if (rc != ERR_OK) {
        r->under_way--;
        r->failed = true;
    }
    pthread_mutex_unlock(&r->lock);
    if (rc != ERR_OK)
        write_op_free(op);
}

/* Waits until no more than `count` ops are under way. */
static void wait_under_way(struct resolver *r, size_t count)
{
    pthread_mutex_lock(&r->lock);
    while (r->under_way > count)
        pthread_cond_wait(&r->changed, &r->lock);
    pthread_mutex_unlock(&r->lock);
}

/* --- passes ----------------------------------------------------------------------------------- */

static bool is_stopping(struct resolver *r)
{
    pthread_mutex_lock(&r->lock);
    bool stopping = r->stopping;
    pthread_mutex_unlock(&r->lock);
    return stopping;
}

static void count_frames(struct resolver *r)
{
    int64_t frames = 0, hits = 0;
    for (size_t i = 0; i < r->options.workers; i++) {
        struct symbolizer_stats stats;
        resolver_worker_stats(r->workers[i], &stats);
        frames += (int64_t)stats.frames;
        hits += (int64_t)stats.cache_hits;
    }
    metrics_set(r->metrics, METRIC_FRAMES_RESOLVED, frames);
    metrics_set(r->metrics, METRIC_FRAME_CACHE_HITS, hits);
}

static bool fits(const struct write_op *op, const struct write_op *piece)
{
    return op->u.resolutions.count + piece->u.resolutions.count <= OP_MAX;
}

/* A page is one op, so that the sums of its clusters are written once; what does not fit is another. */
static void submit_pieces(struct resolver *r, size_t count, bool alone)
{
    struct write_op *op = NULL;
    for (size_t i = 0; i < count; i++) {
        struct write_op *piece = r->pieces[i].op;
        r->pieces[i].op = NULL;
        if (op && piece && !alone && fits(op, piece) && write_op_join(op, piece))
            continue;
        if (op)
            submit(r, op);
        op = piece;
    }
    if (op)
        submit(r, op);
}

static bool are_alone(const struct resolver *r, const struct pending_stack *stacks, size_t count)
{
    return stacks[0].stack_id <= r->alone.to && stacks[count - 1].stack_id >= r->alone.from;
}

/* Returns whether something was left out. */
static bool resolve_page(struct resolver *r, const struct pending_stack *stacks, size_t count)
{
    bool incomplete = false, starved = false;
    const bool alone = are_alone(r, stacks, count);
    const size_t most = alone ? 1 : r->piece_stacks;
    size_t pieces = (count + most - 1) / most;
    for (size_t i = 0; i < pieces; i++) {
        size_t left = count - i * most;
        r->pieces[i] = (struct resolver_piece){.stacks = stacks + i * most,
                                               .count = left < most ? left : most};
    }
    resolve_pieces(r, pieces);
    for (size_t i = 0; i < pieces; i++) {
        struct resolver_piece *piece = &r->pieces[i];
        incomplete = incomplete || piece->incomplete || !piece->op;
        starved = starved || piece->starved || !piece->op;
        if (piece->op && piece->op->u.resolutions.count > 0) {
            vet_piece(r, piece);
        } else {
            write_op_free(piece->op);
            piece->op = NULL;
        }
    }
    /* One page with the writer and one that waits for it while the next one is read and symbolized. */
    wait_under_way(r, UNDER_WAY_MAX - 1);
    submit_pieces(r, pieces, alone);
    count_frames(r);
    if (starved) {
        log_warn("stacks wait for memory", "page=%zu", count);
        pthread_mutex_lock(&r->lock);
        r->failed = true;
        pthread_mutex_unlock(&r->lock);
    }
    return incomplete;
}

struct pass_result {
    bool failed; /* wait before the next look */
    bool again;  /* look again without being rung */
    uint64_t applied;
    size_t late;
};

/* Facts, rules and overlays are those of now. False: look again later. */
static bool begin_pass(struct resolver *r)
{
    struct error err;
    char quoted[sizeof(err.text) + 64];
    pthread_mutex_lock(&r->lock);
    const struct rules *rules = r->next_rules;
    pthread_mutex_unlock(&r->lock);
    for (size_t i = 0; i < r->options.workers; i++)
        resolver_worker_begin(r->workers[i], rules);
    if (overlays_refresh(r->overlays, r->reader, &err) != ERR_OK) {
        log_error("overlays of cluster rules cannot be read", "error=%s",
                  log_quote(err.text, quoted, sizeof(quoted)));
        return false;
    }
    pthread_mutex_lock(&r->lock);
    r->suspect_count = r->late_count < LATE_MAX ? r->late_count : LATE_MAX;
    memcpy(r->suspects, r->late, r->suspect_count * sizeof(r->late[0]));
    r->late_count = 0;
    r->alone = r->refused;
    r->refused = (struct span){0};
    r->applied = 0;
    r->failed = false;
    pthread_mutex_unlock(&r->lock);
    if (r->suspect_count > 0)
        qsort(r->suspects, r->suspect_count, sizeof(r->suspects[0]), compare_ids);
    return true;
}

/* After the page: a stand-in that changes later gives the stacks of the page a new generation. */
static enum err read_page_stand_ins(struct resolver *r, struct error *err)
{
    struct stand_in_row *rows = NULL;
    size_t count = 0;
    r->grounds.stand_ins = NULL;
    r->grounds.stand_in_count = 0;
    enum err rc = read_stand_ins(r->reader, NULL, r->page_arena, &rows, &count, err);
    if (rc != ERR_OK || count == 0)
        return rc;
    struct stand_in *all = arena_array(r->page_arena, count, sizeof(*all));
    if (!all)
        return error_set(err, ERR_NO_MEMORY, "no memory for stand-ins");
    for (size_t i = 0; i < count; i++)
        all[i] = (struct stand_in){rows[i].uuid, rows[i].stand_in, rows[i].bundle_id};
    r->grounds.stand_ins = all;
    r->grounds.stand_in_count = count;
    return ERR_OK;
}

static enum err read_page(struct resolver *r, uint64_t after, struct pending_stack **ret,
                          size_t *ret_count)
{
    struct error err;
    char quoted[sizeof(err.text) + 64];
    arena_reset(r->page_arena);
    enum err rc =
        read_pending(r->reader, after, r->options.page, r->page_arena, ret, ret_count, &err);
    r->grounds.page++;
    if (rc == ERR_OK && *ret_count > 0)
        rc = read_page_stand_ins(r, &err);
    if (rc != ERR_OK)
        log_error("pending stacks cannot be read", "error=%s",
                  log_quote(err.text, quoted, sizeof(quoted)));
    return rc;
}

static void run_pass(struct resolver *r, struct pass_result *ret)
{
    uint64_t after = 0;
    memset(ret, 0, sizeof(*ret));
    ret->failed = !begin_pass(r);
    while (!ret->failed && !is_stopping(r)) {
        struct pending_stack *stacks = NULL;
        size_t count = 0;
        ret->failed = read_page(r, after, &stacks, &count) != ERR_OK;
        if (ret->failed || count == 0)
            break;
        after = stacks[count - 1].stack_id;
        ret->again = resolve_page(r, stacks, count) || ret->again;
        if (count < r->options.page) /* what came since has rung */
            break;
    }
    wait_under_way(r, 0);
    pthread_mutex_lock(&r->lock);
    ret->failed = ret->failed || r->failed;
    ret->applied = r->applied;
    ret->late = r->late_count;
    pthread_mutex_unlock(&r->lock);
    ret->again = ret->again || ret->late > 0;
    metrics_add(r->metrics, METRIC_STACKS_LATE, (int64_t)ret->late);
}

/* Sleeps until rung, stopped or `until` has come, and on until `begin`. False: stop. */
static bool wait_for_work(struct resolver *r, int64_t until_mono_ms, int64_t begin_mono_ms)
{
    pthread_mutex_lock(&r->lock);
    bool due = until_mono_ms == 0;
    while (!r->stopping && !r->rung && !due) {
        if (until_mono_ms == INT64_MAX)
            pthread_cond_wait(&r->changed, &r->lock);
        else
            due = !thread_cond_wait_until(&r->changed, &r->lock, until_mono_ms);
    }
    while (!r->stopping && clock_mono_ms() < begin_mono_ms)
        (void)thread_cond_wait_until(&r->changed, &r->lock, begin_mono_ms);
    r->rung = false;
    bool go_on = !r->stopping;
    pthread_mutex_unlock(&r->lock);
    return go_on;
}

static void *run(void *arg)
{
    struct resolver *r = arg;
    int64_t until = 0; /* what the last run left is there at start */
    int64_t begin = 0;
    int idle = 0;
    while (wait_for_work(r, until, begin)) {
        struct pass_result result;
        begin = clock_mono_ms() + GATHER_MS;
        run_pass(r, &result);
        idle = result.applied > 0 || !result.again ? 0 : idle + 1;
        if (result.failed || idle > IDLE_LATE_MAX)
            until = clock_mono_ms() + RETRY_MS;
        else
            until = result.again ? 0 : INT64_MAX;
    }
    return NULL;
}

/* --- the face --------------------------------------------------------------------------------- */

static enum err make_parts(struct resolver *r, struct storage *storage, struct error *err)
{
    /* A page is a piece for each worker, or some. */
    r->piece_stacks = (r->options.page + r->options.workers - 1) / r->options.workers;
    r->piece_stacks = r->piece_stacks < PIECE_MAX ? r->piece_stacks : PIECE_MAX;
    r->page_arena = arena_new(PAGE_ARENA);
    r->pieces = calloc(r->options.page, sizeof(r->pieces[0])); /* of one stack each at most */
    r->workers = calloc(r->options.workers, sizeof(r->workers[0]));
    r->suspects = calloc(LATE_MAX, sizeof(r->suspects[0]));
    r->late = calloc(LATE_MAX, sizeof(r->late[0]));
    r->parallel = parallel_new(r->options.workers);
    r->overlays = overlays_new();
    if (!r->overlays || !r->page_arena || !r->pieces || !r->workers || !r->suspects || !r->late ||
        !r->parallel)
        return error_set(err, ERR_NO_MEMORY, "no memory for the resolver");
    r->grounds.overlays = r->overlays;
    enum err rc = storage_reader_open(storage, &r->reader, err);
    for (size_t i = 0; rc == ERR_OK && i < r->options.workers; i++)
        rc = resolver_worker_new(storage, r->cache, r->next_rules, r->options.frame_cache_entries,
                                 &r->workers[i], err);
    return rc;
}

enum err resolver_start(struct storage *storage, struct writer *writer, struct index_cache *cache,
                        const struct rules *rules, const struct resolver_options *options,
                        struct metrics *metrics, struct resolver **ret, struct error *err)
{
    struct resolver *r = calloc(1, sizeof(*r));
    if (!r)
        return error_set(err, ERR_NO_MEMORY, "no memory for the resolver");
    pthread_mutex_init(&r->lock, NULL);
    thread_cond_init(&r->changed);
    r->writer = writer;
    r->cache = cache;
    r->next_rules = rules;
    r->options = *options;
    r->metrics = metrics;
    enum err rc = make_parts(r, storage, err);
    if (rc == ERR_OK)
        rc = thread_start(&r->thread, "resolver", run, r, err);
    if (rc != ERR_OK) {
        resolver_stop(r);
        return rc;
    }
    *ret = r;
    return ERR_OK;
}

void resolver_stop(struct resolver *r)
{
    if (!r)
        return;
    pthread_mutex_lock(&r->lock);
    r->stopping = true;
    pthread_cond_broadcast(&r->changed);
    pthread_mutex_unlock(&r->lock);
    thread_join(&r->thread);
    parallel_free(r->parallel);
    for (size_t i = 0; r->workers && i < r->options.workers; i++)
        resolver_worker_free(r->workers[i]);
    storage_reader_close(r->reader);
    overlays_free(r->overlays);
    free(r->workers);
    free(r->pieces);
    free(r->suspects);
    free(r->late);
    arena_free(r->page_arena);
    pthread_cond_destroy(&r->changed);
    pthread_mutex_destroy(&r->lock);
    free(r);
}

void resolver_set_rules(struct resolver *r, const struct rules *rules)
{
    pthread_mutex_lock(&r->lock);
    r->next_rules = rules;
    pthread_mutex_unlock(&r->lock);
}

void resolver_ring(struct resolver *r)
{
    pthread_mutex_lock(&r->lock);
    r->rung = true;
    pthread_cond_broadcast(&r->changed);
    pthread_mutex_unlock(&r->lock);
}
