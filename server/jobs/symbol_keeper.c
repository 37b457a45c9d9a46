#include "server/jobs/symbol_keeper.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "server/jobs/index_install.h"
#include "server/jobs/index_room.h"
#include "server/jobs/index_tell.h"
#include "server/jobs/index_watch.h"
#include "server/jobs/object_shares.h"
#include "server/jobs/shelf_text.h"
#include "symbolizer/gsym_read.h"

#define USES_EVERY_MS    600000
#define USES_MAX         4096
#define OBJECTS_EVERY_MS 5000
#define OBJECTS_AT_ONCE  64
#define ROOM_EVERY_MS    60000 /* a sum of all index files */
#define OPENS_EVERY_MS   60000
#define OPENS_AT_ONCE    64
#define QUICK_AT_ONCE    200 /* indexes opened in a step */
#define WHOLE_AT_ONCE    2   /* indexes read whole in a step */
#define WATCH_AT_ONCE    8   /* unfit ones found in a step */
#define CURSOR_SIZE      128

struct symbol_keeper {
    struct symbol_keeper_parts parts;
    struct symbol_keeper_options options;
    /* When something is due, by the monotonic clock; INT64_MIN: at once. */
    int64_t uses_at, objects_at, room_at, opens_at, patrol_at;
    bool whole; /* this round of the patrol reads indexes whole */
    char cursor[CURSOR_SIZE];
    struct uuid uses[USES_MAX];
    size_t use_count;
    struct index_watch watch;
};

struct symbol_keeper *symbol_keeper_new(const struct symbol_keeper_parts *parts,
                                        const struct symbol_keeper_options *options)
{
    struct symbol_keeper *k = calloc(1, sizeof(*k));
    if (!k)
        return NULL;
    k->parts = *parts;
    k->options = *options;
    index_watch_init(&k->watch, parts->cache, parts->blobs, parts->reader);
    k->uses_at = k->objects_at = k->room_at = k->opens_at = k->patrol_at = INT64_MIN;
    return k;
}

void symbol_keeper_free(struct symbol_keeper *k)
{
    if (!k)
        return;
    index_watch_done(&k->watch);
    free(k);
}

/* --- use -------------------------------------------------------------------------------------- */

static enum err note_uses(struct symbol_keeper *k, int64_t wall_ms, struct error *err)
{
    k->use_count +=
        index_cache_take_used(k->parts.cache, k->uses + k->use_count, USES_MAX - k->use_count);
    if (k->use_count == 0)
        return ERR_OK;
    struct write_op *op = index_tell_op(WRITE_OBJECTS, err);
    if (!op)
        return ERR_NO_MEMORY;
    op->u.objects =
        (struct op_objects){.used = k->uses, .used_count = k->use_count, .now_ms = wall_ms};
    enum err rc = index_tell_send(k->parts.writer, op, err);
    if (rc == ERR_OK)
        k->use_count = 0;
    return rc;
}

/* --- objects ---------------------------------------------------------------------------------- */

static enum err drop_objects(struct symbol_keeper *k, const struct object_row *rows, size_t count,
                             struct error *err)
{
    struct write_op *op = index_tell_op(WRITE_OBJECTS, err);
    if (!op)
        return ERR_NO_MEMORY;
    uint8_t(*shas)[SHA256_SIZE] = arena_array(op->arena, count, SHA256_SIZE);
    enum err rc = shas ? ERR_OK : error_set(err, ERR_NO_MEMORY, "no memory for a change");
    uint64_t bytes = 0;
    for (size_t i = 0; rc == ERR_OK && i < count; i++) {
        rc = blob_store_remove_object(k->parts.blobs, rows[i].sha256, err);
        memcpy(shas[i], rows[i].sha256, SHA256_SIZE);
        bytes += rows[i].bytes;
    }
    if (rc != ERR_OK) {
        write_op_free(op);
        return rc;
    }
    op->u.objects.dropped = (const uint8_t(*)[SHA256_SIZE])shas;
    op->u.objects.dropped_count = count;
    rc = index_tell_send(k->parts.writer, op, err);
    if (rc == ERR_OK) {
        metrics_add(k->parts.metrics, METRIC_OBJECTS_DROPPED, (int64_t)count);
        log_info("objects dropped", "files=%zu bytes=%" PRIu64, count, bytes);
    }
    return rc;
}

