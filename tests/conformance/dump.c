#include "tests/conformance/dump.h"

#include <check.h>
#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "storage/read_compare.h"
#include "storage/read_context.h"
#include "storage/read_findings.h"
#include "storage/read_hours.h"
#include "storage/read_stack_weights.h"
#include "storage/read_stand_ins.h"
#include "storage/read_trend.h"
#include "tests/conformance/dump_merges.h"
#include "tests/conformance/suite.h"

struct dump {
    struct storage_reader *r;
    struct arena arena;
    struct buf *out;
};

static bool ok(struct dump *d, enum err rc, const struct error *err)
{
    ck_assert_msg(rc == ERR_OK || rc == ERR_NOT_FOUND, "%s", err->text);
    if (rc)
        buf_puts(d->out, "  not found\n");
    return rc == ERR_OK;
}

static const char *text(const char *s)
{
    return s ? s : "-";
}

static void uuid_line(struct dump *d, const struct uuid *u)
{
    char out[UUID_TEXT_SIZE];
    buf_printf(d->out, " %s", uuid_format(u, out));
}

static void figures(struct dump *d, const struct duration_figures *f)
{
    buf_printf(d->out, " n=%llu w=%.6f ms=%llu/%llu p=%lld/%lld/%lld", (unsigned long long)f->count,
               f->weighted, (unsigned long long)f->stall_ms,
               (unsigned long long)f->weighted_stall_ms, (long long)f->p50_ms, (long long)f->p90_ms,
               (long long)f->p99_ms);
}

static void dump_resolved(struct dump *d, const struct resolved_stack *s)
{
    for (size_t i = 0; i < s->count; i++) {
        const struct resolved_frame *f = &s->frames[i];
        buf_printf(d->out, "    %d%d%d%d %s +%llx", f->status, f->approximate, f->in_app,
                   f->has_index, text(f->image_name), (unsigned long long)f->offset);
        uuid_line(d, &f->image);
        for (size_t k = 0; k < f->frame_count; k++)
            buf_printf(d->out, " [%s|%s|%s:%u%d%d]", f->frames[k].function,
                       text(f->frames[k].mangled), text(f->frames[k].file), f->frames[k].line,
                       f->frames[k].inlined, f->frames[k].local);
        buf_puts(d->out, "\n");
    }
}

static void dump_stack(struct dump *d, const struct stack_row *s)
{
    buf_printf(d->out,
               "   stack %llu n=%llu w=%.6f ms=%llu pending=%d prov=%d %lld-%lld %s raw=%zu "
               "%02x%02x kind=%d\n",
               (unsigned long long)s->stack_id, (unsigned long long)s->count, s->weighted,
               (unsigned long long)s->stall_ms, s->pending, s->provisional * 2 + s->approximate,
               (long long)s->first_seen_ms, (long long)s->last_seen_ms, text(s->bundle_id),
               s->raw.count, s->part[0], s->part[1], s->cluster_kind);
    dump_resolved(d, &s->resolved);
}

static void dump_due(struct dump *d)
{
    struct error err = {0};
    struct finding_due *rows;
    size_t n;
    if (!ok(d, read_findings_due(d->r, READ_LIMIT_MAX, &d->arena, &rows, &n, &err), &err))
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
    if (!ok(d, read_pending(d->r, 0, 10000, &d->arena, &rows, &n, &err), &err))
        return;
    for (size_t i = 0; i < n; i++)
        buf_printf(d->out, "pending %llu gen=%u app=%s give_up=%d raw=%zu\n",
                   (unsigned long long)rows[i].stack_id, rows[i].generation, rows[i].bundle_id,
                   rows[i].give_up, rows[i].raw_len);
}

