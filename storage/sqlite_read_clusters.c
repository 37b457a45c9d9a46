/*
 * Reads of clusters.
 *
 * A list has three steps: which clusters the filter leaves, each with the value it is sorted by
 * (from the cached sums, from roll-ups or the counters, or from reports); the page; and the rows of
 * the page alone in full.
 */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "storage/cluster_face.h"
#include "storage/sqlite_figures.h"
#include "storage/sqlite_heft.h"
#include "storage/sqlite_rolled.h"
#include "storage/sqlite_stacks.h"
#include "storage/sqlite_tally.h"

struct candidate {
    uint64_t id;
    int64_t count, weighted, stall_ms; /* stall_ms: sampling undone */
    int64_t first_ms, last_ms;
    int64_t p90;   /* of the cached sums, where it is asked for */
    int64_t value; /* sorted by */
};

static enum err no_memory(struct error *err)
{
    return error_set(err, ERR_NO_MEMORY, "no memory for an answer");
}

static enum err cached_p90(sqlite3_stmt *st, int column, int64_t *ret, struct error *err)
{
    struct histogram h;
    histogram_init(&h);
    const bool ok = histogram_add_encoded(&h, sqlite3_column_blob(st, column),
                                          (size_t)sqlite3_column_bytes(st, column));
    *ret = histogram_quantile(&h, 0.9);
    histogram_done(&h);
    return ok ? ERR_OK : error_set(err, ERR_FORMAT, "the sums of a cluster are damaged");
}

/* Clusters by what the filter says about clusters themselves, ascending by id. */
static enum err matching(struct sqlite_reader *r, const struct read_filter *f, bool p90,
                         struct row_list *rows, struct error *err)
{
    bool row = true;
    sqlite3_stmt *st = sql_start(&r->conn, SQL_CLUSTERS_MATCHING, err, sql_text(f->bundle_id),
                                 sql_text(f->category), sql_text(f->state), sql_text(f->text),
                                 sql_int(f->include_hidden));
    if (!st)
        return err->code;
    for (;;) {
        enum err rc = sql_step(&r->conn, st, &row, err);
        if (rc || !row)
            return rc;
        struct candidate *c = row_list_add(rows, err);
        if (!c)
            return ERR_NO_MEMORY;
        c->id = (uint64_t)sqlite3_column_int64(st, 0);
        c->count = sqlite3_column_int64(st, 1);
        c->weighted = sqlite3_column_int64(st, 2);
        c->stall_ms = sqlite3_column_int64(st, 3);
        c->first_ms = sqlite3_column_int64(st, 4);
        c->last_ms = sqlite3_column_int64(st, 5);
        if (p90 && (rc = cached_p90(st, 6, &c->p90, err))) {
            sql_end(st);
            return rc;
        }
    }
}

/* --- sums under a filter, of candidates that ascend by id -------------------------------------- */

struct counted {
    struct row_list *rows;
    size_t at;
};

/* The scan ascends, too. */
static bool wants_candidate(void *ctx, uint64_t id)
{
    struct counted *c = ctx;
    const struct candidate *items = c->rows->items;
    while (c->at < c->rows->count && items[c->at].id < id)
        c->at++;
    return c->at < c->rows->count && items[c->at].id == id;
}

static enum err count_row(void *ctx, uint64_t id, const struct cube_row *row, struct error *err)
{
    const struct counted *c = ctx;
    struct candidate *item = (struct candidate *)c->rows->items + c->at;
    (void)id;
    (void)err;
    item->count += row->count;
    item->weighted = figures_sum(item->weighted, row->weighted);
    item->stall_ms = figures_sum(item->stall_ms, figures_sum(row->stall_ms, row->above_ms));
    return ERR_OK;
}

static void set_uncounted(struct row_list *rows)
{
    struct candidate *items = rows->items;
    for (size_t i = 0; i < rows->count; i++)
        items[i].count = items[i].weighted = items[i].stall_ms = 0;
}

static void drop_uncounted(struct row_list *rows)
{
    struct candidate *items = rows->items;
    size_t kept = 0;
    for (size_t i = 0; i < rows->count; i++) {
        if (items[i].count)
            items[kept++] = items[i];
    }
    rows->count = kept;
}

