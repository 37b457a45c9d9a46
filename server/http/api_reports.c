#include "server/http/api.h"

#include <string.h>
#include <strings.h>

#include "server/http/api_common.h"
#include "server/http/api_ingest.h"
#include "server/http/finding_json.h"
#include "server/http/media_type.h"
#include "server/http/problem.h"
#include "server/http/report_json.h"
#include "server/ingest/intake.h"
#include "storage/stack_budget.h"

static const struct {
    const char *type;
    enum ingest_media media;
} MEDIA[] = {
    {"application/json", INGEST_JSON},
    {"application/x-ndjson", INGEST_NDJSON},
    {"application/ndjson", INGEST_NDJSON},
    {"application/jsonl", INGEST_NDJSON},
};

bool api_ingest_media(struct http_request *r, enum ingest_media *ret)
{
    for (size_t i = 0; i < sizeof(MEDIA) / sizeof(MEDIA[0]); i++) {
        if (media_type_is(r->content_type, MEDIA[i].type)) {
            *ret = MEDIA[i].media;
            return true;
        }
    }
    http_problem(r, 415,
                 "Content-Type: application/json or application/x-ndjson, in UTF-8, is read here");
    return false;
}

static void print_dropped(struct jout *j, uint32_t index, const char *path, const char *reason)
{
    jout_object(j, NULL);
    jout_uint(j, "index", index);
    jout_string(j, "path", path);
    jout_string(j, "reason", reason);
    jout_end_object(j);
}

/* Most clients send what is read, and their answers are short. */
void api_ingest_print_ignored(struct jout *j, const struct ingest_ignored *ignored, size_t count)
{
    if (count == 0)
        return;
    jout_array(j, "ignored_fields");
    for (size_t i = 0; i < count; i++) {
        jout_object(j, NULL);
        jout_string(j, "path", ignored[i].path);
        jout_uint(j, "count", ignored[i].count);
        jout_end_object(j);
    }
    jout_end_array(j);
}

/* The members that do not depend on the commit, and `dropped` last: print_dropped_stacks() goes on. */
static void print_lists(struct jout *j, const struct ingest_result *result)
{
    jout_array(j, "rejected");
    for (size_t i = 0; i < result->rejected_count; i++) {
        const struct ingest_rejected *x = &result->rejected[i];
        jout_object(j, NULL);
        jout_uint(j, "index", x->index);
        if (x->line > 0)
            jout_uint(j, "line", x->line);
        jout_string(j, "path", x->path);
        jout_string(j, "reason", x->reason);
        jout_end_object(j);
    }
    jout_end_array(j);
    api_ingest_print_ignored(j, result->ignored, result->ignored_count);
    if (result->sampled_out > 0)
        jout_uint(j, "sampled_out", result->sampled_out);
    if (result->retry_after_s > 0)
        jout_uint(j, "retry_after_s", result->retry_after_s);
    if (result->need_image_set_count > 0) {
        jout_array(j, "need_image_sets");
        for (size_t i = 0; i < result->need_image_set_count; i++)
            jout_string(j, NULL, result->need_image_sets[i]);
        jout_end_array(j);
    }
    jout_array(j, "dropped");
    for (size_t i = 0; i < result->dropped_count; i++) {
        const struct ingest_dropped *x = &result->dropped[i];
        print_dropped(j, x->index, x->path, x->reason);
    }
    jout_end_array(j);
}

/* On the writer's thread: reopens the list that the text ends with. */
static void print_dropped_stacks(struct buf *out, const struct write_op *op)
{
    struct jout j = {.b = out};
    const size_t end = out->len - 1;
    size_t listed = 0;
    buf_shorten(out, end);
    j.comma = out->data[out->len - 1] != '[';
    for (size_t i = 0; i < op->u.batches.count; i++) {
        const struct op_batch *b = &op->u.batches.items[i];
        for (size_t k = 0; k < b->report_count && listed < DROPPED_MAX; k++) {
            if (!b->reports[k].stacks_dropped)
                continue;
            print_dropped(&j, b->reports[k].position, "stack", STACK_BUDGET_REASON);
            listed++;
        }
    }
    buf_putc(out, ']');
    if (out->failed) { /* the reports are stored: the list stays without them */
        buf_shorten(out, end);
        buf_putc(out, ']');
    }
}

void api_ingest_measure(struct http_request *r, const struct ingest_result *result)
{
    uint64_t ignored = 0;
    for (size_t i = 0; i < result->ignored_count; i++)
        ignored += result->ignored[i].count;
    metrics_add(r->services->metrics, METRIC_FIELDS_IGNORED, (int64_t)ignored);
    /* A body takes many times its size until the writer had it. */
    http_request_charge(r, result->arena->used);
}

static void print_counts(struct jout *j, uint32_t accepted, uint32_t duplicates)
{
    jout_uint(j, "accepted", accepted);
    jout_uint(j, "duplicates", duplicates);
}

/* Nothing to write: all were refused, or there was nothing in the body. */
void api_ingest_nothing(struct http_request *r, const struct ingest_result *result,
                        const char *none)
{
    struct jout j;
    bool refused = result->rejected_count > 0;
    bool later = result->retry_after_s > 0;
    int status = later ? 429 : refused ? 422 : 202;
    jout_init(&j, http_reply(r, status, refused ? PROBLEM_TYPE : TYPE_JSON));
    r->reply.retry_after_s = result->retry_after_s;
    if (refused)
        problem_begin(&j, status, later ? "the app's quota is used up" : none);
    else
        jout_object(&j, NULL);
    print_counts(&j, 0, 0);
    print_lists(&j, result);
    jout_end_object(&j);
}

