/*
 * What stacks weigh: first the sums, from the smallest table that can tell; then the time of reports
 * with samples is moved to the samples' stacks; then each stack's frames are read, its names once.
 *
 * Pages are read, not mapped (PRAGMA mmap_size), though that would take 0.5 us less a stack: a disk that
 * fails would be a signal and the end of the daemon, where it is an answer 500 now, and what one graph
 * looked at would count as the daemon's memory.
 */
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "storage/figures.h"
#include "storage/frame_kinds.h"
#include "storage/frames_blob.h"
#include "storage/sqlite_figures.h"
#include "storage/sqlite_numbers.h"
#include "storage/sqlite_stacks.h"
#include "storage/stack_weights.h"

#define WEIGHT_VALUES (FILTER_VALUES + 3)
#define STACK_BYTES   ((size_t)16 << 20) /* of one stack, decoded */
#define QUICK_FRAMES  4096               /* longer stacks take the long way */
#define SCAN_GAP      8                  /* stacks passed over rather than sought */

#define NAMES_SINGLE 256 /* names read one by one; more are read in blocks */
#define NAMES_BLOCK  32

/* Names by their numbers, each read once. */
struct names {
    struct sqlite_reader *reader;
    struct arena *arena;
    const char **texts; /* by number; NULL: not read yet */
    size_t count;
    size_t reads;
};

static enum err room_for_name(struct names *n, int64_t last, struct error *err)
{
    if ((size_t)last < n->count)
        return ERR_OK;
    const size_t known = n->count;
    const char **texts = vec_grown(n->texts, &n->count, (size_t)last + 1, sizeof(*texts));
    if (!texts)
        return error_set(err, ERR_NO_MEMORY, "no memory for names");
    memset(texts + known, 0, (n->count - known) * sizeof(*texts));
    n->texts = texts;
    return ERR_OK;
}

static enum err name_row(void *ctx, sqlite3_stmt *st, struct error *err)
{
    struct names *n = ctx;
    const int64_t id = sqlite3_column_int64(st, 0);
    bool failed = false;
    enum err rc = room_for_name(n, id, err);
    if (rc)
        return rc;
    const char **text = &n->texts[id];
    if (!*text)
        *text = sql_column_text(st, 1, n->arena, &failed);
    if (failed && !n->arena->capped)
        return error_set(err, ERR_NO_MEMORY, "no memory for the names of the frames");
    if (failed)
        *text = WEIGHT_OTHER_NAME; /* clients bring names: they cannot take the answer away */
    return ERR_OK;
}

/* Names from one number to another that were not read yet. */
static enum err read_names(struct names *n, int64_t first, int64_t last, struct error *err)
{
    struct sql_conn *c = &n->reader->conn;
    return sqlite_each_row(c, sql_start(c, SQL_NAMES_BETWEEN, err, sql_int(first), sql_int(last)),
                           name_row, n, err);
}

/* A name is a row of `names`, numbered from 1 on without gaps, so that a flat table will do. Names
 * that came together are mostly asked for together. */
static enum err read_name(struct names *n, int64_t id, const char **ret, struct error *err)
{
    const bool single = n->reads++ < NAMES_SINGLE;
    if (id <= 0 || id > INT64_MAX - NAMES_BLOCK)
        return error_set(err, ERR_FORMAT, "a stored frame has a name that is not there");
    const int64_t first = single ? id : id & ~(int64_t)(NAMES_BLOCK - 1);
    const int64_t last = single ? id : first + NAMES_BLOCK - 1;
    enum err rc = read_names(n, first, last, err);
    if (!rc && ((uint64_t)id >= n->count || !n->texts[id]))
        rc = error_set(err, ERR_FORMAT, "a stored frame has a name that is not there");
    if (!rc)
        *ret = n->texts[id];
    return rc;
}

static inline enum err name_text(void *ctx, int64_t id, const char **ret, struct error *err)
{
    struct names *n = ctx;
    if ((uint64_t)id >= n->count || !n->texts[id])
        return read_name(n, id, ret, err);
    *ret = n->texts[id];
    return ERR_OK;
}

/* --- sums ------------------------------------------------------------------------------------- */