/* From the counters of all stacks, or from reports. */
static enum err count_stacks(struct sqlite_reader *r, const struct read_filter *f,
                             enum read_source source, struct row_list *rows, struct error *err)
{
    struct sql_value values[FILTER_VALUES];
    struct counted c = {rows, 0};
    bool row = true;
    enum err rc = sqlite_filter_values(r, f, source, values, err);
    if (rc)
        return rc;
    sqlite3_stmt *st = sql_bind(
        &r->conn, source == READ_COUNTERS ? SQL_CLUSTERS_BY_COUNTERS : SQL_CLUSTERS_BY_REPORTS,
        values, FILTER_VALUES, err);
    if (!st)
        return err->code;
    for (;;) {
        if ((rc = sql_step(&r->conn, st, &row, err)) || !row)
            return rc;
        const uint64_t id = (uint64_t)sqlite3_column_int64(st, 0);
        const struct cube_row sums = {.count = sqlite3_column_int64(st, 1),
                                      .weighted = sqlite3_column_int64(st, 2),
                                      .stall_ms = sqlite3_column_int64(st, 3)};
        if (wants_candidate(&c, id))
            (void)count_row(&c, id, &sums, err);
    }
}

/* Replaces cached sums by those under the filter. */
static enum err count_filtered(struct sqlite_reader *r, const struct read_filter *f,
                               struct row_list *rows, struct error *err)
{
    struct counted c = {rows, 0};
    const struct cube_scan scan = {
        .filter = f, .wants = wants_candidate, .visit = count_row, .ctx = &c};
    const enum read_source source = read_plan_clusters(f);
    bool known = false;
    enum err rc = ERR_OK;
    set_uncounted(rows);
    if (source == READ_COUNTERS)
        rc = sqlite_scan_cubes(r, &scan, &known, err);
    if (!rc && !known) {
        set_uncounted(rows);
        rc = count_stacks(r, f, source, rows, err);
    }
    drop_uncounted(rows);
    return rc;
}

static enum err add_figures(void *ctx, const struct figure_row *row, struct error *err)
{
    if (!figure_row_add(ctx, row))
        return error_set(err, ERR_FORMAT, "counters are damaged");
    return ERR_OK;
}

/* A cluster's figures under the filter; `hist` is its cached one. */
static enum err figures_of(struct sqlite_reader *r, uint64_t id, const struct read_filter *f,
                           struct figures *ret, struct error *err)
{
    return sqlite_scan_figures(r, read_plan_clusters(f), (int64_t)id, f, add_figures, ret, err);
}

static enum err sort_values(struct sqlite_reader *r, const struct read_filter *f,
                            enum cluster_sort sort, struct row_list *rows, struct error *err)
{
    struct candidate *c = rows->items;
    for (size_t i = 0; i < rows->count; i++) {
        switch (sort) {
        case SORT_COUNT:
            c[i].value = c[i].weighted;
            break;
        case SORT_STALL_MS:
            c[i].value = c[i].stall_ms;
            break;
        case SORT_LAST_SEEN:
            c[i].value = c[i].last_ms;
            break;
        case SORT_FIRST_SEEN:
            c[i].value = c[i].first_ms;
            break;
        case SORT_P90: {
            struct figures figures = {0};
            if (read_plan_unfiltered(f)) {
                c[i].value = c[i].p90;
                break;
            }
            enum err rc = figures_of(r, c[i].id, f, &figures, err);
            c[i].value = histogram_quantile(&figures.hist, 0.9);
            figures_done(&figures);
            if (rc)
                return rc;
            break;
        }
        }
    }
    return ERR_OK;
}

static int by_value(const void *a, const void *b)
{
    const struct candidate *x = a;
    const struct candidate *y = b;
    return read_order(x->value, x->id, y->value, y->id);
}

