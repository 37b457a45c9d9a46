/* Breakdown of a cluster or an app by one or two dimensions. */
#include "storage/sqlite_split.h"

struct parts {
    struct split cluster, app, usage;
};

static enum err collect(struct sqlite_reader *r, enum read_source source, int64_t cluster_id,
                        const struct read_filter *f, struct split *s, struct error *err)
{
    enum err rc = sqlite_scan_figures(r, source, cluster_id, f, split_add, s, err);
    return rc ? rc : split_names(r, s, err);
}

static enum err collect_usage(struct sqlite_reader *r, enum usage_source source,
                              enum read_source beside, const struct read_filter *f, struct split *s,
                              struct error *err)
{
    if (source == USAGE_UNKNOWN)
        return ERR_OK;
    enum err rc = sqlite_scan_usage(r, source, beside, f, split_add, s, err);
    return rc ? rc : split_names(r, s, err);
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
    const enum read_source source = read_plan_source(f, by, by2);
    const enum usage_source usage = read_plan_usage(f, by, by2);
    const bool by_cluster = by == BY_CATEGORY || by2 == BY_CATEGORY;
    struct parts p = {
        .cluster = {.by = by, .by2 = by2, .arena = arena},
        .app = {.by = by, .by2 = by2, .arena = arena},
        .usage = {.by = read_plan_usage_by(by), .by2 = read_plan_usage_by(by2), .arena = arena},
    };
    struct read_filter of_app = *f;
    struct breakdown_scope scope;
    struct cluster_row c;
    enum err rc = scope_of(r, source, &scope, err);
    if (!rc && cluster_id) {
        /* Its app is what the shares are compared with. */
        rc = sqlite_read_cluster(base, cluster_id, f, arena, &c, err);
        if (!rc) {
            of_app.bundle_id = c.bundle_id;
            rc = collect(r, source, (int64_t)c.id, f, &p.cluster, err);
        }
    }
    if (!rc)
        rc = collect(r, source, by_cluster ? FIGURES_CLUSTERS : FIGURES_APPS, &of_app, &p.app, err);
    if (!rc)
        rc = collect_usage(r, usage, source, &of_app, &p.usage, err);
    const struct breakdown_parts parts = {
        .sums = cluster_id ? &p.cluster.sums : &p.app.sums,
        .app = cluster_id ? &p.app.sums : NULL,
        .usage = usage == USAGE_UNKNOWN ? NULL : &p.usage.sums,
        .usage_by = p.usage.by != BY_NONE,
        .usage_by2 = p.usage.by2 != BY_NONE,
        .usage_of_all = p.usage.by == by && p.usage.by2 == by2,
    };
    if (!rc)
        rc = breakdown_rows(&parts, limit, arena, ret, ret_count, err);
    if (!rc)
        *ret_scope = scope;
    breakdown_done(&p.cluster.sums);
    breakdown_done(&p.app.sums);
    breakdown_done(&p.usage.sums);
    return rc;
}
