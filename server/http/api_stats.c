/*
 * What is cheap to tell is told as it is now. What has to be counted over all stacks is counted
 * anew while there are few of them; with KEPT_STACKS and more it is kept (stats_memo.h), and counted
 * again beside the requests. When the first count takes longer than COUNT_MS, the answer has null there,
 * and the next one what was counted meanwhile.
 */
#include "server/http/api.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "server/http/api_common.h"
#include "storage/read_quota.h"

#define SYMBOLICATION_ROWS 100
#define KEPT_STACKS        2000
#define COUNTED_BYTES      ((size_t)1 << 20)
#define COUNT_MS           1000
#define RECOUNT_MS         10000 /* nobody waits, but who stops the daemon: compose.yml for 15 s */

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
        if (rows[i].version) {
            jout_string(j, "bundle_id", rows[i].bundle_id);
            jout_text(j, "version", rows[i].version);
        }
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

/* Members of the answer, a comma before each, into an empty buffer; kept when there are many. */
static enum err count_stacks(const struct read_tools *tools, struct stats_memo *memo,
                             const char *bundle_id, struct buf *out, struct error *err)
{
    static const char *const by[] = {"app", "version", "image"};
    struct stack_totals t;
    struct jout j;
    const int64_t now_ms = clock_wall_ms(), mono_ms = clock_mono_ms();
    enum err rc = read_stack_totals(tools->storage, bundle_id, &t, err);
    if (rc != ERR_OK)
        return rc;
    jout_init(&j, out);
    j.comma = true;
    jout_uint(&j, "stacks", t.stacks);
    jout_uint(&j, "provisional_stacks", t.provisional_stacks);
    jout_double(&j, "symbolication_rate", t.symbolication_rate);
    jout_object(&j, "symbolication");
    for (size_t i = 0; rc == ERR_OK && i < sizeof(by) / sizeof(by[0]); i++)
        rc = print_symbolication(tools, &j, bundle_id, by[i], err);
    jout_end_object(&j);
    jout_time(&j, "counted_at", now_ms);
    if (rc == ERR_OK && out->failed)
        rc = error_set(err, ERR_NO_MEMORY, "no memory for an answer");
    if (rc == ERR_OK && t.stacks >= KEPT_STACKS)
        stats_memo_put(memo, bundle_id, mono_ms, out->data);
    else if (rc == ERR_OK)
        stats_memo_forget(memo, bundle_id, mono_ms);
    return rc;
}

/* --- beside the requests -------------------------------------------------------------------- */

struct recount {
    struct read_job job;
    struct stats_memo *memo;
    char *bundle_id; /* NULL: all */
};

static void recount_over(struct stats_memo *memo, struct recount *c)
{
    stats_memo_counted(memo);
    if (c)
        free(c->bundle_id);
    free(c);
}

static enum err recount_run(struct read_job *job, const struct read_tools *tools, struct error *err)
{
    const struct recount *c = job->user;
    struct buf out;
    buf_init(&out, COUNTED_BYTES);
    storage_reader_deadline(tools->storage, clock_mono_ms() + RECOUNT_MS);
    enum err rc = count_stacks(tools, c->memo, c->bundle_id, &out, err);
    buf_done(&out);
    return rc;
}

static void recount_done(struct read_job *job, enum err rc, const struct error *err)
{
    (void)rc, (void)err;
    recount_over(((struct recount *)job->user)->memo, job->user);
}

/* After STATS_DUE. When it does not come to it, one of the next requests asks again. */
static void recount(const struct services *s, const char *bundle_id)
{
    struct recount *c = calloc(1, sizeof(*c));
    if (c && bundle_id)
        c->bundle_id = strdup(bundle_id);
    if (!c || (bundle_id && !c->bundle_id)) {
        recount_over(s->stats, c);
        return;
    }
    c->memo = s->stats;
    c->job = (struct read_job){.run = recount_run, .done = recount_done, .user = c};
    if (readers_submit(s->readers, &c->job, NULL) != ERR_OK)
        recount_over(s->stats, c);
}

/* --- the answer ----------------------------------------------------------------------------- */

/* In time, or not now: *late. With `fresh` it has all the time that a request has. */
static enum err count_in_time(struct http_request *r, const struct read_tools *tools,
                              const char *bundle_id, bool fresh, struct buf *out, bool *late,
                              struct error *err)
{
    const int64_t end_ms = clock_mono_ms() + COUNT_MS;
    const bool bounded = !fresh && end_ms < tools->deadline_mono_ms;
    if (bounded)
        storage_reader_deadline(tools->storage, end_ms);
    enum err rc = count_stacks(tools, r->services->stats, bundle_id, out, err);
    *late = rc == ERR_LIMIT && bounded && clock_mono_ms() >= end_ms;
    return *late ? ERR_OK : rc;
}

