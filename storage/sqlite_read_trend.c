/* Trends, and totals of an app. */
#include "base/clock.h"
#include "storage/hours.h"
#include "storage/sqlite_numbers.h"
#include "storage/sqlite_split.h"
#include "storage/trend.h"

struct collector {
    const struct trend_query *q;
    enum read_source source;
    struct split groups; /* texts alone: sums are in `parts` */
    struct trend_parts parts;
};

static enum err add_at(struct collector *c, const struct figure_row *row, int64_t number,
                       const struct figures *sums, struct error *err)
{
    const int64_t point = number - c->q->begin;
    if (point < 0 || point >= (int64_t)c->q->points)
        return ERR_OK;
    const enum breakdown_by by = c->groups.by;
    struct breakdown_entry *e = trend_add(&c->parts, split_key(row, by), point, sums);
    if (!e)
        return error_set(err, ERR_LIMIT, "too many values for a trend");
    if (by == BY_CATEGORY && !e->value &&
        !(e->value = arena_strdup(c->groups.arena, row->category ? row->category : "")))
        return error_set(err, ERR_NO_MEMORY, "no memory for a trend");
    return ERR_OK;
}

static enum err add_hours(struct collector *c, const struct figure_row *row, struct error *err)
{
    struct hours h = {0};
    const struct hour_sums day = {row->count, row->weighted, row->stall_ms, row->above_ms};
    enum err rc = ERR_OK;
    if (!hours_add_encoded(&h, row->hours, row->hours_len, &day))
        return error_set(err, ERR_FORMAT, "the hours of a day are damaged");
    for (int i = 0; i < HOURS_A_DAY && !rc; i++) {
        const struct figures sums = {.count = h.at[i].count,
                                     .weighted = h.at[i].weighted,
                                     .stall_ms = h.at[i].stall_ms,
                                     .above_ms = h.at[i].above_ms};
        if (sums.count)
            rc = add_at(c, row, row->day * HOURS_A_DAY + i, &sums, err);
    }
    return rc;
}

static enum err add_row(void *ctx, const struct figure_row *row, struct error *err)
{
    struct collector *c = ctx;
    const struct figures sums = {.count = row->count,
                                 .weighted = row->weighted,
                                 .stall_ms = row->stall_ms,
                                 .above_ms = row->above_ms};
    if (c->source == READ_REPORTS)
        return add_at(c, row, trend_number(c->q->step, row->time_ms), &sums, err);
    if (c->q->step == TREND_HOUR)
        return add_hours(c, row, err);
    if (c->q->step == TREND_WEEK && c->source == READ_COUNTERS)
        return add_at(c, row, figures_week((int32_t)row->day), &sums, err);
    return add_at(c, row, row->day, &sums, err);
}

static enum err add_usage(void *ctx, const struct figure_row *row, struct error *err)
{
    struct collector *c = ctx;
    const struct figures sums = {.stall_ms = row->stall_ms};
    return add_at(c, row, c->q->step == TREND_WEEK ? figures_week((int32_t)row->day) : row->day,
                  &sums, err);
}

/* The texts of the groups, through the entries of a split. */
static enum err name_groups(struct sqlite_reader *r, struct collector *c, struct error *err)
{
    struct split named = c->groups;
    named.sums = c->parts.groups;
    return split_names(r, &named, err);
}

static enum err scope_of(struct sqlite_reader *r, const struct collector *c,
                         struct breakdown_scope *ret, struct error *err)
{
    *ret = (struct breakdown_scope){"counters", INT64_MIN};
    if (c->source == READ_REPORTS) {
        ret->source = "reports";
        return sql_get_values(&r->conn, SQL_REPORT_OLDEST, NULL, 0, INT64_MIN, &ret->since_ms, err);
    }
    if (c->q->step != TREND_HOUR)
        return ERR_OK;
    int64_t day = 0;
    enum err rc = sqlite_hours_known(r, &day, err);
    if (!rc && day != INT32_MIN)
        ret->since_ms = day * CLOCK_DAY_MS;
    return rc;
}

