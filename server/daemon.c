/*
 * DESIGN
 *
 * Order of start; a stop is the exact reverse, with two steps before it:
 *
 *   port (bound, nobody is let in yet), folder and lock, rules, metrics, files, database, quotas,
 *   stored state, index cache, writer, first admin token, resolver, findings, indexer, notifier,
 *   alerts, housekeeping, epochs, backups, readers, spooler, door, port file
 *
 * Stop: the door's readiness goes off (quiesce); the indexer ends its child and answers those who
 * wait for an upload, so that no request waits for minutes; the door stops, while everything that its
 * requests may call still runs: the writer commits and answers. Then the reverse. The resolver,
 * the epochs and housekeeping end before the writer, which they wait for; the writer before the database; its
 * bells (bell.h) are cut before those who hear them are freed.
 */
#include "server/daemon.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "server/bell.h"
#include "server/data_dir.h"
#include "server/file_limit.h"
#include "server/first_token.h"
#include "server/http/http_server.h"
#include "server/http/listen_socket.h"
#include "server/jobs/findings.h"
#include "server/jobs/housekeeping.h"
#include "server/rules_file.h"
#include "server/stored_state.h"
#include "symbolizer/sigbus_guard.h"

#define SLOW_LOOKS 10 /* of looks for alerts: every so many for what costs more */

struct daemon {
    const struct config *config;
    int listen_fd; /* until the door has it; -1 */
    struct data_dir *dir;
    struct live_rules *rules;
    struct ingest_limits ingest_limits;
    struct admission *admission;
    struct layouts *layouts;
    struct metrics *metrics;
    struct blob_store *blobs;
    struct storage *storage;
    struct index_cache *cache;
    struct writer *writer;
    struct bell pending_bell, findings_bell;
    struct resolver *resolver;
    struct findings *findings;
    struct indexer *indexer;
    struct notifier *notifier;
    struct alerts *alerts;
    struct housekeeping *housekeeping;
    struct epochs *epochs;
    struct backups *backups;
    struct readers *readers;
    struct spooler *spooler;
    struct piece_locks *piece_locks;
    struct stats_memo *stats;
    struct services services;
    struct http_server *door;
    bool port_file_written;
};

static size_t cores_or(uint64_t wanted)
{
    long n = sysconf(_SC_NPROCESSORS_ONLN);
    if (wanted > 0)
        return (size_t)wanted;
    return n > 0 ? (size_t)n : 1;
}

/* --- what parts ask of the daemon ------------------------------------------------------------- */

static void on_pending(void *ctx)
{
    struct daemon *d = ctx;
    bell_ring(&d->pending_bell);
}

static void on_findings(void *ctx)
{
    struct daemon *d = ctx;
    bell_ring(&d->findings_bell);
}

static void ring_resolver(void *resolver)
{
    resolver_ring(resolver);
}

static void ring_findings(void *findings)
{
    findings_ring(findings);
}

static void on_layout(void *ctx, const char *bundle_id, const struct uuid *uuid, uint64_t vmaddr)
{
    const struct daemon *d = ctx;
    layouts_claim(d->layouts, bundle_id, uuid, vmaddr);
}

static bool locate_index(void *ctx, const struct uuid *uuid, char *path, size_t size)
{
    return blob_store_index_path(ctx, uuid, path, size);
}

/* --- the parts, in order of their start ------------------------------------------------------- */

/* First of all: a daemon that cannot be reached leaves no folder and no token behind. */
static enum err start_socket(struct daemon *d, struct error *err)
{
    const struct config_http *c = &d->config->http;
    return listen_socket_bind(c->address, (uint16_t)c->port, &d->listen_fd, err);
}

static enum err start_folder(struct daemon *d, struct error *err)
{
    return data_dir_open(d->config->storage.dir, &d->dir, err);
}

static enum err read_rules(void *ctx, struct rules **ret, struct error *err)
{
    const struct daemon *d = ctx;
    return rules_file_read(d->config->clusters.rules, ret, err);
}

static void on_rules(void *ctx, const struct rules *rules)
{
    struct daemon *d = ctx;
    log_info("cluster rules are others", "version=%.12s", rules_version(rules));
    resolver_set_rules(d->resolver, rules);
    findings_set_rules(d->findings, rules);
    epochs_set_rules(d->epochs, rules);
}

