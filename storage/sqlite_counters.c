#include "storage/sqlite_counters.h"

#include <string.h>

#include "base/hash.h"
#include "storage/sqlite_clusters.h"
#include "storage/sqlite_heft.h"
#include "storage/sqlite_seen.h"

#define FOLD_KEYS 4

struct fold_entry {
    struct fold_entry *next; /* in order of arrival */
    enum fold_table table;
    int64_t key[FOLD_KEYS];
    int64_t first_ms, last_ms;
    struct figures figures;
    /* Of counters: the only hour so far, or all of them. */
    int hour;
    struct hours *hours;
    struct tally tally; /* of FOLD_CLUSTER */
    bool moved;         /* as of the fold */
};

static bool has_hours(enum fold_table table)
{
    return table == FOLD_COUNTERS || table == FOLD_ROLLED_COUNTERS;
}

void fold_init(struct fold *f, struct arena *arena)
{
    memset(f, 0, sizeof(*f));
    f->arena = arena;
}

static void fold_entry_done(struct fold_entry *e)
{
    figures_done(&e->figures);
    tally_done(&e->tally);
}

void fold_done(struct fold *f)
{
    for (struct fold_entry *e = f->first; e; e = e->next)
        fold_entry_done(e);
    memset(f, 0, sizeof(*f));
}

static struct fold_entry **slot_of(const struct fold *f, enum fold_table table,
                                   const int64_t key[FOLD_KEYS])
{
    size_t i = (size_t)hash64(key, FOLD_KEYS * sizeof(*key), (uint64_t)table);
    for (;; i++) {
        struct fold_entry *e = f->slots[i & (f->slot_count - 1)];
        if (!e || (e->table == table && memcmp(e->key, key, sizeof(e->key)) == 0))
            return &f->slots[i & (f->slot_count - 1)];
    }
}

/* Half of the slots stay free; the old ones die with the arena. */
static bool make_room(struct fold *f)
{
    if (f->count < f->slot_count / 2)
        return true;
    size_t slot_count = f->slot_count ? f->slot_count * 2 : 256;
    struct fold_entry **slots = arena_array(f->arena, slot_count, sizeof(struct fold_entry *));
    if (!slots)
        return false;
    f->slots = slots;
    f->slot_count = slot_count;
    for (struct fold_entry *e = f->first; e; e = e->next)
        *slot_of(f, e->table, e->key) = e;
    return true;
}

static struct fold_entry *entry_of(struct fold *f, enum fold_table table,
                                   const int64_t key[FOLD_KEYS])
{
    struct fold_entry **slot = make_room(f) ? slot_of(f, table, key) : NULL;
    if (!slot || *slot)
        return slot ? *slot : NULL;
    struct fold_entry *e = arena_alloc(f->arena, sizeof(*e));
    if (!e)
        return NULL;
    e->table = table;
    memcpy(e->key, key, sizeof(e->key));
    e->first_ms = INT64_MAX;
    e->last_ms = INT64_MIN;
    *slot = e;
    f->count++;
    if (f->last)
        f->last->next = e;
    else
        f->first = e;
    f->last = e;
    return e;
}

static struct hour_sums sums_of(const struct figures *f)
{
    return (struct hour_sums){f->count, f->weighted, f->stall_ms, f->above_ms};
}

/* Notes hours that are about to be added to the entry's figures: `more`, or `sums` in `hour`. */
static bool add_hours(struct fold *f, struct fold_entry *e, const struct hours *more, int hour,
                      const struct hour_sums *sums)
{
    if (!e->hours && !more && (e->figures.count == 0 || e->hour == hour)) {
        e->hour = hour;
        return true;
    }
    if (!e->hours) {
        if (!(e->hours = arena_alloc(f->arena, sizeof(*e->hours))))
            return false;
        const struct hour_sums before = sums_of(&e->figures);
        hours_add(e->hours, e->hour, &before);
    }
    if (more)
        hours_merge(e->hours, more);
    else
        hours_add(e->hours, hour, sums);
    return true;
}

