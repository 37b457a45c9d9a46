#include "server/http/routes.h"

#include <jansson.h>
#include <string.h>
#include <strings.h>

#include "server/http/asset.h"
#include "storage/write_op.h"
#include "tests/support/unit.h"

static struct arena arena;
static struct error err;

static enum err find(const char *method, const char *target, const struct route **ret,
                     const char *params[ROUTE_PARAMS_MAX])
{
    struct query q;
    arena_done(&arena);
    arena_init(&arena, 65536);
    ck_assert_int_eq(query_parse(target, &arena, &q, &err), ERR_OK);
    return route_find(method, &q, ret, params);
}

/* The table of scopes, written down a second time: a change here is a change of the contract. */
static const struct {
    const char *method;
    const char *target;
    const char *pattern;
    uint32_t scopes;
} TABLE[] = {
    {"GET", "/healthz", "/healthz", 0},
    {"GET", "/readyz", "/readyz", 0},
    {"GET", "/openapi.json", "/openapi.json", 0},
    {"GET", "/upload.sh", "/upload.sh", 0},
    {"GET", "/metrics", "/metrics", SCOPE_READ},
    {"POST", "/v1/reports", "/v1/reports", SCOPE_INGEST},
    {"POST", "/v1/usage", "/v1/usage", SCOPE_INGEST},
    {"GET", "/v1/apps", "/v1/apps", SCOPE_READ},
    {"GET", "/v1/reports/a%2Fb", "/v1/reports/{id}", SCOPE_READ},
    {"POST", "/v1/symbols", "/v1/symbols", SCOPE_SYMBOLS},
    {"GET", "/v1/symbols", "/v1/symbols", SCOPE_SYMBOLS},
    {"POST", "/v1/symbols/check", "/v1/symbols/check", SCOPE_SYMBOLS},
    {"GET", "/v1/symbols/missing", "/v1/symbols/missing", SCOPE_SYMBOLS | SCOPE_READ},
    {"GET", "/v1/symbols/uploads/7", "/v1/symbols/uploads/{id}", SCOPE_SYMBOLS},
    {"GET", "/v1/symbols/protected", "/v1/symbols/protected", SCOPE_SYMBOLS},
    {"PUT", "/v1/symbols/protected", "/v1/symbols/protected", SCOPE_ADMIN},
    {"DELETE", "/v1/symbols/protected", "/v1/symbols/protected", SCOPE_ADMIN},
    {"PUT", "/v1/symbols/x/stand-in", "/v1/symbols/{uuid}/stand-in", SCOPE_ADMIN},
    {"DELETE", "/v1/symbols/x/stand-in", "/v1/symbols/{uuid}/stand-in", SCOPE_ADMIN},
    {"POST", "/v1/symbols/uploads", "/v1/symbols/uploads", SCOPE_SYMBOLS},
    {"PUT", "/v1/symbols/uploads/7", "/v1/symbols/uploads/{id}", SCOPE_SYMBOLS},
    {"DELETE", "/v1/symbols/uploads/7", "/v1/symbols/uploads/{id}", SCOPE_SYMBOLS},
    {"GET", "/v1/symbols/x", "/v1/symbols/{uuid}", SCOPE_SYMBOLS},
    {"DELETE", "/v1/symbols/x", "/v1/symbols/{uuid}", SCOPE_ADMIN},
    {"GET", "/v1/symbols/x/file", "/v1/symbols/{uuid}/file", SCOPE_SYMBOLS},
    {"POST", "/v1/symbolicate", "/v1/symbolicate", SCOPE_READ},
    {"GET", "/v1/clusters", "/v1/clusters", SCOPE_READ},
    {"GET", "/v1/clusters/rules", "/v1/clusters/rules", SCOPE_READ},
    {"DELETE", "/v1/clusters/rules/7", "/v1/clusters/rules/{id}", SCOPE_ADMIN},
    {"POST", "/v1/clusters/merge", "/v1/clusters/merge", SCOPE_ADMIN},
    {"POST", "/v1/clusters/7/split", "/v1/clusters/{id}/split", SCOPE_ADMIN},
    {"GET", "/v1/clusters/7", "/v1/clusters/{id}", SCOPE_READ},
    {"PATCH", "/v1/clusters/7", "/v1/clusters/{id}", SCOPE_ADMIN},
    {"GET", "/v1/clusters/7/history", "/v1/clusters/{id}/history", SCOPE_READ},
    {"GET", "/v1/clusters/7/reports", "/v1/clusters/{id}/reports", SCOPE_READ},
    {"GET", "/v1/clusters/7/breakdown", "/v1/clusters/{id}/breakdown", SCOPE_READ},
    {"GET", "/v1/breakdown", "/v1/breakdown", SCOPE_READ},
    {"GET", "/v1/trends", "/v1/trends", SCOPE_READ},
    {"GET", "/v1/compare", "/v1/compare", SCOPE_READ},
    {"GET", "/v1/flamegraph", "/v1/flamegraph", SCOPE_READ},
    {"GET", "/v1/stats", "/v1/stats", SCOPE_READ},
    {"GET", "/v1/apps/a.b/quota", "/v1/apps/{bundle_id}/quota", SCOPE_READ},
    {"PUT", "/v1/apps/a.b/quota", "/v1/apps/{bundle_id}/quota", SCOPE_ADMIN},
    {"DELETE", "/v1/apps/a.b/quota", "/v1/apps/{bundle_id}/quota", SCOPE_ADMIN},
    {"GET", "/v1/apps/a.b/config", "/v1/apps/{bundle_id}/config", SCOPE_INGEST | SCOPE_READ},
    {"PUT", "/v1/apps/a.b/config", "/v1/apps/{bundle_id}/config", SCOPE_ADMIN},
    {"GET", "/v1/apps/a.b/config/rules", "/v1/apps/{bundle_id}/config/rules", SCOPE_READ},
    {"GET", "/v1/apps/a.b/config/revisions", "/v1/apps/{bundle_id}/config/revisions", SCOPE_READ},
    {"GET", "/v1/apps/a.b/config/revisions/7", "/v1/apps/{bundle_id}/config/revisions/{revision}",
     SCOPE_READ},
    {"POST", "/v1/apps/a.b/config/rollback", "/v1/apps/{bundle_id}/config/rollback", SCOPE_ADMIN},
    {"GET", "/v1/admin/recluster", "/v1/admin/recluster", SCOPE_ADMIN},
    {"POST", "/v1/admin/recluster", "/v1/admin/recluster", SCOPE_ADMIN},
    {"GET", "/v1/alerts", "/v1/alerts", SCOPE_READ},
    {"PUT", "/v1/alerts", "/v1/alerts", SCOPE_ADMIN},
    {"POST", "/v1/alerts/test", "/v1/alerts/test", SCOPE_ADMIN},
    {"GET", "/v1/alerts/deliveries", "/v1/alerts/deliveries", SCOPE_READ},
    {"GET", "/v1/admin/backups", "/v1/admin/backups", SCOPE_ADMIN},
    {"POST", "/v1/admin/backup", "/v1/admin/backup", SCOPE_ADMIN},
    {"GET", "/v1/admin/tokens", "/v1/admin/tokens", SCOPE_ADMIN},
    {"POST", "/v1/admin/tokens", "/v1/admin/tokens", SCOPE_ADMIN},
    {"DELETE", "/v1/admin/tokens/7", "/v1/admin/tokens/{id}", SCOPE_ADMIN},
};
#define TABLE_COUNT (sizeof(TABLE) / sizeof(TABLE[0]))

