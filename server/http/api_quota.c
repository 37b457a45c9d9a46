/* Quotas of apps: what is in force, and an app's own. */
#include "server/http/api.h"
#include "server/http/api_common.h"
#include "storage/read_quota.h"

#define OP_ARENA   4096
#define NUMBER_MAX 1000000000

static const char *const MEMBERS[] = {"reports_per_minute", "reports_per_day", "slight_sample_rate",
                                      NULL};

/* Whether the token may; else it is answered. */
static bool may(struct http_request *r)
{
    struct error err;
    const char *bundle_id;
    enum err rc = api_app(r, &bundle_id, &err);
    if (rc != ERR_OK)
        http_reply_error(r, &err);
    return rc == ERR_OK;
}

static void print(struct http_request *r, const struct quota *q, bool own)
{
    struct jout j;
    jout_init(&j, http_reply(r, 200, TYPE_JSON));
    jout_object(&j, NULL);
    jout_uint(&j, "reports_per_minute", q->reports_per_minute);
    jout_uint(&j, "reports_per_day", q->reports_per_day);
    jout_double(&j, "slight_sample_rate", q->slight_sample_rate);
    jout_bool(&j, "own", own);
    jout_end_object(&j);
}

void api_get_quota(struct http_request *r)
{
    struct quota quota;
    if (!may(r))
        return;
    bool own = admission_get(r->services->admission, r->params[0], &quota);
    print(r, &quota, own);
}

static void quota_written(struct http_request *r, struct write_op *op, enum err rc,
                          const struct error *err)
{
    const struct op_quota *q = &op->u.quota;
    if (rc != ERR_OK) {
        http_reply_failure(r, err);
    } else {
        admission_set(r->services->admission, q->bundle_id, q->remove ? NULL : &q->quota);
        if (q->remove)
            http_reply(r, 204, NULL);
        else
            print(r, &q->quota, true);
    }
    http_finish(r);
}

static void write(struct http_request *r, const struct quota *quota)
{
    struct write_op *op = write_op_new(WRITE_QUOTA, OP_ARENA);
    if (!op) {
        http_problem(r, 503, "no memory to spare; try again");
        return;
    }
    op->u.quota = (struct op_quota){.bundle_id = r->params[0], .remove = quota == NULL};
    if (quota)
        op->u.quota.quota = *quota;
    http_write(r, op, quota_written);
}

static bool read_quota(json_t *body, struct quota *ret, struct fields *f)
{
    int64_t minute = 0, day = 0;
    ret->slight_sample_rate = 1;
    fields_int(f, body, "", MEMBERS[0], 0, NUMBER_MAX, &minute);
    fields_int(f, body, "", MEMBERS[1], 0, NUMBER_MAX, &day);
    fields_number(f, body, "", MEMBERS[2], 0.0001, 1, &ret->slight_sample_rate);
    ret->reports_per_minute = (uint32_t)minute;
    ret->reports_per_day = (uint32_t)day;
    return !f->failed;
}

void api_put_quota(struct http_request *r)
{
    struct fields f;
    struct quota quota;
    json_t *body = may(r) ? api_body(r, MEMBERS, &f) : NULL;
    if (!body)
        return;
    bool good = read_quota(body, &quota, &f);
    json_decref(body);
    if (good)
        write(r, &quota);
    else
        http_refuse_shape(r, f.path, f.reason);
}

void api_delete_quota(struct http_request *r)
{
    if (may(r))
        write(r, NULL);
}
