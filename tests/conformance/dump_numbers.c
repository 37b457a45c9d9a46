#include <check.h>
#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "storage/read_apps.h"
#include "storage/read_compare.h"
#include "storage/read_context.h"
#include "storage/read_hours.h"
#include "storage/read_stack_weights.h"
#include "storage/read_trend.h"
#include "tests/conformance/dump_parts.h"
#include "tests/conformance/suite.h"

static void dump_breakdown(struct dump *d, uint64_t id, const struct read_filter *f)
{
    struct error err = {0};
    for (int by = BY_VERSION; by < BREAKDOWN_DIMENSIONS; by++) {
        for (int by2 = BY_NONE; by2 < BREAKDOWN_DIMENSIONS; by2++) {
            struct breakdown_row *rows;
            struct breakdown_scope scope;
            size_t n;
            if (by == by2 ||
                !dump_ok(d,
                         read_breakdown(d->r, id, f, (enum breakdown_by)by, (enum breakdown_by)by2,
                                        5, &d->arena, &rows, &n, &scope, &err),
                         &err))
                continue;
            buf_printf(d->out, " by %d,%d from %s %lld\n", by, by2, scope.source,
                       (long long)scope.since_ms);
            for (size_t i = 0; i < n; i++) {
                buf_printf(d->out, "  %s,%s", rows[i].value, dump_text(rows[i].value2));
                dump_figures(d, &rows[i].figures);
                buf_printf(d->out, " %.6f %.6f used %d %llu %.6f\n", rows[i].share,
                           rows[i].app_share, rows[i].usage.known,
                           (unsigned long long)rows[i].usage.foreground_ms, rows[i].usage.launches);
            }
        }
    }
}

/* Hours that have reports; inside of what is known they add up to the days of the counters. */
static void dump_hours(struct dump *d, uint64_t id, const char *bundle_id)
{
    const int64_t begin = (SUITE_DAY0 - 4) * HOURS_A_DAY;
    struct error err = {0};
    struct read_filter f;
    struct hour_row *rows;
    struct breakdown_row *days;
    struct breakdown_scope scope;
    int64_t known = 0;
    size_t n = 0;
    read_filter_init(&f);
    f.bundle_id = bundle_id;
    if (!dump_ok(d, read_hours(d->r, id, &f, begin, READ_HOURS_MAX, &d->arena, &rows, &known, &err),
                 &err))
        return;
    buf_printf(d->out, " hours from %lld\n", (long long)known);
    for (size_t i = 0; i < READ_HOURS_MAX; i++) {
        if (rows[i].count)
            buf_printf(d->out, "  %lld %llu %.6f %llu/%llu\n", (long long)rows[i].hour,
                       (unsigned long long)rows[i].count, rows[i].weighted,
                       (unsigned long long)rows[i].stall_ms,
                       (unsigned long long)rows[i].weighted_stall_ms);
    }
    dump_ok(d,
            read_breakdown(d->r, id, &f, BY_DAY, BY_NONE, 1000, &d->arena, &days, &n, &scope, &err),
            &err);
    for (size_t i = 0; i < n; i++) {
        uint64_t count = 0;
        uint64_t stall_ms = 0;
        int32_t day = 0;
        ck_assert(clock_parse_day(days[i].value, strlen(days[i].value), &day));
        const int64_t at = (int64_t)day * HOURS_A_DAY - begin;
        if (at < 0 || at + HOURS_A_DAY > READ_HOURS_MAX || at + begin < known)
            continue;
        for (int k = 0; k < HOURS_A_DAY; k++) {
            count += rows[at + k].count;
            stall_ms += rows[at + k].stall_ms;
        }
        ck_assert_uint_eq(count, days[i].figures.count);
        ck_assert_uint_eq(stall_ms, days[i].figures.stall_ms);
    }
}

static enum err print_weight(void *ctx, const struct weighed_stack *w, struct error *err)
{
    struct dump *d = ctx;
    (void)err;
    buf_printf(d->out, "  weight %llu", (unsigned long long)w->stack_id);
    for (size_t i = 0; i < WEIGHT_FILTERS_MAX; i++)
        buf_printf(d->out, " %lld/%lld/%lld", (long long)w->weights[i].count,
                   (long long)w->weights[i].weighted, (long long)w->weights[i].stall_ms);
    buf_printf(d->out, " %zu\n", w->raw_len);
    for (size_t i = 0; i < w->frame_count; i++) {
        const struct weighed_frame *f = weighed_frame_at(w, i);
        buf_printf(d->out, "    %s %s %s %d", dump_text(f->function), dump_text(f->image),
                   dump_text(f->file), f->in_app);
        if (!f->function) {
            buf_printf(d->out, " %d +%llx", f->image_kind, (unsigned long long)f->offset);
            dump_uuid(d, &f->image_id);
        }
        buf_puts(d->out, "\n");
    }
    return ERR_OK;
}

