#include "server/http/api.h"

#include "server/http/problem.h"

#define READY_FREE_BYTES ((uint64_t)32 << 20) /* less room on the disk than this is not ready */

void api_healthz(struct http_request *r)
{
    buf_puts(http_reply(r, 200, TYPE_JSON), "{\"status\":\"ok\"}");
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
        buf_printf(http_reply(r, 200, TYPE_JSON), "{\"status\":\"ready\",\"recluster_due\":%s}",
                   epochs_outdated(r->services->epochs) ? "true" : "false");
}

void api_metrics(struct http_request *r)
{
    struct buf *out = http_reply(r, 200, "text/plain; version=0.0.4; charset=utf-8");
    metrics_print(r->services->metrics, out);
}