static enum err start(struct sqlite_reader *r, enum sql_query query, enum read_source source,
                      uint64_t cluster_id, const struct read_filter *f, sqlite3_stmt **ret,
                      struct error *err)
{
    struct sql_value values[WEIGHT_VALUES];
    enum err rc = sqlite_filter_values(r, f, source, values, err);
    if (rc)
        return rc;
    values[FILTER_VALUES] = cluster_id ? sql_int((int64_t)cluster_id) : sql_null();
    values[FILTER_VALUES + 1] = sql_text(f->category);
    values[FILTER_VALUES + 2] = sql_text(f->state);
    *ret = sql_bind(&r->conn, query, values, WEIGHT_VALUES, err);
    return *ret ? ERR_OK : err->code;
}

static void add_sums(sqlite3_stmt *st, struct stack_weight *w)
{
    w->count += sqlite3_column_int64(st, 1);
    w->weighted += sqlite3_column_int64(st, 2);
    w->stall_ms += sqlite3_column_int64(st, 3);
}

static void add_report(sqlite3_stmt *st, struct stack_weight *w)
{
    const int64_t weighted = sqlite3_column_int64(st, 1);
    const int64_t duration = sql_column_null(st, 2) ? -1 : sqlite3_column_int64(st, 2);
    w->count++;
    w->weighted += weighted;
    w->stall_ms += figures_stall(duration) + figures_above(weighted, duration);
}

static enum err add_base(struct sqlite_reader *r, uint64_t cluster_id, const struct read_filter *f,
                         size_t filter, struct stack_weights *w, struct error *err)
{
    static const enum sql_query queries[] = {[READ_COUNTERS] = SQL_WEIGHTS_COUNTERS,
                                             [READ_WEEK_DEVICES] = SQL_WEIGHTS_DEVICES,
                                             [READ_WEEK_PAGES] = SQL_WEIGHTS_PAGES};
    const enum read_source source = read_plan_source(f, BY_NONE, BY_NONE);
    enum sql_query query = cluster_id ? SQL_WEIGHTS_REPORTS_CLUSTER : SQL_WEIGHTS_REPORTS_APP;
    sqlite3_stmt *st = NULL;
    bool row = true;
    if (source != READ_REPORTS)
        query = read_plan_unfiltered(f) ? SQL_WEIGHTS_TOTALS : queries[source];
    enum err rc = start(r, query, source, cluster_id, f, &st, err);
    while (!rc && !(rc = sql_step(&r->conn, st, &row, err)) && row) {
        struct stack_weights_entry *e =
            stack_weights_at(w, (uint64_t)sqlite3_column_int64(st, 0), err);
        if (!e) {
            sql_end(st);
            return err->code;
        }
        (source == READ_REPORTS ? add_report : add_sums)(st, &e->weights[filter]);
    }
    return rc;
}

/* --- samples ---------------------------------------------------------------------------------- */

/* The samples of the report at hand. */
struct gather {
    struct weight_sample *items;
    size_t count, room;
    int64_t report_id;
    struct weight_samples of;
};

static enum err gather_end(struct gather *g, struct stack_weights *w, size_t filter,
                           struct error *err)
{
    g->of.items = g->items;
    g->of.count = g->count;
    g->count = 0;
    return g->of.count ? stack_weights_spread(w, filter, &g->of, err) : ERR_OK;
}

static enum err gather_row(struct gather *g, sqlite3_stmt *st, struct error *err)
{
    struct weight_sample *items = vec_grown(g->items, &g->room, g->count + 1, sizeof(*items));
    if (!items)
        return error_set(err, ERR_NO_MEMORY, "no memory for samples");
    g->items = items;
    g->report_id = sqlite3_column_int64(st, 0);
    g->of.stack_id = (uint64_t)sqlite3_column_int64(st, 1);
    g->of.weighted = sqlite3_column_int64(st, 2);
    g->of.duration_ms = sqlite3_column_int64(st, 3);
    g->items[g->count++] =
        (struct weight_sample){(uint64_t)sqlite3_column_int64(st, 4), sqlite3_column_int(st, 5),
                               (uint32_t)sqlite3_column_int64(st, 6)};
    return ERR_OK;
}

static enum err spread(struct sqlite_reader *r, uint64_t cluster_id, const struct read_filter *f,
                       size_t filter, struct stack_weights *w, struct error *err)
{
    struct gather g = {.report_id = INT64_MIN};
    sqlite3_stmt *st = NULL;
    bool row = true;
    enum err rc = start(r, cluster_id ? SQL_WEIGHTS_SAMPLES_CLUSTER : SQL_WEIGHTS_SAMPLES_APP,
                        READ_REPORTS, cluster_id, f, &st, err);
    while (!rc && !(rc = sql_step(&r->conn, st, &row, err)) && row) {
        if (sqlite3_column_int64(st, 0) != g.report_id)
            rc = gather_end(&g, w, filter, err);
        if (!rc)
            rc = gather_row(&g, st, err);
    }
    if (!rc)
        rc = gather_end(&g, w, filter, err);
    sql_end(row ? st : NULL);
    free(g.items);
    return rc;
}

