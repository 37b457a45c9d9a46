/* The memory backend's WRITE_BATCHES. */
#include "storage/memory_write_batch.h"

#include <string.h>

#include "base/clock.h"
#include "storage/memory_life.h"
#include "storage/stack_budget.h"

struct batch {
    struct mem_storage *m;
    struct op_batch *b;
    size_t app;
    uint64_t *stack_ids;         /* 0: not asked for yet */
    struct stack_budget *budget; /* NULL: all new stacks may come */
    bool failed;                 /* no memory */
};

static const char *keep(struct batch *w, const char *text)
{
    const char *copy = text ? arena_strdup(&w->m->arena, text) : NULL;
    w->failed |= text && !copy;
    return copy;
}

static const void *keep_bytes(struct batch *w, const void *data, size_t len)
{
    const void *copy = data ? arena_memdup(&w->m->arena, len ? data : "", len ? len : 1) : NULL;
    w->failed |= data && !copy;
    return copy;
}

static enum err app_of(struct batch *w, struct error *err)
{
    struct mem_state *s = w->m->work;
    w->app = mem_app_of(s, w->b->bundle_id);
    if (w->app != SIZE_MAX)
        return ERR_OK;
    struct mem_app *app = mem_add(s, apps);
    if (!app)
        return mem_no_memory(err);
    app->bundle_id = keep(w, w->b->bundle_id);
    app->total_id = (int64_t)s->next_stack++;
    w->app = s->apps_count - 1;
    return ERR_OK;
}

static enum err value_of(struct batch *w, enum mem_value_kind kind, int32_t day, const char **value,
                         const char **value2, struct error *err)
{
    struct mem_state *s = w->m->work;
    bool allowed = true;
    for (size_t i = 0; i < s->values_count; i++) {
        const struct mem_value *v = &s->values[i];
        if (v->app == w->app && v->kind == kind && strcmp(v->value, *value) == 0 &&
            strcmp(v->value2, *value2) == 0) {
            *value = v->value;
            *value2 = v->value2;
            return ERR_OK;
        }
    }
    if (**value2 || (**value && strcmp(*value, MEM_OTHER) != 0)) {
        enum err rc = mem_daily(w->m, w->app, kind, day, &allowed, err);
        if (rc)
            return rc;
    }
    if (!allowed) {
        *value = MEM_OTHER;
        *value2 = "";
        return value_of(w, kind, day, value, value2, err);
    }
    struct mem_value *v = mem_add(s, values);
    if (!v)
        return mem_no_memory(err);
    *v = (struct mem_value){w->app, kind, keep(w, *value), keep(w, *value2)};
    *value = v->value;
    *value2 = v->value2;
    return ERR_OK;
}

static enum err stack_of(struct batch *w, uint32_t index, int64_t received_ms, uint64_t *ret,
                         struct error *err)
{
    struct mem_state *s = w->m->work;
    if (index >= w->b->stack_count)
        return error_set(err, ERR_INVALID, "stack %u of %zu", index, w->b->stack_count);
    struct op_stack *o = &w->b->stacks[index];
    for (size_t i = 0; i < s->stacks_count && !w->stack_ids[index]; i++) {
        if (s->stacks[i].app == w->app && memcmp(s->stacks[i].hash, o->hash, sizeof(o->hash)) == 0)
            w->stack_ids[index] = s->stacks[i].id;
    }
    if (!w->stack_ids[index]) {
        struct mem_stack *k = mem_add(s, stacks);
        if (!k)
            return mem_no_memory(err);
        k->id = s->next_stack++;
        k->app = w->app;
        memcpy(k->hash, o->hash, sizeof(k->hash));
        k->raw = keep_bytes(w, o->raw, o->raw_len);
        k->raw_len = o->raw_len;
        k->pending = true;
        k->generation = 1;
        k->created_ms = received_ms;
        o->added_id = w->stack_ids[index] = k->id;
    }
    *ret = w->stack_ids[index];
    return ERR_OK;
}

enum err mem_claim_id(struct mem_storage *m, const uint8_t id_hash[REPORT_ID_HASH_SIZE],
                      int64_t received_ms, uint64_t report_id, bool *ret_duplicate,
                      struct error *err)
{
    struct mem_state *s = m->work;
    int32_t day = clock_day(received_ms);
    *ret_duplicate = false;
    for (size_t i = 0; i < s->ids_count; i++) {
        const struct mem_id *id = &s->ids[i];
        if (memcmp(id->hash, id_hash, sizeof(id->hash)) == 0) {
            *ret_duplicate = true;
            return ERR_OK;
        }
    }
    struct mem_id *id = mem_add(s, ids);
    if (!id)
        return mem_no_memory(err);
    id->day = day;
    memcpy(id->hash, id_hash, sizeof(id->hash));
    id->report_id = report_id;
    return ERR_OK;
}

