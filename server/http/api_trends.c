#include "server/http/api.h"

#include "base/clock.h"
#include "server/http/api_common.h"
#include "storage/hours.h"
#include "storage/read_trend.h"

static const char *const STEPS[] = {
    [TREND_DAY] = "day", [TREND_HOUR] = "hour", [TREND_WEEK] = "week"};
#define STEP_COUNT (sizeof(STEPS) / sizeof(STEPS[0]))

/* Points shown when `since` is not given. */
static const size_t POINTS[] = {[TREND_DAY] = 30, [TREND_HOUR] = 48, [TREND_WEEK] = 12};

#define DEFAULT_GROUPS 10

/* Whole steps: the one that holds `since` to the one that holds what is just before `until`. */
static enum err read_range(const struct http_request *r, const struct read_filter *f,
                           struct trend_query *q, struct error *err)
{
    const int64_t until = f->until_ms == INT64_MIN ? r->now_ms + 1 : f->until_ms;
    const int64_t last = trend_number(q->step, until - 1);
    q->begin = f->since_ms == INT64_MIN ? last + 1 - (int64_t)POINTS[q->step]
                                        : trend_number(q->step, f->since_ms);
    if (q->begin > last)
        return error_set(err, ERR_INVALID, "since: not before now, where no until is given");
    if (last - q->begin >= TREND_POINTS_MAX)
        return error_set(err, ERR_INVALID, "since: more than %d %ss before until", TREND_POINTS_MAX,
                         STEPS[q->step]);
    q->points = (size_t)(last - q->begin + 1);
    return ERR_OK;
}

static enum err read_query(const struct http_request *r, const struct read_filter *f,
                           struct trend_query *q, struct error *err)
{
    size_t step = TREND_DAY;
    int64_t cluster = 0, groups = DEFAULT_GROUPS;
    const char *group = query_text(&r->query, "group");
    enum err rc = query_word(&r->query, "by", STEPS, STEP_COUNT, &step, err);
    if (rc == ERR_OK)
        rc = query_int(&r->query, "cluster_id", 1, INT64_MAX, &cluster, err);
    if (rc == ERR_OK)
        rc = query_int(&r->query, "groups", 1, TREND_GROUPS_MAX, &groups, err);
    if (rc != ERR_OK)
        return rc;
    *q = (struct trend_query){.cluster_id = (uint64_t)cluster,
                              .step = (enum trend_step)step,
                              .group = BY_NONE,
                              .groups = (size_t)groups};
    if (group && (!api_dimension(group, &q->group) || q->group == BY_DAY))
        return error_set(err, ERR_INVALID,
                         "group: version, build, device, os_version, page, kind or category");
    return read_range(r, f, q, err);
}

static void print_sums(struct jout *j, const struct trend_sums *s, bool usage_known)
{
    jout_uint(j, "count", s->count);
    jout_double(j, "weighted_count", s->weighted);
    jout_double(j, "stall_seconds", (double)s->stall_ms / 1000);
    jout_double(j, "weighted_stall_seconds", (double)s->weighted_stall_ms / 1000);
    api_print_rate(j, s->weighted_stall_ms, usage_known, s->foreground_ms);
}

static void print_series(struct jout *j, const struct trend_query *q, const struct trend *t,
                         const struct trend_series *s)
{
    jout_object(j, NULL);
    jout_string(j, "value", s->value);
    print_sums(j, &s->total, t->usage_known);
    jout_array(j, "points");
    for (size_t i = 0; i < q->points; i++) {
        jout_object(j, NULL);
        jout_time(j, "time", trend_time(q->step, q->begin + (int64_t)i));
        print_sums(j, &s->points[i], t->usage_known);
        jout_end_object(j);
    }
    jout_end_array(j);
    jout_end_object(j);
}

enum err api_get_trends(struct http_request *r, const struct read_tools *tools, struct error *err)
{
    struct read_filter filter;
    struct trend_query q = {.cluster_id = 0};
    struct trend t;
    struct cluster_row c;
    struct jout j;
    enum err rc = query_filter(&r->query, &filter, err);
    if (rc == ERR_OK)
        rc = api_bundle(r, &filter.bundle_id, err);
    if (rc == ERR_OK)
        rc = read_query(r, &filter, &q, err);
    if (rc == ERR_OK && q.cluster_id) {
        rc = read_cluster(tools->storage, q.cluster_id, NULL, tools->arena, &c, err);
        if (rc == ERR_NOT_FOUND || (rc == ERR_OK && !api_sees(r, c.bundle_id)))
            return error_set(err, ERR_NOT_FOUND, "no such cluster");
    }
    if (rc == ERR_OK)
        rc = read_trend(tools->storage, &filter, &q, tools->arena, &t, err);
    if (rc != ERR_OK)
        return rc;
    jout_init(&j, http_reply(r, 200, TYPE_JSON));
    jout_object(&j, NULL);
    jout_string(&j, "by", STEPS[q.step]);
    jout_string(&j, "group", api_dimension_name(q.group));
    jout_string(&j, "source", t.scope.source);
    jout_time(&j, "since", t.scope.since_ms);
    jout_array(&j, "items");
    for (size_t i = 0; i < t.count; i++)
        print_series(&j, &q, &t, &t.series[i]);
    api_items_end(&j, NULL);
    return ERR_OK;
}
