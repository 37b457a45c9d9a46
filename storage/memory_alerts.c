/* The memory backend's alerts; see sqlite_write_alerts.c and queries_alerts.sql for what they mean. */
#include "storage/memory_alerts.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "storage/frames_blob.h"
#include "storage/memory_read.h"

#define EXPIRE_ROWS 500

static const char *keep(struct mem_storage *m, const char *text, bool *failed)
{
    const char *copy = text ? arena_strdup(&m->arena, text) : NULL;
    *failed |= text && !copy;
    return copy;
}

/* --- writing --------------------------------------------------------------------------------- */

enum err mem_write_alert_rules(struct mem_storage *m, struct write_op *op, struct error *err)
{
    struct op_alert_rules *o = &op->u.alert_rules;
    struct alert_settings *s = &m->work->alert_settings;
    bool failed = false;
    if (o->expected_revision >= 0 && o->expected_revision != s->revision)
        return error_set(err, ERR_CONFLICT, "the rules are at revision %lld by now",
                         (long long)s->revision);
    if (!s->document)
        s->since_ms = o->now_ms;
    s->document = keep(m, o->document, &failed);
    s->who = keep(m, o->who, &failed);
    s->updated_ms = o->now_ms;
    o->revision = ++s->revision;
    return failed ? mem_no_memory(err) : ERR_OK;
}

static bool was_made(const struct mem_state *s, const struct op_alert *a, size_t app,
                     int64_t now_ms)
{
    for (size_t i = 0; i < s->alerts_count; i++) {
        const struct mem_alert *x = &s->alerts[i];
        if (x->kind == a->kind && x->app == app && x->cluster_id == a->cluster_id &&
            strcmp(x->subject, a->subject) == 0 &&
            (a->window_ms == ALERT_ONCE || x->created_ms > now_ms - a->window_ms))
            return true;
    }
    return false;
}

static enum err make_alert(struct mem_storage *m, struct op_alert *a, int64_t now_ms,
                           struct error *err)
{
    struct mem_state *s = m->work;
    bool failed = false;
    size_t app = *a->bundle_id ? mem_app_of(s, a->bundle_id) : SIZE_MAX;
    uint64_t cluster_id = a->cluster_id ? mem_living(s, a->cluster_id) : 0;
    a->id = 0;
    if ((*a->bundle_id && app == SIZE_MAX) || (a->cluster_id && !cluster_id))
        return ERR_OK;
    a->cluster_id = cluster_id;
    if (was_made(s, a, app, now_ms))
        return ERR_OK;
    struct mem_alert *row = mem_add(s, alerts);
    if (!row)
        return mem_no_memory(err);
    *row = (struct mem_alert){
        s->next_alert++,           a->kind, app, cluster_id, keep(m, a->subject, &failed),
        keep(m, a->body, &failed), now_ms};
    a->id = row->id;
    for (size_t i = 0; i < a->target_count && !failed; i++) {
        struct mem_delivery *d = mem_add(s, deliveries);
        if (!d)
            return mem_no_memory(err);
        *d = (struct mem_delivery){.id = s->next_delivery++,
                                   .alert_id = a->id,
                                   .target = keep(m, a->targets[i], &failed),
                                   .next_ms = now_ms,
                                   .done_ms = INT64_MIN};
    }
    struct mem_cluster *c = cluster_id ? mem_cluster_of(s, cluster_id) : NULL;
    if (c && a->kind == ALERT_NEW_CLUSTER && !c->announced_ms)
        c->announced_ms = now_ms;
    return failed ? mem_no_memory(err) : ERR_OK;
}

static bool is_waited_for(const struct mem_state *s, uint64_t alert_id)
{
    for (size_t i = 0; i < s->deliveries_count; i++) {
        if (s->deliveries[i].alert_id == alert_id && s->deliveries[i].state == DELIVERY_PENDING)
            return true;
    }
    return false;
}

static void expire(struct mem_state *s, int64_t before_ms)
{
    size_t gone = 0;
    for (size_t i = 0; i < s->alerts_count && gone < EXPIRE_ROWS;) {
        uint64_t id = s->alerts[i].id;
        if (s->alerts[i].created_ms >= before_ms || is_waited_for(s, id)) {
            i++;
            continue;
        }
        mem_remove(s, alerts, i);
        gone++;
        for (size_t k = 0; k < s->deliveries_count;) {
            if (s->deliveries[k].alert_id == id)
                mem_remove(s, deliveries, k);
            else
                k++;
        }
    }
}