static void dump_images(struct dump *d)
{
    struct error err = {0};
    struct layout_row *rows;
    size_t n;
    for (uint32_t i = 0; i < 100; i++) {
        struct uuid u = suite_uuid(i);
        struct image_row image;
        if (read_image(d->r, SUITE_APP, &u, &d->arena, &image, &err) == ERR_OK)
            buf_printf(d->out, "image %u %d %d %s %s\n", i, image.kind, image.class, image.name,
                       text(image.arch));
    }
    struct uuid group = suite_uuid(SUITE_GROUP);
    ok(d, read_group(d->r, &group, &d->arena, &rows, &n, &err), &err);
    for (size_t i = 0; i < n; i++) {
        buf_printf(d->out, "member %llx %llx", (unsigned long long)rows[i].vmaddr,
                   (unsigned long long)rows[i].size);
        uuid_line(d, &rows[i].uuid);
        buf_puts(d->out, "\n");
    }
    ok(d, read_layouts(d->r, 1000, &d->arena, &rows, &n, &err), &err);
    for (size_t i = 0; i < n; i++) {
        buf_printf(d->out, "layout %llx", (unsigned long long)rows[i].vmaddr);
        uuid_line(d, &rows[i].uuid);
        buf_puts(d->out, "\n");
    }
}

static void dump_slice(struct dump *d, const struct slice_row *x)
{
    buf_printf(d->out, "  slice %s %s %s %s %d%d%d f=%llu l=%llu up=%llu app=%s %d%d %llu %llu",
               text(x->name), text(x->member), text(x->arch), text(x->reason), x->indexed,
               x->current, x->has_dwarf, (unsigned long long)x->functions,
               (unsigned long long)x->lines, (unsigned long long)x->upload_id, text(x->bundle_id),
               x->lost, x->object_kept, (unsigned long long)x->id,
               (unsigned long long)x->index_bytes);
    uuid_line(d, &x->uuid);
    buf_puts(d->out, "\n");
}

static void dump_objects(struct dump *d)
{
    struct error err = {0};
    struct object_row *rows;
    struct object_totals t;
    char sha[SHA256_TEXT_SIZE];
    size_t n;
    if (ok(d, read_object_totals(d->r, &t, &err), &err))
        buf_printf(d->out, "objects %llu %llu %llu %llu %llu\n", (unsigned long long)t.files,
                   (unsigned long long)t.bytes, (unsigned long long)t.system_files,
                   (unsigned long long)t.system_bytes, (unsigned long long)t.index_bytes);
    for (int mode = 0; mode < 3; mode++) {
        if (!ok(d,
                read_idle_objects(d->r, mode == 0 ? 0 : INT64_MAX, mode == 2 ? INT64_MAX : 0, 100,
                                  &d->arena, &rows, &n, &err),
                &err))
            return;
        for (size_t i = 0; i < n; i++)
            buf_printf(d->out, " object %d %s %llu %lld\n", mode,
                       sha256_format(rows[i].sha256, sha), (unsigned long long)rows[i].bytes,
                       (long long)rows[i].used_ms);
    }
}

static void dump_store(struct dump *d)
{
    struct error err = {0};
    struct refit_row *refits;
    struct protected_row *builds;
    struct open_upload_row *open;
    size_t n;
    if (ok(d, read_refits(d->r, 100, &d->arena, &refits, &n, &err), &err)) {
        for (size_t i = 0; i < n; i++) {
            buf_printf(d->out, "refit %d", refits[i].deleted);
            uuid_line(d, &refits[i].uuid);
            buf_puts(d->out, "\n");
        }
    }
    dump_objects(d);
    if (ok(d, read_protected(d->r, NULL, &d->arena, &builds, &n, &err), &err)) {
        for (size_t i = 0; i < n; i++)
            buf_printf(d->out, "protected %s/%s/%s/%s %lld\n", builds[i].bundle_id,
                       builds[i].version, builds[i].build, builds[i].os_build,
                       (long long)builds[i].created_ms);
    }
    if (!ok(d, read_open_uploads(d->r, NULL, INT64_MAX, 100, &d->arena, &open, &n, &err), &err))
        return;
    for (size_t i = 0; i < n; i++) {
        struct open_upload_row x;
        ok(d, read_open_upload(d->r, open[i].id, &d->arena, &x, &err), &err);
        buf_printf(d->out, "open %d %d %llu/%llu %s %s %s %d%d %zu %lld %llu\n", x.id[0],
                   x.sha256[0], (unsigned long long)x.received, (unsigned long long)x.size,
                   x.spool_file, x.bundle_id, x.version, x.system, x.protect, x.hash_state_len,
                   (long long)x.touched_ms, (unsigned long long)x.upload_id);
    }
}