/* Pairs of filters, each with the one before it. */
static void dump_weights(struct dump *d, uint64_t id)
{
    struct error err = {0};
    struct breakdown_scope scopes[2];
    struct read_filter f[DUMP_FILTERS];
    dump_filters(f);
    for (size_t i = 0; i < DUMP_FILTERS; i++) {
        const struct read_filter pair[2] = {f[i], f[(i + DUMP_FILTERS - 1) % DUMP_FILTERS]};
        buf_printf(d->out, " weights %zu\n", i);
        if (dump_ok(d,
                    read_stack_weights(d->r, id, pair, 1 + i % 2, &d->arena, print_weight, d,
                                       scopes, &err),
                    &err))
            buf_printf(d->out, "  from %s %lld\n", scopes[0].source, (long long)scopes[0].since_ms);
    }
}

static void dump_trend(struct dump *d, uint64_t id, const struct read_filter *f)
{
    struct error err = {0};
    struct trend t;
    struct totals_row totals;
    for (int by = BY_NONE; by < BREAKDOWN_DIMENSIONS; by++) {
        for (int step = TREND_DAY; step <= TREND_WEEK; step++) {
            const struct trend_query q = {
                .cluster_id = id,
                .step = (enum trend_step)step,
                .group = (enum breakdown_by)by,
                .begin = trend_number((enum trend_step)step, SUITE_NOW) - 3,
                .points = 20,
                .groups = 2,
            };
            if (by == BY_DAY || !dump_ok(d, read_trend(d->r, f, &q, &d->arena, &t, &err), &err))
                continue;
            buf_printf(d->out, " trend %d,%d from %s %lld used %d\n", by, step, t.scope.source,
                       (long long)t.scope.since_ms, t.usage_known);
            for (size_t i = 0; i < t.count; i++) {
                buf_printf(d->out, "  %s", dump_text(t.series[i].value));
                for (size_t k = 0; k < q.points; k++) {
                    const struct trend_sums *p = &t.series[i].points[k];
                    buf_printf(d->out, " %llu/%.6f/%llu/%llu/%llu", (unsigned long long)p->count,
                               p->weighted, (unsigned long long)p->stall_ms,
                               (unsigned long long)p->weighted_stall_ms,
                               (unsigned long long)p->foreground_ms);
                }
                buf_puts(d->out, "\n");
            }
        }
    }
    if (id == 0 && dump_ok(d, read_totals(d->r, f, &totals, &err), &err)) {
        buf_printf(d->out, " totals used %d %llu %.6f", totals.usage.known,
                   (unsigned long long)totals.usage.foreground_ms, totals.usage.launches);
        dump_figures(d, &totals.figures);
        buf_puts(d->out, "\n");
    }
}

static void dump_context(struct dump *d, uint64_t id, const struct read_filter *f)
{
    struct error err = {0};
    struct context c;
    for (int by = BY_NONE; by < BREAKDOWN_DIMENSIONS; by++) {
        const enum breakdown_by by2 = by == BY_DEVICE ? BY_CATEGORY : BY_NONE;
        if (!dump_ok(d, read_context(d->r, id, f, (enum breakdown_by)by, by2, &d->arena, &c, &err),
                     &err))
            continue;
        buf_printf(d->out, " context %d of %llu since %lld\n", by, (unsigned long long)c.reports,
                   (long long)c.since_ms);
        for (size_t i = 0; i < c.count; i++) {
            const struct context_row *row = &c.rows[i];
            buf_printf(d->out, "  %s,%s %llu cpu %lld %lld memory %lld %lld", dump_text(row->value),
                       dump_text(row->value2), (unsigned long long)row->reports,
                       (long long)row->cpu_p50, (long long)row->cpu_p90, (long long)row->memory_p50,
                       (long long)row->memory_p90);
            for (size_t k = 0; k < row->page_count; k++)
                buf_printf(d->out, " %s:%llu", row->pages[k].value,
                           (unsigned long long)row->pages[k].count);
            for (size_t k = 0; k < row->path_count; k++)
                buf_printf(d->out, " %s:%llu", row->paths[k].value,
                           (unsigned long long)row->paths[k].count);
            buf_puts(d->out, "\n");
        }
    }
}

