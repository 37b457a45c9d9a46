/*
 * Lists of clusters.
 *
 * A list has three steps: which clusters the filter leaves, each with the value it is sorted by
 * (from the cached sums, from roll-ups or the counters, or from reports); the page; and the rows of
 * the page alone in full. Roll-ups know no more of a cluster than its sums: where the filter says
 * nothing else they name the clusters, too, and no cluster is looked at that is not on the page.
 */
#include <stdlib.h>

#include "storage/sqlite_figures.h"
#include "storage/sqlite_rolled.h"
#include "storage/sqlite_stacks.h"

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

struct matching {
    struct row_list *rows;
    bool p90;
};

static enum err matching_row(void *ctx, sqlite3_stmt *st, struct error *err)
{
    const struct matching *m = ctx;
    struct candidate *c = row_list_add(m->rows, err);
    if (!c)
        return ERR_NO_MEMORY;
    c->id = (uint64_t)sqlite3_column_int64(st, 0);
    c->count = sqlite3_column_int64(st, 1);
    c->weighted = sqlite3_column_int64(st, 2);
    c->stall_ms = sqlite3_column_int64(st, 3);
    c->first_ms = sqlite3_column_int64(st, 4);
    c->last_ms = sqlite3_column_int64(st, 5);
    return m->p90 ? cached_p90(st, 6, &c->p90, err) : ERR_OK;
}