enum err mem_app(struct mem_storage *m, const char *bundle_id, size_t *ret, struct error *err)
{
    struct op_batch b = {.bundle_id = bundle_id};
    struct batch w = {.m = m, .b = &b};
    enum err rc = app_of(&w, err);
    if (rc || w.failed)
        return rc ? rc : mem_no_memory(err);
    *ret = w.app;
    return ERR_OK;
}

enum err mem_value_of(struct mem_storage *m, size_t app, enum mem_value_kind kind, int32_t day,
                      const char **value, const char **value2, struct error *err)
{
    struct batch w = {.m = m, .app = app};
    enum err rc = value_of(&w, kind, day, value, value2, err);
    return rc || !w.failed ? rc : mem_no_memory(err);
}

static enum err map_values(struct batch *w, struct op_report *r, struct error *err)
{
    const char *none = "";
    int32_t day = clock_day(r->received_ms);
    r->arch = r->arch ? r->arch : "";
    enum err rc = value_of(w, MEM_BUILD, day, &r->version, &r->build, err);
    if (!rc)
        rc = value_of(w, MEM_DEVICE, day, &r->device, &r->arch, err);
    if (!rc)
        rc = value_of(w, MEM_OS, day, &r->os_version, &r->os_build, err);
    if (!rc)
        rc = value_of(w, MEM_PAGE, day, &r->page, &none, err);
    if (!rc) {
        none = "";
        rc = value_of(w, MEM_PATH, day, &r->path, &none, err);
    }
    if (!rc && r->threshold_type) {
        none = "";
        rc = value_of(w, MEM_THRESHOLD, day, &r->threshold_type, &none, err);
    }
    return rc;
}

/* As sqlite_pairs.h says. `value2` goes with the value. */
static enum err cap_pair(struct batch *w, enum mem_value_kind kind, enum mem_value_kind of,
                         const struct op_report *r, const char **value, const char **value2,
                         const char *with, bool *dropped, struct error *err)
{
    struct mem_state *s = w->m->work;
    const int32_t week = figures_week(clock_day(r->time_ms)), today = clock_day(r->received_ms);
    bool allowed = true;
    for (size_t i = 0; i < s->pairs_count; i++) {
        const struct mem_pair *p = &s->pairs[i];
        if (p->app == w->app && p->kind == kind && p->week == week && p->value == *value &&
            p->with == with)
            return ERR_OK;
    }
    enum err rc = mem_daily(w->m, w->app, kind, today, &allowed, err);
    if (!rc && !allowed) {
        *dropped = true;
        *value = MEM_OTHER;
        *value2 = "";
        rc = value_of(w, of, today, value, value2, err);
    }
    if (rc)
        return rc;
    struct mem_pair *p = mem_add(s, pairs);
    if (!p)
        return mem_no_memory(err);
    *p = (struct mem_pair){w->app, kind, week, *value, with};
    return ERR_OK;
}

static enum err cap_pairs(struct batch *w, struct op_report *r, struct error *err)
{
    const char *none = "";
    bool dropped = false;
    enum err rc = cap_pair(w, MEM_PAIR_DEVICE, MEM_DEVICE, r, &r->device, &r->arch, r->os_version,
                           &dropped, err);
    if (!rc)
        rc = cap_pair(w, MEM_PAIR_PAGE, MEM_PAGE, r, &r->page, &none, r->version, &dropped, err);
    return rc || !dropped
               ? rc
               : mem_day_add(w->m, w->app, MEM_PAIR_DROPPED, clock_day(r->received_ms), 1, err);
}

static enum err keep_samples(struct batch *w, const struct op_report *r, struct op_report *copy,
                             uint64_t *stacks, struct error *err)
{
    struct op_sample *samples = arena_array(&w->m->arena, r->sample_count + 1, sizeof(*samples));
    if (!samples)
        return mem_no_memory(err);
    copy->samples = samples;
    for (size_t i = 0; i < r->sample_count; i++) {
        samples[i] = r->samples[i];
        samples[i].thread_state = keep(w, samples[i].thread_state);
        samples[i].addresses = keep_bytes(w, samples[i].addresses, samples[i].addresses_len);
        enum err rc = stack_of(w, samples[i].stack, r->received_ms, &stacks[i], err);
        if (rc)
            return rc;
    }
    return ERR_OK;
}

