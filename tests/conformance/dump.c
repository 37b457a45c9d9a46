#include "tests/conformance/dump.h"

#include <check.h>
#include <math.h>

#include "storage/read_findings.h"
#include "tests/conformance/dump_parts.h"
#include "tests/conformance/suite.h"

bool dump_ok(struct dump *d, enum err rc, const struct error *err)
{
    ck_assert_msg(rc == ERR_OK || rc == ERR_NOT_FOUND, "%s", err->text);
    if (rc)
        buf_puts(d->out, "  not found\n");
    return rc == ERR_OK;
}

const char *dump_text(const char *s)
{
    return s ? s : "-";
}

void dump_uuid(struct dump *d, const struct uuid *u)
{
    char out[UUID_TEXT_SIZE];
    buf_printf(d->out, " %s", uuid_format(u, out));
}

void dump_figures(struct dump *d, const struct duration_figures *f)
{
    buf_printf(d->out, " n=%llu w=%.6f ms=%llu/%llu p=%lld/%lld/%lld", (unsigned long long)f->count,
               f->weighted, (unsigned long long)f->stall_ms,
               (unsigned long long)f->weighted_stall_ms, (long long)f->p50_ms, (long long)f->p90_ms,
               (long long)f->p99_ms);
}

void dump_filters(struct read_filter f[DUMP_FILTERS])
{
    for (size_t i = 0; i < DUMP_FILTERS; i++)
        read_filter_init(&f[i]);
    f[1].version = "2.0";
    f[2].kind = REPORT_HANG;
    f[2].include_hidden = true;
    f[3].since_ms = (SUITE_DAY0 + 2) * 86400000;
    f[3].until_ms = (SUITE_DAY0 + 9) * 86400000;
    f[4].device = "D1";
    f[5].page = "P2";
    f[5].bundle_id = SUITE_APP;
    f[6].min_duration_ms = 1500;
    f[6].os_version = "O1";
    f[7].since_ms = SUITE_NOW + 86400000 * 3 + 5;
    f[7].build = "1";
    f[8].text = "F12";
    f[8].category = "lock";
    f[8].since_ms = (SUITE_DAY0 + 4) * 86400000; /* a Monday */
    f[9].bundle_id = "com.example.other";
}

static void dump_resolved(struct dump *d, const struct resolved_stack *s)
{
    for (size_t i = 0; i < s->count; i++) {
        const struct resolved_frame *f = &s->frames[i];
        buf_printf(d->out, "    %d%d%d%d %s +%llx", f->status, f->approximate, f->in_app,
                   f->has_index, dump_text(f->image_name), (unsigned long long)f->offset);
        dump_uuid(d, &f->image);
        for (size_t k = 0; k < f->frame_count; k++)
            buf_printf(d->out, " [%s|%s|%s:%u%d%d]", f->frames[k].function,
                       dump_text(f->frames[k].mangled), dump_text(f->frames[k].file),
                       f->frames[k].line, f->frames[k].inlined, f->frames[k].local);
        buf_puts(d->out, "\n");
    }
}

static void dump_stack(struct dump *d, const struct stack_row *s)
{
    buf_printf(d->out,
               "   stack %llu n=%llu w=%.6f ms=%llu/%llu pending=%d prov=%d %lld-%lld %s raw=%zu "
               "%02x%02x kind=%d\n",
               (unsigned long long)s->stack_id, (unsigned long long)s->count, s->weighted,
               (unsigned long long)s->stall_ms, (unsigned long long)s->weighted_stall_ms,
               s->pending, s->provisional * 2 + s->approximate, (long long)s->first_seen_ms,
               (long long)s->last_seen_ms, dump_text(s->bundle_id), s->raw.count, s->part[0],
               s->part[1], s->cluster_kind);
    dump_resolved(d, &s->resolved);
}

static void dump_due(struct dump *d)
{
    struct error err = {0};
    struct finding_due *rows;
    size_t n;
    if (!dump_ok(d, read_findings_due(d->r, READ_LIMIT_MAX, &d->arena, &rows, &n, &err), &err))
        return;
    for (size_t i = 0; i < n; i++)
        buf_printf(d->out, "due %llu gen=%u %s s=%zu t=%zu\n",
                   (unsigned long long)rows[i].report_id, rows[i].generation, rows[i].report.id,
                   rows[i].report.sample_count, rows[i].report.thread_count);
}

static void dump_pending(struct dump *d)
{
    struct error err = {0};
    struct pending_stack *rows;
    size_t n;
    if (!dump_ok(d, read_pending(d->r, 0, 10000, &d->arena, &rows, &n, &err), &err))
        return;
    for (size_t i = 0; i < n; i++)
        buf_printf(d->out, "pending %llu gen=%u app=%s give_up=%d raw=%zu\n",
                   (unsigned long long)rows[i].stack_id, rows[i].generation, rows[i].bundle_id,
                   rows[i].give_up, rows[i].raw_len);
}

