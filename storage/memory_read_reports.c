/* The memory backend's reads of single reports, and statistics. */
#include <math.h>
#include <string.h>

#include "storage/frames_blob.h"
#include "storage/memory_read.h"
#include "storage/symbolication.h"

enum err mem_fill_stack(const struct mem_state *s, const struct mem_stack *k, struct arena *arena,
                        struct stack_row *ret, struct error *err)
{
    struct mem_sums sums = mem_stack_sums(s, k->id);
    *ret = (struct stack_row){
        .stack_id = k->id,
        .count = (uint64_t)sums.count,
        .weighted = (double)sums.weighted / FIGURES_WEIGHT_ONE,
        .stall_ms = (uint64_t)sums.stall_ms,
        .weighted_stall_ms = (uint64_t)(sums.stall_ms + sums.above_ms),
        .pending = k->pending,
        .provisional = k->provisional,
        .approximate = k->approximate,
        .first_seen_ms = sums.first_ms,
        .last_seen_ms = sums.last_ms,
        .bundle_id = s->apps[k->app].bundle_id,
    };
    const struct mem_cluster *c = mem_cluster_of(s, k->cluster_id);
    ret->cluster_kind = c ? c->row.cluster_kind : 0;
    memcpy(ret->part, k->part, sizeof(ret->part));
    if (k->resolved)
        ret->resolved = *k->resolved;
    return raw_stack_decode(k->raw, k->raw_len, arena, &ret->raw, err);
}

static void fill_report(const struct mem_state *s, const struct mem_report *m, struct report_row *r)
{
    const struct op_report *o = m->op;
    const struct mem_finding *found = mem_finding_of(s, m->id);
    *r = (struct report_row){
        .id = o->id,
        .bundle_id = s->apps[m->app].bundle_id,
        .cluster_id = mem_cluster_of_stack(s, m->stack_id),
        .kind = o->kind,
        .time_ms = o->time_ms,
        .received_ms = o->received_ms,
        .device_time_ms = o->device_time_ms,
        .clock_skew = o->clock_skew,
        .duration_ms = o->duration_ms < 0 ? -1 : o->duration_ms,
        .weight = (double)figures_weight(o->weight) / FIGURES_WEIGHT_ONE,
        .threshold_type = o->threshold_type,
        .version = o->version,
        .build = o->build,
        .device = o->device,
        .os_version = o->os_version,
        .os_build = o->os_build,
        .arch = o->arch,
        .page = o->page,
        .path = o->path,
        .stack_skipped = o->stack_skipped,
        .tags = o->tags,
        .cpu_usage = o->cpu_usage < 0 ? -1 : o->cpu_usage,
        .memory_usage = o->memory_usage < 0 ? -1 : o->memory_usage,
        .frame_gaps_ms = o->frame_gap_count ? o->frame_gaps_ms : NULL,
        .frame_gap_count = o->frame_gap_count,
        .has_stack = m->stack_id != 0,
    };
    const struct mem_cluster *c = mem_cluster_of(s, r->cluster_id);
    r->category = c ? c->row.category : NULL;
    if (found)
        r->finding = found->row;
}

static bool is_deadlocked(const struct mem_state *s, uint64_t report_id)
{
    const struct mem_finding *found = mem_finding_of(s, report_id);
    return found && found->row.deadlock;
}

enum err mem_read_cluster_reports(struct storage_reader *r, uint64_t cluster_id,
                                  const struct read_filter *f, size_t limit, const char *cursor,
                                  struct arena *arena, struct report_row **ret, size_t *ret_count,
                                  const char **ret_next, struct error *err)
{
    const struct mem_state *s = mem_read_state(r);
    struct cluster_row c = {0};
    int64_t below = INT64_MAX;
    int64_t last = 0;
    bool started = false;
    bool more = false;
    size_t count = 0;
    enum err rc = read_cursor_parse(cursor, 'r', &below, 1, &started, err);
    if (!rc && cluster_id)
        rc = mem_read_cluster(r, cluster_id, f, arena, &c, err);
    if (rc)
        return rc;
    struct report_row *rows = arena_array(arena, s->reports_count + 1, sizeof(*rows));
    if (!rows)
        return mem_no_memory(err);
    for (size_t i = s->reports_count; i > 0 && !more; i--) {
        const struct mem_report *m = &s->reports[i - 1];
        if ((started && (int64_t)m->id >= below) || !mem_report_matches(s, m, f) ||
            (f->deadlock && !is_deadlocked(s, m->id)) ||
            (c.id && mem_cluster_of_stack(s, m->stack_id) != c.id))
            continue;
        if (count == limit) {
            more = true;
        } else {
            fill_report(s, m, &rows[count++]);
            last = (int64_t)m->id;
        }
    }
    *ret_next = more ? read_cursor_make(arena, 'r', &last, 1) : NULL;
    if (more && !*ret_next)
        return mem_no_memory(err);
    *ret = rows;
    *ret_count = count;
    return ERR_OK;
}