static enum err keep_threads(struct batch *w, const struct op_report *r, struct op_report *copy,
                             uint64_t *stacks, struct error *err)
{
    struct op_thread *threads = arena_array(&w->m->arena, r->thread_count + 1, sizeof(*threads));
    if (!threads)
        return mem_no_memory(err);
    copy->threads = threads;
    for (size_t i = 0; i < r->thread_count; i++) {
        threads[i] = r->threads[i];
        threads[i].name = keep(w, threads[i].name);
        threads[i].state = keep(w, threads[i].state);
        threads[i].queue = keep(w, threads[i].queue);
        threads[i].waits_kind = keep(w, threads[i].waits_kind);
        threads[i].waits_queue = keep(w, threads[i].waits_queue);
        threads[i].addresses = keep_bytes(w, threads[i].addresses, threads[i].addresses_len);
        if (threads[i].stack == NO_STACK)
            continue;
        enum err rc = stack_of(w, threads[i].stack, r->received_ms, &stacks[i], err);
        if (rc)
            return rc;
    }
    return ERR_OK;
}

/* The raw row; `r` has its values mapped already. */
static enum err keep_report(struct batch *w, const struct op_report *r, uint64_t stack_id,
                            struct error *err)
{
    struct mem_storage *m = w->m;
    struct op_report *copy = arena_memdup(&m->arena, r, sizeof(*r));
    uint64_t *samples = arena_array(&m->arena, r->sample_count + 1, sizeof(*samples));
    uint64_t *threads = arena_array(&m->arena, r->thread_count + 1, sizeof(*threads));
    if (!copy || !samples || !threads)
        return mem_no_memory(err);
    copy->id = keep(w, r->id);
    copy->stack_skipped = keep(w, r->stack_skipped);
    copy->tags = keep(w, r->tags);
    copy->frame_gaps_ms =
        keep_bytes(w, r->frame_gaps_ms, r->frame_gap_count * sizeof(*r->frame_gaps_ms));
    copy->addresses = keep_bytes(w, r->addresses, r->addresses_len);
    enum err rc = keep_samples(w, r, copy, samples, err);
    if (!rc)
        rc = keep_threads(w, r, copy, threads, err);
    if (rc)
        return rc;
    struct mem_report *row = mem_add(m->work, reports);
    if (!row)
        return mem_no_memory(err);
    *row = (struct mem_report){m->work->next_report++, w->app, stack_id, copy, samples, threads};
    if (!op_report_wants_finding(r))
        return ERR_OK;
    w->b->findings_due = true;
    return mem_finding_due(m->work, m->work->next_report - 1, err);
}

static enum err add_report(struct batch *w, struct op_report *op, struct error *err)
{
    uint64_t stack_id = 0;
    if (op->kind >= REPORT_KINDS)
        return error_set(err, ERR_INVALID, "report %u: unknown kind", op->position);
    enum err rc = mem_claim_id(w->m, op->id_hash, op->received_ms, w->m->work->next_report,
                               &op->duplicate, err);
    if (rc || op->duplicate)
        return rc;
    struct op_report r = *op;
    if (w->budget && (rc = stack_budget_fit(w->budget, op, &w->m->arena, &r, err)))
        return rc;
    rc = map_values(w, &r, err);
    if (!rc)
        rc = cap_pairs(w, &r, err);
    if (!rc && r.stack != NO_STACK)
        rc = stack_of(w, r.stack, r.received_ms, &stack_id, err);
    if (!rc)
        rc = keep_report(w, &r, stack_id, err);
    if (rc)
        return rc;
    struct mem_fact *f = mem_add(w->m->work, facts);
    if (!f)
        return mem_no_memory(err);
    *f = (struct mem_fact){
        .app = w->app,
        .report_id = w->m->work->next_report - 1,
        .stack_id = stack_id,
        .time_ms = r.time_ms,
        .kind = r.kind,
        .version = r.version,
        .build = r.build,
        .device = r.device,
        .os_version = r.os_version,
        .page = r.page,
        .weighted = figures_weight(r.weight),
        .duration_ms = r.duration_ms,
    };
    const struct mem_stack *k = stack_id ? mem_stack_of(w->m->work, stack_id) : NULL;
    return mem_life_report(w->m, k ? k->cluster_id : 0, r.version, r.build, r.received_ms, err);
}

