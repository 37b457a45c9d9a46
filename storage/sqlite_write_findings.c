/*
 * WRITE_FINDINGS: which sample stands for a report, deadlocks, and the queue of what is due.
 *
 * A report whose stack becomes another one takes all that it added to the sums along: one fold is
 * taken from the old stacks and their clusters, the same is added to the new ones.
 */
#include <string.h>

#include "base/clock.h"
#include "storage/sqlite_counters.h"
#include "storage/sqlite_life.h"
#include "storage/sqlite_rollup.h"

struct finder {
    struct sqlite_storage *s;
    struct fold take, add;
    int64_t now_ms;
};

/* Where a report's sums are, and where they belong. */
struct places {
    bool found; /* the report is there */
    int64_t stack_id, cluster_id;
    int64_t new_stack_id, new_cluster_id; /* 0: none */
    struct fold_report adds;
};

static enum err places_of(struct sqlite_storage *s, const struct op_finding *f, struct places *ret,
                          struct error *err)
{
    bool row = false;
    memset(ret, 0, sizeof(*ret));
    sqlite3_stmt *st = sql_start(&s->conn, SQL_FINDING_REPORT, err, sql_int((int64_t)f->report_id),
                                 sql_int(f->has_culprit ? (int64_t)f->sample : -1));
    enum err rc = st ? sql_step(&s->conn, st, &row, err) : err->code;
    if (rc || !row)
        return rc;
    ret->found = true;
    ret->stack_id = sqlite3_column_int64(st, 0);
    ret->cluster_id = sqlite3_column_int64(st, 1);
    ret->new_stack_id = sqlite3_column_int64(st, 2);
    ret->new_cluster_id = sqlite3_column_int64(st, 3);
    ret->adds = (struct fold_report){
        .kind = sqlite3_column_int64(st, 4) & REPORT_FLAGS_KIND,
        .time_ms = sqlite3_column_int64(st, 5),
        .duration_ms = sql_column_null(st, 6) ? -1 : sqlite3_column_int64(st, 6),
        .weighted = sqlite3_column_int64(st, 7) + FIGURES_WEIGHT_ONE,
        .build_id = sqlite3_column_int64(st, 8),
        .device_id = sqlite3_column_int64(st, 9),
        .os_id = sqlite3_column_int64(st, 10),
        .page_id = sqlite3_column_int64(st, 11),
    };
    ret->adds.day = clock_day(ret->adds.time_ms);
    ret->adds.week = figures_week((int32_t)ret->adds.day);
    sql_end(st);
    return ERR_OK;
}

static enum err move_report(struct finder *w, struct op_finding *f, const struct places *p,
                            struct error *err)
{
    enum err rc = sql_run(&w->s->conn, SQL_FINDING_RESTACK, err, sql_int((int64_t)f->report_id),
                          sql_int(f->sample));
    if (!rc)
        rc = fold_stack_and_cluster(&w->take, p->stack_id, p->cluster_id, &p->adds, err);
    if (!rc)
        rc = fold_stack_and_cluster(&w->add, p->new_stack_id, p->new_cluster_id, &p->adds, err);
    if (!rc)
        rc = sqlite_rollup_move_report(w->s, (int64_t)f->report_id, p->cluster_id,
                                       p->new_cluster_id, &p->adds, err);
    if (!rc && p->new_cluster_id)
        rc = sqlite_life_report(w->s, p->new_cluster_id, p->adds.build_id, w->now_ms, err);
    f->moved = !rc;
    return rc;
}

static enum err store(struct finder *w, const struct op_finding *f, int64_t stack_id,
                      struct error *err)
{
    struct sql_value id = sql_int((int64_t)f->report_id);
    if (!f->has_culprit && !f->deadlock)
        return sql_run(&w->s->conn, SQL_FINDING_UNSET, err, id);
    if (!f->has_culprit)
        return sql_run(&w->s->conn, SQL_FINDING_SET, err, id, sql_int(stack_id), sql_null(),
                       sql_null(), sql_null(), sql_null(), sql_text(f->deadlock));
    return sql_run(&w->s->conn, SQL_FINDING_SET, err, id, sql_int(stack_id), sql_int(f->sample),
                   sql_int(f->stage_ms), sql_int(f->total_ms),
                   sql_int(figures_confidence(f->confidence)), sql_text(f->deadlock));
}

static enum err answer(struct finder *w, struct op_finding *f, struct error *err)
{
    struct sqlite_storage *s = w->s;
    struct places p;
    int64_t generation = 0;
    f->applied = f->moved = false;
    struct sql_value id = sql_int((int64_t)f->report_id);
    enum err rc = sql_get(&s->conn, SQL_FINDING_GENERATION, 0, &generation, err, id);
    if (rc || generation == 0 || generation != (int64_t)f->generation)
        return rc;
    rc = sql_run(&s->conn, SQL_FINDING_DUE_DONE, err, id);
    if (rc || f->unknown)
        return rc;
    rc = places_of(s, f, &p, err);
    if (rc || !p.found)
        return rc;
    if (f->has_culprit && p.new_stack_id == 0)
        return error_set(err, ERR_INVALID, "report %llu has no sample %u",
                         (unsigned long long)f->report_id, f->sample);
    if (f->has_culprit && p.new_stack_id != p.stack_id)
        rc = move_report(w, f, &p, err);
    if (!rc)
        rc = store(w, f, f->has_culprit ? p.new_stack_id : p.stack_id, err);
    f->applied = !rc;
    return rc;
}

