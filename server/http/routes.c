#include "server/http/routes.h"

#include <string.h>

#include "server/http/api.h"
#include "storage/write_op.h"

const struct route ROUTES[] = {
    {.method = "GET", .pattern = "/healthz", .handle = api_healthz},
    {.method = "GET", .pattern = "/readyz", .handle = api_readyz},
    {.method = "GET",
     .pattern = "/metrics",
     .scopes = SCOPE_READ,
     .open_metrics = true,
     .unbound = true,
     .handle = api_metrics},
    {.method = "GET", .pattern = "/openapi.json", .handle = api_get_asset},
    {.method = "GET", .pattern = "/upload.sh", .handle = api_get_asset},
    {.method = "POST",
     .pattern = "/v1/reports",
     .scopes = SCOPE_INGEST,
     .writes = true,
     .body = BODY_BUFFERED,
     .handle = api_post_reports},
    {.method = "POST",
     .pattern = "/v1/usage",
     .scopes = SCOPE_INGEST,
     .writes = true,
     .body = BODY_BUFFERED,
     .query = "",
     .handle = api_post_usage},
    {.method = "GET",
     .pattern = "/v1/reports/{id}",
     .scopes = SCOPE_READ,
     .query = "bundle_id",
     .read = api_get_report},
    {.method = "POST",
     .pattern = "/v1/symbols",
     .scopes = SCOPE_SYMBOLS,
     .writes = true,
     .body = BODY_STREAMED,
     .query = "bundle_id version build os_build kind protect wait",
     .handle = api_post_symbols,
     .stream = &api_symbols_stream},
    {.method = "GET",
     .pattern = "/v1/symbols",
     .scopes = SCOPE_SYMBOLS,
     .query = "bundle_id limit cursor",
     .read = api_get_symbols},
    {.method = "POST",
     .pattern = "/v1/symbols/check",
     .scopes = SCOPE_SYMBOLS,
     .body = BODY_BUFFERED,
     .query = "",
     .read = api_check_symbols},
    {.method = "GET",
     .pattern = "/v1/symbols/missing",
     .scopes = SCOPE_SYMBOLS,
     .query = "bundle_id limit cursor",
     .read = api_get_missing},
    {.method = "GET",
     .pattern = "/v1/symbols/protected",
     .scopes = SCOPE_SYMBOLS,
     .query = "bundle_id",
     .read = api_get_protected},
    {.method = "PUT",
     .pattern = "/v1/symbols/protected",
     .scopes = SCOPE_ADMIN,
     .writes = true,
     .query = "bundle_id version build os_build",
     .handle = api_put_protected},
    {.method = "DELETE",
     .pattern = "/v1/symbols/protected",
     .scopes = SCOPE_ADMIN,
     .writes = true,
     .query = "bundle_id version build os_build",
     .handle = api_delete_protected},
    {.method = "POST",
     .pattern = "/v1/symbols/uploads",
     .scopes = SCOPE_SYMBOLS,
     .writes = true,
     .body = BODY_BUFFERED,
     .query = "",
     .handle = api_post_open_upload},
    {.method = "PUT",
     .pattern = "/v1/symbols/uploads/{id}",
     .scopes = SCOPE_SYMBOLS,
     .writes = true,
     .body = BODY_STREAMED,
     .query = "offset wait",
     .handle = api_put_piece,
     .stream = &api_piece_stream},
    {.method = "GET",
     .pattern = "/v1/symbols/uploads/{id}",
     .scopes = SCOPE_SYMBOLS,
     .query = "limit cursor",
     .read = api_get_upload},
    {.method = "DELETE",
     .pattern = "/v1/symbols/uploads/{id}",
     .scopes = SCOPE_ADMIN,
     .writes = true,
     .query = "",
     .handle = api_delete_upload},
    {.method = "GET",
     .pattern = "/v1/symbols/{uuid}",
     .scopes = SCOPE_SYMBOLS,
     .query = "",
     .read = api_get_symbol},
    {.method = "DELETE",
     .pattern = "/v1/symbols/{uuid}",
     .scopes = SCOPE_ADMIN,
     .writes = true,
     .query = "",
     .handle = api_delete_symbol},
    {.method = "GET",
     .pattern = "/v1/symbols/{uuid}/file",
     .scopes = SCOPE_SYMBOLS,
     .query = "",
     .read = api_get_symbol_file},
    {.method = "POST",
     .pattern = "/v1/symbolicate",
     .scopes = SCOPE_READ,
     .body = BODY_BUFFERED,
     .query = "callers",
     .read = api_symbolicate},
    {.method = "GET",
     .pattern = "/v1/clusters",
     .scopes = SCOPE_READ,
     .query = QUERY_FILTERS " sort q include_hidden limit cursor",
     .read = api_get_clusters},
    {.method = "GET",
     .pattern = "/v1/clusters/rules",
     .scopes = SCOPE_READ,
     .query = "bundle_id undone limit cursor",
     .read = api_get_cluster_rules},
    {.method = "DELETE",
     .pattern = "/v1/clusters/rules/{id}",
     .scopes = SCOPE_ADMIN,
     .writes = true,
     .query = "",
     .handle = api_delete_cluster_rule},
    {.method = "POST",
     .pattern = "/v1/clusters/merge",
     .scopes = SCOPE_ADMIN,
     .writes = true,
     .body = BODY_BUFFERED,
     .query = "",
     .handle = api_post_merge},
    {.method = "POST",
     .pattern = "/v1/clusters/{id}/split",
     .scopes = SCOPE_ADMIN,
     .writes = true,
     .body = BODY_BUFFERED,
     .query = "",
     .handle = api_post_split},
    {.method = "GET",
     .pattern = "/v1/clusters/{id}",
     .scopes = SCOPE_READ,
     .query = QUERY_FILTERS,
     .read = api_get_cluster},
    {.method = "PATCH",
     .pattern = "/v1/clusters/{id}",
     .scopes = SCOPE_ADMIN,
     .writes = true,
     .body = BODY_BUFFERED,
     .query = "",
     .handle = api_patch_cluster},
    {.method = "GET",
     .pattern = "/v1/clusters/{id}/history",
     .scopes = SCOPE_READ,
     .query = "limit cursor",
     .read = api_get_cluster_history},
    {.method = "GET",
     .pattern = "/v1/clusters/{id}/reports",
     .scopes = SCOPE_READ,
     .query = QUERY_FILTERS " deadlock limit cursor",
     .read = api_get_cluster_reports},
    {.method = "GET",
     .pattern = "/v1/clusters/{id}/breakdown",
     .scopes = SCOPE_READ,
     .query = QUERY_FILTERS " by limit",
     .read = api_get_cluster_breakdown},
    {.method = "GET",
     .pattern = "/v1/breakdown",
     .scopes = SCOPE_READ,
     .query = QUERY_FILTERS " by limit",
     .read = api_get_breakdown},
    {.method = "GET",
     .pattern = "/v1/trends",
     .scopes = SCOPE_READ,
     .query = QUERY_FILTERS " by group groups cluster_id",
     .read = api_get_trends},
    {.method = "GET",
     .pattern = "/v1/compare",
     .scopes = SCOPE_READ,
     .query = "bundle_id version compare_version kind since until limit",
     .read = api_get_compare},
    {.method = "GET",
     .pattern = "/v1/flamegraph",
     .scopes = SCOPE_READ,
     .query = QUERY_FILTERS " cluster_id format weight compare_version",
     .read = api_get_flamegraph},
    {.method = "GET",
     .pattern = "/v1/stats",
     .scopes = SCOPE_READ,
     .query = "bundle_id",
     .read = api_get_stats},
    {.method = "GET",
     .pattern = "/v1/apps/{bundle_id}/config",
     .scopes = SCOPE_INGEST | SCOPE_READ,
     .query = "version build device os_version memory_mb client",
     .read = api_get_config},
    {.method = "PUT",
     .pattern = "/v1/apps/{bundle_id}/config",
     .scopes = SCOPE_ADMIN,
     .writes = true,
     .body = BODY_BUFFERED,
     .query = "",
     .handle = api_put_config},
    {.method = "GET",
     .pattern = "/v1/apps/{bundle_id}/config/rules",
     .scopes = SCOPE_READ,
     .query = "",
     .read = api_get_config_revision},
    {.method = "GET",
     .pattern = "/v1/apps/{bundle_id}/config/revisions",
     .scopes = SCOPE_READ,
     .query = "",
     .read = api_get_config_revisions},
    {.method = "GET",
     .pattern = "/v1/apps/{bundle_id}/config/revisions/{revision}",
     .scopes = SCOPE_READ,
     .query = "",
     .read = api_get_config_revision},
    {.method = "POST",
     .pattern = "/v1/apps/{bundle_id}/config/rollback",
     .scopes = SCOPE_ADMIN,
     .writes = true,
     .body = BODY_BUFFERED,
     .query = "",
     .handle = api_post_config_rollback},
    {.method = "GET",
     .pattern = "/v1/admin/recluster",
     .scopes = SCOPE_ADMIN,
     .query = "bundle_id",
     .read = api_get_recluster},
    {.method = "POST",
     .pattern = "/v1/admin/recluster",
     .scopes = SCOPE_ADMIN,
     .writes = true,
     .query = "bundle_id",
     .handle = api_post_recluster},
    {.method = "GET",
     .pattern = "/v1/alerts",
     .scopes = SCOPE_READ,
     .unbound = true,
     .query = "",
     .read = api_get_alerts},
    {.method = "PUT",
     .pattern = "/v1/alerts",
     .scopes = SCOPE_ADMIN,
     .unbound = true,
     .writes = true,
     .body = BODY_BUFFERED,
     .query = "",
     .handle = api_put_alerts},
    {.method = "POST",
     .pattern = "/v1/alerts/test",
     .scopes = SCOPE_ADMIN,
     .unbound = true,
     .writes = true,
     .body = BODY_BUFFERED,
     .query = "",
     .handle = api_post_alerts_test},
    {.method = "GET",
     .pattern = "/v1/alerts/deliveries",
     .scopes = SCOPE_READ,
     .query = "state bundle_id alert_id limit cursor",
     .read = api_get_deliveries},
    {.method = "GET",
     .pattern = "/v1/admin/tokens",
     .scopes = SCOPE_ADMIN,
     .unbound = true,
     .query = "",
     .read = api_get_tokens},
    {.method = "POST",
     .pattern = "/v1/admin/tokens",
     .scopes = SCOPE_ADMIN,
     .unbound = true,
     .writes = true,
     .body = BODY_BUFFERED,
     .query = "",
     .handle = api_post_tokens},
    {.method = "DELETE",
     .pattern = "/v1/admin/tokens/{id}",
     .scopes = SCOPE_ADMIN,
     .unbound = true,
     .writes = true,
     .query = "",
     .handle = api_delete_token},
};
const size_t ROUTE_COUNT = sizeof(ROUTES) / sizeof(ROUTES[0]);