static bool add_tally(struct tally *t, const struct fold_report *r)
{
    return tally_add(t, TALLY_DAYS, r->day, 1) && tally_add(t, TALLY_BUILDS, r->build_id, 1) &&
           tally_add(t, TALLY_DEVICES, r->device_id, 1);
}

static enum err add(struct fold *f, enum fold_table table, const int64_t key[FOLD_KEYS],
                    const struct fold_report *r, struct error *err)
{
    struct fold_entry *e = entry_of(f, table, key);
    const struct hour_sums one = {1, r->weighted, figures_stall(r->duration_ms),
                                  figures_above(r->weighted, r->duration_ms)};
    bool ok = e && (!has_hours(table) || add_hours(f, e, NULL, hours_of_day(r->time_ms), &one)) &&
              (table != FOLD_CLUSTER || add_tally(&e->tally, r));
    if (!ok || !figures_add(&e->figures, r->weighted, r->duration_ms))
        return error_set(err, ERR_NO_MEMORY, "no memory for counters");
    e->first_ms = r->time_ms < e->first_ms ? r->time_ms : e->first_ms;
    e->last_ms = r->time_ms > e->last_ms ? r->time_ms : e->last_ms;
    return ERR_OK;
}

/* The three counters of a stack or, rolled up, of a cluster. */
static enum err add_counters(struct fold *f, const enum fold_table tables[3], int64_t id,
                             const struct fold_report *r, struct error *err)
{
    const int64_t day[FOLD_KEYS] = {id, r->day, r->build_id, r->kind};
    const int64_t device[FOLD_KEYS] = {id, r->week, r->device_id, r->os_id};
    const int64_t page[FOLD_KEYS] = {id, r->week, r->page_id, r->build_id};
    enum err rc = add(f, tables[0], day, r, err);
    if (!rc)
        rc = add(f, tables[1], device, r, err);
    return rc ? rc : add(f, tables[2], page, r, err);
}

enum err fold_stack(struct fold *f, int64_t stack_id, const struct fold_report *r,
                    struct error *err)
{
    static const enum fold_table tables[] = {FOLD_COUNTERS, FOLD_DEVICES, FOLD_PAGES};
    const int64_t stack[FOLD_KEYS] = {stack_id};
    enum err rc = add_counters(f, tables, stack_id, r, err);
    return rc ? rc : add(f, FOLD_STACK, stack, r, err);
}

enum err fold_rolled(struct fold *f, int64_t cluster_id, const struct fold_report *r,
                     struct error *err)
{
    static const enum fold_table tables[] = {FOLD_ROLLED_COUNTERS, FOLD_ROLLED_DEVICES,
                                             FOLD_ROLLED_PAGES};
    return add_counters(f, tables, cluster_id, r, err);
}

enum err fold_rolled_row(struct fold *f, int64_t cluster_id, const struct fold_row *row,
                         struct error *err)
{
    static const enum fold_table tables[] = {[FOLD_COUNTERS] = FOLD_ROLLED_COUNTERS,
                                             [FOLD_DEVICES] = FOLD_ROLLED_DEVICES,
                                             [FOLD_PAGES] = FOLD_ROLLED_PAGES};
    const int64_t key[FOLD_KEYS] = {cluster_id, row->key[0], row->key[1], row->key[2]};
    struct hours hours = {0};
    struct fold_entry *e = entry_of(f, tables[row->table], key);
    if (e && !hours_add_encoded(&hours, row->hours, row->hours_len, &row->sums))
        return error_set(err, ERR_FORMAT, "the hours of a day are damaged");
    if (!e || (has_hours(e->table) && !add_hours(f, e, &hours, 0, NULL)))
        return error_set(err, ERR_NO_MEMORY, "no memory for counters");
    figures_add_sums(&e->figures, row->sums.count, row->sums.weighted, row->sums.stall_ms,
                     row->sums.above_ms);
    return histogram_add_encoded(&e->figures.hist, row->hist, row->hist_len)
               ? ERR_OK
               : error_set(err, ERR_FORMAT, "the counters of a stack are damaged");
}

