#include <check.h>

#include "tests/conformance/dump_parts.h"
#include "tests/conformance/suite.h"

static void want(enum err rc, const struct error *err)
{
    ck_assert_msg(rc == ERR_OK, "%s: %s", err_name(rc), err->text);
}

static void print_key(struct dump *d, const uint8_t *key)
{
    buf_printf(d->out, " %02x%02x%02x", key[0], key[1], key[2]);
}

static void print_rule(struct dump *d, const struct cluster_rule_row *r)
{
    buf_printf(d->out, "  rule %llu %s kind=%d", (unsigned long long)r->id, r->bundle_id, r->kind);
    print_key(d, r->from);
    print_key(d, r->into);
    buf_printf(d->out, " depth=%u hand=%d score=%lld epoch=%llu %lld %lld %s|%s at=%llu\n",
               r->depth, r->by_hand, (long long)r->score, (unsigned long long)r->epoch,
               (long long)r->created_ms, (long long)r->undone_ms, r->from_title, r->into_title,
               (unsigned long long)r->cluster_id);
}

static void dump_rules(struct dump *d, const char *bundle_id, bool undone)
{
    struct error err = {0};
    struct cluster_rule_row *rows;
    const char *cursor = NULL;
    size_t n;
    do {
        want(read_cluster_rules(d->r, bundle_id, undone, 3, cursor, &d->arena, &rows, &n, &cursor,
                                &err),
             &err);
        for (size_t i = 0; i < n; i++)
            print_rule(d, &rows[i]);
        buf_printf(d->out, " next %s\n", dump_text(cursor));
    } while (cursor);
}

static void dump_parts(struct dump *d, uint64_t id)
{
    struct error err = {0};
    struct cluster_part *rows;
    size_t n;
    want(read_cluster_parts(d->r, id, 5, &d->arena, &rows, &n, &err), &err);
    for (size_t i = 0; i < n; i++) {
        buf_printf(d->out, " part of %llu own=%d stacks=%llu n=%llu %s", (unsigned long long)id,
                   rows[i].own, (unsigned long long)rows[i].stacks,
                   (unsigned long long)rows[i].count, dump_text(rows[i].title));
        print_key(d, rows[i].key);
        buf_puts(d->out, "\n");
        if (rows[i].merge.id)
            print_rule(d, &rows[i].merge);
    }
}

static void dump_keyed(struct dump *d, const char *bundle_id, uint64_t cluster_id)
{
    struct error err = {0};
    struct keyed_stack *rows;
    size_t n;
    uint64_t after = 0;
    do {
        want(read_keyed_stacks(d->r, bundle_id, cluster_id, after, 7, &d->arena, &rows, &n, &err),
             &err);
        for (size_t i = 0; i < n; i++) {
            const struct keyed_stack *k = &rows[i];
            buf_printf(d->out, " keyed %llu app=%llu gen=%u %d%d w=%lld %s frames=%zu",
                       (unsigned long long)k->stack_id, (unsigned long long)k->app_id,
                       k->generation, k->give_up, k->provisional, (long long)k->weighted,
                       k->rules_version, k->resolved.count);
            print_key(d, k->hash);
            print_key(d, k->part);
            print_key(d, k->cluster);
            buf_puts(d->out, "\n");
            after = k->stack_id;
        }
    } while (n == 7);
    for (size_t heaviest = 0; heaviest < 8 && !cluster_id; heaviest += 3) {
        struct stack_floor floor;
        uint64_t total;
        want(read_stack_floor(d->r, bundle_id, heaviest, &floor, &total, &err), &err);
        buf_printf(d->out, " floor %lld of %llu", (long long)floor.weighted,
                   (unsigned long long)total);
        print_key(d, floor.hash);
        buf_puts(d->out, "\n");
    }
}

static void dump_related(struct dump *d, const char *bundle_id, uint64_t cluster_id)
{
    struct error err = {0};
    struct related_row *rows;
    size_t n;
    want(read_related(d->r, bundle_id, cluster_id, &d->arena, &rows, &n, &err), &err);
    for (size_t i = 0; i < n; i++) {
        buf_printf(d->out, " related %lld %llu %s", (long long)rows[i].score,
                   (unsigned long long)rows[i].cluster_id, dump_text(rows[i].title));
        print_key(d, rows[i].key);
        print_key(d, rows[i].other);
        buf_puts(d->out, "\n");
    }
}

static void print_work(struct dump *d, const struct cluster_work_row *w)
{
    buf_printf(d->out,
               " work %llu.%u %s %d cluster=%llu phase=%d %llu/%llu/%llu/%llu %s %lld %lld %lld\n",
               (unsigned long long)w->id, w->attempt, w->bundle_id, w->kind,
               (unsigned long long)w->cluster_id, w->phase, (unsigned long long)w->after_id,
               (unsigned long long)w->seen, (unsigned long long)w->changed,
               (unsigned long long)w->total, w->rules_version, (long long)w->requested_ms,
               (long long)w->started_ms, (long long)w->finished_ms);
}

static void dump_work(struct dump *d)
{
    struct error err = {0};
    struct cluster_work_row *rows;
    struct cluster_app_row *apps;
    struct overlay_row *overlays;
    size_t n;
    want(read_cluster_work(d->r, &d->arena, &rows, &n, &err), &err);
    for (size_t i = 0; i < n; i++)
        print_work(d, &rows[i]);
    for (int all = 0; all < 2; all++) {
        want(read_cluster_work_last(d->r, all ? NULL : SUITE_APP, &d->arena, &rows, &n, &err),
             &err);
        buf_puts(d->out, " last\n");
        for (size_t i = 0; i < n; i++)
            print_work(d, &rows[i]);
    }
    want(read_cluster_apps(d->r, SUITE_RULES, &d->arena, &apps, &n, &err), &err);
    for (size_t i = 0; i < n; i++)
        buf_printf(d->out, " app %s %lld %d\n", apps[i].bundle_id, (long long)apps[i].epoch_ms,
                   apps[i].outdated);
    want(read_overlays(d->r, 1, &d->arena, &overlays, &n, &err), &err);
    for (size_t i = 0; i < n; i++)
        buf_printf(d->out, " overlay %llu %s v=%llu epoch=%llu %.*s\n",
                   (unsigned long long)overlays[i].app_id, overlays[i].bundle_id,
                   (unsigned long long)overlays[i].version, (unsigned long long)overlays[i].epoch,
                   (int)overlays[i].len, (const char *)overlays[i].data);
}

void dump_merges(struct dump *d, uint64_t max_cluster)
{
    dump_rules(d, NULL, true);
    dump_rules(d, SUITE_APP, false);
    dump_keyed(d, SUITE_APP, 0);
    dump_keyed(d, "com.example.other", 0);
    dump_keyed(d, "com.example.nobody", 0);
    dump_related(d, SUITE_APP, 0);
    for (uint64_t id = 1; id <= max_cluster; id++) {
        dump_parts(d, id);
        dump_related(d, SUITE_APP, id);
        if (id % 4 == 0)
            dump_keyed(d, SUITE_APP, id);
    }
    dump_work(d);
}
