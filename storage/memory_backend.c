/* The memory backend: snapshots, groups, readers, its table of functions. */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/vec.h"
#include "storage/memory_alerts.h"
#include "storage/memory_config.h"
#include "storage/memory_life.h"
#include "storage/memory_numbers.h"
#include "storage/memory_quota.h"
#include "storage/memory_read.h"
#include "storage/memory_state.h"

#define ARENA_LIMIT ((size_t)4 << 30)

void *mem_add_row(void **rows, size_t *count, size_t *cap, size_t size)
{
    void *grown = vec_grown(*rows, cap, *count + 1, size);
    if (!grown)
        return NULL;
    *rows = grown;
    void *row = (char *)*rows + (*count)++ * size;
    memset(row, 0, size);
    return row;
}

void mem_remove_row(void *rows, size_t *count, size_t size, size_t i)
{
    char *row = (char *)rows + i * size;
    memmove(row, row + size, (*count - i - 1) * size);
    (*count)--;
}

void mem_state_free(struct mem_state *s)
{
    if (!s)
        return;
#define MEM_FREE(type, name) free(s->name);
    MEM_TABLES(MEM_FREE)
#undef MEM_FREE
    free(s);
}

static bool copy_rows(void **rows, size_t count, size_t *cap, size_t size)
{
    const void *from = *rows;
    *rows = NULL;
    *cap = 0;
    if (count == 0)
        return true;
    if (!(*rows = malloc(count * size)))
        return false;
    memcpy(*rows, from, count * size);
    *cap = count;
    return true;
}