static void dump_symbols(struct dump *d)
{
    struct error err = {0};
    struct slice_row *rows;
    const char *cursor = NULL;
    size_t n;
    for (uint64_t id = 1; id < 40; id++) {
        struct upload_row u;
        if (read_upload(d->r, id, &d->arena, &u, &err))
            continue; /* deleted, or not there yet */
        buf_printf(d->out, "upload %llu %d %s %zu\n", (unsigned long long)id, u.state,
                   text(u.reason), u.slice_count);
        for (size_t i = 0; i < u.slice_count; i++)
            dump_slice(d, &u.slices[i]);
        ok(d, read_upload_by_sha256(d->r, u.sha256, &d->arena, &u, &err), &err);
    }
    do {
        if (!ok(d, read_symbols(d->r, NULL, 2, cursor, &d->arena, &rows, &n, &cursor, &err), &err))
            break;
        for (size_t i = 0; i < n; i++)
            dump_slice(d, &rows[i]);
        buf_printf(d->out, " next %s\n", text(cursor));
    } while (cursor);
}

static void dump_missing(struct dump *d)
{
    struct error err = {0};
    struct missing_row *rows;
    const char *cursor = NULL;
    size_t n;
    do {
        if (!ok(d, read_missing(d->r, NULL, 3, cursor, &d->arena, &rows, &n, &cursor, &err), &err))
            break;
        for (size_t i = 0; i < n; i++) {
            buf_printf(d->out, "missing %s %s %d %s n=%llu f=%llu %lld-%lld", rows[i].name,
                       text(rows[i].arch), rows[i].class, rows[i].bundle_id,
                       (unsigned long long)rows[i].reports, (unsigned long long)rows[i].frames,
                       (long long)rows[i].first_seen_ms, (long long)rows[i].last_seen_ms);
            uuid_line(d, &rows[i].uuid);
            for (size_t k = 0; k < rows[i].version_count; k++)
                buf_printf(d->out, " %s", rows[i].versions[k]);
            for (size_t k = 0; k < rows[i].candidate_count; k++) {
                const struct missing_candidate *c = &rows[i].candidates[k];
                buf_printf(d->out, " or %s (%s) %d%d", c->version, c->build, c->same_build,
                           c->has_dwarf);
                uuid_line(d, &c->uuid);
            }
            if (rows[i].stand_in)
                uuid_line(d, rows[i].stand_in);
            buf_puts(d->out, "\n");
        }
        buf_printf(d->out, " next %s\n", text(cursor));
    } while (cursor);
}

static void dump_stand_ins(struct dump *d)
{
    struct error err = {0};
    struct stand_in_row *rows;
    size_t n;
    if (!ok(d, read_stand_ins(d->r, NULL, &d->arena, &rows, &n, &err), &err))
        return;
    for (size_t i = 0; i < n; i++) {
        buf_printf(d->out, "stand-in %d %lld", rows[i].by_hand, (long long)rows[i].created_ms);
        uuid_line(d, &rows[i].uuid);
        uuid_line(d, &rows[i].stand_in);
    }
}

