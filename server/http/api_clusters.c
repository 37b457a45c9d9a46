#include "server/http/api.h"

#include "base/clock.h"
#include "server/analysis/cluster_key.h"
#include "server/http/api_common.h"
#include "server/http/api_merges.h"
#include "server/http/numbers_json.h"
#include "server/http/report_json.h"
#include "storage/read_findings.h"

#define DETAIL_STACKS  20 /* stacks shown with a cluster */
#define DETAIL_CHANGES 20 /* and changes of its state */

static const char *const SORTS[] = {
    [SORT_COUNT] = "count",           [SORT_STALL_MS] = "stall_ms", [SORT_LAST_SEEN] = "last_seen",
    [SORT_FIRST_SEEN] = "first_seen", [SORT_P90] = "p90",
};

static void print_trend(struct jout *j, const struct cluster_row *c)
{
    char day[CLOCK_TEXT_SIZE];
    jout_array(j, "trend");
    for (size_t i = 0; i < c->trend_count; i++) {
        jout_object(j, NULL);
        jout_string(j, "day", clock_format_day(c->trend[i].day, day));
        jout_uint(j, "count", c->trend[i].count);
        jout_end_object(j);
    }
    jout_end_array(j);
}

/* The members of a cluster, without braces. */
static void print_cluster(struct jout *j, const struct cluster_row *c, const struct totals_row *app)
{
    jout_uint(j, "id", c->id);
    jout_string(j, "bundle_id", c->bundle_id);
    jout_string(j, "title", c->title);
    jout_string(j, "function", c->function);
    jout_string(j, "file", c->file);
    jout_string(j, "image", c->image);
    jout_string(j, "category", c->category);
    jout_string(j, "owner", c->owner);
    jout_string(j, "state", c->state);
    jout_string(j, "kind", cluster_kind_name((enum cluster_kind)c->cluster_kind));
    jout_bool(j, "provisional", c->provisional);
    jout_bool(j, "approximate", c->approximate);
    jout_bool(j, "hidden", c->hidden);
    api_print_figures(j, &c->figures);
    jout_uint(j, "devices", c->devices);
    jout_uint(j, "versions", c->versions);
    jout_uint(j, "stack_count", c->stacks);
    jout_time(j, "first_seen", c->first_seen_ms);
    jout_time(j, "last_seen", c->last_seen_ms);
    jout_string(j, "resolved_in", c->resolved_in);
    jout_text(j, "resolved_in_build", c->resolved_build);
    jout_time(j, "regressed_at", c->regressed_ms);
    jout_string(j, "regressed_in", c->regressed_in);
    jout_text(j, "regressed_in_build", c->regressed_build);
    jout_string(j, "note", c->note);
    numbers_print_cluster(j, c, app);
    print_trend(j, c);
}

enum err api_get_clusters(struct http_request *r, const struct read_tools *tools, struct error *err)
{
    struct api_list list;
    struct cluster_row *rows = NULL;
    struct app_totals totals = {.bundle_id = NULL};
    size_t count = 0, sort = SORT_COUNT;
    const char *next = NULL;
    struct jout j;
    enum err rc = api_list_read(r, &list, err);
    if (rc == ERR_OK)
        rc = query_word(&r->query, "sort", SORTS, sizeof(SORTS) / sizeof(SORTS[0]), &sort, err);
    if (rc == ERR_OK)
        rc = query_bool(&r->query, "include_hidden", &list.filter.include_hidden, err);
    list.filter.text = query_text(&r->query, "q");
    if (rc == ERR_OK)
        rc = read_clusters(tools->storage, &list.filter, (enum cluster_sort)sort, list.limit,
                           list.cursor, tools->arena, &rows, &count, &next, err);
    if (rc != ERR_OK)
        return rc;
    api_items_begin(r, &j);
    for (size_t i = 0; i < count && rc == ERR_OK; i++) {
        rc = app_totals_of(tools, &list.filter, rows[i].bundle_id, &totals, err);
        jout_object(&j, NULL);
        print_cluster(&j, &rows[i], &totals.row);
        jout_end_object(&j);
    }
    api_items_end(&j, next);
    return rc;
}

/* The cluster of the path, under the filter of the query. */
static enum err find_cluster(struct http_request *r, const struct read_tools *tools,
                             struct api_list *list, struct cluster_row *ret, struct error *err)
{
    uint64_t id = 0;
    enum err rc = api_list_read(r, list, err);
    if (rc == ERR_OK)
        rc = api_id(r, 0, &id, err);
    if (rc == ERR_OK)
        rc = read_cluster(tools->storage, id, &list->filter, tools->arena, ret, err);
    if (rc == ERR_NOT_FOUND || (rc == ERR_OK && !api_sees(r, ret->bundle_id)))
        return error_set(err, ERR_NOT_FOUND, "no such cluster");
    return rc;
}

