#include "storage/sqlite_figures.h"

#include <string.h>

#include "base/clock.h"
#include "storage/sqlite_rolled.h"

/* A report's time is at most a day ahead of its receipt; one more for good measure. */
#define AHEAD_DAYS 2

bool figure_row_add(struct figures *f, const struct figure_row *row)
{
    if (row->hist_len == 0 && row->count == 1)
        return figures_add(f, row->weighted, row->duration_ms);
    figures_add_sums(f, row->count, row->weighted, row->stall_ms, row->above_ms);
    return histogram_add_encoded(&f->hist, row->hist, row->hist_len);
}

enum err sqlite_filter_values(struct sqlite_reader *r, const struct read_filter *f,
                              enum read_source source, struct sql_value out[FILTER_VALUES],
                              struct error *err)
{
    struct read_span span = read_plan_times(f);
    int64_t first_id = 0;
    if (source == READ_COUNTERS) {
        span = read_plan_days(f);
    } else if (source != READ_REPORTS) {
        span = read_plan_weeks(f);
    } else if (f->since_ms != INT64_MIN) {
        /* Reports received before that cannot be of that time: skip them by id. */
        enum err rc = sql_get(&r->conn, SQL_REPORT_FIRST_ID, INT64_MAX, &first_id, err,
                              sql_int((int64_t)clock_day(f->since_ms) - AHEAD_DAYS));
        if (rc)
            return rc;
    }
    const struct sql_value values[FILTER_VALUES] = {
        sql_text(f->bundle_id),
        sql_text(f->version),
        sql_text(f->build),
        sql_text(f->device),
        sql_text(f->os_version),
        sql_text(f->page),
        f->kind < 0 ? sql_null() : sql_int(f->kind),
        sql_int(span.begin),
        sql_int(span.end),
        f->min_duration_ms < 0 ? sql_null() : sql_int(f->min_duration_ms),
        sql_int(first_id),
    };
    memcpy(out, values, sizeof(values));
    return ERR_OK;
}

static int64_t column_or(sqlite3_stmt *st, int column, int64_t none)
{
    return sql_column_null(st, column) ? none : sqlite3_column_int64(st, column);
}

void sqlite_figure_row(sqlite3_stmt *st, bool reports, struct figure_row *row)
{
    *row = (struct figure_row){
        .build_id = sqlite3_column_int64(st, 0),
        .device_id = sqlite3_column_int64(st, 1),
        .os_id = sqlite3_column_int64(st, 2),
        .page_id = sqlite3_column_int64(st, 3),
        .day = sqlite3_column_int64(st, 4),
        .count = sqlite3_column_int64(st, 5),
        .weighted = sqlite3_column_int64(st, 6),
        .duration_ms = -1,
        .kind = sqlite3_column_int64(st, 11),
        .category = (const char *)sqlite3_column_text(st, 12),
        .cpu = -1,
        .memory = -1,
    };
    if (reports) {
        row->time_ms = row->day;
        row->day = clock_day(row->time_ms);
        row->duration_ms = column_or(st, 7, -1);
        row->cpu = column_or(st, 8, -1);
        row->memory = column_or(st, 9, -1);
        row->path_id = sqlite3_column_int64(st, 10);
        row->stall_ms = figures_stall(row->duration_ms);
        row->above_ms = figures_above(row->weighted, row->duration_ms);
        return;
    }
    row->stall_ms = sqlite3_column_int64(st, 7);
    row->hist = sqlite3_column_blob(st, 8);
    row->hist_len = (size_t)sqlite3_column_bytes(st, 8);
    row->above_ms = sqlite3_column_int64(st, 9);
    row->hours = sqlite3_column_blob(st, 10);
    row->hours_len = (size_t)sqlite3_column_bytes(st, 10);
}

#define SCAN_VALUES (FILTER_VALUES + 3)

static enum sql_query query_of(enum read_source source, int64_t cluster_id)
{
    static const enum sql_query of_cluster[] = {
        [READ_COUNTERS] = SQL_FIGURES_COUNTERS_CLUSTER,
        [READ_WEEK_DEVICES] = SQL_FIGURES_DEVICES_CLUSTER,
        [READ_WEEK_PAGES] = SQL_FIGURES_PAGES_CLUSTER,
        [READ_REPORTS] = SQL_FIGURES_REPORTS_CLUSTER,
    };
    static const enum sql_query of_apps[] = {
        [READ_COUNTERS] = SQL_FIGURES_COUNTERS_APP,
        [READ_WEEK_DEVICES] = SQL_FIGURES_DEVICES_APP,
        [READ_WEEK_PAGES] = SQL_FIGURES_PAGES_APP,
        [READ_REPORTS] = SQL_FIGURES_REPORTS_APP,
    };
    static const enum sql_query of_clusters[] = {
        [READ_COUNTERS] = SQL_FIGURES_COUNTERS_CLUSTERS,
        [READ_WEEK_DEVICES] = SQL_FIGURES_DEVICES_CLUSTERS,
        [READ_WEEK_PAGES] = SQL_FIGURES_PAGES_CLUSTERS,
        [READ_REPORTS] = SQL_FIGURES_REPORTS_CLUSTERS,
    };
    if (cluster_id == FIGURES_APPS)
        return of_apps[source];
    return cluster_id == FIGURES_CLUSTERS ? of_clusters[source] : of_cluster[source];
}

