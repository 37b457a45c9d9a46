/* Quotas of apps: what is in force, and an app's own. */
#include <string.h>

#include "server/http/api.h"
#include "server/http/api_common.h"
#include "server/http/media_type.h"
#include "server/ingest/format_json.h"
#include "storage/read_quota.h"

#define BUNDLE_MAX_BYTES 256
#define OP_ARENA         4096
#define NUMBER_MAX       1000000000

static bool may(struct http_request *r)
{
    if (strlen(r->params[0]) > BUNDLE_MAX_BYTES) {
        http_problem(r, 400, "this is no bundle id");
        return false;
    }
    if (!api_sees(r, r->params[0])) {
        http_problem(r, 403, "this token is bound to another app");
        return false;
    }
    return true;
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
    static const char *const KNOWN[] = {"reports_per_minute", "reports_per_day",
                                        "slight_sample_rate"};
    const char *key;
    json_t *value;
    int64_t minute = 0, day = 0;
    if (!json_is_object(body))
        return fields_refuse(f, "an object is expected", "%s", "");
    json_object_foreach(body, key, value)
    {
        if (strcmp(key, KNOWN[0]) != 0 && strcmp(key, KNOWN[1]) != 0 && strcmp(key, KNOWN[2]) != 0)
            return fields_refuse(f, "not known here", "%.100s", key);
    }
    ret->slight_sample_rate = 1;
    fields_int(f, body, "", KNOWN[0], 0, NUMBER_MAX, &minute);
    fields_int(f, body, "", KNOWN[1], 0, NUMBER_MAX, &day);
    fields_number(f, body, "", KNOWN[2], 0.0001, 1, &ret->slight_sample_rate);
    ret->reports_per_minute = (uint32_t)minute;
    ret->reports_per_day = (uint32_t)day;
    return !f->failed;
}

void api_put_quota(struct http_request *r)
{
    struct error err;
    struct fields f;
    struct quota quota;
    json_t *body = NULL;
    if (!may(r))
        return;
    if (!media_type_is(r->content_type, TYPE_JSON)) {
        http_problem(r, 415, "Content-Type: application/json is read here");
        return;
    }
    if (format_json_load(r->body.data ? r->body.data : "", r->body.len, &body, &err) != ERR_OK) {
        http_reply_error(r, &err);
        return;
    }
    fields_init(&f, &r->arena);
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
