#include "server/http/api.h"

#include <math.h>

#include "base/clock.h"
#include "server/http/api_common.h"
#include "storage/read_quota.h"

#define SYMBOLICATION_ROWS 100

static enum err print_symbolication(const struct read_tools *tools, struct jout *j,
                                    const char *bundle_id, const char *by, struct error *err)
{
    struct symbolication_row *rows = NULL;
    size_t count = 0;
    enum err rc = read_symbolication(tools->storage, bundle_id, by, SYMBOLICATION_ROWS,
                                     tools->arena, &rows, &count, err);
    jout_array(j, by);
    for (size_t i = 0; rc == ERR_OK && i < count; i++) {
        jout_object(j, NULL);
        jout_string(j, "key", rows[i].key);
        jout_uint(j, "frames", rows[i].frames);
        jout_uint(j, "resolved", rows[i].resolved);
        jout_double(j, "rate",
                    rows[i].frames ? (double)rows[i].resolved / (double)rows[i].frames
                                   : (double)NAN);
        jout_end_object(j);
    }
    jout_end_array(j);
    return rc;
}

enum err api_get_stats(struct http_request *r, const struct read_tools *tools, struct error *err)
{
    static const char *const by[] = {"app", "version", "image"};
    const char *bundle_id = NULL;
    struct stats_row s;
    struct object_totals objects;
    struct new_stacks_row new_stacks;
    struct jout j;
    enum err rc = api_bundle(r, &bundle_id, err);
    if (rc == ERR_OK)
        rc = read_object_totals(tools->storage, &objects, err);
    if (rc == ERR_OK)
        rc = read_stats(tools->storage, bundle_id, &s, err);
    if (rc == ERR_OK)
        rc = read_new_stacks(tools->storage, bundle_id, clock_day(r->now_ms), &new_stacks, err);
    if (rc != ERR_OK)
        return rc;
    jout_init(&j, http_reply(r, 200, TYPE_JSON));
    jout_object(&j, NULL);
    jout_uint(&j, "apps", s.apps);
    jout_uint(&j, "reports", s.reports);
    jout_uint(&j, "stacks", s.stacks);
    jout_uint(&j, "new_stacks_today", new_stacks.added);
    jout_uint(&j, "reports_above_daily_stacks_today", new_stacks.dropped);
    jout_uint(&j, "pending_stacks", s.pending_stacks);
    jout_uint(&j, "pending_findings", s.pending_findings);
    jout_uint(&j, "provisional_stacks", s.provisional_stacks);
    jout_uint(&j, "clusters", s.clusters);
    jout_uint(&j, "symbol_files", s.symbol_files);
    jout_uint(&j, "uploads_waiting", s.uploads_waiting);
    jout_uint(&j, "database_bytes", s.database_bytes);
    jout_uint(&j, "database_used_bytes", s.database_used_bytes);
    jout_uint(&j, "reports_dropped_for_space",
              (uint64_t)metrics_get(r->services->metrics, METRIC_REPORTS_DROPPED));
    jout_uint(&j, "wal_bytes", s.wal_bytes);
    jout_uint(&j, "index_bytes", objects.index_bytes);
    jout_uint(&j, "object_files", objects.files);
    jout_uint(&j, "object_bytes", objects.bytes);
    jout_uint(&j, "system_object_files", objects.system_files);
    jout_uint(&j, "system_object_bytes", objects.system_bytes);
    jout_double(&j, "symbolication_rate", s.symbolication_rate);
    jout_object(&j, "symbolication");
    for (size_t i = 0; rc == ERR_OK && i < sizeof(by) / sizeof(by[0]); i++)
        rc = print_symbolication(tools, &j, bundle_id, by[i], err);
    jout_end_object(&j);
    jout_end_object(&j);
    return rc;
}