static void dump_cluster(struct dump *d, const struct cluster_row *c)
{
    buf_printf(d->out, "  cluster %llu %s|%s|%s|%s|%s|%s|%s|%s|%s|%s kind=%d %d%d",
               (unsigned long long)c->id, c->bundle_id, c->title, text(c->function), text(c->file),
               text(c->image), c->category, text(c->owner), c->state, c->key_text, c->rules_version,
               c->cluster_kind, c->provisional, c->hidden);
    buf_printf(d->out, " approx=%d", c->approximate);
    buf_printf(d->out, " in %s (%s) %s back %lld %s (%s)", text(c->resolved_in),
               text(c->resolved_build), text(c->note), (long long)c->regressed_ms,
               text(c->regressed_in), text(c->regressed_build));
    figures(d, &c->figures);
    buf_printf(d->out, " dev=%llu ver=%llu st=%llu %lld-%lld [", (unsigned long long)c->devices,
               (unsigned long long)c->versions, (unsigned long long)c->stacks,
               (long long)c->first_seen_ms, (long long)c->last_seen_ms);
    buf_printf(d->out, "%s(%s)-%s(%s) ", text(c->first_version), text(c->first_build),
               text(c->last_version), text(c->last_build));
    for (size_t i = 0; i < c->trend_count; i++)
        buf_printf(d->out, "%llu ", (unsigned long long)c->trend[i].count);
    buf_printf(d->out, "to %d]\n", c->trend[13].day);
}

/* Filters of every kind: from cached sums, counters, reports. */
static size_t filters(struct read_filter *f)
{
    for (size_t i = 0; i < 10; i++)
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
    return 10;
}