enum err fold_cluster(struct fold *f, int64_t cluster_id, const struct fold_report *r,
                      struct error *err)
{
    const int64_t key[FOLD_KEYS] = {cluster_id};
    return add(f, FOLD_CLUSTER, key, r, err);
}

enum err fold_stack_and_cluster(struct fold *f, int64_t stack_id, int64_t cluster_id,
                                const struct fold_report *r, struct error *err)
{
    enum err rc = fold_stack(f, stack_id, r, err);
    if (!rc && cluster_id)
        rc = fold_cluster(f, cluster_id, r, err);
    return rc;
}

/* The histogram, then the hours, into s->blob. */
static bool encode_entry(struct sqlite_storage *s, const struct fold_entry *e, size_t *ret_hist_len)
{
    buf_clear(&s->blob);
    bool ok = histogram_encode(&e->figures.hist, &s->blob);
    *ret_hist_len = s->blob.len;
    if (has_hours(e->table))
        ok &= e->hours ? hours_encode(e->hours, &s->blob) : buf_u8(&s->blob, (uint8_t)e->hour);
    return ok;
}

static enum err write_entry(struct sqlite_storage *s, const struct fold_entry *e, struct error *err)
{
    static const enum sql_query queries[] = {
        [FOLD_COUNTERS] = SQL_COUNTER_ADD,
        [FOLD_DEVICES] = SQL_WEEK_DEVICE_ADD,
        [FOLD_PAGES] = SQL_WEEK_PAGE_ADD,
        [FOLD_ROLLED_COUNTERS] = SQL_ROLLED_COUNTERS_ADD,
        [FOLD_ROLLED_DEVICES] = SQL_ROLLED_DEVICES_ADD,
        [FOLD_ROLLED_PAGES] = SQL_ROLLED_PAGES_ADD,
    };
    const struct figures *f = &e->figures;
    if (e->table == FOLD_STACK) {
        enum err rc = sql_run(&s->conn, SQL_STACK_ADD, err, sql_int(e->key[0]), sql_int(f->count),
                              sql_int(f->weighted), sql_int(f->stall_ms), sql_int(e->first_ms),
                              sql_int(e->last_ms));
        return rc || !e->moved ? rc : sqlite_heft_stack(s, e->key[0], err);
    }
    const struct cluster_move here = {0, e->key[0], f, &e->tally, e->first_ms, e->last_ms, 0};
    if (e->table == FOLD_CLUSTER) {
        sqlite_seen_reports(s, e->key[0], e->first_ms, e->last_ms);
        return sqlite_cluster_add(s, &here, err);
    }
    size_t hist_len = 0;
    if (!encode_entry(s, e, &hist_len))
        return error_set(err, ERR_NO_MEMORY, "no memory for counters");
    return sql_run(&s->conn, queries[e->table], err, sql_int(e->key[0]), sql_int(e->key[1]),
                   sql_int(e->key[2]), sql_int(e->key[3]), sql_int(f->count), sql_int(f->weighted),
                   sql_int(f->stall_ms), sql_blob(s->blob.data, hist_len), sql_int(f->above_ms),
                   sql_blob(s->blob.data + hist_len, s->blob.len - hist_len));
}

enum err sqlite_fold_keep(struct sqlite_storage *s, const struct fold *f, struct error *err)
{
    struct fold *group = s->group_fold;
    for (const struct fold_entry *e = f->first; e; e = e->next) {
        struct fold_entry *into = entry_of(group, e->table, e->key);
        const struct hour_sums sums = sums_of(&e->figures);
        bool ok =
            into && (!has_hours(e->table) || add_hours(group, into, e->hours, e->hour, &sums));
        if (!ok || !figures_merge(&into->figures, &e->figures) ||
            !tally_merge(&into->tally, &e->tally))
            return error_set(err, ERR_NO_MEMORY, "no memory for counters");
        into->moved |= f->moved;
        into->first_ms = e->first_ms < into->first_ms ? e->first_ms : into->first_ms;
        into->last_ms = e->last_ms > into->last_ms ? e->last_ms : into->last_ms;
    }
    return ERR_OK;
}