static enum err start_rules(struct daemon *d, struct error *err)
{
    struct rules *rules = NULL;
    enum err rc = read_rules(d, &rules, err);
    if (rc != ERR_OK)
        return rc;
    d->rules = live_rules_new(rules, read_rules, on_rules, d);
    if (!d->rules) {
        rules_free(rules);
        return error_set(err, ERR_NO_MEMORY, "no memory to start");
    }
    return ERR_OK;
}

static enum err start_memory(struct daemon *d, struct error *err)
{
    const struct config_ingest *in = &d->config->ingest;
    d->ingest_limits = (struct ingest_limits){.reports = in->reports,
                                              .frames = in->frames,
                                              .images = in->images,
                                              .samples = in->samples,
                                              .threads = in->threads,
                                              .path_bytes = in->path_bytes,
                                              .tags = in->tags,
                                              .arena_bytes = in->memory_bytes};
    d->metrics = metrics_new();
    d->layouts = layouts_new(d->config->symbols.layouts);
    d->piece_locks = piece_locks_new();
    d->stats = stats_memo_new();
    if (!d->piece_locks || !d->stats || !d->metrics || !d->layouts)
        return error_set(err, ERR_NO_MEMORY, "no memory to start");
    return sigbus_guard_install(err);
}

static enum err start_blobs(struct daemon *d, struct error *err)
{
    return blob_store_open(d->config->storage.dir, &d->blobs, err);
}

static void log_upgrade(const struct storage_upgrade *u)
{
    char quoted[sizeof(u->copy) + 64];
    if (u->from != 0 && u->from != u->to)
        log_info("database upgraded", "from=%d to=%d copy=%s", u->from, u->to,
                 log_quote(u->copy, quoted, sizeof(quoted)));
}

static enum err start_storage(struct daemon *d, struct error *err)
{
    const struct config_storage *c = &d->config->storage;
    struct storage_options options = {.backend = c->backend,
                                      .path = data_dir_database(d->dir),
                                      .synchronous_full = strcmp(c->synchronous, "full") == 0,
                                      .busy_ms = (uint32_t)c->busy_ms,
                                      .retry_days = (uint32_t)d->config->retention.retry_days,
                                      .daily_values = (uint32_t)c->daily_values,
                                      .daily_stacks = (uint32_t)c->daily_stacks,
                                      .migrate = true};
    /* Where SQLite puts what is too large for memory: the one folder that is ours to write. No other
     * thread runs yet. */
    (void)setenv("SQLITE_TMPDIR", d->config->storage.dir, 0);
    enum err rc = storage_open(&options, &d->storage, err);
    if (rc == ERR_OK)
        log_upgrade(storage_upgrade(d->storage));
    return rc;
}

static enum err start_quotas(struct daemon *d, struct error *err)
{
    const struct config_quotas *c = &d->config->quotas;
    struct admission_options options = {
        .standard = {.reports_per_minute = (uint32_t)c->reports_per_minute,
                     .reports_per_day = (uint32_t)c->reports_per_day,
                     .slight_sample_rate = (double)c->slight_percent / 100},
        .apps = (uint32_t)c->apps};
    d->admission = admission_new(&options);
    return d->admission ? ERR_OK : error_set(err, ERR_NO_MEMORY, "no memory for quotas");
}

static enum err start_stored_state(struct daemon *d, struct error *err)
{
    struct stored_state_taker taker = {.blobs = d->blobs,
                                       .layouts = d->layouts,
                                       .layout_count = d->config->symbols.layouts,
                                       .admission = d->admission};
    return stored_state_load(d->storage, &taker, err);
}

static enum err start_cache(struct daemon *d, struct error *err)
{
    struct index_locator locator = {.locate = locate_index, .ctx = d->blobs};
    d->cache = index_cache_new(locator, d->config->symbols.open_indexes, d->config->symbols.misses);
    return d->cache ? ERR_OK : error_set(err, ERR_NO_MEMORY, "no memory for the index cache");
}

