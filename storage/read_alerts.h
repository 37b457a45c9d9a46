/*
 * read_alerts - what alerts are made of, and the outbox.
 *
 * Purpose: the rules' document; what happened that may be worth an alert (server/jobs/alerts.h);
 * deliveries that are due, and a list of them.
 *
 * Threads, memory: as storage_read.h says.
 */
#ifndef STALLSYM_STORAGE_READ_ALERTS_H
#define STALLSYM_STORAGE_READ_ALERTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "storage/op_alerts.h"

struct storage_reader;

struct alert_settings {
    const char *document; /* NULL: none was ever set; revision 0 */
    int64_t revision;
    int64_t since_ms, updated_ms;
    const char *who; /* NULL */
};
enum err read_alert_settings(struct storage_reader *r, struct arena *arena,
                             struct alert_settings *ret, struct error *err);

struct alert_cluster {
    uint64_t id;
    const char *bundle_id, *title;
    const char *function, *file, *image; /* NULL */
    const char *category;
    const char *owner; /* NULL */
    uint64_t count;
    int64_t first_seen_ms, created_ms;
};
enum err read_alert_cluster(struct storage_reader *r, uint64_t id, struct arena *arena,
                            struct alert_cluster *ret, struct error *err);

struct alert_regression {
    uint64_t change_id; /* ascending */
    int64_t at_ms;
    const char *version, *build, *resolved_in, *resolved_build; /* NULL */
    struct alert_cluster cluster;
    bool stands; /* open, shown and symbolicated, by now */
};
/* Above `after_id`, which 0 lets begin where the last WRITE_ALERTS said it had come to. */
enum err read_alert_regressions(struct storage_reader *r, uint64_t after_id, size_t limit,
                                struct arena *arena, struct alert_regression **ret,
                                size_t *ret_count, struct error *err);

/* Open clusters that no alert has announced, symbolicated and shown, that began since then, did not
 * grow out of others, and have at least so many reports; by when they began, then id. `after_id`:
 * of those that began at `since_ms` itself the ones above it. */
enum err read_alert_new_clusters(struct storage_reader *r, int64_t since_ms, uint64_t after_id,
                                 uint64_t min_count, size_t limit, struct arena *arena,
                                 struct alert_cluster **ret, size_t *ret_count, struct error *err);

/* Reports of shown clusters by the minute of their time, [begin_ms, end_ms); of the newest
 * `max_reports` received. Of those received before them as much as the same work again may see, of
 * each app its equal share: one that floods hides no other. By cluster, then minute. */
struct alert_minute {
    uint64_t cluster_id;
    int64_t minute; /* since 1970 */
    uint64_t count;
};
/* For qsort: by cluster, then minute. */
int alert_minutes_compare(const void *a, const void *b);
enum err read_alert_minutes(struct storage_reader *r, int64_t begin_ms, int64_t end_ms,
                            uint64_t max_reports, struct arena *arena, struct alert_minute **ret,
                            size_t *ret_count, struct error *err);

/* Frames of application images by app and day, and those of them that have a name. */
struct alert_rate {
    const char *bundle_id;
    int32_t day;
    uint64_t reports, frames, named;
};
enum err read_alert_rates(struct storage_reader *r, int32_t since_day, struct arena *arena,
                          struct alert_rate **ret, size_t *ret_count, struct error *err);

struct delivery_due {
    uint64_t id, alert_id;
    enum alert_kind kind;
    const char *target;
    uint32_t attempts;
    int64_t created_ms;
    const char *body;
};
/* Due by `now_ms`, longest first; *ret_next_ms: when the next one of all pending is due, INT64_MAX:
 * none is pending; *ret_pending: how many are. */
enum err read_deliveries_due(struct storage_reader *r, int64_t now_ms, size_t limit,
                             struct arena *arena, struct delivery_due **ret, size_t *ret_count,
                             int64_t *ret_next_ms, uint64_t *ret_pending, struct error *err);

struct delivery_row {
    uint64_t id, alert_id;
    enum alert_kind kind;
    const char *bundle_id; /* "": of no app */
    uint64_t cluster_id;   /* 0 */
    const char *subject, *target;
    enum delivery_state state;
    uint32_t attempts;
    int64_t next_ms;
    int64_t done_ms; /* INT64_MIN: not yet */
    int32_t status;
    const char *error; /* NULL */
    int64_t created_ms;
    const char *body;
};
/* Newest first. `state` -1: all; `alert_id` 0: all. */
struct delivery_filter {
    int state;
    const char *bundle_id;
    uint64_t alert_id;
};
enum err read_deliveries(struct storage_reader *r, const struct delivery_filter *f, size_t limit,
                         const char *cursor, struct arena *arena, struct delivery_row **ret,
                         size_t *ret_count, const char **ret_next, struct error *err);

#endif
