#include "server/http/finding_json.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "server/jobs/report_finding.h"

#define NUMBER_SIZE 32

/* 1240 as "1,240". */
static const char *grouped(int64_t n, char out[NUMBER_SIZE])
{
    char digits[NUMBER_SIZE];
    int len = snprintf(digits, sizeof(digits), "%" PRId64, n < 0 ? 0 : n);
    int at = 0;
    for (int i = 0; i < len && at < NUMBER_SIZE - 2; i++) {
        if (i > 0 && (len - i) % 3 == 0)
            out[at++] = ',';
        out[at++] = digits[i];
    }
    out[at] = 0;
    return out;
}

/* The stage that ends with a sample; the chosen one when none does. */
static size_t stage_of(const struct culprit *c, size_t sample)
{
    for (size_t i = 0; i < c->stage_count; i++) {
        if (c->stages[i].last == sample)
            return i;
    }
    return c->stage;
}

/* The innermost function that a sample of the stage shows, and the one around it. */
static void print_summary(struct jout *j, const struct report_finding *f, size_t sample,
                          int64_t stage_ms, int64_t total_ms)
{
    char a[NUMBER_SIZE], b[NUMBER_SIZE], text[1024];
    const char *const *names = f->sample_names[sample].names;
    size_t count = f->sample_names[sample].count;
    const char *in = count > 0 ? names[0] : f->titles[sample];
    const char *around = NULL;
    for (size_t i = 1; i < count && !around; i++)
        around = strcmp(names[i], in) != 0 ? names[i] : NULL;
    if (total_ms <= 0 || !in) {
        jout_null(j, "summary");
        return;
    }
    snprintf(text, sizeof(text), "%s ms of %s ms in %s%s%s", grouped(stage_ms, a),
             grouped(total_ms, b), in, around ? ", inside " : "", around ? around : "");
    jout_string(j, "summary", text);
}

static void print_stages(struct jout *j, const struct report_finding *f)
{
    jout_array(j, "stages");
    for (size_t i = 0; i < f->culprit.stage_count; i++) {
        const struct culprit_stage *s = &f->culprit.stages[i];
        jout_object(j, NULL);
        jout_uint(j, "first_sample", s->first);
        jout_uint(j, "last_sample", s->last);
        jout_uint(j, "samples", s->samples);
        jout_int(j, "start_ms", s->start_ms);
        jout_int(j, "length_ms", s->length_ms);
        jout_string(j, "function", f->titles[s->last]);
        jout_end_object(j);
    }
    jout_end_array(j);
}

static void print_tree(struct jout *j, const struct culprit *c)
{
    jout_array(j, "tree");
    for (size_t i = 0; i < c->node_count; i++) {
        const struct culprit_node *n = &c->nodes[i];
        jout_object(j, NULL);
        jout_string(j, "function", n->name);
        if (n->parent == SIZE_MAX)
            jout_null(j, "parent");
        else
            jout_uint(j, "parent", n->parent);
        jout_uint(j, "depth", n->depth);
        jout_int(j, "start_ms", n->start_ms);
        jout_int(j, "length_ms", n->length_ms);
        jout_end_object(j);
    }
    jout_end_array(j);
}

static void print_culprit(struct jout *j, const struct report_row *row,
                          const struct report_finding *f)
{
    const struct finding_row *stored = &row->finding;
    const struct culprit *c = &f->culprit;
    /* Of several samples what was found counts, and until then nothing. */
    if (!f->has_culprit || (row->sample_count > 1 && !stored->has_culprit)) {
        jout_null(j, "culprit");
        return;
    }
    size_t sample =
        stored->has_culprit && stored->sample < row->sample_count ? stored->sample : c->sample;
    size_t stage = stage_of(c, sample);
    int64_t stage_ms = stored->has_culprit ? stored->stage_ms : c->stages[stage].length_ms;
    int64_t total_ms = stored->has_culprit ? stored->total_ms : c->total_ms;
    jout_object(j, "culprit");
    jout_uint(j, "sample", sample);
    jout_uint(j, "stage", stage);
    jout_string(j, "function", f->titles[sample]);
    jout_int(j, "stage_ms", stage_ms);
    jout_int(j, "total_ms", total_ms);
    jout_double(j, "confidence", stored->has_culprit ? stored->confidence : c->confidence);
    print_summary(j, f, sample, stage_ms, total_ms);
    print_stages(j, f);
    print_tree(j, c);
    jout_end_object(j);
}

static void print_member(struct jout *j, const struct deadlock_member *m,
                         const struct thread_row *t)
{
    jout_object(j, NULL);
    jout_uint(j, "index", m->thread);
    jout_int(j, "tid", t->tid);
    jout_text(j, "name", t->name);
    jout_text(j, "queue", t->queue);
    jout_string(j, "function", m->culprit);
    jout_text(j, "waits_for", t->waits_kind);
    jout_known(j, "owner_tid", t->owner_tid);
    jout_text(j, "waits_queue", t->waits_queue);
    jout_end_object(j);
}

static void print_deadlock(struct jout *j, const struct report_row *row,
                           const struct report_finding *f)
{
    const struct deadlock *d = &f->deadlock;
    if (!row->finding.deadlock || !d->found) {
        jout_null(j, "deadlock");
        return;
    }
    jout_object(j, "deadlock");
    jout_string(j, "stalled_thread",
                d->stalled_inside   ? "inside"
                : d->stalled_behind ? "behind"
                                    : "apart");
    jout_array(j, "threads");
    for (size_t i = 0; i < d->member_count; i++)
        print_member(j, &d->members[i], &row->threads[d->members[i].thread]);
    jout_end_array(j);
    jout_end_object(j);
}

enum err finding_json_print(struct http_request *r, const struct read_tools *tools, struct jout *j,
                            const struct report_row *row, struct error *err)
{
    struct report_finding f;
    enum err rc =
        report_finding_of(live_rules_now(r->services->rules), row, true, tools->arena, &f, err);
    if (rc != ERR_OK)
        return rc;
    print_culprit(j, row, &f);
    print_deadlock(j, row, &f);
    return ERR_OK;
}
