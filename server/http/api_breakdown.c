#include "server/http/api.h"

#include <string.h>

#include "server/http/api_common.h"
#include "server/http/numbers_json.h"

static enum err read_by(const struct query *q, enum breakdown_by ret[2], struct error *err)
{
    const char *text = query_text(q, "by");
    const char *comma = text ? strchr(text, ',') : NULL;
    size_t len = comma ? (size_t)(comma - text) : text ? strlen(text) : 0;
    ret[0] = ret[1] = BY_NONE;
    char first[32] = "";
    if (len < sizeof(first))
        memcpy(first, text ? text : "", len);
    if (api_dimension(first, &ret[0]) &&
        (!comma || (api_dimension(comma + 1, &ret[1]) && ret[0] != ret[1])))
        return ERR_OK;
    return error_set(err, ERR_INVALID,
                     "by: one or two (comma-separated, different) of version, build, device, "
                     "os_version, page, day, kind, category");
}

static void print_row(struct jout *j, const struct breakdown_row *row,
                      const struct context *context)
{
    jout_object(j, NULL);
    jout_string(j, "value", row->value);
    jout_string(j, "value2", row->value2);
    api_print_figures(j, &row->figures);
    jout_double(j, "share", row->share);
    jout_double(j, "app_share", row->app_share);
    api_print_rate(j, row->figures.weighted_stall_ms, row->usage.known, row->usage.foreground_ms);
    if (row->usage.known)
        jout_double(j, "launches", row->usage.launches);
    else
        jout_null(j, "launches");
    numbers_print_usage_of_device(j, context_find(context, row->value, row->value2));
    jout_end_object(j);
}

static enum err breakdown(struct http_request *r, const struct read_tools *tools,
                          uint64_t cluster_id, const struct api_list *list, struct error *err)
{
    enum breakdown_by by[2];
    struct breakdown_row *rows = NULL;
    struct breakdown_scope scope;
    struct context context;
    size_t count = 0;
    struct jout j;
    enum err rc = read_by(&r->query, by, err);
    if (rc == ERR_OK)
        rc = read_breakdown(tools->storage, cluster_id, &list->filter, by[0], by[1], list->limit,
                            tools->arena, &rows, &count, &scope, err);
    if (rc == ERR_OK)
        rc = read_context(tools->storage, cluster_id, &list->filter, by[0], by[1], tools->arena,
                          &context, err);
    if (rc != ERR_OK)
        return rc;
    jout_init(&j, http_reply(r, 200, TYPE_JSON));
    jout_object(&j, NULL);
    jout_array(&j, "by");
    jout_string(&j, NULL, api_dimension_name(by[0]));
    if (by[1] != BY_NONE)
        jout_string(&j, NULL, api_dimension_name(by[1]));
    jout_end_array(&j);
    jout_string(&j, "source", scope.source);
    jout_time(&j, "since", scope.since_ms);
    jout_array(&j, "items");
    for (size_t i = 0; i < count; i++)
        print_row(&j, &rows[i], &context);
    jout_end_array(&j);
    jout_object(&j, "context"); /* where cpu and memory are from */
    jout_string(&j, "source", "reports");
    jout_uint(&j, "reports", context.reports);
    jout_time(&j, "since", context.since_ms);
    jout_end_object(&j);
    jout_string(&j, "next_cursor", NULL);
    jout_end_object(&j);
    return ERR_OK;
}

enum err api_get_cluster_breakdown(struct http_request *r, const struct read_tools *tools,
                                   struct error *err)
{
    struct api_list list;
    struct cluster_row c;
    uint64_t id = 0;
    enum err rc = api_list_read(r, &list, err);
    if (rc == ERR_OK)
        rc = api_id(r, 0, &id, err);
    if (rc == ERR_OK)
        rc = read_cluster(tools->storage, id, &list.filter, tools->arena, &c, err);
    if (rc == ERR_NOT_FOUND || (rc == ERR_OK && !api_sees(r, c.bundle_id)))
        return error_set(err, ERR_NOT_FOUND, "no such cluster");
    if (rc != ERR_OK)
        return rc;
    /* Shares are against the cluster's own app. */
    list.filter.bundle_id = c.bundle_id;
    return breakdown(r, tools, c.id, &list, err);
}

enum err api_get_breakdown(struct http_request *r, const struct read_tools *tools,
                           struct error *err)
{
    struct api_list list;
    enum err rc = api_list_read(r, &list, err);
    return rc == ERR_OK ? breakdown(r, tools, 0, &list, err) : rc;
}