static void dump_cluster(struct dump *d, const struct cluster_row *c)
{
    buf_printf(d->out, "  cluster %llu %s|%s|%s|%s|%s|%s|%s|%s|%s|%s kind=%d %d%d",
               (unsigned long long)c->id, c->bundle_id, c->title, dump_text(c->function),
               dump_text(c->file), dump_text(c->image), c->category, dump_text(c->owner), c->state,
               c->key_text, c->rules_version, c->cluster_kind, c->provisional, c->hidden);
    buf_printf(d->out, " approx=%d", c->approximate);
    buf_printf(d->out, " in %s (%s) %s back %lld %s (%s)", dump_text(c->resolved_in),
               dump_text(c->resolved_build), dump_text(c->note), (long long)c->regressed_ms,
               dump_text(c->regressed_in), dump_text(c->regressed_build));
    dump_figures(d, &c->figures);
    buf_printf(d->out, " dev=%llu ver=%llu st=%llu %lld-%lld [", (unsigned long long)c->devices,
               (unsigned long long)c->versions, (unsigned long long)c->stacks,
               (long long)c->first_seen_ms, (long long)c->last_seen_ms);
    buf_printf(d->out, "%s(%s)-%s(%s) ", dump_text(c->first_version), dump_text(c->first_build),
               dump_text(c->last_version), dump_text(c->last_build));
    for (size_t i = 0; i < c->trend_count; i++)
        buf_printf(d->out, "%llu ", (unsigned long long)c->trend[i].count);
    buf_printf(d->out, "to %d]\n", c->trend[13].day);
}

static void dump_lists(struct dump *d)
{
    struct error err = {0};
    struct read_filter f[DUMP_FILTERS];
    dump_filters(f);
    for (size_t i = 0; i < DUMP_FILTERS; i++) {
        for (int sort = SORT_COUNT; sort <= SORT_P90; sort += i ? 4 : 1) {
            const char *cursor = NULL;
            buf_printf(d->out, "clusters filter %zu sort %d\n", i, sort);
            do {
                struct cluster_row *rows;
                size_t n;
                if (!dump_ok(d,
                             read_clusters(d->r, &f[i], (enum cluster_sort)sort, 4, cursor,
                                           &d->arena, &rows, &n, &cursor, &err),
                             &err))
                    break;
                for (size_t k = 0; k < n; k++)
                    dump_cluster(d, &rows[k]);
                buf_printf(d->out, " next %s\n", dump_text(cursor));
            } while (cursor);
        }
    }
}

static void dump_report(struct dump *d, const struct report_row *r)
{
    buf_printf(d->out,
               "  report %s %s c=%llu %d %lld %lld %lld skew=%d dur=%lld w=%.6f %s|%s|%s|%s|%s|%s|"
               "%s|%s|%s|%s|%s cpu=%d mem=%d gaps=%zu stack=%d s=%zu t=%zu\n",
               r->id, r->bundle_id, (unsigned long long)r->cluster_id, r->kind,
               (long long)r->time_ms, (long long)r->received_ms, (long long)r->device_time_ms,
               r->clock_skew, (long long)r->duration_ms, r->weight, dump_text(r->threshold_type),
               r->version, r->build, r->device, r->os_version, r->os_build, r->arch, r->page,
               r->path, dump_text(r->stack_skipped), dump_text(r->tags), r->cpu_usage,
               r->memory_usage, r->frame_gap_count, r->has_stack, r->sample_count, r->thread_count);
    buf_printf(d->out, "   category %s\n", dump_text(r->category));
    if (r->finding.has_culprit)
        buf_printf(d->out, "   culprit %u %lld/%lld %.6f\n", r->finding.sample,
                   (long long)r->finding.stage_ms, (long long)r->finding.total_ms,
                   r->finding.confidence);
    if (r->finding.deadlock)
        buf_printf(d->out, "   deadlock %s\n", r->finding.deadlock);
}

static void dump_reports_of(struct dump *d, uint64_t id, const struct read_filter *f)
{
    struct error err = {0};
    struct report_row *rows;
    const char *cursor = NULL;
    size_t n;
    do {
        if (!dump_ok(
                d,
                read_cluster_reports(d->r, id, f, 6, cursor, &d->arena, &rows, &n, &cursor, &err),
                &err))
            break;
        for (size_t i = 0; i < n; i++)
            dump_report(d, &rows[i]);
        buf_printf(d->out, " next %s\n", dump_text(cursor));
    } while (cursor);
}

static void dump_findings_of(struct dump *d, uint64_t id)
{
    struct error err = {0};
    struct cluster_findings c;
    struct read_filter f;
    read_filter_init(&f);
    f.deadlock = true;
    dump_ok(d, read_cluster_findings(d->r, id, &c, &err), &err);
    buf_printf(d->out, "  found %llu %.6f %llu\n", (unsigned long long)c.culprits,
               isnan(c.mean_confidence) ? -1 : c.mean_confidence, (unsigned long long)c.deadlocks);
    dump_reports_of(d, id, &f);
}

