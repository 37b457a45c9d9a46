/*
 * metrics - every number the daemon counts, in one table.
 *
 * Purpose: counters and gauges as atomics, printed in Prometheus' text format for /metrics.
 *
 * Invariants: a row of METRICS is the only place that names a metric; its id is METRIC_<ID>.
 * Histograms have fixed bounds.
 *
 * Threads: any, without locks. Memory: metrics_new/metrics_free.
 */
#ifndef STALLSYM_JOBS_METRICS_H
#define STALLSYM_JOBS_METRICS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

/* id, kind (counter | gauge), Prometheus name, help */
#define METRICS(X)                                                                                 \
    X(REPORTS_ACCEPTED, counter, "stallsym_reports_accepted_total", "reports stored")              \
    X(REPORTS_DUPLICATE, counter, "stallsym_reports_duplicate_total", "reports known already")     \
    X(STACKS_DROPPED, counter, "stallsym_reports_above_daily_stacks_total",                        \
      "reports stored without new stacks, for the app's daily cap")                                \
    X(REPORTS_REJECTED, counter, "stallsym_reports_rejected_total", "reports refused")             \
    X(FIELDS_IGNORED, counter, "stallsym_fields_ignored_total", "fields of reports not read")      \
    X(USAGE_ITEMS, counter, "stallsym_usage_items_total", "items of usage stored")                 \
    X(REQUESTS, counter, "stallsym_http_requests_total", "requests answered")                      \
    X(REQUESTS_4XX, counter, "stallsym_http_client_errors_total", "answers 4xx")                   \
    X(REQUESTS_5XX, counter, "stallsym_http_server_errors_total", "answers 5xx")                   \
    X(REQUESTS_BUSY, counter, "stallsym_http_refused_busy_total", "answers 429 and 503")           \
    X(CONNECTIONS, gauge, "stallsym_http_connections", "open connections")                         \
    X(CONNECTIONS_CUT, counter, "stallsym_http_connections_cut_total",                             \
      "idle or slow clients cut off")                                                              \
    X(BODY_BYTES, counter, "stallsym_http_body_bytes_total", "body bytes received")                \
    X(COMMITS, counter, "stallsym_writer_commits_total", "transactions committed")                 \
    X(COMMIT_FAILURES, counter, "stallsym_writer_commit_failures_total", "commits that failed")    \
    X(OPS, counter, "stallsym_writer_ops_total", "write ops applied")                              \
    X(OPS_FAILED, counter, "stallsym_writer_ops_failed_total", "write ops that failed alone")      \
    X(WRITER_QUEUE, gauge, "stallsym_writer_queue_length", "ops waiting")                          \
    X(WAL_BYTES, gauge, "stallsym_wal_bytes", "bytes in the write-ahead log")                      \
    X(DATABASE_USED, gauge, "stallsym_database_used_bytes", "bytes of the database in use")        \
    X(REPORTS_DROPPED, counter, "stallsym_reports_dropped_for_space_total",                        \
      "reports dropped before their time, for retention by size")                                  \
    X(STACKS_RESOLVED, counter, "stallsym_stacks_resolved_total", "stacks resolved")               \
    X(STACKS_LATE, counter, "stallsym_stacks_resolved_late_total", "resolutions that came late")   \
    X(FINDINGS, counter, "stallsym_findings_total", "culprits and deadlocks looked for")           \
    X(FINDINGS_MOVED, counter, "stallsym_findings_moved_total", "reports moved to another stack")  \
    X(FRAMES_RESOLVED, counter, "stallsym_frames_total", "frames symbolicated")                    \
    X(FRAME_CACHE_HITS, counter, "stallsym_frame_cache_hits_total", "frames from the cache")       \
    X(INDEXES_OPEN, gauge, "stallsym_indexes_open", "index files mapped")                          \
    X(UPLOADS, counter, "stallsym_uploads_total", "symbol uploads received")                       \
    X(UPLOADS_FAILED, counter, "stallsym_uploads_failed_total", "symbol uploads that failed")      \
    X(UPLOADS_NO_ROOM, counter, "stallsym_uploads_refused_total",                                  \
      "symbol uploads refused at the door for a cap of index files")                               \
    X(UPLOADS_WAITING, gauge, "stallsym_uploads_waiting", "symbol uploads not indexed yet")        \
    X(SPOOL_FAILING, gauge, "stallsym_spool_failing", "1: uploads cannot be written")              \
    X(DATABASE_DAMAGED, gauge, "stallsym_database_damaged", "1: a damaged page was met")           \
    X(DATABASE_UNREADABLE, gauge, "stallsym_database_unreadable", "1: a page could not be read")   \
    X(CHECKPOINT_FAILING, gauge, "stallsym_checkpoint_failing", "1: the last checkpoint failed")   \
    X(COMMITS_SLOW, gauge, "stallsym_commits_slow", "1: commits take a second or more")            \
    X(STORE_FAILING, gauge, "stallsym_symbol_store_failing", "1: symbol files cannot be written")  \
    X(SLICES_INDEXED, counter, "stallsym_slices_indexed_total", "index files written")             \
    X(OBJECT_FILES, gauge, "stallsym_object_files", "object files kept")                           \
    X(OBJECT_BYTES, gauge, "stallsym_object_bytes", "bytes of object files kept")                  \
    X(INDEX_BYTES, gauge, "stallsym_index_bytes", "bytes of index files in use")                   \
    X(KEPT_INDEX_BYTES, gauge, "stallsym_kept_index_bytes", "bytes of all index files kept")       \
    X(INDEXES_FULL, gauge, "stallsym_indexes_full", "1: index files have reached their cap")       \
    X(OBJECTS_DROPPED, counter, "stallsym_objects_dropped_total", "object files dropped")          \
    X(REFITS, counter, "stallsym_indexes_chosen_anew_total", "indexes chosen or made anew")        \
    X(BACKUPS, counter, "stallsym_backups_total", "backups made")                                  \
    X(BACKUPS_FAILED, counter, "stallsym_backups_failed_total", "backups that failed")             \
    X(BACKUP_TIME, gauge, "stallsym_backup_timestamp_seconds", "when the last one began")          \
    X(READS, counter, "stallsym_reads_total", "read jobs run")                                     \
    X(READS_TIMED_OUT, counter, "stallsym_reads_timed_out_total", "read jobs over their deadline") \
    X(ALERTS_MADE, counter, "stallsym_alerts_total", "alerts made")                                \
    X(ALERTS_SENT, counter, "stallsym_alerts_sent_total", "deliveries of alerts that arrived")     \
    X(ALERTS_FAILED, counter, "stallsym_alerts_failed_total", "deliveries given up")               \
    X(ALERT_ATTEMPTS_FAILED, counter, "stallsym_alert_attempts_failed_total", "failed attempts")   \
    X(ALERTS_PENDING, gauge, "stallsym_alerts_pending", "deliveries not made yet")                 \
    X(AUTH_FAILURES, counter, "stallsym_auth_failures_total", "requests with a wrong token")

enum metric_id {
#define METRIC_ENUM(id, kind, name, help) METRIC_##id,
    METRICS(METRIC_ENUM)
#undef METRIC_ENUM
        METRIC_COUNT
};

struct metrics;

struct metrics *metrics_new(void);
void metrics_free(struct metrics *m);
void metrics_add(struct metrics *m, enum metric_id id, int64_t delta);
void metrics_set(struct metrics *m, enum metric_id id, int64_t value);
int64_t metrics_get(const struct metrics *m, enum metric_id id);
/* Duration of a commit and of a request, in milliseconds, into fixed-bound histograms. */
void metrics_commit_ms(struct metrics *m, int64_t ms);
void metrics_request_ms(struct metrics *m, int64_t ms);
/* Prometheus text format, version 0.0.4. */
bool metrics_print(const struct metrics *m, struct buf *out);

#endif