START_TEST(every_route_with_its_scope)
{
    ck_assert_uint_eq(ROUTE_COUNT, TABLE_COUNT);
    for (size_t i = 0; i < TABLE_COUNT; i++) {
        const struct route *route = NULL;
        const char *params[ROUTE_PARAMS_MAX];
        ck_assert_msg(find(TABLE[i].method, TABLE[i].target, &route, params) == ERR_OK, "%s %s",
                      TABLE[i].method, TABLE[i].target);
        ck_assert_str_eq(route->pattern, TABLE[i].pattern);
        ck_assert_msg(route->scopes == TABLE[i].scopes, "%s %s", TABLE[i].method, TABLE[i].target);
    }
}
END_TEST

START_TEST(rows_are_whole)
{
    for (size_t i = 0; i < ROUTE_COUNT; i++) {
        const struct route *r = &ROUTES[i];
        ck_assert_msg((r->handle != NULL) != (r->read != NULL), "%s", r->pattern);
        ck_assert_msg((r->body == BODY_STREAMED) == (r->stream != NULL), "%s", r->pattern);
        /* Nothing changes without a token, and what changes anything needs more than read. */
        if (strcmp(r->method, "GET") != 0)
            ck_assert_msg(r->scopes != 0, "%s", r->pattern);
        if (r->writes)
            ck_assert_msg(!(r->scopes & SCOPE_READ), "%s", r->pattern);
        if (strcmp(r->pattern, "/v1/symbols/uploads/{id}") == 0)
            continue; /* DELETE gives up one in pieces, too; of a whole one the handler asks for more */
        if (strcmp(r->method, "DELETE") == 0 || strncmp(r->pattern, "/v1/admin/", 10) == 0)
            ck_assert_msg(r->scopes == SCOPE_ADMIN, "%s", r->pattern);
    }
}
END_TEST