static enum err fill_texts(sqlite3_stmt *st, struct arena *arena, struct cluster_row *c,
                           struct error *err)
{
    const char **const texts[] = {&c->bundle_id,   &c->title,    &c->function, &c->file,
                                  &c->image,       &c->category, &c->owner,    &c->state,
                                  &c->resolved_in, &c->note,     &c->key_text, &c->rules_version};
    bool failed = false;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        *texts[i] = sql_column_text(st, (int)i, arena, &failed);
    c->cluster_kind = (uint8_t)sqlite3_column_int(st, 12);
    c->provisional = sqlite3_column_int(st, 13);
    c->hidden = sqlite3_column_int(st, 14);
    c->first_seen_ms = sqlite3_column_int64(st, 19);
    c->last_seen_ms = sqlite3_column_int64(st, 20);
    c->resolved_build = sql_column_text(st, 23, arena, &failed);
    c->regressed_ms = sql_column_null(st, 24) ? INT64_MIN : sqlite3_column_int64(st, 24);
    c->regressed_in = sql_column_text(st, 25, arena, &failed);
    c->regressed_build = sql_column_text(st, 26, arena, &failed);
    c->approximate = sqlite3_column_int(st, 27);
    return failed ? no_memory(err) : ERR_OK;
}

/* What stands with the cluster. */
struct cached {
    struct figures figures;
    struct tally tally;
    int64_t newest_ms; /* of the app's reports */
};

/* The row itself. */
static enum err fill_row(struct sqlite_reader *r, uint64_t id, struct arena *arena,
                         struct cluster_row *c, struct cached *cached, struct error *err)
{
    bool row = false;
    sqlite3_stmt *st = sql_start(&r->conn, SQL_CLUSTER_GET, err, sql_int((int64_t)id));
    enum err rc = st ? sql_step(&r->conn, st, &row, err) : err->code;
    if (rc)
        return rc;
    if (!row)
        return error_set(err, ERR_NOT_FOUND, "there is no cluster %llu", (unsigned long long)id);
    memset(c, 0, sizeof(*c));
    c->id = id;
    rc = fill_texts(st, arena, c, err);
    struct figures *f = &cached->figures;
    f->count = sqlite3_column_int64(st, 15);
    f->weighted = sqlite3_column_int64(st, 16);
    f->stall_ms = sqlite3_column_int64(st, 17);
    f->above_ms = sqlite3_column_int64(st, 22);
    cached->newest_ms = sqlite3_column_int64(st, 21);
    c->stacks = (uint64_t)sqlite3_column_int64(st, 29);
    const bool ok = histogram_add_encoded(&f->hist, sqlite3_column_blob(st, 18),
                                          (size_t)sqlite3_column_bytes(st, 18)) &&
                    tally_add_encoded(&cached->tally, sqlite3_column_blob(st, 28),
                                      (size_t)sqlite3_column_bytes(st, 28));
    if (!rc && !ok)
        rc = error_set(err, ERR_FORMAT, "the sums of a cluster are damaged");
    sql_end(st);
    return rc;
}

/* Distinct versions, and the ends of their order. */
static enum err fill_releases(struct sqlite_reader *r, struct arena *arena, struct cluster_row *c,
                              struct error *err)
{
    const char *before = "";
    bool row = true;
    bool failed = false;
    sqlite3_stmt *st = sql_start(&r->conn, SQL_CLUSTER_RELEASES, err, sql_int((int64_t)c->id));
    if (!st)
        return err->code;
    for (;;) {
        enum err rc = sql_step(&r->conn, st, &row, err);
        if (rc || !row)
            return rc;
        const char *version = sql_column_text(st, 0, arena, &failed);
        const char *build = sql_column_text(st, 1, arena, &failed);
        if (failed) {
            sql_end(st);
            return no_memory(err);
        }
        c->versions += strcmp(before, version) != 0;
        before = version;
        cluster_release(c, version, build);
    }
}

/* What of the tally is full is counted from the stacks. */
static enum err fill_tally(struct sqlite_reader *r, const struct cached *cached,
                           struct arena *arena, struct cluster_row *c, struct error *err)
{
    const int32_t last = clock_day(cached->newest_ms);
    for (int i = 0; i < TREND_DAYS; i++)
        c->trend[i].day = last - TREND_DAYS + 1 + i;
    c->trend_count = TREND_DAYS;
    enum err rc = sqlite_tally_show(r, &cached->tally, arena, c, err);
    if (!rc && cached->tally.full[TALLY_BUILDS])
        rc = fill_releases(r, arena, c, err);
    if (!rc && cached->tally.full[TALLY_DEVICES]) {
        int64_t n = 0;
        rc = sql_get(&r->conn, SQL_CLUSTER_DEVICES, 0, &n, err, sql_int((int64_t)c->id));
        c->devices = (uint64_t)n;
    }
    return rc;
}

