/* The SQLite backend: opening, closing, readers, checkpoints, and its table of functions. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/clock.h"
#include "storage/sqlite_alerts.h"
#include "storage/sqlite_config.h"
#include "storage/sqlite_counters.h"
#include "storage/sqlite_ids.h"
#include "storage/sqlite_migrate.h"
#include "storage/sqlite_numbers.h"
#include "storage/sqlite_quota.h"
#include "storage/sqlite_read.h"
#include "storage/sqlite_rolled.h"
#include "storage/sqlite_rollup.h"
#include "storage/sqlite_seen.h"
#include "storage/sqlite_storage.h"

#define SCRATCH_LIMIT   ((size_t)256 << 20)
#define BLOB_LIMIT      ((size_t)64 << 20)
#define VALUES_MAX      65536
#define NAMES_MAX       262144
#define DEADLINE_OPCODE 4000 /* virtual machine instructions between two looks at the clock */

#define LOG_HEADER   32
#define FRAME_HEADER 24

/* So long the log is at least. */
static int64_t log_bytes(const struct sqlite_storage *s)
{
    const int64_t pages = sqlite_log_pages(&s->log_pages);
    const int64_t bytes = pages ? LOG_HEADER + pages * (FRAME_HEADER + s->page_size) : 0;
    return bytes < s->log_kept ? bytes : s->log_kept;
}

static bool is_cut(enum sqlite_files_state state)
{
    return state == FILES_LOG_CUT || state == FILES_LOG_HOLLOW;
}

/* What it has in place of its pages is not copied at the end. */
static void keep_log(struct sqlite_storage *s)
{
    struct sql_conn *all[] = {&s->conn, &s->checkpoint_conn};
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        if (all[i]->db)
            (void)sqlite3_db_config(all[i]->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
    }
}

static void sqlite_close(struct storage *base)
{
    struct sqlite_storage *s = sqlite_of(base);
    if (s->in_group)
        sqlite_rollback(base);
    if (is_cut(sqlite_files_look(&s->files, s->path, log_bytes(s))))
        keep_log(s);
    sql_conn_close(&s->checkpoint_conn);
    sql_conn_close(&s->conn); /* the last one: checkpoints and removes the write-ahead log */
    writeback_done(&s->writeback);
    pthread_mutex_destroy(&s->checkpoint_lock);
    storage_health_done(&s->health);
    id_cache_done(&s->values);
    id_cache_done(&s->names);
    sqlite_ids_done(s);
    sqlite_seen_forget(s);
    if (s->group_fold)
        fold_done(s->group_fold);
    free(s->group_fold);
    free(s->frames);
    arena_done(&s->fold_arena);
    arena_done(&s->resolved.arena);
    arena_done(&s->scratch);
    buf_done(&s->blob);
    free(s->path);
    free(s);
}

static enum err init_memory(struct sqlite_storage *s, const struct storage_options *o,
                            struct error *err)
{
    uint64_t seed = 0;
    if (getrandom(&seed, sizeof(seed), 0) != (ssize_t)sizeof(seed))
        return error_errno(err, errno, "no random numbers");
    s->path = strdup(o->path);
    s->group_fold = calloc(1, sizeof(*s->group_fold));
    if (s->group_fold)
        fold_init(s->group_fold, &s->fold_arena);
    s->frames = calloc(1, sizeof(*s->frames));
    if (!s->path || !s->group_fold || !s->frames || !id_cache_init(&s->values, VALUES_MAX, seed) ||
        !id_cache_init(&s->names, NAMES_MAX, seed))
        return error_set(err, ERR_NO_MEMORY, "no memory for the storage");
    s->conn_options = (struct sql_conn_options){s->path, true, o->busy_ms, &s->health};
    s->synchronous_full = o->synchronous_full;
    s->daily_values = o->daily_values;
    s->daily_stacks = o->daily_stacks;
    s->rollup_lag = o->rollup_lag ? o->rollup_lag : ROLLUP_LAG;
    s->new_ids = o->new_ids ? o->new_ids : NEW_IDS;
    s->rollup_stacks = o->rollup_stacks ? o->rollup_stacks : ROLLUP_STACKS;
    return ERR_OK;
}