/* Clusters by what the filter says about clusters themselves, ascending by id. */
static enum err matching(struct sqlite_reader *r, const struct read_filter *f, bool p90,
                         struct row_list *rows, struct error *err)
{
    struct matching m = {rows, p90};
    return sqlite_each_row(&r->conn,
                           sql_start(&r->conn, SQL_CLUSTERS_MATCHING, err, sql_text(f->bundle_id),
                                     sql_text(f->category), sql_text(f->state), sql_text(f->text),
                                     sql_int(f->include_hidden)),
                           matching_row, &m, err);
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

static void add_row(struct candidate *c, const struct cube_row *row)
{
    c->count += row->count;
    c->weighted = figures_sum(c->weighted, row->weighted);
    c->stall_ms = figures_sum(c->stall_ms, figures_sum(row->stall_ms, row->above_ms));
}

static enum err count_row(void *ctx, uint64_t id, const struct cube_row *row, struct error *err)
{
    const struct counted *c = ctx;
    struct candidate *item = (struct candidate *)c->rows->items + c->at;
    (void)id;
    (void)err;
    add_row(item, row);
    return ERR_OK;
}

/* --- clusters that have sums under a filter ---------------------------------------------------- */

struct found {
    struct row_list rows;
    const uint64_t *hidden; /* ids that are left out, ascending */
    size_t hidden_count, at;
};

static bool wants_found(void *ctx, uint64_t id)
{
    struct found *f = ctx;
    while (f->at < f->hidden_count && f->hidden[f->at] < id)
        f->at++;
    return f->at == f->hidden_count || f->hidden[f->at] != id;
}

static enum err find_row(void *ctx, uint64_t id, const struct cube_row *row, struct error *err)
{
    struct found *f = ctx;
    struct candidate *c = f->rows.items;
    c = f->rows.count && c[f->rows.count - 1].id == id ? &c[f->rows.count - 1] : NULL;
    if (!c && !(c = row_list_add(&f->rows, err)))
        return ERR_NO_MEMORY;
    c->id = id;
    add_row(c, row);
    return ERR_OK;
}

/* A version is an app's own; what clusters themselves are, and when they were seen, is not told. */
static bool cubes_name(const struct read_filter *f, enum cluster_sort sort)
{
    return !read_plan_unfiltered(f) && read_plan_clusters(f) == READ_COUNTERS &&
           (!f->bundle_id || f->version || f->build) && !f->category && !f->state && !f->text &&
           (sort == SORT_COUNT || sort == SORT_STALL_MS);
}

/* *ret_known false: `rows` are as they were. */
static enum err find_counted(struct sqlite_reader *r, const struct read_filter *f,
                             struct row_list *rows, bool *ret_known, struct error *err)
{
    struct found found = {.at = 0};
    const struct cube_scan scan = {
        .filter = f, .wants = wants_found, .visit = find_row, .ctx = &found};
    enum err rc = ERR_OK;
    row_list_init(&found.rows, sizeof(struct candidate), rows->arena);
    if (!f->include_hidden)
        rc = sqlite_row_array(
            &r->conn, sql_start(&r->conn, SQL_CLUSTERS_HIDDEN, err, sql_text(f->bundle_id)),
            sqlite_fill_int, rows->arena, &found.hidden, &found.hidden_count, err);
    if (!rc)
        rc = sqlite_scan_cubes(r, &scan, ret_known, err);
    if (!rc && *ret_known)
        *rows = found.rows;
    return rc;
}

/* --- all that match, each with its sums --------------------------------------------------------- */

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

static enum err stacks_row(void *ctx, sqlite3_stmt *st, struct error *err)
{
    const uint64_t id = (uint64_t)sqlite3_column_int64(st, 0);
    const struct cube_row sums = {.count = sqlite3_column_int64(st, 1),
                                  .weighted = sqlite3_column_int64(st, 2),
                                  .stall_ms = sqlite3_column_int64(st, 3)};
    return wants_candidate(ctx, id) ? count_row(ctx, id, &sums, err) : ERR_OK;
}

/* From the counters of all stacks, or from reports. */
static enum err count_stacks(struct sqlite_reader *r, const struct read_filter *f,
                             enum read_source source, struct row_list *rows, struct error *err)
{
    struct sql_value values[FILTER_VALUES];
    struct counted c = {rows, 0};
    enum err rc = sqlite_filter_values(r, f, source, values, err);
    if (rc)
        return rc;
    return sqlite_each_row(
        &r->conn,
        sql_bind(&r->conn,
                 source == READ_COUNTERS ? SQL_CLUSTERS_BY_COUNTERS : SQL_CLUSTERS_BY_REPORTS,
                 values, FILTER_VALUES, err),
        stacks_row, &c, err);
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

/* What the list is of, ascending by id. */
static enum err candidates(struct sqlite_reader *r, const struct read_filter *f,
                           enum cluster_sort sort, struct row_list *rows, struct error *err)
{
    bool known = false;
    enum err rc = cubes_name(f, sort) ? find_counted(r, f, rows, &known, err) : ERR_OK;
    if (!rc && !known)
        rc = matching(r, f, sort == SORT_P90 && read_plan_unfiltered(f), rows, err);
    if (!rc && !known && !read_plan_unfiltered(f))
        rc = count_filtered(r, f, rows, err);
    return rc;
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
            enum err rc = sqlite_cluster_figures(r, c[i].id, f, &figures, err);
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

/* --- the page ----------------------------------------------------------------------------------- */

/* Below `at` the one that comes last in the list is on top. */
static void sift_down(struct candidate *heap, size_t count, size_t at)
{
    const struct candidate moved = heap[at];
    for (size_t child; (child = 2 * at + 1) < count; at = child) {
        if (child + 1 < count && by_value(&heap[child], &heap[child + 1]) < 0)
            child++;
        if (by_value(&moved, &heap[child]) >= 0)
            break;
        heap[at] = heap[child];
    }
    heap[at] = moved;
}

/* The first ones of the list, in order. */
static void keep_first(struct row_list *rows, size_t count)
{
    struct candidate *c = rows->items;
    if (rows->count > count) {
        for (size_t i = count / 2; i-- > 0;)
            sift_down(c, count, i);
        for (size_t i = count; i < rows->count; i++) {
            if (by_value(&c[i], &c[0]) < 0) {
                c[0] = c[i];
                sift_down(c, count, 0);
            }
        }
        rows->count = count;
    }
    if (rows->count)
        qsort(c, rows->count, sizeof(*c), by_value);
}

/* What is behind the cursor, and where the page after this one begins. */
static enum err pick_page(struct row_list *rows, size_t limit, const char *cursor,
                          enum cluster_sort sort, struct arena *arena, const char **ret_next,
                          struct error *err)
{
    struct candidate *c = rows->items;
    int64_t after[3];
    bool started = false;
    size_t kept = 0;
    enum err rc = read_cursor_parse(cursor, 'c', after, 3, &started, err);
    if (rc)
        return rc;
    if (started && after[0] != (int64_t)sort)
        return error_set(err, ERR_INVALID, "this cursor belongs to a list in another order");
    for (size_t i = 0; i < rows->count && started; i++) {
        if (read_order(c[i].value, c[i].id, after[1], (uint64_t)after[2]) > 0)
            c[kept++] = c[i];
    }
    rows->count = started ? kept : rows->count;
    keep_first(rows, limit + 1);
    *ret_next = NULL;
    if (rows->count <= limit)
        return ERR_OK;
    rows->count = limit;
    const int64_t values[] = {(int64_t)sort, c[limit - 1].value, (int64_t)c[limit - 1].id};
    *ret_next = read_cursor_make(arena, 'c', values, 3);
    return *ret_next ? ERR_OK : no_memory(err);
}

enum err sqlite_read_clusters(struct storage_reader *base, const struct read_filter *f,
                              enum cluster_sort sort, size_t limit, const char *cursor,
                              struct arena *arena, struct cluster_row **ret, size_t *ret_count,
                              const char **ret_next, struct error *err)
{
    struct sqlite_reader *r = sqlite_reader_of(base);
    struct row_list rows;
    struct cluster_row *page = NULL;
    const char *next = NULL;
    row_list_init(&rows, sizeof(struct candidate), arena);
    enum err rc = candidates(r, f, sort, &rows, err);
    if (!rc)
        rc = sort_values(r, f, sort, &rows, err);
    if (!rc)
        rc = pick_page(&rows, limit, cursor, sort, arena, &next, err);
    if (!rc && !(page = arena_array(arena, rows.count + 1, sizeof(*page))))
        rc = no_memory(err);
    for (size_t i = 0; i < rows.count && !rc; i++)
        rc =
            sqlite_cluster_fill(r, ((struct candidate *)rows.items)[i].id, f, arena, &page[i], err);
    if (rc)
        return rc;
    *ret = page;
    *ret_count = rows.count;
    *ret_next = next;
    return ERR_OK;
}
