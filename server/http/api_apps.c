/* Which apps there are. */
#include "base/clock.h"
#include "server/http/api.h"
#include "server/http/api_common.h"
#include "storage/read_apps.h"

#define DAYS     7
#define DAYS_MAX 3650

enum err api_get_apps(struct http_request *r, const struct read_tools *tools, struct error *err)
{
    const char *bundle_id = NULL, *cursor = NULL, *next = NULL;
    struct app_row *rows = NULL;
    size_t count = 0, limit = 0;
    int64_t days = DAYS;
    struct jout j;
    enum err rc = query_page(&r->query, &limit, &cursor, err);
    if (rc == ERR_OK)
        rc = query_int(&r->query, "days", 1, DAYS_MAX, &days, err);
    if (rc == ERR_OK)
        rc = api_bundle(r, &bundle_id, err);
    if (rc == ERR_OK)
        rc = read_apps(tools->storage, bundle_id, clock_day(r->now_ms) - (int32_t)days + 1, limit,
                       cursor, tools->arena, &rows, &count, &next, err);
    if (rc != ERR_OK)
        return rc;
    api_items_begin(r, &j);
    for (size_t i = 0; i < count; i++) {
        jout_object(&j, NULL);
        jout_string(&j, "bundle_id", rows[i].bundle_id);
        jout_uint(&j, "reports", rows[i].reports);
        jout_uint(&j, "recent_reports", rows[i].recent);
        jout_time(&j, "first_seen", rows[i].first_seen_ms);
        jout_time(&j, "last_seen", rows[i].last_seen_ms);
        jout_end_object(&j);
    }
    api_items_end(&j, next);
    return ERR_OK;
}