START_TEST(what_is_not_there)
{
    static const char *const unknown[] = {"/",
                                          "//",
                                          "/v1",
                                          "/v1/",
                                          "/v1/reports/",
                                          "/v1/clusters/7/",
                                          "/v2/reports",
                                          "/V1/reports",
                                          "/v1/reports/a/b",
                                          "/healthz/x",
                                          "/..%2fhealthz",
                                          "/v1/%2Freports"};
    const struct route *route = NULL;
    const char *params[ROUTE_PARAMS_MAX];
    for (size_t i = 0; i < sizeof(unknown) / sizeof(unknown[0]); i++)
        ck_assert_msg(find("GET", unknown[i], &route, params) == ERR_NOT_FOUND, "%s", unknown[i]);
    ck_assert_ptr_null(route);
    ck_assert_int_eq(find("PUT", "/v1/reports", &route, params), ERR_UNSUPPORTED);
    ck_assert_int_eq(find("BREW", "/healthz", &route, params), ERR_UNSUPPORTED);
    ck_assert_int_eq(find("GET", "/v1/symbols/check", &route, params), ERR_UNSUPPORTED);
    ck_assert_int_eq(find("DELETE", "/v1/symbols/missing", &route, params), ERR_UNSUPPORTED);
}
END_TEST

START_TEST(parameters_come_decoded)
{
    const struct route *route = NULL;
    const char *params[ROUTE_PARAMS_MAX];
    ck_assert_int_eq(find("GET", "/v1/reports/a%2Fb%20%C3%A9", &route, params), ERR_OK);
    ck_assert_str_eq(params[0], "a/b \xc3\xa9");
}
END_TEST

static void allow(const char *target, const char *expected)
{
    struct query q;
    struct buf out;
    arena_done(&arena);
    arena_init(&arena, 65536);
    buf_init(&out, 256);
    ck_assert_int_eq(query_parse(target, &arena, &q, &err), ERR_OK);
    ck_assert_int_eq(route_allow(&q, &out), expected != NULL);
    if (expected)
        ck_assert_str_eq(out.data, expected);
    buf_done(&out);
}

START_TEST(allow_names_the_methods)
{
    allow("/v1/reports", "POST, OPTIONS");
    allow("/v1/symbols", "POST, GET, HEAD, OPTIONS");
    allow("/v1/symbols/check", "POST, OPTIONS");
    allow("/v1/symbols/x", "GET, HEAD, DELETE, OPTIONS");
    allow("/nope", NULL);
}
END_TEST

/* --- against openapi.json --------------------------------------------------------------------- */

static json_t *description(void)
{
    const struct asset *a = asset_find("/openapi.json");
    json_error_t e;
    ck_assert_ptr_nonnull(a);
    json_t *root = json_loadb(a->data, a->len, JSON_REJECT_DUPLICATES, &e);
    ck_assert_msg(root != NULL, "%s", e.text);
    return root;
}

static json_t *deref(json_t *root, json_t *o)
{
    const char *ref = json_string_value(json_object_get(o, "$ref"));
    if (!ref)
        return o;
    ck_assert_msg(strncmp(ref, "#/", 2) == 0, "%s", ref);
    json_t *at = root;
    char copy[256];
    snprintf(copy, sizeof(copy), "%s", ref + 2);
    for (char *p = copy, *next; p; p = next) {
        next = strchr(p, '/');
        if (next)
            *next++ = 0;
        at = json_object_get(at, p);
    }
    ck_assert_msg(at != NULL, "%s leads nowhere", ref);
    return at;
}

static const struct route *route_of(const char *method, const char *pattern)
{
    for (size_t i = 0; i < ROUTE_COUNT; i++) {
        if (strcasecmp(ROUTES[i].method, method) == 0 && strcmp(ROUTES[i].pattern, pattern) == 0)
            return &ROUTES[i];
    }
    return NULL;
}

static uint32_t described_scopes(json_t *operation)
{
    static const struct {
        const char *name;
        uint32_t bit;
    } scopes[] = {{"ingest", SCOPE_INGEST},
                  {"symbols", SCOPE_SYMBOLS},
                  {"read", SCOPE_READ},
                  {"admin", SCOPE_ADMIN}};
    json_t *array = json_object_get(operation, "x-scopes");
    uint32_t bits = 0;
    ck_assert(json_is_array(array));
    for (size_t i = 0; i < json_array_size(array); i++) {
        for (size_t k = 0; k < 4; k++) {
            if (strcmp(json_string_value(json_array_get(array, i)), scopes[k].name) == 0)
                bits |= scopes[k].bit;
        }
    }
    return bits;
}