static enum err fill_cluster(struct sqlite_reader *r, uint64_t id, const struct read_filter *f,
                             struct arena *arena, struct cluster_row *c, struct error *err)
{
    struct cached cached = {{0}, {0}, 0};
    struct figures filtered = {0};
    bool all = read_plan_unfiltered(f);
    enum err rc = fill_row(r, id, arena, c, &cached, err);
    if (!rc && !all)
        rc = figures_of(r, id, f, &filtered, err);
    if (!rc) {
        figures_show(all ? &cached.figures : &filtered, &c->figures);
        rc = fill_tally(r, &cached, arena, c, err);
    }
    figures_done(&cached.figures);
    tally_done(&cached.tally);
    figures_done(&filtered);
    return rc;
}

/* The part of the sorted candidates behind the cursor. */
static enum err pick_page(const struct row_list *all, size_t limit, const char *cursor,
                          enum cluster_sort sort, struct arena *arena, size_t *ret_first,
                          size_t *ret_count, const char **ret_next, struct error *err)
{
    const struct candidate *c = all->items;
    int64_t after[3];
    bool started = false;
    size_t first = 0;
    enum err rc = read_cursor_parse(cursor, 'c', after, 3, &started, err);
    if (rc)
        return rc;
    if (started && after[0] != (int64_t)sort)
        return error_set(err, ERR_INVALID, "this cursor belongs to a list in another order");
    while (started && first < all->count &&
           read_order(c[first].value, c[first].id, after[1], (uint64_t)after[2]) <= 0)
        first++;
    size_t n = all->count - first < limit ? all->count - first : limit;
    *ret_next = NULL;
    if (n && first + n < all->count) {
        const struct candidate *last = &c[first + n - 1];
        const int64_t values[] = {(int64_t)sort, last->value, (int64_t)last->id};
        if (!(*ret_next = read_cursor_make(arena, 'c', values, 3)))
            return no_memory(err);
    }
    *ret_first = first;
    *ret_count = n;
    return ERR_OK;
}

enum err sqlite_read_clusters(struct storage_reader *base, const struct read_filter *f,
                              enum cluster_sort sort, size_t limit, const char *cursor,
                              struct arena *arena, struct cluster_row **ret, size_t *ret_count,
                              const char **ret_next, struct error *err)
{
    struct sqlite_reader *r = sqlite_reader_of(base);
    struct row_list all;
    struct cluster_row *page = NULL;
    size_t first = 0;
    size_t count = 0;
    const char *next = NULL;
    row_list_init(&all, sizeof(struct candidate), arena);
    enum err rc = matching(r, f, sort == SORT_P90 && read_plan_unfiltered(f), &all, err);
    if (!rc && !read_plan_unfiltered(f))
        rc = count_filtered(r, f, &all, err);
    if (!rc)
        rc = sort_values(r, f, sort, &all, err);
    if (!rc && all.count)
        qsort(all.items, all.count, all.size, by_value);
    if (!rc)
        rc = pick_page(&all, limit, cursor, sort, arena, &first, &count, &next, err);
    if (!rc && !(page = arena_array(arena, count + 1, sizeof(*page))))
        rc = no_memory(err);
    for (size_t i = 0; i < count && !rc; i++)
        rc =
            fill_cluster(r, ((struct candidate *)all.items)[first + i].id, f, arena, &page[i], err);
    if (rc)
        return rc;
    *ret = page;
    *ret_count = count;
    *ret_next = next;
    return ERR_OK;
}

enum err sqlite_cluster_living(struct sqlite_reader *r, uint64_t id, uint64_t *ret,
                               struct error *err)
{
    int64_t found = 0;
    enum err rc = sql_get(&r->conn, SQL_CLUSTER_LIVING, 0, &found, err, sql_int((int64_t)id));
    if (rc)
        return rc;
    if (found == 0)
        return error_set(err, ERR_NOT_FOUND, "there is no cluster %llu", (unsigned long long)id);
    *ret = (uint64_t)found;
    return ERR_OK;
}

