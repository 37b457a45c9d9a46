/* fuzz_query - any request target: parsed, its parameters read in every way, its route looked for. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "server/http/client_addr.h"
#include "server/http/media_type.h"
#include "server/http/routes.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_text(const char *text)
{
    if (!utf8_valid(text, strlen(text)))
        abort();
}

static void read_all(const struct query *q)
{
    struct read_filter filter;
    struct error err;
    const char *cursor, *params[ROUTE_PARAMS_MAX];
    const struct route *route;
    struct buf allow;
    size_t limit;
    for (size_t i = 0; i < q->segment_count; i++)
        check_text(q->segments[i]);
    for (size_t i = 0; i < q->param_count; i++) {
        int64_t v;
        bool b;
        const char *name = q->params[i].name;
        check_text(name);
        check_text(q->params[i].value);
        if (query_int(q, name, -5, 5, &v, &err) == ERR_OK && *q->params[i].value &&
            (v < -5 || v > 5))
            abort();
        query_time(q, name, &v, &err);
        query_bool(q, name, &b, &err);
    }
    query_filter(q, &filter, &err);
    query_page(q, &limit, &cursor, &err);
    query_only(q, QUERY_FILTERS, &err);
    buf_init(&allow, 256);
    enum err rc = route_find("GET", q, &route, params);
    if (route_allow(q, &allow) != (rc != ERR_NOT_FOUND))
        abort();
    buf_done(&allow);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1), value[64];
    struct arena arena;
    struct query q;
    struct error err;
    struct client_addr addr;
    struct proxy_list *proxies = NULL;
    if (!text)
        return 0;
    memcpy(text, data, size);
    text[size] = 0;
    arena_init(&arena, 1 << 20);
    if (query_parse(text, &arena, &q, &err) == ERR_OK)
        read_all(&q);
    arena_done(&arena);
    media_type_is(text, "application/json");
    media_type_param(text, "boundary", value, sizeof(value));
    client_addr_parse(text, size, &addr);
    if (proxy_list_new(text, &proxies, &err) == ERR_OK) {
        memset(&addr, 0, sizeof(addr));
        client_addr_find(proxies, &addr, text);
        proxy_list_free(proxies);
    }
    free(text);
    return 0;
}
