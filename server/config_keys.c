/*
 * config_keys - the table of config.h: one row a setting.
 */
#include <stddef.h>

#include "server/config.h"
#include "server/config_values.h"

#define K        ((uint64_t)1024)
#define M        (K * K)
#define G        (K * M)
#define AT(path) offsetof(struct config, path)

#define TEXT(section, name, initial, help)                                                         \
    {                                                                                              \
#section, #name, CONFIG_TEXT, AT(section.name), initial, 0, 0, NULL, NULL, false, help     \
    }
#define FORMED(section, name, initial, check, help)                                                \
    {                                                                                              \
#section, #name, CONFIG_TEXT, AT(section.name), initial, 0, 0, NULL, check, false, help    \
    }
#define CHOICE(section, name, initial, choices, help)                                              \
    {                                                                                              \
#section, #name, CONFIG_CHOICE, AT(section.name), initial, 0, 0, choices, NULL, false,     \
            help                                                                                   \
    }
#define NUMBER(section, name, initial, min, max, help)                                             \
    {                                                                                              \
#section, #name, CONFIG_NUMBER, AT(section.name), initial, min, max, NULL, NULL, false,    \
            help                                                                                   \
    }
#define SIZE(section, name, initial, min, max, help)                                               \
    {                                                                                              \
#section, #name, CONFIG_SIZE, AT(section.name), initial, min, max, NULL, NULL, false, help \
    }
#define BOOL(section, name, initial, help)                                                         \
    {                                                                                              \
#section, #name, CONFIG_BOOL, AT(section.name), initial, 0, 0, NULL, NULL, false, help     \
    }