/* What there is to tell meanwhile. */
static const char *count_beside(struct http_request *r, const struct read_tools *tools,
                                const char *bundle_id, int64_t began_ms)
{
    static const char NOT_YET[] = ",\"stacks\":null,\"provisional_stacks\":null,"
                                  "\"symbolication_rate\":null,\"symbolication\":null,"
                                  "\"counted_at\":null";
    struct stats_memo *memo = r->services->stats;
    const char *kept = NOT_YET;
    stats_memo_put(memo, bundle_id, began_ms - STATS_FRESH_MS, NOT_YET); /* due at once */
    if (stats_memo_get(memo, bundle_id, clock_mono_ms(), tools->arena, &kept) == STATS_DUE)
        recount(r->services, bundle_id);
    return kept;
}

static enum err print_counted(struct http_request *r, const struct read_tools *tools,
                              const char *bundle_id, bool fresh, struct buf *out, struct error *err)
{
    const char *kept = NULL;
    const enum stats_age age =
        fresh ? STATS_NONE
              : stats_memo_get(r->services->stats, bundle_id, clock_mono_ms(), tools->arena, &kept);
    if (age == STATS_DUE)
        recount(r->services, bundle_id);
    if (age != STATS_NONE) {
        buf_puts(out, kept);
        return ERR_OK;
    }
    const int64_t began_ms = clock_mono_ms();
    struct buf counted;
    bool late = false;
    buf_init(&counted, COUNTED_BYTES);
    enum err rc = count_in_time(r, tools, bundle_id, fresh, &counted, &late, err);
    if (rc == ERR_OK)
        buf_puts(out, late ? count_beside(r, tools, bundle_id, began_ms) : counted.data);
    buf_done(&counted);
    return rc;
}

static void print_figures(const struct http_request *r, struct jout *j, const struct stats_row *s,
                          const struct new_stacks_row *new_stacks,
                          const struct object_totals *objects, uint64_t kept_index_bytes)
{
    jout_uint(j, "apps", s->apps);
    jout_uint(j, "reports", s->reports);
    jout_uint(j, "new_stacks_today", new_stacks->added);
    jout_uint(j, "reports_above_daily_stacks_today", new_stacks->dropped);
    jout_uint(j, "reports_above_daily_pairs_today", new_stacks->pairs_dropped);
    jout_uint(j, "pending_stacks", s->pending_stacks);
    jout_uint(j, "pending_findings", s->pending_findings);
    jout_uint(j, "clusters", s->clusters);
    jout_uint(j, "symbol_files", s->symbol_files);
    jout_uint(j, "uploads_waiting", s->uploads_waiting);
    jout_uint(j, "database_bytes", s->database_bytes);
    jout_uint(j, "database_used_bytes", s->database_used_bytes);
    jout_uint(j, "reports_dropped_for_space",
              (uint64_t)metrics_get(r->services->metrics, METRIC_REPORTS_DROPPED));
    jout_uint(j, "wal_bytes", s->wal_bytes);
    jout_uint(j, "index_bytes", objects->index_bytes);
    jout_uint(j, "kept_index_bytes", kept_index_bytes);
    jout_uint(j, "kept_index_bytes_max",
              r->identity.bundle_id ? r->services->index_caps.app : r->services->index_caps.all);
    jout_uint(j, "object_files", objects->files);
    jout_uint(j, "object_bytes", objects->bytes);
    jout_uint(j, "system_object_files", objects->system_files);
    jout_uint(j, "system_object_bytes", objects->system_bytes);
}

enum err api_get_stats(struct http_request *r, const struct read_tools *tools, struct error *err)
{
    const char *bundle_id = NULL;
    bool fresh = false;
    struct stats_row s;
    struct object_totals objects;
    struct new_stacks_row new_stacks;
    uint64_t kept = 0;
    struct jout j;
    enum err rc = api_bundle(r, &bundle_id, err);
    if (rc == ERR_OK)
        rc = query_bool(&r->query, "fresh", &fresh, err);
    if (rc == ERR_OK)
        rc = read_object_totals(tools->storage, r->identity.bundle_id, &objects, err);
    if (rc == ERR_OK)
        rc = read_kept_index_bytes(tools->storage, r->identity.bundle_id, &kept, err);
    if (rc == ERR_OK)
        rc = read_stats(tools->storage, bundle_id, &s, err);
    if (rc == ERR_OK)
        rc = read_new_stacks(tools->storage, bundle_id, clock_day(r->now_ms), &new_stacks, err);
    if (rc != ERR_OK)
        return rc;
    jout_init(&j, http_reply(r, 200, TYPE_JSON));
    jout_object(&j, NULL);
    print_figures(r, &j, &s, &new_stacks, &objects, kept);
    rc = print_counted(r, tools, bundle_id, fresh, j.b, err);
    jout_end_object(&j);
    return rc;
}