static enum err sqlite_open(const struct storage_options *o, struct storage **ret,
                            struct error *err)
{
    const struct sqlite_migrations migrations = {sql_migrations, SQL_MIGRATIONS, o->migrate};
    struct sqlite_storage *s = calloc(1, sizeof(*s));
    if (!s)
        return error_set(err, ERR_NO_MEMORY, "no memory for the storage");
    s->base.backend = &storage_backend_sqlite;
    pthread_mutex_init(&s->checkpoint_lock, NULL);
    storage_health_init(&s->health);
    arena_init(&s->scratch, SCRATCH_LIMIT);
    arena_init(&s->fold_arena, SCRATCH_LIMIT);
    arena_init(&s->resolved.arena, RESOLVED_SET_BYTES);
    buf_init(&s->blob, BLOB_LIMIT);
    enum err rc = init_memory(s, o, err);
    if (!rc)
        rc = sql_conn_open(&s->conn, &s->conn_options, err);
    s->conn_options.create = false; /* who opens it later finds it, or an error */
    if (!rc)
        rc = sqlite_migrate(&s->conn, s->path, &migrations, &s->upgrade, err);
    if (!rc)
        rc = sql_prepare_all(&s->conn, err);
    if (!rc)
        rc = sqlite_writer_open(s, err);
    if (!rc)
        rc = sql_get_values(&s->conn, SQL_PAGE_SIZE, NULL, 0, 4096, &s->page_size, err);
    if (!rc)
        rc = sql_get_values(&s->conn, SQL_LOG_KEPT, NULL, 0, 0, &s->log_kept, err);
    if (!rc)
        rc = sql_conn_open(&s->checkpoint_conn, &s->conn_options, err);
    /* A connection that never read does not know that there is a log, and checkpoints nothing. */
    int64_t version = 0;
    if (!rc)
        rc = sql_get_values(&s->checkpoint_conn, SQL_USER_VERSION, NULL, 0, 0, &version, err);
    if (rc) {
        sqlite_close(&s->base);
        return rc;
    }
    sqlite_files_note(&s->files, s->path);
    writeback_open(&s->writeback, s->path);
    *ret = &s->base;
    return ERR_OK;
}

/* --- the write-ahead log ---------------------------------------------------------------------- */

/* With checkpoint_lock. */
static enum err copy_home(struct sqlite_storage *s, bool truncate, int64_t *ret_left,
                          struct error *err)
{
    int pages = 0;
    int done = 0;
    int rc = sqlite3_wal_checkpoint_v2(
        s->checkpoint_conn.db, NULL,
        truncate ? SQLITE_CHECKPOINT_TRUNCATE : SQLITE_CHECKPOINT_PASSIVE, &pages, &done);
    /* A reader or the writer is in the way of the truncation: the pages are copied all the same. */
    if (rc && (rc & 0xff) != SQLITE_BUSY)
        return sql_error(&s->checkpoint_conn, rc, "checkpoint", err);
    if (truncate && rc == SQLITE_OK)
        sqlite_log_pages_truncated(&s->log_pages);
    else if (pages == done && pages >= 0) /* -1: nobody could look */
        sqlite_log_pages_copied(&s->log_pages, pages);
    *ret_left = pages > done ? pages : sqlite_log_pages(&s->log_pages);
    return ERR_OK;
}

static enum err sqlite_checkpoint(struct storage *base, bool truncate, uint64_t *ret_wal_bytes,
                                  struct error *err)
{
    struct sqlite_storage *s = sqlite_of(base);
    int64_t left = 0;
    if (truncate)
        pthread_mutex_lock(&s->checkpoint_lock);
    else if (pthread_mutex_trylock(&s->checkpoint_lock) != 0)
        return error_set(err, ERR_BUSY, "another checkpoint is under way");
    const enum sqlite_files_state state = sqlite_files_look(&s->files, s->path, log_bytes(s));
    /* Of a log that was cut there is no telling what would be copied. */
    enum err rc =
        is_cut(state) ? sqlite_files_error(state, err) : copy_home(s, truncate, &left, err);
    /* SQLite syncs when all is copied, and only then: that is to find little. */
    if (!rc && !truncate && left > 0)
        rc = writeback_run(&s->writeback, err);
    storage_health_checkpoint(&s->health, rc ? err : NULL);
    pthread_mutex_unlock(&s->checkpoint_lock);
    if (!rc)
        *ret_wal_bytes = (uint64_t)(left * s->page_size);
    return rc;
}

static enum err sqlite_last_checkpoint(struct storage *base, struct error *err)
{
    return storage_health_last_checkpoint(&sqlite_of(base)->health, err);
}

/* A log that is shorter than it was: another program may have emptied it in order, or all of it is
 * in the file by now; else pages are missing for good. With checkpoint_lock. */
static enum sqlite_files_state begin_log_anew(struct sqlite_storage *s)
{
    int rc = sqlite3_wal_checkpoint_v2(s->checkpoint_conn.db, NULL, SQLITE_CHECKPOINT_TRUNCATE,
                                       NULL, NULL);
    if (rc == SQLITE_OK)
        sqlite_log_pages_truncated(&s->log_pages);
    else if ((rc & 0xff) != SQLITE_BUSY)
        atomic_store(&s->files.cut, true);
    return rc == SQLITE_OK ? FILES_OK : FILES_LOG_CUT;
}