/* A batch of another app than the token's would be a hole however it came about. */
static bool op_is_bound(const struct write_op *op, const char *bundle_id)
{
    for (size_t i = 0; bundle_id && i < op->u.batches.count; i++) {
        if (strcmp(op->u.batches.items[i].bundle_id, bundle_id) != 0)
            return false;
    }
    return true;
}

/* On the writer's thread: the lists stand in r->body since before, printed as JSON. */
void api_ingest_reply(struct http_request *r, uint32_t accepted, uint32_t duplicates)
{
    struct jout j;
    struct buf *out = http_reply(r, 202, TYPE_JSON);
    jout_init(&j, out);
    jout_object(&j, NULL);
    print_counts(&j, accepted, duplicates);
    buf_putc(out, ',');
    buf_put(out, r->body.data, r->body.len);
    buf_putc(out, '}');
    http_finish(r);
}

static void reports_written(struct http_request *r, struct write_op *op, enum err rc,
                            const struct error *err)
{
    ingest_give_back(r->services->admission, op, rc == ERR_OK);
    if (rc != ERR_OK) {
        http_reply_failure(r, err);
        http_finish(r);
        return;
    }
    struct ingest_counts counts = ingest_count(op);
    metrics_add(r->services->metrics, METRIC_REPORTS_ACCEPTED, counts.accepted);
    metrics_add(r->services->metrics, METRIC_REPORTS_DUPLICATE, counts.duplicates);
    if (counts.stacks_dropped > 0) {
        metrics_add(r->services->metrics, METRIC_STACKS_DROPPED, counts.stacks_dropped);
        print_dropped_stacks(&r->body, op);
    }
    api_ingest_reply(r, counts.accepted, counts.duplicates);
}

bool api_ingest_submit(struct http_request *r, struct ingest_result *result, api_written *written)
{
    struct write_op *op = result->op;
    struct jout j;
    /* The body was read; its buffer now holds the part of the answer that is known already. */
    buf_clear(&r->body);
    r->body.limit = REPLY_BYTES_MAX;
    jout_init(&j, &r->body);
    print_lists(&j, result);
    if (r->body.failed) {
        http_problem(r, 503, "no memory for the answer");
        return false;
    }
    http_write(r, op, written);
    return true;
}

void api_ingest_error(struct http_request *r, enum err rc, const struct error *err)
{
    if (rc == ERR_INVALID)
        http_problem(r, 422, "%s", err->text);
    else
        http_reply_error(r, err);
}

static void give_up(struct http_request *r, struct ingest_result *result)
{
    ingest_give_back(r->services->admission, result->op, false);
    ingest_result_done(result);
}

void api_post_reports(struct http_request *r)
{
    struct error err;
    struct ingest_result result = {.op = NULL};
    struct storage_reader *reader = NULL;
    struct ingest_request request = {
        .body = r->body.data ? r->body.data : "",
        .len = r->body.len,
        .bundle_id = r->identity.bundle_id,
        .now_ms = r->now_ms,
        .limits = r->services->ingest_limits,
        .layouts = r->services->layouts,
        .admission = r->services->admission,
    };
    if (!api_ingest_media(r, &request.media))
        return;
    enum err rc = http_door_reader_take(r->door, &reader, &err);
    if (rc == ERR_OK) {
        request.reader = reader;
        rc = ingest_body(&request, &result, &err);
        http_door_reader_give(r->door, reader);
    }
    if (rc != ERR_OK) {
        api_ingest_error(r, rc, &err);
        return;
    }
    api_ingest_measure(r, &result);
    metrics_add(r->services->metrics, METRIC_REPORTS_REJECTED, (int64_t)result.rejected_count);
    if (!result.op) {
        api_ingest_nothing(r, &result, "every report in the body was refused");
        ingest_result_done(&result);
    } else if (!op_is_bound(result.op, r->identity.bundle_id)) {
        http_problem(r, 403, "the token is bound to another app");
        give_up(r, &result);
    } else if (!api_ingest_submit(r, &result, reports_written)) {
        give_up(r, &result);
    }
}

enum err api_get_report(struct http_request *r, const struct read_tools *tools, struct error *err)
{
    const char *bundle_id = NULL;
    struct report_row row;
    struct jout j;
    enum err rc = api_bundle(r, &bundle_id, err);
    if (rc == ERR_OK)
        rc = read_report(tools->storage, bundle_id, r->params[0], tools->arena, &row, err);
    if (rc == ERR_NOT_FOUND)
        return error_set(err, ERR_NOT_FOUND, "no such report");
    if (rc != ERR_OK)
        return rc;
    jout_init(&j, http_reply(r, 200, TYPE_JSON));
    jout_object(&j, NULL);
    report_json_summary(&j, &row);
    rc = finding_json_print(r, tools, &j, &row, err);
    if (rc == ERR_OK)
        rc = report_json_stacks(r, tools, &j, &row, err);
    jout_end_object(&j);
    return rc;
}
