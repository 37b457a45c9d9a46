/*
 * fuzz_query - any bytes are the target of a request.
 *
 * What must hold: decoded texts are UTF-8, a name stands once, whatever is asked of a parameter
 * answers or says why not, and a path has methods exactly when it has a route.
 */
#include "base/utf8.h"
#include "server/http/query.h"
#include "server/http/routes.h"
#include "tests/fuzz/fuzz.h"

static void check_error(enum err rc, const struct error *err)
{
    REQUIRE(rc == ERR_OK ||
            ((rc == ERR_INVALID || rc == ERR_LIMIT) && err->code == rc && err->text[0]));
}

static void ask(const struct query *q, const char *name)
{
    static const char *const words[] = {"count", "stall_ms", "last_seen"};
    struct error err = {.code = ERR_OK};
    int64_t number = 7;
    bool flag = false;
    size_t word = 99;
    check_error(query_int(q, name, -5, 500, &number, &err), &err);
    REQUIRE(number >= -5 && number <= 500);
    check_error(query_bool(q, name, &flag, &err), &err);
    check_error(query_word(q, name, words, 3, &word, &err), &err);
    REQUIRE(word == 99 || word < 3);
    check_error(query_time(q, name, &number, &err), &err);
}

static void find_route(const struct query *q)
{
    const char *params[ROUTE_PARAMS_MAX];
    const struct route *route = NULL;
    struct buf allow;
    buf_init(&allow, 256);
    enum err rc = route_find("GET", q, &route, params);
    REQUIRE((rc == ERR_OK) == (route != NULL));
    REQUIRE(route_allow(q, &allow) == (rc != ERR_NOT_FOUND));
    buf_done(&allow);
}

static void check(const struct query *q)
{
    struct error err = {.code = ERR_OK};
    struct read_filter filter;
    const char *cursor = NULL;
    size_t limit = 0;
    REQUIRE(q->segment_count <= QUERY_SEGMENTS_MAX && q->param_count <= QUERY_PARAMS_MAX);
    for (size_t i = 0; i < q->segment_count; i++)
        REQUIRE(utf8_valid(q->segments[i], strlen(q->segments[i])));
    for (size_t i = 0; i < q->param_count; i++) {
        const struct query_param *p = &q->params[i];
        REQUIRE(utf8_valid(p->name, strlen(p->name)) && utf8_valid(p->value, strlen(p->value)));
        REQUIRE(query_get(q, p->name) == p->value);
        ask(q, p->name);
    }
    check_error(query_only(q, QUERY_FILTERS, &err), &err);
    enum err rc = query_page(q, &limit, &cursor, &err);
    check_error(rc, &err);
    REQUIRE(rc != ERR_OK || (limit >= 1 && limit <= READ_LIMIT_MAX));
    check_error(query_filter(q, &filter, &err), &err);
    find_route(q);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena arena;
    struct query q;
    struct error err = {.code = ERR_OK};
    char *target = malloc(size + 1);
    REQUIRE(target);
    if (size)
        memcpy(target, data, size);
    target[size] = 0;
    arena_init(&arena, (size_t)1 << 20);
    enum err rc = query_parse(target, &arena, &q, &err);
    check_error(rc, &err);
    if (rc == ERR_OK)
        check(&q);
    arena_done(&arena);
    free(target);
    return 0;
}
