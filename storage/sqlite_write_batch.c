/* WRITE_BATCHES: new stacks, raw rows, and what they add to the sums. */
#include <string.h>

#include "base/clock.h"
#include "storage/sqlite_counters.h"
#include "storage/sqlite_dict.h"
#include "storage/sqlite_ids.h"
#include "storage/sqlite_images.h"
#include "storage/sqlite_life.h"
#include "storage/sqlite_pairs.h"
#include "storage/stack_budget.h"

struct stack_ref {
    int64_t id; /* 0: new */
    int64_t cluster_id;
};

struct batch {
    struct sqlite_storage *s;
    struct op_batch *b;
    struct dict_app app;
    struct stack_ref *stacks;
    size_t new_stacks;           /* of them, before the first report */
    struct stack_budget *budget; /* NULL: all of them may come */
    struct fold *fold;
    struct buf gaps;
    bool day_noted;
    int32_t day; /* of receipt, whose first report is noted */
};

static enum err insert_stack(struct batch *w, struct op_stack *o, int64_t created_ms,
                             struct stack_ref *ref, struct error *err)
{
    struct sqlite_storage *s = w->s;
    int64_t id = s->next_stack++;
    enum err rc =
        sql_run(&s->conn, SQL_STACK_INSERT, err, sql_int(id), sql_int(w->app.id),
                sql_blob(o->hash, sizeof(o->hash)), sql_int(STACK_PENDING), sql_int(created_ms));
    if (!rc)
        rc = sql_run(&s->conn, SQL_STACK_DATA_INSERT, err, sql_int(id), sql_int(o->frame_count),
                     sql_blob(o->raw, o->raw_len));
    if (rc)
        return rc;
    *ref = (struct stack_ref){id, 0};
    o->added_id = (uint64_t)id;
    return ERR_OK;
}

/* The row of a stack of the batch, made when it is new. */
static enum err stack_of(struct batch *w, uint32_t index, int64_t received_ms,
                         struct stack_ref *ret, struct error *err)
{
    if (index >= w->b->stack_count)
        return error_set(err, ERR_INVALID, "stack %u of %zu", index, w->b->stack_count);
    struct stack_ref *ref = &w->stacks[index];
    enum err rc = ref->id ? ERR_OK : insert_stack(w, &w->b->stacks[index], received_ms, ref, err);
    if (!rc)
        *ret = *ref;
    return rc;
}

static enum err find_stacks(struct batch *w, struct error *err)
{
    struct sql_conn *c = &w->s->conn;
    for (size_t i = 0; i < w->b->stack_count; i++) {
        const struct op_stack *o = &w->b->stacks[i];
        bool row = false;
        sqlite3_stmt *st = sql_start(c, SQL_STACK_FIND, err, sql_int(w->app.id),
                                     sql_blob(o->hash, sizeof(o->hash)));
        enum err rc = st ? sql_step(c, st, &row, err) : err->code;
        if (rc)
            return rc;
        w->new_stacks += !row;
        if (!row)
            continue;
        w->stacks[i] = (struct stack_ref){sqlite3_column_int64(st, 0), sqlite3_column_int64(st, 1)};
        sql_end(st);
    }
    return ERR_OK;
}

/* A budget when the day's may not do for the batch. */
static enum err ask_budget(struct batch *w, int32_t day, struct error *err)
{
    const size_t count = w->b->stack_count;
    int64_t added = 0;
    if (!w->s->daily_stacks || !w->new_stacks)
        return ERR_OK;
    enum err rc = sqlite_day_get(w->s, w->app.id, DICT_STACK, day, &added, err);
    if (rc || added + (int64_t)w->new_stacks <= w->s->daily_stacks)
        return rc;
    struct stack_budget *b = arena_alloc(&w->s->scratch, sizeof(*b));
    enum stack_standing *standing = arena_array(&w->s->scratch, count, sizeof(*standing));
    if (!b || !standing)
        return error_set(err, ERR_NO_MEMORY, "no memory for a batch");
    for (size_t i = 0; i < count; i++)
        standing[i] = w->stacks[i].id ? STACK_KNOWN : STACK_NEW;
    *b = (struct stack_budget){w->s->daily_stacks - added, standing, count};
    w->budget = b;
    return ERR_OK;
}

static enum err count_new_stacks(struct batch *w, int32_t day, struct error *err)
{
    int64_t added = 0;
    int64_t dropped = 0;
    enum err rc = ERR_OK;
    for (size_t i = 0; w->new_stacks && i < w->b->stack_count; i++)
        added += w->b->stacks[i].added_id != 0;
    for (size_t i = 0; w->budget && i < w->b->report_count; i++)
        dropped += w->b->reports[i].stacks_dropped;
    if (added)
        rc = sqlite_day_add(w->s, w->app.id, DICT_STACK, day, added, err);
    if (!rc && dropped)
        rc = sqlite_day_add(w->s, w->app.id, DICT_STACK_DROPPED, day, dropped, err);
    return rc;
}

