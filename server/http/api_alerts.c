/* Rules of alerts, a test of targets, and what was sent. */
#include "server/http/api.h"

#include <stdio.h>
#include <string.h>

#include "server/http/api_common.h"
#include "server/jobs/alert_body.h"
#include "server/jobs/alert_rules.h"
#include "server/jobs/alert_stored.h"
#include "storage/read_alerts.h"

#define OP_BYTES (ALERT_RULES_BYTES * 2)

/* Between the reads and writes of a request. */
struct alerts_request {
    const char *who;
    const char *document; /* to be stored */
    int64_t expected_revision;
    const char *target; /* of a test; NULL: all of them */
    const char **targets;
    size_t target_count;
    const char *body;
    struct alert_fault fault;
    bool faulty;
    uint64_t alert_id;
};

/* --- GET -------------------------------------------------------------------------------------- */

/* Stored rules that are refused today: there are none, *refused is set, *err says why. They can be set
 * anew. */
static enum err read_rules(const struct read_tools *tools, struct alert_settings *settings,
                           struct alert_rules *rules, bool *refused, struct error *err)
{
    enum err rc = read_alert_settings(tools->storage, tools->arena, settings, err);
    if (rc == ERR_OK)
        rc = alert_stored_read(settings->document, tools->arena, rules, err);
    *refused = rc == ERR_INVALID;
    return *refused ? ERR_OK : rc;
}

enum err api_get_alerts(struct http_request *r, const struct read_tools *tools, struct error *err)
{
    struct alert_settings settings;
    struct alert_rules rules = {0};
    struct jout j;
    bool refused = false;
    enum err rc = read_rules(tools, &settings, &rules, &refused, err);
    if (rc != ERR_OK)
        return rc;
    jout_init(&j, http_reply(r, 200, TYPE_JSON));
    jout_object(&j, NULL);
    jout_int(&j, "revision", settings.revision);
    jout_time(&j, "updated_at", settings.document ? settings.updated_ms : INT64_MIN);
    jout_text(&j, "updated_by", settings.who);
    if (refused)
        jout_string(&j, "refused", err->text);
    buf_putc(j.b, ',');
    alert_rules_print(&rules, true, true, j.b);
    jout_end_object(&j);
    return ERR_OK;
}

static void print_delivery(struct jout *j, const struct delivery_row *d)
{
    jout_object(j, NULL);
    jout_uint(j, "id", d->id);
    jout_uint(j, "alert_id", d->alert_id);
    jout_string(j, "kind", alert_kind_name(d->kind));
    jout_text(j, "bundle_id", d->bundle_id);
    if (d->cluster_id)
        jout_uint(j, "cluster_id", d->cluster_id);
    else
        jout_null(j, "cluster_id");
    jout_time(j, "created_at", d->created_ms);
    jout_string(j, "target", d->target);
    jout_string(j, "state", delivery_state_name(d->state));
    jout_uint(j, "attempts", d->attempts);
    jout_time(j, "next_attempt_at", d->state == DELIVERY_PENDING ? d->next_ms : INT64_MIN);
    jout_time(j, "done_at", d->done_ms);
    if (d->status)
        jout_int(j, "status", d->status);
    else
        jout_null(j, "status");
    jout_text(j, "error", d->error);
    jout_raw(j, "alert", d->body);
    jout_end_object(j);
}

enum err api_get_deliveries(struct http_request *r, const struct read_tools *tools,
                            struct error *err)
{
    static const char *const states[] = {"pending", "sent", "failed", "all"};
    struct delivery_filter f = {.state = -1};
    struct delivery_row *rows = NULL;
    size_t count = 0, limit = 0, state = 3;
    const char *cursor = NULL, *next = NULL;
    struct jout j;
    int64_t alert = 0;
    enum err rc = query_page(&r->query, &limit, &cursor, err);
    if (rc == ERR_OK)
        rc = query_word(&r->query, "state", states, 4, &state, err);
    if (rc == ERR_OK)
        rc = query_int(&r->query, "alert_id", 1, INT64_MAX, &alert, err);
    if (rc == ERR_OK)
        rc = api_bundle(r, &f.bundle_id, err);
    f.state = state == 3 ? -1 : (int)state;
    f.alert_id = (uint64_t)alert;
    if (rc == ERR_OK)
        rc = read_deliveries(tools->storage, &f, limit, cursor, tools->arena, &rows, &count, &next,
                             err);
    if (rc != ERR_OK)
        return rc;
    api_items_begin(r, &j);
    for (size_t i = 0; i < count; i++)
        print_delivery(&j, &rows[i]);
    api_items_end(&j, next);
    return ERR_OK;
}

