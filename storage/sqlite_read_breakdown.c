/* Breakdown of a cluster or an app by one or two dimensions. */
#include "base/clock.h"
#include "storage/breakdown.h"
#include "storage/sqlite_figures.h"

struct split {
    struct breakdown sums;
    enum breakdown_by by, by2;
};

static int64_t key_of(const struct figure_row *row, enum breakdown_by by)
{
    switch (by) {
    case BY_VERSION:
    case BY_BUILD:
        return row->build_id;
    case BY_DEVICE:
        return row->device_id;
    case BY_OS_VERSION:
        return row->os_id;
    case BY_PAGE:
        return row->page_id;
    case BY_DAY:
        return row->day;
    case BY_NONE:
        break;
    }
    return 0;
}

static enum err add_row(void *ctx, const struct figure_row *row, struct error *err)
{
    struct split *s = ctx;
    struct figures *f = breakdown_at(&s->sums, key_of(row, s->by), key_of(row, s->by2));
    if (!f)
        return error_set(err, ERR_LIMIT, "too many values for a breakdown");
    if (!figure_row_add(f, row))
        return error_set(err, ERR_FORMAT, "counters are damaged");
    return ERR_OK;
}

static enum err text_of(struct sqlite_reader *r, int64_t key, enum breakdown_by by,
                        struct arena *arena, const char **ret, struct error *err)
{
    char day[CLOCK_TEXT_SIZE];
    bool row = false;
    bool failed = false;
    *ret = NULL;
    if (by == BY_NONE)
        return ERR_OK;
    if (by == BY_DAY) {
        *ret = arena_strdup(arena, clock_format_day((int32_t)key, day));
        return *ret ? ERR_OK : error_set(err, ERR_NO_MEMORY, "no memory for a breakdown");
    }
    sqlite3_stmt *st = sql_start(&r->conn, SQL_DICT_TEXT, err, sql_int(key));
    enum err rc = st ? sql_step(&r->conn, st, &row, err) : err->code;
    if (rc)
        return rc;
    if (!row)
        return error_set(err, ERR_FORMAT, "a counter has a value that is not there");
    *ret = sql_column_text(st, by == BY_BUILD ? 1 : 0, arena, &failed);
    sql_end(st);
    return failed ? error_set(err, ERR_NO_MEMORY, "no memory for a breakdown") : ERR_OK;
}

static enum err name_values(struct sqlite_reader *r, struct split *s, struct arena *arena,
                            struct error *err)
{
    enum err rc = ERR_OK;
    for (size_t i = 0; i < s->sums.count && !rc; i++) {
        struct breakdown_entry *e = &s->sums.entries[i];
        rc = text_of(r, e->key, s->by, arena, &e->value, err);
        if (!rc)
            rc = text_of(r, e->key2, s->by2, arena, &e->value2, err);
    }
    return rc;
}

static enum err collect(struct sqlite_reader *r, enum read_source source, int64_t cluster_id,
                        const struct read_filter *f, struct split *s, struct arena *arena,
                        struct error *err)
{
    enum err rc = sqlite_scan_figures(r, source, cluster_id, f, add_row, s, err);
    return rc ? rc : name_values(r, s, arena, err);
}

static enum err scope_of(struct sqlite_reader *r, enum read_source source,
                         struct breakdown_scope *ret, struct error *err)
{
    *ret = (struct breakdown_scope){"counters", INT64_MIN};
    if (source != READ_REPORTS)
        return ERR_OK;
    ret->source = "reports";
    return sql_get_values(&r->conn, SQL_REPORT_OLDEST, NULL, 0, INT64_MIN, &ret->since_ms, err);
}

enum err sqlite_read_breakdown(struct storage_reader *base, uint64_t cluster_id,
                               const struct read_filter *f, enum breakdown_by by,
                               enum breakdown_by by2, size_t limit, struct arena *arena,
                               struct breakdown_row **ret, size_t *ret_count,
                               struct breakdown_scope *ret_scope, struct error *err)
{
    struct sqlite_reader *r = sqlite_reader_of(base);
    enum read_source source = read_plan_source(f, by, by2);
    struct split cluster = {.by = by, .by2 = by2};
    struct split app = {.by = by, .by2 = by2};
    struct read_filter of_app = *f;
    struct breakdown_scope scope;
    struct cluster_row c;
    enum err rc = scope_of(r, source, &scope, err);
    if (!rc && cluster_id) {
        /* Its app is what the shares are compared with. */
        rc = sqlite_read_cluster(base, cluster_id, f, arena, &c, err);
        if (!rc) {
            of_app.bundle_id = c.bundle_id;
            rc = collect(r, source, (int64_t)c.id, f, &cluster, arena, err);
        }
    }
    if (!rc)
        rc = collect(r, source, 0, &of_app, &app, arena, err);
    if (!rc)
        rc = breakdown_rows(cluster_id ? &cluster.sums : &app.sums, cluster_id ? &app.sums : NULL,
                            limit, arena, ret, ret_count, err);
    if (!rc)
        *ret_scope = scope;
    breakdown_done(&cluster.sums);
    breakdown_done(&app.sums);
    return rc;
}