enum err sqlite_fold_write(struct sqlite_storage *s, const struct fold *f, struct error *err)
{
    enum err rc = ERR_OK;
    for (const struct fold_entry *e = f->first; e && !rc; e = e->next)
        rc = write_entry(s, e, err);
    return rc;
}

enum err sqlite_fold_flush(struct sqlite_storage *s, struct error *err)
{
    enum err rc = sqlite_fold_write(s, s->group_fold, err);
    sqlite_fold_forget(s);
    return rc;
}

/* Rows that nothing is left in go: they would count as versions and devices that were seen. */
static enum err take_entry(struct sqlite_storage *s, const struct fold_entry *e, struct error *err)
{
    static const struct {
        enum sql_query take, drop;
    } queries[] = {
        [FOLD_COUNTERS] = {SQL_COUNTER_TAKE, SQL_COUNTER_DROP},
        [FOLD_DEVICES] = {SQL_WEEK_DEVICE_TAKE, SQL_WEEK_DEVICE_DROP},
        [FOLD_PAGES] = {SQL_WEEK_PAGE_TAKE, SQL_WEEK_PAGE_DROP},
        [FOLD_ROLLED_COUNTERS] = {SQL_ROLLED_COUNTERS_TAKE, SQL_ROLLED_COUNTERS_DROP},
        [FOLD_ROLLED_DEVICES] = {SQL_ROLLED_DEVICES_TAKE, SQL_ROLLED_DEVICES_DROP},
        [FOLD_ROLLED_PAGES] = {SQL_ROLLED_PAGES_TAKE, SQL_ROLLED_PAGES_DROP},
    };
    const struct figures *f = &e->figures;
    if (e->table == FOLD_STACK) {
        enum err rc = sql_run(&s->conn, SQL_STACK_TAKE, err, sql_int(e->key[0]), sql_int(f->count),
                              sql_int(f->weighted), sql_int(f->stall_ms), sql_int(e->first_ms),
                              sql_int(e->last_ms));
        return rc ? rc : sqlite_heft_stack(s, e->key[0], err);
    }
    size_t hist_len = 0;
    if (!encode_entry(s, e, &hist_len))
        return error_set(err, ERR_NO_MEMORY, "no memory for counters");
    const struct sql_value values[] = {
        sql_int(e->key[0]),   sql_int(e->key[1]),
        sql_int(e->key[2]),   sql_int(e->key[3]),
        sql_int(f->count),    sql_int(f->weighted),
        sql_int(f->stall_ms), sql_blob(s->blob.data, hist_len),
        sql_int(f->above_ms), sql_blob(s->blob.data + hist_len, s->blob.len - hist_len),
    };
    enum err rc = sql_run_values(&s->conn, queries[e->table].take, values, 10, err);
    if (!rc)
        rc = sql_run_values(&s->conn, queries[e->table].drop, values, FOLD_KEYS, err);
    return rc;
}

enum err sqlite_fold_take(struct sqlite_storage *s, const struct fold *f, struct error *err)
{
    enum err rc = ERR_OK;
    for (const struct fold_entry *e = f->first; e && !rc; e = e->next) {
        if (e->table != FOLD_CLUSTER)
            rc = take_entry(s, e, err);
    }
    /* Afterwards: the first and last reports of clusters are those of their stacks. */
    for (const struct fold_entry *e = f->first; e && !rc; e = e->next) {
        const struct cluster_move away = {e->key[0],  0, &e->figures, &e->tally, e->first_ms,
                                          e->last_ms, 0};
        if (e->table == FOLD_CLUSTER)
            rc = sqlite_cluster_take(s, &away, err);
    }
    return rc;
}

void sqlite_fold_forget(struct sqlite_storage *s)
{
    struct fold *group = s->group_fold;
    struct arena *arena = group->arena;
    fold_done(group);
    arena_reset(arena);
    fold_init(group, arena);
}