static const struct config_key KEYS[] = {
    FORMED(http, address, "127.0.0.1", config_check_address,
           "Address to listen on; 0.0.0.0 for all (in a container)."),
    NUMBER(http, port, "8640", 0, 65535, "Port; 0 takes a free one (see port_file)."),
    TEXT(http, port_file, "", "File the port is written to once it is open."),
    NUMBER(http, threads, "0", 0, 256, "Threads of the door; 0: one a core."),
    NUMBER(http, connections, "1024", 1, 100000, "Open connections, at most."),
    NUMBER(http, connections_per_client, "0", 0, 100000, "The same from one address; 0: no cap."),
    NUMBER(http, timeout_s, "30", 1, 3600, "Seconds without a byte after which a client is left."),
    SIZE(http, body_bytes, "8M", 64 * K, 1 * G, "Body of a request, as received and inflated."),
    SIZE(http, upload_bytes, "4G", 1 * M, 1024 * G, "Body of a symbol upload."),
    NUMBER(http, uploads, "64", 1, 100000, "Symbol uploads received at a time; above it 503."),
    SIZE(http, buffered_bytes, "256M", 1 * M, 1024 * G,
         "Bodies of all requests, parsed ones too, and answers; above it 503."),
    BOOL(http, metrics_open, "no", "Answer /metrics without a token."),
    FORMED(http, cors_origins, "", config_check_origins,
           "Origins browsers may call from, blank-separated; \"*\": any."),
    TEXT(http, trusted_proxies, "", "Addresses whose X-Forwarded-For is believed."),
    NUMBER(http, stop_ms, "2500", 100, 600000, "How long a stop waits for running requests."),
    NUMBER(http, read_threads, "2", 1, 64, "Threads that run queries."),
    NUMBER(http, read_queue, "256", 1, 65536, "Queries that may wait; above it 503."),
    NUMBER(http, read_ms, "4000", 10, 600000, "A query that takes longer is given up."),
    SIZE(http, read_bytes, "64M", 1 * M, 16 * G, "Memory one query may take."),

    TEXT(tls, certificate, "",
         "PEM file, the server's first, then those between; read anew on SIGHUP. Empty: plain "
         "HTTP."),
    TEXT(tls, key, "", "PEM file of its key, not readable by everybody; read anew on SIGHUP."),
    TEXT(tls, priorities, "", "GnuTLS priorities; empty: TLS 1.2 and 1.3 with AEAD ciphers."),

    TEXT(storage, dir, "/var/lib/stallsym", "Folder of database, symbol store and spool."),
    CHOICE(storage, backend, "sqlite", "sqlite memory", "memory keeps nothing: for trying out."),
    CHOICE(storage, synchronous, "full", "full normal", "normal may lose the last second."),
    NUMBER(storage, busy_ms, "5000", 0, 600000, "Wait so long for another program's lock."),
    NUMBER(storage, queue, "4096", 16, 1000000, "Changes that may wait for the writer."),
    NUMBER(storage, queue_high, "2048", 1, 1000000, "Above it new reports get 503."),
    NUMBER(storage, group_ops, "512", 1, 65536, "Changes in one transaction."),
    NUMBER(storage, group_ms, "5", 0, 10000, "How long a transaction gathers changes."),
    SIZE(storage, checkpoint_bytes, "16M", 64 * K, 64 * G, "Write-ahead log worth a checkpoint."),
    SIZE(storage, wal_high_bytes, "1G", 1 * M, 1024 * G, "Log above which reports get 503."),
    NUMBER(storage, daily_values, "2000", 10, 1000000,
           "New devices, pages, versions, … an app may bring a day; above: \"(other)\"."),
    NUMBER(storage, daily_stacks, "200000", 0, 1000000000,
           "New stacks an app may bring a day; above: counted, without a stack. 0: any number."),

    NUMBER(ingest, reports, "10000", 1, 1000000, "Reports in one body."),
    NUMBER(ingest, frames, "512", 1, 65536, "Frames of a stack."),
    NUMBER(ingest, images, "4096", 1, 65536, "Images of a batch."),
    NUMBER(ingest, samples, "1000", 1, 4096, "Samples of a report."),
    NUMBER(ingest, threads, "256", 1, 4096, "Threads of a report."),
    NUMBER(ingest, path_bytes, "1024", 16, 65536,
           "Bytes of a report's page path; a longer one is cut."),
    NUMBER(ingest, tags, "32", 0, 1024, "Tags of a report."),
    SIZE(ingest, memory_bytes, "256M", 1 * M, 4 * G, "Memory one body may take, parsed."),

    NUMBER(symbols, child_threads, "0", 0, 256, "Threads of the indexing process; 0: one a core."),
    SIZE(symbols, child_data_bytes, "4G", 0, 1024 * G, "Its memory; 0: no cap."),
    SIZE(symbols, child_file_bytes, "8G", 0, 1024 * G, "Its largest file; 0: no cap."),
    NUMBER(symbols, child_cpu_s, "1200", 0, 86400, "Its CPU time, seconds; 0: no cap."),
    NUMBER(symbols, child_wall_s, "900", 1, 86400, "Its time on the clock, seconds."),
    BOOL(symbols, keep_objects, "yes", "Keep object files, to be had back over REST."),
    SIZE(symbols, spool_chunk_bytes, "256K", 4 * K, 64 * M, "Piece in which an upload is written."),
    NUMBER(symbols, spool_chunks, "4", 1, 64, "Pieces of one upload in memory."),
    SIZE(symbols, free_bytes_min, "256M", 0, 1024 * G, "Disk space an upload must leave free."),
    SIZE(symbols, index_bytes, "256G", 0, 1024 * G,
         "All index files; above it uploads are refused. 0: no cap."),
    SIZE(symbols, app_index_bytes, "64G", 0, 1024 * G,
         "Index files that one app's uploads made; above it that app's are refused. 0: no cap."),
    NUMBER(symbols, open_uploads, "64", 1, 1000000, "Uploads in pieces that may be open."),
    SIZE(symbols, open_upload_bytes, "32G", 1 * M, 1024 * G, "Bytes they may have together."),
    NUMBER(symbols, open_upload_hours, "24", 1, 8760,
           "An upload in pieces is given up after so many hours without one."),
    NUMBER(symbols, check_hours, "24", 0, 87600,
           "Every index file is read whole so often, made anew if need be; 0: never."),
    NUMBER(symbols, open_indexes, "256", 1, 100000, "Index files held open without being used."),
    NUMBER(symbols, misses, "65536", 16, 10000000, "Images remembered to have no index."),
    NUMBER(symbols, layouts, "65536", 16, 10000000, "Images whose place is remembered."),
    NUMBER(symbols, frame_cache, "32768", 16, 10000000, "Frames cached by each thread."),
    NUMBER(symbols, resolver_workers, "0", 0, 256, "Threads that symbolicate; 0: one a core."),
    NUMBER(symbols, resolver_page, "2048", 1, 100000, "Stacks symbolicated at a time."),
    NUMBER(symbols, give_up_hours, "24", 1, 87600,
           "Cluster without an image's symbol file after so many hours."),
    BOOL(symbols, approximate, "no",
         "Then take the file of the same version and build in its place, marked approximate."),

    NUMBER(retention, report_days, "30", 1, 3650, "Single reports are kept so long."),
    SIZE(retention, database_bytes, "0", 0, 1024 * G,
         "Above it the oldest single reports go, those of the last day stay. 0: no cap."),
    NUMBER(retention, retry_days, "3", 3, 60, "A report sent again within it counts once."),
    NUMBER(retention, image_set_days, "30", 1, 3650, "Image sets are kept so long unused."),
    NUMBER(retention, object_days, "90", 0, 36500,
           "Uploaded object files are kept so long unused (their indexes stay); 0: for ever."),
    NUMBER(retention, system_object_days, "90", 0, 36500, "The same for kind=system."),
    SIZE(retention, object_bytes, "0", 0, 1024 * G,
         "All object files; above it those of who holds most go, longest unused first. 0: no cap."),
    SIZE(retention, app_object_bytes, "0", 0, 1024 * G,
         "Object files that one app alone has; above it the longest unused ones go. 0: no cap."),
    NUMBER(retention, interval_ms, "1000", 10, 3600000, "How often housekeeping looks."),
    NUMBER(retention, idle_ms, "30000", 100, 86400000,
           "Without a change for so long the write-ahead log is emptied."),

    BOOL(alerts, allow_private, "no", "Webhooks may lead to private, loopback and like addresses."),
    FORMED(alerts, public_url, "", config_check_url,
           "Where people reach this daemon: for links in alerts."),
    NUMBER(alerts, interval_ms, "30000", 100, 3600000,
           "How often causes of alerts are looked for."),
    NUMBER(alerts, timeout_ms, "10000", 100, 600000, "A webhook that takes longer has failed."),
    NUMBER(alerts, retry_ms, "15000", 50, 3600000,
           "Wait so long after a failure; twice as long after each further one."),
    NUMBER(alerts, retry_max_ms, "3600000", 50, 86400000, "But no longer."),
    NUMBER(alerts, give_up_hours, "24", 1, 720, "An alert that old is given up when it fails."),
    NUMBER(alerts, keep_days, "90", 1, 3650, "Alerts are listed for so long."),
    NUMBER(quotas, reports_per_minute, "0", 0, 1000000000,
           "Reports of an app, unless it has a quota of its own (over REST); 0: any number."),
    NUMBER(quotas, reports_per_day, "0", 0, 1000000000, "The same by the day (UTC)."),
    NUMBER(quotas, slight_percent, "100", 1, 100,
           "Slight stalls of 100 that are kept; they count for the others, too."),
    NUMBER(quotas, apps, "1000", 0, 16384,
           "Apps; above it tokens that are bound to no app bring no new ones. 0: no cap."),

    TEXT(backup, dir, "", "Folder of backups; empty: \"backups\" in the storage folder."),
    NUMBER(backup, keep, "7", 1, 10000, "The newest so many are kept."),
    SIZE(backup, free_bytes_min, "256M", 0, 1024 * G, "Disk space a backup must leave free."),

    {"log", "level", CONFIG_CHOICE, AT(log.level), "info", 0, 0, "error warn info debug", NULL,
     true, "What is written to standard error."},

    TEXT(clusters, rules, "", "File of cluster rules; empty: the built-in ones."),
    BOOL(clusters, epochs, "yes", "Merge clusters that are alike, every night."),
    NUMBER(clusters, epoch_hour, "3", 0, 23, "The hour of that, UTC."),
    NUMBER(clusters, epoch_stacks_min, "50", 1, 1000000000, "Not for apps with fewer stacks."),
    NUMBER(clusters, epoch_stacks_max, "50000", 100, 10000000,
           "Stacks of an app that are compared, the heaviest ones."),
    BOOL(clusters, recluster_on_change, "no", "Re-cluster by itself when the rules changed."),
};

const struct config_key *config_keys(size_t *ret_count)
{
    *ret_count = sizeof(KEYS) / sizeof(KEYS[0]);
    return KEYS;
}
