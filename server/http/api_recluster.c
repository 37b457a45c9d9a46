#include "server/http/api.h"

#include <string.h>

#include "base/log.h"
#include "server/http/api_common.h"

static const char *const KINDS[] = {
    [CLUSTER_WORK_ALIGN] = "align",
    [CLUSTER_WORK_EPOCH] = "epoch",
    [CLUSTER_WORK_RECLUSTER] = "recluster",
};

static const char *state_of(const struct cluster_work_row *w)
{
    if (w->finished_ms != INT64_MIN)
        return "done";
    if (w->started_ms == INT64_MIN)
        return "queued";
    return w->phase == CLUSTER_PHASE_LEARN ? "comparing" : "moving";
}

static void print_work(struct jout *j, const struct cluster_work_row *w)
{
    jout_object(j, NULL);
    jout_string(j, "bundle_id", w->bundle_id);
    jout_string(j, "kind", KINDS[w->kind]);
    jout_string(j, "state", state_of(w));
    jout_uint(j, "stacks_total", w->total);
    jout_uint(j, "stacks_seen", w->seen);
    jout_uint(j, "stacks_changed", w->changed);
    jout_text(j, "rules_version", w->rules_version);
    jout_time(j, "requested_at", w->requested_ms);
    jout_time(j, "started_at", w->started_ms);
    jout_time(j, "finished_at", w->finished_ms);
    jout_end_object(j);
}

enum err api_get_recluster(struct http_request *r, const struct read_tools *tools,
                           struct error *err)
{
    struct cluster_work_row *open = NULL;
    struct cluster_work_row *last = NULL;
    size_t open_count = 0;
    size_t last_count = 0;
    size_t waiting = 0;
    const char *bundle_id = NULL;
    struct jout j;
    enum err rc = api_bundle(r, &bundle_id, err);
    if (rc == ERR_OK)
        rc = read_cluster_work(tools->storage, tools->arena, &open, &open_count, err);
    if (rc == ERR_OK)
        rc = read_cluster_work_last(tools->storage, bundle_id, tools->arena, &last, &last_count,
                                    err);
    if (rc != ERR_OK)
        return rc;
    for (size_t i = 0; i < open_count; i++)
        waiting += api_sees(r, open[i].bundle_id) &&
                   (!bundle_id || strcmp(bundle_id, open[i].bundle_id) == 0);
    jout_init(&j, http_reply(r, 200, TYPE_JSON));
    jout_object(&j, NULL);
    jout_string(&j, "rules_version", rules_version(live_rules_now(r->services->rules)));
    jout_bool(&j, "outdated", epochs_outdated(r->services->epochs));
    jout_uint(&j, "open", waiting);
    jout_array(&j, "items");
    for (size_t i = 0; i < last_count; i++)
        print_work(&j, &last[i]);
    jout_end_array(&j);
    jout_end_object(&j);
    return ERR_OK;
}

/* --- POST ------------------------------------------------------------------------------------- */

/* What is wrong with the file is for the server's log alone. */
static enum err reload_rules(struct http_request *r, const struct read_tools *tools,
                             struct error *err)
{
    struct error why;
    bool changed = false;
    char quoted[sizeof(why.text) + 64];
    (void)tools;
    const char *bundle_id = NULL;
    enum err rc = api_bundle(r, &bundle_id, err);
    r->state = bundle_id ? arena_strdup(&r->arena, bundle_id) : NULL;
    if (rc == ERR_OK && bundle_id && !r->state)
        rc = error_set(err, ERR_NO_MEMORY, "no memory for a request");
    if (rc != ERR_OK)
        return rc;
    if (live_rules_reload(r->services->rules, &changed, &why) == ERR_OK)
        return ERR_OK;
    log_error("cluster rules not reloaded", "error=%s",
              log_quote(why.text, quoted, sizeof(quoted)));
    return error_set(err, ERR_CONFLICT,
                     "the rules file cannot be used; the server's log has the reason");
}

static void asked(struct http_request *r, struct write_op *op, enum err rc, const struct error *err)
{
    struct jout j;
    if (rc != ERR_OK) {
        http_reply_failure(r, err);
    } else if (op->u.cluster_work.count == 0 && op->u.cluster_work.bundle_id) {
        http_problem(r, 404, "no such app");
    } else {
        epochs_ring(r->services->epochs);
        jout_init(&j, http_reply(r, 202, TYPE_JSON));
        jout_object(&j, NULL);
        jout_uint(&j, "apps", op->u.cluster_work.count);
        jout_string(&j, "rules_version", rules_version(live_rules_now(r->services->rules)));
        jout_end_object(&j);
        r->reply.location = "/v1/admin/recluster";
    }
    http_finish(r);
}

static void ask(struct http_request *r, enum err rc, const struct error *err)
{
    struct write_op *op = api_op(r, rc, err, WRITE_CLUSTER_WORK);
    if (!op)
        return;
    op->u.cluster_work = (struct op_cluster_work){
        .kind = CLUSTER_WORK_RECLUSTER, .bundle_id = r->state, .now_ms = r->now_ms};
    http_write(r, op, asked);
}

void api_post_recluster(struct http_request *r)
{
    http_read(r, reload_rules, ask);
}
