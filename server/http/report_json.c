#include "server/http/report_json.h"

#include "server/http/api_common.h"

void report_json_summary(struct jout *j, const struct report_row *row)
{
    jout_string(j, "id", row->id);
    if (row->cluster_id)
        jout_uint(j, "cluster_id", row->cluster_id);
    else
        jout_null(j, "cluster_id");
    jout_string(j, "bundle_id", row->bundle_id);
    jout_string(j, "kind", report_kind_name(row->kind));
    jout_text(j, "category", row->category);
    jout_bool(j, "deadlocked", row->finding.deadlock != NULL);
    jout_known(j, "duration_ms", row->duration_ms);
    jout_time(j, "timestamp", row->time_ms);
    jout_time(j, "received_at", row->received_ms);
    jout_time(j, "device_timestamp", row->device_time_ms);
    jout_bool(j, "clock_skew", row->clock_skew);
    jout_double(j, "weight", row->weight);
    jout_text(j, "threshold_type", row->threshold_type);
    jout_text(j, "version", row->version);
    jout_text(j, "build", row->build);
    jout_text(j, "device", row->device);
    jout_text(j, "os_version", row->os_version);
    jout_text(j, "os_build", row->os_build);
    jout_text(j, "arch", row->arch);
    jout_text(j, "page", row->page);
    jout_text(j, "path", row->path);
    jout_known(j, "cpu_usage", row->cpu_usage);
    jout_known(j, "memory_usage", row->memory_usage);
    jout_text(j, "stack_skipped", row->stack_skipped);
    jout_raw(j, "tags", row->tags ? row->tags : "{}");
    jout_array(j, "frame_gaps_ms");
    for (size_t i = 0; i < row->frame_gap_count; i++)
        jout_int(j, NULL, row->frame_gaps_ms[i]);
    jout_end_array(j);
}

static enum err print_sample(struct http_request *r, const struct read_tools *tools, struct jout *j,
                             const struct sample_row *s, struct error *err)
{
    jout_object(j, NULL);
    jout_int(j, "offset_ms", s->offset_ms);
    jout_uint(j, "repeat_count", s->repeat_count);
    jout_known(j, "cpu_usage", s->cpu_usage);
    jout_text(j, "thread_state", s->thread_state);
    enum err rc = api_print_stack(r, tools, j, "stack", &s->stack, s->addresses, false, err);
    jout_end_object(j);
    return rc;
}

static enum err print_thread(struct http_request *r, const struct read_tools *tools, struct jout *j,
                             const struct thread_row *t, struct error *err)
{
    enum err rc = ERR_OK;
    jout_object(j, NULL);
    jout_int(j, "tid", t->tid);
    jout_text(j, "name", t->name);
    jout_text(j, "state", t->state);
    jout_bool(j, "stalled", t->stalled);
    jout_text(j, "queue", t->queue);
    if (t->waits_kind) {
        jout_object(j, "waits_for");
        jout_string(j, "kind", t->waits_kind);
        jout_hex(j, "address", t->waits_address);
        jout_known(j, "owner_tid", t->owner_tid);
        jout_text(j, "queue", t->waits_queue);
        jout_end_object(j);
    } else {
        jout_null(j, "waits_for");
    }
    if (t->has_stack)
        rc = api_print_stack(r, tools, j, "stack", &t->stack, t->addresses, false, err);
    else
        jout_raw(j, "stack", "[]");
    jout_end_object(j);
    return rc;
}

enum err report_json_stacks(struct http_request *r, const struct read_tools *tools, struct jout *j,
                            const struct report_row *row, struct error *err)
{
    enum err rc = ERR_OK;
    if (row->has_stack)
        rc = api_print_stack(r, tools, j, "stack", &row->stack, row->addresses, false, err);
    else
        jout_raw(j, "stack", "[]");
    jout_array(j, "samples");
    for (size_t i = 0; rc == ERR_OK && i < row->sample_count; i++)
        rc = print_sample(r, tools, j, &row->samples[i], err);
    jout_end_array(j);
    jout_array(j, "threads");
    for (size_t i = 0; rc == ERR_OK && i < row->thread_count; i++)
        rc = print_thread(r, tools, j, &row->threads[i], err);
    jout_end_array(j);
    return rc;
}