enum err mem_write_alerts(struct mem_storage *m, struct write_op *op, struct error *err)
{
    struct op_alerts *o = &op->u.alerts;
    enum err rc = ERR_OK;
    o->made = 0;
    for (size_t i = 0; i < o->count && !rc; i++) {
        rc = make_alert(m, &o->items[i], o->now_ms, err);
        o->made += o->items[i].id != 0;
    }
    if (o->regressions_seen)
        m->work->regressions_seen = o->regressions_seen;
    expire(m->work, o->expire_before_ms);
    return rc;
}

enum err mem_write_delivery(struct mem_storage *m, struct write_op *op, struct error *err)
{
    const struct op_delivery *o = &op->u.delivery;
    struct mem_state *s = m->work;
    bool failed = false;
    for (size_t i = 0; i < s->deliveries_count; i++) {
        struct mem_delivery *d = &s->deliveries[i];
        if (d->id != o->id || d->state != DELIVERY_PENDING)
            continue;
        d->state = o->state;
        d->attempts += o->attempted;
        d->next_ms = o->next_ms;
        d->status = o->status;
        d->error = keep(m, o->error, &failed);
        d->done_ms = o->state == DELIVERY_PENDING ? INT64_MIN : o->now_ms;
    }
    return failed ? mem_no_memory(err) : ERR_OK;
}

/* --- reading --------------------------------------------------------------------------------- */

enum err mem_read_alert_settings(struct storage_reader *r, struct arena *arena,
                                 struct alert_settings *ret, struct error *err)
{
    (void)arena;
    (void)err;
    *ret = mem_read_state(r)->alert_settings;
    return ERR_OK;
}

static struct alert_cluster face_of(const struct mem_state *s, const struct mem_cluster *c)
{
    struct alert_cluster out = {.id = c->id,
                                .bundle_id = s->apps[c->app].bundle_id,
                                .title = c->row.title,
                                .function = c->row.function,
                                .file = c->row.file,
                                .image = c->row.image,
                                .category = c->row.category,
                                .owner = c->row.owner,
                                .first_seen_ms = INT64_MAX,
                                .created_ms = c->created_ms};
    for (size_t i = 0; i < s->stacks_count; i++) {
        if (s->stacks[i].cluster_id != c->id)
            continue;
        struct mem_sums sums = mem_stack_sums(s, s->stacks[i].id);
        out.count += (uint64_t)sums.count;
        if (sums.count && sums.first_ms < out.first_seen_ms)
            out.first_seen_ms = sums.first_ms;
    }
    return out;
}

enum err mem_read_alert_cluster(struct storage_reader *r, uint64_t id, struct arena *arena,
                                struct alert_cluster *ret, struct error *err)
{
    const struct mem_state *s = mem_read_state(r);
    const struct mem_cluster *c = mem_cluster_of(s, id);
    (void)arena;
    if (!c)
        return error_set(err, ERR_NOT_FOUND, "there is no cluster %llu", (unsigned long long)id);
    *ret = face_of(s, c);
    return ERR_OK;
}

static bool is_shown(const struct mem_state *s, const struct mem_cluster *c)
{
    return !c->row.provisional && !c->row.hidden && !mem_is_approximate(s, c->id);
}

static bool is_open(const struct mem_cluster *c)
{
    return strcmp(c->row.state, cluster_state_name(CLUSTER_OPEN)) == 0;
}

enum err mem_read_alert_regressions(struct storage_reader *r, uint64_t after_id, size_t limit,
                                    struct arena *arena, struct alert_regression **ret,
                                    size_t *ret_count, struct error *err)
{
    const struct mem_state *s = mem_read_state(r);
    size_t count = 0;
    uint64_t after = after_id ? after_id : s->regressions_seen;
    struct alert_regression *rows = arena_array(arena, s->changes_count + 1, sizeof(*rows));
    if (!rows)
        return mem_no_memory(err);
    for (size_t i = 0; i < s->changes_count && count < limit; i++) {
        const struct cluster_change *h = &s->changes[i].row;
        const struct mem_cluster *c = mem_cluster_of(s, s->changes[i].cluster_id);
        if (!h->regression || h->id <= after || !c)
            continue;
        rows[count++] = (struct alert_regression){
            h->id,          h->at_ms,          h->version,    h->build,
            h->resolved_in, h->resolved_build, face_of(s, c), is_shown(s, c) && is_open(c)};
    }
    *ret = rows;
    *ret_count = count;
    return ERR_OK;
}