static void dump_changes(struct dump *d, uint64_t id)
{
    struct error err = {0};
    struct cluster_change *rows;
    const char *cursor = NULL;
    size_t n;
    do {
        if (!dump_ok(d,
                     read_cluster_history(d->r, id, 3, cursor, &d->arena, &rows, &n, &cursor, &err),
                     &err))
            break;
        for (size_t i = 0; i < n; i++)
            buf_printf(d->out, "  change %llu %lld %s %d %s>%s in %s (%s) note %s by %s (%s)\n",
                       (unsigned long long)rows[i].id, (long long)rows[i].at_ms,
                       dump_text(rows[i].who), rows[i].regression, rows[i].from_state,
                       rows[i].to_state, dump_text(rows[i].resolved_in),
                       dump_text(rows[i].resolved_build), dump_text(rows[i].note),
                       dump_text(rows[i].version), dump_text(rows[i].build));
    } while (cursor);
}

static void dump_clusters_by_id(struct dump *d, uint64_t max)
{
    struct error err = {0};
    struct read_filter f[DUMP_FILTERS];
    dump_filters(f);
    for (uint64_t id = 1; id <= max; id++) {
        struct cluster_row c;
        struct stack_row *stacks;
        uint64_t *aliases;
        size_t n;
        buf_printf(d->out, "id %llu\n", (unsigned long long)id);
        if (!dump_ok(d, read_cluster(d->r, id, &f[id % DUMP_FILTERS], &d->arena, &c, &err), &err))
            continue;
        dump_cluster(d, &c);
        if (c.id != id)
            continue;
        dump_ok(d, read_cluster_aliases(d->r, id, &d->arena, &aliases, &n, &err), &err);
        for (size_t i = 0; i < n; i++)
            buf_printf(d->out, "  alias %llu\n", (unsigned long long)aliases[i]);
        dump_changes(d, id);
        dump_ok(d, read_cluster_stacks(d->r, id, 4, &d->arena, &stacks, &n, &err), &err);
        for (size_t i = 0; i < n; i++)
            dump_stack(d, &stacks[i]);
        dump_reports_of(d, id, &f[(id + 3) % DUMP_FILTERS]);
        dump_findings_of(d, id);
        dump_cluster_numbers(d, id, c.bundle_id);
    }
}

static void dump_reports(struct dump *d, const char *const *ids, size_t count)
{
    struct error err = {0};
    for (size_t i = 0; i < count; i++) {
        struct report_row r;
        buf_printf(d->out, "report %s\n", ids[i]);
        if (!dump_ok(d, read_report(d->r, i % 2 ? SUITE_APP : NULL, ids[i], &d->arena, &r, &err),
                     &err))
            continue;
        dump_report(d, &r);
        if (r.has_stack)
            dump_stack(d, &r.stack);
        for (size_t k = 0; r.has_stack && k < r.stack.raw.count; k++)
            buf_printf(d->out, " %llx", (unsigned long long)r.addresses[k]);
        for (size_t k = 0; k < r.sample_count; k++) {
            buf_printf(d->out, "  sample %d %u %d %s %llx\n", r.samples[k].offset_ms,
                       r.samples[k].repeat_count, r.samples[k].cpu_usage,
                       dump_text(r.samples[k].thread_state),
                       (unsigned long long)r.samples[k].addresses[0]);
            dump_stack(d, &r.samples[k].stack);
        }
        for (size_t k = 0; k < r.thread_count; k++) {
            const struct thread_row *t = &r.threads[k];
            buf_printf(d->out, "  thread %lld %s %s %d %s %llx %lld\n", (long long)t->tid,
                       dump_text(t->name), dump_text(t->state), t->stalled,
                       dump_text(t->waits_kind), (unsigned long long)t->waits_address,
                       (long long)t->owner_tid);
            if (t->has_stack)
                dump_stack(d, &t->stack);
        }
    }
}

void dump_storage(struct storage_reader *r, const char *const *ids, size_t id_count,
                  uint64_t max_cluster, struct buf *out)
{
    struct dump d = {.r = r, .out = out};
    struct read_filter f[DUMP_FILTERS];
    dump_filters(f);
    arena_init(&d.arena, (size_t)1 << 30);
    dump_pending(&d);
    dump_due(&d);
    dump_symbols(&d);
    dump_lists(&d);
    dump_clusters_by_id(&d, max_cluster);
    dump_reports(&d, ids, id_count);
    dump_merges(&d, max_cluster);
    dump_app_numbers(&d, max_cluster);
    dump_reports_of(&d, 0, &f[6]);
    arena_done(&d.arena);
    ck_assert(!out->failed);
}