/* --- the queue ------------------------------------------------------------------------------ */

struct due_stack {
    int64_t stack_id, after_id;
};

static enum err next_stack(struct sqlite_storage *s, struct due_stack *ret, bool *ret_any,
                           struct error *err)
{
    sqlite3_stmt *st = sql_bind(&s->conn, SQL_FINDING_STACK_NEXT, NULL, 0, err);
    enum err rc = st ? sql_step(&s->conn, st, ret_any, err) : err->code;
    if (rc || !*ret_any)
        return rc;
    *ret = (struct due_stack){sqlite3_column_int64(st, 0), sqlite3_column_int64(st, 1)};
    sql_end(st);
    return ERR_OK;
}

/* The reports that refer to a stack, above the one looked at last. */
static enum err reports_of(struct sqlite_storage *s, const struct due_stack *d, uint32_t limit,
                           int64_t *ids, uint32_t *ret_count, uint32_t *ret_seen, int64_t *ret_last,
                           struct error *err)
{
    uint32_t wanted = 0, seen = 0;
    sqlite3_stmt *st = sql_start(&s->conn, SQL_FINDING_STACK_REPORTS, err, sql_int(d->stack_id),
                                 sql_int(d->after_id), sql_int(limit));
    if (!st)
        return err->code;
    for (bool row = true;; seen++) {
        enum err rc = sql_step(&s->conn, st, &row, err);
        if (rc)
            return rc;
        if (!row)
            break;
        *ret_last = sqlite3_column_int64(st, 0);
        if (sqlite3_column_int64(st, 1) & REPORT_FLAG_FINDING)
            ids[wanted++] = *ret_last;
    }
    *ret_count = wanted;
    *ret_seen = seen;
    return ERR_OK;
}

/* Makes reports of one stack due; `*left` says how many more may be looked at. */
static enum err refill_stack(struct sqlite_storage *s, const struct due_stack *d, int64_t *ids,
                             uint32_t *left, struct error *err)
{
    uint32_t count = 0, seen = 0;
    int64_t last = 0;
    enum err rc = reports_of(s, d, *left, ids, &count, &seen, &last, err);
    for (uint32_t i = 0; i < count && !rc; i++)
        rc = sql_run(&s->conn, SQL_FINDING_DUE, err, sql_int(ids[i]));
    if (rc)
        return rc;
    if (seen < *left) {
        *left -= seen + 1; /* the stack itself was a look, too */
        return sql_run(&s->conn, SQL_FINDING_STACK_DONE, err, sql_int(d->stack_id));
    }
    *left = 0;
    return sql_run(&s->conn, SQL_FINDING_STACK_AFTER, err, sql_int(d->stack_id), sql_int(last));
}

static enum err refill(struct sqlite_storage *s, struct op_findings *o, struct error *err)
{
    uint32_t left = o->refill;
    int64_t *ids = arena_array(&s->scratch, (size_t)left + 1, sizeof(*ids));
    struct due_stack d = {0};
    bool any = true;
    enum err rc = ids ? ERR_OK : error_set(err, ERR_NO_MEMORY, "no memory for findings");
    while (!rc && any && left > 0) {
        rc = next_stack(s, &d, &any, err);
        if (!rc && any)
            rc = refill_stack(s, &d, ids, &left, err);
    }
    return rc;
}

/* Is anything due? */
static enum err look_for_more(struct sqlite_storage *s, bool *ret, struct error *err)
{
    int64_t found = 0;
    enum err rc = sql_get(&s->conn, SQL_FINDINGS_DUE_PAGE, 0, &found, err, sql_int(1));
    if (!rc && !found)
        rc = sql_get_values(&s->conn, SQL_FINDING_STACK_NEXT, NULL, 0, 0, &found, err);
    if (!rc)
        *ret = found != 0;
    return rc;
}

enum err sqlite_write_findings(struct sqlite_storage *s, struct write_op *op, struct error *err)
{
    struct op_findings *o = &op->u.findings;
    struct finder w = {.s = s, .now_ms = o->now_ms};
    enum err rc = ERR_OK;
    fold_init(&w.take, &s->scratch);
    fold_init(&w.add, &s->scratch);
    w.add.moved = true;
    for (size_t i = 0; i < o->count && !rc; i++)
        rc = answer(&w, &o->items[i], err);
    if (!rc)
        rc = sqlite_fold_take(s, &w.take, err);
    if (!rc)
        rc = refill(s, o, err);
    if (!rc)
        rc = look_for_more(s, &o->more, err);
    /* The last step: a savepoint that was rolled back would not take it back. */
    if (!rc && (rc = sqlite_fold_keep(s, &w.add, err))) {
        s->group_lost = true;
        s->group_error = *err;
    }
    fold_done(&w.take);
    fold_done(&w.add);
    return rc;
}
