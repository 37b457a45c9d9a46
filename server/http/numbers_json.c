#include "server/http/numbers_json.h"

#include <math.h>
#include <string.h>

#include "server/analysis/significance.h"
#include "server/http/api_common.h"

/* A trend goes up when its second half is so much above the first that chance does not explain it:
 * one in a hundred, since a page has many of them. */
#define DIRECTION_LEVEL 0.01
#define HALF            7 /* of TREND_DAYS */

enum err app_totals_of(const struct read_tools *tools, const struct read_filter *filter,
                       const char *bundle_id, struct app_totals *totals, struct error *err)
{
    struct read_filter of_app = *filter;
    if (totals->bundle_id && strcmp(totals->bundle_id, bundle_id) == 0)
        return ERR_OK;
    of_app.bundle_id = bundle_id;
    enum err rc = read_totals(tools->storage, &of_app, &totals->row, err);
    if (rc == ERR_OK)
        totals->bundle_id = bundle_id;
    return rc;
}

/* The second week against the first one. */
static void print_direction(struct jout *j, const struct cluster_row *c)
{
    double counts[TREND_DAYS], exposures[TREND_DAYS];
    double spread[2];
    const size_t half = HALF;
    struct event_rate halves[2] = {{0, (double)half}, {0, (double)half}};
    struct rate_comparison cmp;
    const char *direction = "flat";
    for (size_t i = 0; i < TREND_DAYS; i++) {
        counts[i] = i < c->trend_count ? (double)c->trend[i].count : 0;
        exposures[i] = 1;
        halves[i >= half].count += counts[i];
    }
    for (int h = 0; h < 2; h++)
        spread[h] = significance_dispersion(counts + (ptrdiff_t)h * HALF, exposures, half);
    significance_compare(&halves[0], &halves[1], fmax(spread[0], spread[1]), 0.95, &cmp);
    if (cmp.p < DIRECTION_LEVEL)
        direction = cmp.low > 1 ? "up" : "down";
    jout_string(j, "trend_direction", direction);
    jout_double(j, "trend_ratio", cmp.ratio);
}

void numbers_print_cluster(struct jout *j, const struct cluster_row *c,
                           const struct totals_row *app)
{
    const struct duration_figures *all = &app->figures;
    jout_object(j, "share_of");
    jout_double(j, "weighted_count", all->weighted);
    jout_double(j, "weighted_stall_seconds", (double)all->weighted_stall_ms / 1000);
    jout_end_object(j);
    jout_double(j, "share", all->weighted > 0 ? c->figures.weighted / all->weighted : (double)NAN);
    jout_double(j, "stall_share",
                all->weighted_stall_ms
                    ? (double)c->figures.weighted_stall_ms / (double)all->weighted_stall_ms
                    : (double)NAN);
    api_print_rate(j, c->figures.weighted_stall_ms, app->usage.known, app->usage.foreground_ms);
    jout_string(j, "first_version", c->first_version);
    jout_text(j, "first_build", c->first_build);
    jout_string(j, "last_version", c->last_version);
    jout_text(j, "last_build", c->last_build);
    print_direction(j, c);
}

static void print_quantiles(struct jout *j, const char *key, int64_t p50, int64_t p90)
{
    jout_object(j, key);
    jout_known(j, "p50", p50);
    jout_known(j, "p90", p90);
    jout_end_object(j);
}

void numbers_print_usage_of_device(struct jout *j, const struct context_row *row)
{
    print_quantiles(j, "cpu", row ? row->cpu_p50 : -1, row ? row->cpu_p90 : -1);
    print_quantiles(j, "memory_mb", row ? row->memory_p50 : -1, row ? row->memory_p90 : -1);
}

static void print_counts(struct jout *j, const char *key, const struct value_count *values,
                         size_t count)
{
    jout_array(j, key);
    for (size_t i = 0; i < count; i++) {
        jout_object(j, NULL);
        jout_string(j, "value", values[i].value);
        jout_uint(j, "count", values[i].count);
        jout_end_object(j);
    }
    jout_end_array(j);
}

void numbers_print_context(struct jout *j, const struct context *c)
{
    const struct context_row *row = &c->rows[0];
    jout_object(j, "context");
    jout_string(j, "source", "reports");
    jout_uint(j, "reports", c->reports);
    jout_time(j, "since", c->since_ms);
    numbers_print_usage_of_device(j, row);
    print_counts(j, "pages", row->pages, row->page_count);
    print_counts(j, "paths", row->paths, row->path_count);
    jout_end_object(j);
}