static void dump_compare(struct dump *d, int kind)
{
    static const char *const versions[2] = {"1.0", "2.1"};
    struct error err = {0};
    struct read_filter f;
    struct compare_cell *cells;
    size_t n;
    read_filter_init(&f);
    f.bundle_id = SUITE_APP;
    f.kind = kind;
    f.since_ms = SUITE_DAY0 * 86400000;
    if (!dump_ok(d, read_compare(d->r, &f, versions, &d->arena, &cells, &n, &err), &err))
        return;
    for (size_t i = 0; i < n; i++)
        buf_printf(d->out, " compare %llu %d %d %llu %.6f %llu %llu\n",
                   (unsigned long long)cells[i].cluster_id, cells[i].side, cells[i].day,
                   (unsigned long long)cells[i].count, cells[i].weighted,
                   (unsigned long long)cells[i].stall_ms,
                   (unsigned long long)cells[i].weighted_stall_ms);
}

static void dump_stats(struct dump *d, const char *bundle_id)
{
    static const char *const by[] = {"app", "version", "image"};
    struct error err = {0};
    struct stats_row s;
    struct stack_totals t;
    dump_ok(d, read_stats(d->r, bundle_id, &s, &err), &err);
    dump_ok(d, read_stack_totals(d->r, bundle_id, &t, &err), &err);
    buf_printf(d->out, "stats %s %llu %llu %llu %llu %llu %llu %llu %llu due=%llu %.6f\n",
               dump_text(bundle_id), (unsigned long long)s.apps, (unsigned long long)s.reports,
               (unsigned long long)t.stacks, (unsigned long long)s.pending_stacks,
               (unsigned long long)t.provisional_stacks, (unsigned long long)s.clusters,
               (unsigned long long)s.symbol_files, (unsigned long long)s.uploads_waiting,
               (unsigned long long)s.pending_findings,
               isnan(t.symbolication_rate) ? -1 : t.symbolication_rate);
    struct app_row *apps;
    const char *next = NULL;
    size_t app_count = 0;
    dump_ok(d, read_apps(d->r, bundle_id, 20000, 50, "", &d->arena, &apps, &app_count, &next, &err),
            &err);
    for (size_t i = 0; i < app_count; i++)
        buf_printf(d->out, " app %s %llu %llu %lld-%lld\n", apps[i].bundle_id,
                   (unsigned long long)apps[i].reports, (unsigned long long)apps[i].recent,
                   (long long)apps[i].first_seen_ms, (long long)apps[i].last_seen_ms);
    for (size_t b = 0; b < 3; b++) {
        struct symbolication_row *rows;
        size_t n;
        dump_ok(d, read_symbolication(d->r, bundle_id, by[b], 5, &d->arena, &rows, &n, &err), &err);
        for (size_t i = 0; i < n; i++)
            buf_printf(d->out, " %s %s=%s+%s %llu/%llu\n", by[b], rows[i].key,
                       dump_text(rows[i].bundle_id), dump_text(rows[i].version),
                       (unsigned long long)rows[i].resolved, (unsigned long long)rows[i].frames);
    }
}

void dump_cluster_numbers(struct dump *d, uint64_t id, const char *bundle_id)
{
    struct read_filter f[DUMP_FILTERS];
    dump_filters(f);
    dump_hours(d, id, id % 2 ? NULL : bundle_id);
    if (id % 4 == 3)
        dump_context(d, id, &f[id % DUMP_FILTERS]);
    if (id % 4 == 2)
        dump_trend(d, id, &f[id % DUMP_FILTERS]);
    if (id % 4 == 1)
        dump_breakdown(d, id, id % 8 == 1 ? &f[id % 7] : NULL);
}

void dump_app_numbers(struct dump *d, uint64_t max_cluster)
{
    struct read_filter f[DUMP_FILTERS];
    dump_filters(f);
    buf_puts(d->out, "app\n");
    for (uint64_t id = 0; id <= max_cluster && id <= 4; id++)
        dump_weights(d, id);
    dump_hours(d, 0, NULL);
    dump_hours(d, 0, SUITE_APP);
    for (size_t i = 0; i < DUMP_FILTERS; i++)
        dump_trend(d, 0, &f[i]);
    dump_compare(d, -1);
    dump_compare(d, REPORT_HANG);
    dump_context(d, 0, NULL);
    dump_context(d, 0, &f[6]);
    dump_breakdown(d, 0, NULL);
    dump_breakdown(d, 0, &f[5]);
    dump_breakdown(d, 0, &f[8]);
    dump_stats(d, NULL);
    dump_stats(d, SUITE_APP);
}