/* Parameters in the query and in the path, both ways. */
static void compare_parameters(json_t *root, json_t *operation, const struct route *route)
{
    json_t *array = json_object_get(operation, "parameters");
    size_t in_query = 0, in_path = 0, expected_query = 0, expected_path = 0;
    for (size_t i = 0; i < json_array_size(array); i++) {
        json_t *p = deref(root, json_array_get(array, i));
        const char *name = json_string_value(json_object_get(p, "name"));
        const char *in = json_string_value(json_object_get(p, "in"));
        char braced[64];
        if (strcmp(in, "path") == 0) {
            snprintf(braced, sizeof(braced), "{%s}", name);
            ck_assert_msg(strstr(route->pattern, braced) != NULL, "%s: %s", route->pattern, name);
            in_path++;
            continue;
        }
        in_query++;
        struct query q = {.params = {{name, ""}}, .param_count = 1};
        ck_assert_msg(query_only(&q, route->query ? route->query : "", &err) == ERR_OK, "%s: %s",
                      route->pattern, err.text);
    }
    for (const char *p = route->query ? route->query : ""; *p;) {
        expected_query++;
        p += strcspn(p, " ");
        p += strspn(p, " ");
    }
    for (const char *p = route->pattern; (p = strchr(p, '{')); p++)
        expected_path++;
    ck_assert_msg(in_query == expected_query, "%s %s: %zu parameters described, %zu read",
                  route->method, route->pattern, in_query, expected_query);
    ck_assert_msg(in_path == expected_path, "%s", route->pattern);
}

static void compare_operation(json_t *root, const char *method, const char *path, json_t *operation)
{
    const struct route *route = route_of(method, path);
    ck_assert_msg(route != NULL, "described, but not routed: %s %s", method, path);
    ck_assert_msg(described_scopes(operation) == route->scopes, "scopes of %s %s", method, path);
    ck_assert_msg((json_object_get(operation, "requestBody") != NULL) == (route->body != BODY_NONE),
                  "body of %s %s", method, path);
    ck_assert_ptr_nonnull(json_object_get(operation, "operationId"));
    ck_assert_ptr_nonnull(json_object_get(operation, "summary"));
    compare_parameters(root, operation, route);
    json_t *responses = json_object_get(operation, "responses");
    ck_assert_uint_gt(json_object_size(responses), 0);
    if (route->scopes) {
        ck_assert_msg(json_object_get(responses, "401") != NULL, "%s %s", method, path);
        ck_assert_msg(json_object_get(responses, "403") != NULL, "%s %s", method, path);
    }
    if (route->body != BODY_NONE)
        ck_assert_msg(json_object_get(responses, "413") != NULL, "%s %s", method, path);
}

START_TEST(every_described_operation_is_routed)
{
    json_t *root = description(), *item, *operation;
    const char *path, *method;
    size_t count = 0;
    json_object_foreach(json_object_get(root, "paths"), path, item)
    {
        json_object_foreach(item, method, operation)
        {
            compare_operation(root, method, path, operation);
            count++;
        }
    }
    ck_assert_uint_eq(count, ROUTE_COUNT);
    json_decref(root);
}
END_TEST

START_TEST(every_route_is_described)
{
    json_t *root = description();
    for (size_t i = 0; i < ROUTE_COUNT; i++) {
        char method[16];
        size_t n = 0;
        for (const char *p = ROUTES[i].method; *p; p++)
            method[n++] = (char)(*p | 0x20);
        method[n] = 0;
        json_t *item = json_object_get(json_object_get(root, "paths"), ROUTES[i].pattern);
        ck_assert_msg(json_object_get(item, method) != NULL, "not described: %s %s",
                      ROUTES[i].method, ROUTES[i].pattern);
    }
    json_decref(root);
}
END_TEST

static void check_refs(json_t *root, json_t *at)
{
    const char *key;
    json_t *value;
    size_t i;
    if (json_is_object(at)) {
        deref(root, at);
        json_object_foreach(at, key, value) check_refs(root, value);
    }
    json_array_foreach(at, i, value) check_refs(root, value);
}

START_TEST(every_reference_leads_somewhere)
{
    json_t *root = description();
    check_refs(root, root);
    json_decref(root);
}
END_TEST

START_TEST(the_uploader_is_a_script)
{
    const struct asset *a = asset_find("/upload.sh");
    ck_assert_ptr_nonnull(a);
    ck_assert(a->len > 1000 && memcmp(a->data, "#!/bin/sh\n", 10) == 0);
    ck_assert_ptr_null(asset_find("/etc/passwd"));
}
END_TEST

UNIT_MAIN("routes", every_route_with_its_scope, rows_are_whole, what_is_not_there,
          parameters_come_decoded, allow_names_the_methods, every_described_operation_is_routed,
          every_route_is_described, every_reference_leads_somewhere, the_uploader_is_a_script)