/* --- frames ----------------------------------------------------------------------------------- */

static bool weighs(const struct stack_weights_entry *e, size_t filter_count)
{
    for (size_t i = 0; i < filter_count; i++) {
        if (e->weights[i].weighted || e->weights[i].stall_ms)
            return true;
    }
    return false;
}

/* What the stacks are read with. */
struct reading {
    struct names names;
    struct arena scratch; /* emptied after each stack */
    struct blob_frame *blob;
    uint32_t *numbers; /* of the stack at hand; QUICK_FRAMES, as `blob` */
    struct frame_kinds kinds;
    uint32_t epoch;
    const struct stack_weights *weights;
    size_t filter_count;
    stack_weight_visit *visit;
    void *ctx;
};

static inline enum err name_or_null(struct reading *r, int64_t id, const char **ret,
                                    struct error *err)
{
    *ret = NULL;
    return id == 0 ? ERR_OK : name_text(&r->names, id, ret, err);
}

/* A frame that has no number yet. */
static enum err add_kind(struct reading *r, const struct blob_frame *from, uint32_t *ret,
                         struct error *err)
{
    struct weighed_frame frame = {.function = NULL};
    enum err rc = name_text(&r->names, from->function, &frame.function, err);
    if (!rc)
        rc = name_or_null(r, from->image, &frame.image, err);
    if (!rc)
        rc = name_or_null(r, from->file, &frame.file, err);
    if (!rc && !frame_kinds_add(&r->kinds, from, &frame, ret))
        rc = error_set(err, ERR_NO_MEMORY, "no memory for frames");
    return rc;
}

/* Names alone, as nearly all stacks have them. */
static enum err quick_frames(struct reading *r, const void *data, size_t len,
                             struct weighed_stack *s, bool *ret_whole, struct error *err)
{
    size_t count = 0;
    enum err rc = frames_blob_walk(data, len, r->blob, QUICK_FRAMES, &count, ret_whole, err);
    if (rc || !*ret_whole)
        return rc;
    if (r->kinds.count + 2 * count > FRAME_KINDS_MAX) {
        frame_kinds_reset(&r->kinds);
        r->epoch++;
    }
    for (size_t i = 0; i < count && !rc; i++) {
        if (!frame_kinds_find(&r->kinds, &r->blob[i], &r->numbers[i]))
            rc = add_kind(r, &r->blob[i], &r->numbers[i], err);
    }
    s->frame_count = count;
    s->numbers = r->numbers;
    s->kinds = r->kinds.frames;
    s->kind_count = r->kinds.count;
    s->epoch = r->epoch;
    return rc;
}

static enum err all_frames(struct reading *r, const void *data, size_t len, struct weighed_stack *s,
                           struct error *err)
{
    struct resolved_stack resolved = {NULL, 0};
    struct raw_stack raw;
    enum err rc = raw_stack_decode(s->raw, s->raw_len, &r->scratch, &raw, err);
    if (!rc && data)
        rc = frames_blob_decode(&raw, data, len, name_text, &r->names, &r->scratch, &resolved, err);
    return rc ? rc : stack_weights_frames(s, &raw, &resolved, &r->scratch, err);
}

static enum err visit_row(struct reading *r, sqlite3_stmt *st, const struct stack_weights_entry *e,
                          struct error *err)
{
    struct weighed_stack s = {.stack_id = e->stack_id,
                              .raw = sqlite3_column_blob(st, 1),
                              .raw_len = (size_t)sqlite3_column_bytes(st, 1)};
    const void *data = sqlite3_column_blob(st, 2);
    size_t len = (size_t)sqlite3_column_bytes(st, 2);
    bool whole = false;
    enum err rc = data ? quick_frames(r, data, len, &s, &whole, err) : ERR_OK;
    if (!rc && !whole)
        rc = all_frames(r, data, len, &s, err);
    memcpy(s.weights, e->weights, sizeof(s.weights));
    if (!rc)
        rc = r->visit(r->ctx, &s, err);
    arena_reset(&r->scratch);
    return rc;
}

