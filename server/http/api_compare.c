#include "server/http/api.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "server/analysis/compare.h"
#include "server/http/api_common.h"
#include "storage/read_compare.h"
#include "storage/read_trend.h"

struct comparison {
    const char *versions[2];
    struct read_filter filter;
    size_t limit;
    struct compare_cell *cells; /* the app's first */
    size_t cell_count, app_cells;
    struct compare_day *days; /* one at a time: a cluster's, or the app's */
    struct compare_result app;
    struct compare_result *items;
    size_t count;
    bool by_usage; /* exposures are hours of use, else reports */
    double usage_hours[2];
    double exposures[2], sampled[2];
    double reports[2]; /* of the app, hidden clusters' too */
};

static enum err read_query(const struct http_request *r, struct comparison *c, struct error *err)
{
    const char *cursor = NULL;
    enum err rc = query_filter(&r->query, &c->filter, err);
    if (rc == ERR_OK)
        rc = query_page(&r->query, &c->limit, &cursor, err);
    if (rc == ERR_OK)
        rc = api_bundle(r, &c->filter.bundle_id, err);
    if (rc != ERR_OK)
        return rc;
    c->versions[0] = c->filter.version;
    c->versions[1] = query_text(&r->query, "compare_version");
    if (!c->versions[0] || !c->versions[1])
        return error_set(err, ERR_INVALID, "version and compare_version: both have to be given");
    return ERR_OK;
}

static void add_cell(struct compare_side *s, const struct compare_cell *cell)
{
    s->count += (double)cell->count;
    s->weighted += cell->weighted;
    s->stall_ms += (double)cell->stall_ms;
    s->weighted_stall_ms += (double)cell->weighted_stall_ms;
}

/* Cells of one cluster become a result. Days on which it had no report are days, too. */
static void reckon(struct comparison *c, const struct compare_cell *cells, size_t count,
                   struct compare_result *ret)
{
    const bool of_app = cells == c->cells;
    size_t at = 0;
    for (size_t i = 0; i < c->app_cells; i++) {
        const struct compare_cell *a = &c->cells[i];
        while (at < count &&
               (cells[at].side < a->side || (cells[at].side == a->side && cells[at].day < a->day)))
            at++;
        const bool there = at < count && cells[at].side == a->side && cells[at].day == a->day;
        c->days[i] = (struct compare_day){a->side, there ? (double)cells[at].count : 0,
                                          of_app ? 1 : (double)a->count};
    }
    for (size_t i = 0; i < count; i++)
        add_cell(&ret->sides[cells[i].side], &cells[i]);
    compare_reckon(ret, c->exposures, c->sampled, c->days, c->app_cells);
}

static enum err read_exposures(const struct read_tools *tools, struct comparison *c,
                               struct error *err)
{
    bool used = true;
    for (int side = 0; side < 2; side++) {
        struct read_filter f = c->filter;
        struct totals_row t;
        f.version = c->versions[side];
        enum err rc = read_totals(tools->storage, &f, &t, err);
        if (rc != ERR_OK)
            return rc;
        c->usage_hours[side] = (double)t.usage.foreground_ms / 3600000;
        used &= t.usage.known && t.usage.foreground_ms > 0;
    }
    for (size_t i = 0; i < c->app_cells; i++)
        add_cell(&c->app.sides[c->cells[i].side], &c->cells[i]);
    for (int side = 0; side < 2; side++) {
        const struct compare_side *s = &c->app.sides[side];
        c->reports[side] = s->count;
        c->sampled[side] = s->weighted > 0 ? s->count / s->weighted : 1;
        c->exposures[side] = used ? c->usage_hours[side] : s->weighted;
    }
    c->by_usage = used;
    memset(c->app.sides, 0, sizeof(c->app.sides));
    return ERR_OK;
}

static enum err reckon_all(const struct read_tools *tools, struct comparison *c, struct error *err)
{
    while (c->app_cells < c->cell_count && c->cells[c->app_cells].cluster_id == 0)
        c->app_cells++;
    enum err rc = read_exposures(tools, c, err);
    c->items = arena_array(tools->arena, c->cell_count + 1, sizeof(*c->items));
    c->days = arena_array(tools->arena, c->app_cells + 1, sizeof(*c->days));
    if (!c->items || !c->days)
        return error_set(err, ERR_NO_MEMORY, "no memory for a comparison");
    if (rc != ERR_OK)
        return rc;
    reckon(c, c->cells, c->app_cells, &c->app);
    for (size_t i = c->app_cells, end; i < c->cell_count; i = end) {
        for (end = i; end < c->cell_count && c->cells[end].cluster_id == c->cells[i].cluster_id;)
            end++;
        struct compare_result *item = &c->items[c->count++];
        item->id = c->cells[i].cluster_id;
        reckon(c, &c->cells[i], end - i, item);
    }
    rc = compare_decide(c->items, c->count, err);
    if (rc == ERR_OK && c->count)
        qsort(c->items, c->count, sizeof(*c->items), compare_order);
    return rc;
}