/* Hours stand with whole days, and old ones are not looked at. */
static void widen(struct read_filter *f, const struct breakdown_scope *scope)
{
    const int64_t last = clock_day(f->until_ms - 1) + 1;
    f->since_ms = clock_day(f->since_ms) * CLOCK_DAY_MS;
    f->until_ms = last * CLOCK_DAY_MS;
    if (f->since_ms < scope->since_ms)
        f->since_ms = scope->since_ms;
}

enum err sqlite_read_trend(struct storage_reader *base, const struct read_filter *f,
                           const struct trend_query *q, struct arena *arena, struct trend *ret,
                           struct error *err)
{
    struct sqlite_reader *r = sqlite_reader_of(base);
    struct read_filter filter = *f;
    struct collector sums = {.q = q,
                             .source = read_plan_trend(f, q->step, q->group),
                             .groups = {.by = q->group, .arena = arena}};
    struct collector used = {.q = q,
                             .groups = {.by = read_plan_usage_by(q->group), .arena = arena}};
    const enum usage_source usage = read_plan_usage(f, q->group, BY_NONE);
    struct breakdown_scope scope;
    struct cluster_row c;
    int64_t id = q->group == BY_CATEGORY ? FIGURES_CLUSTERS : FIGURES_APPS;
    enum err rc = scope_of(r, &sums, &scope, err);
    if (!rc && q->cluster_id &&
        !(rc = sqlite_read_cluster(base, q->cluster_id, f, arena, &c, err))) {
        id = (int64_t)c.id;
        filter.bundle_id = c.bundle_id;
    }
    if (!rc) {
        struct read_filter timed = filter;
        if (q->step == TREND_HOUR && sums.source == READ_COUNTERS)
            widen(&timed, &scope);
        rc = sqlite_scan_figures(r, sums.source, id, &timed, add_row, &sums, err);
    }
    if (!rc)
        rc = name_groups(r, &sums, err);
    if (!rc && usage != USAGE_UNKNOWN)
        rc = sqlite_scan_usage(r, usage, sums.source, &filter, add_usage, &used, err);
    if (!rc)
        rc = name_groups(r, &used, err);
    if (!rc)
        rc = trend_make(q, &sums.parts, usage == USAGE_UNKNOWN ? NULL : &used.parts,
                        used.groups.by != BY_NONE, arena, ret, err);
    if (!rc)
        ret->scope = scope;
    trend_parts_done(&sums.parts);
    trend_parts_done(&used.parts);
    return rc;
}

static enum err add_figures(void *ctx, const struct figure_row *row, struct error *err)
{
    if (!figure_row_add(ctx, row))
        return error_set(err, ERR_FORMAT, "counters are damaged");
    return ERR_OK;
}

enum err sqlite_read_totals(struct storage_reader *base, const struct read_filter *f,
                            struct totals_row *ret, struct error *err)
{
    struct sqlite_reader *r = sqlite_reader_of(base);
    struct figures figures = {0}, used = {0};
    const enum read_source source = read_plan_clusters(f);
    const enum usage_source usage = read_plan_usage(f, BY_NONE, BY_NONE);
    enum err rc = sqlite_scan_figures(r, source, FIGURES_APPS, f, add_figures, &figures, err);
    if (!rc && usage != USAGE_UNKNOWN)
        rc = sqlite_scan_usage(r, usage, source, f, add_figures, &used, err);
    if (!rc) {
        figures_show(&figures, &ret->figures);
        ret->usage = (struct usage_figures){usage != USAGE_UNKNOWN, (uint64_t)used.stall_ms,
                                            (double)used.weighted / FIGURES_WEIGHT_ONE};
    }
    figures_done(&figures);
    figures_done(&used);
    return rc;
}
