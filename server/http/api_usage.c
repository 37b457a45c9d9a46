#include "server/http/api.h"

#include "server/http/api_ingest.h"
#include "server/http/problem.h"
#include "server/ingest/usage.h"

static void usage_written(struct http_request *r, struct write_op *op, enum err rc,
                          const struct error *err)
{
    uint32_t accepted = 0, duplicates = 0;
    if (rc != ERR_OK) {
        http_reply_failure(r, err);
        http_finish(r);
        return;
    }
    ingest_usage_count(op, &accepted, &duplicates);
    metrics_add(r->services->metrics, METRIC_USAGE_ITEMS, accepted);
    api_ingest_reply(r, accepted, duplicates);
}

void api_post_usage(struct http_request *r)
{
    struct error err;
    struct ingest_result result = {.op = NULL};
    struct ingest_request request = {
        .body = r->body.data ? r->body.data : "",
        .len = r->body.len,
        .bundle_id = r->identity.bundle_id,
        .now_ms = r->now_ms,
        .limits = r->services->ingest_limits,
        .admission = r->services->admission,
    };
    if (!api_ingest_media(r, &request.media))
        return;
    enum err rc = ingest_usage(&request, &result, &err);
    if (rc != ERR_OK) {
        api_ingest_error(r, rc, &err);
        return;
    }
    api_ingest_measure(r, &result);
    if (!result.op) {
        api_ingest_nothing(r, &result, "every item in the body was refused");
        ingest_result_done(&result);
        return;
    }
    if (!api_ingest_submit(r, &result, usage_written))
        ingest_result_done(&result);
}