enum err sqlite_look_at_files(struct sqlite_storage *s, struct error *err)
{
    int64_t left = 0;
    enum sqlite_files_state state = sqlite_files_look(&s->files, s->path, log_bytes(s));
    if (state == FILES_OK)
        return ERR_OK;
    pthread_mutex_lock(&s->checkpoint_lock);
    state =
        sqlite_files_look(&s->files, s->path, log_bytes(s)); /* no truncation is under way now */
    if (state == FILES_LOG_HOLLOW)
        atomic_store(&s->files.cut, true);
    else if (state == FILES_LOG_CUT && !s->in_group && !atomic_load(&s->files.cut))
        state = begin_log_anew(s);
    else if (state == FILES_LOG_GONE && sqlite_log_pages(&s->log_pages) > 0)
        (void)copy_home(s, false, &left, NULL); /* its pages are lost with this process */
    pthread_mutex_unlock(&s->checkpoint_lock);
    return state == FILES_OK ? ERR_OK : sqlite_files_error(state, err);
}

static enum err sqlite_used_bytes(struct storage *base, uint64_t *ret, struct error *err)
{
    struct sqlite_storage *s = sqlite_of(base);
    int64_t bytes = 0;
    pthread_mutex_lock(&s->checkpoint_lock);
    enum err rc = sql_get_values(&s->checkpoint_conn, SQL_USED_BYTES, NULL, 0, 0, &bytes, err);
    pthread_mutex_unlock(&s->checkpoint_lock);
    if (!rc)
        *ret = (uint64_t)bytes;
    return rc;
}

static uint64_t sqlite_wal_bytes(struct storage *base)
{
    struct sqlite_storage *s = sqlite_of(base);
    return (uint64_t)(sqlite_log_pages(&s->log_pages) * s->page_size);
}

static const struct storage_upgrade *sqlite_upgrade(const struct storage *base)
{
    return &((const struct sqlite_storage *)base)->upgrade;
}

static void sqlite_reader_close(struct storage_reader *base)
{
    struct sqlite_reader *r = sqlite_reader_of(base);
    sql_conn_close(&r->conn);
    sqlite_later_done(r);
    free(r);
}

static int on_progress(void *arg)
{
    const struct sqlite_reader *r = arg;
    return clock_mono_ms() > r->deadline_mono_ms;
}

static void sqlite_reader_deadline(struct storage_reader *base, int64_t deadline_mono_ms)
{
    struct sqlite_reader *r = sqlite_reader_of(base);
    r->deadline_mono_ms = deadline_mono_ms;
    if (deadline_mono_ms == INT64_MAX)
        sqlite3_progress_handler(r->conn.db, 0, NULL, NULL);
    else
        sqlite3_progress_handler(r->conn.db, DEADLINE_OPCODE, on_progress, r);
}

static enum err sqlite_reader_open(struct storage *base, struct storage_reader **ret,
                                   struct error *err)
{
    struct sqlite_storage *s = sqlite_of(base);
    struct sqlite_reader *r = calloc(1, sizeof(*r));
    if (!r)
        return error_set(err, ERR_NO_MEMORY, "no memory for a reader");
    r->base.backend = &storage_backend_sqlite;
    r->storage = s;
    r->deadline_mono_ms = INT64_MAX;
    enum err rc = sql_conn_open(&r->conn, &s->conn_options, err);
    if (!rc)
        rc = sql_set(&r->conn, SQL_QUERY_ONLY, err);
    if (rc) {
        sqlite_reader_close(&r->base);
        return rc;
    }
    *ret = &r->base;
    return ERR_OK;
}

static void sqlite_read_end(struct storage_reader *base)
{
    struct sqlite_reader *r = sqlite_reader_of(base);
    for (size_t i = 0; i < SQL_QUERIES; i++)
        sql_end(r->conn.stmts[i]);
    (void)sql_run0(&r->conn, SQL_ROLLBACK, NULL);
}

static enum err sqlite_read_begin(struct storage_reader *base, struct error *err)
{
    struct sqlite_reader *r = sqlite_reader_of(base);
    if (clock_mono_ms() > r->deadline_mono_ms)
        return error_set(err, ERR_LIMIT, "query took too long");
    /* The deadline may have hit the end of the read before, too. */
    if (!sqlite3_get_autocommit(r->conn.db))
        sqlite_read_end(base);
    sqlite_later_forget(r);
    return sql_run0(&r->conn, SQL_BEGIN_READ, err);
}

