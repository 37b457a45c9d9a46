/*
 * What stacks weigh: first the sums, from the smallest table that can tell; then the time of reports
 * with samples is moved to the samples' stacks; then each stack's frames are read, its names once.
 */
#include <stdlib.h>
#include <string.h>

#include "storage/figures.h"
#include "storage/frames_blob.h"
#include "storage/sqlite_figures.h"
#include "storage/sqlite_numbers.h"
#include "storage/sqlite_stacks.h"
#include "storage/stack_weights.h"

#define WEIGHT_VALUES (FILTER_VALUES + 3)
#define STACK_BYTES   ((size_t)16 << 20) /* of one stack, decoded */

/* Names by their numbers, each read once. */
struct names {
    struct sqlite_reader *reader;
    struct arena *arena;
    const char **texts; /* by number; NULL: not read yet */
    size_t count;
};

/* A name is a row of `names`, numbered from 1 on without gaps, so that a flat table will do. */
static enum err name_text(void *ctx, int64_t id, const char **ret, struct error *err)
{
    struct names *n = ctx;
    struct sql_conn *c = &n->reader->conn;
    bool row = false, failed = false;
    if (id > 0 && (uint64_t)id < n->count && n->texts[id]) {
        *ret = n->texts[id];
        return ERR_OK;
    }
    sqlite3_stmt *st = sql_start(c, SQL_NAME_TEXT, err, sql_int(id));
    enum err rc = st ? sql_step(c, st, &row, err) : err->code;
    if (rc)
        return rc;
    if (!row)
        return error_set(err, ERR_FORMAT, "a stored frame has a name that is not there");
    const char *text = sql_column_text(st, 0, n->arena, &failed);
    sql_end(st);
    if (failed)
        return error_set(err, ERR_LIMIT, "the names of the frames take too much memory");
    if ((size_t)id >= n->count) {
        size_t count = (size_t)id + 1 + n->count / 2;
        const char **texts = realloc(n->texts, count * sizeof(*texts));
        if (!texts)
            return error_set(err, ERR_NO_MEMORY, "no memory for names");
        memset(texts + n->count, 0, (count - n->count) * sizeof(*texts));
        n->texts = texts;
        n->count = count;
    }
    n->texts[id] = text;
    *ret = text;
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
    if (g->count == g->room) {
        size_t room = g->room ? g->room * 2 : 64;
        struct weight_sample *items = realloc(g->items, room * sizeof(*items));
        if (!items)
            return error_set(err, ERR_NO_MEMORY, "no memory for samples");
        g->items = items;
        g->room = room;
    }
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

static enum err decode(struct sqlite_reader *r, struct names *names, struct arena *scratch,
                       struct weighed_stack *s, struct error *err)
{
    bool row = false;
    sqlite3_stmt *st = sql_start(&r->conn, SQL_WEIGHTS_STACK, err, sql_int((int64_t)s->stack_id));
    enum err rc = st ? sql_step(&r->conn, st, &row, err) : err->code;
    if (rc)
        return rc;
    if (!row)
        return error_set(err, ERR_FORMAT, "counters are of a stack that is not there");
    const void *resolved = sqlite3_column_blob(st, 1);
    rc = raw_stack_decode(sqlite3_column_blob(st, 0), (size_t)sqlite3_column_bytes(st, 0), scratch,
                          &s->raw, err);
    s->resolved = (struct resolved_stack){NULL, 0};
    if (!rc && resolved)
        rc = frames_blob_decode(&s->raw, resolved, (size_t)sqlite3_column_bytes(st, 1), name_text,
                                names, scratch, &s->resolved, err);
    sql_end(st);
    return rc;
}

static enum err visit_all(struct sqlite_reader *r, const struct stack_weights *w,
                          size_t filter_count, struct arena *arena, stack_weight_visit *visit,
                          void *ctx, struct error *err)
{
    struct names names = {.reader = r, .arena = arena};
    struct arena scratch;
    enum err rc = ERR_OK;
    arena_init(&scratch, STACK_BYTES);
    for (size_t i = 0; i < w->count && !rc; i++) {
        struct weighed_stack s = {.stack_id = w->entries[i].stack_id};
        if (!weighs(&w->entries[i], filter_count))
            continue;
        memcpy(s.weights, w->entries[i].weights, sizeof(s.weights));
        rc = decode(r, &names, &scratch, &s, err);
        if (!rc)
            rc = visit(ctx, &s, err);
        arena_reset(&scratch);
    }
    arena_done(&scratch);
    free(names.texts);
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
        rc = visit_all(r, &w, filter_count, arena, visit, ctx, err);
    stack_weights_done(&w);
    if (!rc)
        memcpy(ret_scopes, scopes, filter_count * sizeof(scopes[0]));
    return rc;
}
