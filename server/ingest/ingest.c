#include "server/ingest/ingest.h"

#include <string.h>

#include "server/ingest/format_native.h"
#include "server/ingest/intake.h"
#include "server/ingest/reduce.h"

const struct ingest_limits INGEST_LIMITS_DEFAULT = {
    .reports = 10000,
    .frames = 512,
    .images = 4096,
    .samples = 1000,
    .threads = 256,
    .path_bytes = 1024,
    .tags = 32,
    .arena_bytes = (size_t)256 * 1024 * 1024,
};

void ingest_publish(const struct intake *in, struct ingest_result *ret)
{
    memset(ret, 0, sizeof(*ret));
    ret->reports = (uint32_t)in->report_count;
    ret->rejected = in->rejected;
    ret->rejected_count = in->rejected_count;
    ret->dropped = in->dropped;
    ret->dropped_count = in->dropped_count;
    ret->ignored = in->ignored;
    ret->ignored_count = in->ignored_count;
    ret->sampled_out = in->sampled_out;
    ret->retry_after_s = in->retry_after_s;
    ret->need_image_sets = in->need_sets;
    ret->need_image_set_count = in->need_set_count;
    ret->arena = in->arena;
}

/* Asks for one report; a refusal is listed. */
static bool is_admitted(struct intake *in, struct report *r)
{
    uint8_t id_hash[REPORT_ID_HASH_SIZE];
    const char *bound = in->request->bundle_id;
    struct admission_report ask = {.bundle_id = r->bundle_id,
                                   .slight = r->kind == REPORT_SLIGHT_STALL,
                                   .id_hash = id_hash,
                                   .bound = bound && strcmp(bound, r->bundle_id) == 0};
    double rate = 1;
    uint32_t wait_s = 0;
    if (ask.slight)
        report_id_hash(r->bundle_id, r->id, id_hash);
    switch (admission_ask(in->request->admission, &ask, in->request->now_ms, &rate, &wait_s)) {
    case ADMISSION_PASS:
        r->sample_rate *= rate;
        return true;
    case ADMISSION_SAMPLED_OUT:
        in->sampled_out++;
        return false;
    case ADMISSION_QUOTA:
        in->retry_after_s = wait_s > in->retry_after_s ? wait_s : in->retry_after_s;
        intake_refuse_report(in, r, "quota_exceeded");
        return false;
    case ADMISSION_APPS:
        intake_refuse_report(in, r, "too_many_apps");
        return false;
    }
    return false;
}

static void admit(struct intake *in)
{
    size_t kept = 0;
    for (size_t i = 0; i < in->report_count; i++) {
        if (is_admitted(in, &in->reports[i]))
            in->reports[kept++] = in->reports[i];
    }
    in->report_count = kept;
}

/* What was let in and cannot be written. */
static void give_back(const struct intake *in)
{
    for (size_t i = 0; in->request->admission && i < in->report_count; i++)
        admission_give_back(in->request->admission, in->reports[i].bundle_id, 1);
}

enum err ingest_body(const struct ingest_request *request, struct ingest_result *ret,
                     struct error *err)
{
    struct intake in;
    struct write_op *op = write_op_new(WRITE_BATCHES, request->limits->arena_bytes);
    if (!op)
        return error_set(err, ERR_NO_MEMORY, "no memory for the body");
    intake_init(&in, request, op->arena);
    enum err rc = format_native_read(&in, err);
    if (rc == ERR_OK && in.next_index > request->limits->reports)
        rc = error_set(err, ERR_LIMIT, "more than %zu reports in one body",
                       request->limits->reports);
    if (rc == ERR_OK && in.no_memory)
        rc = intake_no_memory(&in, err);
    if (rc == ERR_OK && request->admission)
        admit(&in);
    if (rc == ERR_OK && in.report_count > 0 && (rc = reduce_reports(&in, op, err)))
        give_back(&in);
    if (rc != ERR_OK) {
        write_op_free(op);
        return rc;
    }
    ingest_publish(&in, ret);
    ret->op = in.report_count > 0 ? op : NULL;
    return ERR_OK;
}

void ingest_result_done(struct ingest_result *r)
{
    if (!r)
        return;
    arena_free(r->arena); /* the op lives in it, too */
    memset(r, 0, sizeof(*r));
}

struct ingest_counts ingest_count(const struct write_op *op)
{
    struct ingest_counts n = {0, 0, 0};
    for (size_t i = 0; i < op->u.batches.count; i++) {
        const struct op_batch *b = &op->u.batches.items[i];
        for (size_t k = 0; k < b->report_count; k++) {
            n.duplicates += b->reports[k].duplicate;
            n.accepted += !b->reports[k].duplicate;
            n.stacks_dropped += b->reports[k].stacks_dropped;
        }
    }
    return n;
}

void ingest_give_back(struct admission *admission, const struct write_op *op, bool applied)
{
    for (size_t i = 0; admission && i < op->u.batches.count; i++) {
        const struct op_batch *b = &op->u.batches.items[i];
        uint32_t count = 0;
        for (size_t k = 0; k < b->report_count; k++)
            count += !applied || b->reports[k].duplicate;
        if (count > 0)
            admission_give_back(admission, b->bundle_id, count);
    }
}