enum err sqlite_read_cluster(struct storage_reader *base, uint64_t id, const struct read_filter *f,
                             struct arena *arena, struct cluster_row *ret, struct error *err)
{
    struct sqlite_reader *r = sqlite_reader_of(base);
    struct cluster_row c;
    uint64_t now = 0;
    enum err rc = sqlite_cluster_living(r, id, &now, err);
    if (!rc)
        rc = fill_cluster(r, now, f, arena, &c, err);
    if (rc)
        return rc;
    if (f->bundle_id && strcmp(f->bundle_id, c.bundle_id) != 0)
        return error_set(err, ERR_NOT_FOUND, "there is no cluster %llu", (unsigned long long)id);
    *ret = c;
    return ERR_OK;
}

enum err sqlite_read_cluster_aliases(struct storage_reader *base, uint64_t id, struct arena *arena,
                                     uint64_t **ret, size_t *ret_count, struct error *err)
{
    struct sqlite_reader *r = sqlite_reader_of(base);
    struct row_list rows;
    bool row = true;
    uint64_t now = 0;
    row_list_init(&rows, sizeof(uint64_t), arena);
    enum err rc = sqlite_cluster_living(r, id, &now, err);
    if (rc)
        return rc;
    sqlite3_stmt *st = sql_start(&r->conn, SQL_CLUSTER_ALIASES_OF, err, sql_int((int64_t)now));
    if (!st)
        return err->code;
    for (;;) {
        if ((rc = sql_step(&r->conn, st, &row, err)))
            return rc;
        if (!row)
            break;
        uint64_t *alias = row_list_add(&rows, err);
        if (!alias)
            return ERR_NO_MEMORY;
        *alias = (uint64_t)sqlite3_column_int64(st, 0);
    }
    *ret = rows.items;
    *ret_count = rows.count;
    return ERR_OK;
}

/* Of a cluster with very many stacks. */
static enum err heaviest_stacks(struct sqlite_reader *r, int64_t id, size_t limit,
                                struct row_list *rows, struct error *err)
{
    int64_t *ids = NULL;
    size_t count = 0;
    enum err rc = sqlite_heaviest(r, id, limit, rows->arena, &ids, &count, err);
    for (size_t i = 0; i < count && !rc; i++) {
        struct stack_row *s = row_list_add(rows, err);
        rc = s ? sqlite_stack_get(r, ids[i], rows->arena, s, err) : ERR_NO_MEMORY;
    }
    return rc;
}

static enum err all_stacks(struct sqlite_reader *r, int64_t id, size_t limit, struct row_list *rows,
                           struct error *err)
{
    bool row = true;
    sqlite3_stmt *st =
        sql_start(&r->conn, SQL_CLUSTER_STACKS, err, sql_int(id), sql_int((int64_t)limit));
    if (!st)
        return err->code;
    for (;;) {
        enum err rc = sql_step(&r->conn, st, &row, err);
        if (rc || !row)
            return rc;
        struct stack_row *s = row_list_add(rows, err);
        rc = s ? sqlite_stack_fill(r, st, rows->arena, s, err) : ERR_NO_MEMORY;
        if (rc) {
            sql_end(st);
            return rc;
        }
    }
}

enum err sqlite_read_cluster_stacks(struct storage_reader *base, uint64_t id, size_t limit,
                                    struct arena *arena, struct stack_row **ret, size_t *ret_count,
                                    struct error *err)
{
    struct sqlite_reader *r = sqlite_reader_of(base);
    struct row_list rows;
    bool rolled = false;
    uint64_t now = 0;
    row_list_init(&rows, sizeof(struct stack_row), arena);
    enum err rc = sqlite_cluster_living(r, id, &now, err);
    if (!rc)
        rc = sqlite_is_rolled(r, (int64_t)now, &rolled, err);
    if (!rc)
        rc = (rolled ? heaviest_stacks : all_stacks)(r, (int64_t)now, limit, &rows, err);
    if (rc)
        return rc;
    *ret = rows.items;
    *ret_count = rows.count;
    return ERR_OK;
}