static enum err show_stack(const struct mem_state *s, uint64_t stack_id, const void *addresses,
                           size_t len, struct arena *arena, struct stack_row *stack,
                           const uint64_t **ret_addresses, struct error *err)
{
    enum err rc = mem_fill_stack(s, mem_stack_of(s, stack_id), arena, stack, err);
    if (rc)
        return rc;
    uint64_t *out = arena_array(arena, stack->raw.count + 1, sizeof(*out));
    if (!out)
        return mem_no_memory(err);
    stack_addresses_decode(&stack->raw, addresses, len, out);
    *ret_addresses = out;
    return ERR_OK;
}

static enum err show_samples(const struct mem_state *s, const struct mem_report *m,
                             struct arena *arena, struct report_row *r, struct error *err)
{
    r->sample_count = m->op->sample_count;
    if (!(r->samples = arena_array(arena, r->sample_count + 1, sizeof(*r->samples))))
        return mem_no_memory(err);
    for (size_t i = 0; i < r->sample_count; i++) {
        const struct op_sample *o = &m->op->samples[i];
        struct sample_row *x = &r->samples[i];
        x->offset_ms = o->offset_ms;
        x->repeat_count = o->repeat_count;
        x->cpu_usage = o->cpu_usage;
        x->thread_state = o->thread_state;
        enum err rc = show_stack(s, m->sample_stacks[i], o->addresses, o->addresses_len, arena,
                                 &x->stack, &x->addresses, err);
        if (rc)
            return rc;
    }
    return ERR_OK;
}

static enum err show_threads(const struct mem_state *s, const struct mem_report *m,
                             struct arena *arena, struct report_row *r, struct error *err)
{
    r->thread_count = m->op->thread_count;
    if (!(r->threads = arena_array(arena, r->thread_count + 1, sizeof(*r->threads))))
        return mem_no_memory(err);
    for (size_t i = 0; i < r->thread_count; i++) {
        const struct op_thread *o = &m->op->threads[i];
        struct thread_row *t = &r->threads[i];
        t->tid = o->tid;
        t->name = o->name;
        t->state = o->state;
        t->stalled = o->stalled;
        t->queue = o->queue;
        t->waits_kind = o->waits_kind;
        t->waits_queue = o->waits_queue;
        t->waits_address = o->waits_address;
        t->owner_tid = o->owner_tid;
        t->has_stack = m->thread_stacks[i] != 0;
        enum err rc = t->has_stack
                          ? show_stack(s, m->thread_stacks[i], o->addresses, o->addresses_len,
                                       arena, &t->stack, &t->addresses, err)
                          : ERR_OK;
        if (rc)
            return rc;
    }
    return ERR_OK;
}

static const struct mem_report *find_report(const struct mem_state *s, const char *bundle_id,
                                            const char *id)
{
    for (size_t i = s->reports_count; i > 0; i--) {
        const struct mem_report *m = &s->reports[i - 1];
        if (strcmp(m->op->id, id) == 0 &&
            (!bundle_id || strcmp(s->apps[m->app].bundle_id, bundle_id) == 0))
            return m;
    }
    return NULL;
}

enum err mem_show_report(const struct mem_state *s, const struct mem_report *m, struct arena *arena,
                         struct report_row *ret, struct error *err)
{
    struct report_row r;
    fill_report(s, m, &r);
    enum err rc = r.has_stack ? show_stack(s, m->stack_id, m->op->addresses, m->op->addresses_len,
                                           arena, &r.stack, &r.addresses, err)
                              : ERR_OK;
    if (!rc)
        rc = show_samples(s, m, arena, &r, err);
    if (!rc)
        rc = show_threads(s, m, arena, &r, err);
    if (!rc)
        *ret = r;
    return rc;
}

enum err mem_read_report(struct storage_reader *base, const char *bundle_id, const char *id,
                         struct arena *arena, struct report_row *ret, struct error *err)
{
    const struct mem_state *s = mem_read_state(base);
    const struct mem_report *m = find_report(s, bundle_id, id);
    if (!m)
        return error_set(err, ERR_NOT_FOUND, "there is no report of this id");
    return mem_show_report(s, m, arena, ret, err);
}

static bool of_app(const struct mem_state *s, size_t app, const char *bundle_id)
{
    return !bundle_id || strcmp(s->apps[app].bundle_id, bundle_id) == 0;
}

enum err mem_read_stack_totals(struct storage_reader *r, const char *bundle_id,
                               struct stack_totals *ret, struct error *err)
{
    const struct mem_state *s = mem_read_state(r);
    struct stack_totals x = {0};
    (void)err;
    uint64_t frames = 0;
    uint64_t names = 0;
    for (size_t i = 0; i < s->stacks_count; i++) {
        const struct mem_stack *k = &s->stacks[i];
        uint32_t app = 0;
        uint32_t named = 0;
        if (!of_app(s, k->app, bundle_id))
            continue;
        x.stacks++;
        x.provisional_stacks += k->provisional;
        if (k->resolved)
            frames_count_app(k->resolved, &app, &named);
        uint64_t reports = (uint64_t)mem_stack_sums(s, k->id).count;
        frames += reports * app;
        names += reports * named;
    }
    x.symbolication_rate = frames ? (double)names / (double)frames : (double)NAN;
    *ret = x;
    return ERR_OK;
}