static void print_side(struct jout *j, const char *key, const struct comparison *c,
                       const struct compare_result *r, int side)
{
    const struct compare_side *s = &r->sides[side];
    jout_object(j, key);
    jout_uint(j, "count", (uint64_t)s->count);
    jout_double(j, "weighted_count", s->weighted);
    jout_double(j, "stall_seconds", s->stall_ms / 1000);
    jout_double(j, "weighted_stall_seconds", s->weighted_stall_ms / 1000);
    jout_double(j, "rate", r->rates[side]);
    jout_double(j, "stall_rate",
                c->by_usage ? s->weighted_stall_ms / 1000 / c->usage_hours[side] : (double)NAN);
    jout_end_object(j);
}

static void print_result(struct jout *j, const struct comparison *c, const struct compare_result *r,
                         bool corrected)
{
    print_side(j, "version", c, r, 0);
    print_side(j, "compare_version", c, r, 1);
    jout_double(j, "ratio", r->rate.ratio);
    jout_double(j, "ratio_low", r->rate.low);
    jout_double(j, "ratio_high", r->rate.high);
    jout_double(j, "p", r->rate.p);
    if (corrected)
        jout_double(j, "q", r->q);
    jout_double(j, "dispersion", r->dispersion);
    jout_string(j, "verdict", rate_verdict_name(r->verdict));
    jout_string(j, "change",
                r->sides[0].count == 0   ? "new"
                : r->sides[1].count == 0 ? "gone"
                                         : NULL);
}

static enum err print_item(struct jout *j, const struct read_tools *tools,
                           const struct comparison *c, const struct compare_result *r,
                           struct error *err)
{
    struct cluster_row row;
    enum err rc = read_cluster(tools->storage, r->id, NULL, tools->arena, &row, err);
    if (rc == ERR_NOT_FOUND) /* it went meanwhile */
        return ERR_OK;
    if (rc != ERR_OK)
        return rc;
    jout_object(j, NULL);
    jout_uint(j, "cluster_id", row.id);
    jout_string(j, "title", row.title);
    jout_string(j, "function", row.function);
    jout_string(j, "category", row.category);
    print_result(j, c, r, true);
    jout_end_object(j);
    return ERR_OK;
}

enum err api_get_compare(struct http_request *r, const struct read_tools *tools, struct error *err)
{
    struct comparison c = {.limit = 0};
    struct jout j;
    enum err rc = read_query(r, &c, err);
    if (rc == ERR_OK)
        rc = read_compare(tools->storage, &c.filter, c.versions, tools->arena, &c.cells,
                          &c.cell_count, err);
    if (rc == ERR_OK)
        rc = reckon_all(tools, &c, err);
    if (rc != ERR_OK)
        return rc;
    jout_init(&j, http_reply(r, 200, TYPE_JSON));
    jout_object(&j, NULL);
    jout_string(&j, "version", c.versions[0]);
    jout_string(&j, "compare_version", c.versions[1]);
    jout_uint(&j, "version_reports", (uint64_t)c.reports[0]);
    jout_uint(&j, "compare_version_reports", (uint64_t)c.reports[1]);
    jout_string(&j, "basis", c.by_usage ? "usage" : "reports");
    jout_double(&j, "usage_hours", c.by_usage ? c.usage_hours[0] : (double)NAN);
    jout_double(&j, "compare_usage_hours", c.by_usage ? c.usage_hours[1] : (double)NAN);
    if (c.by_usage) {
        jout_object(&j, "app");
        print_result(&j, &c, &c.app, false);
        jout_end_object(&j);
    } else {
        jout_null(&j, "app"); /* all of its reports are all of its reports */
    }
    jout_uint(&j, "clusters", c.count);
    jout_array(&j, "items");
    for (size_t i = 0; i < c.count && i < c.limit && rc == ERR_OK; i++)
        rc = print_item(&j, tools, &c, &c.items[i], err);
    api_items_end(&j, NULL);
    return rc;
}