/* Entries `first` to `end`, from one scan of the ids between them. */
static enum err visit_run(struct reading *r, size_t first, size_t end, struct error *err)
{
    const struct stack_weights_entry *e = r->weights->entries;
    struct sql_conn *conn = &r->names.reader->conn;
    bool row = true;
    sqlite3_stmt *st = sql_start(conn, SQL_WEIGHTS_STACKS, err, sql_int((int64_t)e[first].stack_id),
                                 sql_int((int64_t)e[end - 1].stack_id));
    enum err rc = st ? ERR_OK : err->code;
    while (!rc && first < end && !(rc = sql_step(conn, st, &row, err)) && row) {
        uint64_t id = (uint64_t)sqlite3_column_int64(st, 0);
        if (id > e[first].stack_id)
            rc = error_set(err, ERR_FORMAT, "counters are of a stack that is not there");
        else if (id == e[first].stack_id && weighs(&e[first], r->filter_count))
            rc = visit_row(r, st, &e[first], err);
        first += id == e[first].stack_id;
    }
    if (!rc && first < end)
        rc = error_set(err, ERR_FORMAT, "counters are of a stack that is not there");
    sql_end(row ? st : NULL);
    return rc;
}

/* Ids that lie close together are one scan. */
static enum err visit_all(struct reading *r, struct error *err)
{
    const struct stack_weights_entry *e = r->weights->entries;
    enum err rc = ERR_OK;
    for (size_t first = 0, end; first < r->weights->count && !rc; first = end) {
        end = first + 1;
        while (end < r->weights->count && e[end].stack_id - e[end - 1].stack_id <= SCAN_GAP)
            end++;
        rc = visit_run(r, first, end, err);
    }
    return rc;
}

static enum err read_frames(struct sqlite_reader *r, const struct stack_weights *w,
                            size_t filter_count, struct arena *arena, stack_weight_visit *visit,
                            void *ctx, struct error *err)
{
    struct reading reading = {.names = {.reader = r, .arena = arena},
                              .weights = w,
                              .filter_count = filter_count,
                              .visit = visit,
                              .ctx = ctx};
    arena_init(&reading.scratch, STACK_BYTES);
    reading.blob = calloc(QUICK_FRAMES, sizeof(*reading.blob));
    reading.numbers = calloc(QUICK_FRAMES, sizeof(*reading.numbers));
    enum err rc = reading.blob && reading.numbers
                      ? visit_all(&reading, err)
                      : error_set(err, ERR_NO_MEMORY, "no memory for frames");
    arena_done(&reading.scratch);
    free(reading.blob);
    free(reading.numbers);
    frame_kinds_done(&reading.kinds);
    free(reading.names.texts);
    return rc;
}

static enum err scope_of(struct sqlite_reader *r, const struct read_filter *f,
                         struct breakdown_scope *ret, struct error *err)
{
    *ret = (struct breakdown_scope){"counters", INT64_MIN};
    if (read_plan_source(f, BY_NONE, BY_NONE) != READ_REPORTS)
        return ERR_OK;
    ret->source = "reports";
    return sql_get_values(&r->conn, SQL_REPORT_OLDEST, NULL, 0, INT64_MIN, &ret->since_ms, err);
}

enum err sqlite_read_stack_weights(struct storage_reader *base, uint64_t cluster_id,
                                   const struct read_filter *filters, size_t filter_count,
                                   struct arena *arena, stack_weight_visit *visit, void *ctx,
                                   struct breakdown_scope *ret_scopes, struct error *err)
{
    struct sqlite_reader *r = sqlite_reader_of(base);
    struct stack_weights w = {.count = 0};
    struct breakdown_scope scopes[WEIGHT_FILTERS_MAX];
    uint64_t living = 0;
    enum err rc = cluster_id ? sqlite_cluster_living(r, cluster_id, &living, err) : ERR_OK;
    for (size_t i = 0; i < filter_count && !rc; i++) {
        rc = scope_of(r, &filters[i], &scopes[i], err);
        if (!rc)
            rc = add_base(r, living, &filters[i], i, &w, err);
        if (!rc)
            rc = spread(r, living, &filters[i], i, &w, err);
    }
    stack_weights_sort(&w);
    if (!rc)
        rc = read_frames(r, &w, filter_count, arena, visit, ctx, err);
    stack_weights_done(&w);
    if (!rc)
        memcpy(ret_scopes, scopes, filter_count * sizeof(scopes[0]));
    return rc;
}