const struct storage_backend storage_backend_sqlite = {
    .name = "sqlite",
    .open = sqlite_open,
    .close = sqlite_close,
    .begin = sqlite_begin,
    .apply = sqlite_apply,
    .commit = sqlite_commit,
    .rollback = sqlite_rollback,
    .checkpoint = sqlite_checkpoint,
    .last_checkpoint = sqlite_last_checkpoint,
    .wal_bytes = sqlite_wal_bytes,
    .used_bytes = sqlite_used_bytes,
    .trouble = sqlite_trouble,
    .check = sqlite_check,
    .upgrade = sqlite_upgrade,
    .snapshot_open = sqlite_snapshot_open,
    .snapshot_close = sqlite_snapshot_close,
    .snapshot_bytes = sqlite_snapshot_bytes,
    .snapshot_write = sqlite_snapshot_write,
    .reader_open = sqlite_reader_open,
    .reader_close = sqlite_reader_close,
    .reader_deadline = sqlite_reader_deadline,
    .read_begin = sqlite_read_begin,
    .read_end = sqlite_read_end,
    .read_pending = sqlite_read_pending,
    .read_image = sqlite_read_image,
    .read_group = sqlite_read_group,
    .read_layouts = sqlite_read_layouts,
    .read_layout_claims = sqlite_read_layout_claims,
    .read_image_set = sqlite_read_image_set,
    .read_tokens = sqlite_read_tokens,
    .read_upload = sqlite_read_upload,
    .read_upload_by_sha256 = sqlite_read_upload_by_sha256,
    .read_uploads_waiting = sqlite_read_uploads_waiting,
    .read_symbols_present = sqlite_read_symbols_present,
    .read_shelf = sqlite_read_shelf,
    .read_shelf_image = sqlite_read_shelf_image,
    .read_shelf_for = sqlite_read_shelf_for,
    .read_owns_shelves = sqlite_read_owns_shelves,
    .read_symbol_files = sqlite_read_symbol_files,
    .read_symbols = sqlite_read_symbols,
    .read_known_objects = sqlite_read_known_objects,
    .read_symbol = sqlite_read_symbol,
    .read_refits = sqlite_read_refits,
    .read_turn_backs = sqlite_read_turn_backs,
    .read_idle_objects = sqlite_read_idle_objects,
    .read_object_holders = sqlite_read_object_holders,
    .read_held_objects = sqlite_read_held_objects,
    .read_object_totals = sqlite_read_object_totals,
    .read_kept_index_bytes = sqlite_read_kept_index_bytes,
    .read_protected = sqlite_read_protected,
    .read_stand_ins = sqlite_read_stand_ins,
    .read_open_upload = sqlite_read_open_upload,
    .read_open_uploads = sqlite_read_open_uploads,
    .read_missing = sqlite_read_missing,
    .read_clusters = sqlite_read_clusters,
    .read_cluster = sqlite_read_cluster,
    .read_cluster_aliases = sqlite_read_cluster_aliases,
    .read_cluster_stacks = sqlite_read_cluster_stacks,
    .read_breakdown = sqlite_read_breakdown,
    .read_cluster_reports = sqlite_read_cluster_reports,
    .read_report = sqlite_read_report,
    .read_stats = sqlite_read_stats,
    .read_stack_totals = sqlite_read_stack_totals,
    .read_symbolication = sqlite_read_symbolication,
    .read_hours = sqlite_read_hours,
    .read_stack_weights = sqlite_read_stack_weights,
    .read_trend = sqlite_read_trend,
    .read_totals = sqlite_read_totals,
    .read_context = sqlite_read_context,
    .read_compare = sqlite_read_compare,
    .read_overlays = sqlite_read_overlays,
    .read_keyed_stacks = sqlite_read_keyed_stacks,
    .read_stack_floor = sqlite_read_stack_floor,
    .read_cluster_rules = sqlite_read_cluster_rules,
    .read_cluster_parts = sqlite_read_cluster_parts,
    .read_related = sqlite_read_related,
    .read_cluster_work = sqlite_read_cluster_work,
    .read_cluster_work_last = sqlite_read_cluster_work_last,
    .read_cluster_apps = sqlite_read_cluster_apps,
    .read_config = sqlite_read_config,
    .read_quotas = sqlite_read_quotas,
    .read_app_names = sqlite_read_app_names,
    .read_apps = sqlite_read_apps,
    .read_new_stacks = sqlite_read_new_stacks,
    .read_config_history = sqlite_read_config_history,
    .read_findings_due = sqlite_read_findings_due,
    .read_cluster_findings = sqlite_read_cluster_findings,
    .read_cluster_history = sqlite_read_cluster_history,
    .read_alert_settings = sqlite_read_alert_settings,
    .read_alert_cluster = sqlite_read_alert_cluster,
    .read_alert_regressions = sqlite_read_alert_regressions,
    .read_alert_new_clusters = sqlite_read_alert_new_clusters,
    .read_alert_minutes = sqlite_read_alert_minutes,
    .read_alert_rates = sqlite_read_alert_rates,
    .read_deliveries_due = sqlite_read_deliveries_due,
    .read_deliveries = sqlite_read_deliveries,
};
