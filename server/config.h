/*
 * config - every setting of the daemon, in one table.
 *
 * Purpose: reads the INI file and the environment into a struct config. A row of the table
 * (config_keys.c) is the only place that names a key: section, name, type, default, bounds, whether a
 * reload (SIGHUP) takes it, and a line of help; conf/stallsymd.conf shows them all.
 *
 * Format: `[section]`, `name = value`; lines that begin with # or ; are comments; blanks around a
 * value are dropped. Sizes take K, M or G (powers of 1024). STALLSYM_SECTION_NAME in the
 * environment overrides the file.
 *
 * Invariants: after ERR_OK every value is inside its bounds and no text is NULL. Unknown sections
 * and keys, keys given twice and values out of bounds are errors, all of them reported, each with
 * its file and line (or the variable's name).
 *
 * Threads: read-only once loaded. Memory: config_load/config_done.
 */
#ifndef STALLSYM_SERVER_CONFIG_H
#define STALLSYM_SERVER_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"

#define CONFIG_FILE_MAX (1024 * 1024)

struct config_http {
    char *address;
    uint64_t port;
    char *port_file;
    uint64_t threads;
    uint64_t connections;
    uint64_t connections_per_client;
    uint64_t timeout_s;
    uint64_t body_bytes;
    uint64_t upload_bytes;
    uint64_t uploads;
    uint64_t buffered_bytes;
    bool metrics_open;
    char *cors_origins;
    char *trusted_proxies;
    uint64_t stop_ms;
    uint64_t read_threads;
    uint64_t read_queue;
    uint64_t read_ms;
    uint64_t read_bytes;
};

struct config_storage {
    char *dir;
    char *backend;
    char *synchronous;
    uint64_t busy_ms;
    uint64_t queue;
    uint64_t queue_high;
    uint64_t group_ops;
    uint64_t group_ms;
    uint64_t checkpoint_bytes;
    uint64_t wal_high_bytes;
    uint64_t daily_values;
    uint64_t daily_stacks;
};

struct config_ingest {
    uint64_t reports;
    uint64_t frames;
    uint64_t images;
    uint64_t samples;
    uint64_t threads;
    uint64_t path_bytes;
    uint64_t tags;
    uint64_t memory_bytes;
};

struct config_symbols {
    uint64_t child_threads;
    uint64_t child_data_bytes;
    uint64_t child_file_bytes;
    uint64_t child_cpu_s;
    uint64_t child_wall_s;
    bool keep_objects;
    uint64_t spool_chunk_bytes;
    uint64_t spool_chunks;
    uint64_t free_bytes_min;
    uint64_t index_bytes;
    uint64_t app_index_bytes;
    uint64_t open_uploads;
    uint64_t open_upload_bytes;
    uint64_t open_upload_hours;
    uint64_t check_hours;
    uint64_t open_indexes;
    uint64_t misses;
    uint64_t layouts;
    uint64_t frame_cache;
    uint64_t resolver_workers;
    uint64_t resolver_page;
    uint64_t give_up_hours;
    bool approximate;
};

struct config_retention {
    uint64_t report_days;
    uint64_t database_bytes;
    uint64_t retry_days;
    uint64_t image_set_days;
    uint64_t object_days;
    uint64_t system_object_days;
    uint64_t object_bytes;
    uint64_t app_object_bytes;
    uint64_t interval_ms;
    uint64_t idle_ms;
};

struct config_alerts {
    bool allow_private;
    char *public_url;
    uint64_t interval_ms;
    uint64_t timeout_ms;
    uint64_t retry_ms;
    uint64_t retry_max_ms;
    uint64_t give_up_hours;
    uint64_t keep_days;
};

struct config_quotas {
    uint64_t reports_per_minute;
    uint64_t reports_per_day;
    uint64_t slight_percent;
    uint64_t apps;
};

struct config_tls {
    char *certificate;
    char *key;
    char *priorities;
};

struct config_backup {
    char *dir;
    uint64_t keep;
    uint64_t free_bytes_min;
};

struct config {
    struct config_http http;
    struct config_tls tls;
    struct config_storage storage;
    struct config_ingest ingest;
    struct config_symbols symbols;
    struct config_retention retention;
    struct config_alerts alerts;
    struct config_quotas quotas;
    struct config_backup backup;
    struct {
        char *level;
    } log;
    struct {
        char *rules;
        bool epochs;
        uint64_t epoch_hour;
        uint64_t epoch_stacks_min;
        uint64_t epoch_stacks_max;
        bool recluster_on_change;
    } clusters;
};

enum config_type {
    CONFIG_TEXT,
    CONFIG_CHOICE, /* text, one of `choices` */
    CONFIG_NUMBER,
    CONFIG_SIZE,
    CONFIG_BOOL,
};

struct config_key {
    const char *section;
    const char *name;
    enum config_type type;
    size_t offset;                           /* in struct config */
    const char *initial;                     /* the default, as it would stand in the file */
    uint64_t min, max;                       /* of numbers and sizes */
    const char *choices;                     /* blank-separated */
    const char *(*check)(const char *value); /* of texts with a form, config_values.h; NULL: any */
    bool reloadable;
    const char *help;
};

const struct config_key *config_keys(size_t *ret_count);

/* `path` NULL: defaults and environment alone. `environment` as environ, NULL: none. `problems`
 * (may be NULL) gets one line for each thing that is wrong; `err` the first of them. */
enum err config_load(const char *path, char *const *environment, struct config *ret,
                     struct buf *problems, struct error *err);
void config_done(struct config *c);

/* The value of a key as it would stand in the file. */
bool config_print_value(const struct config *c, const struct config_key *key, struct buf *out);
bool config_equal(const struct config *a, const struct config *b, const struct config_key *key);
/* All of it as a file that loads to the same. */
bool config_print(const struct config *c, struct buf *out);

/* Variables that begin with STALLSYM_ but name no key, one line each, with the key that was meant if
 * one is near: typing errors that would otherwise go unseen. No errors: an environment is shared, and
 * what surrounds the daemon puts names into it (Kubernetes' of a service stallsym are passed over). */
void config_unknown_environment(char *const *environment, struct buf *out);

#endif