static bool grew_out_of_others(const struct mem_state *s, uint64_t id)
{
    for (size_t i = 0; i < s->moves_count; i++) {
        const struct mem_cluster *from =
            s->moves[i].to == id ? mem_cluster_of(s, s->moves[i].from) : NULL;
        if (from && !from->row.provisional)
            return true;
    }
    return false;
}

static int by_creation(const void *a, const void *b)
{
    const struct alert_cluster *x = a;
    const struct alert_cluster *y = b;
    if (x->created_ms != y->created_ms)
        return x->created_ms < y->created_ms ? -1 : 1;
    return (x->id > y->id) - (x->id < y->id);
}

enum err mem_read_alert_new_clusters(struct storage_reader *r, int64_t since_ms, uint64_t after_id,
                                     uint64_t min_count, size_t limit, struct arena *arena,
                                     struct alert_cluster **ret, size_t *ret_count,
                                     struct error *err)
{
    const struct mem_state *s = mem_read_state(r);
    size_t count = 0;
    struct alert_cluster *rows = arena_array(arena, s->clusters_count + 1, sizeof(*rows));
    if (!rows)
        return mem_no_memory(err);
    for (size_t i = 0; i < s->clusters_count; i++) {
        const struct mem_cluster *c = &s->clusters[i];
        if (c->announced_ms || c->created_ms < since_ms ||
            (c->created_ms == since_ms && c->id <= after_id) || !is_shown(s, c) || !is_open(c) ||
            grew_out_of_others(s, c->id))
            continue;
        rows[count] = face_of(s, c);
        count += rows[count].count >= min_count;
    }
    qsort(rows, count, sizeof(*rows), by_creation);
    *ret = rows;
    *ret_count = count < limit ? count : limit;
    return ERR_OK;
}

enum err mem_read_alert_minutes(struct storage_reader *r, int64_t begin_ms, int64_t end_ms,
                                uint64_t max_reports, struct arena *arena,
                                struct alert_minute **ret, size_t *ret_count, struct error *err)
{
    const struct mem_state *s = mem_read_state(r);
    size_t count = 0;
    size_t kept = 0;
    struct alert_minute *rows = arena_array(arena, s->reports_count + 1, sizeof(*rows));
    uint64_t *earlier = arena_array(arena, s->apps_count + 1, sizeof(*earlier));
    if (!rows || !earlier)
        return mem_no_memory(err);
    for (size_t i = 0; i < s->reports_count; i++) {
        const struct mem_report *m = &s->reports[i];
        const struct mem_cluster *c =
            m->stack_id ? mem_cluster_of(s, mem_cluster_of_stack(s, m->stack_id)) : NULL;
        if (m->op->received_ms < begin_ms || !c || !is_shown(s, c) ||
            strcmp(c->row.state, cluster_state_name(CLUSTER_IGNORED)) == 0 ||
            m->op->time_ms < begin_ms || m->op->time_ms >= end_ms)
            continue;
        if (m->id + max_reports < s->next_report && ++earlier[c->app] > max_reports / s->apps_count)
            continue;
        rows[count++] = (struct alert_minute){c->id, m->op->time_ms / 60000, 1};
    }
    qsort(rows, count, sizeof(*rows), alert_minutes_compare);
    for (size_t i = 0; i < count; i++) {
        if (kept && alert_minutes_compare(&rows[kept - 1], &rows[i]) == 0)
            rows[kept - 1].count++;
        else
            rows[kept++] = rows[i];
    }
    *ret = rows;
    *ret_count = kept;
    return ERR_OK;
}

static int by_app_and_day(const void *a, const void *b)
{
    const struct alert_rate *x = a;
    const struct alert_rate *y = b;
    return (x->day > y->day) - (x->day < y->day);
}

enum err mem_read_alert_rates(struct storage_reader *r, int32_t since_day, struct arena *arena,
                              struct alert_rate **ret, size_t *ret_count, struct error *err)
{
    const struct mem_state *s = mem_read_state(r);
    size_t count = 0;
    struct alert_rate *rows = arena_array(arena, s->facts_count + 1, sizeof(*rows));
    if (!rows)
        return mem_no_memory(err);
    for (size_t app = 0; app < s->apps_count; app++) {
        size_t first = count;
        for (size_t i = 0; i < s->facts_count; i++) {
            const struct mem_fact *f = &s->facts[i];
            const struct mem_stack *k = f->stack_id ? mem_stack_of(s, f->stack_id) : NULL;
            int32_t day = clock_day(f->time_ms);
            uint32_t frames = 0, named = 0;
            size_t at = first;
            if (f->app != app || !k || !k->resolved || day < since_day)
                continue;
            frames_count_app(k->resolved, &frames, &named);
            if (!frames)
                continue;
            while (at < count && rows[at].day != day)
                at++;
            if (at == count)
                rows[count++] = (struct alert_rate){s->apps[app].bundle_id, day, 0, 0, 0};
            rows[at].reports++;
            rows[at].frames += frames;
            rows[at].named += named;
        }
        qsort(rows + first, count - first, sizeof(*rows), by_app_and_day);
    }
    *ret = rows;
    *ret_count = count;
    return ERR_OK;
}