/* --- PUT -------------------------------------------------------------------------------------- */

/* What can never be sent to is refused at once; names are looked up when they are sent to. */
static enum err check_addresses(const struct http_request *r, const struct alert_rules *rules,
                                struct alert_fault *fault, struct error *err)
{
    for (size_t i = 0; i < rules->target_count; i++) {
        const char *reason = notifier_url_fault(r->services->notifier, rules->targets[i].url);
        if (!reason)
            continue;
        snprintf(fault->path, sizeof(fault->path), "targets[%zu].url", i);
        snprintf(fault->reason, sizeof(fault->reason), "%s", reason);
        return error_set(err, ERR_INVALID, "%s: %s", fault->path, reason);
    }
    return ERR_OK;
}

static enum err merge_rules(struct http_request *r, const struct read_tools *tools,
                            struct error *err)
{
    struct alerts_request *a = r->state;
    struct alert_settings settings;
    struct alert_rules before = {0}, rules;
    struct buf out;
    bool refused = false;
    enum err rc = read_rules(tools, &settings, &before, &refused, err);
    if (rc == ERR_OK)
        rc = api_who(r, tools, &a->who, err);
    if (rc != ERR_OK)
        return rc;
    rc = alert_rules_read(r->body.data, r->body.len, &before, tools->arena, &rules, &a->fault, err);
    if (rc == ERR_OK)
        rc = check_addresses(r, &rules, &a->fault, err);
    a->faulty = rc == ERR_INVALID;
    if (rc != ERR_OK)
        return rc;
    buf_init(&out, OP_BYTES);
    bool good = alert_rules_print(&rules, false, false, &out);
    a->document = good ? arena_strdup(&r->arena, out.data) : NULL;
    buf_done(&out);
    return a->document ? ERR_OK : error_set(err, ERR_LIMIT, "the rules are too large");
}

static void rules_written(struct http_request *r, struct write_op *op, enum err rc,
                          const struct error *err)
{
    (void)op;
    if (rc == ERR_OK) {
        notifier_ring(r->services->notifier);
        http_read(r, api_get_alerts, NULL);
        return;
    }
    if (rc == ERR_CONFLICT)
        http_reply_error(r, err);
    else
        http_reply_failure(r, err);
    http_finish(r);
}

static void write_rules(struct http_request *r, enum err rc, const struct error *err)
{
    struct alerts_request *a = r->state;
    if (rc != ERR_OK && a->faulty) {
        http_refuse_shape(r, a->fault.path, a->fault.reason);
        http_finish(r);
        return;
    }
    struct write_op *op = api_op(r, rc, err, WRITE_ALERT_RULES);
    if (!op)
        return;
    op->u.alert_rules = (struct op_alert_rules){.document = a->document,
                                                .expected_revision = a->expected_revision,
                                                .who = a->who,
                                                .now_ms = r->now_ms};
    http_write(r, op, rules_written);
}

/* The body, and r->state; NULL: answered. */
static json_t *begin(struct http_request *r, const char *const *members, struct fields *f)
{
    if (!api_state(r, sizeof(struct alerts_request)))
        return NULL;
    if (r->body.len > ALERT_RULES_BYTES) {
        http_problem(r, 413, "rules of alerts have at most %zu bytes", ALERT_RULES_BYTES);
        return NULL;
    }
    return api_body(r, members, f);
}

void api_put_alerts(struct http_request *r)
{
    static const char *const NEEDED[] = {"targets", "rules"};
    static const char *const MEMBERS[] = {"revision",   "targets", "owners", "rules", "updated_at",
                                          "updated_by", "refused", NULL}; /* as GET has them */
    struct fields f;
    json_t *body = begin(r, MEMBERS, &f);
    struct alerts_request *a = r->state;
    if (!body)
        return;
    a->expected_revision = -1;
    fields_int(&f, body, "", "revision", 0, INT64_MAX, &a->expected_revision);
    /* All of them are replaced: none may be forgotten by accident, as by who sends back a GET. */
    if (!f.failed && fields_get(body, "refused"))
        fields_refuse(&f, "says that stored rules are not used; without it they are replaced",
                      "refused");
    for (size_t i = 0; i < sizeof(NEEDED) / sizeof(NEEDED[0]); i++) {
        if (!f.failed && !fields_get(body, NEEDED[i]))
            fields_refuse(&f, "is missing (an empty array is none)", "%s", NEEDED[i]);
    }
    json_decref(body);
    if (f.failed)
        http_refuse_shape(r, f.path, f.reason);
    else
        http_read(r, merge_rules, write_rules);
}