static enum err print_findings(const struct read_tools *tools, struct jout *j, uint64_t cluster_id,
                               struct error *err)
{
    struct cluster_findings f;
    enum err rc = read_cluster_findings(tools->storage, cluster_id, &f, err);
    if (rc != ERR_OK)
        return rc;
    jout_object(j, "findings");
    jout_uint(j, "culprits", f.culprits);
    jout_double(j, "mean_confidence", f.mean_confidence);
    jout_uint(j, "deadlocks", f.deadlocks);
    jout_end_object(j);
    return ERR_OK;
}

static enum err print_stacks(struct http_request *r, const struct read_tools *tools, struct jout *j,
                             const struct stack_row *stacks, size_t count, struct error *err)
{
    enum err rc = ERR_OK;
    if (count > 0)
        rc = api_print_stack(r, tools, j, "stack", &stacks[0], NULL, true, err);
    else
        jout_raw(j, "stack", "[]");
    jout_array(j, "stacks");
    for (size_t i = 0; rc == ERR_OK && i < count; i++) {
        const struct stack_row *s = &stacks[i];
        jout_object(j, NULL);
        jout_uint(j, "id", s->stack_id);
        jout_uint(j, "count", s->count);
        jout_double(j, "weighted_count", s->weighted);
        jout_double(j, "stall_seconds", (double)s->stall_ms / 1000);
        jout_double(j, "weighted_stall_seconds", (double)s->weighted_stall_ms / 1000);
        jout_bool(j, "pending", s->pending);
        jout_bool(j, "provisional", s->provisional);
        jout_bool(j, "approximate", s->approximate);
        jout_time(j, "first_seen", s->first_seen_ms);
        jout_time(j, "last_seen", s->last_seen_ms);
        rc = api_print_stack(r, tools, j, "stack", s, NULL, false, err);
        jout_end_object(j);
    }
    jout_end_array(j);
    return rc;
}

enum err api_get_cluster(struct http_request *r, const struct read_tools *tools, struct error *err)
{
    struct api_list list;
    struct cluster_row c;
    uint64_t *aliases = NULL;
    struct stack_row *stacks = NULL;
    struct app_totals totals = {.bundle_id = NULL};
    struct context context;
    size_t alias_count = 0, stack_count = 0;
    struct jout j;
    enum err rc = find_cluster(r, tools, &list, &c, err);
    if (rc == ERR_OK)
        rc = app_totals_of(tools, &list.filter, c.bundle_id, &totals, err);
    if (rc == ERR_OK)
        rc = read_context(tools->storage, c.id, &list.filter, BY_NONE, BY_NONE, tools->arena,
                          &context, err);
    if (rc == ERR_OK)
        rc = read_cluster_aliases(tools->storage, c.id, tools->arena, &aliases, &alias_count, err);
    if (rc == ERR_OK)
        rc = read_cluster_stacks(tools->storage, c.id, DETAIL_STACKS, tools->arena, &stacks,
                                 &stack_count, err);
    if (rc != ERR_OK)
        return rc;
    jout_init(&j, http_reply(r, 200, TYPE_JSON));
    jout_object(&j, NULL);
    print_cluster(&j, &c, &totals.row);
    numbers_print_context(&j, &context);
    jout_object(&j, "key");
    jout_string(&j, "text", c.key_text);
    jout_uint(&j, "form", KEY_FORM);
    jout_string(&j, "rules_version", c.rules_version);
    jout_end_object(&j);
    jout_array(&j, "aliases");
    for (size_t i = 0; i < alias_count; i++)
        jout_uint(&j, NULL, aliases[i]);
    jout_end_array(&j);
    rc = print_findings(tools, &j, c.id, err);
    if (rc == ERR_OK)
        rc = api_print_history(&j, tools, c.id, DETAIL_CHANGES, err);
    if (rc == ERR_OK)
        rc = api_print_made_of(tools, &j, &c, err);
    if (rc == ERR_OK)
        rc = print_stacks(r, tools, &j, stacks, stack_count, err);
    jout_end_object(&j);
    return rc;
}

enum err api_get_cluster_reports(struct http_request *r, const struct read_tools *tools,
                                 struct error *err)
{
    struct api_list list;
    struct cluster_row c;
    struct report_row *rows = NULL;
    size_t count = 0;
    const char *next = NULL;
    struct jout j;
    enum err rc = find_cluster(r, tools, &list, &c, err);
    if (rc == ERR_OK)
        rc = query_bool(&r->query, "deadlock", &list.filter.deadlock, err);
    if (rc == ERR_OK)
        rc = read_cluster_reports(tools->storage, c.id, &list.filter, list.limit, list.cursor,
                                  tools->arena, &rows, &count, &next, err);
    if (rc != ERR_OK)
        return rc;
    api_items_begin(r, &j);
    for (size_t i = 0; i < count; i++) {
        jout_object(&j, NULL);
        report_json_summary(&j, &rows[i]);
        jout_end_object(&j);
    }
    api_items_end(&j, next);
    return ERR_OK;
}