/* Whether the pattern matches; what stood in its braces goes to `params`. */
static bool matches(const char *pattern, const struct query *q, const char *params[])
{
    size_t segment = 0, param = 0;
    for (const char *p = pattern; *p; segment++) {
        p++; /* the slash */
        size_t len = strcspn(p, "/");
        if (segment == q->segment_count)
            return false;
        const char *given = q->segments[segment];
        if (*p == '{') {
            if (!*given || param == ROUTE_PARAMS_MAX)
                return false;
            params[param++] = given;
        } else if (strlen(given) != len || memcmp(given, p, len) != 0) {
            return false;
        }
        p += len;
    }
    return segment == q->segment_count;
}

/* The first pattern that matches names the resource, so that /v1/symbols/check is no UUID. */
static bool is_of(const struct route *route, const struct query *q, const char *params[],
                  const char **pattern)
{
    if ((*pattern && strcmp(route->pattern, *pattern) != 0) || !matches(route->pattern, q, params))
        return false;
    *pattern = route->pattern;
    return true;
}

enum err route_find(const char *method, const struct query *query, const struct route **ret,
                    const char *ret_params[ROUTE_PARAMS_MAX])
{
    const char *pattern = NULL;
    for (size_t i = 0; i < ROUTE_COUNT; i++) {
        const char *params[ROUTE_PARAMS_MAX] = {NULL};
        if (!is_of(&ROUTES[i], query, params, &pattern) || strcmp(ROUTES[i].method, method) != 0)
            continue;
        memcpy(ret_params, params, sizeof(params));
        *ret = &ROUTES[i];
        return ERR_OK;
    }
    return pattern ? ERR_UNSUPPORTED : ERR_NOT_FOUND;
}

bool route_allow(const struct query *query, struct buf *out)
{
    bool any = false;
    const char *pattern = NULL;
    for (size_t i = 0; i < ROUTE_COUNT; i++) {
        const char *params[ROUTE_PARAMS_MAX];
        if (!is_of(&ROUTES[i], query, params, &pattern))
            continue;
        buf_printf(out, "%s%s", any ? ", " : "", ROUTES[i].method);
        if (strcmp(ROUTES[i].method, "GET") == 0)
            buf_puts(out, ", HEAD");
        any = true;
    }
    if (any)
        buf_puts(out, ", OPTIONS");
    return any;
}