struct report_values {
    int64_t build, device, os, page, path, threshold; /* threshold 0: none */
};

static enum err values_of(struct batch *w, const struct op_report *r, struct report_values *v,
                          struct error *err)
{
    const struct {
        enum dict_kind kind;
        const char *value, *value2;
        int64_t *ret;
    } parts[] = {
        {DICT_BUILD, r->version, r->build, &v->build},
        {DICT_DEVICE, r->device, r->arch, &v->device},
        {DICT_OS, r->os_version, r->os_build, &v->os},
        {DICT_PAGE, r->page, "", &v->page},
        {DICT_PATH, r->path, "", &v->path},
        {DICT_THRESHOLD, r->threshold_type, "", &v->threshold},
    };
    int32_t day = clock_day(r->received_ms);
    enum err rc = ERR_OK;
    v->threshold = 0;
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]) && !rc; i++) {
        if (parts[i].value)
            rc = sqlite_value(w->s, w->app.id, parts[i].kind, day, parts[i].value,
                              parts[i].value2 ? parts[i].value2 : "", parts[i].ret, err);
    }
    return rc;
}

static enum err cap_pairs(struct batch *w, const struct op_report *r, struct report_values *v,
                          struct error *err)
{
    struct report_pairs p = {v->device, v->os, v->page, v->build};
    enum err rc = sqlite_pairs_cap(w->s, &w->app, clock_day(r->received_ms),
                                   figures_week(clock_day(r->time_ms)), &p, err);
    v->device = p.device;
    v->page = p.page;
    return rc;
}

/* A UUID in lower case with dashes, the usual kind of id, is stored in 16 bytes. */
static struct sql_value id_value(const char *id, struct uuid *u)
{
    if (!uuid_parse(id, strlen(id), u) || strlen(id) != UUID_TEXT_SIZE - 1 || strpbrk(id, "ABCDEF"))
        return sql_text(id);
    return sql_uuid(u);
}

static enum err insert_extra(struct batch *w, int64_t id, const struct op_report *r,
                             struct error *err)
{
    buf_clear(&w->gaps);
    buf_uleb(&w->gaps, r->frame_gap_count);
    for (size_t i = 0; i < r->frame_gap_count; i++)
        buf_sleb(&w->gaps, r->frame_gaps_ms[i]);
    if (w->gaps.failed)
        return error_set(err, ERR_NO_MEMORY, "no memory for frame gaps");
    return sql_run(&w->s->conn, SQL_REPORT_EXTRA_INSERT, err, sql_int(id),
                   r->device_time_ms == r->time_ms ? sql_null()
                                                   : sql_int_or_null(r->device_time_ms, INT64_MIN),
                   sql_text(r->stack_skipped), sql_text(r->tags),
                   r->frame_gap_count ? sql_blob(w->gaps.data, w->gaps.len) : sql_null());
}

static enum err insert_sample(struct batch *w, int64_t report_id, size_t seq, int64_t received_ms,
                              const struct op_sample *x, struct error *err)
{
    struct stack_ref stack;
    enum err rc = stack_of(w, x->stack, received_ms, &stack, err);
    if (rc)
        return rc;
    return sql_run(&w->s->conn, SQL_SAMPLE_INSERT, err, sql_int(report_id), sql_int((int64_t)seq),
                   sql_int(x->offset_ms), sql_int(x->repeat_count),
                   sql_int_or_null(x->cpu_usage, -1), sql_text(x->thread_state), sql_int(stack.id),
                   x->addresses ? sql_blob(x->addresses, x->addresses_len) : sql_null());
}

static enum err insert_thread(struct batch *w, int64_t report_id, size_t seq, int64_t received_ms,
                              const struct op_thread *t, struct error *err)
{
    struct stack_ref stack = {0};
    enum err rc = ERR_OK;
    if (t->stack != NO_STACK && (rc = stack_of(w, t->stack, received_ms, &stack, err)))
        return rc;
    return sql_run(&w->s->conn, SQL_THREAD_INSERT, err, sql_int(report_id), sql_int((int64_t)seq),
                   sql_int(t->tid), sql_text(t->name), sql_text(t->state), sql_int(t->stalled),
                   sql_int_or_null(stack.id, 0), sql_text(t->waits_kind),
                   sql_int((int64_t)t->waits_address), sql_int(t->owner_tid),
                   t->addresses ? sql_blob(t->addresses, t->addresses_len) : sql_null(),
                   sql_text(t->queue), sql_text(t->waits_queue));
}