static enum err start_writer(struct daemon *d, struct error *err)
{
    const struct config_storage *c = &d->config->storage;
    struct writer_options options = {.queue_capacity = c->queue,
                                     .high_mark = c->queue_high,
                                     .group_ops = c->group_ops,
                                     .group_ms = (int64_t)c->group_ms,
                                     .wal_high_bytes = c->wal_high_bytes,
                                     .pending_bell = on_pending,
                                     .findings_bell = on_findings,
                                     .layout_claimed = on_layout,
                                     .bell_ctx = d};
    return writer_start(d->storage, &options, d->metrics, &d->writer, err);
}

static enum err start_token(struct daemon *d, struct error *err)
{
    return first_token_ensure(d->storage, d->writer, d->dir, getenv("STALLSYM_ADMIN_TOKEN"),
                              getenv("STALLSYM_ADMIN_TOKEN_FILE"), err);
}

static enum err start_resolver(struct daemon *d, struct error *err)
{
    const struct config_symbols *c = &d->config->symbols;
    struct resolver_options options = {.workers = cores_or(c->resolver_workers),
                                       .page = c->resolver_page,
                                       .frame_cache_entries = c->frame_cache};
    enum err rc = resolver_start(d->storage, d->writer, d->cache, live_rules_now(d->rules),
                                 &options, d->metrics, &d->resolver, err);
    if (rc == ERR_OK)
        bell_hang(&d->pending_bell, ring_resolver, d->resolver);
    return rc;
}

static enum err start_findings(struct daemon *d, struct error *err)
{
    enum err rc = findings_start(d->storage, d->writer, live_rules_now(d->rules), d->metrics,
                                 &d->findings, err);
    if (rc == ERR_OK)
        bell_hang(&d->findings_bell, ring_findings, d->findings);
    return rc;
}

static enum err start_indexer(struct daemon *d, struct error *err)
{
    const struct config_symbols *c = &d->config->symbols;
    const struct config_retention *r = &d->config->retention;
    const struct symbol_keeper_options keeper = {
        .object_ms = (int64_t)r->object_days * CLOCK_DAY_MS,
        .system_object_ms = (int64_t)r->system_object_days * CLOCK_DAY_MS,
        .object_bytes = r->object_bytes,
        .app_object_bytes = r->app_object_bytes,
        .index_bytes = c->index_bytes,
        .open_upload_ms = (int64_t)c->open_upload_hours * 3600000,
        .check_ms = (int64_t)c->check_hours * 3600000};
    struct indexer_options options = {.program = "/proc/self/exe",
                                      .jobs = cores_or(c->child_threads),
                                      .child_data_bytes = c->child_data_bytes,
                                      .child_file_bytes = c->child_file_bytes,
                                      .child_cpu_s = (uint32_t)c->child_cpu_s,
                                      .child_wall_s = (uint32_t)c->child_wall_s,
                                      .piece_locks = d->piece_locks,
                                      .keeper = &keeper,
                                      .caps = {c->index_bytes, c->app_index_bytes},
                                      .keep_objects = c->keep_objects};
    return indexer_start(d->storage, d->writer, d->blobs, d->cache, d->layouts, &options,
                         d->metrics, &d->indexer, err);
}

static enum err start_alerts(struct daemon *d, struct error *err)
{
    const struct config_alerts *c = &d->config->alerts;
    const struct notifier_options notifier = {.allow_private = c->allow_private,
                                              .timeout_ms = (int64_t)c->timeout_ms,
                                              .retry_ms = (int64_t)c->retry_ms,
                                              .retry_max_ms = (int64_t)c->retry_max_ms,
                                              .give_up_ms = (int64_t)c->give_up_hours * 3600000};
    const struct alerts_options alerts = {.public_url = c->public_url,
                                          .keep_ms = (int64_t)c->keep_days * CLOCK_DAY_MS,
                                          .slow_ms = (int64_t)c->interval_ms * SLOW_LOOKS};
    enum err rc = notifier_start(d->storage, d->writer, &notifier, d->metrics, &d->notifier, err);
    return rc ? rc
              : alerts_new(d->storage, d->writer, &alerts, d->notifier, d->metrics, &d->alerts,
                           err);
}