static int64_t before(int64_t wall_ms, int64_t age_ms)
{
    return age_ms > 0 && wall_ms > age_ms ? wall_ms - age_ms : 0;
}

/* Those that are too old, and those of deleted uploads. *ret_more: there may be others. */
static enum err drop_old(struct symbol_keeper *k, int64_t wall_ms, struct arena *arena,
                         bool *ret_more, struct error *err)
{
    struct object_row *rows = NULL;
    size_t count = 0;
    enum err rc = read_idle_objects(k->parts.reader, before(wall_ms, k->options.object_ms),
                                    before(wall_ms, k->options.system_object_ms), OBJECTS_AT_ONCE,
                                    arena, &rows, &count, err);
    if (rc == ERR_OK && count > 0)
        rc = drop_objects(k, rows, count, err);
    *ret_more = rc == ERR_OK && count == OBJECTS_AT_ONCE;
    return rc;
}

/* Of one holder the longest unused ones, until it has no more than `share`. */
static enum err drop_held(struct symbol_keeper *k, const struct object_holder_row *holder,
                          uint64_t share, struct arena *arena, size_t *ret_dropped,
                          struct error *err)
{
    struct object_row *rows = NULL;
    size_t count = 0, wanted = 0;
    uint64_t bytes = holder->bytes;
    enum err rc = read_held_objects(k->parts.reader, holder->bundle_id, OBJECTS_AT_ONCE, arena,
                                    &rows, &count, err);
    if (rc != ERR_OK)
        return rc;
    while (wanted < count && bytes > share) {
        bytes -= rows[wanted].bytes < bytes ? rows[wanted].bytes : bytes;
        wanted++;
    }
    *ret_dropped = wanted;
    return wanted > 0 ? drop_objects(k, rows, wanted, err) : ERR_OK;
}

/* What an app has above its cap, and what all have together above theirs: of who holds most. One holder
 * in a step. */
static enum err drop_surplus(struct symbol_keeper *k, uint64_t bytes, struct arena *arena,
                             bool *ret_more, struct error *err)
{
    const struct symbol_keeper_options *o = &k->options;
    struct object_holder_row *rows = NULL;
    size_t count = 0, dropped = 0;
    if (o->app_object_bytes == 0 && (o->object_bytes == 0 || bytes <= o->object_bytes))
        return ERR_OK;
    enum err rc = read_object_holders(k->parts.reader, arena, &rows, &count, err);
    if (rc != ERR_OK)
        return rc;
    uint64_t share = o->object_bytes ? object_share_of(rows, count, o->object_bytes) : UINT64_MAX;
    for (size_t i = 0; i < count && dropped == 0 && rc == ERR_OK; i++) {
        bool capped = *rows[i].bundle_id && o->app_object_bytes && o->app_object_bytes < share;
        uint64_t most = capped ? o->app_object_bytes : share;
        if (rows[i].bytes > most)
            rc = drop_held(k, &rows[i], most, arena, &dropped, err);
    }
    *ret_more = rc == ERR_OK && dropped > 0;
    return rc;
}

static enum err tend_objects(struct symbol_keeper *k, int64_t wall_ms, struct arena *arena,
                             bool *ret_more, struct error *err)
{
    struct object_totals totals = {.files = 0};
    bool old = false, surplus = false;
    enum err rc = note_uses(k, wall_ms, err); /* what is of use is not dropped */
    if (rc == ERR_OK)
        rc = drop_old(k, wall_ms, arena, &old, err);
    if (rc == ERR_OK)
        rc = read_object_totals(k->parts.reader, NULL, &totals, err);
    if (rc == ERR_OK)
        rc = drop_surplus(k, totals.bytes, arena, &surplus, err);
    if (rc == ERR_OK)
        rc = read_object_totals(k->parts.reader, NULL, &totals, err);
    *ret_more = old || surplus;
    if (rc != ERR_OK)
        return rc;
    metrics_set(k->parts.metrics, METRIC_OBJECT_FILES, (int64_t)totals.files);
    metrics_set(k->parts.metrics, METRIC_OBJECT_BYTES, (int64_t)totals.bytes);
    metrics_set(k->parts.metrics, METRIC_INDEX_BYTES, (int64_t)totals.index_bytes);
    return ERR_OK;
}

