#include "server/http/api.h"

#include "server/http/jout.h"
#include "server/http/problem.h"

#define READY_FREE_BYTES ((uint64_t)32 << 20) /* less room on the disk than this is not ready */

void api_healthz(struct http_request *r)
{
    buf_puts(http_reply(r, 200, TYPE_JSON), "{\"status\":\"ok\"}");
}

/* Reports are taken: what else is wrong is told beside. */
static void print_ready(struct http_request *r)
{
    static const struct {
        enum metric_id gauge;
        const char *words;
    } troubles[] = {
        {METRIC_DATABASE_DAMAGED, "the database is damaged"},
        {METRIC_DATABASE_UNREADABLE, "parts of the database cannot be read"},
        {METRIC_CHECKPOINT_FAILING, "the database file cannot be written, only its log can"},
        {METRIC_COMMITS_SLOW, "the disk is slow: commits take seconds"},
        {METRIC_SPOOL_FAILING, "uploads cannot be written"},
        {METRIC_INDEXES_FULL, "the index files have reached their cap: symbol uploads are refused"},
        {METRIC_STORE_FAILING, "the symbol store cannot be written, or nothing can be indexed"},
    };
    struct jout j;
    jout_init(&j, http_reply(r, 200, TYPE_JSON));
    jout_object(&j, NULL);
    jout_string(&j, "status", "ready");
    jout_bool(&j, "recluster_due", epochs_outdated(r->services->epochs));
    jout_array(&j, "problems");
    for (size_t i = 0; i < sizeof(troubles) / sizeof(troubles[0]); i++) {
        if (metrics_get(r->services->metrics, troubles[i].gauge))
            jout_string(&j, NULL, troubles[i].words);
    }
    jout_end_array(&j);
    jout_end_object(&j);
}

void api_readyz(struct http_request *r)
{
    char problem[256] = "";
    writer_problem(r->services->writer, problem, sizeof(problem));
    if (atomic_load(&r->door->quiesced))
        http_problem(r, 503, "shutting down");
    else if (*problem)
        http_problem(r, 503, "the last commit failed; the server's log has the reason");
    else if (writer_is_busy(r->services->writer))
        http_problem(r, 503, "more work than can be taken");
    else if (blob_store_free_bytes(r->services->blobs) < READY_FREE_BYTES)
        http_problem(r, 503, "the disk is almost full");
    else
        print_ready(r);
}

void api_metrics(struct http_request *r)
{
    struct buf *out = http_reply(r, 200, "text/plain; version=0.0.4; charset=utf-8");
    metrics_print(r->services->metrics, out);
}