static const struct mem_alert *alert_of(const struct mem_state *s, uint64_t id)
{
    for (size_t i = 0; i < s->alerts_count; i++) {
        if (s->alerts[i].id == id)
            return &s->alerts[i];
    }
    return NULL;
}

static int by_due(const void *a, const void *b)
{
    const struct mem_delivery *x = *(const struct mem_delivery *const *)a;
    const struct mem_delivery *y = *(const struct mem_delivery *const *)b;
    if (x->next_ms != y->next_ms)
        return x->next_ms < y->next_ms ? -1 : 1;
    return (x->id > y->id) - (x->id < y->id);
}

enum err mem_read_deliveries_due(struct storage_reader *r, int64_t now_ms, size_t limit,
                                 struct arena *arena, struct delivery_due **ret, size_t *ret_count,
                                 int64_t *ret_next_ms, uint64_t *ret_pending, struct error *err)
{
    const struct mem_state *s = mem_read_state(r);
    size_t pending = 0;
    size_t count = 0;
    const struct mem_delivery **due =
        arena_array(arena, s->deliveries_count + 1, sizeof(struct mem_delivery *));
    struct delivery_due *rows = arena_array(arena, limit, sizeof(*rows));
    if (!due || !rows)
        return mem_no_memory(err);
    for (size_t i = 0; i < s->deliveries_count; i++) {
        if (s->deliveries[i].state == DELIVERY_PENDING)
            due[pending++] = &s->deliveries[i];
    }
    if (pending)
        qsort(due, pending, sizeof(struct mem_delivery *), by_due);
    for (size_t i = 0; i < pending && count < limit && due[i]->next_ms <= now_ms; i++) {
        const struct mem_alert *a = alert_of(s, due[i]->alert_id);
        rows[count++] = (struct delivery_due){
            due[i]->id, a->id, a->kind, due[i]->target, due[i]->attempts, a->created_ms, a->body};
    }
    *ret = rows;
    *ret_count = count;
    *ret_next_ms = pending ? due[0]->next_ms : INT64_MAX;
    *ret_pending = pending;
    return ERR_OK;
}

enum err mem_read_deliveries(struct storage_reader *r, const struct delivery_filter *f,
                             size_t limit, const char *cursor, struct arena *arena,
                             struct delivery_row **ret, size_t *ret_count, const char **ret_next,
                             struct error *err)
{
    const struct mem_state *s = mem_read_state(r);
    int64_t below = INT64_MAX;
    size_t count = 0;
    bool started = false;
    bool more = false;
    enum err rc = read_cursor_parse(cursor, 'd', &below, 1, &started, err);
    if (rc)
        return rc;
    struct delivery_row *rows = arena_array(arena, limit, sizeof(*rows));
    if (!rows)
        return mem_no_memory(err);
    for (size_t i = s->deliveries_count; i > 0 && !more; i--) {
        const struct mem_delivery *d = &s->deliveries[i - 1];
        const struct mem_alert *a = alert_of(s, d->alert_id);
        const char *app = a->app == SIZE_MAX ? "" : s->apps[a->app].bundle_id;
        if ((started && (int64_t)d->id >= below) || (f->state >= 0 && (int)d->state != f->state) ||
            (f->bundle_id && strcmp(app, f->bundle_id) != 0) ||
            (f->alert_id && f->alert_id != a->id))
            continue;
        more = count == limit;
        if (!more)
            rows[count++] =
                (struct delivery_row){d->id,      a->id,     a->kind,  app,           a->cluster_id,
                                      a->subject, d->target, d->state, d->attempts,   d->next_ms,
                                      d->done_ms, d->status, d->error, a->created_ms, a->body};
    }
    const int64_t last = count ? (int64_t)rows[count - 1].id : 0;
    *ret_next = more ? read_cursor_make(arena, 'd', &last, 1) : NULL;
    if (more && !*ret_next)
        return mem_no_memory(err);
    *ret = rows;
    *ret_count = count;
    return ERR_OK;
}