static enum err keep_image_set(struct batch *w, struct error *err)
{
    struct mem_state *s = w->m->work;
    const struct op_batch *b = w->b;
    struct mem_set *set = NULL;
    bool allowed = true;
    size_t len = b->image_set_len;
    int64_t now = b->reports[0].received_ms;
    for (size_t i = 0; i < s->sets_count && !set; i++) {
        if (s->sets[i].app == w->app && strcmp(s->sets[i].client_id, b->image_set) == 0)
            set = &s->sets[i];
    }
    if (set && set->used_ms < now - IMAGE_SET_TOUCH_MS)
        set->used_ms = now;
    if (!b->image_set_data)
        return ERR_OK;
    if (!set) {
        enum err rc = mem_daily(w->m, w->app, MEM_IMAGE_SET, clock_day(now), &allowed, err);
        if (rc || !allowed)
            return rc;
        if (!(set = mem_add(s, sets)))
            return mem_no_memory(err);
        *set = (struct mem_set){.app = w->app, .client_id = keep(w, b->image_set), .used_ms = now};
    } else if (!op_image_set_changes(b, set->data, set->len, &w->m->arena, &len)) {
        return ERR_OK;
    }
    set->data = keep_bytes(w, b->image_set_data, len);
    set->len = len;
    return ERR_OK;
}

/* What the day has left for stacks that are not there. */
static enum err ask_budget(struct batch *w, int32_t day, struct error *err)
{
    const struct mem_state *s = w->m->work;
    size_t count = w->b->stack_count;
    struct stack_budget *b = arena_alloc(&w->m->arena, sizeof(*b));
    enum stack_standing *standing = arena_array(&w->m->arena, count + 1, sizeof(*standing));
    if (!w->m->daily_stacks)
        return ERR_OK;
    if (!b || !standing)
        return mem_no_memory(err);
    for (size_t i = 0; i < s->stacks_count; i++) {
        for (size_t k = 0; k < count && s->stacks[i].app == w->app; k++) {
            if (memcmp(s->stacks[i].hash, w->b->stacks[k].hash, STACK_HASH_SIZE) == 0)
                standing[k] = STACK_KNOWN;
        }
    }
    int64_t added = mem_day_get(s, w->app, MEM_STACK, day);
    *b = (struct stack_budget){(int64_t)w->m->daily_stacks - added, standing, count};
    w->budget = b;
    return ERR_OK;
}

static enum err count_new_stacks(struct batch *w, int32_t day, struct error *err)
{
    enum err rc = ERR_OK;
    for (size_t i = 0; i < w->b->stack_count && !rc; i++) {
        if (w->b->stacks[i].added_id)
            rc = mem_day_add(w->m, w->app, MEM_STACK, day, 1, err);
    }
    for (size_t i = 0; i < w->b->report_count && !rc; i++) {
        if (w->b->reports[i].stacks_dropped)
            rc = mem_day_add(w->m, w->app, MEM_STACK_DROPPED, day, 1, err);
    }
    return rc;
}

static enum err write_batch(struct mem_storage *m, struct op_batch *b, struct error *err)
{
    struct batch w = {.m = m, .b = b};
    for (size_t i = 0; i < b->stack_count; i++)
        b->stacks[i].added_id = 0;
    for (size_t i = 0; i < b->report_count; i++)
        b->reports[i].stacks_dropped = false;
    b->findings_due = false;
    if (b->report_count == 0)
        return ERR_OK;
    int32_t day = clock_day(b->reports[0].received_ms);
    w.stack_ids = arena_array(&m->arena, b->stack_count + 1, sizeof(*w.stack_ids));
    enum err rc = w.stack_ids ? app_of(&w, err) : mem_no_memory(err);
    if (!rc)
        rc = mem_learn_images(m, w.app, day, b->images, b->image_count, err);
    if (!rc)
        rc = ask_budget(&w, day, err);
    for (size_t i = 0; i < b->report_count && !rc; i++)
        rc = add_report(&w, &b->reports[i], err);
    if (!rc)
        rc = count_new_stacks(&w, day, err);
    if (!rc && b->image_set)
        rc = keep_image_set(&w, err);
    if (!rc && w.failed)
        rc = mem_no_memory(err);
    return rc;
}

enum err mem_write_batches(struct mem_storage *m, struct write_op *op, struct error *err)
{
    enum err rc = ERR_OK;
    for (size_t i = 0; i < op->u.batches.count && !rc; i++)
        rc = write_batch(m, &op->u.batches.items[i], err);
    return rc;
}