static enum err start_housekeeping(struct daemon *d, struct error *err)
{
    const struct config_retention *c = &d->config->retention;
    struct housekeeping_options options = {.interval_ms = (int64_t)c->interval_ms,
                                           .checkpoint_bytes = d->config->storage.checkpoint_bytes,
                                           .idle_ms = (int64_t)c->idle_ms,
                                           .report_days = (uint32_t)c->report_days,
                                           .database_bytes = c->database_bytes,
                                           .retry_days = (uint32_t)c->retry_days,
                                           .image_set_days = (uint32_t)c->image_set_days,
                                           .give_up_ms =
                                               (int64_t)d->config->symbols.give_up_hours * 3600000,
                                           .approximate = d->config->symbols.approximate,
                                           .alerts = d->alerts,
                                           .alerts_ms = (int64_t)d->config->alerts.interval_ms};
    return housekeeping_start(d->storage, d->writer, d->resolver, d->cache, &options, d->metrics,
                              &d->housekeeping, err);
}

static enum err start_epochs(struct daemon *d, struct error *err)
{
    struct epochs_options options = {.nightly = d->config->clusters.epochs,
                                     .hour = (uint32_t)d->config->clusters.epoch_hour,
                                     .stacks_min = d->config->clusters.epoch_stacks_min,
                                     .stacks_max = d->config->clusters.epoch_stacks_max,
                                     .on_change = d->config->clusters.recluster_on_change};
    return epochs_start(d->storage, d->writer, live_rules_now(d->rules), &options, &d->epochs, err);
}

static enum err start_backups(struct daemon *d, struct error *err)
{
    const struct config_backup *c = &d->config->backup;
    char path[PATH_MAX];
    struct backups_options options = {
        .dir = c->dir, .keep = c->keep, .free_bytes_min = c->free_bytes_min};
    if (!*c->dir) {
        enum err rc = data_dir_path(d->dir, "backups", path, sizeof(path), err);
        if (rc != ERR_OK)
            return rc;
        options.dir = path;
    }
    return backups_start(d->storage, d->blobs, &options, d->metrics, &d->backups, err);
}

static enum err start_readers(struct daemon *d, struct error *err)
{
    const struct config_http *c = &d->config->http;
    struct readers_options options = {.threads = c->read_threads,
                                      .queue_capacity = c->read_queue,
                                      .deadline_ms = (int64_t)c->read_ms,
                                      .frame_cache_entries = d->config->symbols.frame_cache,
                                      .arena_limit = c->read_bytes};
    return readers_start(d->storage, d->cache, &options, d->metrics, &d->readers, err);
}

static enum err start_spooler(struct daemon *d, struct error *err)
{
    const struct config_symbols *c = &d->config->symbols;
    struct spooler_options options = {.chunk_bytes = c->spool_chunk_bytes,
                                      .chunks = c->spool_chunks,
                                      .upload_bytes = d->config->http.upload_bytes,
                                      .free_bytes_min = c->free_bytes_min,
                                      .metrics = d->metrics};
    return spooler_start(d->blobs, &options, &d->spooler, err);
}

static enum err start_door(struct daemon *d, struct error *err)
{
    const struct config_http *c = &d->config->http;
    struct http_options options = {.listen_fd = d->listen_fd,
                                   .threads = cores_or(c->threads),
                                   .connections =
                                       file_limit_connections(c->connections, c->uploads),
                                   .connections_per_client = c->connections_per_client,
                                   .timeout_s = (uint32_t)c->timeout_s,
                                   .body_bytes = c->body_bytes,
                                   .upload_bytes = c->upload_bytes,
                                   .uploads = c->uploads,
                                   .buffered_bytes = c->buffered_bytes,
                                   .metrics_open = c->metrics_open,
                                   .cors_origins = c->cors_origins,
                                   .trusted_proxies = c->trusted_proxies,
                                   .tls_certificate = d->config->tls.certificate,
                                   .tls_key = d->config->tls.key,
                                   .tls_priorities = d->config->tls.priorities};
    d->services = (struct services){
        .storage = d->storage,
        .blobs = d->blobs,
        .writer = d->writer,
        .readers = d->readers,
        .resolver = d->resolver,
        .spooler = d->spooler,
        .piece_locks = d->piece_locks,
        .open_uploads = d->config->symbols.open_uploads,
        .open_upload_bytes = d->config->symbols.open_upload_bytes,
        .index_caps = {d->config->symbols.index_bytes, d->config->symbols.app_index_bytes},
        .indexer = d->indexer,
        .index_cache = d->cache,
        .layouts = d->layouts,
        .stats = d->stats,
        .metrics = d->metrics,
        .notifier = d->notifier,
        .rules = d->rules,
        .epochs = d->epochs,
        .admission = d->admission,
        .backups = d->backups,
        .ingest_limits = &d->ingest_limits};
    d->listen_fd = -1;
    return http_server_start(&options, &d->services, &d->door, err);
}