struct mem_state *mem_state_copy(const struct mem_state *s)
{
    struct mem_state *c = malloc(sizeof(*c));
    bool ok = true;
    if (!c)
        return NULL;
    *c = *s;
    c->users = 0;
#define MEM_COPY(type, name)                                                                       \
    ok &= copy_rows((void **)&c->name, c->name##_count, &c->name##_cap, sizeof(*c->name));
    MEM_TABLES(MEM_COPY)
#undef MEM_COPY
    if (ok)
        return c;
    mem_state_free(c);
    return NULL;
}

size_t mem_app_of(const struct mem_state *s, const char *bundle_id)
{
    for (size_t i = 0; i < s->apps_count; i++) {
        if (strcmp(s->apps[i].bundle_id, bundle_id) == 0)
            return i;
    }
    return SIZE_MAX;
}

struct mem_stack *mem_stack_of(const struct mem_state *s, uint64_t id)
{
    for (size_t i = 0; i < s->stacks_count; i++) {
        if (s->stacks[i].id == id)
            return &s->stacks[i];
    }
    return NULL;
}

struct mem_cluster *mem_cluster_of(const struct mem_state *s, uint64_t id)
{
    for (size_t i = 0; i < s->clusters_count; i++) {
        if (s->clusters[i].id == id)
            return &s->clusters[i];
    }
    return NULL;
}

const struct mem_slice *mem_current_slice(const struct mem_state *s, const struct uuid *uuid)
{
    for (size_t i = 0; i < s->slices_count; i++) {
        if (s->slices[i].row.current && uuid_equal(&s->slices[i].row.shelf, uuid))
            return &s->slices[i];
    }
    return NULL;
}

struct mem_sums mem_stack_sums(const struct mem_state *s, uint64_t stack_id)
{
    struct mem_sums sums = {.first_ms = INT64_MAX, .last_ms = INT64_MIN};
    for (size_t i = 0; i < s->facts_count; i++) {
        const struct mem_fact *f = &s->facts[i];
        if (f->stack_id != stack_id)
            continue;
        sums.count++;
        sums.weighted += f->weighted;
        sums.stall_ms += figures_stall(f->duration_ms);
        sums.above_ms += figures_above(f->weighted, f->duration_ms);
        sums.first_ms = f->time_ms < sums.first_ms ? f->time_ms : sums.first_ms;
        sums.last_ms = f->time_ms > sums.last_ms ? f->time_ms : sums.last_ms;
    }
    return sums;
}

static struct mem_storage *mem_of(struct storage *s)
{
    return (struct mem_storage *)s;
}

static void mem_close(struct storage *base)
{
    struct mem_storage *m = mem_of(base);
    mem_state_free(m->work);
    mem_state_free(m->published);
    arena_done(&m->arena);
    pthread_mutex_destroy(&m->lock);
    free(m);
}

static enum err mem_open(const struct storage_options *o, struct storage **ret, struct error *err)
{
    struct mem_storage *m = calloc(1, sizeof(*m));
    if (!m)
        return mem_no_memory(err);
    m->base.backend = &storage_backend_memory;
    m->daily_values = o->daily_values;
    m->daily_stacks = o->daily_stacks;
    pthread_mutex_init(&m->lock, NULL);
    arena_init(&m->arena, ARENA_LIMIT);
    m->work = calloc(1, sizeof(*m->work));
    m->published = calloc(1, sizeof(*m->published));
    if (!m->work || !m->published) {
        mem_close(&m->base);
        return mem_no_memory(err);
    }
    m->work->next_stack = m->work->next_report = m->work->next_cluster = 1;
    m->work->next_upload = m->work->next_slice = m->work->next_token = 1;
    m->work->hours_from = INT32_MIN;
    m->work->next_rule = m->work->next_work = 1;
    m->work->next_change = m->work->next_alert = m->work->next_delivery = 1;
    *m->published = *m->work;
    *ret = &m->base;
    return ERR_OK;
}

static enum err mem_begin(struct storage *base, struct error *err)
{
    struct mem_storage *m = mem_of(base);
    if (m->in_group)
        return error_set(err, ERR_INTERNAL, "a group is open already");
    m->in_group = true;
    return ERR_OK;
}

static enum err mem_apply(struct storage *base, struct write_op *op, struct error *err)
{
    static enum err (*const functions[])(struct mem_storage *, struct write_op *,
                                         struct error *) = {
        [WRITE_BATCHES] = mem_write_batches,
        [WRITE_RESOLUTIONS] = mem_write_resolutions,
        [WRITE_UPLOAD] = mem_write_upload,
        [WRITE_UPLOAD_STATE] = mem_write_upload_state,
        [WRITE_REPEND] = mem_write_repend,
        [WRITE_SYMBOL_DELETE] = mem_write_symbol_delete,
        [WRITE_TOKEN] = mem_write_token,
        [WRITE_TOKEN_REVOKE] = mem_write_token_revoke,
        [WRITE_EXPIRE] = mem_write_expire,
        [WRITE_GIVE_UP] = mem_write_give_up,
        [WRITE_HOURS_EXPIRE] = mem_write_hours_expire,
        [WRITE_REKEY] = mem_write_rekey,
        [WRITE_CLUSTER_RULE] = mem_write_cluster_rule,
        [WRITE_CLUSTER_RULE_UNDO] = mem_write_cluster_rule_undo,
        [WRITE_EPOCH] = mem_write_epoch,
        [WRITE_CLUSTER_CARRY] = mem_write_cluster_carry,
        [WRITE_CLUSTER_WORK] = mem_write_cluster_work,
        [WRITE_CONFIG] = mem_write_config,
        [WRITE_QUOTA] = mem_write_quota,
        [WRITE_UPLOAD_DELETE] = mem_write_upload_delete,
        [WRITE_REFIT] = mem_write_refit,
        [WRITE_REFITTED] = mem_write_refitted,
        [WRITE_OBJECTS] = mem_write_objects,
        [WRITE_PROTECT] = mem_write_protect,
        [WRITE_OPEN_UPLOAD] = mem_write_open_upload,
        [WRITE_PIECE] = mem_write_piece,
        [WRITE_OPEN_DROP] = mem_write_open_drop,
        [WRITE_USAGE] = mem_write_usage,
        [WRITE_FINDINGS] = mem_write_findings,
        [WRITE_CLUSTER_STATE] = mem_write_cluster_state,
        [WRITE_ALERT_RULES] = mem_write_alert_rules,
        [WRITE_ALERTS] = mem_write_alerts,
        [WRITE_DELIVERY] = mem_write_delivery,
        [WRITE_STAND_IN] = mem_write_stand_in,
    };
    struct mem_storage *m = mem_of(base);
    if (!m->in_group)
        return error_set(err, ERR_INTERNAL, "no group is open");
    struct mem_state *before = mem_state_copy(m->work);
    if (!before)
        return mem_no_memory(err);
    enum err rc = functions[op->kind](m, op, err);
    if (rc) {
        mem_state_free(m->work);
        m->work = before;
    } else {
        mem_state_free(before);
    }
    return rc;
}

/* Under the lock: frees a state that was replaced and that nobody reads any more. */
static void publish(struct mem_storage *m, struct mem_state *s)
{
    struct mem_state *old = m->published;
    m->published = s;
    if (old->users == 0)
        mem_state_free(old);
}

static enum err mem_commit(struct storage *base, struct error *err)
{
    struct mem_storage *m = mem_of(base);
    if (!m->in_group)
        return error_set(err, ERR_INTERNAL, "no group is open");
    struct mem_state *copy = mem_state_copy(m->work);
    m->in_group = false;
    if (!copy)
        return mem_no_memory(err);
    pthread_mutex_lock(&m->lock);
    publish(m, copy);
    pthread_mutex_unlock(&m->lock);
    return ERR_OK;
}

static void mem_rollback(struct storage *base)
{
    struct mem_storage *m = mem_of(base);
    struct mem_state *copy = mem_state_copy(m->published);
    m->in_group = false;
    if (!copy)
        return;
    mem_state_free(m->work);
    m->work = copy;
}

static enum err mem_checkpoint(struct storage *s, bool truncate, uint64_t *ret_wal_bytes,
                               struct error *err)
{
    (void)s;
    (void)truncate;
    (void)err;
    *ret_wal_bytes = 0;
    return ERR_OK;
}

static enum err mem_last_checkpoint(struct storage *s, struct error *err)
{
    (void)s;
    (void)err;
    return ERR_OK;
}

static enum storage_trouble mem_trouble(struct storage *s, char *text, size_t size)
{
    (void)s;
    if (text && size > 0)
        *text = 0;
    return STORAGE_SOUND;
}

static enum err mem_check(struct storage *s, bool (*go_on)(void *ctx), void *ctx, struct error *err)
{
    (void)s;
    (void)go_on;
    (void)ctx;
    (void)err;
    return ERR_OK;
}

static enum err mem_used_bytes(struct storage *s, uint64_t *ret, struct error *err)
{
    (void)s;
    (void)err;
    *ret = 0;
    return ERR_OK;
}

static uint64_t mem_wal_bytes(struct storage *s)
{
    (void)s;
    return 0;
}

static const struct storage_upgrade *mem_upgrade(const struct storage *s)
{
    static const struct storage_upgrade none = {.from = 0};
    (void)s;
    return &none;
}

static enum err mem_reader_open(struct storage *s, struct storage_reader **ret, struct error *err)
{
    struct mem_reader *r = calloc(1, sizeof(*r));
    if (!r)
        return mem_no_memory(err);
    r->base.backend = &storage_backend_memory;
    r->storage = mem_of(s);
    r->deadline_mono_ms = INT64_MAX;
    *ret = &r->base;
    return ERR_OK;
}

static void mem_reader_close(struct storage_reader *r)
{
    free(r);
}

static void mem_reader_deadline(struct storage_reader *r, int64_t deadline_mono_ms)
{
    ((struct mem_reader *)r)->deadline_mono_ms = deadline_mono_ms;
}

static enum err mem_read_begin(struct storage_reader *base, struct error *err)
{
    struct mem_reader *r = (struct mem_reader *)base;
    if (clock_mono_ms() > r->deadline_mono_ms)
        return error_set(err, ERR_LIMIT, "query took too long");
    pthread_mutex_lock(&r->storage->lock);
    r->state = r->storage->published;
    r->state->users++;
    pthread_mutex_unlock(&r->storage->lock);
    return ERR_OK;
}

static void mem_read_end(struct storage_reader *base)
{
    struct mem_reader *r = (struct mem_reader *)base;
    pthread_mutex_lock(&r->storage->lock);
    if (--r->state->users == 0 && r->state != r->storage->published)
        mem_state_free(r->state);
    pthread_mutex_unlock(&r->storage->lock);
    r->state = NULL;
}

const struct storage_backend storage_backend_memory = {
    .name = "memory",
    .open = mem_open,
    .close = mem_close,
    .begin = mem_begin,
    .apply = mem_apply,
    .commit = mem_commit,
    .rollback = mem_rollback,
    .checkpoint = mem_checkpoint,
    .last_checkpoint = mem_last_checkpoint,
    .wal_bytes = mem_wal_bytes,
    .used_bytes = mem_used_bytes,
    .trouble = mem_trouble,
    .check = mem_check,
    .upgrade = mem_upgrade,
    .reader_open = mem_reader_open,
    .reader_close = mem_reader_close,
    .reader_deadline = mem_reader_deadline,
    .read_begin = mem_read_begin,
    .read_end = mem_read_end,
    .read_pending = mem_read_pending,
    .read_image = mem_read_image,
    .read_group = mem_read_group,
    .read_layouts = mem_read_layouts,
    .read_layout_claims = mem_read_layout_claims,
    .read_image_set = mem_read_image_set,
    .read_tokens = mem_read_tokens,
    .read_upload = mem_read_upload,
    .read_upload_by_sha256 = mem_read_upload_by_sha256,
    .read_uploads_waiting = mem_read_uploads_waiting,
    .read_symbols_present = mem_read_symbols_present,
    .read_shelf = mem_read_shelf,
    .read_shelf_image = mem_read_shelf_image,
    .read_shelf_for = mem_read_shelf_for,
    .read_owns_shelves = mem_read_owns_shelves,
    .read_symbol_files = mem_read_symbol_files,
    .read_symbols = mem_read_symbols,
    .read_known_objects = mem_read_known_objects,
    .read_symbol = mem_read_symbol,
    .read_refits = mem_read_refits,
    .read_turn_backs = mem_read_turn_backs,
    .read_idle_objects = mem_read_idle_objects,
    .read_object_holders = mem_read_object_holders,
    .read_held_objects = mem_read_held_objects,
    .read_object_totals = mem_read_object_totals,
    .read_kept_index_bytes = mem_read_kept_index_bytes,
    .read_protected = mem_read_protected,
    .read_stand_ins = mem_read_stand_ins,
    .read_open_upload = mem_read_open_upload,
    .read_open_uploads = mem_read_open_uploads,
    .read_missing = mem_read_missing,
    .read_clusters = mem_read_clusters,
    .read_cluster = mem_read_cluster,
    .read_cluster_aliases = mem_read_cluster_aliases,
    .read_cluster_stacks = mem_read_cluster_stacks,
    .read_breakdown = mem_read_breakdown,
    .read_cluster_reports = mem_read_cluster_reports,
    .read_report = mem_read_report,
    .read_stats = mem_read_stats,
    .read_stack_totals = mem_read_stack_totals,
    .read_symbolication = mem_read_symbolication,
    .read_hours = mem_read_hours,
    .read_stack_weights = mem_read_stack_weights,
    .read_trend = mem_read_trend,
    .read_totals = mem_read_totals,
    .read_context = mem_read_context,
    .read_compare = mem_read_compare,
    .read_overlays = mem_read_overlays,
    .read_keyed_stacks = mem_read_keyed_stacks,
    .read_stack_floor = mem_read_stack_floor,
    .read_cluster_rules = mem_read_cluster_rules,
    .read_cluster_parts = mem_read_cluster_parts,
    .read_related = mem_read_related,
    .read_cluster_work = mem_read_cluster_work,
    .read_cluster_work_last = mem_read_cluster_work_last,
    .read_cluster_apps = mem_read_cluster_apps,
    .read_config = mem_read_config,
    .read_quotas = mem_read_quotas,
    .read_app_names = mem_read_app_names,
    .read_apps = mem_read_apps,
    .read_new_stacks = mem_read_new_stacks,
    .read_config_history = mem_read_config_history,
    .read_findings_due = mem_read_findings_due,
    .read_cluster_findings = mem_read_cluster_findings,
    .read_cluster_history = mem_read_cluster_history,
    .read_alert_settings = mem_read_alert_settings,
    .read_alert_cluster = mem_read_alert_cluster,
    .read_alert_regressions = mem_read_alert_regressions,
    .read_alert_new_clusters = mem_read_alert_new_clusters,
    .read_alert_minutes = mem_read_alert_minutes,
    .read_alert_rates = mem_read_alert_rates,
    .read_deliveries_due = mem_read_deliveries_due,
    .read_deliveries = mem_read_deliveries,
};