static void dump_lists(struct dump *d)
{
    struct error err = {0};
    struct read_filter f[10];
    size_t count = filters(f);
    for (size_t i = 0; i < count; i++) {
        for (int sort = SORT_COUNT; sort <= SORT_P90; sort += i ? 4 : 1) {
            const char *cursor = NULL;
            buf_printf(d->out, "clusters filter %zu sort %d\n", i, sort);
            do {
                struct cluster_row *rows;
                size_t n;
                if (!ok(d,
                        read_clusters(d->r, &f[i], (enum cluster_sort)sort, 4, cursor, &d->arena,
                                      &rows, &n, &cursor, &err),
                        &err))
                    break;
                for (size_t k = 0; k < n; k++)
                    dump_cluster(d, &rows[k]);
                buf_printf(d->out, " next %s\n", text(cursor));
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
               r->clock_skew, (long long)r->duration_ms, r->weight, text(r->threshold_type),
               r->version, r->build, r->device, r->os_version, r->os_build, r->arch, r->page,
               r->path, text(r->stack_skipped), text(r->tags), r->cpu_usage, r->memory_usage,
               r->frame_gap_count, r->has_stack, r->sample_count, r->thread_count);
    buf_printf(d->out, "   category %s\n", text(r->category));
    if (r->finding.has_culprit)
        buf_printf(d->out, "   culprit %u %lld/%lld %.6f\n", r->finding.sample,
                   (long long)r->finding.stage_ms, (long long)r->finding.total_ms,
                   r->finding.confidence);
    if (r->finding.deadlock)
        buf_printf(d->out, "   deadlock %s\n", r->finding.deadlock);
}

static void dump_breakdown(struct dump *d, uint64_t id, const struct read_filter *f)
{
    struct error err = {0};
    for (int by = BY_VERSION; by < BREAKDOWN_DIMENSIONS; by++) {
        for (int by2 = BY_NONE; by2 < BREAKDOWN_DIMENSIONS; by2++) {
            struct breakdown_row *rows;
            struct breakdown_scope scope;
            size_t n;
            if (by == by2 ||
                !ok(d,
                    read_breakdown(d->r, id, f, (enum breakdown_by)by, (enum breakdown_by)by2, 5,
                                   &d->arena, &rows, &n, &scope, &err),
                    &err))
                continue;
            buf_printf(d->out, " by %d,%d from %s %lld\n", by, by2, scope.source,
                       (long long)scope.since_ms);
            for (size_t i = 0; i < n; i++) {
                buf_printf(d->out, "  %s,%s", rows[i].value, text(rows[i].value2));
                figures(d, &rows[i].figures);
                buf_printf(d->out, " %.6f %.6f used %d %llu %.6f\n", rows[i].share,
                           rows[i].app_share, rows[i].usage.known,
                           (unsigned long long)rows[i].usage.foreground_ms, rows[i].usage.launches);
            }
        }
    }
}

static void dump_reports_of(struct dump *d, uint64_t id, const struct read_filter *f)
{
    struct error err = {0};
    struct report_row *rows;
    const char *cursor = NULL;
    size_t n;
    do {
        if (!ok(d,
                read_cluster_reports(d->r, id, f, 6, cursor, &d->arena, &rows, &n, &cursor, &err),
                &err))
            break;
        for (size_t i = 0; i < n; i++)
            dump_report(d, &rows[i]);
        buf_printf(d->out, " next %s\n", text(cursor));
    } while (cursor);
}

/* Hours that have reports; inside of what is known they add up to the days of the counters. */
static void dump_hours(struct dump *d, uint64_t id, const char *bundle_id)
{
    const int64_t begin = (SUITE_DAY0 - 4) * HOURS_A_DAY;
    struct error err = {0};
    struct read_filter f;
    struct hour_row *rows;
    struct breakdown_row *days;
    struct breakdown_scope scope;
    int64_t known = 0;
    size_t n = 0;
    read_filter_init(&f);
    f.bundle_id = bundle_id;
    if (!ok(d, read_hours(d->r, id, &f, begin, READ_HOURS_MAX, &d->arena, &rows, &known, &err),
            &err))
        return;
    buf_printf(d->out, " hours from %lld\n", (long long)known);
    for (size_t i = 0; i < READ_HOURS_MAX; i++) {
        if (rows[i].count)
            buf_printf(d->out, "  %lld %llu %.6f %llu/%llu\n", (long long)rows[i].hour,
                       (unsigned long long)rows[i].count, rows[i].weighted,
                       (unsigned long long)rows[i].stall_ms,
                       (unsigned long long)rows[i].weighted_stall_ms);
    }
    ok(d, read_breakdown(d->r, id, &f, BY_DAY, BY_NONE, 1000, &d->arena, &days, &n, &scope, &err),
       &err);
    for (size_t i = 0; i < n; i++) {
        uint64_t count = 0;
        uint64_t stall_ms = 0;
        int32_t day = 0;
        ck_assert(clock_parse_day(days[i].value, strlen(days[i].value), &day));
        const int64_t at = (int64_t)day * HOURS_A_DAY - begin;
        if (at < 0 || at + HOURS_A_DAY > READ_HOURS_MAX || at + begin < known)
            continue;
        for (int k = 0; k < HOURS_A_DAY; k++) {
            count += rows[at + k].count;
            stall_ms += rows[at + k].stall_ms;
        }
        ck_assert_uint_eq(count, days[i].figures.count);
        ck_assert_uint_eq(stall_ms, days[i].figures.stall_ms);
    }
}

static void dump_findings_of(struct dump *d, uint64_t id)
{
    struct error err = {0};
    struct cluster_findings c;
    struct read_filter f;
    read_filter_init(&f);
    f.deadlock = true;
    ok(d, read_cluster_findings(d->r, id, &c, &err), &err);
    buf_printf(d->out, "  found %llu %.6f %llu\n", (unsigned long long)c.culprits,
               isnan(c.mean_confidence) ? -1 : c.mean_confidence, (unsigned long long)c.deadlocks);
    dump_reports_of(d, id, &f);
}

static enum err dump_weight(void *ctx, const struct weighed_stack *w, struct error *err)
{
    struct dump *d = ctx;
    (void)err;
    buf_printf(d->out, "  weight %llu", (unsigned long long)w->stack_id);
    for (size_t i = 0; i < WEIGHT_FILTERS_MAX; i++)
        buf_printf(d->out, " %lld/%lld/%lld", (long long)w->weights[i].count,
                   (long long)w->weights[i].weighted, (long long)w->weights[i].stall_ms);
    buf_printf(d->out, " %zu\n", w->raw_len);
    for (size_t i = 0; i < w->frame_count; i++) {
        const struct weighed_frame *f = &w->frames[i];
        buf_printf(d->out, "    %s %s %s %d%d", text(f->function), text(f->image), text(f->file),
                   f->in_app, f->lasting);
        if (!f->function) {
            buf_printf(d->out, " %d +%llx", f->image_kind, (unsigned long long)f->offset);
            uuid_line(d, &f->image_id);
        }
        buf_puts(d->out, "\n");
    }
    return ERR_OK;
}

/* Pairs of filters, each with the one before it. */
static void dump_weights(struct dump *d, uint64_t id)
{
    struct error err = {0};
    struct breakdown_scope scopes[2];
    struct read_filter f[10];
    filters(f);
    for (size_t i = 0; i < 10; i++) {
        const struct read_filter pair[2] = {f[i], f[i ? i - 1 : 9]};
        buf_printf(d->out, " weights %zu\n", i);
        if (ok(d,
               read_stack_weights(d->r, id, pair, 1 + i % 2, &d->arena, dump_weight, d, scopes,
                                  &err),
               &err))
            buf_printf(d->out, "  from %s %lld\n", scopes[0].source, (long long)scopes[0].since_ms);
    }
}

static void dump_changes(struct dump *d, uint64_t id)
{
    struct error err = {0};
    struct cluster_change *rows;
    const char *cursor = NULL;
    size_t n;
    do {
        if (!ok(d, read_cluster_history(d->r, id, 3, cursor, &d->arena, &rows, &n, &cursor, &err),
                &err))
            break;
        for (size_t i = 0; i < n; i++)
            buf_printf(d->out, "  change %llu %lld %s %d %s>%s in %s (%s) note %s by %s (%s)\n",
                       (unsigned long long)rows[i].id, (long long)rows[i].at_ms, text(rows[i].who),
                       rows[i].regression, rows[i].from_state, rows[i].to_state,
                       text(rows[i].resolved_in), text(rows[i].resolved_build), text(rows[i].note),
                       text(rows[i].version), text(rows[i].build));
    } while (cursor);
}

static void dump_trend(struct dump *d, uint64_t id, const struct read_filter *f)
{
    struct error err = {0};
    struct trend t;
    struct totals_row totals;
    for (int by = BY_NONE; by < BREAKDOWN_DIMENSIONS; by++) {
        for (int step = TREND_DAY; step <= TREND_WEEK; step++) {
            const struct trend_query q = {
                .cluster_id = id,
                .step = (enum trend_step)step,
                .group = (enum breakdown_by)by,
                .begin = trend_number((enum trend_step)step, SUITE_NOW) - 3,
                .points = 20,
                .groups = 2,
            };
            if (by == BY_DAY || !ok(d, read_trend(d->r, f, &q, &d->arena, &t, &err), &err))
                continue;
            buf_printf(d->out, " trend %d,%d from %s %lld used %d\n", by, step, t.scope.source,
                       (long long)t.scope.since_ms, t.usage_known);
            for (size_t i = 0; i < t.count; i++) {
                buf_printf(d->out, "  %s", text(t.series[i].value));
                for (size_t k = 0; k < q.points; k++) {
                    const struct trend_sums *p = &t.series[i].points[k];
                    buf_printf(d->out, " %llu/%.6f/%llu/%llu/%llu", (unsigned long long)p->count,
                               p->weighted, (unsigned long long)p->stall_ms,
                               (unsigned long long)p->weighted_stall_ms,
                               (unsigned long long)p->foreground_ms);
                }
                buf_puts(d->out, "\n");
            }
        }
    }
    if (id == 0 && ok(d, read_totals(d->r, f, &totals, &err), &err)) {
        buf_printf(d->out, " totals used %d %llu %.6f", totals.usage.known,
                   (unsigned long long)totals.usage.foreground_ms, totals.usage.launches);
        figures(d, &totals.figures);
        buf_puts(d->out, "\n");
    }
}

static void dump_context(struct dump *d, uint64_t id, const struct read_filter *f)
{
    struct error err = {0};
    struct context c;
    for (int by = BY_NONE; by < BREAKDOWN_DIMENSIONS; by++) {
        const enum breakdown_by by2 = by == BY_DEVICE ? BY_CATEGORY : BY_NONE;
        if (!ok(d, read_context(d->r, id, f, (enum breakdown_by)by, by2, &d->arena, &c, &err),
                &err))
            continue;
        buf_printf(d->out, " context %d of %llu since %lld\n", by, (unsigned long long)c.reports,
                   (long long)c.since_ms);
        for (size_t i = 0; i < c.count; i++) {
            const struct context_row *row = &c.rows[i];
            buf_printf(d->out, "  %s,%s %llu cpu %lld %lld memory %lld %lld", text(row->value),
                       text(row->value2), (unsigned long long)row->reports, (long long)row->cpu_p50,
                       (long long)row->cpu_p90, (long long)row->memory_p50,
                       (long long)row->memory_p90);
            for (size_t k = 0; k < row->page_count; k++)
                buf_printf(d->out, " %s:%llu", row->pages[k].value,
                           (unsigned long long)row->pages[k].count);
            for (size_t k = 0; k < row->path_count; k++)
                buf_printf(d->out, " %s:%llu", row->paths[k].value,
                           (unsigned long long)row->paths[k].count);
            buf_puts(d->out, "\n");
        }
    }
}

static void dump_compare(struct dump *d, int kind)
{
    static const char *const versions[2] = {"1.0", "2.1"};
    struct error err = {0};
    struct read_filter f;
    struct compare_cell *cells;
    size_t n;
    read_filter_init(&f);
    f.bundle_id = SUITE_APP;
    f.kind = kind;
    f.since_ms = SUITE_DAY0 * 86400000;
    if (!ok(d, read_compare(d->r, &f, versions, &d->arena, &cells, &n, &err), &err))
        return;
    for (size_t i = 0; i < n; i++)
        buf_printf(d->out, " compare %llu %d %d %llu %.6f %llu %llu\n",
                   (unsigned long long)cells[i].cluster_id, cells[i].side, cells[i].day,
                   (unsigned long long)cells[i].count, cells[i].weighted,
                   (unsigned long long)cells[i].stall_ms,
                   (unsigned long long)cells[i].weighted_stall_ms);
}

static void dump_clusters_by_id(struct dump *d, uint64_t max)
{
    struct error err = {0};
    struct read_filter f[10];
    filters(f);
    for (uint64_t id = 1; id <= max; id++) {
        struct cluster_row c;
        struct stack_row *stacks;
        uint64_t *aliases;
        size_t n;
        buf_printf(d->out, "id %llu\n", (unsigned long long)id);
        if (!ok(d, read_cluster(d->r, id, &f[id % 10], &d->arena, &c, &err), &err))
            continue;
        dump_cluster(d, &c);
        if (c.id != id)
            continue;
        ok(d, read_cluster_aliases(d->r, id, &d->arena, &aliases, &n, &err), &err);
        for (size_t i = 0; i < n; i++)
            buf_printf(d->out, "  alias %llu\n", (unsigned long long)aliases[i]);
        dump_changes(d, id);
        ok(d, read_cluster_stacks(d->r, id, 4, &d->arena, &stacks, &n, &err), &err);
        for (size_t i = 0; i < n; i++)
            dump_stack(d, &stacks[i]);
        dump_reports_of(d, id, &f[(id + 3) % 10]);
        dump_findings_of(d, id);
        dump_hours(d, id, id % 2 ? NULL : c.bundle_id);
        if (id % 4 == 3)
            dump_context(d, id, &f[id % 10]);
        if (id % 4 == 2)
            dump_trend(d, id, &f[id % 10]);
        if (id % 4 == 1)
            dump_breakdown(d, id, id % 8 == 1 ? &f[id % 7] : NULL);
    }
}

static void dump_reports(struct dump *d, const char *const *ids, size_t count)
{
    struct error err = {0};
    for (size_t i = 0; i < count; i++) {
        struct report_row r;
        buf_printf(d->out, "report %s\n", ids[i]);
        if (!ok(d, read_report(d->r, i % 2 ? SUITE_APP : NULL, ids[i], &d->arena, &r, &err), &err))
            continue;
        dump_report(d, &r);
        if (r.has_stack)
            dump_stack(d, &r.stack);
        for (size_t k = 0; r.has_stack && k < r.stack.raw.count; k++)
            buf_printf(d->out, " %llx", (unsigned long long)r.addresses[k]);
        for (size_t k = 0; k < r.sample_count; k++) {
            buf_printf(d->out, "  sample %d %u %d %s %llx\n", r.samples[k].offset_ms,
                       r.samples[k].repeat_count, r.samples[k].cpu_usage,
                       text(r.samples[k].thread_state),
                       (unsigned long long)r.samples[k].addresses[0]);
            dump_stack(d, &r.samples[k].stack);
        }
        for (size_t k = 0; k < r.thread_count; k++) {
            const struct thread_row *t = &r.threads[k];
            buf_printf(d->out, "  thread %lld %s %s %d %s %llx %lld\n", (long long)t->tid,
                       text(t->name), text(t->state), t->stalled, text(t->waits_kind),
                       (unsigned long long)t->waits_address, (long long)t->owner_tid);
            if (t->has_stack)
                dump_stack(d, &t->stack);
        }
    }
}

static void dump_stats(struct dump *d, const char *bundle_id)
{
    static const char *const by[] = {"app", "version", "image"};
    struct error err = {0};
    struct stats_row s;
    ok(d, read_stats(d->r, bundle_id, &s, &err), &err);
    buf_printf(d->out, "stats %s %llu %llu %llu %llu %llu %llu %llu %llu due=%llu %.6f\n",
               text(bundle_id), (unsigned long long)s.apps, (unsigned long long)s.reports,
               (unsigned long long)s.stacks, (unsigned long long)s.pending_stacks,
               (unsigned long long)s.provisional_stacks, (unsigned long long)s.clusters,
               (unsigned long long)s.symbol_files, (unsigned long long)s.uploads_waiting,
               (unsigned long long)s.pending_findings,
               isnan(s.symbolication_rate) ? -1 : s.symbolication_rate);
    for (size_t b = 0; b < 3; b++) {
        struct symbolication_row *rows;
        size_t n;
        ok(d, read_symbolication(d->r, bundle_id, by[b], 5, &d->arena, &rows, &n, &err), &err);
        for (size_t i = 0; i < n; i++)
            buf_printf(d->out, " %s %s %llu/%llu\n", by[b], rows[i].key,
                       (unsigned long long)rows[i].resolved, (unsigned long long)rows[i].frames);
    }
}

void dump_storage(struct storage_reader *r, const char *const *ids, size_t id_count,
                  uint64_t max_cluster, struct buf *out)
{
    struct dump d = {.r = r, .out = out};
    struct read_filter f[10];
    filters(f);
    arena_init(&d.arena, (size_t)1 << 30);
    dump_pending(&d);
    dump_due(&d);
    dump_images(&d);
    dump_symbols(&d);
    dump_store(&d);
    dump_missing(&d);
    dump_stand_ins(&d);
    dump_lists(&d);
    dump_clusters_by_id(&d, max_cluster);
    dump_reports(&d, ids, id_count);
    dump_merges(r, max_cluster, out);
    buf_puts(out, "app\n");
    dump_weights(&d, 0);
    for (uint64_t id = 1; id <= max_cluster && id <= 4; id++)
        dump_weights(&d, id);
    dump_hours(&d, 0, NULL);
    dump_hours(&d, 0, SUITE_APP);
    for (size_t i = 0; i < 10; i++)
        dump_trend(&d, 0, &f[i]);
    dump_compare(&d, -1);
    dump_compare(&d, REPORT_HANG);
    dump_context(&d, 0, NULL);
    dump_context(&d, 0, &f[6]);
    dump_breakdown(&d, 0, NULL);
    dump_breakdown(&d, 0, &f[5]);
    dump_breakdown(&d, 0, &f[8]);
    dump_reports_of(&d, 0, &f[6]);
    dump_stats(&d, NULL);
    dump_stats(&d, SUITE_APP);
    arena_done(&d.arena);
    ck_assert(!out->failed);
}