/* --- room for indexes ----------------------------------------------------------------------- */

/* Told once, until there is room again. */
static enum err look_at_room(struct symbol_keeper *k, struct error *err)
{
    struct metrics *m = k->parts.metrics;
    const uint64_t cap = k->options.index_bytes;
    uint64_t kept = 0;
    enum err rc = read_kept_index_bytes(k->parts.reader, NULL, &kept, err);
    if (rc != ERR_OK)
        return rc;
    const bool full = index_room_is_full(kept, cap);
    if (full && !metrics_get(m, METRIC_INDEXES_FULL))
        log_warn("index files have reached their cap: symbol uploads are refused",
                 "bytes=%" PRIu64 " index_bytes=%" PRIu64, kept, cap);
    metrics_set(m, METRIC_KEPT_INDEX_BYTES, (int64_t)kept);
    metrics_set(m, METRIC_INDEXES_FULL, full);
    return ERR_OK;
}

/* --- uploads in pieces ------------------------------------------------------------------------ */

/* With its lock held: is it still as old as it was? */
static enum err give_up(struct symbol_keeper *k, const struct open_upload_row *old,
                        int64_t before_ms, struct arena *arena, struct error *err)
{
    struct open_upload_row row;
    enum err rc = read_open_upload(k->parts.reader, old->id, arena, &row, err);
    if (rc == ERR_NOT_FOUND || (rc == ERR_OK && row.touched_ms >= before_ms))
        return ERR_OK;
    struct write_op *op = rc == ERR_OK ? index_tell_op(WRITE_OPEN_DROP, err) : NULL;
    if (!op)
        return err->code;
    memcpy(op->u.open_drop.id, row.id, sizeof(row.id));
    rc = index_tell_send(k->parts.writer, op, err);
    /* What became an ordinary upload is the indexer's. A file without a row goes at the next start. */
    if (rc == ERR_OK && row.upload_id == 0)
        rc = blob_store_remove_spool(k->parts.blobs, row.spool_file, err);
    return rc;
}

static enum err tend_opens(struct symbol_keeper *k, int64_t wall_ms, struct arena *arena,
                           bool *ret_more, struct error *err)
{
    struct open_upload_row *rows = NULL;
    size_t count = 0;
    int64_t before_ms = before(wall_ms, k->options.open_upload_ms);
    enum err rc = read_open_uploads(k->parts.reader, NULL, before_ms, OPENS_AT_ONCE, arena, &rows,
                                    &count, err);
    size_t gone = 0;
    for (size_t i = 0; rc == ERR_OK && i < count; i++) {
        if (!piece_locks_take(k->parts.piece_locks, rows[i].id))
            continue;
        rc = give_up(k, &rows[i], before_ms, arena, err);
        piece_locks_give(k->parts.piece_locks, rows[i].id);
        gone++;
    }
    *ret_more = rc == ERR_OK && gone == OPENS_AT_ONCE;
    return rc;
}

/* --- the patrol ------------------------------------------------------------------------------- */

static bool is_fit(const struct symbol_keeper *k, const struct slice_row *row)
{
    char path[PATH_MAX];
    struct error err = {.code = ERR_OK};
    struct gsym *g = NULL;
    struct op_slice told = {.image = row->image};
    if (!blob_store_index_path(k->parts.blobs, &row->shelf, path, sizeof(path)))
        return true;
    enum err rc = k->whole ? index_file_check(path, &told, &err) : gsym_open(path, &g, &err);
    gsym_close(g);
    /* No descriptor or memory to be had is not the file's fault. */
    return rc == ERR_OK || rc == ERR_BUSY || rc == ERR_NO_MEMORY;
}

static enum err queue_unfit(struct symbol_keeper *k, const struct uuid *shelves, size_t count,
                            struct arena *arena, struct error *err)
{
    char text[SHELF_TEXT_SIZE];
    for (size_t i = 0; i < count; i++)
        log_warn("index is lost, damaged or of another version", "%s",
                 shelf_text(k->parts.reader, &shelves[i], arena, text));
    return index_tell_refits(k->parts.writer, shelves, count, false, err);
}