struct scanning {
    bool reports;
    figure_visit *visit;
    void *ctx;
};

static enum err scan_row(void *ctx, sqlite3_stmt *st, struct error *err)
{
    const struct scanning *c = ctx;
    struct figure_row figures;
    sqlite_figure_row(st, c->reports, &figures);
    return c->visit(c->ctx, &figures, err);
}

static enum err scan(struct sqlite_reader *r, enum sql_query query, enum read_source source,
                     int64_t cluster_id, const struct read_filter *f, figure_visit *visit,
                     void *ctx, struct error *err)
{
    struct sql_value values[SCAN_VALUES];
    struct scanning c = {source == READ_REPORTS, visit, ctx};
    enum err rc = sqlite_filter_values(r, f, source, values, err);
    if (rc)
        return rc;
    values[FILTER_VALUES] = sql_int(cluster_id);
    values[FILTER_VALUES + 1] = sql_text(f->category);
    values[FILTER_VALUES + 2] = sql_text(f->state);
    return sqlite_each_row(&r->conn, sql_bind(&r->conn, query, values, SCAN_VALUES, err), scan_row,
                           &c, err);
}

/* A cluster with many stacks: from its own sums. */
static enum err scan_rolled(struct sqlite_reader *r, enum read_source source, int64_t cluster_id,
                            const struct read_filter *f, figure_visit *visit, void *ctx,
                            struct error *err)
{
    static const enum sql_query queries[] = {
        [READ_COUNTERS] = SQL_FIGURES_COUNTERS_ROLLED,
        [READ_WEEK_DEVICES] = SQL_FIGURES_DEVICES_ROLLED,
        [READ_WEEK_PAGES] = SQL_FIGURES_PAGES_ROLLED,
    };
    enum err rc = scan(r, queries[source], source, cluster_id, f, visit, ctx, err);
    return rc ? rc : sqlite_scan_later(r, source, cluster_id, f, visit, ctx, err);
}

enum err sqlite_scan_figures(struct sqlite_reader *r, enum read_source source, int64_t cluster_id,
                             const struct read_filter *f, figure_visit *visit, void *ctx,
                             struct error *err)
{
    bool rolled = false;
    enum err rc = ERR_OK;
    if (cluster_id == FIGURES_APPS && (f->category || f->state))
        cluster_id = FIGURES_CLUSTERS;
    if (cluster_id > 0 && source != READ_REPORTS)
        rc = sqlite_is_rolled(r, cluster_id, &rolled, err);
    if (rc)
        return rc;
    if (rolled)
        return scan_rolled(r, source, cluster_id, f, visit, ctx, err);
    return scan(r, query_of(source, cluster_id), source, cluster_id, f, visit, ctx, err);
}

static enum err usage_row(void *ctx, sqlite3_stmt *st, struct error *err)
{
    const struct scanning *c = ctx;
    const struct figure_row usage = {
        .build_id = sqlite3_column_int64(st, 0),
        .device_id = sqlite3_column_int64(st, 1),
        .os_id = sqlite3_column_int64(st, 2),
        .page_id = sqlite3_column_int64(st, 3),
        .day = sqlite3_column_int64(st, 4),
        .stall_ms = sqlite3_column_int64(st, 5),
        .weighted = sqlite3_column_int64(st, 6),
    };
    return c->visit(c->ctx, &usage, err);
}

enum err sqlite_scan_usage(struct sqlite_reader *r, enum usage_source source,
                           enum read_source beside, const struct read_filter *f,
                           figure_visit *visit, void *ctx, struct error *err)
{
    struct sql_value values[FILTER_VALUES];
    struct scanning c = {.visit = visit, .ctx = ctx};
    int64_t kept_ms = INT64_MIN;
    enum err rc = ERR_OK;
    if (beside == READ_REPORTS)
        rc = sql_get_values(&r->conn, SQL_REPORTS_KEPT_SINCE, NULL, 0, INT64_MIN, &kept_ms, err);
    const struct read_filter of_usage = read_plan_usage_filter(f, kept_ms);
    if (!rc)
        rc = sqlite_filter_values(r, &of_usage, READ_COUNTERS, values, err);
    if (rc)
        return rc;
    return sqlite_each_row(
        &r->conn,
        sql_bind(&r->conn, source == USAGE_PAGES ? SQL_USAGE_PAGES_OF : SQL_USAGE_DEVICES_OF,
                 values, FILTER_VALUES, err),
        usage_row, &c, err);
}