/* --- POST test -------------------------------------------------------------------------------- */

static enum err choose_targets(struct http_request *r, const struct read_tools *tools,
                               struct error *err)
{
    struct alerts_request *a = r->state;
    struct alert_settings settings;
    struct alert_rules rules = {0};
    struct buf body;
    const struct alert_story story = {.kind = ALERT_TEST, .at_ms = r->now_ms};
    bool refused = false;
    enum err rc = read_rules(tools, &settings, &rules, &refused, err);
    if (rc != ERR_OK)
        return rc;
    if (refused)
        return error_set(err, ERR_CONFLICT, "GET /v1/alerts says what is wrong with the rules");
    if (a->target && !alert_rules_target(&rules, a->target))
        return error_set(err, ERR_NOT_FOUND, "there is no target \"%.100s\"", a->target);
    if (rules.target_count == 0)
        return error_set(err, ERR_CONFLICT, "there are no targets yet; PUT /v1/alerts has them");
    a->targets = arena_array(&r->arena, rules.target_count, sizeof(const char *));
    if (!a->targets)
        return error_set(err, ERR_NO_MEMORY, "no memory for a test");
    for (size_t i = 0; i < rules.target_count; i++) {
        const char *name = rules.targets[i].name;
        if (!a->target || strcmp(a->target, name) == 0)
            a->targets[a->target_count++] = arena_strdup(&r->arena, name);
    }
    buf_init(&body, ALERT_BODY_BYTES);
    bool good = alert_body_make(&story, &body);
    a->body = good ? arena_strdup(&r->arena, body.data) : NULL;
    buf_done(&body);
    return a->body ? ERR_OK : error_set(err, ERR_NO_MEMORY, "no memory for a test");
}

static void test_written(struct http_request *r, struct write_op *op, enum err rc,
                         const struct error *err)
{
    struct jout j;
    if (rc != ERR_OK) {
        http_reply_failure(r, err);
        http_finish(r);
        return;
    }
    uint64_t id = op->u.alerts.items[0].id;
    notifier_ring(r->services->notifier);
    jout_init(&j, http_reply(r, 202, TYPE_JSON));
    jout_object(&j, NULL);
    jout_uint(&j, "alert_id", id);
    jout_end_object(&j);
    r->reply.location =
        arena_printf(&r->arena, "/v1/alerts/deliveries?alert_id=%llu", (unsigned long long)id);
    http_finish(r);
}

static void write_test(struct http_request *r, enum err rc, const struct error *err)
{
    const struct alerts_request *a = r->state;
    struct write_op *op = api_op(r, rc, err, WRITE_ALERTS);
    struct op_alert *item = op ? arena_alloc(&r->arena, sizeof(*item)) : NULL;
    if (!op)
        return;
    if (!item) {
        write_op_free(op);
        http_problem(r, 503, "no memory to spare; try again");
        http_finish(r);
        return;
    }
    *item = (struct op_alert){.kind = ALERT_TEST,
                              .bundle_id = "",
                              .subject = "",
                              .body = a->body,
                              .targets = a->targets,
                              .target_count = a->target_count};
    op->u.alerts = (struct op_alerts){
        .items = item, .count = 1, .now_ms = r->now_ms, .expire_before_ms = INT64_MIN};
    http_write(r, op, test_written);
}

void api_post_alerts_test(struct http_request *r)
{
    static const char *const MEMBERS[] = {"target", NULL};
    struct fields f;
    if (r->body.len == 0 && !r->content_type) { /* all of them */
        if (api_state(r, sizeof(struct alerts_request)))
            http_read(r, choose_targets, write_test);
        return;
    }
    json_t *body = begin(r, MEMBERS, &f);
    struct alerts_request *a = r->state;
    if (!body)
        return;
    const char *target = fields_text(&f, body, "", "target", 100);
    a->target = target ? arena_strdup(&r->arena, target) : NULL;
    if (target && !a->target)
        fields_refuse(&f, "too large", "%s", "target");
    json_decref(body);
    if (f.failed)
        http_refuse_shape(r, f.path, f.reason);
    else
        http_read(r, choose_targets, write_test);
}