static uint64_t count_symbols(struct storage_reader *r, const char *bundle_id)
{
    const struct mem_state *s = mem_read_state(r);
    uint64_t count = 0;
    size_t app = bundle_id ? mem_app_of(s, bundle_id) : SIZE_MAX;
    for (size_t i = 0; i < s->slices_count; i++) {
        const struct slice_row *x = &s->slices[i].row;
        bool hit = !bundle_id || strcmp(x->bundle_id, bundle_id) == 0;
        for (size_t k = 0; k < s->images_count && !hit; k++)
            hit = s->images[k].app == app && uuid_equal(&s->images[k].row.id, &x->shelf);
        count += hit && x->current;
    }
    return count;
}

static uint64_t count_findings(const struct mem_state *s, const char *bundle_id)
{
    uint64_t count = 0;
    for (size_t i = 0; i < s->dues_count; i++) {
        for (size_t k = 0; k < s->reports_count; k++)
            count +=
                s->reports[k].id == s->dues[i].report_id && of_app(s, s->reports[k].app, bundle_id);
    }
    for (size_t i = 0; i < s->due_stacks_count; i++)
        count += of_app(s, mem_stack_of(s, s->due_stacks[i].stack_id)->app, bundle_id);
    return count;
}

enum err mem_read_stats(struct storage_reader *r, const char *bundle_id, struct stats_row *ret,
                        struct error *err)
{
    const struct mem_state *s = mem_read_state(r);
    struct stats_row x = {0};
    (void)err;
    for (size_t i = 0; i < s->apps_count; i++)
        x.apps += of_app(s, i, bundle_id);
    for (size_t i = 0; i < s->facts_count; i++)
        x.reports += of_app(s, s->facts[i].app, bundle_id);
    for (size_t i = 0; i < s->stacks_count; i++)
        x.pending_stacks += s->stacks[i].pending && of_app(s, s->stacks[i].app, bundle_id);
    for (size_t i = 0; i < s->clusters_count; i++) {
        bool counts = false;
        for (size_t k = 0; k < s->facts_count && !counts; k++)
            counts = mem_cluster_of_stack(s, s->facts[k].stack_id) == s->clusters[i].id;
        x.clusters += counts && of_app(s, s->clusters[i].app, bundle_id);
    }
    x.symbol_files = count_symbols(r, bundle_id);
    for (size_t i = 0; i < s->uploads_count; i++)
        x.uploads_waiting += s->uploads[i].row.state < UPLOAD_INDEXED &&
                             (!bundle_id || strcmp(s->uploads[i].bundle_id, bundle_id) == 0);
    x.pending_findings = count_findings(s, bundle_id);
    *ret = x;
    return ERR_OK;
}

/* By app or by app and version: each report brings the frames of its stack. */
static enum err by_facts(const struct mem_state *s, const char *bundle_id, bool versions,
                         struct symbolication *sum, struct error *err)
{
    enum err rc = ERR_OK;
    for (size_t i = 0; i < s->facts_count && !rc; i++) {
        const struct mem_fact *f = &s->facts[i];
        const struct mem_stack *k = f->stack_id ? mem_stack_of(s, f->stack_id) : NULL;
        uint32_t app = 0;
        uint32_t named = 0;
        if (!k || !k->resolved || !of_app(s, f->app, bundle_id))
            continue;
        frames_count_app(k->resolved, &app, &named);
        const char *bundle = s->apps[f->app].bundle_id;
        if (app)
            rc = versions ? symbolication_add_version(sum, bundle, f->version, app, named, err)
                          : symbolication_add(sum, bundle, app, named, err);
    }
    return rc;
}

enum err mem_read_symbolication(struct storage_reader *r, const char *bundle_id, const char *by,
                                size_t limit, struct arena *arena, struct symbolication_row **ret,
                                size_t *ret_count, struct error *err)
{
    const struct mem_state *s = mem_read_state(r);
    struct symbolication sum = {.arena = arena};
    enum err rc = ERR_OK;
    if (strcmp(by, "image") != 0)
        rc = by_facts(s, bundle_id, strcmp(by, "version") == 0, &sum, err);
    for (size_t i = 0; i < s->stacks_count && strcmp(by, "image") == 0 && !rc; i++) {
        const struct mem_stack *k = &s->stacks[i];
        uint64_t count = (uint64_t)mem_stack_sums(s, k->id).count;
        if (k->resolved && count && of_app(s, k->app, bundle_id))
            rc = symbolication_add_stack(&sum, k->resolved, count, err);
    }
    if (!rc)
        symbolication_rows(&sum, limit, ret, ret_count);
    return rc;
}