static enum err insert_details(struct batch *w, int64_t id, const struct op_report *r, bool extra,
                               struct error *err)
{
    enum err rc = extra ? insert_extra(w, id, r, err) : ERR_OK;
    for (size_t i = 0; i < r->sample_count && !rc; i++)
        rc = insert_sample(w, id, i, r->received_ms, &r->samples[i], err);
    for (size_t i = 0; i < r->thread_count && !rc; i++)
        rc = insert_thread(w, id, i, r->received_ms, &r->threads[i], err);
    return rc;
}

static enum err insert_report(struct batch *w, int64_t id, const struct op_report *r,
                              const struct report_values *v, int64_t stack_id, struct error *err)
{
    struct uuid u;
    bool told = r->device_time_ms == r->time_ms;
    bool extra = (r->device_time_ms != INT64_MIN && !told) || r->stack_skipped || r->tags ||
                 r->frame_gap_count > 0;
    int64_t flags = (int64_t)r->kind | (r->clock_skew ? 8 : 0) | (extra ? 16 : 0) |
                    (r->sample_count ? 32 : 0) | (r->thread_count ? 64 : 0) |
                    (op_report_wants_finding(r) ? REPORT_FLAG_FINDING : 0) |
                    (told ? REPORT_FLAG_DEVICE_TIME : 0);
    enum err rc = sql_run(
        &w->s->conn, SQL_REPORT_INSERT, err, sql_int(id), sql_int(stack_id), sql_int(flags),
        sql_int(r->time_ms), sql_int((int64_t)((uint64_t)r->received_ms - (uint64_t)r->time_ms)),
        r->duration_ms < 0 ? sql_null() : sql_int(r->duration_ms),
        sql_int(figures_weight(r->weight) - FIGURES_WEIGHT_ONE), sql_int(v->build),
        sql_int(v->device), sql_int(v->os), sql_int(v->page), sql_int(v->path),
        sql_int_or_null(v->threshold, 0), r->cpu_usage < 0 ? sql_null() : sql_int(r->cpu_usage),
        r->memory_usage < 0 ? sql_null() : sql_int(r->memory_usage), id_value(r->id, &u),
        r->addresses ? sql_blob(r->addresses, r->addresses_len) : sql_null());
    if (!rc)
        rc = insert_details(w, id, r, extra, err);
    if (!rc && (flags & REPORT_FLAG_FINDING)) {
        w->b->findings_due = true;
        rc = sql_run(&w->s->conn, SQL_FINDING_DUE, err, sql_int(id));
    }
    return rc;
}

static enum err count_report(struct batch *w, const struct op_report *r,
                             const struct report_values *v, const struct stack_ref *stack,
                             struct error *err)
{
    int32_t day = clock_day(r->time_ms);
    struct fold_report add = {
        .day = day,
        .week = figures_week(day),
        .build_id = v->build,
        .kind = (int64_t)r->kind,
        .device_id = v->device,
        .os_id = v->os,
        .page_id = v->page,
        .time_ms = r->time_ms,
        .weighted = figures_weight(r->weight),
        .duration_ms = r->duration_ms,
    };
    enum err rc = fold_stack(w->fold, w->app.total_id, &add, err);
    if (!rc && stack->id)
        rc = fold_stack_and_cluster(w->fold, stack->id, stack->cluster_id, &add, err);
    if (!rc && stack->cluster_id)
        rc = sqlite_life_report(w->s, stack->cluster_id, v->build, r->received_ms, err);
    return rc;
}

/* Once a batch: the reports of one were received together. */
static enum err note_day(struct batch *w, int32_t day, int64_t id, struct error *err)
{
    if (w->day_noted && w->day == day)
        return ERR_OK;
    w->day_noted = true;
    w->day = day;
    return sql_run(&w->s->conn, SQL_REPORT_DAY, err, sql_int(day), sql_int(id));
}

static enum err add_report(struct batch *w, struct op_report *op, struct error *err)
{
    const struct op_report *r = op;
    struct op_report fitted;
    struct report_values v = {0};
    struct stack_ref stack = {0};
    int64_t id = w->s->next_report;
    if (r->kind >= REPORT_KINDS)
        return error_set(err, ERR_INVALID, "report %u: unknown kind", r->position);
    enum err rc = sqlite_claim_id(w->s, r->id_hash, r->received_ms, id, &op->duplicate, err);
    if (rc || op->duplicate)
        return rc;
    if (w->budget && (rc = stack_budget_fit(w->budget, op, &w->s->scratch, &fitted, err)))
        return rc;
    r = w->budget ? &fitted : op;
    w->s->next_report++;
    rc = note_day(w, clock_day(r->received_ms), id, err);
    if (!rc)
        rc = values_of(w, r, &v, err);
    if (!rc)
        rc = cap_pairs(w, r, &v, err);
    if (!rc && r->stack != NO_STACK)
        rc = stack_of(w, r->stack, r->received_ms, &stack, err);
    if (!rc)
        rc = insert_report(w, id, r, &v, stack.id ? stack.id : w->app.total_id, err);
    if (!rc)
        rc = count_report(w, r, &v, &stack, err);
    return rc;
}

