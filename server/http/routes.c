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
    {.method = "POST",
     .pattern = "/v1/reports",
     .scopes = SCOPE_INGEST,
     .writes = true,
     .body = BODY_BUFFERED,
     .handle = api_post_reports},
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

enum err route_find(const char *method, const struct query *query, const struct route **ret,
                    const char *ret_params[ROUTE_PARAMS_MAX])
{
    enum err rc = ERR_NOT_FOUND;
    for (size_t i = 0; i < ROUTE_COUNT; i++) {
        const char *params[ROUTE_PARAMS_MAX] = {NULL};
        if (!matches(ROUTES[i].pattern, query, params))
            continue;
        rc = ERR_UNSUPPORTED;
        if (strcmp(ROUTES[i].method, method) != 0)
            continue;
        memcpy(ret_params, params, sizeof(params));
        *ret = &ROUTES[i];
        return ERR_OK;
    }
    return rc;
}

bool route_allow(const struct query *query, struct buf *out)
{
    bool any = false;
    for (size_t i = 0; i < ROUTE_COUNT; i++) {
        const char *params[ROUTE_PARAMS_MAX];
        if (!matches(ROUTES[i].pattern, query, params))
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