static enum err start_port_file(struct daemon *d, struct error *err)
{
    char text[16];
    if (!*d->config->http.port_file)
        return ERR_OK;
    snprintf(text, sizeof(text), "%u\n", (unsigned)http_server_port(d->door));
    enum err rc = data_dir_write_file(d->config->http.port_file, 0644, text, err);
    d->port_file_written = rc == ERR_OK;
    return rc;
}

/* --- start and stop --------------------------------------------------------------------------- */

typedef enum err start_part(struct daemon *d, struct error *err);

static start_part *const PARTS[] = {
    start_socket,       start_folder,    start_rules,        start_memory,  start_blobs,
    start_storage,      start_quotas,    start_stored_state, start_cache,   start_writer,
    start_token,        start_resolver,  start_findings,     start_indexer, start_alerts,
    start_housekeeping, start_epochs,    start_backups,      start_readers, start_spooler,
    start_door,         start_port_file,
};

enum err daemon_start(const struct config *config, struct daemon **ret, struct error *err)
{
    struct daemon *d = calloc(1, sizeof(*d));
    enum log_level level;
    if (!d)
        return error_set(err, ERR_NO_MEMORY, "no memory to start");
    d->listen_fd = -1;
    bell_init(&d->pending_bell);
    bell_init(&d->findings_bell);
    d->config = config;
    if (log_level_parse(config->log.level, &level))
        log_set_level(level);
    enum err rc = ERR_OK;
    for (size_t i = 0; rc == ERR_OK && i < sizeof(PARTS) / sizeof(PARTS[0]); i++)
        rc = PARTS[i](d, err);
    if (rc != ERR_OK) {
        daemon_stop(d);
        return rc;
    }
    *ret = d;
    return ERR_OK;
}

uint16_t daemon_port(const struct daemon *d)
{
    return http_server_port(d->door);
}

enum err daemon_reload(struct daemon *d, const struct config *config, struct error *err)
{
    enum log_level level;
    if (log_level_parse(config->log.level, &level))
        log_set_level(level);
    bool changed;
    enum err rc = live_rules_reload(d->rules, &changed, err);
    if (rc == ERR_OK)
        rc = http_server_reload_tls(d->door, err);
    return rc == ERR_OK ? http_server_reload_tokens(d->door, err) : rc;
}

void daemon_stop(struct daemon *d)
{
    if (!d)
        return;
    if (d->port_file_written)
        (void)unlink(d->config->http.port_file);
    if (d->door)
        http_server_quiesce(d->door);
    if (d->indexer)
        indexer_quiesce(d->indexer);
    if (d->door)
        http_server_stop(d->door, (int64_t)d->config->http.stop_ms);
    spooler_stop(d->spooler);
    readers_stop(d->readers);
    backups_stop(d->backups);
    epochs_stop(d->epochs);
    housekeeping_stop(d->housekeeping);
    alerts_free(d->alerts);
    notifier_stop(d->notifier);
    indexer_stop(d->indexer);
    bell_cut(&d->findings_bell);
    findings_stop(d->findings);
    bell_cut(&d->pending_bell);
    resolver_stop(d->resolver);
    writer_stop(d->writer);
    if (d->cache)
        index_cache_free(d->cache);
    admission_free(d->admission);
    if (d->storage)
        storage_close(d->storage);
    if (d->blobs)
        blob_store_close(d->blobs);
    metrics_free(d->metrics);
    layouts_free(d->layouts);
    piece_locks_free(d->piece_locks);
    stats_memo_free(d->stats);
    live_rules_free(d->rules);
    data_dir_close(d->dir);
    if (d->listen_fd >= 0)
        close(d->listen_fd);
    bell_done(&d->pending_bell);
    bell_done(&d->findings_bell);
    free(d);
}