static enum err look_at_page(struct symbol_keeper *k, const struct slice_row *rows, size_t count,
                             struct arena *arena, bool *ret_unfit, struct error *err)
{
    struct uuid *shelves = arena_array(arena, count + 1, sizeof(*shelves));
    size_t unfit = 0;
    for (size_t i = 0; shelves && i < count; i++) {
        if (!is_fit(k, &rows[i]))
            shelves[unfit++] = rows[i].shelf;
    }
    if (!shelves)
        return error_set(err, ERR_NO_MEMORY, "no memory to look at indexes");
    *ret_unfit = unfit > 0;
    return queue_unfit(k, shelves, unfit, arena, err);
}

/* A page of indexes; after the last one the next round is in a while, and reads them whole. */
static enum err patrol(struct symbol_keeper *k, int64_t mono_ms, struct arena *arena,
                       bool *ret_more, struct error *err)
{
    struct slice_row *rows = NULL;
    size_t count = 0;
    const char *next = NULL;
    enum err rc = read_symbols(k->parts.reader, NULL, k->whole ? WHOLE_AT_ONCE : QUICK_AT_ONCE,
                               *k->cursor ? k->cursor : NULL, arena, &rows, &count, &next, err);
    if (rc == ERR_OK)
        rc = look_at_page(k, rows, count, arena, ret_more, err);
    if (rc != ERR_OK)
        return rc;
    snprintf(k->cursor, sizeof(k->cursor), "%s", next ? next : "");
    if (next) {
        *ret_more |= !k->whole;
        return ERR_OK;
    }
    k->whole = true;
    k->patrol_at = k->options.check_ms > 0 ? mono_ms + k->options.check_ms : INT64_MAX;
    return ERR_OK;
}

/* What readers and the resolver have open, or failed to open. */
static enum err look_at_used(struct symbol_keeper *k, struct arena *arena, bool *ret_more,
                             struct error *err)
{
    struct uuid unfit[WATCH_AT_ONCE];
    struct error ignored;
    size_t count = 0;
    enum err rc = index_watch_look(&k->watch, unfit, WATCH_AT_ONCE, &count, ret_more, err);
    enum err told = queue_unfit(k, unfit, count, arena, rc == ERR_OK ? err : &ignored);
    if (told != ERR_OK)
        index_watch_forget(&k->watch, unfit, count);
    return rc == ERR_OK ? told : rc;
}

/* --- a step ----------------------------------------------------------------------------------- */

enum err symbol_keeper_step(struct symbol_keeper *k, int64_t wall_ms, int64_t mono_ms,
                            const struct uuid *used, size_t used_count, struct arena *arena,
                            bool *ret_more, struct error *err)
{
    bool more = false;
    enum err rc = ERR_OK;
    *ret_more = false;
    for (size_t i = 0; i < used_count && k->use_count < USES_MAX; i++)
        k->uses[k->use_count++] = used[i];
    if (mono_ms >= k->patrol_at)
        rc = patrol(k, mono_ms, arena, ret_more, err);
    if (rc == ERR_OK)
        rc = look_at_used(k, arena, &more, err);
    *ret_more |= more;
    if (rc == ERR_OK && mono_ms >= k->uses_at) {
        rc = note_uses(k, wall_ms, err);
        k->uses_at = mono_ms + USES_EVERY_MS;
    }
    if (rc == ERR_OK && mono_ms >= k->objects_at) {
        rc = tend_objects(k, wall_ms, arena, &more, err);
        k->objects_at = more ? mono_ms : mono_ms + OBJECTS_EVERY_MS;
        *ret_more |= more;
    }
    if (rc == ERR_OK && mono_ms >= k->room_at) {
        rc = look_at_room(k, err);
        k->room_at = mono_ms + ROOM_EVERY_MS;
    }
    if (rc == ERR_OK && mono_ms >= k->opens_at) {
        rc = tend_opens(k, wall_ms, arena, &more, err);
        k->opens_at = more ? mono_ms : mono_ms + OPENS_EVERY_MS;
        *ret_more |= more;
    }
    return rc;
}