/* A list of images under a name that has one: it takes its place, or the name stands for none. */
static enum err change_image_set(struct batch *w, int64_t id, struct error *err)
{
    const struct op_batch *b = w->b;
    struct sqlite_storage *s = w->s;
    bool row = false;
    bool failed = false;
    size_t len = 0;
    sqlite3_stmt *st = sql_start(&s->conn, SQL_IMAGE_SET_DATA, err, sql_int(id));
    enum err rc = st ? sql_step(&s->conn, st, &row, err) : err->code;
    if (rc || !row)
        return rc;
    const void *stored = sql_column_blob(st, 0, &s->scratch, &len, &failed);
    sql_end(st);
    if (failed)
        return error_set(err, ERR_NO_MEMORY, "no memory for an image set");
    if (!op_image_set_changes(b, stored, len, &s->scratch, &len))
        return ERR_OK;
    return sql_run(&s->conn, SQL_IMAGE_SET_REPLACE, err, sql_int(id),
                   sql_blob(b->image_set_data, len));
}

/* Remembers the client's image set. That one was used is written at most once in
 * IMAGE_SET_TOUCH_MS. */
static enum err keep_image_set(struct batch *w, struct error *err)
{
    const struct op_batch *b = w->b;
    struct sqlite_storage *s = w->s;
    int64_t id = 0;
    bool allowed = true;
    int64_t now = b->reports[0].received_ms;
    enum err rc = sql_get(&s->conn, SQL_IMAGE_SET_FIND, 0, &id, err, sql_int(w->app.id),
                          sql_text(b->image_set));
    if (!rc && id)
        rc = sql_run(&s->conn, SQL_IMAGE_SET_TOUCH, err, sql_int(id), sql_int(now),
                     sql_int(now - IMAGE_SET_TOUCH_MS));
    if (rc || !b->image_set_data)
        return rc;
    if (id)
        return change_image_set(w, id, err);
    rc = sqlite_daily(s, w->app.id, DICT_IMAGE_SET, clock_day(now), &allowed, err);
    if (rc || !allowed)
        return rc;
    rc = sql_run(&s->conn, SQL_IMAGE_SET_INSERT, err, sql_int(w->app.id), sql_text(b->image_set),
                 sql_int(now));
    if (!rc)
        rc = sql_run(&s->conn, SQL_IMAGE_SET_DATA_INSERT, err,
                     sql_int(sqlite3_last_insert_rowid(s->conn.db)),
                     sql_blob(b->image_set_data, b->image_set_len));
    return rc;
}

static enum err write_batch(struct sqlite_storage *s, struct op_batch *b, struct fold *fold,
                            struct error *err)
{
    struct batch w = {.s = s, .b = b, .fold = fold};
    enum err rc = ERR_OK;
    for (size_t i = 0; i < b->stack_count; i++)
        b->stacks[i].added_id = 0;
    for (size_t i = 0; i < b->report_count; i++)
        b->reports[i].stacks_dropped = false;
    b->findings_due = false;
    if (b->report_count == 0)
        return ERR_OK;
    int32_t day = clock_day(b->reports[0].received_ms);
    buf_init(&w.gaps, (size_t)1 << 20);
    w.stacks = arena_array(&s->scratch, b->stack_count + 1, sizeof(*w.stacks));
    rc = w.stacks ? sqlite_app(s, b->bundle_id, &w.app, err)
                  : error_set(err, ERR_NO_MEMORY, "no memory for a batch");
    if (!rc)
        rc = sqlite_images_learn(s, w.app.id, day, b->images, b->image_count, err);
    if (!rc)
        rc = find_stacks(&w, err);
    if (!rc)
        rc = ask_budget(&w, day, err);
    for (size_t i = 0; i < b->report_count && !rc; i++)
        rc = add_report(&w, &b->reports[i], err);
    if (!rc)
        rc = count_new_stacks(&w, day, err);
    if (!rc && b->image_set)
        rc = keep_image_set(&w, err);
    buf_done(&w.gaps);
    return rc;
}

enum err sqlite_write_batches(struct sqlite_storage *s, struct write_op *op, struct error *err)
{
    struct fold fold;
    enum err rc = ERR_OK;
    fold_init(&fold, &s->scratch);
    for (size_t i = 0; i < op->u.batches.count && !rc; i++)
        rc = write_batch(s, &op->u.batches.items[i], &fold, err);
    if (!rc && (rc = sqlite_fold_keep(s, &fold, err))) {
        s->group_lost = true;
        s->group_error = *err;
    }
    fold_done(&fold);
    return rc;
}
